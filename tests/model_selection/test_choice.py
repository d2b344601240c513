"""One way to choose by held-out rows, against plain loops and scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from bayesieve.model_selection import HeldOutScorer, choose, cv_results, splits_of

# Few distinct scores, so that ties are common.
TABLES = st.tuples(
    st.integers(1, 3), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**32 - 1)
)


def chosen_by_hand(scores):
    """Look at every candidate in turn, from the sparsest on."""
    mean = {
        (a, s): float(np.mean(scores[a, s]))
        for s in range(scores.shape[1])
        for a in range(scores.shape[0])
    }
    best = max(mean, key=mean.get)  # the first of equals: sparsest, then first setting
    error = float(np.std(scores[best])) / np.sqrt(scores.shape[2])
    within = min(
        s for (a, s), m in mean.items() if a == best[0] and m >= mean[best] - error
    )
    return best[0], best[1], within, mean[best]


@given(TABLES)
def test_choice_is_that_of_a_plain_loop(drawn):
    *shape, seed = drawn
    scores = np.random.default_rng(seed).integers(0, 4, shape) / 4
    choice = choose(scores)
    expected = chosen_by_hand(scores)
    assert (choice.setting, choice.best, choice.within_error) == expected[:3]
    assert choice.score == pytest.approx(expected[3], rel=1e-15)
    assert choice.size("best") == choice.best
    assert choice.size("1se") == choice.within_error


def test_what_was_not_scored_does_not_count():
    scores = np.array([[[0.5, 0.9], [0.6, np.nan]]])
    assert choose(scores).best == 1  # by the first fold, the only whole one
    scores[0, 0, 0] = np.nan  # none is whole
    assert choose(scores).best == 1
    assert choose(np.full((1, 2, 2), np.nan)) is None


def test_layout_is_that_of_grid_search():
    X, y = make_classification(120, random_state=0)
    search = GridSearchCV(LogisticRegression(), {"C": [0.01, 0.1, 1.0]}, cv=4).fit(X, y)
    theirs = search.cv_results_
    scores = np.column_stack([theirs[f"split{i}_test_score"] for i in range(4)])
    ours = cv_results(theirs["params"], scores)
    assert set(theirs) - set(ours) == {
        *("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time"),
    }
    for name in ours:
        if name == "params":
            assert ours[name] == theirs[name]
        else:
            np.testing.assert_array_equal(ours[name], theirs[name].astype(float))


def test_an_int_means_stratified_folds_in_the_order_of_rows():
    codes = np.random.default_rng(0).integers(0, 3, 50)
    expected = StratifiedKFold(5).split(np.zeros(50), codes)
    for ours, theirs in zip(splits_of(5, codes), expected, strict=True):
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])


@pytest.mark.parametrize("scoring", [None, "accuracy", "neg_log_loss", "f1_macro"])
def test_scores_are_those_of_scikit_learn(scoring):
    X, y = make_classification(200, 6, n_informative=4, n_classes=3, random_state=0)
    labels = np.array(["x", "y", "z"])[y]
    model = LogisticRegression().fit(X, labels)
    joint = model.predict_log_proba(X) + 7.0
    ours = HeldOutScorer(scoring, model.classes_)(joint, y, X)
    theirs = get_scorer(scoring or "accuracy")(model, X, labels)
    assert ours == pytest.approx(theirs, rel=1e-12)
    sizes = np.stack([joint, -joint], axis=1)
    both = HeldOutScorer(scoring, model.classes_).by_size(sizes, y, X)
    assert both[0] == ours
    assert both[1] < ours


def test_log_loss_of_a_fold_that_lacks_a_class_is_finite():
    joint = np.array([[0.0, -np.inf], [0.0, -np.inf]])
    score = HeldOutScorer("neg_log_loss", np.array([0, 1]))
    assert np.isfinite(score(joint, np.array([0, 1])))
