"""Tables as databases have them: types, collations, columns nobody asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.export.sql_checks import compare

import bayesieve as bs
from bayesieve import to_sql


def of_one_column(values, seed=0):
    """A model that reads column "v", whose values tell the classes apart a little."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=400)
    shift = np.where(rng.random(400) < 0.8, y, 1 - y)
    column = pd.Series(np.asarray(values, dtype=object)[shift]).infer_objects()
    return bs.SelectiveNB().fit(pd.DataFrame({"v": column}), y)


def filled(engine, kind, values):
    """A table "rows" whose column "v" has a type that is given as SQL."""
    engine.execute('DROP TABLE IF EXISTS "rows"')
    engine.execute(f'CREATE TABLE "rows" (place INTEGER, v {kind})')
    mark = "%s" if engine.dialect == "postgres" else "?"
    for row in enumerate(values):
        engine.connection.execute(f'INSERT INTO "rows" VALUES ({mark}, {mark})', row)


def scored(engine, model):
    """Labels and probabilities of the rows of "rows", each None where refused."""
    sql = to_sql(model, "rows", engine.dialect, order_by="place")
    _, found = engine.execute(sql)
    return [row[2:] for row in found]


# ------------------------------------------------------------- columns of the query


@pytest.mark.parametrize("name", ["rowid", "_ROWID_", "oid"])
def test_columns_that_sqlite_calls_its_rows_by(name, engine):
    X = pd.DataFrame({name: [3, 3, 0, 0, 0], "b": [0, 0, 3, 1, 1]})
    model = bs.SparseMultinomialNB("all").fit(X, ["x", "x", "y", "y", "y"])
    sql = to_sql(model, "rows", engine.dialect)
    _, found = engine.query(sql, X)
    assert [row[:2] for row in found] == list(X.itertuples(index=False, name=None))
    compare(found, model.predict(X), model.predict_proba(X), model.classes_)


def test_a_column_rowid_that_the_model_does_not_know(sqlite_engine):
    X = pd.DataFrame({"a": [3, 3, 0, 0], "b": [0, 1, 3, 1]})
    model = bs.SparseMultinomialNB("all").fit(X, ["x", "x", "y", "y"])
    _, found = sqlite_engine.query(to_sql(model, "rows", "sqlite"), X.assign(rowid=1))
    compare(found, model.predict(X), model.predict_proba(X), model.classes_)


