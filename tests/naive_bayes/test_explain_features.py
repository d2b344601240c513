"""`explain` of counts, presences, texts, moments and categories."""

from __future__ import annotations

import pickle
import warnings
from itertools import combinations, product
from math import factorial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError

from bayesieve import (
    SelectiveBernoulliNB,
    SelectiveBernoulliNBCV,
    SelectiveMultinomialNB,
    SelectiveMultinomialNBCV,
    SparseBernoulliNB,
    SparseBernoulliNBCV,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
    SparseTextNB,
    load_model,
    save_model,
)
from bayesieve.naive_bayes._term_values import LinearTerms, TableTerms

#: Sums of a dozen terms of a few nats, each rounded.
ROUNDING = 1e-10

COUNTS = {
    "multinomial": lambda: SparseMultinomialNB(4),
    "bernoulli": lambda: SparseBernoulliNB(4),
    "truncated": lambda: SparseBernoulliNB(4, smoothing="truncated", binarize=1.0),
    "multinomial cv": lambda: SparseMultinomialNBCV(ks=[3], cv=3),
    "bernoulli cv": lambda: SparseBernoulliNBCV(ks=[3], cv=3),
    "weighted counts": lambda: SelectiveMultinomialNB(3),
    "weighted presences": lambda: SelectiveBernoulliNB(3),
    "weighted, no refit": lambda: SelectiveBernoulliNB(3, refit_intercept=False),
    "weighted counts cv": lambda: SelectiveMultinomialNBCV(cv=3),
    "weighted presences cv": lambda: SelectiveBernoulliNBCV(cv=3),
}
TABLES = {
    "gaussian": lambda: SparseGaussianNB(3),
    "pooled": lambda: SparseGaussianNB(3, variance="pooled"),
    "categorical": lambda: SparseCategoricalNB(3),
    "more categories": lambda: SparseCategoricalNB(3, min_categories=6, alpha=0.5),
}
EVERY = COUNTS | TABLES


