"""Rows that cannot be read: told where they are, counted where they are left out."""

from __future__ import annotations

import codecs
import json
import re

import pytest
from tests.cli.files import PEOPLE, people, reviews, write_csv, write_reviews
from tests.cli.test_select import refused

from bayesieve.cli import main

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")


def write_mixed(folder, name="mixed.csv"):
    """Reviews of which some with the word naïve are not UTF-8; and how many."""
    path = write_csv(folder / name, ("text", "label"), reviews())
    lines = path.read_bytes().splitlines(keepends=True)
    other = [line.decode().encode("latin-1") for line in lines]
    path.write_bytes(b"".join(lines[:60] + other[60:]))
    return path, sum(a != b for a, b in zip(lines[60:], other[60:], strict=True))


def left_out(capsys, *arguments):
    """Run a command; return what it printed and the number of rows left out."""
    assert main([*map(str, arguments), "--skip-bad-rows"]) == 0
    captured = capsys.readouterr()
    found = re.findall(r"warning: ([\d,]+) bad rows? w", captured.err)
    assert len(found) == 1, captured.err
    return captured, int(found[0].replace(",", ""))


def test_rows_of_another_encoding_are_counted(tmp_path, capsys):
    path, n_bad = write_mixed(tmp_path)
    assert 50 < n_bad < 180
    captured, told = left_out(capsys, "select", path, "-k", "2", "--json")
    found = json.loads(captured.out)
    assert told == n_bad
    assert found["train_rows"] + found["evaluation"]["rows"] == 200 - n_bad
    assert f"Not UTF-8: {n_bad} of them" in captured.err
    assert re.search(r"not UTF-8, while \d+ other lines are", captured.err)
    assert "may be Windows-1252" in captured.err
    assert "iconv" not in captured.err


def test_other_commands_count_them_too(tmp_path, capsys):
    path, n_bad = write_mixed(tmp_path)
    _, told = left_out(capsys, "counts", path, "--save", tmp_path / "c")
    assert told == n_bad
    assert left_out(capsys, "path", path, "--sizes", "2,4")[1] == n_bad


def test_rows_without_a_label_are_counted_with_them(tmp_path, capsys):
    path, n_bad = write_mixed(tmp_path)
    with path.open("ab") as file:
        file.write(b"a good film,\na bad film,\n")
    _, told = left_out(capsys, "counts", path, "--save", tmp_path / "c")
    assert told == n_bad + 2


def test_a_class_of_bad_rows_only_is_no_class(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    with path.open("ab") as file:
        file.write(b"caf\xe9,other\r\n")
    captured, told = left_out(capsys, "counts", path, "--save", tmp_path / "c")
    assert told == 1
    assert "200 rows" in captured.out
    assert "2 classes" in captured.out


def test_bad_rows_of_tables_are_counted(tmp_path, capsys):
    path = write_csv(tmp_path / "people.csv", PEOPLE, people())
    content = path.read_bytes().replace(b"Oslo", b"Osl\xf8", 3)
    content = content.replace(b"Oslo", "Malmö".encode())
    path.write_bytes(content)
    captured, told = left_out(capsys, "select", path, "--drop", "id", "--json")
    found = json.loads(captured.out)
    assert told == 3
    assert found["train_rows"] + found["evaluation"]["rows"] == 297
    # A column that is not looked at does no harm.
    options = ("--drop", "id", "--drop", "town", "--skip-bad-rows", "--json")
    assert main(["select", str(path), *options]) == 0
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert "left out" not in captured.err
    assert found["train_rows"] + found["evaluation"]["rows"] == 300


def test_rows_that_are_not_predicted_are_counted(tmp_path, capsys):
    data = write_reviews(tmp_path, "csv")
    model = tmp_path / "model"
    assert main(["select", str(data), "-k", "4", "--save", str(model)]) == 0
    capsys.readouterr()
    path, n_bad = write_mixed(tmp_path)
    captured, told = left_out(capsys, "predict", model, path)
    assert told == n_bad
    assert len(captured.out.splitlines()) == 1 + 200 - n_bad
    lines = write_reviews(tmp_path, "jsonl").read_bytes().splitlines()
    lines[7] = lines[7][:-3]
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"\n".join(lines))
    assert main(["predict", str(model), str(bad), "--skip-bad-rows"]) == 0
    captured = capsys.readouterr()
    assert "warning: 1 row without a text that can be read" in captured.err
    assert len(captured.out.splitlines()) == 201


def test_lines_of_two_encodings_are_refused_in_a_true_sentence(tmp_path, capsys):
    path, _ = write_mixed(tmp_path)
    line = refused(capsys, "select", path)
    assert "cannot be read: it is not UTF-8, while" in line
    assert "--skip-bad-rows" in line
    assert "iconv" not in line
    assert ".." not in line.replace(str(path), "")
    rows = b'{"text": "caf\xe9 bar", "label": "a"}\n' * 40
    rows += b'{"text": "caf\xc3\xa9 bar", "label": "b"}\n' * 40
    (tmp_path / "d.jsonl").write_bytes(rows)
    line = refused(capsys, "select", tmp_path / "d.jsonl")
    assert "line 1 of" in line
    assert "not UTF-8, while 40 other lines are" in line


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-16-le", codecs.BOM_UTF16_LE),
        ("utf-16-be", codecs.BOM_UTF16_BE),
        ("utf-32-le", codecs.BOM_UTF32_LE),
    ],
)
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_utf_16_is_read(encoding, mark, form, tmp_path, capsys):
    path = write_reviews(tmp_path, form)
    text = path.read_text(encoding="utf-8")
    outputs = []
    for content in (text.encode(), mark + text.encode(encoding)):
        path.write_bytes(content)
        arguments = ("--text", "text", "--label", "label", "-k", "4", "--json")
        assert main(["select", str(path), *arguments]) == 0
        outputs.append(capsys.readouterr().out.partition('"seconds"')[0])
    assert outputs[0] == outputs[1]


def test_the_problem_is_told_after_a_long_row_of_several_lines(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    with path.open("ab") as file:
        file.write(b'"' + b"word\r\n" * 200 + b'",pos,extra\r\n')
    line = refused(capsys, "select", path, "--label", "label")
    assert "line 202 of" in line  # the header is the first one
    assert "it has 3 fields, and the table has 2 (a row of 201 lines)" in line
    assert "word" not in line


def test_the_line_of_bad_json(tmp_path, capsys):
    path = write_reviews(tmp_path, "jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[7] = '{"text": broken'
    path.write_text("\n".join(lines), encoding="utf-8")
    line = refused(capsys, "select", path)
    assert "line 8" in line
    assert ".." not in line.replace(str(path), "")


def test_mixed_line_endings_are_read(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    with path.open("ab") as file:
        file.write(b"a good film,pos\n" * 5 + b"a bad film,neg\r" * 5)
    assert main(["counts", str(path), "--save", str(tmp_path / "c")]) == 0
    assert "210 rows" in capsys.readouterr().out
