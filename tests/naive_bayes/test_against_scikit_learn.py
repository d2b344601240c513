"""With ``k="all"`` the sparse classifiers are scikit-learn's, to 1e-10."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from bayesieve import (
    SparseBernoulliNB,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
)

FORMATS = {
    "dense": np.asarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "csr_matrix": sparse.csr_matrix,
}
N_CLASSES = [2, 3, 7]


def count_data(n_classes, seed=0, m=12):
    """Counts whose columns 3 and 8 are empty, and rows without any count."""
    rng = np.random.default_rng(seed)
    y = np.concatenate(
        [np.arange(n_classes), rng.integers(n_classes, size=60 + 5 * n_classes)]
    )
    rate = rng.gamma(0.5, 2.0, size=(n_classes, m))
    X = rng.poisson(rate[y])
    X[:, [3, 8]] = 0
    X[5] = 0
    labels = np.array([f"class {c}" for c in range(n_classes)])
    return X, labels[y], rng.random(y.size) * 3


def assert_same_logs(ours, theirs, n_rows):
    """Logarithms of quotients of sums over rows.

    A sum is off by at most its number of terms in units of rounding, and the logarithm
    turns that relative error into an absolute one, whatever its own size.
    """
    rounding = 4 * n_rows * np.finfo(np.float64).eps
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=rounding)


def assert_same_predictions(ours, theirs, X_ours, X_theirs):
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(X_ours),
        theirs.predict_joint_log_proba(X_theirs),
        rtol=1e-10,
        atol=1e-10,
    )
    np.testing.assert_allclose(
        ours.predict_proba(X_ours), theirs.predict_proba(X_theirs), atol=1e-10, rtol=0
    )
    np.testing.assert_allclose(
        ours.predict_log_proba(X_ours),
        theirs.predict_log_proba(X_theirs),
        rtol=1e-10,
        atol=1e-10,
    )
    np.testing.assert_array_equal(ours.predict(X_ours), theirs.predict(X_theirs))


@pytest.mark.parametrize("made", FORMATS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", N_CLASSES)
@pytest.mark.parametrize("alpha", [1.0, 0.01, "array"])
def test_multinomial(n_classes, weighted, made, alpha):
    X, y, w = count_data(n_classes)
    if alpha == "array":
        alpha = np.linspace(0.1, 3.0, X.shape[1])
    weights = w if weighted else None
    theirs = MultinomialNB(alpha=alpha).fit(X, y, weights)
    ours = SparseMultinomialNB("all", alpha=alpha).fit(FORMATS[made](X), y, weights)
    assert ours.k_ == X.shape[1]
    assert_same_logs(ours.feature_log_prob_, theirs.feature_log_prob_, y.size)
    np.testing.assert_allclose(ours.class_log_prior_, theirs.class_log_prior_)
    assert_same_predictions(ours, theirs, FORMATS[made](X), X)


@pytest.mark.parametrize("made", FORMATS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", N_CLASSES)
@pytest.mark.parametrize(("alpha", "binarize"), [(1.0, 0.0), (0.01, 1.0), (1.0, None)])
def test_bernoulli(n_classes, weighted, made, alpha, binarize):
    X, y, w = count_data(n_classes)
    if binarize is None:
        X = (X > 0).astype(np.int64)
    weights = w if weighted else None
    theirs = BernoulliNB(alpha=alpha, binarize=binarize).fit(X, y, weights)
    ours = SparseBernoulliNB("all", alpha=alpha, binarize=binarize)
    ours.fit(FORMATS[made](X), y, weights)
    assert_same_logs(ours.feature_log_prob_, theirs.feature_log_prob_, y.size)
    assert_same_predictions(ours, theirs, FORMATS[made](X), X)


@pytest.mark.parametrize("made", FORMATS)
@pytest.mark.parametrize("n_classes", N_CLASSES)
def test_bernoulli_with_a_smoothing_for_each_column(n_classes, made):
    # BernoulliNB takes an array alpha but fails on it; column by column it does not.
    X, y, w = count_data(n_classes)
    alpha = np.linspace(0.1, 3.0, X.shape[1])
    ours = SparseBernoulliNB("all", alpha=alpha).fit(FORMATS[made](X), y, w)
    joint = np.tile(ours.class_log_prior_, (X.shape[0], 1))
    for j in range(X.shape[1]):
        column = X[:, [j]]
        theirs = BernoulliNB(alpha=alpha[j]).fit(column, y, w)
        joint += theirs.predict_joint_log_proba(column) - theirs.class_log_prior_
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(FORMATS[made](X)), joint, rtol=1e-10
    )


def real_values(X):
    """Values of both signs, zeros among them, and units that differ over columns."""
    rng = np.random.default_rng(1)
    return X * rng.normal(0.3, 1.0, X.shape) * np.geomspace(0.1, 10, X.shape[1])


@pytest.mark.parametrize("made", FORMATS)
@pytest.mark.parametrize("n_classes", N_CLASSES)
@pytest.mark.parametrize("var_smoothing", [1e-9, 1e-3])
def test_gaussian(n_classes, made, var_smoothing):
    X, y, _ = count_data(n_classes)
    values = real_values(X)
    theirs = GaussianNB(var_smoothing=var_smoothing).fit(values, y)
    ours = SparseGaussianNB("all", var_smoothing=var_smoothing)
    ours.fit(FORMATS[made](values), y)
    np.testing.assert_allclose(ours.theta_, theirs.theta_, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-10)
    np.testing.assert_allclose(ours.epsilon_, theirs.epsilon_, rtol=1e-12)
    assert_same_predictions(ours, theirs, FORMATS[made](values), values)


@pytest.mark.parametrize("made", FORMATS)
@pytest.mark.parametrize("n_classes", N_CLASSES)
def test_gaussian_with_weights(n_classes, made):
    # GaussianNB smooths by the largest unweighted variance, so that weight 2 is not a
    # row twice. Ours is: compare on repeated rows, and without smoothing as they are.
    X, y, w = count_data(n_classes)
    values = real_values(X)
    times = np.ceil(w).astype(int)
    ours = SparseGaussianNB("all").fit(FORMATS[made](values), y, times)
    theirs = GaussianNB().fit(np.repeat(values, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-10)
    assert_same_predictions(ours, theirs, FORMATS[made](values), values)
    noisy = values + np.random.default_rng(2).normal(size=values.shape)
    ours = SparseGaussianNB("all", var_smoothing=0.0).fit(FORMATS[made](noisy), y, w)
    theirs = GaussianNB(var_smoothing=0.0).fit(noisy, y, w)
    assert_same_predictions(ours, theirs, FORMATS[made](noisy), noisy)


@pytest.mark.parametrize("made", FORMATS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", N_CLASSES)
@pytest.mark.parametrize(("alpha", "min_categories"), [(1.0, None), (0.1, 9)])
def test_categorical(n_classes, weighted, made, alpha, min_categories):
    X, y, w = count_data(n_classes)
    X = np.minimum(X, 4)
    weights = w if weighted else None
    theirs = CategoricalNB(alpha=alpha, min_categories=min_categories)
    theirs.fit(X, y, weights)
    ours = SparseCategoricalNB("all", alpha=alpha, min_categories=min_categories)
    ours.fit(FORMATS[made](X), y, weights)
    np.testing.assert_array_equal(ours.n_categories_, theirs.n_categories_)
    for one, other in zip(
        ours.feature_log_prob_, theirs.feature_log_prob_, strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)
    assert_same_predictions(ours, theirs, FORMATS[made](X), X)


def test_categorical_with_a_minimum_for_each_column():
    X, y, _ = count_data(3)
    X = np.minimum(X, 4)
    minimum = np.arange(X.shape[1]) % 7 + 1
    theirs = CategoricalNB(min_categories=minimum).fit(X, y)
    ours = SparseCategoricalNB("all", min_categories=minimum).fit(X, y)
    np.testing.assert_array_equal(ours.n_categories_, theirs.n_categories_)
    assert_same_predictions(ours, theirs, X, X)


PAIRS = [
    (SparseMultinomialNB, MultinomialNB, "class_prior"),
    (SparseBernoulliNB, BernoulliNB, "class_prior"),
    (SparseGaussianNB, GaussianNB, "priors"),
    (SparseCategoricalNB, CategoricalNB, "class_prior"),
]


@pytest.mark.parametrize(("ours", "theirs", "their_name"), PAIRS)
def test_given_class_prior(ours, theirs, their_name):
    X, y, _ = count_data(3)
    prior = [0.5, 0.125, 0.375]
    fitted = ours("all", class_prior=prior).fit(X, y)
    np.testing.assert_array_equal(fitted.class_log_prior_, np.log(prior))
    assert_same_predictions(fitted, theirs(**{their_name: prior}).fit(X, y), X, X)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(pair[0], pair[1]) for pair in PAIRS if pair[1] is not GaussianNB],
)
def test_uniform_prior(ours, theirs):
    X, y, _ = count_data(3)
    fitted = ours("all", fit_prior=False).fit(X, y)
    assert_same_predictions(fitted, theirs(fit_prior=False).fit(X, y), X, X)


def test_gaussian_uniform_prior():
    X, y, _ = count_data(3)
    fitted = SparseGaussianNB("all", fit_prior=False).fit(X, y)
    theirs = GaussianNB(priors=np.full(3, 1 / 3)).fit(X, y)
    assert_same_predictions(fitted, theirs, X, X)


@pytest.mark.parametrize(
    "prior",
    [[0.5, 0.5], [0.5, 0.5, 0.5, 0.5], [0.5, -0.25, 0.75], [np.nan, 0.5, 0.5], [[0.5]]],
)
@pytest.mark.parametrize("ours", [pair[0] for pair in PAIRS])
def test_class_prior_of_the_wrong_shape_or_sign(ours, prior):
    X, y, _ = count_data(3)
    message = f"'class_prior' parameter of {ours.__name__} must hold 3 numbers >= 0"
    with pytest.raises(ValueError, match=message):
        ours("all", class_prior=prior).fit(X, y)


@pytest.mark.parametrize(("ours", "theirs", "_"), PAIRS)
def test_selected_columns_alone_give_the_same_model(ours, theirs, _):
    # Outside the support every class has the same probability, so predictions are those
    # of scikit-learn on the selected columns alone. (Gaussian: without smoothing, which
    # scikit-learn would take from the selected columns only.)
    X, y, _ = count_data(3, seed=4)
    options = {}
    if ours is SparseGaussianNB:
        X = X + np.random.default_rng(5).normal(size=X.shape)
        options["var_smoothing"] = 0.0
    fitted = ours(4, **options).fit(X, y)
    assert fitted.k_ == 4
    part = X[:, fitted.support_indices_]
    plain = theirs(**options).fit(part, y)
    np.testing.assert_allclose(
        fitted.predict_proba(X), plain.predict_proba(part), atol=1e-10, rtol=0
    )