def counts_table(n=240, n_classes=2, seed=0):
    """Small counts, some of which depend on the class."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.poisson(0.8, size=(n, 8))
    for j in range(4):
        X[:, j] += rng.poisson(1.2 * (y == j % n_classes))
    return X, np.array(["ant", "bee", "cat", "dog"])[y]


def same_up_to_a_constant(found, expected):
    """Whether scores differ by one number for each row, infinities included."""
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
    finite = np.isfinite(expected)
    away = np.where(
        finite, np.where(finite, found, 0) - np.where(finite, expected, 0), 0
    )
    mean = away.sum(axis=1) / np.maximum(finite.sum(axis=1), 1)
    np.testing.assert_allclose(
        np.where(finite, away - mean[:, None], 0), 0, atol=ROUNDING
    )


def scores_of(explained):
    return explained.base + explained.values.sum(axis=1)


def centred(values):
    return values - values.mean(axis=-1, keepdims=True)


def shapley(worth, n):
    """Shapley values of players 0, ..., n - 1 in a game on frozensets."""
    found = []
    for j in range(n):
        total = 0.0
        others = [i for i in range(n) if i != j]
        for size in range(n):
            share = factorial(size) * factorial(n - size - 1) / factorial(n)
            for known in combinations(others, size):
                own = frozenset(known)
                total = total + share * (worth[own | {j}] - worth[own])
        found.append(total)
    return np.array(found)


def subsets(n):
    return [frozenset(s) for size in range(n + 1) for s in combinations(range(n), size)]


# ------------------------------------------------------------------- the two promises


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("name", EVERY)
def test_terms_add_up_to_the_scores(name, n_classes):
    X, y = counts_table(n_classes=n_classes)
    model = EVERY[name]().fit(X, y)
    explained = model.explain(X)
    assert explained.values.shape == (X.shape[0], model.k_, n_classes)
    assert explained.features == [f"x{j}" for j in model.support_indices_]
    same_up_to_a_constant(scores_of(explained), model.predict_joint_log_proba(X))
    np.testing.assert_array_equal(explained.probabilities, model.predict_proba(X))
    np.testing.assert_array_equal(explained.predicted, model.predict(X))
    assert explained.by_column() is explained


@pytest.mark.parametrize("name", COUNTS)
def test_counts_have_their_shapley_values_beside_an_empty_row(name):
    X, y = counts_table(n_classes=3)
    model = COUNTS[name]().fit(X, y)
    explained = model.explain(X[:3])
    chosen = model.support_indices_[:6]
    for row in range(3):
        rest = X[row].copy()
        rest[chosen] = 0
        worth = {}
        for known in subsets(chosen.size):
            mixed = rest.copy()
            own = chosen[sorted(known)]
            mixed[own] = X[row, own]
            worth[known] = centred(model.predict_joint_log_proba(mixed[None]))[0]
        expected = shapley(worth, chosen.size)
        np.testing.assert_allclose(
            centred(explained.values[row, : chosen.size]), expected, atol=ROUNDING
        )
    # The base is the empty row.
    empty = model.predict_joint_log_proba(np.zeros((1, X.shape[1]), dtype=int))
    np.testing.assert_allclose(
        centred(explained.base), centred(empty)[0], atol=ROUNDING
    )


@pytest.mark.parametrize("name", TABLES)
def test_columns_have_their_shapley_values_beside_the_training_rows(name):
    X, y = counts_table(n_classes=3)
    weight = np.random.default_rng(0).integers(1, 4, size=y.size).astype(float)
    model = TABLES[name]().fit(X, y, sample_weight=weight)
    explained = model.explain(X[:2])
    chosen = model.support_indices_
    for row in range(2):
        worth = {}
        for known in subsets(chosen.size):
            mixed = X.copy()
            own = chosen[sorted(known)]
            mixed[:, own] = X[row, own]
            scores = model.predict_joint_log_proba(mixed)
            worth[known] = np.average(scores, axis=0, weights=weight)
        expected = shapley(worth, chosen.size)
        np.testing.assert_allclose(explained.values[row], expected, atol=ROUNDING)
        np.testing.assert_allclose(explained.base, worth[frozenset()], atol=ROUNDING)


# ------------------------------------------------------------- the ways data may come


@pytest.mark.parametrize("name", EVERY)
def test_dense_sparse_and_frames_are_explained_alike(name):
    X, y = counts_table()
    names = [f"word {j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names, index=np.arange(len(X)) + 100)
    plain, named = EVERY[name]().fit(X, y), EVERY[name]().fit(frame, y)
    expected = plain.explain(X)
    for form in (sparse.csr_array, sparse.csc_matrix):
        np.testing.assert_allclose(
            plain.explain(form(X)).values, expected.values, atol=ROUNDING
        )
    found = named.explain(frame)
    np.testing.assert_allclose(found.values, expected.values, atol=ROUNDING)
    assert found.features == [names[j] for j in named.support_indices_]
    assert found.index[0] == 100
    assert expected.index is None
    row = int(np.flatnonzero(X[:, named.support_indices_[0]])[0])
    for own in (found, expected, plain.explain(sparse.csr_array(X))):
        assert own.shown_input(0, row) == str(X[row, named.support_indices_[0]])


@pytest.mark.parametrize("name", EVERY)
def test_saved_models_explain_alike(name, tmp_path):
    X, y = counts_table(n_classes=3)
    model = EVERY[name]().fit(X, y)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model").explain(X)
    np.testing.assert_array_equal(again.values, model.explain(X).values)
    np.testing.assert_array_equal(again.base, model.explain(X).base)


@pytest.mark.parametrize("name", EVERY)
def test_rows_are_taken_by_number_slice_and_mask(name):
    X, y = counts_table()
    explained = EVERY[name]().fit(X, y).explain(X[:20])
    values = explained.values
    for rows in (slice(3, 9), np.arange(20) % 3 == 0, [5, 1], slice(0, 0)):
        part = explained[rows]
        assert len(part) == len(values[rows])
        np.testing.assert_array_equal(part.values, values[rows])
    assert [len(own) for own in explained[:3]] == [1, 1, 1]
    np.testing.assert_array_equal(explained[-1].values, values[19:])
    again = pickle.loads(pickle.dumps(explained))
    np.testing.assert_array_equal(again.values, values)


@pytest.mark.parametrize("name", EVERY)
def test_only_fitted_models_explain(name):
    X, _ = counts_table()
    with pytest.raises(NotFittedError):
        EVERY[name]().explain(X)


@pytest.mark.parametrize("name", EVERY)
def test_rows_are_checked_as_for_prediction(name):
    X, y = counts_table()
    model = EVERY[name]().fit(X, y)
    with pytest.raises(ValueError, match="features"):
        model.explain(X[:, :5])


def test_negative_counts_are_refused():
    X, y = counts_table()
    model = SparseMultinomialNB(4).fit(X, y)
    with pytest.raises(ValueError, match="Negative value -1"):
        model.explain(-np.ones_like(X))


def test_a_model_without_features_is_its_base():
    X, y = counts_table()
    model = SelectiveMultinomialNB(regularization=1e6).fit(X, y)
    assert model.k_ == 0
    explained = model.explain(X[:3])
    assert explained.values.shape == (3, 0, 2)
    same_up_to_a_constant(scores_of(explained), model.predict_joint_log_proba(X[:3]))
    terms, nats = explained.strongest(2)
    assert (terms == -1).all()
    assert (nats == 0).all()
    assert explained[0].counterfactual() is None
    assert explained.summary() == ["", "", ""]


# ---------------------------------------------------------------------- what is sparse


@pytest.mark.parametrize("name", COUNTS)
def test_the_sparse_form_says_what_the_array_does(name):
    X, y = counts_table(n_classes=3)
    explained = COUNTS[name]().fit(X, y).explain(X)
    assert isinstance(explained.terms, LinearTerms)
    array = TableTerms(explained.values)
    for place, label in enumerate(explained.classes):
        found, _ = explained.contrast(label)
        assert sparse.issparse(found)
        np.testing.assert_allclose(
            found.toarray(), array.contrast(place), atol=ROUNDING
        )
        frame = explained.to_frame(label)
        scores = scores_of(explained)
        others = np.delete(scores, place, axis=1).mean(axis=1)
        np.testing.assert_allclose(
            frame.to_numpy().sum(axis=1), scores[:, place] - others, atol=ROUNDING
        )
    np.testing.assert_allclose(explained.terms.totals(), array.totals(), atol=ROUNDING)
    places = np.argmax(explained.probabilities, axis=1)
    terms, nats = explained.strongest(2)
    _, expected = array.strongest(2, places)
    np.testing.assert_allclose(nats, expected, atol=ROUNDING)
    first, said = explained.strongest(2, explained.classes[0])
    row, rank = np.nonzero(first >= 0)
    np.testing.assert_allclose(
        array.contrast(0)[row, first[row, rank]], said[row, rank], atol=ROUNDING
    )
    held = (explained.terms.rows != 0).sum(axis=1)
    np.testing.assert_array_equal((terms >= 0).sum(axis=1), np.minimum(held, 2))


def test_what_is_not_in_a_row_is_not_told():
    X, y = counts_table()
    explained = SparseBernoulliNB(4).fit(X, y).explain(X)
    row = int(np.argmin((explained.values != 0).any(axis=2).sum(axis=1)))
    told = explained[row].lines()
    n_met = int((np.asarray(explained.inputs)[row] > 0).sum())
    assert len(told) == n_met + 2
    assert sum(nats for *_, nats in told[:-1]) == pytest.approx(told[-1][2])


def test_a_million_columns_are_not_made_dense(monkeypatch):
    rng = np.random.default_rng(0)
    n_rows, n_columns = 400, 1_000_000
    y = np.arange(n_rows) % 2
    columns = rng.integers(n_columns, size=(n_rows, 20))
    columns[:, :5] = rng.integers(3000, size=(n_rows, 5)) + 3000 * y[:, None]
    rows = np.repeat(np.arange(n_rows), 20)
    X = sparse.csr_array(
        (np.ones(rows.size), (rows, columns.ravel())), shape=(n_rows, n_columns)
    )
    model = SparseMultinomialNB(5000, exact=False).fit(X, y)
    monkeypatch.setattr(LinearTerms, "values", lambda self: pytest.fail("dense"))
    for kind in (sparse.csr_array, sparse.csr_matrix):
        monkeypatch.setattr(kind, "toarray", lambda *_: pytest.fail("dense"))
    explained = model.explain(X)
    assert explained.terms.rows.nnz <= X.nnz
    terms, nats = explained.strongest(5)
    assert (np.abs(nats[:, :-1]) >= np.abs(nats[:, 1:])).all()
    assert (terms[:, 0] >= 0).all()
    assert "score" in str(explained[3])
    assert explained.contrast(1)[0].nnz <= X.nnz


def test_strongest_says_what_is_wrong():
    X, y = counts_table()
    explained = SparseMultinomialNB(4).fit(X, y).explain(X)
    for n in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match=r"n must be an int >= 1. Got"):
            explained.strongest(n)
    with pytest.raises(ValueError, match="label must be one of the classes"):
        explained.strongest(2, "eel")


# ----------------------------------------------------------------- what is impossible


@st.composite
def bare_counts(draw):
    n_classes = draw(st.integers(2, 3))
    n_rows = draw(st.integers(n_classes, 7))
    n_columns = draw(st.integers(2, 4))
    cells = st.lists(st.integers(0, 2), min_size=n_columns, max_size=n_columns)
    X = draw(st.lists(cells, min_size=n_rows, max_size=n_rows))
    more = draw(st.lists(cells, min_size=1, max_size=4))
    y = [c % n_classes for c in range(n_rows)]
    return np.array(X), np.array(y), np.array(more)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SparseMultinomialNB("all", alpha=0.0),
        lambda: SparseBernoulliNB("all", alpha=0.0),
        lambda: SparseBernoulliNB("all", alpha=0.0, class_prior=None, fit_prior=False),
        lambda: SparseCategoricalNB("all", alpha=0.0),
        lambda: SparseGaussianNB("all", var_smoothing=0.0),
    ],
)
@settings(max_examples=60, deadline=None)
@given(data=bare_counts())
def test_what_is_impossible_is_minus_infinity_and_never_nan(make, data):
    X, y, more = data
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # fewer features than asked
            model = make().fit(X, y)
    except ValueError:  # nothing to select
        return
    explained = model.explain(more)
    assert not np.isnan(explained.values).any()
    assert not np.isnan(explained.base).any()
    same_up_to_a_constant(scores_of(explained), model.predict_joint_log_proba(more))
    assert not np.isnan(explained.strongest(3)[1]).any()
    for label in explained.classes:
        values, base = explained.contrast(label)
        values = values.toarray() if sparse.issparse(values) else values
        assert not np.isnan(values).any()
        assert not np.isnan(base)
    for own in explained:
        assert "nan" not in str(own)
        other = own.counterfactual()
        assert other is None or other.label != own.predicted[0]


# ------------------------------------------------------------------- values of a table


def test_categories_never_seen_say_nothing():
    X = pd.DataFrame(
        {"town": ["Ulm", "Ulm", "Bonn", None] * 5, "size": [1, 2, 3, 4] * 5}
    )
    y = ["a", "a", "b", "b"] * 5
    model = SparseCategoricalNB(2).fit(X, y)
    rows = pd.DataFrame({"town": ["Rome", None, "Ulm"], "size": [9, 1, 2]})
    explained = model.explain(rows)
    same_up_to_a_constant(scores_of(explained), model.predict_joint_log_proba(rows))
    place = explained.features.index("town")
    assert [explained.shown_input(place, i) for i in range(3)] == [
        "Rome",
        "missing",
        "Ulm",
    ]
    model._category_rows = None  # as in a file of an earlier version
    again = model.explain(rows)
    same_up_to_a_constant(scores_of(again), model.predict_joint_log_proba(rows))


# ------------------------------------------------------------------------------- texts

TEXTS = [
    "free prize, claim your free prize now",
    "claim cash now",
    "are you home now?",
    "see you at home, are you free?",
    "call now to claim a prize",
    "i will call you",
] * 3
LABELS = ["spam", "spam", "ham", "ham", "spam", "ham"] * 3


@pytest.mark.parametrize(
    ("model", "weights", "options"),
    [
        *product(["multinomial", "bernoulli"], [False, True], [{}]),
        ("multinomial", False, {"analyzer": "char_wb", "ngram_range": (2, 3)}),
        ("multinomial", False, {"binary": True, "ngram_range": (1, 2)}),
    ],
)
def test_texts_are_explained_by_their_terms(model, weights, options, tmp_path):
    fitted = SparseTextNB(6, model=model, weights=weights, **options)
    fitted.fit(TEXTS, LABELS)
    rows = [*TEXTS[:6], "", "nothing of it"]
    explained = fitted.explain(rows)
    assert explained.features == fitted.support_terms_
    same_up_to_a_constant(scores_of(explained), fitted.predict_joint_log_proba(rows))
    np.testing.assert_array_equal(explained.predicted, fitted.predict(rows))
    assert (explained.values[6:] == 0).all()
    named = fitted.explain(pd.Series(rows, index=list("abcdefgh")))
    assert list(named.index) == list("abcdefgh")
    save_model(fitted, tmp_path / "model")
    again = load_model(tmp_path / "model").explain(rows)
    np.testing.assert_array_equal(again.values, explained.values)


def test_counts_of_words_are_shown():
    fitted = SparseTextNB(6).fit(TEXTS, LABELS)
    explained = fitted.explain(["claim, claim and CLAIM"])
    assert explained.shown_input(explained.features.index("claim"), 0) == "3"
    term, value, *_ = str(explained[0]).splitlines()[3].split()
    assert (term, value) == ("claim", "3")


def test_many_reviews_are_explained_at_once(real_data):
    frame = real_data("imdb")
    train = frame[frame["split"] == "train"]
    model = SparseTextNB(1000).fit(train["text"], train["label"])
    rows = frame.loc[frame["split"] == "test", "text"].tolist()
    explained = model.explain(rows)
    terms, nats = explained.strongest(5)
    assert terms.shape == (25_000, 5)
    part = explained[:300]
    same_up_to_a_constant(scores_of(part), model.predict_joint_log_proba(rows[:300]))
    expected = TableTerms(part.values).strongest(
        5, np.argmax(part.probabilities, axis=1)
    )
    np.testing.assert_allclose(nats[:300], expected[1], atol=ROUNDING)
