"""Evaluations against scikit-learn's metrics, and intervals against their coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from bayesieve.inspection._evaluation import (
    RowScores,
    costs_told,
    evaluation_of,
    wilson_interval,
)


def scores_of(n, n_classes, seed, sharp=1.5):
    rng = np.random.default_rng(seed)
    codes = rng.integers(n_classes, size=n)
    joint = rng.normal(size=(n, n_classes))
    joint[np.arange(n), codes] += sharp
    logs = joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))
    return logs, codes


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 5), st.integers(5, 60), st.integers(0, 1000))
def test_numbers_are_those_of_scikit_learn(n_classes, n, seed):
    logs, codes = scores_of(n, n_classes, seed)
    found = evaluation_of([RowScores.of(logs, codes)], list("abcde")[:n_classes])
    predicted = logs.argmax(axis=1)
    labels = np.arange(n_classes)
    matrix = metrics.confusion_matrix(codes, predicted, labels=labels)
    np.testing.assert_array_equal(found.confusion, matrix)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(codes, predicted))
    loss = metrics.log_loss(codes, np.exp(logs), labels=labels)
    assert found.log_loss == pytest.approx(loss)
    report = metrics.precision_recall_fscore_support(
        codes, predicted, labels=labels, zero_division=np.nan
    )
    for name, values in zip(("precision", "recall", "f1"), report, strict=False):
        for own, expected in zip(found.as_dict()["per_class"], values, strict=True):
            if np.isnan(expected):
                assert own[name] in (None, 0.0)
            else:
                assert own[name] == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(st.integers(10, 80), st.integers(0, 1000), st.booleans())
def test_curves_of_two_classes_are_those_of_scikit_learn(n, seed, ties):
    logs, codes = scores_of(n, 2, seed)
    if ties:
        logs = np.log(np.clip(np.round(np.exp(logs), 1), 0.05, 0.95))
        logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    if len(set(codes.tolist())) < 2:
        return
    found = evaluation_of([RowScores.of(logs, codes)], ["ham", "spam"])
    two = found.as_dict()["two_classes"]
    # The rarer class is the one to find, where it is clearly rarer.
    positive = 0 if (codes == 0).mean() < 0.4 else 1
    codes, chance = (codes == positive).astype(int), np.exp(logs[:, positive])
    assert two["label"] == ["ham", "spam"][positive]
    assert two["auc"] == pytest.approx(metrics.roc_auc_score(codes, chance))
    average = metrics.average_precision_score(codes, chance)
    assert two["average_precision"] == pytest.approx(average)
    alarms, hits, _ = metrics.roc_curve(codes, chance, drop_intermediate=False)
    np.testing.assert_allclose(two["roc"], np.column_stack([alarms, hits]), atol=1e-5)
    for own in two["thresholds"][::10]:
        flagged = chance >= own["threshold"]
        assert own["flagged"] == pytest.approx(flagged.mean())
        assert own["recall"] == pytest.approx(flagged[codes == 1].mean())


def test_costs_choose_the_threshold_of_least_expected_cost():
    logs, codes = scores_of(4000, 2, 1)
    found = evaluation_of(
        [RowScores.of(logs, codes)], ["ham", "spam"], error_cost={"spam": 4}
    )
    two = found.as_dict()["two_classes"]
    assert two["costs"] == [1.0, 4.0]
    assert two["chosen_threshold"] == pytest.approx(0.2)
    costs = {own["threshold"]: own["cost"] for own in two["thresholds"]}
    flagged = np.exp(logs[:, 1]) >= 0.2
    expected = (flagged & (codes == 0)).sum() + 4 * (~flagged & (codes == 1)).sum()
    assert costs[0.2] == pytest.approx(expected / 4000)
    with pytest.raises(ValueError, match=r"some of the classes 'ham', 'spam'. Got 'x'"):
        evaluation_of([RowScores.of(logs, codes)], ["ham", "spam"], error_cost={"x": 2})
    with pytest.raises(ValueError, match=r"above 0.*Got -1"):
        evaluation_of(
            [RowScores.of(logs, codes)], ["ham", "spam"], error_cost={"ham": -1}
        )


def test_batches_are_the_whole():
    logs, codes = scores_of(100, 3, 2)
    whole = evaluation_of([RowScores.of(logs, codes)], "abc").as_dict()
    parts = [
        RowScores.of(logs[i : i + 30], codes[i : i + 30]) for i in range(0, 100, 30)
    ]
    assert evaluation_of([RowScores.joined(parts)], "abc").as_dict() == whole


def test_many_classes_and_many_rows_stay_small():
    logs, codes = scores_of(3000, 60, 3)
    found = evaluation_of([RowScores.of(logs, codes)], range(60)).as_dict()
    assert len(found["confusion"]["names"]) == 40
    assert found["confusion"]["names"][-1] == "others"
    assert np.sum(found["confusion"]["counts"]) == 3000
    logs, codes = scores_of(50_000, 2, 4)
    found = evaluation_of([RowScores.of(logs, codes)], "ab").as_dict()
    assert max(map(len, (found["two_classes"][c] for c in ("roc", "lift")))) <= 201


def test_intervals_cover_the_truth():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        low, high = wilson_interval(int(rng.binomial(60, 0.9)), 60)
        covered += low <= 0.9 <= high
    # 95 % of 2,000 repeats, give or take three standard errors of discrete jumps.
    assert 0.93 <= covered / 2000 <= 0.98


@pytest.mark.parametrize(("sharp", "expected"), [(0.0, False), (1.5, True)])
def test_guessing_is_told_from_knowing(sharp, expected):
    found = 0
    for seed in range(40):
        logs, codes = scores_of(200, 2, seed, sharp)
        own = evaluation_of([RowScores.of(logs, codes)], "ab")
        found += own.beats_guessing == expected
    assert found >= 38


def test_splits_have_an_interval_wider_than_their_rows_would_give():
    parts = [RowScores.of(*scores_of(20, 2, seed)) for seed in range(10)]
    found = evaluation_of(parts, "ab", train_rows=60)
    naive = wilson_interval(round(found.accuracy * 200), 200)
    assert found.splits == 10
    assert found.interval[0] < naive[0] < found.accuracy < naive[1] < found.interval[1]


def test_an_impossible_class_costs_a_bounded_loss():
    logs = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    found = evaluation_of([RowScores.of(logs, np.array([1, 1]))], "ab")
    assert found.log_loss == 350.0
    with pytest.raises(ValueError, match="at least one row"):
        evaluation_of([RowScores.of(logs[:0], np.array([], dtype=int))], "ab")


def test_costs_of_many_classes_weigh_them():
    logs, codes = scores_of(3000, 4, 2)
    cost = {"a": 1.0, "b": 6.0, "c": 1.0, "d": 1.0}
    scores = RowScores.of(logs, codes)
    found = evaluation_of([scores], [*"abcd"], error_cost=cost).as_dict()["costs"]
    dear, proba = np.array([*cost.values()]), np.exp(logs)
    weighed, usual = np.argmax(proba * dear, axis=1), np.argmax(logs, axis=1)
    assert found["usual"] == pytest.approx((dear[codes] * (usual != codes)).mean())
    assert found["weighed"] == pytest.approx((dear[codes] * (weighed != codes)).mean())
    assert found["weighed"] < found["usual"]
    assert found["dearest"] == "b"
    assert found["recall"] == pytest.approx((weighed[codes == 1] == 1).mean())
    assert "in place of" in costs_told(found)
    assert "gains nothing" in costs_told(found | {"weighed": found["usual"]})


def test_rows_that_are_few_may_beat_guessing():
    codes = np.arange(40) % 2
    right = np.where(np.arange(40) % 5 < 3, 0.85, 0.25)  # 60 % are right
    logs = np.log(np.where(np.eye(2)[codes] > 0, right[:, None], 1 - right[:, None]))
    few = evaluation_of([RowScores.of(logs, codes)], ["a", "b"])
    assert few.may_beat_guessing
    assert not few.beats_guessing
    many = [RowScores.of(np.tile(logs, (20, 1)), np.tile(codes, 20))]
    assert evaluation_of(many, ["a", "b"]).beats_guessing
