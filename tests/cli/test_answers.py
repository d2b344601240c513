"""What `select` fits, measures and says: weights by default, the proof by request."""

from __future__ import annotations

import json
import os
import pty
import shlex
import subprocess
import sys
import time

import numpy as np
import pytest
from tests.cli.files import people, write_csv, write_reviews, write_svmlight
from tests.patience import HANGS
from tests.verdicts.make_situations import SITUATIONS, texts

from bayesieve import SelectiveMultinomialNB, SparseTextNB, load_model
from bayesieve.cli import main
from bayesieve.cli._progress import Step

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")


def selected(capsys, *arguments):
    assert main(["select", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Six hundred texts whose words lean to one of two classes."""
    header, rows = texts(600, strength=0.3)(np.random.default_rng(5))
    return write_csv(tmp_path_factory.mktemp("texts") / "d.csv", header, rows)


def names_of(found):
    return [own["name"] for own in found["evaluation"]["contenders"]]


def test_weights_are_the_default_and_the_proof_is_beside_them(file, tmp_path, capsys):
    saved = tmp_path / "m"
    found = selected(capsys, file, "--save", saved)
    assert isinstance(load_model(saved), SparseTextNB)
    assert load_model(saved).weights
    assert names_of(found)[:3] == [
        "terms with weights",
        "proven best terms",
        "all terms, no weights",
    ]
    first, proven = found["evaluation"]["contenders"][:2]
    assert first["features"] == found["k"]
    assert first["chosen"]
    assert not proven["chosen"]
    assert first["accuracy"] == found["evaluation"]["accuracy"]


@pytest.mark.parametrize("options", [["-k", "5"], ["--exact"], ["-k", "5", "--exact"]])
def test_a_number_of_terms_is_proven(options, file, tmp_path, capsys):
    saved = tmp_path / "m"
    found = selected(capsys, file, "--save", saved, *options)
    model = load_model(saved)
    assert not model.weights
    assert model.certificate_.is_optimal
    assert found["k"] == (5 if "-k" in options else 20)
    assert names_of(found)[:2] == ["proven best terms", "terms with weights"]


def test_texts_beside_columns_that_say_nothing_are_texts_alone(file, tmp_path, capsys):
    found = selected(capsys, file)
    lines = file.read_text(encoding="utf-8").splitlines()
    more = [
        lines[0] + ",part,number",
        *(f"{own},all,{i}" for i, own in enumerate(lines[1:])),
    ]
    wider = tmp_path / "wider.csv"
    wider.write_text("\n".join(more), encoding="utf-8")
    same = selected(capsys, wider, "--drop", "number")
    assert same["ignored"] == {"part": "constant"}
    for name in ("unit", "model", "k", "n_features", "features"):
        assert same[name] == found[name]
    assert same["evaluation"]["accuracy"] == found["evaluation"]["accuracy"]
    mixed = selected(capsys, wider, "--model", "selective", "--drop", "number")
    assert mixed["model"] == "SelectiveNB"


def test_columns_that_tell_nothing_by_themselves_leave_the_texts_alone(
    file, tmp_path, capsys
):
    lines = file.read_text(encoding="utf-8").splitlines()
    more = [f"{own},{'ab'[i % 2]}" for i, own in enumerate(sorted(lines[1:]))]
    wider = tmp_path / "wider.csv"
    wider.write_text("\n".join([lines[0] + ",kind", *more]), encoding="utf-8")
    assert main(["select", str(wider), "--quick"]) == 0
    told = capsys.readouterr().err
    assert "left out, beside the texts: 'kind', which says nothing of 'label'" in told
    found = selected(capsys, wider, "--quick")
    assert found["unit"] == "terms"
    assert found["ignored"] == {"kind": "says nothing"}
    assert selected(capsys, wider, "--quick", "--types", "kind=category")["unit"] == (
        "features"
    )


def test_terms_beside_columns_are_counted_and_have_all_the_time(tmp_path, capsys):
    header, rows = texts(400, strength=0.4)(np.random.default_rng(3))
    numbers = np.random.default_rng(4).normal(size=400)
    numbers = (numbers + [2.0 * (row[-1] == rows[0][-1]) for row in rows]).round(3)
    rows = [(*row, number) for row, number in zip(rows, numbers, strict=True)]
    saved = tmp_path / "m"
    path = write_csv(tmp_path / "d.csv", (*header, "number"), rows)
    found = selected(capsys, path, "--save", saved)
    assert found["unit"] == "features"
    assert found["k"] == len(found["features"]) > 1
    assert load_model(saved).time_limit is None


def test_what_is_excluded_helps_no_rival(tmp_path, capsys):
    header, rows = texts(400, strength=0.05)(np.random.default_rng(3))
    rows = [(f"{text} leak{label}", label) for text, label in rows]
    path = write_csv(tmp_path / "d.csv", header, rows)
    assert selected(capsys, path)["evaluation"]["accuracy"] == 1.0
    assert main(["select", str(path), "--exclude", "leak*", "--json"]) == 0
    captured = capsys.readouterr()
    assert "weights keep to no rules: the proven selection in place" in captured.err
    found = json.loads(captured.out)
    assert all(own["accuracy"] < 0.9 for own in found["evaluation"]["contenders"])
    assert not any("leak" in own["name"] for own in found["features"])


def test_a_thousand_classes_are_fitted(tmp_path, capsys):
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(60)]
    rows = [
        (" ".join([*rng.choice(words, 90), f"c{i % 400}"]), f"k{i % 400}")
        for i in range(2000)
    ]
    path = write_csv(tmp_path / "d.csv", ("text", "label"), rows)
    found = selected(capsys, path, "--label", "label", "--quick")
    assert len(found["classes"]) == 400


def test_costs_are_proposed_once_and_for_the_class_that_is_missed(tmp_path, capsys):
    situation = next(own for own in SITUATIONS if own.name == "unbalanced_table")
    path = situation.write(tmp_path)
    found = selected(capsys, path, "--label", "label", "--quick")
    worst = min(found["evaluation"]["per_class"], key=lambda own: own["recall"])
    proposed = [own["command"] for own in found["verdict"]["next"]]
    cost = f"{worst['name']}=5"
    assert any(f"--error-cost {cost}" in own for own in proposed)
    again = selected(capsys, path, "--label", "label", "--quick", "--error-cost", cost)
    for own in again["verdict"]["next"]:
        assert own["command"].count("--error-cost") <= 1


def test_matrices_have_weights_too(tmp_path, capsys):
    saved = tmp_path / "m"
    found = selected(capsys, write_svmlight(tmp_path / "d.svm", n=300), "--save", saved)
    assert isinstance(load_model(saved), SelectiveMultinomialNB)
    assert names_of(found)[0] == "features with weights"
    found = selected(capsys, tmp_path / "d.svm", "-k", "2")
    assert found["certificate"]["is_optimal"]
    found = selected(capsys, tmp_path / "d.svm", "--model", "gaussian", "-k", "2")
    assert "features with weights" not in names_of(found)


def test_exact_and_weights_are_two_things(file, tmp_path, capsys):
    assert main(["select", str(file), "--exact", "--weights"]) == 2
    assert "one of the two" in capsys.readouterr().err
    names = ("id", "age", "town", "mood", "day", "b")
    table = write_csv(tmp_path / "t.csv", names, people(60))
    assert main(["select", str(table), "--label", "b", "--exact"]) == 2
    assert "a mixed table has weights anyway" in capsys.readouterr().err


def test_rules_and_no_smoothing_are_for_the_proven_selection(file, capsys):
    found = selected(capsys, file, "--include", "ban")
    assert found["k"] == 20
    assert found["certificate"]["under_rules"]
    found = selected(capsys, file, "--alpha", "0", "--quick")
    assert found["k"] == 20


def test_quick_fits_no_others_and_l1_is_asked_for(file, capsys):
    assert names_of(selected(capsys, file, "-k", "5", "--quick")) == [
        "proven best terms",
        "all terms, no weights",
        "always c0",
    ]
    found = selected(capsys, file, "-k", "5", "--quick", "--l1")
    l1 = next(
        own
        for own in found["evaluation"]["contenders"]
        if own["name"] == "l1 logistic regression"
    )
    assert 0 < l1["features"] <= found["n_features"]
    assert l1["accuracy"] > 0.5


def test_l1_of_a_table(tmp_path, capsys):
    names = ("id", "age", "town", "mood", "day", "bought")
    path = write_csv(tmp_path / "t.csv", names, people(300))
    found = selected(capsys, path, "--label", "bought", "--drop", "day", "--l1")
    assert "l1 logistic regression" in names_of(found)


def test_costs_of_errors_move_the_threshold(file, capsys):
    found = selected(capsys, file, "--error-cost", "c1=4", "--quick")
    two = found["evaluation"]["two_classes"]
    assert two["costs"] == [1.0, 4.0]
    assert two["chosen_threshold"] == pytest.approx(0.2)
    assert main(["select", str(file), "--error-cost", "c1=4", "--quick"]) == 0
    assert "With these costs of errors" in capsys.readouterr().out
    assert main(["select", str(file), "--error-cost", "c7=4", "--quick"]) == 2
    assert "some of the classes 'c0', 'c1'. Got 'c7'" in capsys.readouterr().err
    assert main(["select", str(file), "--error-cost", "4"]) == 2
    assert "must be CLASS=COST. Got '4'" in capsys.readouterr().err


def test_few_rows_are_split_several_times(tmp_path, capsys):
    header, rows = texts(80, strength=0.4)(np.random.default_rng(1))
    path = write_csv(tmp_path / "d.csv", header, rows)
    found = selected(capsys, path)["evaluation"]
    assert found["splits"] == 10
    assert 15 <= found["rows"] <= 25
    assert np.sum(found["confusion"]["counts"]) > 150
    assert found["accuracy_low"] <= found["accuracy"] <= found["accuracy_high"]
    assert selected(capsys, path, "--quick")["evaluation"]["splits"] == 1


def test_nothing_held_out_is_nothing_measured(file, capsys):
    found = selected(capsys, file, "--test-share", "0")
    assert found["evaluation"] is None
    assert "was not measured" in found["verdict"]["lines"][0]


def test_the_answer_comes_first_and_the_proof_after_it(file, capsys):
    assert main(["select", str(file), "-k", "5"]) == 0
    out = capsys.readouterr().out
    places = [
        out.index(words)
        for words in (
            "Right on",
            "held-out rows",
            "right if said",
            "Proven:",
            "Try next",
        )
    ]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "name", ["noise_texts_proven", "redundant_proven", "unbalanced_table", "leak_table"]
)
def test_the_commands_to_try_next_run(name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    situation = next(own for own in SITUATIONS if own.name == name)
    path = situation.write(tmp_path).name
    found = selected(capsys, path, "--label", "label", *situation.options)
    for step in found["verdict"]["next"]:
        words = shlex.split(step["command"])
        assert words[0] == "bayesieve"
        assert main([own for own in words[1:] if own != "--json"]) == 0, step
        capsys.readouterr()


def test_models_and_reports_are_of_the_same_run(file, tmp_path, capsys):
    saved, page = tmp_path / "m", tmp_path / "r.html"
    found = selected(capsys, file, "--save", saved, "--report", page)
    again = tmp_path / "again.html"
    assert main(["report", str(saved), "--out", str(again)]) == 0
    assert again.read_text() == page.read_text()
    assert found["verdict"]["lines"][0] in page.read_text(encoding="utf-8")


SLOW = """\
import sys, time
from bayesieve.cli._progress import Step
from bayesieve.utils._progress import ProgressBar
with Step("Selection"):
    bar = ProgressBar("Path", 10)
    bar.shown = False
    for i in range(16):
        time.sleep(0.1)
        bar.update(i % 10, "penalties")
print("done")
"""


def run_in_terminal(program):
    """What a program writes to a terminal."""
    first, second = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=second, stderr=second
    )
    os.close(second)
    shown, end = b"", time.monotonic() + HANGS
    while time.monotonic() < end:
        try:
            part = os.read(first, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(first)
    assert process.wait() == 0
    return shown.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="terminals of Unix")
def test_steps_are_named_once_they_take_a_second():
    shown = run_in_terminal(SLOW)
    assert "Selection, 1 s  Path" in shown
    assert "penalties" in shown
    assert shown.rstrip().endswith("done")
    # The line is taken away before anything else is written.
    assert shown[: shown.index("done")].endswith("\r")
    assert "Selection" not in run_in_terminal(SLOW.replace("16", "3"))


def test_steps_are_silent_where_nobody_looks(capsys):
    with Step("Selection"):
        time.sleep(1.3)
    assert capsys.readouterr() == ("", "")


def test_reviews_of_every_format_have_a_verdict(tmp_path, capsys):
    for form in ("csv", "parquet"):
        found = selected(capsys, write_reviews(tmp_path, form), "--text", "text")
        assert found["verdict"]["lines"]


def test_a_leak_with_a_quote_in_its_name_is_dropped_by_its_name(tmp_path, capsys):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, size=300)
    rows = [(own + rng.uniform(0, 0.1), rng.normal(), "ab"[own]) for own in labels]
    path = write_csv(tmp_path / "d.csv", ("it's", "other", "label"), rows)
    found = selected(capsys, path, "--label", "label", "--quick")
    command = shlex.split(found["verdict"]["next"][0]["command"])
    assert command[-2:] == ["--drop", "it's"]
