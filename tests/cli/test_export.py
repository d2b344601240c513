"""`bayesieve export`: a saved model as SQL, ONNX or scikit-learn alone."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from tests.cli.files import PEOPLE, people, write_csv
from tests.cli.test_select import refused
from tests.persistence.models import examples

from bayesieve import (
    SparseCategoricalNB,
    load_model,
    onnx_inputs,
    save_model,
    to_sql,
)
from bayesieve.cli import main

duckdb = pytest.importorskip("duckdb", reason="reading files needs duckdb")
pd = pytest.importorskip("pandas", reason="reading tables needs pandas")


@pytest.fixture
def data(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_csv(tmp_path / "people.csv", PEOPLE, people(300))
    assert main(["select", str(path), "--drop", "id", "--save", "people.model"]) == 0
    capsys.readouterr()
    return path


def test_the_query_scores_the_file_that_the_model_was_made_from(data, capsys):
    assert main(["export", "people.model", "--to", "sql", "--table", "people"]) == 0
    query = capsys.readouterr().out
    model = load_model("people.model")
    assert query == to_sql(model, "people") + "\n"
    people = pd.read_csv(data, parse_dates=["day"])
    connection = duckdb.connect()
    connection.register("given", people)
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    found = connection.execute(query).fetch_df()
    wanted = model.predict_proba(people[list(model.feature_names_in_)])
    shares = found[[f"probability_{label}" for label in model.classes_.tolist()]]
    np.testing.assert_allclose(shares, wanted, rtol=0, atol=1e-9)


def test_the_query_goes_to_a_file(data, capsys):
    arguments = ["export", "people.model", "--to", "sql", "--dialect", "postgres"]
    assert main([*arguments, "--table", "s.t", "--out", "score.sql"]) == 0
    assert "Wrote the model as sql to 'score.sql'" in capsys.readouterr().out
    with open("score.sql", encoding="utf-8") as file:
        assert 'FROM "s"."t" AS t' in file.read()


def test_a_table_of_terms(data, capsys):
    save_model(examples()["text"][0], "text.model")
    arguments = ["export", "text.model", "--to", "sql", "--row", "doc"]
    assert main([*arguments, "--term", "word", "--count", "n"]) == 0
    assert 't."word" AS term' in capsys.readouterr().out
    assert main(["export", "text.model", "--to", "sql", "--text", "words"]) == 0
    assert 't."words"' in capsys.readouterr().out


def test_what_cannot_be_written_is_one_line(data, capsys):
    save_model(examples()["text"][0], "text.model")
    told = refused(capsys, "export", "text.model", "--to", "sql", "--dialect", "sqlite")
    assert "SQLite cannot cut texts" in told
    save_model(examples()["selector"][0], "selector.model")
    told = refused(capsys, "export", "selector.model", "--to", "sql")
    assert "predicts nothing" in told or "classifier" in told
    assert "no model" in refused(capsys, "export", "none.model", "--to", "sql")
    told = refused(capsys, "export", "people.model", "--to", "cobol")
    assert "--to" in told
    arguments = ["export", "people.model", "--to", "sql", "--out", "people.model"]
    assert "would overwrite" in refused(capsys, *arguments)


def test_options_of_another_language_are_refused(data, capsys):
    onnx = ["export", "people.model", "--to", "onnx", "--out", "x"]
    for option in ("table", "dialect", "row", "term", "key", "order-by", "prediction"):
        value = "duckdb" if option == "dialect" else "x"
        told = refused(capsys, *onnx, f"--{option}", value)
        assert told.strip() == f"bayesieve: --{option} is for --to sql. Got --to onnx."
    for option, value in (("texts", "counts"), ("missing", "?")):
        told = refused(
            capsys, "export", "people.model", "--to", "sql", f"--{option}", value
        )
        assert told.strip() == f"bayesieve: --{option} is for --to onnx. Got --to sql."


def test_hints_name_options_of_the_command(data, capsys):
    save_model(examples()["text"][0], "text.model")
    sql = ["export", "text.model", "--to", "sql"]
    for given, wanted in (
        (["--dialect", "spark"], "Got no --key"),
        (["--dialect", "sqlite"], "by --row, --term and --count"),
        (["--term", "x"], "needs --row and --term, and maybe --count. Got no --row"),
        (["--row", "x"], "Got no --term"),
        (["--row", "x", "--term", "y", "--key", "z"], "--key is not for a table of"),
        (["--row", "x", "--term", "y", "--key", "z"], "Got 'z' with --row x"),
        (["--row", "x", "--term", "y", "--order-by", "z"], "Got --order-by z"),
        (["--text", "prediction"], "Hint: --prediction and --probability give other"),
    ):
        told = refused(capsys, *sql, *given)
        assert wanted in told
        assert "'row'" not in told
        assert "to_sql" not in told
        assert "=" not in told
    told = refused(capsys, "export", "people.model", "--to", "sql", "--key", "id")
    assert "bayesieve: --key is for texts" in told
    told = refused(capsys, "export", "people.model", "--to", "sql", "--text", "id")
    assert "bayesieve: --text is for models of texts" in told


def test_results_have_the_names_that_are_given(data, capsys):
    arguments = ["export", "people.model", "--to", "sql", "--prediction", "found"]
    assert main([*arguments, "--probability", "share of "]) == 0
    query = capsys.readouterr().out
    assert '"found"' in query
    assert '"share of ' in query
    assert '"prediction"' not in query
    assert '"probability_' not in query


def test_a_graph_of_texts_takes_counts(data, capsys):
    runtime = pytest.importorskip("onnxruntime", reason="runs the model")
    model, texts = examples()["text"]
    save_model(model, "text.model")
    onnx = ["export", "text.model", "--to", "onnx", "--out", "t.onnx"]
    told = refused(capsys, *onnx)
    assert "Hint: --texts counts takes" in told
    assert "--to sklearn takes texts" in told
    assert main([*onnx, "--texts", "counts"]) == 0
    session = runtime.InferenceSession("t.onnx")
    _, shares = session.run(None, onnx_inputs(session, texts))
    np.testing.assert_allclose(shares, model.predict_proba(texts), rtol=0, atol=1e-9)


def test_the_string_that_is_missing_in_a_graph(data, capsys):
    pytest.importorskip("onnx", reason="writes the model")
    rows = pd.DataFrame({"v": np.array(["", "b"], dtype=object)[np.arange(40) % 2]})
    model = SparseCategoricalNB(1).fit(rows, np.arange(40) % 2)
    save_model(model, "empty.model")
    onnx = ["export", "empty.model", "--to", "onnx", "--out", "e.onnx"]
    told = refused(capsys, *onnx)
    assert "bayesieve: --missing must be no value of the table" in told
    assert "Hint: --missing '<missing>'" in told
    assert main([*onnx, "--missing", "<missing>"]) == 0


def test_a_graph_for_other_runtimes(data, capsys):
    runtime = pytest.importorskip("onnxruntime", reason="runs the model")
    told = refused(capsys, "export", "people.model", "--to", "onnx")
    assert (
        told.strip()
        == "bayesieve: --to onnx writes a file of bytes: --out must name it."
    )
    assert main(["export", "people.model", "--to", "onnx", "--out", "p.onnx"]) == 0
    capsys.readouterr()
    people, model = pd.read_csv(data, parse_dates=["day"]), load_model("people.model")
    rows = people[list(model.feature_names_in_)]
    session = runtime.InferenceSession("p.onnx")
    _, shares = session.run(None, onnx_inputs(session, rows))
    np.testing.assert_allclose(shares, model.predict_proba(rows), rtol=0, atol=1e-9)


def test_a_pipeline_of_scikit_learn_alone(data, capsys):
    model, texts = examples()["text"]
    save_model(model, "text.model")
    assert main(["export", "text.model", "--to", "sklearn", "--out", "t.joblib"]) == 0
    capsys.readouterr()
    script = (
        "import json, sys, joblib\n"
        "sys.modules['bayesieve'] = None\n"
        "texts = json.load(sys.stdin)\n"
        "print(json.dumps(joblib.load('t.joblib').predict_proba(texts).tolist()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps([*texts]),
        capture_output=True,
        text=True,
        check=True,
    )
    shares = model.predict_proba(texts)
    np.testing.assert_allclose(json.loads(done.stdout), shares, rtol=0, atol=1e-9)
