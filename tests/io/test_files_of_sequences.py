"""Files of sequences are no tables, and who has them is told what reads them."""

from __future__ import annotations

import gzip

import pytest

from bayesieve.io import inspect

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
    with pytest.raises(ValueError, match=r"holds sequences, not a table\. Hint: .*NB"):
        inspect(str(path))


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
