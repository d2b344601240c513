"""`bayesieve predict` carries columns, and tells what is unlike the training data."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pytest
from tests.cli.files import (
    PEOPLE,
    people,
    reviews,
    write_csv,
    write_jsonl,
    write_parquet,
    write_reviews,
    write_svmlight,
)
from tests.cli.test_predict import rows_of
from tests.cli.test_select import refused

from bayesieve import load_model
from bayesieve.cli import _files, main

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")


@pytest.fixture
def model(tmp_path, capsys):
    """A model of people that uses age and mood, not town and day."""
    train = write_csv(tmp_path / "train.csv", PEOPLE, people(600))
    saved = tmp_path / "people.model"
    assert main(["select", str(train), "--drop", "id", "--save", str(saved)]) == 0
    capsys.readouterr()
    assert load_model(saved).support_.tolist() == [True, False, True, False]
    return saved


@pytest.fixture
def texts(tmp_path, capsys):
    data = write_reviews(tmp_path, "csv", "train")
    saved = tmp_path / "texts.model"
    assert main(["select", str(data), "-k", "8", "--save", str(saved)]) == 0
    capsys.readouterr()
    return saved


def predicted(capsys, *arguments):
    """Run predict; return the rows of its CSV and what it told."""
    assert main(["predict", *map(str, arguments)]) == 0
    captured = capsys.readouterr()
    return rows_of(captured.out), captured.err


# ------------------------------------------------------------------------- kept columns


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_kept_columns_come_before_the_predictions(
    ending, texts, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(_files, "_BATCH_ROWS", 16)
    day = datetime.date(2024, 2, 29)
    rows = [
        (i, text, None if i % 7 == 0 else 0.1 + i, day, label)
        for i, (text, label) in enumerate(reviews(50, 9))
    ]
    header = ("id", "text", "price_paid", "day", "label")
    data = write_parquet(tmp_path / "new.parquet", header, rows)
    out = tmp_path / f"out.{ending}"
    options = ["--keep", "id,price*", "--keep", "day", "--out", str(out)]
    assert main(["predict", str(texts), str(data), *options]) == 0
    capsys.readouterr()
    names = ["row", "id", "price_paid", "day", "prediction", "probability"]
    if ending == "parquet":
        from pyarrow import parquet

        table = parquet.read_table(out)
        assert table.column_names == names
        assert [str(table.schema.field(n).type) for n in names[1:4]] == [
            *("int64", "double", "date32[day]"),
        ]
        found = table.to_pylist()
        assert found[0]["price_paid"] is None
        assert found[1]["day"] == day
    elif ending == "jsonl":
        found = [json.loads(line) for line in out.read_text().splitlines()]
        assert list(found[0]) == names
        assert (found[0]["price_paid"], found[1]["day"]) == (None, "2024-02-29")
    else:
        found = rows_of(out.read_text(), "\t" if ending == "tsv" else ",")
        assert list(found[0]) == names
        assert (found[0]["price_paid"], found[1]["day"]) == ("", "2024-02-29")
    assert [int(row["id"]) for row in found] == list(range(50))
    # All digits, not the six of a probability.
    assert float(found[41]["price_paid"]) == 0.1 + 41


@pytest.mark.parametrize("write", [write_csv, write_jsonl])
def test_kept_columns_of_tables(write, model, tmp_path, capsys):
    ending = "csv" if write is write_csv else "jsonl"
    data = write(tmp_path / f"new.{ending}", PEOPLE, people(30, 5))
    rows, told = predicted(capsys, model, data, "--keep", "id,town,bought")
    assert list(rows[0]) == ["row", "id", "town", "bought", "prediction", "probability"]
    assert [row["bought"] for row in rows] == [row[5] for row in people(30, 5)]
    assert [row["town"] for row in rows] == [row[2] for row in people(30, 5)]
    assert "not known" not in told  # id is not in the model, and was asked for


def test_a_kept_column_with_a_name_of_the_output(model, tmp_path, capsys):
    header = ("row", "age", "mood", "prediction", "data prediction")
    rows = [(f"r{i}", row[1], row[3], "p", "d") for i, row in enumerate(people(4, 5))]
    data = write_csv(tmp_path / "new.csv", header, rows)
    found, told = predicted(capsys, model, data, "--keep", "*")
    assert list(found[0]) == [
        *("row", "data row", "age", "mood", "data data prediction"),
        *("data prediction", "prediction", "probability"),
    ]
    assert (found[1]["row"], found[1]["data row"]) == ("2", "r1")
    assert found[1]["prediction"] in ("yes", "no")
    assert "the kept column 'row' is written as 'data row'" in told


def test_a_name_that_matches_nothing_is_refused(model, tmp_path, capsys):
    data = write_csv(tmp_path / "new.csv", PEOPLE, people(4, 5))
    line = refused(capsys, "predict", model, data, "--keep", "id,tow")
    assert "there is no column 'tow'" in line
    assert "Did you mean 'town'?" in line
    assert "no column 'x*'" in refused(capsys, "predict", model, data, "--keep", "x*")


def test_a_name_with_a_comma(model, tmp_path, capsys):
    rows = [(row[1], row[3], "x") for row in people(4, 5)]
    data = write_csv(tmp_path / "new.csv", ("age", "mood", "a,b"), rows)
    found, _ = predicted(capsys, model, data, "--keep", "a,b")
    assert found[0]["a,b"] == "x"


def test_kept_values_that_a_spreadsheet_would_run(model, tmp_path, capsys):
    rows = [
        (row[1], row[3], "=1+1" if i == 2 else "-5") for i, row in enumerate(people(4))
    ]
    data = write_csv(tmp_path / "new.csv", ("age", "mood", "=cmd"), rows)
    found, told = predicted(capsys, model, data, "--keep", "=*")
    assert "begins as a formula does" in told
    assert found[2]["=cmd"] == "=1+1"
    options = ("--keep", "=*", "--escape-formulas")
    found, told = predicted(capsys, model, data, *options)
    assert "formula" not in told
    assert [row["'=cmd"] for row in found] == ["-5", "-5", "'=1+1", "-5"]
    assert main(["predict", str(model), str(data), "--json", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert json.loads(lines[2])["=cmd"] == "=1+1"  # no spreadsheet reads JSON lines


def test_kept_columns_of_other_types_in_a_second_file(model, tmp_path, capsys):
    header = ("age", "mood", "note")
    for name, note in (("a", 1), ("b", "words")):
        rows = [(30.0, "up", note)] * 3
        write_parquet(tmp_path / f"{name}.parquet", header, rows)
    files = (tmp_path / "a.parquet", tmp_path / "b.parquet", "--keep", "note")
    out = tmp_path / "out.parquet"
    line = refused(capsys, "predict", model, *files, "--out", out)
    assert "must have one type in all files" in line
    assert not out.exists()
    rows, _ = predicted(capsys, model, *files)
    assert [row["note"] for row in rows] == ["1"] * 3 + ["words"] * 3


def test_matrices_have_no_columns_to_keep(tmp_path, capsys):
    train = write_svmlight(tmp_path / "train.svm")
    saved = tmp_path / "m"
    assert main(["select", str(train), "-k", "2", "--save", str(saved)]) == 0
    capsys.readouterr()
    line = refused(capsys, "predict", saved, train, "--keep", "id")
    assert "--keep is for tables" in line


# ----------------------------------------------------------------------------- findings


def test_rows_like_those_of_training_need_no_word(model, tmp_path, capsys):
    data = write_csv(tmp_path / "new.csv", PEOPLE[1:], [r[1:] for r in people(400, 7)])
    _, told = predicted(capsys, model, data)
    lines = [line for line in told.splitlines() if "labelled rows" not in line]
    assert all("shifted" not in line and "never met" not in line for line in lines)


def test_what_is_unlike_training_is_told_in_one_line(model, tmp_path, capsys):
    rows = [list(row) for row in people(100, 5)]
    for row in rows:
        row[1] = "" if not row[1] else f"{float(row[1]) + 30:.1f}"
    rows[3][3] = rows[4][3] = "sideways"
    header = ("age", "mood", "size", "bought")
    shown = [(row[1], row[3], 1, row[5]) for row in rows]
    data = write_csv(tmp_path / "new.csv", header, shown)
    findings = tmp_path / "findings.json"
    _, told = predicted(capsys, model, data, "--findings", findings)
    [line] = [own for own in told.splitlines() if "unlike" in own]
    assert "columns 'town', 'day' missing, not needed without a weight" in line
    assert "column 'size' not known to the model and left out" in line
    assert "values never met in 'mood' (2 of 100 rows, such as 'sideways')" in line
    assert "outside the range in 'age' (" in line
    assert "shares have shifted in 'age' (" in line
    assert "'mood' (" not in line.split("shifted")[1]
    found = json.loads(findings.read_text(encoding="utf-8"))
    assert (found["rows"], found["labelled_rows"]) == (100, 100)
    assert found["missing_columns"] == ["town", "day"]
    assert found["new_columns"] == ["size"]
    assert found["shifted"] == ["age"]
    age, mood = found["columns"]
    ages = [float(row[1]) for row in rows if row[1]]
    low, high = age["training_range"]
    assert age["outside_rows"] == sum(not low <= own <= high for own in ages)
    assert age["outside_example"] == max(ages)
    assert mood["unseen_rows"] == 2
    assert 0 <= mood["p_value"] <= 1
    assert not mood["shifted"]


def test_findings_of_batches_are_those_of_all_rows(
    model, tmp_path, capsys, monkeypatch
):
    data = write_csv(tmp_path / "new.csv", PEOPLE, people(300, 5))
    found = []
    for rows in (1 << 13, 7):
        monkeypatch.setattr(_files, "_BATCH_ROWS", rows)
        predicted(capsys, model, data, "--findings", tmp_path / "f.json")
        found.append((tmp_path / "f.json").read_text())
    assert found[0] == found[1]


def test_predictions_do_not_depend_on_columns_without_a_weight(model, tmp_path, capsys):
    rows = people(50, 5)
    whole = write_csv(tmp_path / "whole.csv", PEOPLE, rows)
    less = write_csv(
        tmp_path / "less.csv", ("mood", "age"), [(r[3], r[1]) for r in rows]
    )
    odd = [(row[1], "?", row[3], "no day at all") for row in rows]
    other = write_csv(tmp_path / "odd.csv", PEOPLE[1:5], odd)
    found = [predicted(capsys, model, data)[0] for data in (whole, less, other)]
    assert found[0] == found[1] == found[2]
    without = write_csv(tmp_path / "w.csv", ("town", "mood"), [("Oslo", "up")])
    assert "there is no column 'age'" in refused(capsys, "predict", model, without)


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli", "gaussian"])
def test_models_of_numbers_need_the_selected_columns_only(kind, tmp_path, capsys):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = rng.poisson(1 + 3 * y[:, None] * (np.arange(5) < 2))
    names = ("a", "b", "c", "d", "e")
    rows = [(*row, label) for row, label in zip(X.tolist(), y, strict=True)]
    train = write_csv(tmp_path / "t.csv", (*names, "y"), rows)
    saved = tmp_path / "m"
    options = ["--label", "y", "--model", kind, "-k", "2", "--save", str(saved)]
    assert main(["select", str(train), *options]) == 0
    capsys.readouterr()
    used = load_model(saved).support_indices_.tolist()
    part = [[row[j] for j in used] for row in X.tolist()]
    data = write_csv(tmp_path / "p.csv", [names[j] for j in used], part)
    rows, told = predicted(capsys, saved, data)
    expected = load_model(saved).predict(_named(X, names))
    assert [int(row["prediction"]) for row in rows] == expected.tolist()
    assert "missing, not needed without a weight" in told


def _named(X, names):
    import pandas as pd

    return pd.DataFrame(X, columns=list(names))


def test_a_model_that_uses_no_column_needs_none(tmp_path, capsys):
    rng = np.random.default_rng(0)
    train = [(rng.normal(), i % 2) for i in range(100)]
    data = write_csv(tmp_path / "t.csv", ("x", "y"), train)
    saved = tmp_path / "m"
    assert main(["select", str(data), "--label", "y", "--save", str(saved)]) == 0
    capsys.readouterr()
    new = write_csv(tmp_path / "n.csv", ("z",), [(1,), (2,)])
    rows, told = predicted(capsys, saved, new)
    assert len(rows) == 2
    assert "column 'x' missing" in told


def test_texts(texts, tmp_path, capsys):
    rows = [(i, "a good good film") for i in range(60)] + [(60, "nothing known")]
    data = write_csv(tmp_path / "new.csv", ("id", "text"), rows)
    findings = tmp_path / "f.json"
    _, told = predicted(capsys, texts, data, "--findings", findings)
    assert "column 'id' not known to the model and left out" in told
    assert "no known term in 1 of 61 rows" in told
    assert "shares have shifted in 'good' (" in told
    found = json.loads(findings.read_text())
    [good] = [own for own in found["columns"] if own["name"] == "good"]
    assert good["scored_share"] == pytest.approx(60 / 61)
    assert found["shifted"][0] == "good"
    assert found["shift_tested"]


def test_columns_of_a_matrix_that_training_did_not_have(tmp_path, capsys):
    train = tmp_path / "train.svm"
    train.write_text("1 0:2 3:1\n-1 1:2 2:1\n" * 20)
    saved = tmp_path / "m"
    options = ["-k", "2", "--save", str(saved), "--test-share", "0"]
    assert main(["select", str(train), *options]) == 0
    capsys.readouterr()
    width = load_model(saved).n_features_in_
    new = tmp_path / "new.svm"
    new.write_text("1 0:2\n-1 9:1\n")
    _, told = predicted(capsys, saved, new)
    assert f"column '{width}...9' not known to the model and left out" in told
    assert "no selected feature in 1 of 2 rows" in told


def test_the_file_of_findings_is_no_file_that_is_read(model, tmp_path, capsys):
    data = write_csv(tmp_path / "new.csv", PEOPLE, people(4, 5))
    line = refused(capsys, "predict", model, data, "--findings", data)
    assert "would overwrite" in line
    both = ("--out", tmp_path / "x.csv", "--findings", tmp_path / "x.csv")
    assert "must name two files" in refused(capsys, "predict", model, data, *both)
