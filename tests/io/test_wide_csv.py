"""Files of very many columns are read by another way, to the same rows."""

from __future__ import annotations

import csv
import gzip
import io
import re

import numpy as np
import pytest

from bayesieve.exceptions import BadRowsWarning
from bayesieve.io import _csv
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._column_kinds import as_frame, read_columns
from bayesieve.io._files import open_files
from bayesieve.io._read_options import ReadOptions

pytest.importorskip("duckdb")
pd = pytest.importorskip("pandas")

ROWS = [
    ["number", "label", "text", ""],
    ["1", "a", 'some "quoted" words', "x"],
    ["2", "", "two\nlines, and a comma", "x"],
    ["", "b", "Ünïcode — 中文", ""],
    ["4", " a ", "nul\0byte", "x"],
]


def written(rows, **dialect):
    text = io.StringIO()
    csv.writer(text, **dialect).writerows(rows)
    return text.getvalue().encode()


GOOD = {
    "plain": written(ROWS, lineterminator="\n"),
    "crlf": written(ROWS),
    "semicolon": written(ROWS, delimiter=";"),
    "all quoted": written(ROWS, quoting=csv.QUOTE_ALL),
    "mark": b"\xef\xbb\xbf" + written(ROWS),
    "blank lines above": b"\n\n" + written(ROWS, lineterminator="\n"),
    "no end of line": written(ROWS, lineterminator="\n")[:-1],
    "header only": b"number,label,text,x\n",
}
BAD = {
    "too many": b'text,label\n"a\nb",x\nbad,row,extra\nok here,y\n',
    "too few": b"text,label\nab,x\nbad\nok here,y\n",
    "quote": b'text,label\nab,x\n"open" x,b\nok here,y\n',
    "utf-8": b'text,label\r\n"a\r\nb",x\r\nb\xffad,y\r\nok h\xc3\xa9re,y\r\n',
    "never closed": b'text,label\nab,x\n"open,b\nef,y\ngh,y\n',
}


def read(path, names, skip=False, longest=1 << 20):
    """Rows of a file, and what is told of its bad ones."""
    bad_rows = BadRows(skip)
    [file] = open_files([str(path)], options=ReadOptions(longest=longest))
    rows = [
        row
        for batch in file.batches(names, bad_rows, rows=3)
        for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)
    ]
    return rows, bad_rows


@pytest.fixture(params=[False, True], ids=["plain", "packed"])
def both(request, tmp_path, monkeypatch):
    """Call something with the ways for few and for many columns."""
    path = tmp_path / ("a.csv.gz" if request.param else "a.csv")

    def run(content, check):
        path.write_bytes(gzip.compress(content) if request.param else content)
        found = []
        for most in (2000, 0):
            monkeypatch.setattr(_csv, "_WIDE", most)
            found.append(check(path))
        return found

    return run


@pytest.mark.parametrize("name", GOOD)
def test_the_same_values(name, both):
    few, many = both(GOOD[name], lambda path: read(path, ["text", "label", "number"]))
    assert many[0] == few[0]
    if name != "header only":
        assert many[0] == [(row[2], row[1], row[0]) for row in ROWS[1:]]


@pytest.mark.parametrize("name", BAD)
def test_the_same_bad_rows(name, both):
    few, many = both(BAD[name], lambda path: read(path, ["text", "label"], skip=True))
    assert many[0] == few[0]
    assert many[1].skipped == few[1].skipped == 1
    assert many[1].undecoded == few[1].undecoded == (name == "utf-8")
    for _, bad_rows in (few, many):
        line = 4 if name in ("too many", "utf-8") else 3
        assert re.match(rf"Line {line} of '.*' cannot be read: ", bad_rows.first)
        with pytest.warns(BadRowsWarning, match="1 bad row was left out"):
            bad_rows.warn()

    def refused(path):
        with pytest.raises(ValueError, match=r"^Line \d of .*'skip'") as told:
            read(path, ["text", "label"])
        return str(told.value).partition(" cannot be read")[0]

    few, many = both(BAD[name], refused)
    assert many == few


def test_a_column_that_is_not_looked_at_does_no_harm(both):
    content = b"text,label\nab,x\nb\xffad,y\n"
    for rows, bad_rows in both(content, lambda path: read(path, ["label"])):
        assert rows == [("x",), ("y",)]
        assert bad_rows.skipped == 0


def test_rows_that_are_too_long(both):
    def refused(path):
        with pytest.raises(ValueError, match="at most 300,000 bytes"):
            read(path, ["label"], longest=300_000)
        return len(read(path, ["text"], longest=1 << 22)[0])

    long = b'"' + b"many\nwords " * 50_000 + b'"'
    assert both(b"text,label\nab,x\n" + long + b",y\ncd,x\n", refused) == [3, 3]
    assert csv.field_size_limit() == 131_072  # as it was


def test_two_columns_of_one_name(both):
    def values(path):
        return read(path, ["a", "b", "a_2"])[0]

    assert both(b"a,b,a\n1,2,3\n", values) == [[("1", "2", "3")]] * 2


def test_a_wide_table_is_that_of_pandas(tmp_path):
    rng = np.random.default_rng(0)
    path = tmp_path / "wide.csv"
    frame = pd.DataFrame(rng.normal(size=(60, 8000)).round(6)).add_prefix("g")
    frame.to_csv(path, index=False)
    [file] = open_files([str(path)])
    [batch] = file.batches(file.columns, BadRows(False))
    found = as_frame(read_columns(batch, file.columns))
    pd.testing.assert_frame_equal(found, pd.read_csv(path), rtol=1e-15)


SPACED = {
    "before": b'text,label\nab, "x"\ncd, "y"\n',
    "around": b'text,label\n"ab" , "x" \n "cd" ,"y"\n',
}


@pytest.mark.parametrize("name", SPACED)
def test_spaces_around_quotes_are_no_part_of_a_value(name, both):
    few, many = both(SPACED[name], lambda path: read(path, ["text", "label"])[0])
    assert many == few == [("ab", "x"), ("cd", "y")]


ODD = {
    "commas in spaced quotes": (b'text,label\nab, "x, y"\n', [("ab", "x, y")]),
    "lines in spaced quotes": (b'text,label\nab, "x\ny"\n', [("ab", "x\ny")]),
    "quotes within": (
        b'text,label\n"ab, ""x""",y\nsay "" no, y\n',
        [('ab, "x"', "y"), ('say "" no', " y")],
    ),
    "trailing": (b"text,label\nab,x,\ncd,y,\n", [("ab", "x"), ("cd", "y")]),
    "trailing header": (b"text,label,\nab,x,\ncd,y,\n", [("ab", "x"), ("cd", "y")]),
    "line ends": (
        b"text,label\r\nab,x\ncd,y\ref,z\r\n",
        [("ab", "x"), ("cd", "y"), ("ef", "z")],
    ),
    "carriage returns": (b"text,label\rab,x\rcd,y\r", [("ab", "x"), ("cd", "y")]),
}


@pytest.mark.parametrize("name", ODD)
def test_unusual_rows_are_read_alike(name, both):
    content, expected = ODD[name]
    few, many = both(content, lambda path: read(path, ["text", "label"])[0])
    assert many == few == expected
