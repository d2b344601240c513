"""Errors of the library arrive in the words of the command line."""

from __future__ import annotations

import gzip
import io

import pytest
from tests.cli.files import PEOPLE, people, write_csv, write_reviews, write_svmlight
from tests.cli.test_select import refused

from bayesieve.cli import main

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")


def plain(line):
    """Check that a line speaks no Python, and return it."""
    for word in ("parameter of", "kind=", "weights=", "NB", "max_", "min_", "b'"):
        assert word not in line
    return line


def test_options_are_named_as_they_are_typed(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    line = plain(refused(capsys, "select", path, "-k", "1"))
    assert "bayesieve: -k is too small" in line
    assert "--model bernoulli" in line
    line = plain(refused(capsys, "select", path, "--alpha", "0", "--weights"))
    assert "bayesieve: --alpha must be above 0 with --weights. Got 0.0" in line
    line = plain(refused(capsys, "path", path, "--sizes", "1,5"))
    assert "bayesieve: --sizes must hold ints >= 2. Got" in line
    matrix = write_svmlight(tmp_path / "d.svm")
    assert "-k is too small" in plain(refused(capsys, "select", matrix, "-k", "1"))


@pytest.mark.parametrize("command", ["select", "path"])
def test_a_limit_above_the_number_of_texts(command, tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    line = plain(refused(capsys, command, path, "--min-df", "99999"))
    assert "--min-df (99999) must not be above the number of texts" in line
    assert "--max-df" not in line
    options = ("--min-df", "50", "--max-df", "3")
    line = plain(refused(capsys, command, path, *options))
    assert "--max-df (3 texts) must not be below --min-df (50)" in line


@pytest.mark.parametrize("command", ["select", "path"])
def test_negative_values(command, tmp_path, capsys):
    path = write_svmlight(tmp_path / "d.svm")
    lines = path.read_text().splitlines()
    lines[57] = "-1 3:-1.5"
    path.write_text("\n".join(lines))
    line = plain(refused(capsys, command, path))
    assert "negative value -1.5 found in column 3; " in line
    assert "--model bernoulli" in line
    assert "row" not in line.replace(str(path), "")  # one of those learnt from
    assert main([command, str(path), "--model", "bernoulli"]) == 0


@pytest.mark.parametrize("packed", [False, True])
def test_the_line_of_a_bad_value_in_svmlight(packed, tmp_path, capsys, monkeypatch):
    from bayesieve.io import _svmlight

    monkeypatch.setattr(_svmlight, "_CHUNK_BYTES", 500)
    path = write_svmlight(tmp_path / "d.svm")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[57] = b"-1 3:abc\n"
    lines[80] = b"nonsense\n"
    if packed:
        path = tmp_path / "d.svm.gz"
        path.write_bytes(gzip.compress(b"".join(lines)))
    else:
        path.write_bytes(b"".join(lines))
    line = plain(refused(capsys, "select", path))
    assert f"line 58 of {str(path)!r} cannot be read" in line
    assert "'abc'" in line


def test_no_rows(tmp_path, capsys):
    path = write_csv(tmp_path / "d.csv", ("text", "label"), [])
    for options in ((), ("--label", "label"), ("--text", "text")):
        assert f"{str(path)!r} has no rows" in refused(capsys, "select", path, *options)
    # The columns of a first file without rows are guessed from the second one.
    full = write_reviews(tmp_path, "csv")
    assert main(["select", str(path), str(full), "-k", "2"]) == 0


def test_no_word_is_long_enough(tmp_path, capsys):
    rows = [("a b", "x"), ("c d", "y")]
    path = write_csv(tmp_path / "d.csv", ("text", "label"), rows)
    line = plain(refused(capsys, "select", path))
    assert "no words of two letters or more" in line


def test_only_what_is_near_is_suggested(tmp_path, capsys):
    path = write_csv(tmp_path / "sms.csv", ("age", "sex", "label"), [(1, "f", "x")])
    for name in ("num.csv", "other.csv", "data.csv"):
        assert "Did you mean" not in refused(capsys, "select", tmp_path / name)
    assert "Did you mean" in refused(capsys, "select", tmp_path / "sms.cvs")
    assert "Did you mean" not in refused(capsys, "select", path, "--text", "text")
    line = refused(capsys, "select", path, "--label", "lable")
    assert "Did you mean 'label'?" in line


@pytest.mark.parametrize("command", ["select", "path"])
def test_columns_that_are_no_numbers(command, tmp_path, capsys):
    path = write_csv(tmp_path / "people.csv", PEOPLE, people())
    line = plain(refused(capsys, command, path, "--model", "gaussian"))
    assert "--model gaussian needs columns of numbers" in line
    assert "Got others in 'town', 'mood', 'day'" in line
    assert "Hint: --drop town --drop mood --drop day" in line


def test_damaged_counts_are_not_told_as_a_zip(tmp_path, capsys):
    for name in ("a.counts", "b.counts"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 and nothing more")
    files = [str(tmp_path / name) for name in ("a.counts", "b.counts")]
    assert main(["counts", "merge", *files, "--save", str(tmp_path / "c")]) == 2
    err = capsys.readouterr().err
    assert "is no file of counts, or a damaged one. Hint: bayesieve counts" in err
    assert "zip" not in err


def test_one_column_is_spoken_of_as_one(tmp_path, capsys):
    pytest.importorskip("duckdb")
    rows = "".join(
        f"{i % 2 * 5 + i % 3},{i % 7},{['no', 'yes'][i % 2]}\n" for i in range(300)
    )
    (tmp_path / "a.csv").write_text("a,b,label\n" + rows)
    data = [str(tmp_path / "a.csv"), "--label", "label"]
    assert main(["select", *data]) == 0
    told = capsys.readouterr().out
    assert "1 of 2 columns has a weight: any other would cost more" in told
    assert "this column alone" in told
    assert main(["select", *data, "-k", "2"]) == 0
    assert "any other would cost more" in capsys.readouterr().out
    assert main(["select", *data, "-k", "1"]) == 0
    assert "as many as -k asks for" in capsys.readouterr().out
    assert main(["select", *data, "--model", "gaussian", "-k", "1"]) == 0
    assert "no other column explains the labels better" in capsys.readouterr().out


def test_small_weights_and_none():
    from bayesieve.cli._show import _signed
    from bayesieve.cli._terminal import Terminal

    assert [_signed(w) for w in (0.0, 3.18, -0.5, 0.004, -1e-5)] == [
        "0",
        "+3.18",
        "-0.50",
        "+4e-03",
        "-1e-05",
    ]
    terminal = Terminal(io.StringIO())
    assert terminal.bar(0.0, 3).strip() == "│"
    assert terminal.one_sided_bar(0.0, 3) == ""
