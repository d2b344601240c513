"""The penalty of weights by rows that were not fitted: losses, errors, both rules."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold

from bayesieve import (
    SelectiveBernoulliNB,
    SelectiveMultinomialNB,
    SparseTextNB,
    load_model,
    save_model,
)
from bayesieve._description import describe
from bayesieve.datasets import load_sms_spam
from bayesieve.model_selection._splits import prediction_splits


def counts_of_words(n=400, m=60, informative=6, seed=0):
    """Counts whose first columns speak for the second class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = rng.poisson(0.6, size=(n, m))
    X[:, :informative] += rng.poisson(0.8 * y[:, None], size=(n, informative))
    return sparse.csr_array(X), y


@pytest.mark.parametrize("kind", [SelectiveMultinomialNB, SelectiveBernoulliNB])
def test_losses_are_those_of_fits_of_the_other_folds(kind):
    X, y = counts_of_words()
    folds = list(StratifiedKFold(4).split(np.zeros(len(y)), y))
    model = kind(k="cv", relaxed=False, cv=folds, tol=1e-9).fit(X, y)
    results = model.cv_results_
    for place in (2, len(results["n_features"]) - 1):
        losses = []
        for train, test in folds:
            share = len(train) / len(y)
            penalty = results["param_regularization"][place] * share
            own = kind(regularization=penalty, relaxed=False, tol=1e-9)
            logs = own.fit(X[train], y[train]).predict_log_proba(X[test])
            losses.append(-logs[np.arange(len(test)), y[test]])
        # Two optimisations, each to a billionth of the loss without features.
        expected = -np.concatenate(losses).mean()
        assert results["mean_test_score"][place] == pytest.approx(expected, abs=1e-5)


def test_one_error_is_that_of_the_difference_to_the_best():
    X, y = counts_of_words(seed=3)
    best = SelectiveMultinomialNB(k="cv", relaxed=False).fit(X, y)
    fewer = SelectiveMultinomialNB(k="1se", relaxed=False).fit(X, y)
    results = best.cv_results_
    scores, errors = results["mean_test_score"], results["error_to_best"]
    top = int(np.argmax(scores))
    assert errors[top] == 0.0
    assert best.lambda_ == best.lambda_best_ == results["param_regularization"][top]
    within = np.flatnonzero(scores[top] - scores <= errors)
    assert fewer.lambda_ == results["param_regularization"][within[0]]
    assert fewer.lambda_ == best.lambda_1se_ >= best.lambda_best_
    assert fewer.k_ <= best.k_
    # Rows are compared with themselves: sharper than the spread of their losses.
    assert errors.max() < np.std(scores) + 1.0


def test_noise_keeps_hardly_a_feature():
    rng = np.random.default_rng(1)
    X, y = sparse.csr_array(rng.poisson(1.0, (300, 200))), rng.integers(2, size=300)
    assert SelectiveMultinomialNB(k="1se", relaxed=False).fit(X, y).k_ <= 3


def test_texts_choose_as_their_matrix_does():
    messages, labels = load_sms_spam(return_X_y=True)
    messages, labels = messages[:1500], np.asarray(labels[:1500])
    model = SparseTextNB("1se", weights=True).fit(messages, labels)
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(messages)
    splits = prediction_splits(np.unique(labels, return_inverse=True)[1], X.nnz)
    other = SelectiveMultinomialNB(k="1se", relaxed=False, cv=splits).fit(X, labels)
    names = vectorizer.get_feature_names_out()[other.support_indices_]
    assert model.support_terms_ == names.tolist()
    assert model.lambda_ == pytest.approx(other.lambda_)
    np.testing.assert_allclose(
        model.predict_proba(messages), other.predict_proba(X), rtol=1e-6, atol=1e-9
    )


def test_texts_take_a_penalty():
    messages, labels = load_sms_spam(return_X_y=True)
    messages, labels = messages[:800], labels[:800]
    model = SparseTextNB("1se", weights=True).fit(messages, labels)
    same = SparseTextNB(weights=True, regularization=model.lambda_)
    assert same.fit(messages, labels).support_terms_ == model.support_terms_
    np.testing.assert_array_equal(same.weights_, model.weights_)


def test_saved_models_know_their_choice(tmp_path):
    messages, labels = load_sms_spam(return_X_y=True)
    model = SparseTextNB("1se", weights=True).fit(messages[:800], labels[:800])
    save_model(model, tmp_path / "spam.model")
    again = load_model(tmp_path / "spam.model")
    assert again.lambda_1se_ == model.lambda_1se_
    found = describe(again)
    assert found.sizes.one_se <= found.sizes.best
    np.testing.assert_array_equal(found.sizes.mean, describe(model).sizes.mean)
    model.set_params(k=20, weights=False).fit(messages[:800], labels[:800])
    assert not hasattr(model, "cv_results_")
    assert describe(model).sizes is None


def test_a_part_of_the_texts_chooses_beyond_the_memory():
    messages, labels = load_sms_spam(return_X_y=True)
    whole = SparseTextNB("1se", weights=True).fit(messages, labels)
    some = SparseTextNB("1se", weights=True, memory_budget=900_000)
    some.fit(messages, labels)
    assert some.lambda_ != whole.lambda_
    # Half of the rows: the penalty is of the same size, and so is the model.
    assert 1 / 3 < some.lambda_ / whole.lambda_ < 3
    assert 1 / 3 < some.k_ / whole.k_ < 3


def test_sizes_by_prediction_need_weights():
    with pytest.raises(ValueError, match=r"weights=False. Got '1se'. Hint: weights="):
        SparseTextNB("1se").fit(["one two", "three"], [0, 1])
    with pytest.raises(ValueError, match=r"'regularization'.*weights=False. Got 0.5"):
        SparseTextNB(regularization=0.5).fit(["one two", "three"], [0, 1])
    with pytest.raises(ValueError, match=r"exact.*Got True with k='cv'"):
        SelectiveMultinomialNB(k="cv", exact=True).fit([[1, 0], [0, 1]], [0, 1])


@pytest.mark.parametrize("rows", [2, 3, 4, 7])
def test_few_texts_have_a_model_too(rows):
    texts = ["good film", "bad plot", "good plot", "bad film", "good", "bad", "so so"]
    model = SparseTextNB("1se", weights=True).fit(
        texts[:rows], [1, 0, 1, 0, 1, 0, 2][:rows]
    )
    assert model.predict_proba(texts).sum(axis=1) == pytest.approx(1.0)


def test_splits_for_prediction():
    codes = np.repeat([0, 1, 2], [30, 30, 3])
    assert len(prediction_splits(codes, 1e3)) == 5
    assert len(prediction_splits(codes, 1e9)) == 1
    assert len(prediction_splits(np.array([0, 0, 1]), 10)) == 2
    assert prediction_splits(np.array([0, 1, 2]), 10) == []
