"""Categories as they are: strings, booleans, categories and what is missing."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder

from bayesieve import NaiveFeatureSelector, SparseCategoricalNB, load_model, save_model
from bayesieve.counts import ClassCounts

N = 300


def words(seed=0):
    """Four columns of words; the first two tell of the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, N)
    colour = np.where(rng.random(N) < 0.7, np.array(["red", "blue"])[y], "green")
    size = np.where(rng.random(N) < 0.4, np.array(["s", "xl"])[y], "m")
    noise = rng.choice(["a", "b", "c", "d"], size=(N, 2))
    X = np.column_stack([colour, size, noise]).astype(object)
    return X, np.array(["no", "yes"])[y]


X, Y = words()
NAMES = ["colour", "size", "first", "second"]
MAKERS = {
    "objects": lambda values: values,
    "strings": lambda values: values.astype(str),
    "lists": lambda values: values.tolist(),
    "pandas": lambda values: pd.DataFrame(values, columns=NAMES),
    "pandas strings": lambda values: pd.DataFrame(values, columns=NAMES).astype(
        "string"
    ),
    "pandas categories": lambda values: pd.DataFrame(values, columns=NAMES).astype(
        "category"
    ),
    "polars": lambda values: pl.DataFrame(values.tolist(), schema=NAMES, orient="row"),
    "polars categories": lambda values: pl.DataFrame(
        values.tolist(), schema=NAMES, orient="row"
    ).cast(pl.Categorical),
}


def with_holes(values=X, seed=1):
    holes = np.random.default_rng(seed).random(values.shape) < 0.1
    return np.where(holes, None, values)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("made", MAKERS)
def test_the_same_as_encoded_categories(made):
    encoder = OrdinalEncoder().fit(X)
    theirs = CategoricalNB().fit(encoder.transform(X).astype(int), Y)
    ours = SparseCategoricalNB("all").fit(MAKERS[made](X), Y)
    close(
        ours.predict_proba(MAKERS[made](X)),
        theirs.predict_proba(encoder.transform(X).astype(int)),
    )
    assert [set(own) for own in ours.categories_] == [set(column) for column in X.T]
    np.testing.assert_array_equal(ours.n_categories_, theirs.n_categories_)
    few = SparseCategoricalNB(2).fit(MAKERS[made](X), Y)
    assert few.support_indices_.tolist() == [0, 1]


def test_the_values_name_the_probabilities():
    model = SparseCategoricalNB(1).fit(X, Y)
    (values,), (table,) = model.categories_, model.feature_log_prob_
    for value, column in zip(values, table.T, strict=True):
        for c, label in enumerate(["no", "yes"]):
            rows = X[label == Y, 0]
            share = ((rows == value).sum() + 1) / (rows.size + 3)
            assert column[c] == pytest.approx(np.log(share), rel=1e-12)


@pytest.mark.parametrize(
    "made",
    [
        "objects",
        "pandas",
        "pandas strings",
        "pandas categories",
        "polars",
        "polars categories",
    ],
)
def test_a_missing_value_is_a_value_of_its_own(made):
    holes = with_holes()
    filled = np.where(holes == np.array(None), "none", holes)
    ours = SparseCategoricalNB("all").fit(MAKERS[made](holes), Y)
    named = SparseCategoricalNB("all").fit(filled, Y)
    close(ours.predict_proba(MAKERS[made](holes)), named.predict_proba(filled))
    assert all(None in own for own in ours.categories_)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_all_that_is_missing_is_the_same(missing):
    holes = with_holes()
    model = SparseCategoricalNB("all").fit(holes, Y)
    other = np.empty_like(holes)
    for place, value in np.ndenumerate(holes):
        other[place] = missing if value is None else value
    close(model.predict_proba(other), model.predict_proba(holes))


