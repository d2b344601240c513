"""Bad input ends in an error that says what, where, what is allowed, and what came."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

from bayesieve import (
    NaiveFeatureSelector,
    SelectiveMultinomialNB,
    SparseBernoulliNB,
    SparseBernoulliNBCV,
    SparseCategoricalNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
)
from bayesieve.exceptions import FewFeaturesWarning

COUNTING = [
    SparseMultinomialNB(3),
    NaiveFeatureSelector(3),
    SparseMultinomialNBCV([3], cv=2),
]
STRICT = [
    SparseBernoulliNB(3, binarize=None),
    NaiveFeatureSelector(3, model="bernoulli", binarize=None),
    SparseBernoulliNBCV([3], cv=2, binarize=None),
]
THRESHOLDED = [
    SparseBernoulliNB(3),
    NaiveFeatureSelector(3, model="bernoulli"),
    SparseBernoulliNBCV([3], cv=2),
]
GAUSSIAN = [SparseGaussianNB(3), NaiveFeatureSelector(3, model="gaussian")]
CATEGORICAL = [SparseCategoricalNB(3), NaiveFeatureSelector(3, model="categorical")]
ALL = COUNTING + STRICT + THRESHOLDED + GAUSSIAN + CATEGORICAL
CLASSIFIERS = [model for model in ALL if is_classifier(model)]
NAMES = ["alpha", "beta", "gamma", "delta", "price", "zeta"]
Y = np.tile([0, 1], 10)
# Zeros and ones, every column varies over the classes: valid for all four models.
X = np.random.default_rng(0).integers(2, size=(20, 6)).astype(float)
X[:, 4] = Y
X[:, 1] = 1 - Y
X[0, 1] = 0.0
X[1, 4] = 0.0
MAKERS = {
    "dense": np.asarray,
    "fortran": np.asfortranarray,
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "pandas": lambda values: pd.DataFrame(values, columns=NAMES),
    "polars": lambda values: pl.DataFrame(values, schema=NAMES),
}


def spoilt(value, row=7, column=4):
    values = X.copy()
    values[row, column] = value
    return values


def is_a_value(model, value, made):
    """What is missing among categories is a category; sparse entries are not."""
    dense = made not in ("csr", "csc", "coo")
    return np.isnan(value) and model in CATEGORICAL and dense


def place(made):
    """The offending column as a message names it: by name where there is one."""
    return (
        r"feature 'price' \(column 4\)" if made in ("pandas", "polars") else "column 4"
    )


@pytest.mark.parametrize("made", MAKERS)
@pytest.mark.parametrize("model", COUNTING)
def test_negative_counts(model, made):
    message = rf"Negative value -1\.5 found in {place(made)}.*values >= 0.*Hint"
    with pytest.raises(ValueError, match=message):
        clone(model).fit(MAKERS[made](spoilt(-1.5)), Y)


@pytest.mark.parametrize("made", MAKERS)
@pytest.mark.parametrize(
    ("value", "found"), [(np.nan, "NaN"), (np.inf, "[Ii]nf"), (-np.inf, "[Ii]nf")]
)
@pytest.mark.parametrize("model", ALL)
def test_nan_and_infinity(model, value, found, made):
    if is_a_value(model, value, made):
        assert clone(model).fit(MAKERS[made](spoilt(value)), Y).support_[4]
        return
    with pytest.raises(ValueError, match=rf"{found}.* found in {place(made)}.*need"):
        clone(model).fit(MAKERS[made](spoilt(value)), Y)


@pytest.mark.parametrize("made", MAKERS)
@pytest.mark.parametrize("value", [2.0, 0.5, -1.0])
@pytest.mark.parametrize("model", STRICT)
def test_values_other_than_zero_and_one_without_a_threshold(model, value, made):
    message = rf"Value {value} found in {place(made)}.*values 0 or 1.*threshold"
    with pytest.raises(ValueError, match=message):
        clone(model).fit(MAKERS[made](spoilt(value)), Y)


@pytest.mark.parametrize("made", MAKERS)
@pytest.mark.parametrize("value", [1.5, -2.0])
@pytest.mark.parametrize("model", CATEGORICAL)
def test_fractional_and_negative_category_codes(model, value, made):
    message = rf"alue {value} found in {place(made)}.*codes 0, 1, 2"
    with pytest.raises(ValueError, match=message):
        clone(model).fit(MAKERS[made](spoilt(value)), Y)


@pytest.mark.parametrize(
    ("made", "where"),
    [
        ("dense", "column 5, row 0"),  # rows come first in memory
        ("csr", "column 5, row 0"),
        ("csc", "column 2, row 9"),  # columns come first in memory
    ],
)
def test_the_first_offending_value_in_memory_is_named(made, where):
    values = spoilt(-3.0, row=0, column=5)
    values[9, 2] = -4.0
    with pytest.raises(ValueError, match=where):
        SparseMultinomialNB(2).fit(MAKERS[made](values), Y)


# ------------------------------------------------------------------ at prediction


@pytest.mark.parametrize("made", ["dense", "csr", "csc", "pandas"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("model", CLASSIFIERS)
def test_nan_and_infinity_at_prediction_name_the_column(model, value, made):
    fitted = clone(model).fit(MAKERS[made](X), Y)
    assert fitted.support_[4]  # the column that gives the class away
    if is_a_value(model, value, made):
        assert np.isfinite(fitted.predict_log_proba(MAKERS[made](spoilt(value)))).all()
        return
    with pytest.raises(ValueError, match=f"(NaN|[Ii]nf).*{place(made)}"):
        fitted.predict(MAKERS[made](spoilt(value)))


@pytest.mark.parametrize("made", ["dense", "csr", "csc", "pandas"])
@pytest.mark.parametrize("model", [m for m in STRICT if is_classifier(m)])
def test_values_other_than_zero_and_one_at_prediction(model, made):
    fitted = clone(model).fit(MAKERS[made](X), Y)
    assert fitted.support_[4]
    with pytest.raises(ValueError, match="0 and 1") as caught:
        fitted.predict(MAKERS[made](spoilt(2.0)))
    for part in (type(model).__name__, "2.0", "column 4"):
        assert part in str(caught.value)


@pytest.mark.parametrize("made", ["dense", "csr", "csc", "pandas"])
@pytest.mark.parametrize("model", [m for m in COUNTING if is_classifier(m)])
def test_negative_counts_at_prediction(model, made):
    fitted = clone(model).fit(MAKERS[made](X), Y)
    assert fitted.support_[4]
    with pytest.raises(ValueError, match=r"[Nn]egative.*-1\.5.*column 4"):
        fitted.predict(MAKERS[made](spoilt(-1.5)))


@pytest.mark.parametrize("made", ["dense", "csr", "csc", "pandas"])
@pytest.mark.parametrize("value", [1.5, -2.0])
def test_bad_category_codes_at_prediction(made, value):
    fitted = SparseCategoricalNB(3).fit(MAKERS[made](X), Y)
    with pytest.raises(ValueError, match=rf"codes 0, 1, 2.*{value} in .*column 4"):
        fitted.predict(MAKERS[made](spoilt(value)))


@pytest.mark.parametrize("made", ["dense", "csr", "csc", "pandas"])
def test_unseen_categories_at_prediction_are_ignored(made):
    fitted = SparseCategoricalNB("all").fit(MAKERS[made](X), Y)
    rows = X.copy()
    rows[:, 4] = 9
    without = SparseCategoricalNB("all").fit(np.delete(X, 4, axis=1), Y)
    np.testing.assert_allclose(
        fitted.predict_proba(MAKERS[made](rows)),
        without.predict_proba(np.delete(X, 4, axis=1)),
        rtol=1e-12,
    )
    everything = np.full_like(X, 7)
    np.testing.assert_allclose(
        fitted.predict_proba(MAKERS[made](everything)), 0.5, rtol=1e-12
    )


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_prediction_looks_at_selected_columns_only(model):
    fitted = clone(model).fit(X, Y)
    outside = np.flatnonzero(~fitted.support_)
    spoilt_rows = X.copy()
    spoilt_rows[:, outside] = np.nan
    np.testing.assert_array_equal(
        fitted.predict_proba(spoilt_rows), fitted.predict_proba(X)
    )


@pytest.mark.parametrize("model", ALL)
def test_another_number_of_columns_at_prediction(model):
    fitted = clone(model).fit(X, Y)
    call = fitted.predict if is_classifier(fitted) else fitted.transform
    with pytest.raises(ValueError, match=r"X has 5 features, but .* expecting 6"):
        call(X[:, :5])


@pytest.mark.parametrize("model", ALL)
def test_other_names_at_prediction(model):
    fitted = clone(model).fit(MAKERS["pandas"](X), Y)
    call = fitted.predict if is_classifier(fitted) else fitted.transform
    with pytest.raises(ValueError, match="stranger"):
        call(pd.DataFrame(X, columns=[*NAMES[:5], "stranger"]))


# ------------------------------------------------------------------ labels and rows


@pytest.mark.parametrize("model", ALL)
def test_one_class_only(model):
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"{name}.*two classes.*one class: 'spam'"):
        clone(model).fit(X, ["spam"] * 20)


@pytest.mark.parametrize("model", ALL)
def test_labels_of_the_wrong_length(model):
    with pytest.raises(ValueError, match=r"inconsistent numbers.*20.*19"):
        clone(model).fit(X, Y[:19])


@pytest.mark.parametrize("model", ALL)
def test_continuous_labels(model):
    with pytest.raises(ValueError, match=r"[Uu]nknown label type.*continuous"):
        clone(model).fit(X, np.linspace(0, 1, 20))


@pytest.mark.parametrize("bad", [np.nan, None])
@pytest.mark.parametrize("model", ALL)
def test_missing_labels(model, bad):
    labels = np.array(["no", "yes"] * 10, dtype=object)
    labels[3] = bad
    with pytest.raises(ValueError, match=r"NaN|None|missing"):
        clone(model).fit(X, labels)


@pytest.mark.parametrize("model", ALL)
def test_no_rows_and_no_columns(model):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        clone(model).fit(X[:0], Y[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        clone(model).fit(X[:, :0], Y)
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        clone(model).fit(sparse.csr_array((0, 6)), Y[:0])


@pytest.mark.parametrize("model", ALL)
def test_text_is_refused_with_the_offending_value(model):
    words = X.astype(object)
    words[2, 3] = "three"
    if model in CATEGORICAL:
        clone(model).fit(words, Y)
        return
    with pytest.raises(ValueError, match="three"):
        clone(model).fit(words, Y)


@pytest.mark.parametrize("model", ALL)
def test_negative_weights(model):
    weights = np.ones(20)
    weights[5] = -1
    with pytest.raises(ValueError, match=r"[Nn]egative values.*sample_weight"):
        clone(model).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("model", ALL)
def test_weights_that_are_no_numbers(model, bad):
    weights = np.ones(20)
    weights[5] = bad
    with pytest.raises(ValueError, match=r"sample_weight.*(NaN|infinity)"):
        clone(model).fit(X, Y, sample_weight=weights)


@pytest.mark.parametrize("model", ALL)
def test_weights_that_are_all_zero(model):
    with pytest.raises(ValueError, match=r"sample_weight|[Ss]ample weights"):
        clone(model).fit(X, Y, sample_weight=np.zeros(20))


@pytest.mark.parametrize("model", ALL)
def test_weights_of_the_wrong_length(model):
    with pytest.raises(ValueError, match=r"sample_weight.*(19|20)"):
        clone(model).fit(X, Y, sample_weight=np.ones(19))


@pytest.mark.parametrize(
    "model",
    [
        SparseBernoulliNB(3, binarize=-0.5),
        NaiveFeatureSelector(3, model="bernoulli", binarize=-0.5),
        SparseBernoulliNBCV([3], cv=2, binarize=-0.5),
    ],
)
def test_a_negative_threshold_on_sparse_input(model):
    clone(model).fit(X - 1.0, Y)  # dense input may have one
    for made in (sparse.csr_array, sparse.csc_array):
        # The user wrote binarize, so that is the name to show.
        message = r"'binarize' parameter.*>= 0 for sparse.*-0\.5"
        with pytest.raises(ValueError, match=message):
            clone(model).fit(made(X), Y)


@pytest.mark.parametrize(
    "model", [m for m in ALL if not isinstance(m, SparseGaussianNB)]
)
def test_rows_of_zeros_are_rows(model):
    values = X.copy()
    values[:4] = 0
    fitted = clone(model).fit(values, Y)
    sparse_fitted = clone(model).fit(sparse.csr_array(values), Y)
    np.testing.assert_array_equal(
        fitted.support_indices_, sparse_fitted.support_indices_
    )
    if is_classifier(fitted):
        np.testing.assert_array_equal(fitted.class_count_, [10, 10])
        assert np.isfinite(fitted.predict_proba(values)).all()


def test_a_row_of_zeros_gets_the_prior_from_the_multinomial_model():
    fitted = SparseMultinomialNB(3).fit(X[:17], Y[:17])
    np.testing.assert_allclose(
        fitted.predict_proba(np.zeros((1, 6)))[0], [9 / 17, 8 / 17], rtol=1e-12
    )


@pytest.mark.parametrize("made", ["dense", "csr", "csc"])
@pytest.mark.parametrize("model", ALL)
def test_a_matrix_of_zeros_selects_nothing_and_warns(model, made):
    empty = MAKERS[made](np.zeros((20, 6)))
    with pytest.warns(FewFeaturesWarning, match="k=3 features were asked for.*only 0"):
        fitted = clone(model).fit(empty, Y)
    assert fitted.k_ == 0
    assert not fitted.support_.any()
    assert fitted.certificate_.objective == fitted.certificate_.null_objective
    if is_classifier(fitted):
        np.testing.assert_allclose(fitted.predict_proba(empty), 0.5)
        assert fitted.predict(empty).tolist() == [0] * 20


@pytest.mark.parametrize("model", [SparseMultinomialNB(3), NaiveFeatureSelector(3)])
def test_a_matrix_of_zeros_without_smoothing(model):
    model = clone(model).set_params(alpha=0.0)
    with pytest.warns(FewFeaturesWarning):
        fitted = model.fit(np.zeros((20, 6)), Y)
    assert fitted.k_ == 0


@pytest.mark.parametrize("model", CLASSIFIERS)
def test_prediction_before_fit(model):
    with pytest.raises(NotFittedError, match=type(model).__name__):
        clone(model).predict(X)


# ------------------------------------------------------------------ parameters


@pytest.mark.parametrize(
    "k", [0, -3, 1.5, 1.0, 0.0, -0.5, "most", None, [3], np.nan, np.inf]
)
@pytest.mark.parametrize(
    "model", [m for m in ALL if "k" in m.get_params() and "CV" not in type(m).__name__]
)
def test_k_out_of_range_or_of_the_wrong_type(model, k):
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"'k' parameter of {name} must be") as caught:
        clone(model).set_params(k=k).fit(X, Y)
    message = str(caught.value)
    assert f"Got {k!r}" in message
    for allowed in ("all", "elbow", "bic"):
        assert allowed in message


@pytest.mark.parametrize("k", [True, False])
@pytest.mark.parametrize("model", [SparseMultinomialNB(), NaiveFeatureSelector()])
def test_k_is_no_truth_value(model, k):
    with pytest.raises(ValueError, match=f"'k' parameter.*Got {k}"):
        clone(model).set_params(k=k).fit(X, Y)


@pytest.mark.parametrize("model", [SparseMultinomialNB(1), NaiveFeatureSelector(1)])
def test_one_feature_under_the_multinomial_model(model):
    with pytest.raises(
        ValueError, match=r"k=1 has gain 0.*multinomial.*k >= 2"
    ) as caught:
        clone(model).fit(X, Y)
    assert type(model).__name__ in str(caught.value)


@pytest.mark.parametrize(
    "alpha", [-1.0, np.nan, np.inf, "much", [1.0, 2.0], [-1.0] * 6]
)
@pytest.mark.parametrize(
    "model", [SparseMultinomialNB(3), SparseBernoulliNB(3), NaiveFeatureSelector(3)]
)
def test_smoothing_out_of_range(model, alpha):
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"'alpha' parameter of {name} must be"):
        clone(model).set_params(alpha=alpha).fit(X, Y)


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf, [1.0, 2.0]])
@pytest.mark.parametrize("model", CATEGORICAL)
def test_smoothing_of_categories_out_of_range(model, alpha):
    name = type(model).__name__
    with pytest.raises(ValueError, match=f"'alpha' parameter of {name} must be"):
        clone(model).set_params(alpha=alpha).fit(X, Y)


@pytest.mark.parametrize(
    ("model", "parameter", "value"),
    [
        (NaiveFeatureSelector(), "model", "poisson"),
        (NaiveFeatureSelector(), "exact", "yes"),
        (NaiveFeatureSelector(), "time_limit", 0),
        (NaiveFeatureSelector(), "time_limit", -1.0),
        (NaiveFeatureSelector(), "keep_counts", 2),
        (NaiveFeatureSelector(), "binarize", 0.5),
        (SparseBernoulliNB(), "binarize", "half"),
        (SparseBernoulliNB(), "binarize", np.inf),
        (SparseGaussianNB(), "variance", "shared"),
        (SparseGaussianNB(), "var_smoothing", -1e-9),
        (SparseCategoricalNB(), "min_categories", 0),
        (SparseCategoricalNB(), "min_categories", [2, 2]),
        (SparseCategoricalNB(), "min_categories", 2.5),
        (SparseMultinomialNB(), "fit_prior", 3),
        (SparseMultinomialNB(), "class_prior", 0.5),
    ],
)
def test_other_parameters_are_named(model, parameter, value):
    with pytest.raises(ValueError, match=f"'{parameter}' parameter"):
        clone(model).set_params(**{parameter: value}).fit(X, Y)


@pytest.mark.parametrize(
    "model",
    [
        SparseMultinomialNB(k=4),
        SparseMultinomialNB(k="all"),
        SparseBernoulliNB(k=4),
        SelectiveMultinomialNB(k=4),
    ],
    ids=repr,
)
@pytest.mark.parametrize("index", [20, 2_000_000_000, -1])
def test_prediction_refuses_indices_outside_the_matrix(model, index):
    X = np.random.default_rng(1).poisson(1, (300, 20))
    model.fit(X, np.arange(300) % 3)
    wrong = sparse.csr_matrix(X)
    wrong.indices[::3] = index
    with pytest.raises(ValueError, match="malformed: an index is outside its shape"):
        model.predict(wrong)
