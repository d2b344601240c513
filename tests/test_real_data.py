"""Real text: the numbers of the paper, and optima that are proven."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve import ClassCounts, SparseMultinomialNB, solve_multinomial, sparsity_path

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def imdb(real_data):
    frame = real_data("imdb")
    train, test = (frame[frame["split"] == part] for part in ("train", "test"))
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(train["text"])
    y = train["label"].to_numpy()
    return SimpleNamespace(
        X=X,
        y=y,
        X_test=vectorizer.transform(test["text"]),
        y_test=test["label"].to_numpy(),
        words=vectorizer.get_feature_names_out(),
        counts=ClassCounts.from_matrix(X, y),
    )


@pytest.mark.parametrize("k", [9, 20])
def test_imdb_is_solved_and_certified(imdb, k):
    model = SparseMultinomialNB(k).fit(imdb.X, imdb.y)
    certificate = model.certificate_
    assert model.k_ == k
    assert certificate.is_optimal
    assert certificate.relative_gap <= 1e-9
    assert certificate.sharp_bound <= certificate.objective
    assert certificate.published_bound <= certificate.sharp_bound
    assert certificate.objective <= certificate.relaxation_bound
    # The objective from the data itself: the smoothed counts on the support.
    inside = imdb.counts.feature_count[:, model.support_indices_] + 1.0
    sums, totals = inside.sum(axis=1, keepdims=True), inside.sum(axis=0)
    gain = (inside * np.log(inside * sums.sum() / (sums * totals))).sum()
    found = certificate.objective - certificate.null_objective
    np.testing.assert_allclose(found, gain, rtol=1e-9)


def test_imdb_nine_words_beat_the_paper(imdb):
    model = SparseMultinomialNB(9).fit(imdb.X, imdb.y)
    assert model.score(imdb.X_test, imdb.y_test) > 0.702


def test_imdb_twenty_words_have_the_weights_of_the_paper(imdb):
    model = SparseMultinomialNB(20).fit(imdb.X, imdb.y)
    weights = dict(zip(imdb.words, model.coef_[0], strict=True))
    published = {  # Table 4 of the paper
        "waste": -2.63,
        "worst": -2.29,
        "awful": -2.23,
        "wonderful": 1.56,
        "excellent": 1.46,
        "bad": -1.36,
        "great": 0.88,
        "best": 0.72,
        "love": 0.69,
    }
    found = {word: weights[word] for word in published}
    assert found == pytest.approx(published, abs=0.03)


def test_imdb_every_size_to_a_thousand_is_proven_within_the_default_limits(imdb):
    # A search that stopped at a limit would warn, and warnings are errors here.
    for k in np.unique(np.geomspace(2, 1000, 40).astype(int)).tolist():
        certificate = solve_multinomial(imdb.counts, k).certificate
        assert certificate.is_optimal, f"k={k}: {certificate}"
    path = sparsity_path(imdb.counts, ks=range(2, 1001))
    np.testing.assert_array_equal(path.k, np.arange(2, 1001))
    gain = path.objective - path.null_objective
    assert (path.gap <= 1e-9 * gain).all()
    assert (np.diff(gain) > 0).all()


def test_twenty_newsgroups_with_ten_words(real_data):
    frame = real_data("newsgroups20")
    train = frame[frame["split"] == "train"]
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(train["text"])
    model = SparseMultinomialNB(10).fit(X, train["label"])
    assert model.classes_.shape == (20,)
    assert model.k_ == 10
    certificate = model.certificate_
    assert certificate.is_optimal
    assert certificate.objective <= certificate.relaxation_bound
    # The relaxation is nearly tight on real text (the specification measured 0.045 %).
    gain = certificate.objective - certificate.null_objective
    assert certificate.relaxation_bound - certificate.objective < 0.01 * gain
