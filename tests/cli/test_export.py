"""`bayesieve export`: a saved model as SQL, ONNX or scikit-learn alone."""

from __future__ import annotations

import json
import re
import sqlite3
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
    assert query == to_sql(model, "people", strings="files") + "\n"
    people = pd.read_csv(data, parse_dates=["day"])
    connection = duckdb.connect()
    connection.register("given", people)
    connection.execute("CREATE TABLE people AS SELECT * FROM given")
    found = connection.execute(query).fetch_df()
    wanted = model.predict_proba(people[list(model.feature_names_in_)])
    shares = found[[f"probability_{label}" for label in model.classes_.tolist()]]
    np.testing.assert_allclose(shares, wanted, rtol=0, atol=1e-9)


def messy_rows(n=400, seed=0):
    """Strings as people write them in files; each row is one of them."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        bought = rng.random() < 0.5
        town = ("Rome", "Oslo", "Lima")[rng.choice(3, p=[0.7, 0.2, 0.1])]
        town = town if bought else ("Lima", "NA", " null ", "?", "")[i % 5]
        mood = ("up", "down")[int(rng.random() < 0.3 + 0.4 * bought)]
        mood = mood if i % 7 else '"NA"'
        member = ("True", "False")[int(rng.random() < 0.3 + 0.4 * bought)]
        age = int(rng.integers(20, 60)) + 9 * bought if i % 9 else ("NA", "-")[i % 2]
        rows.append((age, town, mood, member, ("no", "yes")[bought]))
    return rows


MESSY = ("age", "town", "mood", "member", "bought")
#: How a file may write what another writes plainly.
AROUND = (str, " {}".format, "{}\t".format, "\u00a0{} ".format)


@pytest.fixture(params=["trained plainly", "trained on spaces", "some spaces"])
def messy(request, tmp_path, capsys, monkeypatch):
    """A model of a messy file, and other rows with what predict says of them."""
    monkeypatch.chdir(tmp_path)
    rows = messy_rows()
    if request.param == "trained on spaces":
        rows = [(age, f" {town}", *more) for age, town, *more in rows]
    if request.param == "some spaces":  # which tell values apart then
        rows = [
            (age, f" {town}" * (town == "Oslo") or town, *more)
            for age, town, *more in rows
        ]
    train = write_csv(tmp_path / "train.csv", MESSY, rows)
    select = ["select", str(train), "--label", "bought", "--model", "selective"]
    assert main([*select, "--types", "member=category", "--save", "m.model"]) == 0
    new = [
        (age, AROUND[i % 4](town), AROUND[i % 3](mood), member)
        for i, (age, town, mood, member, _) in enumerate(messy_rows(seed=1))
    ]
    new += [(30, "Atlantis", "none", "true"), ("", "", "", ""), (30, "NAN", "Na", "T")]
    data = write_csv(tmp_path / "new.csv", MESSY[:-1], new)
    predict = ["predict", "m.model", str(data), "--proba", "--out", "said.csv"]
    assert main(predict) == 0
    capsys.readouterr()
    return new, pd.read_csv("said.csv")


def exported(capsys, *options):
    arguments = ["export", "m.model", "--to", "sql", "--order-by", "place", *options]
    assert main(arguments) == 0
    return capsys.readouterr().out


def number_or_none(text):
    return None if text in ("", "NA", "-") else float(text)


def test_duckdb_reads_strings_as_predict_does(messy, capsys):
    rows, said = messy
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE data (place INT, age DOUBLE, town TEXT, mood TEXT, member TEXT)"
    )
    connection.executemany(
        "INSERT INTO data VALUES (?, ?, ?, ?, ?)",
        [(i, number_or_none(age), *own) for i, (age, *own) in enumerate(rows)],
    )
    found = connection.execute(exported(capsys)).fetch_df()
    assert found["prediction"].tolist() == said["prediction"].tolist()
    for label in ("no", "yes"):
        wanted = said[[own for own in said if own.endswith(label)][-1]]
        np.testing.assert_allclose(found[f"probability_{label}"], wanted, atol=1e-6)
    raw = connection.execute(exported(capsys, "--strings", "exact")).fetch_df()
    assert raw["prediction"].tolist() != said["prediction"].tolist()


def test_sqlite_reads_strings_as_predict_does(messy, capsys):
    rows, said = messy
    connection = sqlite3.connect(":memory:")
    for kind in ("TEXT", "REAL"):  # as files are imported, and as they should be
        connection.execute("DROP TABLE IF EXISTS data")
        connection.execute(
            f"CREATE TABLE data (place INT, age {kind}, town TEXT, mood TEXT, "
            "member TEXT)"
        )
        connection.executemany(
            "INSERT INTO data VALUES (?, ?, ?, ?, ?)",
            [(i, str(age), *own) for i, (age, *own) in enumerate(rows)],
        )
        query = exported(capsys, "--dialect", "sqlite")
        try:
            found = connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            pytest.skip("this SQLite was built without mathematical functions")
        assert [own[5] for own in found] == said["prediction"].tolist()


def test_booleans_of_a_database_are_those_of_files(messy, capsys):
    rows, said = messy
    connection = duckdb.connect()
    connection.execute(
        "CREATE TABLE data (place INT, age DOUBLE, town TEXT, mood TEXT, member BOOL)"
    )
    known = [(i, own) for i, own in enumerate(rows) if own[3] in ("True", "False")]
    connection.executemany(
        "INSERT INTO data VALUES (?, ?, ?, ?, ?)",
        [
            (i, number_or_none(age), town, mood, member == "True")
            for i, (age, town, mood, member) in known
        ],
    )
    found = connection.execute(exported(capsys)).fetch_df()
    wanted = said["prediction"][[i for i, _ in known]]
    assert found["prediction"].tolist() == wanted.tolist()


def test_what_cannot_clean_strings_says_so(messy, capsys):
    told = "strings, as in '(town|mood|member)', must come .* as predict reads them"
    for language in ("onnx", "sklearn"):
        arguments = ["export", "m.model", "--to", language, "--out", "x"]
        assert main(arguments) == 0
        assert re.search(told, capsys.readouterr().err)
    save_model(load_model("m.model"), "python.model")
    assert main(["export", "python.model", "--to", "sklearn", "--out", "x"]) == 0
    assert "strings" not in capsys.readouterr().err
    assert main(["export", "python.model", "--to", "sql"]) == 0
    query = capsys.readouterr().out
    assert query == to_sql(load_model("m.model"), "data") + "\n"


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
