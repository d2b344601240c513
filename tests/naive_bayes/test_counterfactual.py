"""The fewest terms that change a prediction, against all subsets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesieve import (
    SelectiveNB,
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseTextNB,
)
from bayesieve.naive_bayes._counterfactual import Counterfactual, fewest_removals
from bayesieve.naive_bayes._term_values import Removals


def by_brute_force(own, removals):
    """Size of the smallest set of terms that changes the class, and all classes then.

    As prediction does: the first class of those with the largest score; and nothing is
    said of rows that no class can produce.
    """
    n = removals.terms.size
    for size in range(1, n + 1):
        labels = set()
        for chosen in combinations(range(n), size):
            there = np.ones(n, dtype=bool)
            there[list(chosen)] = False
            score = removals.rest + removals.kept[there].sum(axis=0)
            score = score + removals.removed[~there].sum(axis=0)
            if np.isneginf(score).all():
                continue
            if np.argmax(score) != own:
                labels.add(int(np.argmax(score)))
        if labels:
            return size, labels
    return None


#: Quarters are exact in any order of a sum.
QUARTERS = st.integers(-12, 12).map(lambda number: number / 4.0)


@st.composite
def games(draw, impossible):
    n_classes = draw(st.integers(2, 4))
    n = draw(st.integers(0, 8))
    cell = QUARTERS | st.just(-np.inf) if impossible else QUARTERS
    at_rest = st.sampled_from([0.0, 0.0, -np.inf]) if impossible else st.just(0.0)

    def table(cells, rows):
        row = st.lists(cells, min_size=n_classes, max_size=n_classes)
        return np.array(
            draw(st.lists(row, min_size=rows, max_size=rows)), dtype=float
        ).reshape(rows, n_classes)

    kept, removed = table(cell, n), table(at_rest, n)
    return Removals(np.arange(n), kept, removed, table(QUARTERS, 1)[0])


def check_against_brute_force(removals):
    score = removals.rest + removals.kept.sum(axis=0)
    if np.isneginf(score).all():
        return
    own = int(np.argmax(score))
    found, expected = fewest_removals(own, removals), by_brute_force(own, removals)
    assert (found is None) == (expected is None)
    if found is not None:
        size, labels = expected
        chosen, label = found
        assert np.unique(chosen).size == chosen.size == size
        assert label in labels
        left = np.delete(removals.kept, chosen, axis=0).sum(axis=0)
        after = removals.rest + left + removals.removed[chosen].sum(axis=0)
        assert int(np.argmax(after)) == label


@settings(max_examples=400, deadline=None)
@given(games(impossible=False))
def test_no_smaller_set_changes_the_class(removals):
    check_against_brute_force(removals)


@settings(max_examples=400, deadline=None)
@given(games(impossible=True))
def test_no_smaller_set_changes_the_class_where_classes_are_impossible(removals):
    check_against_brute_force(removals)


def rows_without(X, row, columns):
    mixed = X[row : row + 1].copy()
    mixed[:, columns] = 0
    return mixed


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("make", [SparseMultinomialNB, SparseBernoulliNB])
def test_models_predict_what_is_told(make, n_classes):
    rng = np.random.default_rng(n_classes)
    y = np.arange(200) % n_classes
    X = rng.poisson(0.7, size=(200, 8))
    for j in range(8):
        X[:, j] += rng.poisson(0.9 * (y == j % n_classes))
    model = make(6).fit(X, y)
    told = 0
    for row in range(40):
        one = model.explain(X)[row]
        other, own = one.counterfactual(), model.predict(X[row : row + 1])[0]
        there = [j for j in model.support_indices_ if X[row, j] > 0]
        sizes = [
            len(chosen)
            for size in range(1, len(there) + 1)
            for chosen in combinations(there, size)
            if model.predict(rows_without(X, row, list(chosen)))[0] != own
        ]
        assert (other is None) == (not sizes)
        if other is not None:
            told += 1
            assert len(other.terms) == min(sizes)
            chosen = model.support_indices_[other.terms]
            assert (X[row, chosen] > 0).all()
            changed = model.predict(rows_without(X, row, chosen))
            assert changed[0] == other.label
    assert told > 10


def test_words_are_taken_out_of_texts():
    texts = ["free prize claim now", "claim free cash", "see you", "you see me now"]
    model = SparseTextNB(5).fit(texts, ["spam", "spam", "ham", "ham"])
    one = model.explain(["claim your free cash, see you"])[0]
    other = one.counterfactual()
    assert isinstance(other, Counterfactual)
    assert model.predict(["claim your free cash, see you"]) == ["spam"]
    left = " ".join(
        word
        for word in ["claim", "free", "cash", "see", "you"]
        if word not in other.features
    )
    assert model.predict([left]) == [other.label] == ["ham"]
    assert str(one).splitlines()[-1] == str(other)
    assert "it would be ham." in one._repr_html_()


def test_a_text_without_terms_has_no_other():
    texts = ["free prize claim now", "claim free cash", "see you", "you see me now"]
    model = SparseTextNB(5).fit(texts, ["spam", "spam", "ham", "ham"])
    assert model.explain(["nothing"])[0].counterfactual() is None


def test_columns_of_tables_are_set_to_their_mean():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = rng.normal(size=(300, 3)) + 1.5 * y[:, None] * [1, 1, 0]
    model = SparseGaussianNB(2).fit(X, y)
    explained = model.explain(X)
    told = 0
    for row in range(50):
        other = explained.counterfactual(row)
        if other is None:
            continue
        told += 1
        assert str(other).startswith("With an average 'x")
        values = explained.values[row].copy()
        values[other.terms] = 0.0
        scores = explained.base + values.sum(axis=0)
        assert explained.classes[np.argmax(scores)] == other.label
        assert other.label != explained.predicted[row]
    assert told > 10


def test_shares_of_pairs_cannot_be_taken_away():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = (X[:, 0] > 0.3) ^ (X[:, 1] > 0.3)
    model = SelectiveNB().fit(X, y)
    assert model.pairs_
    explained = model.explain(X[:50])
    row = int(np.flatnonzero(explained.predicted)[0])
    assert explained[row].counterfactual().features == ["x0 \u00d7 x1"]
    assert explained.by_column()[row].counterfactual() is None
    assert "it would be" not in str(explained.by_column()[row])


@pytest.mark.parametrize(
    ("features", "removal", "expected"),
    [
        (["free"], "without", "Without 'free' it would be ham."),
        (["free", "claim"], "without", "Without 'free' and 'claim' it would be ham."),
        (["a", "b", "c"], "without", "Without 'a', 'b' and 'c' it would be ham."),
        (["don't"], "without", 'Without "don\'t" it would be ham.'),
        (["a\nb"], "without", "Without 'a b' it would be ham."),
        (["age"], "with an average", "With an average 'age' it would be ham."),
        (
            list("abcdefghij"),
            "without",
            "Without 'a', 'b', 'c', 'd', 'e', 'f', 'g' and 3 more it would be ham.",
        ),
    ],
)
def test_the_sentence(features, removal, expected):
    terms = list(range(len(features)))
    assert (
        str(Counterfactual(features, terms, "ham", [removal] * len(terms))) == expected
    )


def test_words_and_columns_in_one_sentence():
    removals = ["with an average", "without", "with an average", "without"]
    other = Counterfactual(list("abcd"), [0, 1, 2, 3], "ham", removals)
    assert str(other) == (
        "With an average 'a' and 'c' and without 'b' and 'd' it would be ham."
    )