@pytest.mark.parametrize(
    "made",
    [
        'CREATE VIEW "rows" AS SELECT * FROM given',
        'CREATE TABLE "rows" AS SELECT a, b, 1 AS _rowid_, NULL AS oid FROM given',
        'CREATE TABLE "rows" (a, b, id PRIMARY KEY) WITHOUT ROWID',
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_sqlite_gives_every_row_once_whatever_identifies_it(
    made, n_classes, sqlite_engine
):
    X = pd.DataFrame({"a": [3, 3, 0, 0, 1, 1], "b": [0, 1, 3, 1, 2, 2]})
    model = bs.SparseMultinomialNB("all").fit(X, np.arange(6) % n_classes)
    sqlite_engine.execute('DROP TABLE IF EXISTS "rows"')
    sqlite_engine.create("given", X)
    sqlite_engine.execute(made)
    if "WITHOUT" in made:
        ids = "row_number() OVER ()"
        sqlite_engine.execute(f'INSERT INTO "rows" SELECT a, b, {ids} FROM given')
    names, found = sqlite_engine.execute(to_sql(model, "rows", "sqlite"))
    sqlite_engine.execute(f'DROP {"VIEW" if "VIEW" in made else "TABLE"} "rows"')
    assert names[:2] == ["a", "b"]
    assert not any(name.startswith("bayesieve") for name in names)
    assert [row[:2] for row in found] == list(X.itertuples(index=False, name=None))
    compare(found, model.predict(X), model.predict_proba(X), model.classes_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_columns_that_are_called_as_the_query_calls_its_own(
    n_classes, duckdb_engine, sqlite_engine
):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 4, size=(60, 2)), columns=["a", "b"])
    y = np.arange(60) % n_classes
    for model in (bs.SparseMultinomialNB("all").fit(X, y), bs.SelectiveNB().fit(X, y)):
        names = ["bayesieve_0", "bayesieve_s0", "bayesieve_f1", "bayesieve_best"]
        frame = X.assign(**dict.fromkeys(names, 99.0), place=range(60))
        for own in (duckdb_engine, sqlite_engine):
            sql = to_sql(model, "rows", own.dialect, order_by="place")
            _, found = own.query(sql, frame)
            compare(found, model.predict(X), model.predict_proba(X), model.classes_)


def test_a_column_that_is_called_as_the_numbers_of_texts(duckdb_engine):
    texts = ["good good film", "a good plot", "a bad film", "bad bad plot"]
    model = bs.SparseTextNB(k=2).fit(texts, ["yes", "yes", "no", "no"])
    frame = pd.DataFrame({"text": texts, "bayesieve_row": 1, "place": range(4)})
    _, found = duckdb_engine.query(to_sql(model, "rows", order_by="place"), frame)
    compare(found, model.predict(texts), model.predict_proba(texts), model.classes_)


def test_a_text_without_a_key_has_no_answer(duckdb_engine):
    texts = ["good good film", "a good plot", "a bad film", "bad bad plot"]
    model = bs.SparseTextNB(k=2).fit(texts, ["yes", "yes", "no", "no"])
    frame = pd.DataFrame({"text": texts, "id": [1.0, 2.0, 3.0, np.nan]})
    _, found = duckdb_engine.query(to_sql(model, "rows", key="id"), frame)
    labels = {row[0]: row[2] for row in found}
    assert [labels[text] for text in texts] == ["yes", "yes", "no", None]


# -------------------------------------------------------------- types of the columns


@pytest.mark.parametrize(
    "values", [[0.5, 1.5], [2, 7], [2**60, 2**60 + 3], [False, True]]
)
def test_texts_in_a_column_of_numbers_have_no_answer_in_sqlite(values, sqlite_engine):
    model = of_one_column(values)
    missing, known = model.predict_proba(pd.DataFrame({"v": [np.nan, values[0]]}))
    for kind in ("REAL", "INTEGER", "TEXT", ""):
        given = [None, values[0], "", "abc", "12 apples", "true", b"1"]
        filled(sqlite_engine, kind, given)
        found = scored(sqlite_engine, model)
        assert found[2:] == [(None, None, None)] * 5
        np.testing.assert_allclose(found[0][1:], missing, rtol=0, atol=1e-9)
        if kind != "REAL" or abs(values[0]) < 2**53:
            np.testing.assert_allclose(found[1][1:], known, rtol=0, atol=1e-9)


def test_numbers_that_sqlite_keeps_as_texts(sqlite_engine):
    model = of_one_column([0.5, 1.5])
    filled(sqlite_engine, "TEXT", ["0.5", " 1.5 ", "15e-1"])
    wanted = model.predict_proba(pd.DataFrame({"v": [0.5, 1.5, 1.5]}))
    found = [row[1:] for row in scored(sqlite_engine, model)]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["", "TEXT", "INTEGER", "NUMERIC"])
def test_large_integers_that_sqlite_keeps_as_texts(kind, sqlite_engine):
    """The digits of 10**16 stand for one more than those of 9,999,999,999,999,999."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=600)
    v = 10**16 - 500 + rng.integers(0, 700, size=600) + 300 * y
    table = pd.DataFrame({"v": v})
    model = bs.SelectiveNB(pairs=0).fit(table, y)
    filled(sqlite_engine, kind, [str(own) for own in v])
    found = [row[1:] for row in scored(sqlite_engine, model)]
    np.testing.assert_allclose(found, model.predict_proba(table), rtol=0, atol=1e-9)


@pytest.mark.parametrize("values", [[False, True], [0, 1], [0.5, 1.0]])
def test_categories_that_sqlite_keeps_as_texts(values, sqlite_engine):
    column = pd.Series(np.resize(values, 40)).astype("category")
    table = pd.DataFrame({"v": column})
    model = bs.SelectiveNB(pairs=0).fit(table, np.arange(40) % 2)
    rows = pd.DataFrame({"v": pd.Series([*values, 7, None], dtype=object)})
    wanted = model.predict_proba(rows)
    assert abs(wanted[0, 1] - wanted[1, 1]) > 0.5
    numbers = [float(own) for own in values]
    for kind in ("", "TEXT", "BOOLEAN"):
        for given in (numbers, [f" {own:g}" for own in numbers]):
            filled(sqlite_engine, kind, [*given, 7, None, "True", "", b"1"])
            found = [row[1:] for row in scored(sqlite_engine, model)]
            np.testing.assert_allclose(found[:4], wanted, rtol=0, atol=1e-9)
            assert found[4:] == [(None, None)] * 3


def test_texts_where_counts_should_be_have_no_answer_in_sqlite(sqlite_engine):
    X = np.array([[3, 0], [2, 1], [0, 3], [1, 2]])
    for model in (
        bs.SparseMultinomialNB("all"),
        bs.SparseBernoulliNB("all", binarize=1.0),
        bs.SparseGaussianNB("all"),
        bs.SparseCategoricalNB("all", min_categories=9),
    ):
        model.fit(X, [0, 0, 1, 1])
        sqlite_engine.execute('DROP TABLE IF EXISTS "rows"')
        sqlite_engine.execute('CREATE TABLE "rows" (x0 INTEGER, x1 INTEGER)')
        sqlite_engine.execute(
            "INSERT INTO \"rows\" VALUES (3, ''), ('many', 1), (2, 1)"
        )
        _, found = sqlite_engine.execute(to_sql(model, "rows", "sqlite"))
        assert [row[2] is None for row in found] == [True, True, False]
    counted = bs.SparseMultinomialNB("all").fit(
        pd.DataFrame(X, columns=["good", "bad"]), [0, 0, 1, 1]
    )
    sqlite_engine.execute('DROP TABLE "rows"')
    sqlite_engine.execute('CREATE TABLE "rows" (doc INTEGER, term TEXT, n INTEGER)')
    sqlite_engine.execute("INSERT INTO \"rows\" VALUES (1, 'bad', 'x'), (2, 'bad', 2)")
    sql = to_sql(counted, "rows", "sqlite", row="doc", term="term", count="n")
    _, found = sqlite_engine.execute(sql)
    assert [row[1] for row in found] == [None, 1]


# ------------------------------------------------------------------------ collations


FEW = ["a", "b", "A"]
MANY = [f"a{i}" for i in range(40)]  # joined rather than listed, in DuckDB


def of_words(values):
    """A model of a column of words."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=4000)
    place = rng.integers(len(values), size=4000) // 2 + y * (len(values) // 2)
    column = np.array(values, dtype=object)[place]
    return bs.SelectiveNB(partitions="best").fit(pd.DataFrame({"v": column}), y)