@pytest.mark.parametrize("made", ["objects", "pandas", "polars"])
@pytest.mark.parametrize("value", ["violet", None])
def test_a_value_that_was_not_seen_says_nothing(made, value):
    model = SparseCategoricalNB("all").fit(MAKERS[made](X), Y)
    rows = X.copy()
    rows[:, 0] = value
    without = SparseCategoricalNB("all").fit(X[:, 1:], Y)
    close(model.predict_proba(MAKERS[made](rows)), without.predict_proba(X[:, 1:]))


def codes(seed=0):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, (N, 3))
    values[:, 0] += Y == "yes"
    values[values == 3] = 4  # a code that no row has still counts
    return values


def test_whole_numbers_are_codes_in_every_table():
    numbers = codes()
    plain = SparseCategoricalNB("all").fit(numbers, Y)
    same = {
        "pandas": pd.DataFrame(numbers, columns=list("abc")),
        "floats": pd.DataFrame(numbers, columns=list("abc")).astype(float),
        "nullable": pd.DataFrame(numbers, columns=list("abc")).astype("Int64"),
        "polars": pl.DataFrame(numbers, schema=list("abc")),
        "objects": numbers.astype(object),
    }
    for table in same.values():
        model = SparseCategoricalNB("all").fit(table, Y)
        np.testing.assert_array_equal(
            model.predict_joint_log_proba(table), plain.predict_joint_log_proba(numbers)
        )
        assert [own.tolist() for own in model.categories_] == [
            list(range(size)) for size in plain.n_categories_
        ]


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_codes_beside_words(frame):
    numbers = codes()
    table = frame({"code": numbers[:, 0], "word": X[:, 0].tolist()})
    model = SparseCategoricalNB("all").fit(table, Y)
    both = np.column_stack([numbers[:, 0], np.unique(X[:, 0], return_inverse=True)[1]])
    plain = SparseCategoricalNB("all").fit(both, Y)
    np.testing.assert_array_equal(model.n_categories_, plain.n_categories_)
    close(model.predict_proba(table), plain.predict_proba(both))


def test_booleans():
    yes = np.random.default_rng(0).random(N) < np.where(Y == "yes", 0.8, 0.3)
    plain = SparseCategoricalNB("all").fit(yes[:, None].astype(int), Y)
    expected = plain.predict_proba(yes[:, None].astype(int))
    for table in (
        yes[:, None],
        yes[:, None].astype(object),
        pd.DataFrame({"sure": yes}),
        pd.DataFrame({"sure": yes}, dtype="boolean"),
        pl.DataFrame({"sure": yes}),
    ):
        close(SparseCategoricalNB("all").fit(table, Y).predict_proba(table), expected)
    holes = pd.DataFrame({"sure": pd.array(yes, dtype="boolean")})
    holes.loc[::7, "sure"] = pd.NA
    words = [None if own is pd.NA else own for own in holes["sure"]]
    for table in (holes, pl.DataFrame({"sure": words})):
        model = SparseCategoricalNB("all").fit(table, Y)
        assert set(model.categories_[0]) == {True, False, None}
        assert np.isfinite(model.predict_log_proba(table)).all()


@pytest.mark.parametrize("kind", ["floats", "nullable", "polars", "objects"])
def test_numbers_of_which_some_are_missing(kind):
    numbers = codes()[:, :1].astype(object)
    numbers[::9] = None
    table = {
        "floats": lambda: pd.DataFrame(numbers, columns=["n"]).astype(float),
        "nullable": lambda: pd.DataFrame(numbers, columns=["n"]).astype("Int64"),
        "polars": lambda: pl.DataFrame({"n": numbers[:, 0].tolist()}),
        "objects": lambda: numbers,
    }[kind]()
    model = SparseCategoricalNB("all").fit(table, Y)
    assert set(model.categories_[0]) == {0, 1, 2, 4, 5, None}
    assert {type(v) for v in model.categories_[0]} == {int, type(None)}
    spelt = np.array([[str(v)] for v in numbers[:, 0]], dtype=object)
    close(
        model.predict_proba(table),
        SparseCategoricalNB("all").fit(spelt, Y).predict_proba(spelt),
    )


