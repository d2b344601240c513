"""Small files that unpack to much: refused before memory is asked for."""

from __future__ import annotations

import gzip
import subprocess
import sys

import numpy as np
import pytest
from tests.patience import HANGS

from bayesieve import ClassCounts, SparseTextNB

pytest.importorskip("duckdb")
pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

MILLION = b"a" * 1_000_000
RAISE = r"at most 33,554,432 bytes\. Got more\. Hint: .* raise max_row_bytes"


def pack(path, *parts, times=50):
    """Write parts, the last one many times."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        for part in parts[:-1]:
            file.write(part)
        for _ in range(times):
            file.write(parts[-1])
    return path


BOMBS = {
    "a header.csv.gz": (MILLION,),
    "the last row.csv.gz": (b"text,label\nab,1\n", MILLION),
    "the last row.tsv.gz": (b"text\tlabel\nab\t1\n", MILLION),
    "an object.jsonl.gz": (b'{"text": "', MILLION),
    "a list.json.gz": (b'[{"text": "', MILLION),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_row_that_does_not_end(name, tmp_path):
    with pytest.raises(ValueError, match=RAISE):
        ClassCounts.from_text(pack(tmp_path / name, *BOMBS[name]))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\ncd,2\n"])
@pytest.mark.parametrize("times", [0.5, 0.9, 1.5, 2.5, 5])
def test_no_row_is_lost_at_the_limit(times, end, packed, tmp_path):
    most = 1 << 20
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    body = f"text,label\nab,1\n{'a' * int(times * most)},1{end}".encode()
    if end == "\r\n":
        body = body.replace(b"\n", b"\r\n").replace(b"\r\r", b"\r")
    path.write_bytes(gzip.compress(body, 1) if packed else body)
    if times > 1:
        with pytest.raises(ValueError, match="at most 1,048,576 bytes"):
            ClassCounts.from_text(path, max_row_bytes=most)
        found = ClassCounts.from_text(path, max_row_bytes=8 * most)
    else:
        found = ClassCounts.from_text(path, max_row_bytes=most)
    assert found.class_count.tolist() == ([2, 1] if "cd" in end else [2])


def test_a_long_value_of_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    table = pyarrow.table({"text": ["ab", "x" * 40_000_000], "label": [0, 1]})
    parquet.write_table(table, path, compression="zstd", use_dictionary=False)
    assert path.stat().st_size < 100_000
    with pytest.raises(ValueError, match=RAISE.replace("33,554,432", "1,000,000")):
        ClassCounts.from_text(path, max_row_bytes=1_000_000)
    parquet.write_table(table, path, compression="zstd")
    with pytest.raises(ValueError, match=RAISE):
        ClassCounts.from_text(path)
    counts = ClassCounts.from_text(path, max_row_bytes=1 << 26, analyzer="char")
    assert counts.feature_count[1].tolist() == [0.0, 0.0, 40_000_000.0]


def test_a_value_of_parquet_that_is_there_very_often(tmp_path):
    path = tmp_path / "a.parquet"
    codes = pyarrow.array(np.zeros(100_000, dtype=np.int32))
    texts = pyarrow.DictionaryArray.from_arrays(codes, ["word " * 200_000])
    table = pyarrow.table({"text": texts, "label": np.arange(100_000) % 2})
    parquet.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 100_000
    with pytest.raises(ValueError, match=r"unpacks to 2,048,002,048 bytes in 2,048"):
        ClassCounts.from_text(path)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the kernel")
@pytest.mark.parametrize("name", ["a header.csv.gz", "an object.jsonl.gz"])
def test_the_memory_of_a_bomb(name, tmp_path):
    """The file unpacks to 1 GB; reading it must take a part of that."""
    path = pack(tmp_path / name, *BOMBS[name], times=1000)
    program = (
        "import re, sys\n"
        "from bayesieve import ClassCounts\n"
        "try:\n"
        "    ClassCounts.from_text(sys.argv[1], n_jobs=2)\n"
        "except ValueError as error:\n"
        "    assert 'max_row_bytes' in str(error), error\n"
        "status = open('/proc/self/status').read()\n"
        "print(re.search(r'VmHWM:\\s+(\\d+) kB', status)[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=True,
    )
    assert int(done.stdout) < 700_000


def test_nesting_without_end(tmp_path):
    path = tmp_path / "a.jsonl"
    deep = "[" * 100_000 + "]" * 100_000
    path.write_text(f'{{"text": "ab", "label": 1}}\n{{"text": "b", "label": {deep}}}\n')
    with pytest.raises(ValueError, match=r"nested too deeply|cannot be read"):
        ClassCounts.from_text(path)


@pytest.mark.parametrize("field", ["a" * 200_000, '"' + "a\n" * 100_000 + '"'])
def test_a_huge_field_of_a_header(field, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"text,{field},label\nab,1,2\n")
    with pytest.raises(ValueError, match=r"header of .*a\.csv' cannot be read: field"):
        ClassCounts.from_text(path)


@pytest.mark.parametrize("bound", [0, -1, True, 1.5, "1", None, 1 << 31])
def test_the_bound_is_a_number_of_bytes(bound):
    for call in (ClassCounts.from_text, SparseTextNB().fit_files):
        with pytest.raises(ValueError, match="'max_row_bytes' parameter"):
            call([(["ab"], [1])], max_row_bytes=bound)


def test_a_header_of_many_columns(tmp_path):
    path = tmp_path / "a.csv"
    names = [f"column number {i}" for i in range(9000)]  # longer than one field may be
    row = ["0"] * len(names)
    lines = [[*names, "text", "label"], [*row, "ab cd", "1"], [*row, "ef", "2"]]
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    assert ClassCounts.from_text(path).class_count.tolist() == [1, 1]
    with pytest.raises(ValueError, match="no column 'texts'"):
        ClassCounts.from_text(path, "texts")
