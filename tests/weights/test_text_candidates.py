"""N-grams of a column of texts: counts, limits, weights, slopes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from tests.naive_bayes.text_tables import reviews

from bayesieve.text._options import TextOptions
from bayesieve.weights._candidates import screen
from bayesieve.weights._text_candidates import (
    TextRule,
    count_ngrams,
    distinct_ngrams,
    screen_ngrams,
)

FRAME, Y = reviews(200, n_classes=3)
TEXTS = FRAME["review"].tolist()
CLASSES, CODES = np.unique(Y, return_inverse=True)
CODES = CODES.astype(np.int32)
PLAIN = TextRule(TextOptions())


@pytest.mark.parametrize(
    "rule",
    [
        PLAIN,
        TextRule(TextOptions(ngram_range=(1, 2)), min_df=3),
        TextRule(TextOptions(binary=True), max_df=0.4),
        TextRule(TextOptions(analyzer="char", ngram_range=(2, 3)), 0.05, 0.5),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_those_of_countvectorizer(rule, weighted):
    """A weight of 2 is the text twice, for the limits of documents too."""
    weight = np.random.default_rng(0).integers(1, 3, 200) if weighted else None
    again = np.arange(200) if weight is None else np.repeat(np.arange(200), weight)
    vectorizer = CountVectorizer(
        **rule.options.vectorizer(), min_df=rule.min_df, max_df=rule.max_df
    )
    X = vectorizer.fit_transform([TEXTS[i] for i in again])
    given = None if weight is None else weight.astype(float)
    counts = count_ngrams(TEXTS, CODES, given, CLASSES, rule)
    names = vectorizer.get_feature_names_out().tolist()
    assert counts.feature_names.tolist() == names
    expected = [X[CODES[again] == c].sum(axis=0).A1 for c in range(3)]
    np.testing.assert_allclose(counts.feature_count, expected)


def test_slopes_are_those_of_the_wide_models():
    counts = count_ngrams(TEXTS, CODES, None, CLASSES, PLAIN)
    found = screen_ngrams(counts, PLAIN.options, None, "me")
    wide = screen(counts, counts.n_features, model="multinomial", alpha=1.0, owner="me")
    assert found.names.tolist() == counts.feature_names[wide.columns].tolist()
    np.testing.assert_allclose(
        found.slope, wide.slope - wide.slope.mean(axis=1, keepdims=True), atol=1e-12
    )
    assert found.n_distinct == counts.n_features


def test_a_class_without_texts_says_nothing():
    two = np.where(CODES == 2, 1, CODES).astype(np.int32)
    counts = count_ngrams(TEXTS, two, None, CLASSES, PLAIN)
    found = screen_ngrams(counts, PLAIN.options, None, "me")
    assert (found.slope[:, 2] == 0.0).all()
    np.testing.assert_allclose(found.slope.sum(axis=1), 0.0, atol=1e-12)


def test_no_terms_and_limits_that_leave_none():
    empty = count_ngrams(["", " "], CODES[:2], None, CLASSES, PLAIN)
    assert screen_ngrams(empty, PLAIN.options, None, "me").slope.shape == (0, 3)
    often = TextRule(TextOptions(), min_df=10**6)
    assert count_ngrams(TEXTS, CODES, None, CLASSES, often).n_features == 0


def test_of_equal_ngrams_the_first_is_kept():
    rule = TextRule(TextOptions())
    texts = ["new york sun", "new york", "sun sun", "moon"]
    codes = np.array([0, 0, 1, 1], dtype=np.int32)
    counts = count_ngrams(texts, codes, None, CLASSES[:2], rule)
    found = screen_ngrams(counts, rule.options, None, "me")
    kept, block = distinct_ngrams(found, found.rows(texts))
    assert kept.names.tolist() == ["moon", "new", "sun"]
    assert sparse.issparse(block)
    np.testing.assert_array_equal(
        block.toarray(), [[0, 1, 1], [0, 1, 0], [0, 0, 2], [1, 0, 0]]
    )
    np.testing.assert_array_equal(kept.counts, [[0, 2, 1], [1, 0, 2]])
