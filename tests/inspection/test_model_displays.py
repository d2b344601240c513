"""Displays of paths, weights, discounts and calibration."""

from __future__ import annotations

import sys

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from sklearn.datasets import load_iris
from tests.inspection.reports import weighted_words

from bayesieve import (
    DiscountDisplay,
    FeatureWeightsDisplay,
    MODLEncoder,
    NaiveFeatureSelector,
    ReliabilityDisplay,
    SelectiveNB,
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
    SparsityPathDisplay,
    WeightPathDisplay,
    sparsity_path,
)
from bayesieve.inspection._plotting import spread_labels


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = rng.poisson(1.0, size=(300, 60))
    X[:, :4] += rng.poisson(3.0 * y[:, None], size=(300, 4))
    return X, np.array(["ham", "spam"])[y]


def tick_texts(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]


def legend(ax):
    return " ".join(text.get_text() for text in ax.get_legend().get_texts())


# --------------------------------------------------------------------- path over k


def test_path_of_an_estimator_is_that_of_its_counts(rows):
    model = SparseMultinomialNB(k=4, keep_counts=True).fit(*rows)
    display = SparsityPathDisplay.from_estimator(model)
    alone = sparsity_path(model.counts_, display.path.k)
    np.testing.assert_allclose(display.path.objective, alone.objective)
    gain = alone.objective - alone.null_objective
    drawn = [line.get_ydata() for line in display.ax_.lines]
    assert any(len(y) == len(gain) and np.allclose(y, gain) for y in drawn)
    assert f"elbow, k = {alone.elbow}" in legend(display.ax_)
    assert f"least BIC, k = {alone.bic}" in legend(display.ax_)
    assert "fitted, k = 4" in legend(display.ax_)
    assert len(display.axes_) == 1


def test_scores_of_a_cv_classifier_have_a_panel(rows):
    model = SparseMultinomialNBCV(ks=[2, 4, 8, 16], keep_counts=True).fit(*rows)
    display = SparsityPathDisplay.from_estimator(model)
    top, scores = display.axes_
    assert top is display.ax_
    assert f"best, k = {model.k_best_}" in legend(scores)
    assert f"one standard error, k = {model.k_1se_}" in legend(scores)
    at = model.cv_results_["param_alpha"] == model.alpha_
    means = model.cv_results_["mean_test_score"][at]
    np.testing.assert_allclose(scores.lines[0].get_ydata(), means)
    _, own = plt.subplots()
    assert SparsityPathDisplay.from_estimator(model, ax=own).axes_ == [own]


def test_without_counts_only_the_scores_are_drawn(rows):
    model = SparseMultinomialNBCV(ks=[2, 4, 8]).fit(*rows)
    display = SparsityPathDisplay.from_estimator(model)
    assert display.ax_.get_ylabel() == "cross-validated score"
    assert f"fitted, k = {model.k_}" in legend(display.ax_)
    with pytest.raises(ValueError, match="fit with keep_counts=True"):
        SparsityPathDisplay.from_estimator(SparseMultinomialNB(k=4).fit(*rows))


def test_an_open_gap_has_a_panel():
    hard = np.random.default_rng(0).random((6, 12)) ** 8
    path = sparsity_path(hard, exact=False)
    assert (path.gap > 0).any()
    display = SparsityPathDisplay.from_path(path)
    assert [ax.get_ylabel() for ax in display.axes_][1] == "gap (%)"
    with pytest.raises(TypeError, match="use from_estimator"):
        SparsityPathDisplay.from_path(hard)


def test_the_path_of_additive_models(rows):
    X, y = rows
    for model in (
        SparseGaussianNB(k=3, variance="pooled", keep_counts=True),
        SparseBernoulliNB(k=3, keep_counts=True),
        NaiveFeatureSelector(k=3, keep_counts=True),
    ):
        model.fit(X, y)
        display = SparsityPathDisplay.from_estimator(model)
        at = display.path.k.tolist().index(3)
        gain = display.path.objective[at] - display.path.null_objective
        certificate = model.certificate_
        expected = certificate.objective - certificate.null_objective
        assert gain == pytest.approx(expected, rel=1e-12)


