"""Files of sequences are no tables, and who has them is told what reads them."""

from __future__ import annotations

import gzip

import pytest

from bayesieve import ClassCounts
from bayesieve.io import inspect

_HINT = r"holds sequences, not a table\. Hint: bayesieve select .*SparseSequenceNB"
SEQUENCES = {
    "genes.fasta": ">one gene\nACGTACGTNN\nACGT\n",
    "genes.fa": ">one|a,b\nacgtacgtacgt\n",
    "proteins.faa": ">p\nMKVLAAGIVG*\n",
    "reads.fastq": "@r1\nACGTACGT\n+\nIIIIIIII\n",
    "crlf.fna": ">one\r\nACGTACGTACGT\r\n",
}


@pytest.mark.parametrize("name", SEQUENCES)
@pytest.mark.parametrize("packed", [False, True])
def test_sequences_are_refused_with_what_reads_them(tmp_path, name, packed):
    path = tmp_path / (f"{name}.gz" if packed else name)
    data = SEQUENCES[name].encode()
    path.write_bytes(gzip.compress(data) if packed else data)
    with pytest.raises(ValueError, match=_HINT):
        inspect(str(path))
    with pytest.raises(ValueError, match=_HINT):
        ClassCounts.from_text(str(path))


def test_a_name_tells_where_the_content_does_not(tmp_path):
    for name, content in {
        "empty.fasta": "",
        "short.fa": ">a|b,c\nACG\n",
        "old.fna": ";a comment, with a comma\n>a\nACGT\n",
    }.items():
        (tmp_path / name).write_text(content)
        with pytest.raises(ValueError, match=_HINT):
            inspect(str(tmp_path / name))
    (tmp_path / "table.fasta").write_text("a,b\n1,2\n3,4\n")
    assert len(inspect(str(tmp_path / "table.fasta")).columns) == 2


@pytest.mark.parametrize(
    "content",
    [
        ">id,text\n1,abcdefghijkl\n2,b\n",
        "@user,text\nann,abcdefghijkl\nbob,x\n",
        ">a\tb\n1\t2\n3\t4\n",
    ],
)
def test_tables_whose_names_begin_so_are_tables(tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_text(content)
    assert len(inspect(str(path)).columns) == 2
    path = tmp_path / "table.odd"
    path.write_text(content)
    assert len(inspect(str(path)).columns) == 2
