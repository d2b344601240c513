"""`--include` and the other rules, and `bayesieve alternatives`."""

from __future__ import annotations

import json

import pytest
from tests.cli.files import reviews, write_csv
from tests.cli.test_select import refused

from bayesieve.cli import main

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pd = pytest.importorskip("pandas", reason="reading tables needs pandas")


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return str(write_csv(tmp_path / "reviews.csv", ["text", "label"], reviews(300)))


@pytest.fixture
def numbers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        (i % 2, i % 7 + 3 * (i % 2), (i * 5) % 11, i % 3, (i * 7) % 13 + (i % 2))
        for i in range(200)
    ]
    path = tmp_path / "numbers.csv"
    return str(write_csv(path, ["label", "x1", "x2", "y1", "y2"], rows))


def selected(capsys, *arguments):
    assert main(["select", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def names_of(outcome):
    return {feature["name"] for feature in outcome["features"]}


def test_words_are_in_and_out(texts, capsys):
    free = names_of(selected(capsys, texts, "-k", "4"))
    some = sorted(free)[0]
    out = selected(capsys, texts, "-k", "4", "--exclude", some)
    assert some not in names_of(out)
    assert out["certificate"]["under_rules"]
    rare = sorted(names_of(selected(capsys, texts, "-k", "30")) - free)[0]
    out = selected(capsys, texts, "-k", "4", "--include", rare)
    assert rare in names_of(out)
    assert main(["select", texts, "-k", "4", "--include", rare]) == 0
    assert "that the rules allow" in capsys.readouterr().out


@pytest.mark.parametrize("model", ["gaussian", "bernoulli", "multinomial"])
def test_patterns_make_groups(numbers, capsys, model):
    common = (numbers, "--label", "label", "--model", model, "-k", "2")
    out = selected(capsys, *common, "--groups", "x*", "--max-per-group", "1")
    assert not {"x1", "x2"} <= names_of(out)
    out = selected(capsys, *common, "--groups", "x*", "--include", "x2")
    assert {"x1", "x2"} <= names_of(out)


def test_a_budget(numbers, capsys):
    common = (numbers, "--label", "label", "--model", "gaussian", "-k", "all")
    out = selected(capsys, *common, "--cost", "x*=2", "--cost", "y1=1", "--budget", "2")
    assert "y2" in names_of(out)
    assert len(names_of(out) & {"x1", "x2"}) <= 1


def test_a_path_keeps_to_rules(texts, capsys):
    free = names_of(selected(capsys, texts, "-k", "4"))
    some = sorted(free)[0]
    assert main(["path", texts, "--sizes", "2,4", "--exclude", some, "--json"]) == 0
    path = json.loads(capsys.readouterr().out)
    assert some not in str(path)


def test_cross_validation_of_texts_keeps_to_rules(texts, capsys):
    free = names_of(selected(capsys, texts, "-k", "4"))
    some = sorted(free)[0]
    out = selected(capsys, texts, "-k", "cv", "--exclude", some)
    assert some not in names_of(out)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--include", "nosuch"), "--include must name features. Got 'nosuch'"),
        (("--groups", "q*"), "--groups must name features. Got 'q*'"),
        (("--max-per-group", "2"), "--max-per-group needs --groups. Got 2 without"),
        (("--budget", "2"), "--budget needs --cost: together they"),
        (("--cost", "x1=2"), "--cost needs --budget: together they"),
        (("--budget", "-2"), "must be a number >= 0. Got '-2'"),
        (("--cost", "x1"), "must be NAME=COST. Got 'x1'"),
        (("--include", "x1", "--exclude", "x1"), "must not share a feature"),
        (("--include", "*"), "--include must name at most k=2 features. Got 4"),
    ],
)
def test_rules_that_cannot_be_are_one_line(numbers, capsys, arguments, told):
    common = ("select", numbers, "--label", "label", "--model", "gaussian", "-k", "2")
    assert told in refused(capsys, *common, *arguments)


def test_a_mixed_table_and_weights_keep_to_no_rules(numbers, texts, capsys):
    told = refused(capsys, "select", numbers, "--label", "label", "--include", "x1")
    assert "keeps to no rules" in told
    told = refused(capsys, "select", texts, "--weights", "-k", "3", "--include", "good")
    assert "--weights keeps to no rules" in told


def test_alternatives_of_a_saved_model(texts, capsys):
    assert main(["select", texts, "-k", "5", "--save", "r.model"]) == 0
    capsys.readouterr()
    assert main(["alternatives", "r.model", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["k"] == 5
    assert len(found["features"]) == 5
    assert found["n_listed"] >= 1
    lost = [item["lost"] for item in found["features"]]
    assert lost == sorted(lost, reverse=True)
    assert main(["alternatives", "r.model"]) == 0
    shown = capsys.readouterr().out
    assert "within 1 % of" in shown
    for item in found["features"]:
        assert item["name"] in shown
    assert "needs the counts" in refused(
        capsys, "alternatives", "r.model", "--within", "0.1"
    )


def test_alternatives_of_a_model_with_counts(texts, capsys):
    from bayesieve import SparseTextNB, save_model

    frame = pd.read_csv(texts)
    model = SparseTextNB(k=4, keep_counts=True).fit(frame["text"], frame["label"])
    save_model(model, "c.model")
    assert main(["alternatives", "c.model", "--within", "0.5", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    listed = model.alternatives(within=0.5)
    assert found["within"] == 0.5
    assert found["n_listed"] == len(listed)


def test_alternatives_say_which_models_they_take(numbers, capsys):
    assert main(["select", numbers, "--label", "label", "--save", "n.model"]) == 0
    capsys.readouterr()
    told = refused(capsys, "alternatives", "n.model")
    assert "holds another SelectiveNB" in told
