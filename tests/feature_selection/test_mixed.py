"""Mixed tables: each column by its own gain and degrees of freedom, in one ranking."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.metrics import mutual_info_score

from bayesieve import L0Screener, MixedScreener
from bayesieve.exceptions import FewFeaturesWarning, SmallWeightsWarning


def table(n=600, seed=0):
    """Signal in a number, a category and a pattern of missing values; noise beside."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], size=n)
    shift = np.select([y == "a", y == "b"], [0.0, 1.0], 2.0)
    hidden = rng.normal(size=n)
    hidden[rng.random(n) < np.where(y == "c", 0.4, 0.05)] = np.nan
    frame = pd.DataFrame(
        {
            "height": rng.normal(size=n) + shift,
            "noise": rng.normal(size=n),
            "colour": np.where(rng.random(n) < 0.5, y, rng.choice(["a", "b", "c"], n)),
            "shape": rng.choice([f"s{i}" for i in range(12)], size=n),
            "hidden": hidden,
            "flag": rng.random(n) < np.where(y == "a", 0.7, 0.3),
            "coin": rng.integers(2, size=n),
        }
    )
    return frame, y


def test_bic_keeps_the_columns_with_signal_and_no_other():
    X, y = table()
    screener = MixedScreener().fit(X, y)
    assert screener.get_feature_names_out().tolist() == [
        "height",
        "colour",
        "hidden",
        "flag",
    ]
    assert screener.kinds_.tolist() == [
        "continuous",
        "continuous",
        "categorical",
        "categorical",
        "continuous",
        "categorical",
        "categorical",
    ]


def test_categorical_gain_is_n_times_the_mutual_information():
    X, y = table()
    screener = MixedScreener().fit(X, y)
    for j, name in ((2, "colour"), (3, "shape"), (5, "flag"), (6, "coin")):
        expected = len(y) * mutual_info_score(X[name], y)
        assert screener.gains_[j] == pytest.approx(expected, rel=1e-10, abs=1e-10)
    # (V - 1)(K - 1) parameters: 12 shapes and 3 classes give 11 * 2.
    assert screener.degrees_of_freedom_[3] == 22
    assert screener.degrees_of_freedom_[5] == 2


def test_continuous_gain_is_the_gain_of_the_gaussian_likelihood():
    X, y = table()
    screener = MixedScreener().fit(X, y)
    x = X["height"].to_numpy()
    pooled = norm.logpdf(x, x.mean(), x.std()).sum()
    by_class = sum(
        norm.logpdf(x[y == c], x[y == c].mean(), x[y == c].std()).sum() for c in "abc"
    )
    assert screener.gains_[0] == pytest.approx(by_class - pooled, rel=1e-7)
    assert screener.degrees_of_freedom_[0] == 4  # mean and variance, two more each


def test_being_missing_is_a_level_of_its_own():
    X, y = table()
    screener = MixedScreener().fit(X, y)
    hidden = X["hidden"]
    there = hidden.notna().to_numpy()
    only_there = MixedScreener().fit(X.loc[there, ["hidden"]], y[there])
    missing = len(y) * mutual_info_score(there, y)
    assert screener.gains_[4] == pytest.approx(only_there.gains_[0] + missing, rel=1e-9)
    assert screener.degrees_of_freedom_[4] == 6
    # A categorical column with None has one level more.
    words = X[["colour"]].astype(object).copy()
    words.iloc[::3] = None
    fitted = MixedScreener().fit(words, y)
    assert len(fitted.levels_[0]) == 4
    labels = words["colour"].fillna("none")
    expected = len(y) * mutual_info_score(labels, y)
    assert fitted.gains_[0] == pytest.approx(expected, rel=1e-10)


def test_the_choice_is_the_least_bic_of_all_subsets():
    X, y = table(n=200, seed=3)
    screener = MixedScreener().fit(X, y)
    log_n = np.log(200)

    def bic(subset):
        return sum(
            -2 * screener.gains_[j] + screener.degrees_of_freedom_[j] * log_n
            for j in subset
        )

    subsets = [
        [j for j in range(7) if mask >> j & 1] for mask in range(1, 2**7)
    ]  # at least one column
    assert min(subsets, key=bic) == screener.support_indices_.tolist()


def test_k_takes_those_that_lower_bic_most():
    X, y = table()
    screener = MixedScreener(k=2).fit(X, y)
    order = np.argsort(-screener.scores_)[:2]
    assert screener.support_indices_.tolist() == sorted(order.tolist())


def test_frames_of_either_library_and_arrays_give_the_same():
    X, y = table()
    expected = MixedScreener().fit(X, y)
    polars = MixedScreener().fit(pl.from_pandas(X), y)
    array = MixedScreener().fit(X.astype(object).to_numpy(), y)
    nullable = MixedScreener().fit(X.convert_dtypes(), y)
    category = X.assign(colour=X["colour"].astype("category"))
    for other in (polars, array, nullable, MixedScreener().fit(category, y)):
        np.testing.assert_allclose(other.gains_, expected.gains_, rtol=1e-12)
        np.testing.assert_array_equal(other.support_, expected.support_)