@pytest.mark.parametrize("values", [FEW, MANY])
def test_a_column_in_which_letters_have_no_case(values, sqlite_engine):
    """Python tells "a" from "A", whatever the column's own rules for equality are."""
    model = of_words(values)
    given = [*values, "B", "A1", "A30", None]
    filled(sqlite_engine, "TEXT COLLATE NOCASE", given)
    wanted = model.predict_proba(pd.DataFrame({"v": pd.Series(given, dtype=object)}))
    found = [row[1:] for row in scored(sqlite_engine, model)]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("values", [FEW, MANY])
def test_another_collation_is_refused_by_duckdb(values, duckdb_engine):
    duckdb = pytest.importorskip("duckdb")
    filled(duckdb_engine, "VARCHAR COLLATE NOCASE", values)
    with pytest.raises(duckdb.BinderException, match="different collation"):
        scored(duckdb_engine, of_words(values))


TERMS = pd.DataFrame([[3, 0], [2, 1], [0, 3], [1, 2]], columns=["good", "bad"])


def with_terms(engine, collation):
    """A table of terms, and the query of a model for it."""
    engine.execute('DROP TABLE IF EXISTS "rows"')
    engine.execute(
        'CREATE TABLE "rows" '
        f"(doc INTEGER, term VARCHAR COLLATE {collation}, n INTEGER)"
    )
    engine.execute(
        "INSERT INTO \"rows\" VALUES (0, 'good', 2), (1, 'GOOD', 2), (2, 'Bad', 1)"
    )
    model = bs.SparseMultinomialNB("all").fit(TERMS, [0, 0, 1, 1])
    sql = to_sql(model, "rows", engine.dialect, row="doc", term="term", count="n")
    counts = pd.DataFrame([[2, 0], [0, 0], [0, 0]], columns=TERMS.columns)
    return sql, model.predict_proba(counts)


def test_terms_in_which_letters_have_no_case(sqlite_engine, duckdb_engine):
    sql, wanted = with_terms(sqlite_engine, "NOCASE")
    _, found = sqlite_engine.execute(sql)
    np.testing.assert_allclose([row[2:] for row in found], wanted, rtol=0, atol=1e-9)
    sql, _ = with_terms(duckdb_engine, "NOCASE")
    duckdb = pytest.importorskip("duckdb")
    with pytest.raises(duckdb.BinderException, match="different collation"):
        duckdb_engine.execute(sql)


def test_terms_that_are_absent_must_not_count_as_present():
    """Of a threshold below 0 they would, and a table of terms has no rows for them."""
    model = bs.SparseBernoulliNB("all", binarize=-1.0)
    model.fit(TERMS - 2.0, [0, 0, 1, 1])
    with pytest.raises(ValueError, match=r"binarize >= 0.*Got -1.0"):
        to_sql(model, "rows", row="doc", term="term")
    assert to_sql(model, "rows")


