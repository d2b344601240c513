"""`bayesieve explain`: why rows are predicted as they are."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.cli.files import (
    PEOPLE,
    people,
    reviews,
    run_script,
    write_csv,
    write_svmlight,
)
from tests.cli.test_select import refused

from bayesieve import (
    NaiveFeatureSelector,
    SelectiveBernoulliNB,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseTextNB,
    load_model,
    save_model,
)
from bayesieve.cli import main

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pd = pytest.importorskip("pandas", reason="reading tables needs pandas")


@pytest.fixture
def table(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = write_csv(tmp_path / "people.csv", PEOPLE, people(300))
    assert main(["select", str(data), "--drop", "id", "--save", "people.model"]) == 0
    capsys.readouterr()
    return data


def explained(capsys, *arguments):
    assert main(["explain", "people.model", *map(str, arguments), "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_terms_add_up_to_what_predict_says(table, capsys):
    rows = explained(capsys, table, "--rows", 7)
    assert [row["row"] for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert main(["predict", "people.model", str(table), "--proba", "--json"]) == 0
    out = capsys.readouterr().out.splitlines()
    model = load_model("people.model")
    smoothing = 1.0 / model.class_count_.sum()  # half a row, and some room
    for row, line in zip(rows, map(json.loads, out), strict=False):
        assert row["prediction"] == line["prediction"]
        scores = np.array(list(row["base"].values()))
        for term in row["terms"]:
            scores += list(term["nats"].values())
        softmax = np.exp(scores - scores.max())
        softmax /= softmax.sum()
        for label, chance in zip(row["base"], softmax, strict=True):
            assert row["probability"][label] == line[f"probability {label}"]
            assert chance == pytest.approx(line[f"probability {label}"], abs=smoothing)


def test_columns_share_the_pairs(table, capsys):
    (terms,) = explained(capsys, table, "--rows", 1)
    (columns,) = explained(capsys, table, "--rows", 1, "--by-column")
    model = load_model("people.model")
    names = [term["name"] for term in columns["terms"]]
    assert names == [model.feature_names_in_[j] for j in model.support_indices_]
    for label in terms["base"]:
        sums = [sum(t["nats"][label] for t in own["terms"]) for own in (terms, columns)]
        assert sums[0] == pytest.approx(sums[1])


def test_rows_are_tables_for_people(table, capsys):
    assert main(["explain", "people.model", str(table), "--rows", "2"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    first, second, rest = out.split("\n\n")
    assert rest == ""
    assert first.startswith("Row 1: ")
    assert second.startswith("Row 2: ")
    assert "predicted with probability" in " ".join(first.split())
    lines = [line.split() for line in first.splitlines()]
    ends = [line[0] for line in lines if line[0] in ("base", "score")]
    assert ends == ["base", "score"]
    found = explained(capsys, table, "--rows", 1)[0]
    assert all(
        any(line[0] == t["name"].split()[0] for line in lines) for t in found["terms"]
    )


def test_only_the_largest_terms_are_shown(table, capsys):
    assert (
        main(["explain", "people.model", str(table), "--rows", "1", "--top", "1"]) == 0
    )
    lines = capsys.readouterr().out.strip().splitlines()
    found = explained(capsys, table, "--rows", 1)[0]
    if len(found["terms"]) > 1:
        assert any(f"{len(found['terms']) - 1} more" in line for line in lines)


def test_rows_of_several_files_say_which(table, tmp_path, capsys):
    head = write_csv(tmp_path / "two.csv", PEOPLE, people(2))
    rows = explained(capsys, head, table, "--rows", 3)
    assert [(row["file"], row["row"]) for row in rows] == [
        (str(head), 1),
        (str(head), 2),
        (str(table), 1),
    ]
    assert main(["explain", "people.model", str(head), str(table)]) == 0
    assert f"{head}, row 2:" in capsys.readouterr().out.replace("\n", " ")


def saved_counts(kind, path):
    """A model of each kind of counts and moments, and data for it."""
    if kind == "svmlight":
        data = write_svmlight(path / "points.svm", n=80)
        assert main(["select", str(data), "-k", "3", "--save", "counts.model"]) == 0
        return data
    if kind == "texts":
        data = write_csv(path / "reviews.csv", ("text", "label"), reviews(80))
        texts, labels = zip(*reviews(80), strict=True)
        model = SparseTextNB(k=5).fit(list(texts), list(labels))
    else:
        rng = np.random.default_rng(0)
        y = np.arange(80) % 2
        numbers = rng.poisson(1.0 + 2.0 * y[:, None] * [1, 0, 1], size=(80, 3))
        names = ("a", "b", "c")
        rows = [(*row, label) for row, label in zip(numbers.tolist(), y, strict=True)]
        data = write_csv(path / "numbers.csv", (*names, "label"), rows)
        make = {
            "gaussian": SparseGaussianNB(2),
            "categorical": SparseCategoricalNB(2),
            "weighted": SelectiveBernoulliNB(2),
        }[kind]
        model = make.fit(pd.DataFrame(numbers, columns=names), y)
    save_model(model, "counts.model")
    return data


KINDS = ["svmlight", "texts", "gaussian", "categorical", "weighted"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_saved_model_explains(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data = saved_counts(kind, tmp_path)
    capsys.readouterr()
    command = ["explain", "counts.model", str(data), "--rows", "20"]
    assert main([*command, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert main(["predict", "counts.model", str(data), "--proba", "--json"]) == 0
    predicted = map(json.loads, capsys.readouterr().out.splitlines())
    others = 0
    for row, line in zip(rows, predicted, strict=False):
        assert row["prediction"] == line["prediction"]
        scores = np.array(list(row["base"].values()))
        for term in row["terms"]:
            scores += list(term["nats"].values())
        softmax = np.exp(scores - scores.max())
        chances = [line[f"probability {label}"] for label in row["base"]]
        np.testing.assert_allclose(softmax / softmax.sum(), chances, atol=1e-9)
        other = row["counterfactual"]
        if other is not None:
            others += 1
            held = {term["name"] for term in row["terms"]}
            assert set(other["features"]) <= held
            assert other["prediction"] != row["prediction"]
            assert other["sentence"].endswith(f"it would be {other['prediction']}.")
    assert others
    assert main(command) == 0
    out = " ".join(capsys.readouterr().out.split())
    for row in rows:
        if row["counterfactual"] is not None:
            assert " ".join(row["counterfactual"]["sentence"].split()) in out


def test_what_would_change_columns_is_of_the_terms(table, capsys):
    (terms,) = explained(capsys, table, "--rows", 1)
    (columns,) = explained(capsys, table, "--rows", 1, "--by-column")
    assert terms["counterfactual"] == columns["counterfactual"]


def test_what_cannot_be_explained_is_one_line(table, capsys):
    selector = NaiveFeatureSelector(2).fit(np.eye(4), [0, 0, 1, 1])
    save_model(selector, "selector.model")
    told = refused(capsys, "explain", "selector.model", table)
    assert "predicts no labels" in told
    assert "there is no model" in refused(capsys, "explain", "none.model", table)
    assert "--rows: must be a number >= 1" in refused(
        capsys, "explain", "people.model", table, "--rows", "0"
    )


def test_the_program_itself(table):
    done = run_script("explain", "people.model", table, "--rows", "1")
    assert done.returncode == 0, done.stderr
    assert "score" in done.stdout
