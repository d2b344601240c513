"""Scorecards give the scores of the models that they were made from."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from tests.export.exported import EXPORTED, REFUSED
from tests.export.random_models import fitted_to_counts, fitted_to_tables
from tests.persistence.models import BINARY, COUNTS, TEXTS, YES_NO, Y, examples

import bayesieve as bs
from bayesieve._scorecard import CountTerms, LookupTerm, TextTerms
from bayesieve.export import read_columns, scorecard_of


def check(model, X, *, names=None):
    """The scorecard and the model say the same of these rows."""
    card = scorecard_of(model, names)
    joint = card.joint(*read_columns(card, X))
    wanted = model.predict_proba(X)
    np.testing.assert_allclose(card.probabilities(joint), wanted, rtol=0, atol=1e-9)
    top = np.sort(joint, axis=1)
    clear = top[:, -1] - top[:, -2] > 1e-9  # rounding may break a tie
    np.testing.assert_array_equal(card.predict(joint)[clear], model.predict(X)[clear])
    if hasattr(model, "predict_joint_log_proba"):
        np.testing.assert_allclose(
            joint, model.predict_joint_log_proba(X), rtol=1e-9, atol=1e-9
        )
    return card


@pytest.mark.parametrize("name", EXPORTED)
def test_every_classifier_has_a_scorecard(name):
    model, X = examples()[name]
    card = check(model, X)
    assert card.owner == type(model).__name__
    assert card.n_columns == (1 if card.columns[0].kind == "text" else X.shape[1])
    np.testing.assert_array_equal(card.labels, model.classes_)


@pytest.mark.parametrize("name", ["selector", "L0", "encoder", "mixed"])
def test_what_predicts_nothing_has_none(name):
    with pytest.raises(TypeError, match="Only classifiers give scores"):
        scorecard_of(examples()[name][0])


@pytest.mark.parametrize("name", REFUSED)
def test_what_other_engines_cannot_read_is_refused(name):
    with pytest.raises(ValueError, match=REFUSED[name]):
        scorecard_of(examples()[name][0])


# ---------------------------------------------------------------------- pipelines


@pytest.mark.parametrize(
    "model",
    [
        bs.SparseMultinomialNB(4),
        bs.SparseBernoulliNB(4),
        bs.SparseBernoulliNB(4, binarize=1.0),
        bs.SelectiveMultinomialNB(k=3),
    ],
    ids=repr,
)
@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2), "binary": True}])
def test_a_vectorizer_before_a_model_makes_terms_of_texts(model, options):
    if getattr(model, "binarize", 0.0) == 1.0:
        options = options | {"binary": False}  # else none would be above it
    whole = make_pipeline(CountVectorizer(**options), model).fit(TEXTS, Y)
    card = check(whole, TEXTS)
    (term,) = card.terms
    assert isinstance(term, TextTerms)
    assert card.columns[0].kind == "text"
    names = whole[0].get_feature_names_out()[whole[-1].support_indices_]
    assert list(term.terms) == names.tolist()


def test_own_vectorizers_and_tuples_are_opened():
    chosen = bs.SparseTextNB(4, ngram_range=(1, 2)).fit(TEXTS, YES_NO)
    vectorizer = bs.to_vectorizer(chosen)
    model = bs.SparseMultinomialNB("all").fit(vectorizer.transform(TEXTS), YES_NO)
    whole = make_pipeline(vectorizer, model)
    card = scorecard_of((vectorizer, model))
    joint = card.joint(*read_columns(card, TEXTS))
    np.testing.assert_allclose(
        card.probabilities(joint), whole.predict_proba(TEXTS), atol=1e-9
    )


def test_steps_that_take_columns_are_seen_through():
    frame = pd.DataFrame(COUNTS, columns=[f"c{j}" for j in range(12)])
    model = make_pipeline(SelectKBest(chi2, k=6), bs.SparseMultinomialNB(3))
    model.fit(frame, YES_NO)
    card = check(model, frame)
    assert card.n_columns == 12
    kept = model[0].get_support(indices=True)[model[1].support_indices_]
    assert [own.number for own in card.columns] == kept.tolist()
    assert [own.name for own in card.columns] == [f"c{j}" for j in kept]
    check(make_pipeline(CountVectorizer(), *model).fit(TEXTS, Y), TEXTS)
    search = GridSearchCV(model, {"selectkbest__k": [5, 7]}, cv=2)
    check(search.fit(frame, YES_NO), frame)


def test_other_steps_are_refused():
    model = make_pipeline(TfidfVectorizer(), bs.SparseMultinomialNB(3)).fit(TEXTS, Y)
    with pytest.raises(ValueError, match="Got a TfidfVectorizer before the Sparse"):
        scorecard_of(model)
    own = CountVectorizer(tokenizer=str.split, token_pattern=None)
    model = make_pipeline(own, bs.SparseMultinomialNB(3)).fit(TEXTS, Y)
    with pytest.raises(ValueError, match="'tokenizer' parameter of CountVectorizer"):
        scorecard_of(model)
    own = CountVectorizer(analyzer=str.split)
    model = make_pipeline(own, bs.SparseMultinomialNB(3)).fit(TEXTS, Y)
    with pytest.raises(ValueError, match="'analyzer' parameter of CountVectorizer"):
        scorecard_of(model)
    model = make_pipeline(
        bs.NaiveFeatureSelector(3), LogisticRegression(max_iter=500)
    ).fit(COUNTS, YES_NO)
    with pytest.raises(TypeError, match="needs a classifier of bayesieve as the last"):
        scorecard_of(model)
    model = make_pipeline(CountVectorizer(), bs.SparseCategoricalNB(2)).fit(TEXTS, Y)
    with pytest.raises(ValueError, match="must take counts or presences"):
        scorecard_of(model)


def test_names_can_be_given():
    card = check(
        bs.SparseMultinomialNB(2).fit(COUNTS, Y),
        COUNTS,
        names=[f"n{j}" for j in range(12)],
    )
    assert [own.name for own in card.columns] == [
        f"n{own.number}" for own in card.columns
    ]


# --------------------------------------------------------------------- odd inputs


@given(
    seed=st.integers(0, 2**32 - 1),
    alpha=st.sampled_from([0.0, 0.5, 1.0]),
    n_classes=st.integers(2, 4),
    k=st.sampled_from([2, 3, "all"]),
)
@settings(max_examples=40, deadline=None)
def test_random_counts(seed, alpha, n_classes, k):
    for model, new in fitted_to_counts(seed, n_classes, k, alpha):
        check(model, new)
        check(model, sparse.csr_array(new))


@given(seed=st.integers(0, 2**32 - 1), partitions=st.sampled_from(["averaged", "best"]))
@settings(max_examples=15, deadline=None)
def test_random_tables(seed, partitions):
    for model, rows in fitted_to_tables(seed, partitions):
        check(model, rows)


def test_numbers_at_the_bounds_and_far_out():
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(400, 3)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) > 0) ^ (np.nan_to_num(X[:, 1]) > 0)
    for partitions in ("averaged", "best"):
        model = bs.SelectiveNB(partitions=partitions).fit(X, y)
        card = check(model, X)
        axes = [axis for term in card.terms for axis in term.axes]
        bounds = np.concatenate([axis.bounds for axis in axes])
        assert np.isfinite(bounds).all()
        edges = np.concatenate(
            [bounds, np.nextafter(bounds, -9), np.nextafter(bounds, 9)]
        )
        edges = np.r_[edges, np.nan, 1e308, -1e308]
        check(model, rng.choice(edges, size=(1000, 3)))
    assert model.pairs_ == []


def test_pairs_are_looked_up_by_their_cells():
    model, table = examples()["selective pairs"]
    card = check(model, table)
    grids = [term for term in card.terms if len(term.axes) > 1]
    assert len(grids) == len(model.pairs_)
    check(model, table.assign(town="nowhere"))
    check(model, table.assign(left=np.nan, town=None))


def test_integers_and_times_that_doubles_merge():
    rng = np.random.default_rng(1)
    n = 400
    y = rng.integers(2, size=n)
    table = pd.DataFrame(
        {
            "id": 2**60 + rng.integers(0, 100, size=n) + 60 * y,
            "at": pd.Timestamp("2024-05-01").value + rng.integers(0, 100, n) + 60 * y,
            "far": rng.integers(0, 2**63 - 1, size=n, dtype=np.int64) * (2 * y - 1),
        }
    )
    table["at"] = table["at"].astype("datetime64[ns]")
    for partitions in ("averaged", "best"):
        for name in table:
            model = bs.SelectiveNB(partitions=partitions).fit(table[[name]], y)
            card = check(model, table[[name]])
            assert [own.origin is not None for own in card.columns] == [name != "far"]


def test_categories_are_told_apart_as_python_does():
    values = [1, "1", True, 0, False, "a", None, 2.5]
    rng = np.random.default_rng(2)
    column = np.empty(200, dtype=object)
    picked = rng.integers(len(values), size=200)
    column[:] = [values[j] for j in picked]
    y = (picked % 3 == 0).astype(int)
    table = pd.DataFrame({"v": column, "w": rng.normal(size=200)})
    model = bs.SelectiveNB(partitions="best").fit(table, y)
    check(model, table)


def test_rows_that_no_class_can_produce():
    X = np.array([[2, 0, 1], [1, 0, 0], [0, 2, 1], [0, 1, 0]])
    model = bs.SparseMultinomialNB("all", alpha=0.0).fit(X, [0, 0, 1, 1])
    new = np.array([[1, 1, 0], [1, 0, 0], [0, 0, 0]])
    card = check(model, new)
    joint = card.joint(*read_columns(card, new))
    np.testing.assert_array_equal(joint[0], card.start)
    assert np.isneginf(joint[1]).tolist() == [False, True]


def test_the_kinds_of_terms():
    kinds = {
        name: {type(term) for term in scorecard_of(examples()[name][0]).terms}
        for name in ("bernoulli", "categorical", "text", "selective texts")
    }
    assert kinds["bernoulli"] == {CountTerms}
    assert kinds["categorical"] == {LookupTerm}
    assert kinds["text"] == {TextTerms}
    assert TextTerms in kinds["selective texts"]
    assert scorecard_of(bs.SparseBernoulliNB(2, binarize=None).fit(BINARY, Y)).columns[
        0
    ].kind == ("binary")


# ---------------------------------------------------------------------- real data


@pytest.mark.parametrize("name", ["uci_adult", "uci_crx", "uci_horsecolic"])
def test_real_tables(real_data, name):
    frame = real_data(name)
    y = frame.pop("label")
    frame = frame.drop(columns="split", errors="ignore")
    part = np.random.default_rng(0).permutation(len(frame))[:3000]
    first = part[: len(part) // 2]
    for partitions in ("averaged", "best"):
        model = bs.SelectiveNB(partitions=partitions, time_limit=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of time that is up
            model.fit(frame.iloc[first], y.iloc[first])
        check(model, frame.iloc[part])


def test_real_texts(real_data):
    frame = real_data("trec")
    model = bs.SparseTextNB(100, ngram_range=(1, 2)).fit(frame["text"], frame["label"])
    check(model, frame["text"].tolist())
