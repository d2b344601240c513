"""Rules in the estimators: names, groups, costs, cross-validation, reports."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import bayesieve
from bayesieve import (
    L0Screener,
    NaiveFeatureSelector,
    SparseBernoulliNB,
    SparseBernoulliNBCV,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
    SparseTextNB,
    sparsity_path,
)
from bayesieve.exceptions import GapWarning
from bayesieve.inspection import collect_report, render_report

NAMES = list("abcdefgh")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    rate = 1 + 3 * rng.random((2, 8))
    return pd.DataFrame(rng.poisson(rate[y]), columns=NAMES), y


CLASSIFIERS = [
    SparseMultinomialNB,
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseCategoricalNB,
    NaiveFeatureSelector,
]


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_names_numbers_and_masks_say_the_same(make, table):
    X, y = table
    mask = np.zeros(8, dtype=bool)
    mask[[0, 5]] = True
    ways = [["a", "f"], [0, 5], mask, np.array([5, 0]), ("f", "a")]
    supports = [
        make(k=4, include=way, exclude=["b"]).fit(X, y).support_indices_ for way in ways
    ]
    for support in supports:
        np.testing.assert_array_equal(support, supports[0])
    assert {0, 5} <= set(supports[0])
    assert 1 not in supports[0]


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_groups_are_taken_whole_or_in_part(make, table):
    X, y = table
    labels = ["x", "x", "y", "y", "z", "z", None, None]
    whole = make(k=2, groups=labels).fit(X, y)
    chosen = set(whole.support_indices_)
    for pair in ({0, 1}, {2, 3}, {4, 5}):
        assert not pair & chosen or pair <= chosen
    lists = make(k=2, groups=[["a", "b"], ["c", "d"], ["e", "f"]]).fit(X, y)
    named = make(k=2, groups={"x": [0, 1], "y": [2, 3], "z": [4, 5]}).fit(X, y)
    np.testing.assert_array_equal(lists.support_indices_, whole.support_indices_)
    np.testing.assert_array_equal(named.support_indices_, whole.support_indices_)
    part = make(k=4, groups=labels, max_per_group=1).fit(X, y)
    counts = np.bincount(np.array([0, 0, 1, 1, 2, 2, 3, 4])[part.support_indices_])
    assert counts.max() == 1
    assert part.certificate_.is_optimal


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_a_budget_is_kept_and_used(make, table):
    X, y = table
    cost = {"a": 3.0, "b": 2.0, "c": 1.0, "d": 5.0, "e": 1.0}
    model = make(k="all", feature_cost=cost, budget=4.0).fit(X, y)
    spent = sum(cost.get(NAMES[i], 0.0) for i in model.support_indices_)
    assert spent <= 4.0
    assert {5, 6, 7} <= set(model.support_indices_)  # they cost nothing
    assert model.certificate_.is_optimal


def test_all_without_the_excluded_is_naive_bayes_on_the_others(table):
    X, y = table
    model = SparseMultinomialNB(k="all", exclude=["a", "h"]).fit(X, y)
    other = SparseMultinomialNB(k="all").fit(X.drop(columns=["a", "h"]), y)
    np.testing.assert_allclose(
        model.predict_proba(X),
        other.predict_proba(X.drop(columns=["a", "h"])),
        rtol=1e-10,
    )


@pytest.mark.parametrize("make", [SparseMultinomialNBCV, SparseBernoulliNBCV])
def test_cross_validation_keeps_to_rules(make, table):
    X, y = table
    model = make(ks=[2, 3, 4], include=["h"], exclude=["a"], cv=3).fit(X, y)
    assert 7 in model.support_indices_
    assert 0 not in model.support_indices_
    groups = make(ks=[1, 2] if "Bern" in make.__name__ else [2, 3], cv=3)
    groups.set_params(groups=[0, 0, 1, 1, 2, 2, 3, 3]).fit(X, y)
    assert groups.support_indices_.shape[0] % 2 == 0


def test_cross_validated_scores_are_those_of_fits_on_the_folds(table):
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    X, y = table
    rules = {"groups": [0, 0, 1, 1, 2, 2, 3, 3], "max_per_group": 1}
    cv = StratifiedKFold(4)
    for many, one in (
        (SparseMultinomialNBCV, SparseMultinomialNB),
        (SparseBernoulliNBCV, SparseBernoulliNB),
    ):
        found = many(ks=[2, 3], alphas=[1.0], cv=cv, scoring="neg_log_loss", **rules)
        found.fit(X, y)
        for k, mean in zip([2, 3], found.cv_results_["mean_test_score"], strict=True):
            model = one(k=k, **rules)
            alone = cross_val_score(model, X, y, cv=cv, scoring="neg_log_loss")
            assert mean == pytest.approx(alone.mean(), rel=1e-9)


def test_texts_by_their_words():
    texts = ["good film", "bad film", "good plot", "bad plot", "fine film", "poor plot"]
    y = [1, 0, 1, 0, 1, 0]
    model = SparseTextNB(k=3, include=["plot"], exclude=["good"]).fit(texts, y)
    words = set(model.support_terms_)
    assert "plot" in words
    assert "good" not in words


@pytest.mark.parametrize(
    "way", [{"k": 3}, {"regularization": 0.01}, {"criterion": "bic"}]
)
def test_the_screener_keeps_to_rules(way, table):
    X, y = table
    model = L0Screener(include=["h"], exclude=["a"], binarize=2.0, **way).fit(X, y)
    assert 7 in model.support_indices_
    assert 0 not in model.support_indices_


@pytest.mark.parametrize("k", ["bic", "elbow", 0.5])
@pytest.mark.parametrize("make", [SparseMultinomialNB, SparseBernoulliNB])
def test_every_way_to_say_k_keeps_to_rules(k, make, table):
    X, y = table
    model = make(k=k, include=["h"], exclude=["a"]).fit(X, y)
    assert 7 in model.support_indices_
    assert 0 not in model.support_indices_


def test_a_path_keeps_to_rules(table):
    X, y = table
    counts = bayesieve.ClassCounts.from_matrix(X, y)
    path = sparsity_path(counts, [2, 3, 4], include=["h"], exclude=["a"])
    for k in (2, 3, 4):
        assert 7 in path.support(k)
        assert 0 not in path.support(k)
    binary = bayesieve.ClassCounts.from_matrix(X, y, binary=True)
    path = sparsity_path(
        binary, [1, 2, 3], model="bernoulli", groups=np.arange(8) // 2, max_per_group=1
    )
    assert np.bincount(path.support(3) // 2).max() == 1
    assert (np.diff(path.objective) >= 0).all()


def test_a_model_with_rules_is_cloned_saved_and_reported(table, tmp_path):
    X, y = table
    model = SparseMultinomialNB(
        k=3, include=["h"], exclude=[0], groups=list("aabbccdd"), max_per_group=1
    )
    model = clone(model).fit(X, y)
    bayesieve.save_model(model, tmp_path / "m.model")
    again = bayesieve.load_model(tmp_path / "m.model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.get_params() == model.get_params()


def test_sparse_columns_with_groups_and_partial_fit(table):
    from scipy import sparse

    X, y = table
    rules = {"groups": np.arange(8) // 2}
    dense = SparseMultinomialNB(k=2, **rules).fit(X.to_numpy(), y)
    other = SparseMultinomialNB(k=2, **rules).fit(sparse.csr_array(X.to_numpy()), y)
    np.testing.assert_array_equal(dense.support_indices_, other.support_indices_)
    parts = SparseMultinomialNB(k=2, **rules)
    parts.partial_fit(X.to_numpy()[:80], y[:80], classes=[0, 1])
    parts.partial_fit(X.to_numpy()[80:], y[80:])
    np.testing.assert_array_equal(dense.support_indices_, parts.support_indices_)


@pytest.mark.parametrize(
    ("rules", "told"),
    [
        ({"include": ["q"]}, "must hold names of columns. Got 'q'"),
        ({"include": ["aa"]}, "Hint: did you mean 'a'"),
        ({"include": [8]}, "numbers of columns from 0 to 7. Got 8"),
        ({"include": [1.5]}, "names or numbers of columns, or a mask. Got 1.5"),
        ({"exclude": [True, False]}, "one boolean for each of the 8 columns"),
        ({"include": [0, 1, 0, 0, 0, 0, 0, 0]}, "8 numbers that are 0 or 1"),
        ({"include": ["a"], "exclude": ["a"]}, "must not share a feature. Got 'a'"),
        ({"include": list("abcde")}, "at most k=4 features. Got 5"),
        ({"groups": [1, 2]}, "one label for each of the 8 columns. Got 2 labels"),
        ({"groups": [["a"], ["a"]]}, "each column in one group. Got 'a' in two"),
        ({"max_per_group": 2}, "needs 'groups'"),
        ({"groups": [0] * 8, "max_per_group": 0}, "must be an int >= 1"),
        (
            {"groups": [0] * 8, "max_per_group": 1, "include": ["a", "b"]},
            "at most max_per_group=1 features of one group. Got 2",
        ),
        ({"budget": 3}, "The 'budget' parameter .* needs 'feature_cost'"),
        ({"feature_cost": [1] * 8}, "The 'feature_cost' parameter .* needs 'budget'"),
        ({"feature_cost": [1] * 7, "budget": 2}, "for each of the 8 columns"),
        ({"feature_cost": [-1] * 8, "budget": 2}, "finite numbers >= 0. Got -1"),
        ({"feature_cost": ["x"] * 8, "budget": 2}, "finite numbers >= 0"),
        ({"feature_cost": [1] * 8, "budget": -2}, "finite number >= 0. Got -2"),
        (
            {"feature_cost": [5] * 8, "budget": 4, "include": ["a"]},
            "must pay for what is included. Got 4 for a cost of 5",
        ),
        (
            {"groups": list("aabbccdd"), "include": ["a"], "exclude": ["b"]},
            "must not share a group",
        ),
    ],
)
@pytest.mark.parametrize("make", [SparseMultinomialNB, SparseGaussianNB])
def test_rules_that_cannot_be_are_refused_in_one_sentence(make, rules, told, table):
    with pytest.raises(ValueError, match=told):
        make(k=4, **rules).fit(*table)


def test_weights_keep_to_no_rules(table):
    with pytest.raises(ValueError, match="must be False beside rules"):
        NaiveFeatureSelector(k=3, refine=True, include=["a"]).fit(*table)
    with pytest.raises(ValueError, match="must be False beside rules"):
        SparseTextNB(k=2, weights=True, include=["a"]).fit(["a b", "b c"], [0, 1])


@pytest.mark.parametrize("make", CLASSIFIERS)
def test_alternatives_of_a_model_lead_with_its_own_support(make, table):
    X, y = table
    model = make(k=3, keep_counts=True).fit(X, y)
    found = model.alternatives(within=0.5, limit=20)
    np.testing.assert_array_equal(found.supports[0], model.support_indices_)
    gain = model.certificate_.objective - model.certificate_.null_objective
    assert found.gains[0] == pytest.approx(gain)
    assert found.margins.shape == (8,)
    names = {found.name(i) for i in found.supports[0]}
    assert names <= set(NAMES)


def test_alternatives_keep_to_rules(table):
    X, y = table
    rules = {"include": ["h"], "exclude": ["a"]}
    model = SparseMultinomialNB(k=3, keep_counts=True, **rules).fit(X, y)
    found = model.alternatives(within=0.9)
    for support in found:
        assert 7 in support
        assert 0 not in support
    assert np.isnan(found.margins[[0, 7]]).all()
    groups = [0, 0, 1, 1, 2, 2, 3, 3]
    model = SparseMultinomialNB(k=2, keep_counts=True, groups=groups).fit(X, y)
    found = model.alternatives(within=0.99)
    assert len(found) == 6
    assert found.complete
    for support in found:
        assert set(support) == {
            i for j in set(support // 2) for i in (2 * j, 2 * j + 1)
        }
    assert (found.margins[::2] == found.margins[1::2]).all()


def test_alternatives_say_what_they_need(table):
    X, y = table
    with pytest.raises(ValueError, match="keep_counts=True"):
        SparseMultinomialNB(k=3).fit(X, y).alternatives()
    model = SparseMultinomialNB(
        k=3, keep_counts=True, feature_cost=[1] * 8, budget=3
    ).fit(X, y)
    with pytest.raises(ValueError, match="'max_per_group' or a 'budget'"):
        model.alternatives()
    selector = NaiveFeatureSelector(k=3, refine=True, keep_counts=True).fit(X, y)
    with pytest.raises(ValueError, match="that weights have chosen"):
        selector.alternatives()


def worth(rng, columns=8):
    """Two columns that tell, six that do not."""
    y = rng.integers(0, 2, 300)
    Z = rng.normal(size=(300, columns))
    Z[:, :2] += y[:, None]
    return (Z > 0.5).astype(int), y


@pytest.mark.parametrize(
    "rules",
    [
        {"exclude": [7]},
        {"include": [0]},
        {"groups": list(range(8))},
        {"groups": [0] * 4 + [1] * 4, "max_per_group": 4},
        {"feature_cost": [1] * 8, "budget": 100},
    ],
)
def test_bic_and_a_price_keep_their_meaning_beside_rules(rules):
    X, y = worth(np.random.default_rng(0))
    for make in (SparseBernoulliNB, SparseGaussianNB):
        free = make(k="bic").fit(X, y)
        ruled = make(k="bic", **rules).fit(X, y)
        np.testing.assert_array_equal(ruled.support_indices_, free.support_indices_)
        assert ruled.certificate_.is_optimal
    nothing = L0Screener(regularization=1.0, **rules).fit(X, y)
    assert set(nothing.support_indices_) <= {0}
    bic = L0Screener(**rules).fit(X, y)
    np.testing.assert_array_equal(
        bic.support_indices_, L0Screener().fit(X, y).support_indices_
    )


def test_a_certificate_of_bic_does_not_claim_the_largest_gain():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = np.c_[(rng.random(80) < 0.35 + 0.3 * y) * 1, rng.integers(0, 12, 80)]
    best = SparseCategoricalNB(k=1).fit(X, y)
    assert best.support_indices_.tolist() == [1]
    for rules in ({}, {"exclude": []}, {"feature_cost": [1, 1], "budget": 5}):
        model = SparseCategoricalNB(k="bic", **rules).fit(X, y)
        assert model.support_indices_.tolist() == [0]
        proof = model.certificate_
        assert not proof.is_optimal
        assert proof.upper_bound >= best.certificate_.objective


def test_bic_within_a_budget_tells_of_the_time():
    rng = np.random.default_rng(2)
    X = (rng.random((200, 60)) < 0.3).astype(float)
    y = rng.integers(0, 2, 200)
    told = (y == 1)[:, None] & (rng.random((200, 20)) < 0.3)
    X[:, :20] = np.where(told, 1, X[:, :20])
    cost = rng.integers(10**6, 10**7, 60)
    model = SparseBernoulliNB(
        k="bic", feature_cost=cost, budget=2 * 10**7, time_limit=1e-9
    )
    with pytest.warns(GapWarning, match="stopped at its limit"):
        model.fit(X, y)
    best = SparseBernoulliNB(k=5, feature_cost=cost, budget=2 * 10**7).fit(X, y)
    assert model.certificate_.upper_bound >= best.certificate_.objective
    assert not model.certificate_.is_optimal


def test_series_go_by_their_labels(table):
    X, y = table
    labels = pd.Series(dict(zip(NAMES, "xxyyzzuv", strict=True)))
    one = SparseMultinomialNB(k=2, groups=labels).fit(X, y)
    other = SparseMultinomialNB(k=2, groups=labels[::-1]).fit(X, y)
    np.testing.assert_array_equal(one.support_indices_, other.support_indices_)
    mask = pd.Series({name: name in "ah" for name in NAMES})
    one = SparseMultinomialNB(k=4, include=mask).fit(X, y)
    other = SparseMultinomialNB(k=4, include=mask[::-1]).fit(X, y)
    np.testing.assert_array_equal(one.support_indices_, other.support_indices_)
    with pytest.raises(ValueError, match="Got 'q'"):
        SparseMultinomialNB(k=2, groups=pd.Series({"q": 1})).fit(X, y)


def test_labels_of_groups_may_have_gaps_and_be_missing(table):
    X, y = table
    model = SparseMultinomialNB(k=0.5, groups=[0, 0, 1000, 1000, 500, 500, 9, 9])
    assert model.fit(X, y).support_indices_.shape[0] == 4
    labels = pd.array(["x", "x", None, None, "y", "y", None, "z"], dtype="string")
    model = SparseMultinomialNB(k=2, groups=labels).fit(X, y)
    assert model.certificate_.k == 2


def test_stability_selection_knows_names(table):
    X, y = table
    for rules in ({"include": ["c"]}, {"groups": {"x": ["a", "b"]}}):
        found = bayesieve.stability_selection(
            NaiveFeatureSelector(k=3, **rules), X, y, n_resamples=10, random_state=0
        )
        assert found.frequencies_.shape == (8,)
    assert found.frequencies_[0] == found.frequencies_[1]


def test_a_word_that_is_not_there_can_be_excluded():
    texts = ["good film", "bad film", "good plot", "bad plot"]
    model = SparseTextNB(k=2, exclude=["nosuch"])
    with pytest.warns(UserWarning, match="Got 'nosuch'. It is left aside"):
        model.fit(texts, [1, 0, 1, 0])
    with pytest.raises(ValueError, match="Got 'nosuch'"):
        SparseTextNB(k=2, include=["nosuch"]).fit(texts, [1, 0, 1, 0])


def test_one_column_alone_gains_nothing_in_a_group_as_well(table):
    X, y = table
    model = SparseMultinomialNB(k=1, groups=list(range(8))).fit(X, y)
    gain = model.certificate_.objective - model.certificate_.null_objective
    assert gain == pytest.approx(0.0, abs=1e-9)
    assert model.certificate_.is_optimal


def test_sentences_under_rules_speak_of_what_is_allowed(table):
    X, y = table
    model = SparseMultinomialNB(k=2, groups=[0, 0, 1, 1, 2, 2, 3, 3], keep_counts=True)
    report = collect_report(model.fit(X, y), data_name="x")
    told = "Proven: no other features that the rules allow explain the labels better."
    assert report.sentence == told
    assert "no others that the rules allow gain more" in report.detail
    assert "under the rules" in str(model.certificate_)
    page = render_report(report)
    assert "that the rules allow" in page.split("Is it the only good answer?")[1]
    assert (
        "<dt>k, counted as the rules do</dt><dd>2</dd>" in page
    )  # groups, not features
