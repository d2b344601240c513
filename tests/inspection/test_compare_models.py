"""Two models side by side, and what they predict for the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import accuracy_score, log_loss

from bayesieve import (
    L0Screener,
    SelectiveNB,
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseTextNB,
)
from bayesieve.inspection import compare_models
from bayesieve.inspection._compare_models import (
    FOREIGN,
    NO_LABEL,
    PredictionTally,
    class_codes,
)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = rng.poisson(0.4 + 0.5 * (np.arange(12) % 3 == y[:, None]))
    return X, np.array(["ash", "elm", "oak"])[y]


def test_features_settings_and_proof(rows):
    X, y = rows
    small = SparseMultinomialNB(k=4, alpha=0.5).fit(X, y)
    large = SparseMultinomialNB(k=7).fit(X, y)
    found = compare_models(small, large)
    assert found.settings == {"k": (4, 7), "alpha": (0.5, 1.0)}
    ours, theirs = (set(m.support_indices_.tolist()) for m in (small, large))
    for place, expected in (
        ("both", ours & theirs),
        ("first", ours - theirs),
        ("second", theirs - ours),
    ):
        assert {own.name for own in found.only(place)} == {f"x{j}" for j in expected}
    by_name = {own.name: own for own in found.features}
    for j, gain in zip(small.support_indices_, small.support_gains_, strict=True):
        assert by_name[f"x{j}"].scores[0] == gain
    # Ranked by the larger share of the gains of a model.
    shares = [
        max(
            0.0 if score is None else score / model.support_gains_.sum()
            for score, model in zip(own.scores, (small, large), strict=True)
        )
        for own in found.features
    ]
    assert shares == sorted(shares, reverse=True)
    first = found.models[0]
    assert (first.kind, first.n_selected, first.n_features) == (
        "SparseMultinomialNB",
        4,
        12,
    )
    assert first.certificate == small.certificate_
    assert first.sentence.startswith("Proven")
    assert found.predictions is None


def test_models_of_different_kinds(rows):
    X, y = rows
    found = compare_models(SelectiveNB().fit(X, y), SparseGaussianNB(3).fit(X, y))
    assert "time_limit" in found.settings
    assert "window" not in found.settings  # only one of them has it
    assert {own.place for own in found.features} <= {"both", "first", "second"}
    screener = L0Screener().fit(X > 0, y)
    assert compare_models(screener, screener).settings == {}


def test_scores_are_those_of_scikit_learn(rows):
    X, y = rows
    a, b = SparseMultinomialNB(k=3).fit(X, y), SparseBernoulliNB(k=8).fit(X, y)
    new, truth = X[::-1][:300], y[::-1][:300]
    found = compare_models(a, b, new, truth).predictions
    said = a.predict(new), b.predict(new)
    assert found.n_agree == (said[0] == said[1]).sum()
    for own, model, accuracy, loss in zip(
        said, (a, b), found.accuracy, found.log_loss, strict=True
    ):
        assert accuracy == accuracy_score(truth, own)
        assert loss == pytest.approx(log_loss(truth, model.predict_proba(new)))
    only = [(said[i] == truth) & (said[1 - i] != truth) for i in range(2)]
    assert found.n_only_right == (only[0].sum(), only[1].sum())
    low = min(found.n_only_right)
    total = sum(found.n_only_right)
    tail = 2 * stats.binom.cdf(low, total, 0.5)
    assert found.p_value == pytest.approx(min(1.0, tail))
    row, first, second, label = found.examples[0]
    assert (first, second) == (said[0][row], said[1][row])
    assert first != second
    assert label == truth[row]
    assert len(found.examples) == 5
    without = compare_models(a, b, new).predictions
    assert without.n_agree == found.n_agree
    assert np.isnan(without.p_value)
    assert without.examples[0][3] is None


def test_texts_that_only_one_model_has_a_class_for():
    texts = ["good film", "bad film", "odd film"] * 10
    three = SparseTextNB(k=3).fit(texts, ["pos", "neg", "odd"] * 10)
    two = SparseTextNB(k=2).fit(texts[:2] * 5, ["pos", "neg"] * 5)
    found = compare_models(three, two, texts, ["pos", "neg", "odd"] * 10).predictions
    assert found.n_labelled == 30
    assert found.n_right == (30, 20)
    assert found.n_only_right == (10, 0)
    assert found.n_agree == 20  # "odd" is no class of the second
    known = log_loss(
        ["pos", "neg"] * 10, two.predict_proba(texts[:2] * 10), labels=two.classes_
    )
    assert found.log_loss[1] == pytest.approx(known)


def test_labels_are_compared_as_they_are_written():
    codes = class_codes(
        [1, "1", 1.0, True, "2", None, "", float("nan"), "1.5"], CLASSES
    )
    assert codes.tolist() == [
        *(0, 0, 0, 0, 1),
        *(NO_LABEL, NO_LABEL, NO_LABEL, FOREIGN),
    ]


CLASSES = np.array([1, 2])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=1, max_size=40))
def test_batches_and_order_of_models(rows):
    first, second, labels = (np.array(own) for own in zip(*rows, strict=True))
    chances = [
        np.where(np.arange(2) == own[:, None], 0.8, 0.2) for own in (first, second)
    ]
    whole, parts, turned = (PredictionTally(CLASSES, CLASSES) for _ in range(3))
    truth = CLASSES[labels].tolist()
    whole.add(*chances, truth)
    turned.add(*chances[::-1], truth)
    for i in range(len(rows)):
        parts.add(chances[0][i : i + 1], chances[1][i : i + 1], truth[i : i + 1])
    a, b, c = whole.result(), parts.result(), turned.result()
    assert a.examples == b.examples
    assert a.n_only_right == b.n_only_right == c.n_only_right[::-1]
    assert a.p_value == b.p_value == pytest.approx(c.p_value)
    assert a.log_loss == pytest.approx(b.log_loss)
    differ = sum(a.n_only_right)
    assert a.n_agree + np.count_nonzero(first != second) == len(rows)
    assert (a.p_value == 1.0) or differ > 0
