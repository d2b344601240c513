"""Texts, and tables of terms: the terms of a query are those of Python."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline
from tests.export.sql_checks import (
    check_rows,
    check_terms,
    compare,
    in_rows,
    term_table,
)
from tests.persistence.models import NOTED, TEXTS, YES_NO, Y, examples

import bayesieve as bs
from bayesieve import to_sql
from bayesieve.export._dialects import DIALECTS
from bayesieve.export._sql_texts import words_of_rows
from bayesieve.text._options import TextOptions


def words_in(engine, texts, **options):
    """The words that the database finds in texts."""
    own = TextOptions(**options)
    dialect = DIALECTS[engine.dialect]
    selected = words_of_rows(
        dialect, own, f"t.{dialect.name('text')}", f"t.{dialect.name('place')}"
    )
    frame = pd.DataFrame({"place": range(len(texts)), "text": texts})
    _, found = engine.query(
        f"SELECT {selected} FROM {dialect.name('rows')} AS t ORDER BY 1", frame
    )
    return [list(words) for _, words in found], own


def check_every_character(engine):
    codes = [c for c in range(1, sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
    texts = [
        "\n".join(f"a{chr(c)}B {chr(c)}" for c in codes[first : first + 4096])
        for first in range(0, len(codes), 4096)
    ]
    for lowercase in (True, False):
        options = {"lowercase": lowercase, "token_pattern": r"(?u)\b\w+\b"}
        found, own = words_in(engine, texts, **options)
        assert found == [own.words_of(text) for text in texts]


def test_every_character_is_what_it_is_in_python(duckdb_engine):
    check_every_character(duckdb_engine)


# Sigmas, a dotted capital I, letters of both cases, and what is looked past.
SIGMAS = st.text(
    alphabet="\u03a3\u03c3\u03c2a\u00df '.\u0130\u01c5\u02b0\u0301\u00ad\u65e51_\n",
    max_size=12,
)


@given(texts=st.lists(SIGMAS, min_size=20, max_size=60))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_final_sigmas_and_the_dotted_i(texts, duckdb_engine):
    found, own = words_in(duckdb_engine, texts, token_pattern=r"\w+")
    assert found == [own.words_of(text) for text in texts]


@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=20),
    pattern=st.sampled_from([r"(?u)\b\w\w+\b", r"\w+"]),
)
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_any_texts(texts, pattern, duckdb_engine):
    texts = [text.replace("\0", " ") for text in ["x", *texts]]
    found, own = words_in(
        duckdb_engine, texts, token_pattern=pattern, stop_words=["aa"]
    )
    assert found == [own.words_of(text) for text in texts]


ODD = ["", "good", "GOOD  good-bad\ngood", "Für 日本 one", "bad " * 50, "İΣ ΑΣ"]


def check_texts(engine, **options):
    for name in ("text", "text bernoulli", "text weights"):
        model, texts = examples()[name]
        check_rows(engine, model, texts[:100] + ODD, **options)
    for model in (
        make_pipeline(CountVectorizer(binary=True), bs.SparseMultinomialNB(4)),
        make_pipeline(CountVectorizer(), bs.SparseBernoulliNB(4, alpha=0.0)),
        make_pipeline(
            CountVectorizer(stop_words=["one"], ngram_range=(2, 3)),
            bs.SparseBernoulliNB(20, alpha=0.0),
        ),
    ):
        check_rows(engine, model.fit(TEXTS, YES_NO), TEXTS[:60] + ODD, **options)


def test_models_of_texts(duckdb_engine):
    check_texts(duckdb_engine)
    check_texts(duckdb_engine, key="position")


def test_a_missing_text_has_no_answer(duckdb_engine):
    model, _ = examples()["text"]
    frame = pd.DataFrame({"words": ["good", None, ""], "id": [1, 2, 3]})
    sql = to_sql(model, "rows", text="words", order_by="id")
    _, found = duckdb_engine.query(sql, frame)
    assert [row[2] is None for row in found] == [False, True, False]


def test_tables_with_texts(duckdb_engine):
    model, _ = examples()["selective texts"]
    frame = NOTED.head(150).assign(day=NOTED["day"].dt.floor("us"))
    frame.loc[:5, "note"] = None
    check_rows(duckdb_engine, model, frame)


@pytest.mark.parametrize("dialect", ["postgres", "sqlite"])
def test_databases_that_cannot_cut_texts_say_so(dialect):
    model, _ = examples()["text"]
    with pytest.raises(ValueError, match="cannot cut texts as Python does"):
        to_sql(model, "rows", dialect)


@pytest.mark.parametrize("name", ["text char", "text pattern"])
def test_other_analyzers_are_refused(name):
    model, _ = examples()[name]
    with pytest.raises(ValueError, match="runs of letters, digits and underscores"):
        to_sql(model, "rows")


def test_accents_and_spark_without_a_key_are_refused():
    model = bs.SparseTextNB(4, strip_accents="unicode").fit(TEXTS, Y)
    with pytest.raises(ValueError, match="letters with their accents"):
        to_sql(model, "rows")
    model, _ = examples()["text"]
    with pytest.raises(ValueError, match="need a column that tells the rows apart"):
        to_sql(model, "rows", "spark")


# ---------------------------------------------------------------- tables of terms


@pytest.mark.parametrize(
    "name", ["text", "text bernoulli", "text weights", "text char", "text pattern"]
)
@pytest.mark.parametrize("merged", [True, False])
def test_a_table_of_terms(name, merged, engine):
    model, texts = examples()[name]
    texts = texts[:80] + ODD
    options = dict(model.text_options_)
    options["binary"] = False
    table = term_table(texts, options, merged=merged)
    found = check_terms(engine, model, texts, table)
    assert [row[0] for row in found] == list(range(len(texts)))


@pytest.mark.parametrize("name", ["multinomial frame", "wide frame"])
def test_a_table_of_columns_and_their_counts(name, engine):
    model, frame = examples()[name]
    long = in_rows(frame)
    check_terms(engine, model, frame, long)


def test_impossible_terms(engine):
    X = np.array([[2, 0, 1], [1, 0, 1], [0, 2, 1], [0, 1, 0]])
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    new = pd.DataFrame(
        [[1, 1, 0], [1, 0, 0], [0, 0, 0], [0, 9, 1]], columns=["a", "b", "c"]
    )
    long = in_rows(new)
    for model in (
        bs.SparseMultinomialNB("all", alpha=0.0),
        bs.SparseBernoulliNB("all", alpha=0.0),
    ):
        model.fit(frame, [0, 0, 1, 1])
        check_terms(engine, model, new, long)


def test_wrong_counts_have_no_answer(engine):
    model, _ = examples()["text"]
    table = pd.DataFrame(
        {
            "doc": ["a", "a", "b", "c", "d"],
            "term": ["good", "bad", "good", "good", "unknown"],
            "n": [1.0, -2.0, None, 3.0, -1.0],
        }
    )
    sql = to_sql(model, "rows", engine.dialect, row="doc", term="term", count="n")
    _, found = engine.query(sql, table)
    assert [row[0] for row in found] == ["a", "b", "c", "d"]
    assert [row[1] is None for row in found] == [True, True, False, False]


def test_without_a_count_each_row_is_one(engine):
    model, _ = examples()["text"]
    table = pd.DataFrame({"doc": [1, 1, 1], "term": ["good", "good", "one"]})
    sql = to_sql(model, "rows", engine.dialect, row="doc", term="term")
    _, found = engine.query(sql, table)
    compare(
        found,
        model.predict(["good good one"]),
        model.predict_proba(["good good one"]),
        model.classes_,
    )


HOSTILE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"),
    min_size=1,
    max_size=12,
) | st.sampled_from(["'", "\\", "';--", '"', "%", "a\nb", "\\'", "${x}"])


@given(terms=st.lists(HOSTILE, min_size=2, max_size=6, unique=True))
@example(terms=["n", "doc", "term"])
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_hostile_terms(terms, engine):
    k = len(terms)
    X = pd.DataFrame(np.eye(k, dtype=int) + 1, columns=terms)
    y = np.arange(k) % 2
    model = bs.SparseMultinomialNB("all").fit(X, y)
    long = in_rows(X)
    check_terms(engine, model, X, long)


def test_thousands_of_terms(engine):
    rng = np.random.default_rng(0)
    X = rng.poisson(0.02, size=(100, 8000))
    names = [f"term {j}" for j in range(8000)]
    frame = pd.DataFrame(X, columns=names)
    model = bs.SparseMultinomialNB("all").fit(frame, rng.integers(3, size=100))
    rows, columns = np.nonzero(X)
    long = pd.DataFrame(
        {"doc": rows, "term": np.array(names)[columns], "n": X[rows, columns]}
    )
    check_terms(engine, model, frame, long)
