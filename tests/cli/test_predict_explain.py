"""`bayesieve predict --explain`: a column with the strongest terms of each row."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from tests.cli.files import PEOPLE, people, reviews, write_csv
from tests.cli.test_select import refused

from bayesieve import SparseTextNB, load_model, save_model
from bayesieve.cli import _predict, main

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows, labels = zip(*reviews(120), strict=True)
    save_model(SparseTextNB(k=6).fit(list(rows), list(labels)), "texts.model")
    return write_csv(tmp_path / "reviews.csv", ("text", "label"), reviews(120))


def read(path):
    if path.endswith(".parquet"):
        from pyarrow import parquet

        return parquet.read_table(path).to_pylist()
    with open(path, encoding="utf-8", newline="") as file:
        if path.endswith(".jsonl"):
            return [json.loads(line) for line in file]
        return list(csv.DictReader(file, delimiter="\t" if "tsv" in path else ","))


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_the_strongest_terms_are_a_column(texts, ending, capsys, monkeypatch):
    monkeypatch.setattr(_predict, "_ROWS_AT_ONCE", 50)
    out = f"out.{ending}"
    command = ["predict", "texts.model", str(texts), "--out", out]
    assert main([*command, "--explain"]) == 0
    found = read(out)
    model = load_model("texts.model")
    rows = [text for text, _ in reviews(120)]
    expected = model.explain(rows).summary(3)
    assert [row["explanation"] for row in found] == expected
    assert list(found[0]) == ["row", "prediction", "probability", "explanation"]
    assert main([*command, "--explain", "1", "--proba"]) == 0
    assert [row["explanation"] for row in read(out)] == model.explain(rows).summary(1)
    assert main(command) == 0
    assert "explanation" not in read(out)[0]


def test_tables_are_explained_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = write_csv(tmp_path / "people.csv", PEOPLE, people(300))
    assert main(["select", str(data), "--drop", "id", "--save", "people.model"]) == 0
    command = ["predict", "people.model", str(data), "--explain", "2", "--json"]
    capsys.readouterr()
    assert main(command) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 300
    names = set(load_model("people.model").feature_names_in_)
    for row in rows:
        name, nats = row["explanation"].split(", ")[0].rsplit(" ", 1)
        assert set(name.split(" \u00d7 ")) <= names
        assert np.isfinite(float(nats))


def test_a_kept_column_of_the_same_name_gets_another(tmp_path, texts, capsys):
    rows = [(text, "mine") for text, _ in reviews(5)]
    data = write_csv(tmp_path / "own.csv", ("text", "explanation"), rows)
    command = ["predict", "texts.model", str(data), "--text", "text"]
    command += ["--keep", "explanation", "--explain", "--json"]
    assert main(command) == 0
    captured = capsys.readouterr()
    line = json.loads(captured.out.splitlines()[0])
    assert line["data explanation"] == "mine"
    assert line["explanation"] != "mine"


def test_terms_that_begin_as_formulas_are_escaped(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [("=cmd now", "a"), ("see you", "b")] * 4
    model = SparseTextNB(k=2, token_pattern=r"\S+", include=["=cmd"])
    model.fit([text for text, _ in rows], [label for _, label in rows])
    save_model(model, "odd.model")
    data = write_csv(tmp_path / "odd.csv", ("text", "label"), rows)
    command = ["predict", "odd.model", str(data), "--explain", "--out", "out.csv"]
    assert main(command) == 0
    assert "begins as a formula does" in capsys.readouterr().err
    assert main([*command, "--escape-formulas"]) == 0
    assert "formula" not in capsys.readouterr().err
    shown = {row["explanation"] for row in read("out.csv")}
    assert any(own.startswith("'=cmd +") for own in shown)
    assert not any(own.startswith("=") for own in shown)


def test_how_many_terms_is_a_number(texts, capsys):
    told = refused(capsys, "predict", "texts.model", texts, "--explain", "0")
    assert "--explain: must be a number >= 1" in told