# ------------------------------------------------------------------------- weights


def test_bars_of_two_classes(rows):
    model = SparseMultinomialNB(k=5).fit(*rows)
    display = FeatureWeightsDisplay.from_estimator(model)
    weights = dict(enumerate(model.coef_[0]))
    expected = sorted(model.support_indices_.tolist(), key=lambda j: -weights[j])
    assert tick_texts(display.ax_.yaxis) == [f"x{j}" for j in expected]
    lengths = [bars[0].get_width() for bars in display.ax_.containers]
    np.testing.assert_allclose(lengths, [weights[j] for j in expected])
    assert display.ax_.get_xlabel().startswith("← ham")
    hatched = [bars[0].get_hatch() is not None for bars in display.ax_.containers]
    assert hatched == [length < 0 for length in lengths]  # readable without colour


def test_no_more_than_forty_unless_asked(rows):
    model = SparseMultinomialNB(k=50).fit(*rows)
    display = FeatureWeightsDisplay.from_estimator(model)
    assert len(display.ax_.containers) == 40
    assert "10 more" in display.ax_.get_title(loc="left")
    display = FeatureWeightsDisplay.from_estimator(model, max_features=50)
    assert len(display.ax_.containers) == 50


def test_names_can_be_given_and_stay_text(rows):
    model = SparseMultinomialNB(k=5).fit(*rows)
    names = [f"$\\frac{{{j}$" for j in range(60)]
    display = FeatureWeightsDisplay.from_estimator(model, feature_names=names)
    display.figure_.canvas.draw()
    assert set(tick_texts(display.ax_.yaxis)) == {
        names[j] for j in model.support_indices_
    }
    with pytest.raises(ValueError, match="Got 2 names"):
        FeatureWeightsDisplay.from_estimator(model, feature_names=["a", "b"])


def test_a_map_for_more_classes():
    X, y = load_iris(return_X_y=True)
    model = SparseGaussianNB(k=3).fit(X, y)
    display = FeatureWeightsDisplay.from_estimator(model)
    (image,) = display.ax_.images
    assert image.get_array().shape == (3, 3)
    np.testing.assert_allclose(image.get_array().sum(axis=1), 0, atol=1e-9)
    assert tick_texts(display.ax_.xaxis) == ["0", "1", "2"]


def test_weights_and_levels_of_columns_have_no_sign():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = SelectiveNB().fit(X, y)
    display = FeatureWeightsDisplay.from_estimator(model)
    assert display.ax_.get_xlabel() == "weight"
    assert len(display.ax_.containers) == (model.weights_ > 0).sum()
    display = FeatureWeightsDisplay.from_estimator(MODLEncoder().fit(X, y))
    assert display.ax_.get_xlabel() == "level"


def test_infinite_weights_are_drawn_longest():
    X = np.array([[3, 0, 1], [4, 1, 0], [0, 3, 1]])
    model = SparseMultinomialNB(k=2, alpha=0.0).fit(X, [0, 0, 1])
    assert not np.isfinite(model.feature_log_prob_).all()
    display = FeatureWeightsDisplay.from_estimator(model)
    lengths = [bars[0].get_width() for bars in display.ax_.containers]
    assert np.isfinite(lengths).all()


def test_no_features_is_said():
    X = np.ones((6, 3))
    model = SparseBernoulliNB(k="all").fit(np.zeros((6, 2)), [0, 1] * 3)
    assert FeatureWeightsDisplay.from_estimator(model).ax_ is not None
    encoder = MODLEncoder().fit(X, [0, 1] * 3)
    with pytest.raises(ValueError, match="not selected any feature"):
        FeatureWeightsDisplay.from_estimator(encoder)


# ------------------------------------------------------- weights against the penalty


