"""What scored rows have that training rows had not, and when a share has shifted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.spatial.distance import jensenshannon
from sklearn.naive_bayes import GaussianNB

from bayesieve import (
    AveragedNB,
    SelectiveBernoulliNB,
    SelectiveMultinomialNB,
    SelectiveNB,
    SparseBernoulliNB,
    SparseGaussianNB,
    SparseMultinomialNB,
    SparseMultinomialNBCV,
    SparseTextNB,
    load_model,
    save_model,
)
from bayesieve.inspection import input_shift
from bayesieve.inspection._input_shift import InputWatch

pd = pytest.importorskip("pandas", reason="mixed tables need pandas")

LETTERS = np.array(list("abcdefgh"), dtype=object)


def mixed_rows(rng, n):
    """Numbers with and without ties and missing values, and categories."""
    y = rng.integers(2, size=n)
    frame = pd.DataFrame({f"n{j}": rng.normal(size=n) + 0.7 * y for j in range(3)})
    frame["tied"] = np.round(rng.lognormal(size=n) * (1 + y), 0)
    frame["noise"] = rng.normal(size=n)
    for j in range(2):
        tilt = np.where(y[:, None], np.arange(1, 9), np.arange(8, 0, -1)) / 36
        place = (rng.random(n)[:, None] > tilt.cumsum(axis=1)).sum(axis=1)
        frame[f"c{j}"] = LETTERS[np.minimum(place, 7)]
    frame.loc[rng.random(n) < 0.1, "n0"] = np.nan
    return frame, y


def counted_rows(rng, n, width=60):
    y = rng.integers(2, size=n)
    rate = 0.3 + 0.6 * (np.arange(width) < 8) * y[:, None]
    return rng.poisson(rate), y


@pytest.fixture(scope="module")
def table_model():
    X, y = mixed_rows(np.random.default_rng(1), 3000)
    return SelectiveNB().fit(X, y)


# -------------------------------------------------------------------------- the numbers


def test_divergence_and_p_value_are_those_of_scipy():
    # One column, two parts: the test of a part against the rest is Fisher's, by
    # likelihood instead of probability where those order outcomes alike.
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    model = SelectiveNB().fit(x[:, None], (x > 0.5).astype(int))
    [partition] = model.partitions_
    assert partition.n_parts == 2
    new = rng.normal(size=30) + 0.8
    [found] = input_shift(model, new[:, None]).columns
    trained = partition.counts.sum(axis=1)
    scored = np.bincount((new > partition.parts.bounds[0]).astype(int), minlength=2)
    shares = trained / trained.sum(), scored / scored.sum()
    # scipy gives the square root.
    assert found.divergence == pytest.approx(jensenshannon(*shares, base=2) ** 2)
    table = np.array([trained, scored]).astype(int)
    exact = stats.fisher_exact(table).pvalue
    assert found.p_value == pytest.approx(exact, rel=0.5)
    # By hand: outcomes with the same margins whose likelihood ratio is no smaller.
    law = stats.hypergeom(table.sum(), table[:, 0].sum(), 30)
    outcomes = np.arange(31)
    ratio = [
        stats.power_divergence(
            np.array([a, 30 - a, table[:, 0].sum() - a, table[:, 1].sum() - 30 + a]),
            np.outer([30, 400], table.sum(axis=0)).ravel() / 430,
            lambda_="log-likelihood",
        ).statistic
        for a in outcomes
    ]
    extreme = np.array(ratio) >= ratio[int(scored[0])] - 1e-9
    expected = law.pmf(outcomes[extreme]).sum()
    assert found.p_value == pytest.approx(expected, rel=1e-9)


def test_terms_are_compared_by_the_texts_that_have_them():
    texts = ["good film", "good plot", "bad film", "bad plot"] * 25
    model = SparseTextNB(k=2).fit(texts, [1, 1, 0, 0] * 25)
    found = input_shift(model, ["good good good film"] * 50 + ["a new word"] * 10)
    assert (found.n_rows, found.rows_without_features) == (60, 10)
    bad, good = found.columns
    assert (bad.name, good.name) == ("bad", "good")
    assert (bad.training_share, bad.scored_share) == (0.5, 0.0)
    assert good.scored_share == pytest.approx(50 / 60)  # a text counts once
    # Four terms in all, of which two were selected.
    assert good.adjusted_p_value == pytest.approx(min(1, 4 * good.p_value))
    assert bad.shifted
    assert good.shifted
    assert found.shifted == [bad, good]


def test_values_that_training_never_had():
    rng = np.random.default_rng(3)
    n = 600
    y = rng.integers(2, size=n)
    day = np.datetime64("2024-01-01") + rng.integers(0, 30, size=n) * (1 + 2 * y)
    frame = pd.DataFrame(
        {
            "age": np.clip(rng.normal(40 + 15 * y, 5), 20, 70),
            "day": day.astype("datetime64[ns]"),
            "town": np.where(rng.random(n) < 0.2 + 0.6 * y, "Oslo", "Rome"),
        }
    )
    model = SelectiveNB().fit(frame, y)
    low, high = float(frame["age"].min()), float(frame["age"].max())
    new = frame[:10].copy()
    new.loc[0, "age"], new.loc[1, "age"], new.loc[2, "age"] = 200.0, -500.0, np.nan
    new.loc[3, "day"] = np.datetime64("2030-05-01")
    new.loc[[4, 5], "town"] = ["Bern", None]
    age, moment, town = input_shift(model, new).columns
    assert (age.outside_rows, age.outside_example) == (2, -500.0)
    assert age.training_range == (low, high)
    assert (age.unseen_rows, age.unseen_example) == (1, None)  # none was missing
    assert (moment.outside_rows, moment.outside_example) == (1, "2030-05-01")
    assert moment.training_range[0] == "2024-01-01"
    assert (town.unseen_rows, town.unseen_example) == (2, "Bern")


def test_missing_values_are_a_part_of_their_own(table_model):
    rng = np.random.default_rng(5)
    new, _ = mixed_rows(rng, 300)
    new.loc[:200, "n0"] = np.nan
    [column] = [c for c in input_shift(table_model, new).columns if c.name == "n0"]
    assert column.shifted
    assert column.part == "missing"
    assert column.training_share == pytest.approx(0.1, abs=0.03)
    assert column.unseen_rows == 0  # training had some


# -------------------------------------------------------- calibration and power


@pytest.mark.parametrize("n", [20, 200, 20_000])
def test_rows_of_the_same_population_are_not_called_shifted(n):
    # The level is 1 % for all columns of a model together. Of 60 models more than 4
    # alarms would come by chance once in 1,500 times at that level; p-values
    # themselves, before the threshold on the divergence, hold it.
    rng = np.random.default_rng(n)
    X, y = mixed_rows(rng, 50_000)  # rows drawn from it again and again
    alarms = 0
    for _ in range(60):
        learnt = rng.integers(50_000, size=1000)
        model = SelectiveNB(optimizer="coordinate").fit(X.iloc[learnt], y[learnt])
        found = input_shift(model, X.iloc[rng.integers(50_000, size=n)])
        alarms += min(column.adjusted_p_value for column in found.columns) <= 0.01
    assert alarms <= 4


@pytest.mark.parametrize("n", [20, 200, 20_000])
def test_selected_features_of_the_same_population_are_not_called_shifted(n):
    # Most of the columns are noise, and those taken are the luckiest of them.
    rng = np.random.default_rng(n + 1)
    X, y = counted_rows(rng, 50_000, width=100)
    X = sparse.csr_array(X)
    alarms = 0
    for _ in range(60):
        learnt = rng.integers(50_000, size=300)
        model = SparseMultinomialNB(k=30).fit(X[learnt], y[learnt])
        found = input_shift(model, X[rng.integers(50_000, size=n)])
        alarms += min(column.adjusted_p_value for column in found.columns) <= 0.01
    assert alarms <= 4


@pytest.mark.parametrize(("n", "moved"), [(60, 1.5), (500, 0.5), (20_000, 0.4)])
def test_a_column_that_moved_is_named_alone(table_model, n, moved):
    new, _ = mixed_rows(np.random.default_rng(n), n)
    new["n1"] += moved
    found = input_shift(table_model, new)
    assert [column.name for column in found.shifted] == ["n1"]


def test_a_change_that_is_sure_but_small_is_not_called_a_shift(table_model):
    new, _ = mixed_rows(np.random.default_rng(2), 200_000)
    new["n1"] += 0.12
    [column] = [c for c in input_shift(table_model, new).columns if c.name == "n1"]
    assert column.p_value < 0.01
    assert column.divergence < 0.01
    assert not column.shifted


def test_a_column_without_a_weight_is_not_looked_at(table_model):
    new, _ = mixed_rows(np.random.default_rng(2), 100)
    new["noise"] = 1e9
    names = [column.name for column in input_shift(table_model, new).columns]
    assert "noise" not in names
    assert "n0" in names


# ------------------------------------------------------------------------------- models


@pytest.mark.parametrize(
    "model",
    [
        SparseMultinomialNB(8),
        SparseMultinomialNBCV(ks=[8], cv=2),
        SelectiveMultinomialNB(k=8),
        SparseBernoulliNB(8),
        SelectiveBernoulliNB(k=8),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csc_array])
def test_wide_models_know_the_rows_with_each_feature(model, form, tmp_path):
    X, y = counted_rows(np.random.default_rng(0), 500)
    model.fit(form(X), y)
    expected = (X[:, model.support_indices_] > 0).sum(axis=0)
    assert model._frequency.tolist() == expected.tolist()
    save_model(model, tmp_path / "m")
    model = load_model(tmp_path / "m")
    new, _ = counted_rows(np.random.default_rng(1), 400)
    assert not input_shift(model, form(new)).shifted
    first = model.support_indices_[0]
    new[:, first] = 3
    [found] = input_shift(model, form(new)).shifted
    assert (found.name, found.scored_share) == (f"x{first}", 1.0)


def test_of_a_large_matrix_some_rows_are_looked_at():
    X, y = counted_rows(np.random.default_rng(0), 40_000)
    y = np.arange(40_000) % 2  # classes that take turns
    X[:, 0] += 3 * y
    model = SparseMultinomialNB(4).fit(X, y)
    assert 5000 < model._frequency_rows < 10_000
    assert model.support_indices_[0] == 0
    share = model._frequency[0] / model._frequency_rows
    assert share == pytest.approx((X[:, 0] > 0).mean(), abs=0.03)


def test_counts_of_more_rows_than_any_list_has_room_for():
    X, y = counted_rows(np.random.default_rng(0), 500)
    model = SparseMultinomialNB(8).fit(X, y)
    share = model._frequency / model._frequency_rows
    model._frequency, model._frequency_rows = share * 1e15, 1e15
    new, _ = counted_rows(np.random.default_rng(1), 20)
    assert not input_shift(model, new).shifted
    last = input_shift(model, np.ones_like(new)).columns[-1]
    assert last.training_share == pytest.approx(share[-1])
    # A million rows of training say what the share is: a binomial test.
    expected = stats.binomtest(20, 20, share[-1]).pvalue
    assert last.p_value == pytest.approx(expected, rel=0.05)


def test_models_of_texts_from_files(tmp_path):
    texts = ["good film", "good plot", "bad film", "bad plot"] * 25
    model = SparseTextNB(k=2).fit(texts, [1, 1, 0, 0] * 25)
    save_model(model, tmp_path / "m")
    new = ["good"] * 40
    expected = input_shift(model, new)
    assert expected.shifted
    assert input_shift(load_model(tmp_path / "m"), new) == expected


def test_weights_of_rows_count_as_repeated_rows():
    X, y = counted_rows(np.random.default_rng(0), 200)
    weights = np.arange(200) % 3 + 1
    model = SparseMultinomialNB(8).fit(X, y, weights)
    again = SparseMultinomialNB(8).fit(X.repeat(weights, axis=0), y.repeat(weights))
    np.testing.assert_array_equal(model._frequency, again._frequency)
    assert model._frequency_rows == again._frequency_rows == weights.sum()


def test_what_is_not_known_is_not_tested():
    X, y = counted_rows(np.random.default_rng(0), 200)
    gaussian = input_shift(SparseGaussianNB(3).fit(X, y), X)
    assert not gaussian.tested
    assert gaussian.rows_without_features is None
    model = SparseMultinomialNB(3).partial_fit(X, y, classes=[0, 1])
    found = input_shift(model, X)
    assert (found.tested, found.shifted) == (False, [])
    assert np.isnan(found.columns[0].divergence)
    logs = np.log(np.random.default_rng(0).random((50, 2, 2)))
    ready = SelectiveNB(input="log_likelihood").fit(logs, np.arange(50) % 2)
    assert input_shift(ready, logs).columns == []
    with pytest.raises(TypeError, match="of bayesieve is needed"):
        input_shift(GaussianNB().fit(X, y), X)


def test_ranges_of_a_stream_and_of_saved_models(tmp_path):
    rng = np.random.default_rng(0)
    model = SelectiveNB()
    low, high = np.inf, -np.inf
    for _ in range(3):
        X = rng.normal(size=(300, 2))
        model.partial_fit(X, (X[:, 0] > 0).astype(int), classes=[0, 1])
        low, high = min(low, X[:, 0].min()), max(high, X[:, 0].max())
    save_model(model, tmp_path / "m")
    for own in (model, load_model(tmp_path / "m")):
        column = input_shift(own, np.array([[high + 1, 0.0], [low, 0.0]])).columns[0]
        assert column.training_range == (low, high)
        assert (column.outside_rows, column.outside_example) == (1, high + 1)


def test_a_model_from_before_ranges_were_kept(table_model):
    new, _ = mixed_rows(np.random.default_rng(0), 50)
    model = AveragedNB().fit(*mixed_rows(np.random.default_rng(0), 500))
    model._ranges = model._missing_rows = None
    new["n1"] = 1e6
    [column] = [c for c in input_shift(model, new).columns if c.name == "n1"]
    assert (column.outside_rows, column.training_range) == (0, None)
    assert column.shifted


def test_reviews_of_another_trade(real_data):
    frame = real_data("amazon_mds").sample(frac=1, random_state=0)
    books = frame[frame["domain"] == "books"]
    model = SparseTextNB(k=300).fit(books["text"][:1000], books["label"][:1000])
    assert not input_shift(model, books["text"][1000:]).shifted
    kitchen = frame[frame["domain"] == "kitchen"]["text"]
    shifted = input_shift(model, kitchen[:200]).shifted
    assert {"book", "books", "author"} & {column.name for column in shifted[:3]}


# --------------------------------------------------------------------------- properties


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), pieces=st.integers(1, 6))
def test_batches_give_what_all_rows_give(table_model, seed, pieces):
    rng = np.random.default_rng(seed)
    new, _ = mixed_rows(rng, int(rng.integers(1, 60)))
    new.loc[0, "c0"], new.loc[len(new) - 1, "n2"] = "never", 99.0
    whole = InputWatch(table_model)
    proba = whole.read(new)
    np.testing.assert_allclose(proba, table_model.predict_proba(new))
    parts = InputWatch(table_model)
    for part in np.array_split(np.arange(len(new)), pieces):
        if part.size:
            parts.read(new.iloc[part])
    assert parts.result().to_dict() == whole.result().to_dict()


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(table_model, seed):
    rng = np.random.default_rng(seed)
    new, _ = mixed_rows(rng, 40)
    mixed = new.sample(frac=1, random_state=seed % 1000)
    a, b = (input_shift(table_model, own).to_dict() for own in (new, mixed))
    assert a == b


def test_no_rows_at_all(table_model):
    found = InputWatch(table_model).result()
    assert found.n_rows == 0
    assert not found.shifted
    assert all(np.isnan(column.divergence) for column in found.columns)


def test_n_grams_beside_columns_are_tested_and_kept_in_files(tmp_path):
    rng = np.random.default_rng(0)

    def table(n, praise=0.4):
        y = rng.random(n) < 0.5
        filler = np.array(
            [
                "we",
                "saw",
                "it",
                "on",
                "a",
                "long",
                "day",
                "with",
                "the",
                "others",
                "there",
            ]
        )
        words = [
            " ".join([*rng.choice(filler, 6), *(["lovely"] if own else [])])
            for own in y & (rng.random(n) < 2 * praise)
        ]
        return pd.DataFrame({"note": words, "x": rng.normal(size=n) + y}), y

    X, y = table(1500)
    model = SelectiveNB(text_features=["note"]).fit(X, y)
    save_model(model, tmp_path / "m")
    for own in (model, load_model(tmp_path / "m")):
        assert input_shift(own, table(600)[0]).shifted == []
        [column] = input_shift(own, table(600, praise=0.05)[0]).shifted
        assert column.name == 'note: "lovely"'
    with_it = X["note"].str.contains("lovely").sum()
    assert model._texts[0].ngrams.documents.tolist() == [with_it]