def test_categories_that_the_database_knows_as_a_type(duckdb_engine, postgres_engine):
    model = of_one_column(["a", "b"])
    wanted = model.predict_proba(pd.DataFrame({"v": ["a", "b", "c"]}))
    for engine in (duckdb_engine, postgres_engine):
        engine.execute('DROP TABLE IF EXISTS "rows"')
        engine.execute("DROP TYPE IF EXISTS letter")
        engine.execute("CREATE TYPE letter AS ENUM ('a', 'b', 'c')")
        filled(engine, "letter", ["a", "b", "c"])
        found = [row[1:] for row in scored(engine, model)]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)
        engine.execute('DROP TABLE "rows"')


@pytest.mark.parametrize("words", [["no", "yes"], ["f", "t"], ["false", "true"]])
def test_words_that_the_database_keeps_as_booleans(
    words, duckdb_engine, postgres_engine
):
    """A file's column of "yes" and "no" is one of booleans once DuckDB has read it."""
    model = of_one_column(words)
    wanted = model.predict_proba(pd.DataFrame({"v": [*words, None]}))
    for engine in (duckdb_engine, postgres_engine):
        filled(engine, "BOOLEAN", [False, True, None])
        found = [row[1:] for row in scored(engine, model)]
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


# ---------------------------------------------- strings as the command line reads them


def of_some_values(values, n=4000, seed=0):
    """A model that reads column "v", of many values; each has a share of its own."""
    rng = np.random.default_rng(seed)
    places = rng.integers(len(values), size=n)
    y = (rng.random(n) < (places + 1) / (len(values) + 1)).astype(int)
    column = np.array(values, dtype=object)[places]
    return bs.SelectiveNB().fit(pd.DataFrame({"v": column}), y)


def check_strings_of_files(engine):
    """Strings of a table, cleaned, are those of the model; each as it is predicted."""
    clean = ["up", "down", "it's", None, "up", "Up", "a  b", "None of them"]
    raw = [" up", "down\t", "\u00a0it's\r\n", ' "NA" ', "up", "Up ", "a  b", clean[-1]]
    model = of_some_values(["up", "it's", None, "down", "a  b"])
    for given, wanted in ((raw, clean), (["?", "null", "", "up"], [None] * 3 + ["up"])):
        rows = pd.DataFrame({"v": wanted}, dtype=object)
        sql = to_sql(model, "rows", engine.dialect, order_by="place", strings="files")
        frame = pd.DataFrame({"v": given, "place": range(len(given))})
        _, found = engine.query(sql, frame)
        compare(found, model.predict(rows), model.predict_proba(rows), model.classes_)
    spaced = of_one_column([" up", "up"])
    rows = pd.DataFrame({"v": [" up", "up", "up ", " NA "]})
    sql = to_sql(spaced, "rows", engine.dialect, order_by="place", strings="files")
    _, found = engine.query(sql, rows.assign(place=range(4)))
    rows.loc[3] = None
    compare(found, spaced.predict(rows), spaced.predict_proba(rows), spaced.classes_)
    many = of_some_values([f"town {i}" for i in range(40)])  # joined, not listed
    rows = pd.DataFrame({"v": [f"town {i}" for i in range(40)]})
    sql = to_sql(many, "rows", engine.dialect, order_by="place", strings="files")
    frame = pd.DataFrame({"v": [f" town {i} " for i in range(40)], "place": range(40)})
    _, found = engine.query(sql, frame)
    compare(found, many.predict(rows), many.predict_proba(rows), many.classes_)


def test_strings_of_files(engine):
    check_strings_of_files(engine)


def test_booleans_are_the_words_that_files_have_for_them(engine):
    model = of_one_column(["True", "False"])
    if engine.dialect == "sqlite":
        pytest.skip("SQLite has no booleans")
    sql = to_sql(model, "rows", engine.dialect, order_by="place", strings="files")
    filled(engine, "BOOLEAN", [True, False, None])
    _, found = engine.execute(sql)
    rows = pd.DataFrame({"v": ["True", "False", None]})
    compare(found, model.predict(rows), model.predict_proba(rows), model.classes_)


def test_strings_must_be_exact_or_those_of_files():
    model = of_one_column(["a", "b"])
    for wrong in ("file", None, 3):
        with pytest.raises(
            ValueError, match=r"'strings' .* must be 'exact' or 'files'"
        ):
            to_sql(model, "rows", strings=wrong)