def test_a_missing_code_says_nothing_at_prediction():
    numbers = codes()
    model = SparseCategoricalNB("all").fit(pd.DataFrame(numbers), Y)
    holes = pd.DataFrame(numbers).astype(float)
    holes[0] = np.nan
    without = SparseCategoricalNB("all").fit(numbers[:, 1:], Y)
    close(model.predict_proba(holes), without.predict_proba(numbers[:, 1:]))


@pytest.mark.parametrize("k", ["all", 2])
def test_chunks_are_the_whole(k):
    holes = with_holes()
    whole = SparseCategoricalNB(k).fit(holes, Y)
    chunks = SparseCategoricalNB(k)
    for start in range(0, N, 50):
        rows = slice(start, start + 50)
        chunks.partial_fit(holes[rows], Y[rows], classes=["no", "yes"])
    close(chunks.predict_proba(holes), whole.predict_proba(holes))
    late = holes.copy()
    late[:3, 0] = "violet"
    chunks.partial_fit(late, Y)
    assert "violet" in chunks.categories_[0]
    again = SparseCategoricalNB(k, keep_counts=True).fit(holes, Y).partial_fit(late, Y)
    close(chunks.predict_proba(late), again.predict_proba(late))


def test_what_a_column_of_codes_must_hold():
    numbers = pd.DataFrame(codes(), columns=list("abc"))
    model = SparseCategoricalNB("all").partial_fit(numbers, Y, classes=["no", "yes"])
    holes = numbers.astype(float)
    holes.loc[3, "b"] = np.nan
    with pytest.raises(ValueError, match=r"^NaN found in feature 'b' \(column 1\); it"):
        model.partial_fit(holes, Y)
    word = numbers.astype({"c": object})
    word.loc[0, "c"] = "blue"
    with pytest.raises(ValueError, match=r"Got values such as .*blue"):
        model.partial_fit(word, Y)
    with pytest.raises(ValueError, match=r"Got values such as .*blue"):
        model.predict(word.assign(c="blue"))


def test_numbers_are_no_strings():
    # Not one value would be known, and the model would answer by the prior alone.
    digits = np.where(X == "red", "1", "2")
    message = r"^Column 0 held strings when fitted and must .* Got numbers such as [12]"
    model = SparseCategoricalNB("all", keep_counts=True).fit(digits[:, :1], Y)
    for table in (digits[:, :1].astype(int), pd.DataFrame(digits[:, :1]).astype(float)):
        with pytest.raises(ValueError, match=message):
            model.predict(np.asarray(table))
        with pytest.raises(ValueError, match=message):
            model.partial_fit(np.asarray(table), Y)
    assert model.predict(np.array([[None]])).tolist()[0] in ("no", "yes")
    mixed = np.array([["1", 2, None]] * 100, dtype=object).reshape(-1, 1)
    model.fit(mixed, Y)
    np.testing.assert_array_equal(model.predict(mixed[:3]), model.predict(mixed)[:3])


@pytest.mark.parametrize("value", [0.5, -1.0, np.inf])
def test_measurements_are_no_categories(value):
    table = pd.DataFrame({"word": X[:, 0], "n": codes()[:, 0].astype(float)})
    table.loc[4, "n"] = value
    with pytest.raises(ValueError, match=r"found in feature 'n' \(column 1\)"):
        SparseCategoricalNB().fit(table, Y)
    table.loc[7, "n"] = np.nan
    with pytest.raises(ValueError, match=r"feature 'n'.*Hint: astype\('category'\)"):
        SparseCategoricalNB().fit(table, Y)
    table["n"] = table["n"].astype("category")
    assert SparseCategoricalNB("all").fit(table, Y).k_ == 2


def test_what_cannot_be_told_apart_is_refused():
    table = X.copy()
    table[0, 1] = {"a": 1}
    with pytest.raises(TypeError, match="column 1"):
        SparseCategoricalNB().fit(table, Y)
    model = SparseCategoricalNB(2).fit(X, Y)
    with pytest.raises(TypeError, match="sparse"):
        model.predict(sparse.csr_array(np.ones((2, 4))))
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, Y[:-1])