def test_weight_path():
    model, _, _ = weighted_words()
    display = WeightPathDisplay.from_estimator(model, max_features=10)
    assert len(display.ax_.texts) == 10
    low, high = display.ax_.get_xlim()
    assert low > high  # the penalty falls to the right
    assert display.ax_.get_xscale() == "log"
    columns = {name: j for j, name in enumerate(model.feature_names_in_)}
    table = model.path_.weights.toarray()
    entered = [np.flatnonzero(table[:, columns[name]])[0] for name in display.names]
    assert entered == sorted(entered)
    for line, name in zip(display.ax_.lines, display.names, strict=False):
        np.testing.assert_allclose(line.get_ydata(), table[:, columns[name]])
    assert "fitted, one standard error" in legend(display.ax_)


def test_weight_path_of_other_estimators(rows):
    with pytest.raises(TypeError, match="Got SparseMultinomialNB, which has no path_"):
        WeightPathDisplay.from_estimator(SparseMultinomialNB(k=3).fit(*rows))
    with pytest.raises(ValueError, match="every weight is zero"):
        WeightPathDisplay([1.0, 0.5], np.zeros((2, 1)), ["a"]).plot()
    with pytest.raises(ValueError, match="Got shape"):
        WeightPathDisplay([1.0], np.zeros((2, 1)), ["a"])


def test_labels_never_touch():
    rng = np.random.default_rng(0)
    for wanted in (np.zeros(9), np.ones(9), rng.random(9), np.linspace(0, 1, 9)):
        places = spread_labels(wanted, 0.1, 0.0, 1.0)
        assert np.diff(np.sort(places)).min() >= 0.1 - 1e-12
        assert places.min() >= 0
        assert places.max() <= 1 + 1e-12
        # Nobody overtakes.
        order = np.argsort(wanted, kind="stable")
        assert (np.diff(places[order]) > 0).all()
    np.testing.assert_allclose(
        spread_labels(np.array([0.2, 0.8]), 0.1, 0, 1), [0.2, 0.8]
    )


def test_discounts():
    model, _, _ = weighted_words()
    display = DiscountDisplay.from_estimator(model)
    points = display.ax_.lines[0]
    logs = model.feature_log_prob_
    np.testing.assert_allclose(points.get_xdata(), np.abs(logs[1] - logs[0]))
    np.testing.assert_allclose(
        points.get_ydata(), model.weights_[model.support_indices_]
    )
    boxes = [text.get_window_extent() for text in display.ax_.texts]
    assert 3 <= len(boxes) <= 15
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])
    with pytest.raises(TypeError, match="DiscountDisplay draws"):
        DiscountDisplay.from_estimator(MODLEncoder().fit(np.eye(4), [0, 0, 1, 1]))


# --------------------------------------------------------------------- calibration


def test_reliability():
    model, X, labels = weighted_words()
    display = ReliabilityDisplay.from_estimator(model, X, labels)
    found = display.calibration
    assert found.label == "spam"
    assert found.rows.sum() == X.shape[0]
    shown = {text.get_text() for text in display.ax_.texts}
    assert {f"{n:,}" for n in found.rows} <= shown
    assert f"log loss {found.log_loss:.3f}" in display.ax_.get_title(loc="left")
    other = ReliabilityDisplay.from_estimator(model, X, labels, pos_label="ham")
    assert other.calibration.log_loss == found.log_loss
    with pytest.raises(TypeError, match="no predict_proba"):
        ReliabilityDisplay.from_estimator(
            NaiveFeatureSelector(k=2).fit(X, labels), X, labels
        )


def test_displays_without_matplotlib(monkeypatch, rows):
    model = SparseMultinomialNBCV(ks=[2, 4], keep_counts=True).fit(*rows)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for display in (SparsityPathDisplay, FeatureWeightsDisplay):
        with pytest.raises(ImportError, match=r"pip install matplotlib"):
            display.from_estimator(model)
