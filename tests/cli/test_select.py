"""`bayesieve select` on files of every format, and every way it can refuse."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from tests.cli.files import (
    BAD,
    GOOD,
    PEOPLE,
    SCRIPT,
    people,
    reviews,
    run_script,
    write_csv,
    write_jsonl,
    write_parquet,
    write_reviews,
    write_svmlight,
)
from tests.conftest import data_folder
from tests.patience import HANGS

from bayesieve import SparseTextNB, load_model
from bayesieve.cli import main
from bayesieve.persistence import load_notes

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")

FORMATS = ["csv", "csv.gz", "tsv", "jsonl", "json", "parquet"]


def selected(capsys, *arguments):
    """Run select with --json and return what it found."""
    assert main(["select", *map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys, *arguments):
    """Run a command that must fail: one line on stderr, nothing on stdout, code 2."""
    assert main([*map(str, arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = [
        line
        for line in captured.err.splitlines()
        if "guessed" not in line and "left out" not in line
    ]
    assert len(lines) == 1, captured.err
    assert lines[0].startswith("bayesieve: ")
    return lines[0]


# ------------------------------------------------------------------------------ texts


@pytest.mark.parametrize("form", FORMATS)
def test_texts_of_every_format_give_the_same_terms(form, tmp_path, capsys):
    path = write_reviews(tmp_path, form)
    found = selected(capsys, path, "-k", "8")
    assert {row["name"] for row in found["features"]} == set(GOOD + BAD)
    assert found["guessed"] == {"--text": "text", "--label": "label"}
    assert found["certificate"]["is_optimal"] is True
    assert found["evaluation"]["accuracy"] == 1.0
    assert found["evaluation"]["rows"] + found["train_rows"] == 200
    for row in found["features"]:
        assert row["towards"] == ("pos" if row["name"] in GOOD else "neg")
        assert (row["weight"] > 0) == (row["name"] in GOOD)


def test_the_model_is_that_of_the_library(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    saved = tmp_path / "model"
    options = ["--test-share", "0", "--ngrams", "2", "--min-df", "3", "--save", saved]
    selected(capsys, path, "-k", "6", *options)
    texts, labels = zip(*reviews(), strict=True)
    own = SparseTextNB(6, ngram_range=(1, 2), min_df=3).fit(texts, labels)
    loaded = load_model(saved)
    assert loaded.support_terms_ == own.support_terms_
    np.testing.assert_array_equal(loaded.predict_proba(texts), own.predict_proba(texts))


def test_a_glob_and_several_files_are_one_set(tmp_path, capsys):
    for name, seed in (("a", 1), ("b", 2)):
        write_reviews(tmp_path, "csv", name, n=100, seed=seed)
    together = selected(capsys, tmp_path / "*.csv", "-k", "4", "--test-share", "0")
    apart = selected(
        capsys, tmp_path / "a.csv", tmp_path / "b.csv", "-k", "4", "--test-share", "0"
    )
    assert together["train_rows"] == 200
    assert together["features"] == apart["features"]


@pytest.mark.parametrize("k", ["0.2", "all", "elbow", "bic", "cv", "1se"])
def test_ways_to_say_k(k, tmp_path, capsys):
    found = selected(capsys, write_reviews(tmp_path, "csv"), "-k", k)
    assert 1 <= found["k"] <= found["n_features"]
    assert (found["cross_validation"] is not None) == (k in ("cv", "1se"))
    if k == "all":
        assert found["k"] == found["n_features"]


def test_cross_validation_of_texts_agrees_with_scikit_learn(tmp_path, capsys):
    # Accuracy of k terms over five folds, computed again from the matrix; the folds
    # differ, so the means agree to a few standard errors.
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    from bayesieve import SparseMultinomialNB

    rows = reviews(n=400, seed=3)
    rng = np.random.default_rng(0)
    labels = [
        "pos" if (label == "pos") != (rng.random() < 0.15) else "neg"
        for _, label in rows
    ]
    texts = [text for text, _ in rows]
    path = write_csv(
        tmp_path / "r.csv", ("text", "label"), zip(texts, labels, strict=True)
    )
    found = selected(capsys, path, "-k", "cv", "--test-share", "0")
    for row in found["cross_validation"]:
        if row["k"] in (3, 8):
            model = make_pipeline(CountVectorizer(), SparseMultinomialNB(row["k"]))
            scores = cross_val_score(model, texts, labels, cv=5)
            assert abs(scores.mean() - row["mean"]) < 0.03


def test_options_of_texts_are_used(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    options = ["--analyzer", "char_wb", "--ngrams", "3-3", "--model", "bernoulli"]
    found = selected(capsys, path, "-k", "5", *options)
    assert all(len(row["name"]) == 3 for row in found["features"])
    words = selected(capsys, path, "-k", "all", "--stop-words", "english")
    assert "the" not in {row["name"] for row in words["features"]}


def test_rare_terms_are_left_out_of_reports_too(tmp_path, capsys):
    rows = [(f"{text} w{i}", label) for i, (text, label) in enumerate(reviews(200))]
    path = write_csv(tmp_path / "d.csv", ("text", "label"), rows)
    saved = tmp_path / "m"
    for k in ("6", "1se"):
        options = ["-k", k, "--min-df", "2", "--save", str(saved)]
        found = selected(capsys, path, *options)
        data = json.loads(load_notes(saved)["report"])
        told = {row["name"]: row["by_class"] for row in found["features"]}
        rows = data["features"]["rows"]
        assert len(rows) == found["k"]
        for row in rows:
            name = data["names"][row["name"]]
            assert row["counts"] == told[name]


def test_several_classes(tmp_path, capsys):
    texts = [f"word{i % 4} filler here" for i in range(80)]
    rows = [(text, f"c{i % 4}") for i, text in enumerate(texts)]
    path = write_csv(tmp_path / "d.csv", ("text", "label"), rows)
    assert main(["select", str(path), "-k", "4"]) == 0
    out = capsys.readouterr().out
    assert "tell 4 classes apart" in out
    assert re.search(r"word2 +c2 ", out)


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        (["0", "1"], [0, 1]),
        (["True", "False"], [False, True]),
        (["01", "1"], ["01", "1"]),
        (["a", "1"], ["1", "a"]),
    ],
)
def test_labels_of_csv_files_are_read_as_written(values, classes, tmp_path, capsys):
    rows = [(text, values[i % 2]) for i, (text, _) in enumerate(reviews(60))]
    path = write_csv(tmp_path / "d.csv", ("text", "label"), rows)
    assert selected(capsys, path, "-k", "2")["classes"] == classes


def test_typed_labels_keep_their_type(tmp_path, capsys):
    rows = [(text, i % 2) for i, (text, _) in enumerate(reviews(60))]
    path = write_jsonl(tmp_path / "d.jsonl", ("text", "label"), rows)
    saved = tmp_path / "model"
    assert selected(capsys, path, "-k", "2", "--save", saved)["classes"] == [0, 1]
    assert load_model(saved).classes_.dtype.kind == "i"


def test_delimiters_and_quotes(tmp_path, capsys):
    text = 'text;label\n"a; ""good"" film\nin two lines";pos\n' + "good film;pos\n" * 9
    text += "bad film;neg\n" * 9
    path = tmp_path / "d.csv"
    path.write_text("\ufeff" + text, encoding="utf-8")
    found = selected(capsys, path, "--text", "text", "-k", "2", "--test-share", "0")
    assert found["train_rows"] == 19


# ----------------------------------------------------------------------------- tables


@pytest.mark.parametrize("write", [write_csv, write_jsonl, write_parquet])
def test_mixed_tables(write, tmp_path, capsys):
    ending = {write_csv: "csv", write_jsonl: "jsonl", write_parquet: "parquet"}[write]
    rows = people()
    if write is not write_csv:
        rows = [(i, float(a) if a else None, *rest) for i, a, *rest in rows]
    path = write(tmp_path / f"people.{ending}", PEOPLE, rows)
    found = selected(capsys, path, "--drop", "id")
    names = [row["name"] for row in found["features"]]
    assert names[:2] == ["age", "mood"]
    assert "town" not in names
    assert found["model"] == "SelectiveNB"
    assert found["guessed"] == {"--label": "bought"}
    assert found["evaluation"]["accuracy"] > 0.9


def test_a_table_with_fewer_columns(tmp_path, capsys):
    path = write_csv(tmp_path / "people.csv", PEOPLE, people())
    found = selected(capsys, path, "--drop", "id", "-k", "1", "--label", "bought")
    assert [row["name"] for row in found["features"]] == ["age"]
    assert found["evaluation"]["all_features_accuracy"] > 0.9
    assert selected(capsys, path, "--drop", "id", "-k", "0.25")["k"] == 1


def test_a_table_of_measurements(tmp_path, capsys):
    rng = np.random.default_rng(0)
    rows = [[*rng.normal(size=5), "ab"[i % 2]] for i in range(100)]
    for i, row in enumerate(rows):
        row[2] += 3 * (i % 2)
    header = [*"vwxyz", "kind"]
    path = write_csv(tmp_path / "m.csv", header, rows)
    found = selected(capsys, path, "--model", "gaussian", "-k", "1")
    assert [row["name"] for row in found["features"]] == ["x"]
    assert found["features"][0]["weight"] > 1
    assert found["model"] == "SparseGaussianNB"


# ----------------------------------------------------------------------- svmlight files


@pytest.mark.parametrize("gz", [False, True])
def test_svmlight(gz, tmp_path, capsys):
    path = write_svmlight(tmp_path / ("w.svm.gz" if gz else "w.svm"), gz=gz)
    found = selected(capsys, path, "-k", "2")
    # Columns have the numbers that are written in the file.
    assert {row["name"] for row in found["features"]} == {"3", "7"}
    assert found["classes"] == [-1, 1]
    presence = selected(capsys, path, "-k", "1se", "--model", "bernoulli")
    assert presence["model"] == "SparseBernoulliNBCV"
    assert presence["cross_validation"]


# ----------------------------------------------------------------------------- weights


def test_weights_of_terms(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv", n=300)
    saved = tmp_path / "model"
    options = ["-k", "6", "--weights", "--save", saved]
    found = selected(capsys, path, *options)
    assert 1 <= found["k"] <= 6
    assert found["dual_gap"] >= 0
    loaded = load_model(saved)
    assert loaded.weights is True
    assert loaded.weights_.max() <= 1
    assert {row["name"] for row in found["features"]} == set(loaded.support_terms_)
    weights = {row["name"]: row["weight"] for row in found["features"]}
    for term, weight in zip(loaded.support_terms_, loaded.coef_[0], strict=True):
        assert weights[term] == pytest.approx(weight)
    report = ["--report", str(tmp_path / "r.html")]
    assert main(["select", str(path), "-k", "6", "--weights", *report]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "Proven: at this penalty, no other weights of the " in told
    assert "whatever the weights in [0, 1], no " in told
    assert "<table" in loaded._repr_html_()


@pytest.mark.parametrize("k", [["-k", "3"], [], ["-k", "cv"], ["-k", "0.01"]])
@pytest.mark.parametrize("model", ["multinomial", "bernoulli"])
def test_weights_of_matrices(k, model, tmp_path, capsys):
    path = write_svmlight(tmp_path / "w.svm")
    found = selected(capsys, path, "--weights", "--model", model, *k)
    assert found["model"].startswith("Selective")
    assert found["k"] >= 1
    if k == ["-k", "3"]:
        assert found["k"] <= 3


def test_weights_where_there_are_none(tmp_path, capsys):
    text = write_reviews(tmp_path, "csv")
    assert "--weights takes -k" in refused(
        capsys, "select", text, "--weights", "-k", "all"
    )
    table = write_csv(tmp_path / "people.csv", PEOPLE, people(60))
    assert "has weights anyway" in refused(capsys, "select", table, "--weights")
    svm = write_svmlight(tmp_path / "w.svm")
    line = refused(capsys, "select", svm, "--weights", "--model", "gaussian")
    assert "--weights takes --model" in line
    assert main(["counts", str(svm), "--save", str(tmp_path / "c")]) == 0
    capsys.readouterr()
    line = refused(capsys, "select", tmp_path / "c", "--weights")
    assert "--weights needs rows" in line


# ---------------------------------------------------------------------- saved and shown


def test_table_for_people(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    saved = tmp_path / "my model"
    assert main(["select", str(path), "-k", "8", "--save", str(saved)]) == 0
    captured = capsys.readouterr()
    assert "Which terms tell neg from pos?" in captured.out
    assert "Proven: no other 8 terms explain the labels better." in captured.out
    assert re.search(r"^  awful .*█│", captured.out, re.M)
    assert re.search(r"^  great .*│█", captured.out, re.M)
    assert f"bayesieve predict '{saved}' DATA" in captured.out
    assert captured.err == (
        "bayesieve: guessed --text 'text' and --label 'label' "
        "(say it or --no-text to change it)\n"
    )
    told = [line for line in captured.out.splitlines() if "bayesieve " not in line]
    assert all(len(line) <= 80 for line in told if "my" not in line)
    assert json.loads(load_notes(saved)["cli"]) == {
        "text": "text",
        "label": "label",
        "unit": "terms",
    }


def test_what_was_said_is_not_told_as_a_guess(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    assert main(["select", str(path), "--text", "text", "--label", "label"]) == 0
    assert capsys.readouterr().err == ""


def test_names_from_the_data_cannot_steer_the_terminal(tmp_path, capsys):
    rows = [(i % 2 + 0.1 * (i % 7), "a\x1b[31m" if i % 2 else "b") for i in range(40)]
    path = write_csv(tmp_path / "d.csv", ("x\x1b]0;evil\x07", "label"), rows)
    assert main(["select", str(path)]) == 0
    captured = capsys.readouterr()
    assert "\x1b" not in captured.out + captured.err
    assert "x\\x1b]0;evil\\x07" in captured.out


def test_report_and_its_second_rendering(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_reviews(tmp_path, "csv")
    options = ["-k", "4", "--report", "r.html", "--save", "m"]
    assert main(["select", str(path), *options]) == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "reviews.csv" in page
    path.unlink()  # the data is not needed again
    assert main(["report", "m", "--out", "again.html"]) == 0
    assert (tmp_path / "again.html").read_text(encoding="utf-8") == page
    assert main(["report", "m"]) == 0
    assert (tmp_path / "report.html").exists()
    capsys.readouterr()


def test_the_same_rows_are_held_out_whatever_the_format(tmp_path, capsys):
    found = [
        selected(capsys, write_reviews(tmp_path, form), "-k", "5")
        for form in ("csv", "parquet")
    ]
    assert found[0]["evaluation"] == found[1]["evaluation"]
    assert found[0]["features"] == found[1]["features"]


# ------------------------------------------------------------------------------ errors


def test_a_column_that_is_not_there(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    line = refused(capsys, "select", path, "--label", "lable")
    assert "there is no column 'lable'" in line
    assert "Did you mean 'label'?" in line
    assert "'text', 'label'" in line
    assert "'body'" in refused(capsys, "select", path, "--text", "body")
    assert "'ids'" in refused(capsys, "select", path, "--drop", "ids")


def test_a_file_that_is_not_there(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    line = refused(capsys, "select", tmp_path / "review.csv")
    assert "there is no file" in line
    assert f"Did you mean {str(path)!r}?" in line
    assert "no file matches" in refused(capsys, "select", tmp_path / "*.json")
    assert "is a folder" in refused(capsys, "select", tmp_path)
    assert "there is no file" in refused(capsys, "select", tmp_path / "x" / "y.csv")


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "json", "svm"])
@pytest.mark.parametrize("content", ["", "\n\n  \n"])
def test_empty_files(form, content, tmp_path, capsys):
    path = tmp_path / f"empty.{form}"
    path.write_text(content)
    line = refused(capsys, "select", path, "--label", "y")
    assert "empty" in line or "no rows" in line or "svmlight" in line


def test_an_empty_svmlight_file(tmp_path, capsys):
    (tmp_path / "empty.svm").write_text("")
    assert "has no rows" in refused(capsys, "select", tmp_path / "empty.svm")


def test_an_empty_parquet_file(tmp_path, capsys):
    (tmp_path / "empty.parquet").write_bytes(b"")
    line = refused(capsys, "select", tmp_path / "empty.parquet", "--label", "y")
    assert "cannot be read" in line


def test_a_header_without_rows(tmp_path, capsys):
    path = write_csv(tmp_path / "d.csv", ("text", "label"), [])
    line = refused(capsys, "select", path, "--text", "text", "--label", "label")
    assert "has no rows" in line


def test_one_class(tmp_path, capsys):
    rows = [(text, "same") for text, _ in reviews(30)]
    path = write_csv(tmp_path / "d.csv", ("text", "label"), rows)
    line = refused(capsys, "select", path, "--text", "text", "--label", "label")
    assert "has one value only, 'same'" in line


@pytest.mark.parametrize("write", [write_csv, write_jsonl, write_parquet])
def test_missing_labels(write, tmp_path, capsys):
    ending = {write_csv: "csv", write_jsonl: "jsonl", write_parquet: "parquet"}[write]
    rows = [(text, label) for text, label in reviews(60)]
    rows[41] = (rows[41][0], None)
    path = write(tmp_path / f"d.{ending}", ("text", "label"), rows)
    line = refused(capsys, "select", path, "-k", "2")
    assert f"row 42 of {str(path)!r} has no label in column 'label'" in line
    assert "--skip-bad-rows" in line
    assert main(["select", str(path), "-k", "2", "--skip-bad-rows", "--json"]) == 0
    captured = capsys.readouterr()
    assert "warning: 1 bad row was left out. The first: Row 42" in captured.err
    found = json.loads(captured.out)
    assert found["train_rows"] + found["evaluation"]["rows"] == 59


def test_missing_texts(tmp_path, capsys):
    rows = [(None if i == 9 else t, label) for i, (t, label) in enumerate(reviews(40))]
    path = write_jsonl(tmp_path / "d.jsonl", ("text", "label"), rows)
    line = refused(capsys, "select", path, "--text", "text", "--label", "label")
    assert "row 10 of 'd.jsonl' has no text" in line
    found = selected(
        capsys, path, "--text", "text", "--label", "label", "--skip-bad-rows"
    )
    assert found["train_rows"] + found["evaluation"]["rows"] == 40
    # An empty field of a CSV file is an empty text.
    path = write_csv(tmp_path / "d.csv", ("text", "label"), rows)
    selected(capsys, path, "--text", "text", "--label", "label")


def test_a_column_of_identifiers_is_no_label(tmp_path, capsys):
    rows = [(text, i) for i, (text, _) in enumerate(reviews(100))]
    path = write_csv(tmp_path / "d.csv", ("text", "id"), rows)
    line = refused(capsys, "select", path, "--label", "id")
    assert "100 different values in 100 rows, too many for a label" in line
    line = refused(capsys, "select", path)
    assert "which column" in line
    assert "--label COL" in line


def test_bad_rows_of_csv_files(tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[7] += ",extra"
    path.write_text("\n".join(lines), encoding="utf-8")
    line = refused(capsys, "select", path, "--text", "text", "--label", "label")
    assert "line 8 of" in line
    assert "--skip-bad-rows" in line
    assert main(["select", str(path), "--skip-bad-rows", "--json"]) == 0
    captured = capsys.readouterr()
    assert "1 bad row was left out" in captured.err
    found = json.loads(captured.out)
    assert found["train_rows"] + found["evaluation"]["rows"] == 199


def test_bad_rows_of_json_lines(tmp_path, capsys):
    path = write_reviews(tmp_path, "jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[7] = lines[7][:-3]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert "cannot be read" in refused(capsys, "select", path, "-k", "2")


def test_damaged_files(tmp_path, capsys):
    for name, content in {
        "a.parquet": b"PAR1 nonsense PAR1",
        "a.csv.gz": b"not gzip",
        "a.svm": b"1 x:y\n",
    }.items():
        (tmp_path / name).write_bytes(content)
        options = [] if name == "a.svm" else ["--label", "y"]
        assert "a." in refused(capsys, "select", tmp_path / name, *options)


def test_an_unknown_ending(tmp_path, capsys):
    (tmp_path / "a.doc").write_bytes(b"xx")
    assert "told by its ending" in refused(capsys, "select", tmp_path / "a.doc")
    (tmp_path / "a.xlsx").write_bytes(b"xx")
    assert "or no Excel file" in refused(capsys, "select", tmp_path / "a.xlsx")


def test_two_formats_together(tmp_path, capsys):
    a, b = write_reviews(tmp_path, "csv"), write_reviews(tmp_path, "tsv")
    assert "of one format" in refused(capsys, "select", a, b)
    assert "more than once" in refused(capsys, "select", a, a)


def test_files_with_other_columns(tmp_path, capsys):
    a = write_reviews(tmp_path, "csv")
    b = write_csv(tmp_path / "b.csv", ("text", "stars"), reviews())
    assert "'b.csv'" in refused(capsys, "select", a, b).replace(str(tmp_path) + "/", "")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-k", "0"], "a share in (0, 1)"),
        (["-k", "1.5"], "a share in (0, 1)"),
        (["-k", "many"], "a share in (0, 1)"),
        (["--ngrams", "3-2"], "a range such as 2-3"),
        (["--min-df", "x"], "a number of texts or a share"),
        (["--alpha", "-1"], "a number >= 0"),
        (["--time-limit", "0"], "a number > 0"),
        (["--seed", "-1"], "must be a number >= 0|expected one argument"),
        (["--seed", "x"], "must be a number >= 0"),
        (["--test-share", "1"], "a share of the rows"),
        (["--model", "magic"], "'multinomial'"),
        (["--text", "text", "--no-text"], "cannot both be given"),
        (["--text", "text", "--label", "text"], "must name two columns"),
        (["--model", "gaussian"], "texts take --model multinomial or bernoulli"),
        (["-k", "1"], "two word distributions|at least 2|too small"),
        (["--min-df", "10000"], "must not be above the number of texts"),
        (["--save", "/nowhere/at/all"], "is not there"),
        (["--report", "."], "must name a file"),
    ],
)
def test_wrong_options(options, told, tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    line = refused(capsys, "select", path, *options)
    assert re.search(told.replace("(", r"\(").replace(")", r"\)"), line), line


def test_options_that_tables_do_not_take(tmp_path, capsys):
    path = write_csv(tmp_path / "people.csv", PEOPLE, people())
    assert "-k bic is for texts" in refused(capsys, "select", path, "-k", "bic")
    line = refused(capsys, "select", path, "--model", "multinomial")
    assert "Got others in 'town', 'mood', 'day'" in line
    svm = write_svmlight(tmp_path / "w.svm")
    assert "no columns with names" in refused(capsys, "select", svm, "--text", "a")
    assert "svmlight files take" in refused(
        capsys, "select", svm, "--model", "selective"
    )


@pytest.mark.parametrize("package", ["duckdb", "pyarrow"])
def test_a_package_that_is_not_installed(package, tmp_path, capsys, monkeypatch):
    path = write_csv(tmp_path / "people.csv", PEOPLE, people(40))
    monkeypatch.setitem(sys.modules, package, None)  # what Python does without it
    line = refused(capsys, "select", path, "--label", "bought")
    assert f"needs {package}, which is not installed" in line
    assert line.strip().endswith(
        "Hint: pip install duckdb pyarrow pandas python-calamine shtab"
    )


def test_other_encodings(tmp_path, capsys):
    path = tmp_path / "d.csv"
    rows = "".join(f"caf\xe9 good film,{i % 2}\n" for i in range(40))
    path.write_bytes(("text,label\n" + rows).encode("latin-1"))
    arguments = ["--text", "text", "--label", "label", "-k", "3", "--json"]
    assert main(["select", str(path), *arguments]) == 0
    assert "café" in str(json.loads(capsys.readouterr().out))


def test_columns_of_lists(tmp_path, capsys):
    rows = [([1, 2], {"a": i}, i % 2) for i in range(40)]
    path = write_jsonl(tmp_path / "d.jsonl", ("l", "d", "y"), rows)
    line = refused(capsys, "select", path, "--label", "y")
    assert "no column of 'd.jsonl' has one value a row" in line
    assert "cannot be labels" in refused(capsys, "select", path, "--label", "l")
    assert "cannot be labels" in refused(capsys, "select", path, "--label", "d")


def test_two_columns_of_one_name(tmp_path, capsys):
    path = write_csv(
        tmp_path / "d.csv", ("a", "a", "label"), [(1, 2, "x"), (2, 1, "y")]
    )
    assert main(["select", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_features"] == 2


@pytest.mark.skipif(sys.platform == "win32", reason="permissions differ there")
def test_an_unwritable_place_is_refused_before_any_work(tmp_path, capsys, monkeypatch):
    path = write_reviews(tmp_path, "csv")
    folder = tmp_path / "locked"
    folder.mkdir()
    monkeypatch.setattr("os.access", lambda place, mode: "locked" not in str(place))
    line = refused(capsys, "select", path, "--save", folder / "model")
    assert "read-only" in line


def test_the_installed_script(tmp_path):
    path = write_reviews(tmp_path, "csv")
    done = run_script("select", path, "-k", "4", "--save", "m", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Proven:" in done.stdout
    assert sorted(item.name for item in tmp_path.iterdir()) == ["m", "reviews.csv"]
    wrong = run_script("select", path, "--label", "x", cwd=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell closes them")
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams(closed, tmp_path):
    path = write_reviews(tmp_path, "csv")
    done = subprocess.run(
        f"'{SCRIPT}' select '{path}' -k 4 --save m {closed}",
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert load_model(tmp_path / "m").k_ == 4


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_line(tmp_path):
    path = write_reviews(tmp_path, "csv")
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [str(SCRIPT), "select", str(path), "--text", "text", "--label", "label"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=HANGS,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot write the output" in done.stderr


@pytest.mark.parametrize(
    ("name", "options", "least"),
    [
        ("sms_spam", ["-k", "20", "--drop", "split"], 0.93),
        ("uci_iris", [], 0.9),
        ("trec", ["--label", "label", "-k", "50"], 0.6),
        ("gene_golub", ["--model", "gaussian", "-k", "5"], 0.8),
    ],
)
def test_real_files(name, options, least, capsys):
    path = data_folder() / f"{name}.parquet"
    if not path.is_file():
        pytest.skip(f"data set {name} is not here (looked in {path.parent})")
    found = selected(capsys, path, *options)
    assert found["evaluation"]["accuracy"] > least


def test_pairs_are_named_beside_the_columns(tmp_path, capsys):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 900)).round(3)
    y = np.where((a > 0.3) ^ (b > 0.3), "yes", "no")
    noise = rng.normal(size=900).round(3)
    rows = list(zip(a, b, noise, y, strict=True))
    data = write_csv(tmp_path / "odd.csv", ("a", "b", "noise", "label"), rows)
    found = selected(capsys, data)
    names = {row["name"]: row for row in found["features"]}
    assert "a \u00d7 b" in names
    assert names["a \u00d7 b"]["parts"].endswith(" cells")
    assert found["n_pairs"] == sum("\u00d7" in name for name in names)
    columns = {own for name in names for own in name.split(" \u00d7 ")}
    assert found["k"] == len(columns)
    assert main(["select", str(data)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"{found['k']} of 3 columns" in told or "All 3 columns" in told
    assert "have a weight, alone or in" in told