def test_minimum_of_categories():
    model = SparseCategoricalNB("all", min_categories=6).fit(X, Y)
    assert model.n_categories_.tolist() == [6] * 4
    assert [own.size for own in model.categories_] == [3, 3, 4, 4]
    np.testing.assert_array_equal(model.predict(X[:5]), model.predict(X)[:5])


def test_ready_counts_forget_the_values():
    model = SparseCategoricalNB("all", keep_counts=True).fit(X, Y)
    numbers = codes()
    model.fit_counts(ClassCounts.from_matrix(numbers, Y, kind="category"))
    plain = SparseCategoricalNB("all").fit(numbers, Y)
    np.testing.assert_array_equal(
        model.predict_proba(numbers), plain.predict_proba(numbers)
    )
    model.fit(X, Y).fit(numbers, Y)
    np.testing.assert_array_equal(
        model.predict_proba(numbers), plain.predict_proba(numbers)
    )


def test_a_lean_fit_keeps_the_values_it_needs():
    ids = np.array([[f"id {row}"] for row in range(N)], dtype=object)
    table = np.hstack([X, np.repeat("always", N)[:, None], ids])
    model = SparseCategoricalNB(1, alpha=1.0).fit(table[:, :5], Y)
    assert model._column_values is None
    assert [len(own) for own in model._support_values] == [3]
    kept = SparseCategoricalNB(1, keep_counts=True).fit(table, Y)
    assert [len(own) for own in kept._column_values] == [3, 3, 4, 4, 1, N]


def test_in_a_file(tmp_path):
    day = datetime.date(2024, 2, 29)
    columns = {
        "word": X[:, 0],
        "sure": np.where(X[:, 1] == "m", None, X[:, 1] == "s"),
        "day": np.where(X[:, 2] == "a", day, day.replace(day=1)),
        "code": codes()[:, 0],
        "grade": pd.Categorical(codes()[:, 1] / 2),
    }
    table = pd.DataFrame(columns)
    for model in (
        SparseCategoricalNB("all"),
        SparseCategoricalNB(2),
        SparseCategoricalNB("all", keep_counts=True),
    ):
        model.fit(table, Y)
        save_model(model, tmp_path / "model")
        loaded = load_model(tmp_path / "model")
        np.testing.assert_array_equal(
            loaded.predict_proba(table), model.predict_proba(table)
        )
        for a, b in zip(loaded.categories_, model.categories_, strict=True):
            assert a.tolist() == b.tolist()
    more = table.assign(word="violet")
    close(
        loaded.partial_fit(more, Y).predict_proba(more),
        model.partial_fit(more, Y).predict_proba(more),
    )


@pytest.mark.parametrize("made", MAKERS)
def test_the_selector(made):
    table = MAKERS[made](X)
    selector = NaiveFeatureSelector(2, model="categorical").fit(table, Y)
    assert selector.support_indices_.tolist() == [0, 1]
    chosen = selector.transform(table)
    np.testing.assert_array_equal(np.asarray(chosen), X[:, :2])


def test_the_selector_and_missing_values(tmp_path):
    holes = pd.DataFrame(with_holes(), columns=NAMES)
    selector = NaiveFeatureSelector(2, model="categorical", keep_counts=True)
    assert selector.fit(holes, Y).get_feature_names_out().tolist() == NAMES[:2]
    chosen = selector.set_output(transform="pandas").transform(holes)
    pd.testing.assert_frame_equal(chosen, holes[NAMES[:2]])
    save_model(selector, tmp_path / "selector")
    loaded = load_model(tmp_path / "selector").partial_fit(holes, Y)
    close(loaded.scores_, selector.partial_fit(holes, Y).scores_)
    with pytest.raises(ValueError, match="must hold real numbers"):
        NaiveFeatureSelector(2).fit(holes, Y)