def test_chunks_equal_the_whole_and_weights_equal_repetition():
    X, y = table()
    whole = MixedScreener().fit(X, y)
    chunked = MixedScreener()
    for part in np.array_split(np.arange(len(y)), [7, 200, 201, 450]):
        chunked.partial_fit(X.iloc[part], y[part], classes=["a", "b", "c"])
    np.testing.assert_allclose(chunked.gains_, whole.gains_, rtol=1e-11)
    np.testing.assert_array_equal(chunked.support_, whole.support_)
    twice = MixedScreener().fit(pd.concat([X, X]), np.concatenate([y, y]))
    weighted = MixedScreener().fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_allclose(weighted.gains_, twice.gains_, rtol=1e-12)
    again = pickle.loads(pickle.dumps(chunked)).partial_fit(X, y)
    np.testing.assert_allclose(again.gains_, twice.gains_, rtol=1e-11)


def test_a_column_that_never_varies_is_not_kept():
    X = pd.DataFrame({"same": ["x"] * 40, "nothing": [np.nan] * 40, "one": [1.0] * 40})
    y = np.arange(40) % 2
    screener = MixedScreener().fit(X, y)
    assert screener.k_ == 0
    with pytest.warns(FewFeaturesWarning, match="only 0 vary"):
        assert MixedScreener(k=2).fit(X, y).k_ == 0


def test_kinds_can_be_given():
    X = pd.DataFrame({"code": np.arange(90) % 3, "x": np.linspace(0, 1, 90)})
    y = np.arange(90) % 3
    screener = MixedScreener(kinds=["categorical", "continuous"]).fit(X, y)
    # Code is the class itself: n log 3.
    assert screener.gains_[0] == pytest.approx(90 * np.log(3))
    with pytest.raises(ValueError, match="'kinds' parameter of MixedScreener"):
        MixedScreener(kinds=["categorical"]).fit(X, y)
    with pytest.raises(ValueError, match=r"feature 'word' \(column 0\).*must hold num"):
        MixedScreener(kinds=["continuous"]).fit(
            pd.DataFrame({"word": ["a", "b"]}), [0, 1]
        )


def test_bad_input_is_named():
    X, y = table(n=50)
    with pytest.raises(TypeError, match="Got a sparse matrix"):
        MixedScreener().fit(sparse.eye_array(50), y)
    with pytest.raises(ValueError, match="at least two classes"):
        MixedScreener().fit(X, np.zeros(50))
    with pytest.raises(ValueError, match="50 sample"):
        MixedScreener().fit(X, y[:-1])
    infinite = X.assign(height=np.inf)
    with pytest.raises(ValueError, match=r"feature 'height' \(column 0\).*finite"):
        MixedScreener().fit(infinite, y)
    fitted = MixedScreener().partial_fit(X, y)
    with pytest.raises(ValueError, match="is not one of the classes"):
        fitted.partial_fit(X, np.full(50, "z"))


def test_a_class_with_one_value_does_not_pay_for_noise():
    rng = np.random.default_rng(0)
    y = np.array([2] + [0, 1] * 24 + [0])  # one row of class 2
    assert MixedScreener().fit(rng.normal(size=(50, 5)), y).k_ == 1  # at least one
    zeros = np.where(rng.random((200, 20)) < 0.9, 0, 2.5)  # mostly zero, no signal
    rare = np.array([1] * 5 + [0] * 195)
    assert MixedScreener().fit(zeros, rare).k_ == 1
    # Classes that are constant and different are told apart all the same.
    apart = np.column_stack([np.arange(60) % 3 + 1.0, rng.normal(size=60)])
    assert MixedScreener().fit(apart, np.arange(60) % 3).support_.tolist() == [
        True,
        False,
    ]


def test_weights_that_add_up_to_one_are_noticed():
    X, y = table(n=100)
    with pytest.warns(SmallWeightsWarning, match="adds up to 1 over 100 rows"):
        MixedScreener().fit(X, y, sample_weight=np.full(100, 0.01))
    flags = X[["flag"]].astype(int)
    with pytest.warns(SmallWeightsWarning, match="scale the weights"):
        L0Screener().fit(flags, y, sample_weight=np.full(100, 0.01))


def test_more_columns_than_vary_and_labels_that_are_none():
    X, y = table(n=50)
    with pytest.warns(FewFeaturesWarning, match="k=9"):
        assert MixedScreener(k=9).fit(X, y).k_ == 7
    with pytest.raises(ValueError, match="continuous"):
        MixedScreener().fit(X, np.linspace(0, 1, 50))


def test_a_constant_column_has_no_gain_under_weights():
    # However the weights round, equal means stay equal and squares stay zero.
    random = np.random.default_rng(0)
    for _ in range(10):
        X = np.column_stack([np.full(60, 1e3 * random.random()), random.random(60)])
        y, weights = random.integers(0, 2, 60), 3 * random.random(60)
        chosen = MixedScreener().fit(X, y, sample_weight=weights)
        assert chosen.gains_[0] == 0.0
        assert chosen.degrees_of_freedom_[0] == 0.0
