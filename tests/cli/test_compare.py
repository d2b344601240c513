"""`bayesieve compare`: two saved models side by side, with data or without."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.cli.files import (
    PEOPLE,
    people,
    run_script,
    write_csv,
    write_reviews,
    write_svmlight,
)
from tests.cli.test_select import refused

from bayesieve import L0Screener, load_model, save_model
from bayesieve._description import describe
from bayesieve.cli import _files, main

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")


@pytest.fixture
def made(tmp_path, capsys, monkeypatch):
    """Make models in a folder of their own: name to path."""
    monkeypatch.chdir(tmp_path)

    def make(name, data, *options):
        code = main(["select", str(data), *options, "--save", name])
        capsys.readouterr()
        assert code == 0
        return name

    return make


def test_models_of_texts(made, tmp_path, capsys):
    data = write_reviews(tmp_path, "csv")
    made("a", data, "-k", "4")
    made("b", data, "-k", "8", "--model", "bernoulli")
    assert main(["compare", "a", "b"]) == 0
    told = capsys.readouterr().out
    assert "A: a, a SparseTextNB with 4 of 15 terms" in told
    assert "Proven: no other 4 terms" in told
    assert "Both know the classes neg, pos." in told
    assert "'multinomial'" in told
    assert "Terms in both: 4; only in A: 0; only in B: 4." in told
    assert "agree" not in told
    assert main(["compare", "a", "b", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == {"k": [4, 8], "model": ["multinomial", "bernoulli"]}
    assert len(found["features"]) == 8
    assert [own["in"] for own in found["features"]].count("second") == 4
    assert found["models"][0]["certificate"]["is_optimal"]
    assert found["models"][0]["bytes"] == (tmp_path / "a").stat().st_size
    assert found["predictions"] is None


def test_the_same_rows_for_models_of_other_columns(made, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_files, "_BATCH_ROWS", 64)
    train = write_csv(tmp_path / "train.csv", PEOPLE, people(400))
    made("a", train, "--label", "bought", "--drop", "id", "--drop", "mood")
    made("b", train, "--label", "bought", "--drop", "id", "--drop", "age")
    rows = people(300, 5)
    data = write_csv(tmp_path / "new.csv", PEOPLE, rows)
    assert main(["compare", "a", "b", str(data), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["predictions"]
    predicted = []
    for name in "ab":
        assert main(["predict", name, str(data), "--json"]) == 0
        lines = capsys.readouterr().out.splitlines()
        predicted.append([json.loads(line)["prediction"] for line in lines])
    a, b, truth = (np.array(own) for own in (*predicted, [row[5] for row in rows]))
    assert found["n_rows"] == found["n_labelled"] == 300
    assert found["n_agree"] == (a == b).sum()
    assert found["accuracy"] == [np.mean(a == truth), np.mean(b == truth)]
    first = int(np.flatnonzero(a != b)[0])
    assert found["examples"][0] == {
        **{"row": str(first + 1), "first": a[first], "second": b[first]},
        "label": truth[first],
    }
    assert main(["compare", "a", "b", str(data)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    used = [set(describe(load_model(name)).names) for name in "ab"]  # pairs too
    assert (
        f"Columns in both: {len(used[0] & used[1])}; only in A: "
        f"{len(used[0] - used[1])}; only in B: {len(used[1] - used[0])}."
    ) in told
    assert f"They agree on {(a == b).sum()} of 300 rows of new.csv" in told
    assert "A is right more often than chance explains (McNemar's exact test" in told
    assert "Rows where they differ:" in told


def test_rows_without_labels_and_several_files(made, tmp_path, capsys):
    train = write_csv(tmp_path / "train.csv", PEOPLE, people(400))
    made("a", train, "--label", "bought", "--drop", "id")
    made("b", train, "--label", "bought", "--drop", "id", "-k", "1")
    for name in ("one", "two"):
        rows = [row[:5] for row in people(100, 8)]
        write_csv(tmp_path / f"{name}.csv", PEOPLE[:5], rows)
    assert main(["compare", "a", "b", "one.csv", "two.csv"]) == 0
    told = capsys.readouterr().out
    assert "of 200 rows of one.csv and 1 more" in told
    assert "accuracy" not in told
    assert "one.csv:" in told


def test_other_classes_and_a_model_that_uses_nothing(made, tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [(rng.normal(), i % 2) for i in range(200)]
    none = write_csv(tmp_path / "none.csv", ("x", "y"), rows)
    made("a", none, "--label", "y")
    some = write_csv(tmp_path / "some.csv", ("x", "y"), [(x, x > 0) for x, _ in rows])
    made("b", some, "--label", "y")
    assert load_model("a").support_indices_.size == 0
    assert main(["compare", "a", "b", str(some)]) == 0
    told = capsys.readouterr().out
    assert "The classes differ: 0, 1 only in A; False, True only in B." in told
    assert "They agree on 0 of 200 rows" in told


def test_matrices(made, tmp_path, capsys):
    train = write_svmlight(tmp_path / "train.svm")
    made("a", train, "-k", "2")
    made("b", train, "-k", "4")
    data = write_svmlight(tmp_path / "new.svm", n=60, seed=8)
    assert main(["compare", "a", "b", str(data)]) == 0
    told = capsys.readouterr().out
    assert "Features in both: 2; only in A: 0; only in B: 2." in told
    assert "on 60 labelled rows" in told


def test_errors(made, tmp_path, capsys):
    data = write_reviews(tmp_path, "csv")
    made("a", data, "-k", "4")
    assert "there is no model 'c'" in refused(capsys, "compare", "a", "c")
    assert "is no saved model" in refused(capsys, "compare", data, "a")
    save_model(L0Screener().fit([[0, 1], [1, 0]], [0, 1]), "s")
    assert main(["compare", "a", "s"]) == 0  # selectors have features too
    capsys.readouterr()
    assert "predicts no labels" in refused(capsys, "compare", "a", "s", data)
    other = write_csv(tmp_path / "other.csv", ("words",), [("a",)])
    assert "there is no column 'text'" in refused(capsys, "compare", "a", "a", other)


def test_the_installed_script(made, tmp_path):
    data = write_reviews(tmp_path, "csv")
    made("a", data, "-k", "4")
    done = run_script("compare", "a", "a", data)
    assert done.returncode == 0, done.stderr
    assert "The settings that both have are the same." in done.stdout
    assert "A alone is right in 0 rows, B alone in 0" in done.stdout
