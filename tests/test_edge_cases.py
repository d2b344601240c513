"""Odd but allowed inputs, and refusals in one sentence, across the estimators."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from bayesieve import (
    ClassCounts,
    L1Screener,
    NaiveFeatureSelector,
    SparseBernoulliNB,
    SparseBernoulliNBCV,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    solve_bernoulli,
    solve_multinomial,
    sparsity_path,
)
from bayesieve.exceptions import FewFeaturesWarning, GapWarning


@pytest.mark.parametrize(
    "estimator",
    [
        SparseMultinomialNB(k=2),
        SparseBernoulliNB(k=2, binarize=1.5),
        SparseGaussianNB(k=2),
        SparseCategoricalNB(k=2),
        SparseGaussianNB(k="all"),
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
def test_a_cell_stored_twice_is_one_value_at_prediction_too(estimator, make):
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (60, 4)).astype(float), rng.integers(2, size=60)
    estimator.fit(X, y)
    Q = np.array([[2.0, 1.0, 2.0, 0.0]])
    data = np.array([1.0, 1.0, 1.5, 0.5, 1.0])
    if make is sp.csr_array:
        twice = make((data, [0, 0, 2, 2, 1], [0, 5]), shape=(1, 4))
    else:  # column 0, column 1, column 2 twice each but column 1, all in row 0
        twice = make((data[[0, 1, 4, 2, 3]], [0] * 5, [0, 2, 3, 5, 5]), shape=(1, 4))
    assert twice.nnz == 5  # nothing was summed on the way
    before = twice.data.copy()
    np.testing.assert_allclose(
        estimator.predict_joint_log_proba(twice), estimator.predict_joint_log_proba(Q)
    )
    np.testing.assert_array_equal(twice.data, before)


def test_cells_stored_twice_in_a_small_type_do_not_overflow():
    X = sp.csr_array(
        (np.array([100, 100, 56], np.uint8), [0, 0, 0], [0, 3, 3]), shape=(2, 1)
    )
    for kind, expected in (("count", 256), ("binary", 1), ("moments", 256)):
        counts = ClassCounts.from_matrix(X, [0, 1], kind=kind)
        assert counts.feature_count[0, 0] == expected, kind
    codes = sp.csr_array(
        (np.array([100, 100, 100], np.int8), [0, 0, 0], [0, 3, 3]), shape=(2, 1)
    )
    assert ClassCounts.from_matrix(codes, [0, 1], kind="category").n_categories == [301]


def test_counts_too_large_to_add_up_are_refused():
    with pytest.raises(ValueError, match="too large"):
        solve_multinomial([[1e308, 1e308, 1], [1, 1e308, 1e308]], 2)


def test_one_class_is_refused_whatever_holds_it():
    counts = ClassCounts.from_matrix([[1, 2, 3]], ["a"])
    for solve in (solve_multinomial, sparsity_path):
        with pytest.raises(ValueError, match="two classes"):
            solve(counts, 2) if solve is solve_multinomial else solve(counts)
    presence = ClassCounts.from_matrix([[1, 0, 1]], ["a"], binary=True)
    with pytest.raises(ValueError, match="two classes"):
        solve_bernoulli(presence, 1)


def test_solutions_can_be_compared():
    assert solve_multinomial(np.eye(3), 2) == solve_multinomial(np.eye(3), 2)
    assert solve_multinomial(np.eye(3), 2) != solve_multinomial(np.eye(3), 3)
    X, y = np.eye(4, dtype=int), [0, 1, 0, 1]
    first, second = (SparseBernoulliNB(k=2).fit(X, y).certificate_ for _ in range(2))
    assert first == second


def test_a_threshold_does_not_change_between_chunks():
    X, y = np.array([[0, 1, 3], [3, 1, 0], [1, 1, 3]]), [0, 1, 0]
    model = SparseBernoulliNB(k=2).partial_fit(X, y, classes=[0, 1])
    model.set_params(binarize=2.0)
    with pytest.raises(ValueError, match=r"binarize=2\.0.*binarize=0\.0"):
        model.partial_fit(X, y)


def test_warnings_point_at_the_users_line():
    X, y = np.array([[1, 2], [3, 1]]), [0, 1]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        SparseMultinomialNB(k=5).fit(X, y)
        NaiveFeatureSelector(k=5).fit_transform(X, y)
        solve_multinomial(X, 5)
    assert [w.category for w in caught] == [FewFeaturesWarning] * 3
    assert {w.filename for w in caught} == {__file__}


def test_the_gap_warning_of_an_estimator_names_what_it_has():
    X = np.hstack([np.eye(20), np.eye(20)]) + 0.01 * np.arange(40)
    with pytest.warns(GapWarning, match="raise time_limit") as caught:
        SparseMultinomialNB(k=8, alpha=0.01, time_limit=0.2).fit(X, np.arange(20))
    assert "node_limit" not in str(caught[0].message)


def test_text_columns_are_named():
    frame = pd.DataFrame({"size": [1, 2, 3], "colour": ["red", "blue", "red"]})
    for estimator in (SparseGaussianNB(k=1), SparseMultinomialNB(k=2)):
        with pytest.raises(ValueError, match="'colour'"):
            estimator.fit(frame, [0, 1, 0])


def test_infinity_is_told_what_is_needed():
    with pytest.raises(ValueError, match="need finite values >= 0"):
        SparseMultinomialNB(k=2).fit([[1.0, np.inf], [2.0, 1.0]], [0, 1])


def test_absurd_category_codes_are_refused_before_memory_is():
    X = np.array([[2**31 - 2, 0], [0, 1]])
    with pytest.raises(ValueError, match=r"largest is 2147483646 in column 0"):
        SparseCategoricalNB(k=1).fit(X, [0, 1])


def test_saving_into_a_folder_that_is_not_there_names_the_path(tmp_path):
    counts = ClassCounts.from_matrix([[1, 2], [2, 1]], [0, 1])
    with pytest.raises(FileNotFoundError, match="nowhere") as caught:
        counts.save(tmp_path / "nowhere" / "counts.npz")
    assert ".tmp" not in str(caught.value)


@pytest.mark.parametrize("counts", [[["a", "b"], ["c", "d"]], [[1, 2], [3]]])
def test_tables_that_are_none_are_refused_in_one_sentence(counts):
    with pytest.raises(
        ValueError, match="solve_multinomial needs a ClassCounts or a t"
    ):
        solve_multinomial(counts, 2)


def test_sizes_beyond_the_columns_are_what_they_come_to():
    rng = np.random.default_rng(0)
    X, y = rng.poisson(1.0, (60, 6)), rng.integers(2, size=60)
    with pytest.warns(FewFeaturesWarning, match="k=99"):
        path = sparsity_path(ClassCounts.from_matrix(X, y), ks=[2, 99])
    assert path.k.tolist() == [2, 6]


def test_screeners_sum_cells_stored_twice_without_overflow():
    # 100 + 100 is 200 and above the threshold; as a byte it would be -56.
    data = np.array([100, 100, 1], np.int8)
    X = sp.csr_array((data, [0, 0, 1], [0, 2, 3]), shape=(2, 2))
    presence = L1Screener(criterion="cv", binarize=150.0)._presence(X)
    np.testing.assert_array_equal(presence.toarray(), [[1.0, 0.0], [0.0, 0.0]])
    np.testing.assert_array_equal(X.data, data)


def test_cross_validation_scores_cells_stored_twice_as_one():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=80)
    X = rng.poisson(0.5 + y[:, None] * (np.arange(6) < 3), (80, 6)).astype(float)
    once = sp.csr_array(X)
    halves = sp.csr_array(
        (np.repeat(once.data / 2, 2), np.repeat(once.indices, 2), 2 * once.indptr),
        shape=X.shape,
    )
    options = {"ks": [1, 3, 6], "alphas": [1.0], "binarize": 0.5}
    whole, split = (SparseBernoulliNBCV(**options).fit(m, y) for m in (once, halves))
    np.testing.assert_array_equal(
        whole.cv_results_["mean_test_score"], split.cv_results_["mean_test_score"]
    )


@pytest.mark.parametrize("estimator", [SparseMultinomialNB, SparseBernoulliNB])
def test_counts_of_no_rows_are_refused(estimator):
    counts = ClassCounts.from_matrix(
        [[1, 0], [0, 1]], [0, 1], binary=estimator is SparseBernoulliNB
    )
    with pytest.raises(ValueError, match="needs counts of at least one row"):
        estimator(k=2).fit_counts(counts - counts)
