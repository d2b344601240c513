"""Delimiters, headers and the lines above them."""

from __future__ import annotations

import pytest
from tests.io.messy_files import read

from bayesieve.io._headers import header_looks_like_data, tidy_names
from bayesieve.io._read_options import ReadOptions

pytest.importorskip("duckdb")

#: name: (content, names, first row, what is told)
FILES = {
    "plain.csv": ("a,b\n1,2\n", ["a", "b"], ("1", "2"), []),
    "semicolon.csv": ("a;b\n1,5;2\n", ["a", "b"], ("1,5", "2"), ["separated by ';'"]),
    "decimals.csv": (
        "x;y\n1,5;2,5\n3,5;4,5\n",
        ["x", "y"],
        ("1,5", "2,5"),
        ["separated by ';'"],
    ),
    "pipe.csv": ("a|b\nx, y|2\n", ["a", "b"], ("x, y", "2"), ["separated by '|'"]),
    "tabs.csv": ("a\tb\nx, y\t2\n", ["a", "b"], ("x, y", "2"), ["separated by tabs"]),
    "commas.tsv": ("a,b\n1,2\n", ["a", "b"], ("1", "2"), ["separated by ','"]),
    "colons.csv": ("a:b:c\n1:2:3\n4:5:6\n", ["a", "b", "c"], ("1", "2", "3"), ["':'"]),
    "spaces.csv": ("a b c\n1 2 3\n4 5 6\n", ["a", "b", "c"], None, ["by spaces"]),
    "commas in texts.csv": (
        "text;label\nwell, yes, no;1\nno, well;2\n",
        ["text", "label"],
        ("well, yes, no", "1"),
        ["separated by ';'"],
    ),
    "quotes.csv": ('"a";"b"\n"x;y";1\n', ["a", "b"], ("x;y", "1"), ["';'"]),
    "single quotes.csv": (
        "'a','b'\n'x, y','1'\n",
        ["a", "b"],
        ("x, y", "1"),
        [],
    ),
    "backslashes.csv": (
        'a,b\n"x \\"y\\", z",1\n"u",2\n',
        ["a", "b"],
        ('x "y", z', "1"),
        [],
    ),
    "tildes.csv": ("a~b~c\n1~2~3\n4~5~6\n", ["a", "b", "c"], ("1", "2", "3"), ["'~'"]),
    "other ends.csv": ("sep=;\r\na;b\n1;2\n", ["a", "b"], ("1", "2"), []),
    "other end.csv": ("a,b\r\n1,2\n3,4\n", ["a", "b"], ("1", "2"), []),
    "quote in name.csv": ("'; --,b\n1,2\n", ["'; --", "b"], ("1", "2"), []),
    "one column.csv": ("text\nwell, yes\nno, well\n", ["text"], ("well, yes",), []),
    "sep.csv": ("sep=;\na;b\n1;2\n", ["a", "b"], ("1", "2"), []),
    "twice.csv": (
        "a,b,a,a_2\n1,2,3,4\n",
        ["a", "b", "a_3", "a_2"],
        ("1", "2", "3", "4"),
        ["'a' (column 3) is 'a_3'"],
    ),
    "spaced.csv": (" a , 'b' ,\"c\"\n1,2,3\n", ["a", "b", "c"], ("1", "2", "3"), []),
    "empty names.csv": ("a,,c\n1,2,3\n", ["a", "column 2", "c"], ("1", "2", "3"), []),
    "R.csv": (
        '"a","b"\n"1",5,6\n"2",7,8\n',
        ["column 1", "a", "b"],
        ("1", "5", "6"),
        ["one name less"],
    ),
    "trailing.csv": ("a,b,\n1,2,\n3,4,\n", ["a", "b"], ("1", "2"), []),
    "trailing rows.csv": ("a,b\n1,2,\n3,4,\n", ["a", "b"], ("1", "2"), []),
    "title.csv": (
        "Sales of 2024\n\ntown,n\nOslo,1\nRome,2\n",
        ["town", "n"],
        ("Oslo", "1"),
        [": 1 line; --no-header"],
    ),
    "comments.csv": (
        "# made by hand\n# in May\ntown,n\nOslo,1\nRome,2\n",
        ["town", "n"],
        ("Oslo", "1"),
        [": 2 lines; --no-header"],
    ),
    "blank.csv": ("\n\na,b\n1,2\n", ["a", "b"], ("1", "2"), []),
    "data.csv": ("5.1,x\n4.9,y\n4.7,x\n", ["5.1", "x"], ("4.9", "y"), ["--no-header"]),
    "years.csv": ("town,2019,2020\nOslo,3,4\n", ["town", "2019", "2020"], None, []),
    "lines.txt": ('well, yes\nno\n\nhe said "hi"\n', ["text"], ("well, yes",), []),
    "table.txt": ("a;b\n1;2\n3;4\n", ["a", "b"], ("1", "2"), ["separated by ';'"]),
    "tabs.txt": ("a\tb\n1\t2\n", ["a", "b"], ("1", "2"), ["read as a table"]),
    "pipes.psv": ("a|b\n1|2\n", ["a", "b"], ("1", "2"), ["separated by '|'"]),
    "commas.dat": ("a,b\n1,2\n", ["a", "b"], ("1", "2"), ["separated by ','"]),
}


