"""Queries on every real set: labels and probabilities are those of the models."""

from __future__ import annotations

import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from tests.conftest import data_folder
from tests.export.sql_checks import check_rows, check_terms, term_table

import bayesieve as bs
from bayesieve.export import scorecard_of

pytestmark = pytest.mark.filterwarnings(
    "ignore::bayesieve.exceptions.UnspacedTextWarning"
)

#: What is no feature: identifiers, parts of the data, what gives the label away.
ASIDE = ["split", "Id", "name", "Hospital Number", "speaker", "label"]
LEARNT_FROM, SCORED = 3000, 1000


def named(prefix, at_once):
    """All real sets of a kind; a few at once, the others where time does not matter."""
    found = sorted(own.stem for own in data_folder().glob(f"{prefix}*.parquet"))
    slow = pytest.mark.slow
    return [
        own if own in at_once else pytest.param(own, marks=slow)
        for own in sorted({*found, *at_once})
    ]


def drawn(frame, rows):
    return frame.sample(min(rows, len(frame)), random_state=0).reset_index(drop=True)


@cache
def _learnt(fit, name, read):
    frame = read(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit(drawn(frame, LEARNT_FROM)), drawn(frame, SCORED)


def features(frame):
    """The features, under names that differ in more than their case."""
    X = frame.drop(columns=ASIDE, errors="ignore")
    alike = X.columns.str.lower().duplicated(keep=False)
    if alike.any():
        X.columns = [
            f"{own} {place}" if alike[place] else own
            for place, own in enumerate(X.columns)
        ]
    return X


# ------------------------------------------------------------------- tables of columns


def selective(frame):
    return bs.SelectiveNB(time_limit=10).fit(features(frame), frame["label"])


def gaussian(frame):
    return bs.SparseGaussianNB(20).fit(features(frame), frame["label"])


def multinomial(frame):
    return bs.SparseMultinomialNB(50).fit(features(frame), frame["label"])


def bernoulli(frame):
    return bs.SparseBernoulliNB(50, binarize=0.5).fit(features(frame), frame["label"])


def check_selected(engine, fit, name, read):
    """The query asks for the selected columns only: a table of them is enough."""
    model, rows = _learnt(fit, name, read)
    X = features(rows)
    asked = [own.name for own in scorecard_of(model).columns]
    check_rows(engine, model, X, frame=X[asked])
    return model, X


@pytest.mark.parametrize(
    "name",
    [*named("uci_", ["uci_adult", "uci_horsecolic", "uci_iris"]), *named("esl_", [])],
)
def test_mixed_tables(name, real_data, engine):
    check_selected(engine, selective, name, real_data)


@pytest.mark.parametrize("name", named("gene_", ["gene_alon"]))
def test_twenty_genes(name, real_data, engine):
    model, _ = check_selected(engine, gaussian, name, real_data)
    assert len(scorecard_of(model).columns) == 20


@pytest.mark.parametrize("fit", [multinomial, bernoulli])
@pytest.mark.parametrize(
    "name", [*named("words_", ["words_relathe"]), *named("sc_", [])]
)
def test_counts_in_columns_and_in_rows(fit, name, real_data, engine):
    model, X = check_selected(engine, fit, name, real_data)
    rows, columns = np.nonzero(X.to_numpy())
    long = pd.DataFrame({"doc": rows, "term": X.columns.to_numpy()[columns]})
    long["n"] = X.to_numpy()[rows, columns]
    check_terms(engine, model, X.iloc[np.unique(rows)], long)


@pytest.mark.parametrize("model", [bs.SparseBernoulliNB, bs.SparseMultinomialNB])
def test_a_hundred_thousand_binary_features(model, real_data, engine):
    frame = drawn(real_data("dorothea"), SCORED)
    active = frame["features"].explode().astype(np.int64)
    X = sparse.csr_array(
        (np.ones(len(active)), (active.index, active)), shape=(len(frame), 100_000)
    )
    own = model(100).fit(X, frame["label"])
    long = pd.DataFrame({"doc": active.index, "term": [f"x{j}" for j in active]})
    check_terms(engine, own, X, long, None)


# ------------------------------------------------------------------------------ texts

TEXTS = [
    *["ag_news_test", "amazon_mds", "chnsenticorp_htl", "cr", "imdb", "mpqa", "mr"],
    *["newsgroups20", "online_shopping_10_cats", "sms_spam", "sst2"],
    *["sst2_sentences", "thucnews_titles", "trec", "twitter_s140_sample"],
]
QUICK = ["chnsenticorp_htl", "sms_spam", "trec"]


def textual(frame):
    model = bs.SparseTextNB(300, ngram_range=(1, 2))
    return model.fit(_texts(frame), frame["label"])


def _texts(frame):
    return frame["text"].fillna("").str.replace("\0", " ").tolist()


@pytest.mark.parametrize(
    "name",
    [
        own if own in QUICK else pytest.param(own, marks=pytest.mark.slow)
        for own in TEXTS
    ],
)
def test_texts(name, real_data, engine):
    model, rows = _learnt(textual, name, real_data)
    texts = _texts(rows)
    if engine.dialect == "duckdb":  # the others have no way to cut texts
        check_rows(engine, model, texts)
    table = term_table(texts, dict(model.text_options_))
    check_terms(engine, model, texts, table)
