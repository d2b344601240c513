"""`bayesieve predict`: batches in, labels out, and nothing half-written."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from tests.cli.files import (
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
from tests.cli.test_select import refused
from tests.patience import HANGS

from bayesieve import (
    L0Screener,
    SelectiveNB,
    SparseCategoricalNB,
    SparseMultinomialNB,
    SparseTextNB,
    load_model,
    save_model,
)
from bayesieve.cli import _files, main
from bayesieve.io import _svmlight

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")


@pytest.fixture
def model(tmp_path, capsys):
    path = tmp_path / "model"
    data = write_reviews(tmp_path, "csv", "train")
    assert main(["select", str(data), "-k", "8", "--save", str(path)]) == 0
    capsys.readouterr()
    return path


def rows_of(text, delimiter=","):
    return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))


@pytest.mark.parametrize("form", ["csv", "csv.gz", "tsv", "jsonl", "json", "parquet"])
def test_predictions_are_those_of_the_model(form, model, tmp_path, capsys):
    data = write_reviews(tmp_path, form, "new", n=50, seed=9)
    assert main(["predict", str(model), str(data)]) == 0
    captured = capsys.readouterr()
    rows = rows_of(captured.out)
    texts, labels = zip(*reviews(50, 9), strict=True)
    loaded = load_model(model)
    assert [row["prediction"] for row in rows] == loaded.predict(texts).tolist()
    assert [int(row["row"]) for row in rows] == list(range(1, 51))
    chances = [float(row["probability"]) for row in rows]
    np.testing.assert_allclose(
        chances, loaded.predict_proba(texts).max(axis=1), rtol=1e-5
    )
    hits = np.mean(loaded.predict(texts) == np.array(labels))
    assert f"{100 * hits:.1f} % of 50 labelled rows" in captured.err


def test_probabilities_of_every_class(model, tmp_path, capsys):
    data = write_reviews(tmp_path, "csv", "new", n=5)
    assert main(["predict", str(model), str(data), "--proba", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for row in rows:
        assert row.keys() == {"row", "prediction", "probability neg", "probability pos"}
        assert row["probability neg"] + row["probability pos"] == pytest.approx(1)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet"])
def test_output_files(ending, model, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_files, "_BATCH_ROWS", 16)  # several batches
    data = write_reviews(tmp_path, "parquet", "new", n=50)
    out = tmp_path / f"labels.{ending}"
    before = set(os.listdir(tmp_path)) | {out.name}
    assert main(["predict", str(model), str(data), "--out", str(out)]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "wrote 50 rows" in captured.err
    assert set(os.listdir(tmp_path)) == before
    if ending == "parquet":
        from pyarrow import parquet

        rows = parquet.read_table(out).to_pylist()
    elif ending == "jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    else:
        delimiter = "\t" if ending == "tsv" else ","
        rows = rows_of(out.read_text(), delimiter)
    assert [int(row["row"]) for row in rows] == list(range(1, 51))
    expected = load_model(model).predict([text for text, _ in reviews(50)])
    assert [row["prediction"] for row in rows] == expected.tolist()


def test_several_files_are_named(model, tmp_path, capsys):
    for name in "ab":
        write_reviews(tmp_path, "csv", name, n=3)
    assert main(["predict", str(model), str(tmp_path / "[ab].csv")]) == 0
    rows = rows_of(capsys.readouterr().out)
    assert [(os.path.basename(r["file"]), r["row"]) for r in rows] == [
        (f"{name}.csv", str(row)) for name in "ab" for row in (1, 2, 3)
    ]


def test_rows_without_labels(model, tmp_path, capsys):
    data = write_csv(tmp_path / "new.csv", ("text",), [("a great film",), ("",)])
    assert main(["predict", str(model), str(data)]) == 0
    captured = capsys.readouterr()
    told = "bayesieve: unlike the training data: no known term in 1 of 2 rows\n"
    assert captured.err == told
    assert rows_of(captured.out)[0]["prediction"] == "pos"


def test_no_rows_at_all(model, tmp_path, capsys):
    data = write_csv(tmp_path / "new.csv", ("text",), [])
    for ending in ("csv", "parquet", "jsonl"):
        out = tmp_path / f"none.{ending}"
        assert main(["predict", str(model), str(data), "--out", str(out)]) == 0
        assert out.exists()
    capsys.readouterr()


@pytest.mark.parametrize("write", [write_csv, write_jsonl, write_parquet])
def test_tables(write, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_files, "_BATCH_ROWS", 64)
    train = write_csv(tmp_path / "train.csv", PEOPLE, people())
    saved = tmp_path / "model"
    options = ["--drop", "id", "--save", str(saved)]
    assert main(["select", str(train), *options]) == 0
    capsys.readouterr()
    ending = {write_csv: "csv", write_jsonl: "jsonl", write_parquet: "parquet"}[write]
    rows = people(200, 5)
    if write is not write_csv:
        rows = [
            (i, float(a) if a else None, None if t == "NA" else t, *rest)
            for i, a, t, *rest in rows
        ]
    rows = [(row[5], row[3], *row[:3], row[4]) for row in rows]  # another order
    header = ("bought", "mood", "id", "age", "town", "day")
    data = write(tmp_path / f"new.{ending}", header, rows)
    assert main(["predict", str(saved), str(data)]) == 0
    captured = capsys.readouterr()
    found = [row["prediction"] for row in rows_of(captured.out)]
    assert np.mean(np.array(found) == [row[0] for row in rows]) > 0.9
    assert "of 200 labelled rows" in captured.err


def test_a_table_whose_numbers_are_words_now(tmp_path, capsys):
    train = write_csv(tmp_path / "train.csv", PEOPLE, people())
    saved = tmp_path / "model"
    assert main(["select", str(train), "--drop", "id", "--save", str(saved)]) == 0
    capsys.readouterr()
    wrong = [(*row[:1], "old", *row[2:]) for row in people(20)]
    data = write_csv(tmp_path / "new.csv", PEOPLE, wrong)
    line = refused(capsys, "predict", saved, data)
    assert "column 'age' held numbers when the model was made" in line
    less = write_csv(tmp_path / "less.csv", ("age", "town"), [("3", "Oslo")])
    assert "there is no column 'mood'" in refused(capsys, "predict", saved, less)


def test_svmlight_in_pieces(tmp_path, capsys, monkeypatch):
    saved = tmp_path / "model"
    train = write_svmlight(tmp_path / "train.svm")
    assert main(["select", str(train), "-k", "2", "--save", str(saved)]) == 0
    capsys.readouterr()
    data = write_svmlight(tmp_path / "new.svm", n=60, seed=8)
    assert main(["predict", str(saved), str(data)]) == 0
    whole = capsys.readouterr()
    monkeypatch.setattr(_svmlight, "_CHUNK_BYTES", 500)
    assert main(["predict", str(saved), str(data)]) == 0
    assert capsys.readouterr().out == whole.out
    assert len(rows_of(whole.out)) == 60
    assert "labelled rows" in whole.err


def test_models_saved_from_python(tmp_path, capsys):
    texts, labels = zip(*reviews(), strict=True)
    save_model(SparseTextNB(8).fit(texts, labels), tmp_path / "m")
    data = write_csv(tmp_path / "new.csv", ("words", "n"), [(t, 1) for t in texts[:9]])
    assert main(["predict", str(tmp_path / "m"), str(data)]) == 0
    captured = capsys.readouterr()
    assert "guessed --text 'words'" in captured.err
    assert len(rows_of(captured.out)) == 9
    rng = np.random.default_rng(0)
    X, y = rng.poisson(2, size=(50, 3)), np.arange(50) % 2
    for model in (SparseMultinomialNB(2), SelectiveNB()):
        save_model(model.fit(X, y), tmp_path / "m")
        data = write_csv(tmp_path / "x.csv", "abc", X)
        assert main(["predict", str(tmp_path / "m"), str(data)]) == 0
        found = [int(row["prediction"]) for row in rows_of(capsys.readouterr().out)]
        assert found == model.predict(X).tolist()
        wide = write_csv(tmp_path / "wide.csv", "abcd", np.c_[X, y])
        line = refused(capsys, "predict", tmp_path / "m", wide)
        assert "has 3 columns without names" in line


@pytest.mark.parametrize("k", ["all", 1])
def test_values_of_categories(k, tmp_path, capsys):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    y = np.arange(90) % 2
    seen = rng.random(90) < 0.7
    table = pandas.DataFrame(
        {
            "town": np.where(seen, np.array(["Oslo", "Rome"])[y], "Lima"),
            "floor": rng.integers(0, 3, 90),
            "mood": np.where(rng.random(90) < 0.3, None, "up"),
        }
    )
    model = SparseCategoricalNB(k).fit(table, y)
    save_model(model, tmp_path / "m")
    table.to_csv(tmp_path / "x.csv", index=False)
    told = main(["predict", "--proba", str(tmp_path / "m"), str(tmp_path / "x.csv")])
    assert told == 0
    rows = rows_of(capsys.readouterr().out)
    found = [[float(row[f"probability {c}"]) for c in (0, 1)] for row in rows]
    # Written with six digits.
    np.testing.assert_allclose(found, model.predict_proba(table), rtol=1e-5)


def test_errors(model, tmp_path, capsys):
    data = write_reviews(tmp_path, "csv", "new", n=5)
    assert "there is no model" in refused(capsys, "predict", tmp_path / "absent", data)
    line = refused(capsys, "predict", data, data)
    assert f"{str(data)!r} is no saved model. Hint: bayesieve select" in line
    assert "there is no file" in refused(capsys, "predict", model, tmp_path / "x.csv")
    line = refused(capsys, "predict", model, data, "--out", tmp_path / "x.xlsx")
    assert "told by its ending" in line
    line = refused(capsys, "predict", model, data, "--out", tmp_path / "no" / "x.csv")
    assert "is not there" in line
    line = refused(capsys, "predict", model, data, "--text", "txt")
    assert "Did you mean 'text'?" in line
    other = write_csv(tmp_path / "other.csv", ("Text", "y"), [("a good film", 1)])
    assert "Did you mean 'Text'?" in refused(capsys, "predict", model, other)
    svm = write_svmlight(tmp_path / "w.svm", n=5)
    assert "needs a table" in refused(capsys, "predict", model, svm)
    assert "not rows" in refused(capsys, "predict", model, model)


@pytest.mark.parametrize("note", ["[", "[]", "5", '{"text": 5, "label": [1]}', "{}"])
def test_damaged_notes(note, tmp_path, capsys):
    texts, labels = zip(*reviews(), strict=True)
    model = SparseTextNB(8).fit(texts, labels)
    save_model(model, tmp_path / "m", notes={"cli": note})
    data = write_reviews(tmp_path, "csv", n=5)
    if note.startswith("{"):
        assert main(["predict", str(tmp_path / "m"), str(data)]) == 0
    else:
        assert "damaged" in refused(capsys, "predict", tmp_path / "m", data)


def test_damaged_reports(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts, labels = zip(*reviews(), strict=True)
    model = SparseTextNB(8).fit(texts, labels)
    for note in ("[", "{}", "null"):
        save_model(model, "m", notes={"report": note})
        refused(capsys, "report", "m")
    assert os.listdir(tmp_path) == ["m"]
    save_model(model, "m")  # saved from Python: what the model itself knows
    assert main(["report", "m"]) == 0
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_selector_predicts_nothing(tmp_path, capsys):
    save_model(L0Screener().fit([[0, 1], [1, 0]], [0, 1]), tmp_path / "m")
    data = write_reviews(tmp_path, "csv", n=5)
    assert "holds a L0Screener" in refused(capsys, "predict", tmp_path / "m", data)


def test_a_failure_leaves_no_output(model, tmp_path, capsys):
    data = write_reviews(tmp_path, "csv", "new", n=50)
    lines = data.read_text(encoding="utf-8").splitlines()
    data.write_text("\n".join([*lines, "one,two,three"]), encoding="utf-8")
    out = tmp_path / "labels.csv"
    out.write_text("old")
    before = sorted(os.listdir(tmp_path))
    refused(capsys, "predict", model, data, "--out", out)
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == before


def test_a_closed_pipe_is_silent(model, tmp_path):
    data = write_reviews(tmp_path, "csv", "new", n=30_000)
    with subprocess.Popen(
        [str(SCRIPT), "predict", str(model), str(data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "row,prediction,probability\n"
        process.stdout.close()
        stderr = process.stderr.read()
        assert process.wait(timeout=HANGS) == 0
    assert stderr == ""


def test_the_installed_script(model, tmp_path):
    data = write_reviews(tmp_path, "csv", "new", n=5)
    done = run_script("predict", model, data)
    assert done.returncode == 0, done.stderr
    assert len(rows_of(done.stdout)) == 5


def test_labels_that_are_no_classes_are_named(model, tmp_path, capsys):
    rows = [(text, int(label == "pos")) for text, label in reviews(50, 9)]
    data = write_csv(tmp_path / "numbers.csv", ("text", "label"), rows)
    assert main(["predict", str(model), str(data)]) == 0
    told = capsys.readouterr().err
    assert "the labels (0, 1) are not classes of the model (neg, pos)" in told
    assert "%" not in told


def test_some_labels_that_are_no_classes(model, tmp_path, capsys):
    rows = reviews(50, 9) + [("a good film", f"other{i % 9}") for i in range(18)]
    data = write_csv(tmp_path / "more.csv", ("text", "label"), rows)
    assert main(["predict", str(model), str(data)]) == 0
    told = capsys.readouterr().err
    assert "% of 68 labelled rows are predicted right" in told
    assert (
        "18 of them have labels (other0, other1, other2, other3, other4, ...) that are "
        "not classes of the model (neg, pos)" in told
    )


def test_labels_of_another_number_type_are_classes(tmp_path, capsys):
    rows = [(text, int(label == "pos")) for text, label in reviews()]
    train = write_jsonl(tmp_path / "whole.jsonl", ("text", "label"), rows)
    saved = tmp_path / "numbers.model"
    assert main(["select", str(train), "-k", "8", "--save", str(saved)]) == 0
    capsys.readouterr()
    # Every other label is wrong, and still a class of the model.
    floats = [(text, float(i % 2)) for i, (text, _) in enumerate(rows)]
    data = write_parquet(tmp_path / "floats.parquet", ("text", "label"), floats)
    assert main(["predict", str(saved), str(data)]) == 0
    told = capsys.readouterr().err
    assert "% of 200 labelled rows are predicted right" in told
    assert "not classes" not in told


@pytest.mark.parametrize("command", ["predict", "report"])
def test_a_wrong_model_is_refused_before_anything_heavy_is_loaded(command, tmp_path):
    (tmp_path / "notes.txt").write_text("no model")
    data = write_reviews(tmp_path, "csv", n=20)
    for model, said in (
        ("notes.txt", "'notes.txt' is no saved model. Hint: bayesieve select DATA"),
        ("note.txt", "there is no model 'note.txt'. Did you mean 'notes.txt'?"),
        (".", "'.' is a folder, and a model is a file."),
    ):
        words = [command, model, str(data)][: 3 if command == "predict" else 2]
        code = (
            "import sys; from bayesieve.cli import main\n"
            f"code = main({words})\n"
            "heavy = {'numpy', 'scipy', 'sklearn', 'duckdb', 'pandas'}\n"
            "print(code, sorted(heavy & set(sys.modules)))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout == "2 []\n"
        assert done.stderr.startswith(f"bayesieve: {said}")