@pytest.mark.parametrize("name", FILES)
def test_layouts(name, tmp_path):
    content, names, first, told = FILES[name]
    (tmp_path / name).write_text(content, encoding="utf-8")
    found, rows, notes = read(tmp_path / name)
    assert found == names
    assert first is None or rows[0] == first
    assert len(notes) == len(told), notes
    for note, part in zip(notes, told, strict=True):
        assert part in note
        assert name in note
        assert "; --" in note


def test_lines_are_texts_as_they_are(tmp_path):
    (tmp_path / "a.txt").write_text('he said "hi", well\n"open\n\nlast')
    _, rows, _ = read(tmp_path / "a.txt")
    assert rows == [('he said "hi", well',), ('"open',), ("",), ("last",)]


def test_no_header(tmp_path):
    (tmp_path / "a.csv").write_text("5.1,x\n4.9,y\n")
    names, rows, notes = read(tmp_path / "a.csv", ReadOptions(header=False))
    assert names == ["column 1", "column 2"]
    assert rows == [("5.1", "x"), ("4.9", "y")]
    assert notes == []


def test_a_separator_that_is_said(tmp_path):
    (tmp_path / "a.csv").write_text("a~b,c\n1~2,3\n")
    names, rows, notes = read(tmp_path / "a.csv", ReadOptions(sep="~"))
    assert (names, rows, notes) == (["a", "b,c"], [("1", "2,3")], [])


def test_numbers_that_a_comma_cuts_in_two(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,c\n" + "7,1,5,x\n7,2,5,y\n" * 3)
    with pytest.raises(
        ValueError, match=r"4 fields, and its header has 3 names: a comm"
    ):
        read(tmp_path / "a.csv")


@pytest.mark.parametrize("sep", ["", ",,", '"', "\n", "\0"])
def test_what_cannot_separate(sep):
    with pytest.raises(ValueError, match=r"separated by one character, .* Got "):
        ReadOptions(sep=sep)


def test_names_that_clash():
    assert tidy_names(["a", "a", "a_2", "a"])[0] == ["a", "a_3", "a_2", "a_4"]
    assert tidy_names(["", "column 1"])[0] == ["column 1", "column 1_2"]


HEADERS = [
    (["5.1", "3.5", "setosa"], [["4.9", "3.0", "setosa"], ["4.7", "3.2", "b"]], True),
    (["2024-01-02", "x"], [["2024-01-03", "y"], ["2024-01-04", "x"]], True),
    (["length", "kind"], [["4.9", "a"], ["4.7", "b"]], False),
    (["1", "kind"], [["4.9", "a"], ["4.7", "b"]], True),
    (["id", "0", "1", "2"], [["a", "4", "5", "6"]], False),  # they count
    (["id", "7"], [["1", "4"], ["2", "5"]], False),  # one name is a name
    (["pos", "x"], [["pos", "x"], ["neg", "y"], ["pos", "x"]], True),
    (["text", "label"], [["some text", "a"], ["more", "b"]], False),
    (
        ["some text", "pos"],
        [[f"text {i}", "pnoesg"[i % 2 :: 2]] for i in range(20)],
        True,
    ),
    (["text", "sex"], [[f"text {i}", "mf"[i % 2]] for i in range(20)], False),
    (["a", "b"], [], False),
    (["", ""], [["1", "2"]], False),
]


@pytest.mark.parametrize(("names", "rows", "expected"), HEADERS)
def test_whether_a_header_looks_like_data(names, rows, expected):
    assert header_looks_like_data(names, rows) is expected


WRONG = {
    "fields": ("a,b\n1,2\n3,4,5\n", "line 3", "it has 3 fields, and the table has 2"),
    "short": ("a,b\n1,2\n3\n5,6\n", "line 3", "it has 1 field, and the table has 2"),
    "open": ('a,b\n1,2\n"3,4\n', "line 3", "a quote is never closed"),
    "after": ('a,b\n1,2\n"3"x,4\n', "line 3", "text follows a closing quote"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_rows_in_our_words(name, tmp_path):
    content, line, told = WRONG[name]
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(ValueError) as caught:
        read(tmp_path / "a.csv")
    assert str(caught.value).lower().startswith(line)
    assert told in str(caught.value)
    for word in ("CSV Error", "Possible", "strict", "ignore_errors", "Original Line"):
        assert word not in str(caught.value)
