"""Queries that score rows give what the models give, in real databases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.export.exported import EXPORTED
from tests.export.sql_checks import check_rows, compare
from tests.persistence.models import examples

import bayesieve as bs
from bayesieve import to_sql
from bayesieve.export import scorecard_of

ROWS = [name for name in EXPORTED if "text" not in name]


@pytest.mark.parametrize("name", ROWS)
def test_every_classifier_of_rows(name, engine):
    model, X = examples()[name]
    if engine.dialect == "sqlite" and hasattr(X, "columns") and "day" in X:
        pytest.skip("SQLite has no dates")
    X = X.head(200) if hasattr(X, "head") else X[:200]
    if hasattr(X, "columns") and "day" in X:
        X = X.assign(day=X["day"].dt.floor("us"))  # PostgreSQL has nothing finer
    check_rows(engine, model, X)


# -------------------------------------------------------------- rows that are refused


def test_rows_that_the_model_refuses_have_no_answer(engine):
    counts = pd.DataFrame({"a": [1.0, -1.0, None, 2.0], "b": [0.0, 1.0, 1.0, 3.0]})
    model = bs.SparseMultinomialNB("all").fit([[1, 0], [0, 1]], [0, 1])
    sql = to_sql(model, "rows", engine.dialect, feature_names=["a", "b"])
    _, found = engine.query(sql, counts)
    assert [row[2] is None for row in found] == [False, True, True, False]
    assert [row[3] is None for row in found] == [False, True, True, False]


def test_infinite_numbers_have_no_answer(duckdb_engine):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    for model in (bs.SelectiveNB(), bs.SparseGaussianNB(1)):
        model.fit(X, X[:, 0] > 0)
        infinite = pd.DataFrame({"x0": [np.inf, -np.inf, 1.0], "x1": [0.0, 0.0, 0.0]})
        sql = to_sql(model, "rows")
        _, found = duckdb_engine.query(sql, infinite)
        assert [row[2] for row in found] == [None, None, True]


def test_numbers_on_the_bounds(engine):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 3)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) > 0.3
    for partitions in ("averaged", "best"):
        model = bs.SelectiveNB(partitions=partitions).fit(X, y)
        axes = [axis for term in scorecard_of(model).terms for axis in term.axes]
        bounds = np.concatenate([axis.bounds for axis in axes])
        edges = [np.nextafter(bounds, -9), bounds, np.nextafter(bounds, 9)]
        edges = np.concatenate([*edges, [np.nan, 1e300, -1e300, 0.0]])
        check_rows(engine, model, rng.choice(edges, size=(300, 3)))


def test_rows_that_no_class_can_produce(engine):
    X = np.array([[2, 0, 1], [1, 0, 0], [0, 2, 1], [0, 1, 0]])
    new = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 9, 1]])
    for model in (
        bs.SparseMultinomialNB("all", alpha=0.0),
        bs.SparseBernoulliNB("all", alpha=0.0),
        bs.SparseCategoricalNB("all", alpha=0.0),
        bs.SparseMultinomialNB("all", alpha=0.0, class_prior=[0.0, 1.0]),
        bs.SparseGaussianNB("all", var_smoothing=0.0),
    ):
        check_rows(engine, model.fit(X, [0, 0, 1, 1]), new)


def test_scores_far_apart_do_not_overflow(engine):
    X = np.array([[900, 0], [1000, 1], [0, 900], [1, 1000]])
    model = bs.SparseMultinomialNB("all").fit(X, ["a", "a", "b", "b"])
    check_rows(engine, model, np.array([[10**6, 0], [0, 10**6], [10**6, 10**6]]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_counts_as_large_as_doubles(n_classes, engine):
    X = np.array([[3.0, 0], [2, 1], [0, 3], [1, 2], [1, 1], [0, 1]])
    new = np.array([[1e300, 0], [0, 1e300], [1e300, 1], [1.5, 1e305]])
    for model in (bs.SparseMultinomialNB("all"), bs.SparseBernoulliNB("all")):
        check_rows(engine, model.fit(X, np.arange(6) % n_classes), new)


@pytest.mark.parametrize("labels", [[1, 2], [1.0, 2.0], [False, True], ["no", "'; --"]])
def test_labels_keep_their_type(labels, engine):
    X = np.array([[3, 0], [2, 1], [0, 3], [1, 2]])
    y = np.array([labels[0], labels[0], labels[1], labels[1]])
    found = check_rows(engine, bs.SparseMultinomialNB("all").fit(X, y), X)
    if engine.dialect != "sqlite":
        assert type(found[0][3]) is type(labels[0])


def test_equal_scores_go_to_the_first_class(engine):
    X = np.array([[1, 0], [0, 1]])
    model = bs.SparseMultinomialNB("all").fit(X, ["b", "a"])
    found = check_rows(engine, model, np.array([[0, 0], [1, 1]]))
    assert [row[3] for row in found] == ["a", "a"]


def test_integers_beyond_doubles(engine):
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=400)
    table = pd.DataFrame({"id": 2**60 + rng.integers(0, 100, size=400) + 60 * y})
    check_rows(engine, bs.SelectiveNB().fit(table, y), table)


def test_times(duckdb_engine, postgres_engine):
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=400)
    ticks = rng.integers(0, 100, size=400) + 60 * y
    for start, unit in (("1969-12-31 23:59:59", "us"), ("2024-05-01", "D")):
        at = pd.Timestamp(start) + pd.to_timedelta(ticks, unit=unit)
        table = pd.DataFrame({"at": at.astype("datetime64[us]")})
        table.loc[::9, "at"] = pd.NaT
        for partitions in ("averaged", "best"):
            model = bs.SelectiveNB(partitions=partitions).fit(table, y)
            for own in (duckdb_engine, postgres_engine):
                check_rows(own, model, table)


def test_dates_and_times_finer_than_microseconds(duckdb_engine):
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=400)
    ticks = rng.integers(0, 100, size=400) + 60 * y
    nanos = pd.DataFrame({"at": (1714521600 * 10**9 + ticks).astype("datetime64[ns]")})
    model = bs.SelectiveNB().fit(nanos, y)
    kinds = duckdb_engine.types
    try:
        duckdb_engine.types = kinds | {"M": "TIMESTAMP_NS"}
        check_rows(duckdb_engine, model, nanos)
        duckdb_engine.types = kinds | {"M": "DATE"}
        days = pd.DataFrame(
            {"at": pd.Timestamp("1969-11-11") + pd.to_timedelta(ticks, "D")}
        )
        check_rows(duckdb_engine, bs.SelectiveNB().fit(days, y), days)
    finally:
        duckdb_engine.types = kinds


def test_many_categories_are_joined(duckdb_engine):
    rng = np.random.default_rng(3)
    towns = rng.integers(500, size=6000)
    y = towns % 3
    table = pd.DataFrame({"town": [f"t{town} 'ü'" for town in towns]})
    table.loc[:50, "town"] = None
    model = bs.SelectiveNB(partitions="best").fit(table, y)
    check_rows(duckdb_engine, model, table)


# ----------------------------------------------------------------- hostile names


HOSTILE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    min_size=1,
    max_size=15,
) | st.sampled_from(
    [
        *['a"b', "a'b", "; DROP TABLE rows; --", "select", "a\nb", "a\\", "%s", "{x}"],
        *[
            "?",
            "$1",
            ":a",
            "ü",
            "日本",
            " ",
            "t",
            "rows",
            "*",
            "/*",
            "--",
            "''",
            '""',
            "E'\\n'",
        ],
    ]
)


def apart(names):
    """Names that differ in more than their case, and from those of the results."""
    folded = {name.lower() for name in names}
    return len(folded) == len(names) and not folded & {"prediction", "position"}


@given(
    names=st.lists(HOSTILE, min_size=3, max_size=3).filter(apart),
    labels=st.lists(HOSTILE, min_size=2, max_size=2).filter(apart),
    table=HOSTILE,
)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_hostile_names_and_labels(names, labels, table, engine):
    X = pd.DataFrame([[3, 0, 1], [2, 1, 0], [0, 3, 1], [1, 2, 0]], columns=names)
    y = np.array([labels[0], labels[0], labels[1], labels[1]], dtype=object)
    model = bs.SparseMultinomialNB("all").fit(X, y)
    if engine.dialect == "postgres":
        longest = max(len(f"probability_{label}".encode()) for label in labels)
        assume(longest <= 63 and all(len(n.encode()) <= 63 for n in [*names, table]))
    results = {f"probability_{label}".lower() for label in labels}
    assume(not results & {name.lower() for name in names})
    frame = X.assign(position=range(4))
    sql = to_sql(model, table, engine.dialect, order_by="position")
    found_names, found = engine.query(sql, frame, table)
    assert found_names[:3] == names
    assert [row[4] for row in found] == model.predict(X).tolist()
    compare(found, model.predict(X), model.predict_proba(X), model.classes_)


@given(values=st.lists(HOSTILE, min_size=2, max_size=6, unique=True))
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_hostile_categories(values, engine):
    column = np.array([value for value in values for _ in range(20)], dtype=object)
    y = np.repeat(np.arange(len(values)) % 2, 20)
    X = pd.DataFrame({"v": column})
    model = bs.SparseCategoricalNB(1).fit(X, y)
    check_rows(engine, model, pd.DataFrame({"v": [*values, "new", None]}))


def test_names_that_cannot_be_told_apart_are_refused():
    X = pd.DataFrame([[3, 0], [0, 3]], columns=["a", "A"])
    model = bs.SparseMultinomialNB("all").fit(X, ["x", "y"])
    with pytest.raises(ValueError, match=r"differ in case only. Got 'a' and 'A'"):
        to_sql(model, "rows")
    assert '"A"' in to_sql(model, "rows", "postgres")
    X.columns = ["a", "prediction"]
    model = bs.SparseMultinomialNB("all").fit(X, ["x", "y"])
    with pytest.raises(ValueError, match=r"Got 'prediction' twice. Hint"):
        to_sql(model, "rows", "postgres")
    assert "label" in to_sql(model, "rows", prediction="label")
    X.columns = ["a", "bayesieve_0"]
    with pytest.raises(ValueError, match="begin with 'bayesieve_'"):
        to_sql(bs.SparseMultinomialNB("all").fit(X, ["x", "y"]), "rows")


def test_only_ascii_letters_lose_their_case(engine):
    X = pd.DataFrame([[3, 0], [0, 3]], columns=["\u00e9", "\u00c9"])
    check_rows(engine, bs.SparseMultinomialNB("all").fit(X, ["ä", "Ä"]), X)
    with pytest.raises(ValueError, match="differ in case only"):
        to_sql(bs.SparseMultinomialNB("all").fit(X, ["x", "y"]), "rows", "spark")


def test_what_cannot_be_written_is_refused():
    X = pd.DataFrame([[3, 0], [0, 3]], columns=["a", "b" * 70])
    model = bs.SparseMultinomialNB("all").fit(X, ["x", "y"])
    with pytest.raises(ValueError, match="a name has at most 63 bytes"):
        to_sql(model, "rows", "postgres")
    with pytest.raises(ValueError, match=r"must be one of 'duckdb', .*Got 'oracle'"):
        to_sql(model, "rows", "oracle")
    with pytest.raises(ValueError, match="holds a null character"):
        to_sql(model, "ro\0ws")
    with pytest.raises(ValueError, match="half a surrogate pair"):
        to_sql(model, "\ud800")
    with pytest.raises(ValueError, match="must not be empty"):
        to_sql(model, "")
    for table in ([], None, 5, ["a", 5]):
        with pytest.raises(TypeError, match="The 'table' parameter of to_sql must be"):
            to_sql(model, table)
    with pytest.raises(ValueError, match=r"Spark would replace"):
        to_sql(model, "${x}", "spark")
    with pytest.raises(ValueError, match="labels or probabilities"):
        to_sql(model, "rows", prediction=None, probability=None)
    with pytest.raises(ValueError, match="Got no 'row'"):
        to_sql(model, "rows", term="word")
    with pytest.raises(ValueError, match="Got no 'term'"):
        to_sql(model, "rows", row="doc")
    with pytest.raises(ValueError, match="is for models of texts"):
        to_sql(model, "rows", text="words")
    selective, _ = examples()["selective"]
    with pytest.raises(ValueError, match="needs a model of counts"):
        to_sql(selective, "rows", row="doc", term="word")
    with pytest.raises(ValueError, match="SQLite has no dates"):
        to_sql(selective, "rows", "sqlite")


@pytest.mark.parametrize(
    "name", ["text", "row", "term", "count", "key", "order_by", "prediction"]
)
def test_names_must_be_strings(name):
    model = bs.SparseMultinomialNB("all").fit([[3, 0], [0, 3]], ["x", "y"])
    for wrong in (3, ["a", 3], b"a"):
        with pytest.raises(TypeError, match=f"The '{name}' parameter of to_sql must"):
            to_sql(model, "rows", **{name: wrong})
    with pytest.raises(TypeError, match=r"'probability' parameter.* Got 3"):
        to_sql(model, "rows", probability=3)
    with pytest.raises(ValueError, match=r"must be one of .*Got \['duckdb'\]"):
        to_sql(model, "rows", ["duckdb"])


def test_options_that_would_do_nothing_are_refused():
    model = bs.SparseMultinomialNB("all").fit([[3, 0], [0, 3]], ["x", "y"])
    for dialect in ("duckdb", "postgres", "spark", "sqlite"):
        with pytest.raises(ValueError, match=r"'key'.*Got 'id' with a SparseMulti"):
            to_sql(model, "rows", dialect, key="id")
    texts, _ = examples()["text"]
    for name in ("text", "key"):
        with pytest.raises(ValueError, match=rf"'{name}'.*with row='doc'"):
            to_sql(texts, "rows", row="doc", term="word", **{name: "q"})


def test_labels_beyond_64_bits(engine):
    X = np.array([[3, 0], [0, 3]])
    wide = np.array([1, 2**64 - 1], dtype=np.uint64)
    model = bs.SparseMultinomialNB("all").fit(X, wide)
    if engine.dialect != "sqlite":
        _, found = engine.query(
            to_sql(model, "rows", engine.dialect, probability=None, order_by="x0"),
            pd.DataFrame(X, columns=["x0", "x1"]),
        )
        assert [row[2] for row in found] == [2**64 - 1, 1]
        assert "." not in str(found[0][2])
    else:
        with pytest.raises(ValueError, match=r"SQLite\. Got 18446744073709551615"):
            to_sql(model, "rows", "sqlite")
    ends = np.array([-(2**63), 2**63 - 1])
    check_rows(engine, bs.SparseMultinomialNB("all").fit(X, ends), X)


def test_results_can_be_left_out(engine):
    X = np.array([[3, 0], [0, 3]])
    model = bs.SparseMultinomialNB("all").fit(X, ["x", "y"])
    frame = pd.DataFrame(X, columns=["x0", "x1"])
    names, _ = engine.query(
        to_sql(model, "rows", engine.dialect, probability=None), frame
    )
    assert names == ["x0", "x1", "prediction"]
    names, _ = engine.query(
        to_sql(model, "rows", engine.dialect, prediction=None, probability="p of "),
        frame,
    )
    assert names == ["x0", "x1", "p of x", "p of y"]


def test_a_query_stands_in_brackets_and_behind_create_table(duckdb_engine):
    X = np.array([[3, 0], [0, 3]])
    model = bs.SparseMultinomialNB("all").fit(X, ["x", "y"])
    sql = to_sql(model, ("main", "rows"))
    frame = pd.DataFrame(X, columns=["x0", "x1"])
    _, found = duckdb_engine.query(f"SELECT count(*) FROM ({sql}) AS s", frame)
    assert found == [(2,)]
    duckdb_engine.execute(f"CREATE OR REPLACE TABLE scored AS {sql}")
    _, found = duckdb_engine.execute("SELECT prediction FROM scored ORDER BY x0")
    assert found == [("y",), ("x",)]


# --------------------------------------------------------------------- many terms


def test_two_thousand_columns_of_counts(duckdb_engine, sqlite_engine):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(60, 1500))
    model = bs.SparseMultinomialNB("all").fit(X, rng.integers(3, size=60))
    for own in (duckdb_engine, sqlite_engine):
        check_rows(own, model, X)
