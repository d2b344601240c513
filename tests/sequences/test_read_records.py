from __future__ import annotations

import gzip

import pytest

from bayesieve.sequences import _reading, read_records

FASTA = ">a first\nACGT\nacgu\n\n>b\nNNRA\n>empty\n>c  d \nTT"


@pytest.mark.parametrize("piece", [1, 3, 7, 1000])
@pytest.mark.parametrize("packed", [False, True])
def test_records_are_read_in_any_pieces(tmp_path, monkeypatch, piece, packed):
    monkeypatch.setattr(_reading, "PIECE_BYTES", piece)
    path = tmp_path / "any"
    path.write_bytes(gzip.compress(FASTA.encode()) if packed else FASTA.encode())
    assert list(read_records(path)) == [
        ("a first", "ACGTACGT"),
        ("b", "NNNA"),
        ("empty", ""),
        ("c  d", "TT"),
    ]


def test_fastq_is_read(tmp_path):
    path = tmp_path / "reads.fastq"
    path.write_text("@r1 x\nACGT\n+\n@@@@\n@r2\nGG\n+r2\nII\n")
    assert list(read_records(path)) == [("r1 x", "ACGT"), ("r2", "GG")]


def test_who_stops_early_leaves_no_file_open(tmp_path):
    path = tmp_path / "many.fa"
    path.write_text("".join(f">{i}\nACGT\n" for i in range(1000)))
    records = read_records(str(path))
    assert next(records) == ("0", "ACGT")
    records.close()


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"table\.csv.* must hold sequences as FASTA"):
        list(read_records(path))


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file '.*nowhere.fa'"):
        list(read_records(tmp_path / "nowhere.fa"))
