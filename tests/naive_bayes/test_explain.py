"""`explain`: terms add up to the scores, columns have their Shapley values."""

from __future__ import annotations

import pickle
from itertools import combinations
from math import factorial

import numpy as np
import pandas as pd
import pytest

from bayesieve import AveragedNB, Explanation, SelectiveNB, load_model, save_model

#: Sums of a few dozen terms of a few nats, each rounded.
ROUNDING = 1e-10


def small_table(n=1500, seed=1):
    """Numbers with missing values and categories that speak in pairs and triples."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(size=n)
    c, d, e = (rng.choice(["u", "v", "w"], size=n) for _ in range(3))
    odd = (a > 0.4) ^ (b > 0.4)
    line = ((c == d) & (d == e) & (e != "w")).astype(float)
    score = 3.5 * odd + 7.0 * line - 2.5
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    a[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e}), y


@pytest.fixture(scope="module")
def paired():
    X, y = small_table()
    model = SelectiveNB().fit(X, y)
    sizes = {len(columns) for columns in model.pairs_}
    assert sizes == {2, 3}  # what the tests below are about
    return model, X, y


def scores_of(explanation):
    return explanation.base + explanation.values.sum(axis=1)


def shapley_by_enumeration(model, X, row, weight=None):
    """Shapley values of all columns: the mean score of training rows, by subsets."""
    names = list(X.columns)
    worth = {}
    for size in range(len(names) + 1):
        for known in combinations(names, size):
            mixed = X.copy()
            for name in known:
                mixed[name] = row[name].iloc[0]
            scores = model.predict_joint_log_proba(mixed)
            worth[frozenset(known)] = np.average(scores, axis=0, weights=weight)
    n = len(names)
    found = {}
    for name in names:
        total = 0.0
        for known, value in worth.items():
            if name not in known:
                ways = factorial(len(known)) * factorial(n - len(known) - 1)
                total += ways / factorial(n) * (worth[known | {name}] - value)
        found[name] = total
    return found, worth[frozenset()]


def check_shapley(model, X, rows, weight=None):
    explained = model.explain(rows).by_column()
    for place in range(len(rows)):
        expected, base = shapley_by_enumeration(
            model, X, rows.iloc[[place]], weight=weight
        )
        np.testing.assert_allclose(explained.base, base, rtol=0, atol=ROUNDING)
        for name, values in expected.items():
            own = np.zeros_like(values)
            if name in explained.features:
                own = explained.values[place, explained.features.index(name)]
            np.testing.assert_allclose(own, values, rtol=0, atol=ROUNDING)


# ----------------------------------------------------------------------- the terms


def test_terms_are_named_after_columns_pairs_and_triples(paired):
    model, X, _ = paired
    explained = model.explain(X.head(5))
    assert isinstance(explained, Explanation)
    mains = [X.columns[j] for j in np.flatnonzero(model.weights_)]
    pairs = [" \u00d7 ".join(X.columns[list(own)]) for own in model.pairs_]
    assert explained.features == [*mains, *pairs]
    assert explained.values.shape == (5, len(mains) + len(pairs), 2)
    assert explained.base.shape == (2,)


def test_terms_add_up_to_the_scores_and_are_centred(paired):
    model, X, _ = paired
    explained = model.explain(X)
    expected = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(scores_of(explained), expected, atol=ROUNDING)
    np.testing.assert_allclose(explained.values.mean(axis=0), 0.0, atol=ROUNDING)
    np.testing.assert_array_equal(explained.probabilities, model.predict_proba(X))
    np.testing.assert_array_equal(explained.predicted, model.predict(X))


def test_columns_add_up_to_the_same(paired):
    model, X, _ = paired
    explained = model.explain(X)
    columns = explained.by_column()
    assert columns.features == [X.columns[j] for j in model.support_indices_]
    np.testing.assert_allclose(scores_of(columns), scores_of(explained), atol=ROUNDING)
    np.testing.assert_allclose(columns.values.mean(axis=0), 0.0, atol=ROUNDING)
    assert columns.by_column() is columns


def test_columns_have_their_shapley_values(paired):
    model, X, _ = paired
    check_shapley(model, X, X.iloc[[0, 17]])


def test_shapley_values_of_values_never_seen(paired):
    model, X, _ = paired
    rows = pd.DataFrame(
        {"a": [np.nan, 9.0], "b": [-40.0, 0.1], "c": ["new", "u"], "d": ["v", "new"]}
    ).assign(e=["w", "new"])
    check_shapley(model, X, rows)


def test_shapley_values_with_weights_and_three_classes():
    X, y = small_table(500, seed=3)
    rng = np.random.default_rng(1)
    y = np.where((X["b"] > 1) & (rng.random(500) < 0.8), "maybe", y)
    weight = rng.integers(1, 4, size=500).astype(float)
    model = SelectiveNB(pairs=4).fit(X, y, sample_weight=weight)
    assert model.pairs_
    check_shapley(model, X, X.iloc[[3]], weight)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SelectiveNB(partitions="best"),
        lambda: SelectiveNB(pairs=0, class_weight={"yes": 3.0}),
        lambda: AveragedNB(random_state=0),
    ],
)
def test_models_without_pairs_have_shapley_values_too(make):
    X, y = small_table(400, seed=5)
    X["a"] = X["a"] + (y == "yes")
    model = make().fit(X, y)
    explained = model.explain(X)
    assert explained.features
    expected = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(scores_of(explained), expected, atol=ROUNDING)
    np.testing.assert_allclose(explained.values.mean(axis=0), 0.0, atol=ROUNDING)
    np.testing.assert_array_equal(explained.by_column().values, explained.values)
    check_shapley(model, X, X.iloc[[1]])


def test_texts_are_explained_by_their_ngrams():
    rng = np.random.default_rng(2)
    y = rng.integers(2, size=300)
    said = {0: ["late", "unsure"], 1: ["keen", "glad"]}
    talk = ["the", "man", "came", "by", "and", "we", "had", "a", "long", "talk"]
    note = [" ".join([*rng.choice(talk, 5), rng.choice(said[c])]) for c in y]
    X = pd.DataFrame({"x": rng.normal(size=300) + y, "note": note})
    model = SelectiveNB(text_features=["note"]).fit(X, y)
    explained = model.explain(X)
    assert 'note: "keen"' in explained.features
    expected = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(scores_of(explained), expected, atol=ROUNDING)
    np.testing.assert_allclose(explained.values.mean(axis=0), 0.0, atol=ROUNDING)
    columns = explained.by_column()
    assert columns.features == ["x", "note"]
    np.testing.assert_allclose(scores_of(columns), expected, atol=ROUNDING)
    assert columns.shown_input(1, 0) == note[0]
    met = explained.features.index('note: "keen"')
    assert explained.shown_input(met, 0) == str(note[0].split().count("keen"))


def test_ready_made_log_likelihoods(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200)
    X = rng.normal(size=(200, 4, 3))
    X[np.arange(200), 1, y] += 2.0
    weight = rng.integers(1, 3, size=200).astype(float)
    model = SelectiveNB(input="log_likelihood").fit(X, y, sample_weight=weight)
    explained = model.explain(X)
    expected = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(scores_of(explained), expected, atol=ROUNDING)
    means = np.average(explained.values, axis=0, weights=weight)
    np.testing.assert_allclose(means, 0.0, atol=ROUNDING)
    assert "x1" in explained.features
    assert "x1" in str(explained[0])
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model").explain(X)
    np.testing.assert_array_equal(again.values, explained.values)
    model._term_means = None  # as in a file of an earlier version
    with pytest.raises(ValueError, match="fit it again"):
        model.explain(X)


def test_a_stream_and_a_file_are_explained(tmp_path, paired):
    model, X, y = paired
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model").explain(X.head(9))
    np.testing.assert_array_equal(again.values, model.explain(X.head(9)).values)
    stream = SelectiveNB(partitions="best")
    X = X.assign(a=X["a"] + (y == "yes"))
    for first in range(0, 1500, 500):
        part = slice(first, first + 500)
        stream.partial_fit(X[part], y[part], classes=["no", "yes"])
    explained = stream.explain(X)
    expected = stream.predict_joint_log_proba(X)
    np.testing.assert_allclose(scores_of(explained), expected, atol=ROUNDING)


def test_a_model_without_terms_is_its_base():
    X = np.ones((50, 2))
    model = SelectiveNB().fit(X, np.arange(50) % 2)
    explained = model.explain(X[:3])
    assert explained.values.shape == (3, 0, 2)
    np.testing.assert_allclose(
        scores_of(explained), model.predict_joint_log_proba(X[:3])
    )
    assert "score" in str(explained[0])


@pytest.mark.parametrize(
    "name", ["uci_heart", "uci_vehicle", "uci_tictactoe", "uci_soybean", "uci_crx"]
)
def test_explanations_of_real_rows_add_up(real_data, name):
    frame = real_data(name)
    X, y = frame.drop(columns="label"), frame["label"]
    model = SelectiveNB().fit(X, y)
    explained = model.explain(X)
    expected = model.predict_joint_log_proba(X)
    for own in (explained, explained.by_column()):
        np.testing.assert_allclose(scores_of(own), expected, atol=ROUNDING)
        np.testing.assert_allclose(own.values.mean(axis=0), 0.0, atol=ROUNDING)


# ------------------------------------------------------------ frames, rows and words


def test_a_frame_has_log_odds_in_its_rows(paired):
    model, X, _ = paired
    rows = X.iloc[[5, 2]]
    explained = model.explain(rows)
    frame = explained.to_frame()
    assert list(frame.columns) == ["base", *explained.features]
    assert list(frame.index) == [5, 2]
    scores = model.predict_joint_log_proba(rows)
    np.testing.assert_allclose(frame.sum(axis=1), scores[:, 1] - scores[:, 0])
    no = explained.to_frame("no")
    np.testing.assert_allclose(no, -frame)
    with pytest.raises(ValueError, match=r"label must be one of .* Got 'perhaps'"):
        explained.to_frame("perhaps")


def test_a_frame_of_many_classes_is_of_one(real_data):
    frame = real_data("uci_vehicle")
    X, y = frame.drop(columns="label"), frame["label"]
    explained = SelectiveNB(pairs=0).fit(X, y).explain(X.head(4))
    with pytest.raises(ValueError, match=r"one of the 4 classes.* Got None"):
        explained.to_frame()
    scores = scores_of(explained)
    others = np.delete(scores, 2, axis=1).mean(axis=1)
    own = explained.to_frame(explained.classes[2])
    np.testing.assert_allclose(own.sum(axis=1), scores[:, 2] - others)


def test_rows_are_taken_by_number_slice_and_mask(paired):
    model, X, _ = paired
    explained = model.explain(X.head(6))
    assert len(explained) == 6
    assert len(explained[2:5]) == 3
    mask = np.array([True, False, True, False, False, False])
    np.testing.assert_array_equal(explained[mask].values, explained.values[[0, 2]])
    last = explained[-1]
    np.testing.assert_array_equal(last.values, explained.values[5:])
    np.testing.assert_array_equal(
        last.by_column().values, explained.by_column().values[5:]
    )
    assert [len(own) for own in explained] == [1] * 6
    with pytest.raises(IndexError, match="below 6"):
        explained[6]
    again = pickle.loads(pickle.dumps(explained))
    np.testing.assert_array_equal(again.values, explained.values)


def test_one_row_prints_as_a_table(paired):
    model, X, _ = paired
    explained = model.explain(X.head(4))
    assert str(explained) == (
        f"Explanation of 4 rows: {len(explained.features)} terms, 2 classes"
    )
    one = explained[1]
    title, head, base, *rest = str(one).splitlines()
    label = model.predict(X.head(4))[1]
    chance = model.predict_proba(X.head(4))[1].max()
    assert title.startswith(f"{label} predicted with probability {chance:.3f}")
    assert head.split() == ["term", "value", "nats", "odds"]
    assert base.startswith("base")
    assert rest[-1].startswith("score")
    values, base_value = one.contrast(label)
    order = np.argsort(-np.abs(values[0]), kind="stable")
    assert rest[0].startswith(one.features[order[0]])
    told = [nats for _, _, nats in one.lines()]
    assert sum(told[:-1]) == pytest.approx(told[-1])
    assert told[-1] == pytest.approx(base_value + values.sum())
    nats, odds = rest[0].split()[-3], rest[0].split()[-1]
    assert float(nats) == pytest.approx(values[0, order[0]], abs=0.006)
    assert float(odds) == pytest.approx(np.exp(values[0, order[0]]), rel=0.006)


def test_terms_beyond_the_first_are_told_together(paired):
    model, X, _ = paired
    one = model.explain(X.head(1))
    lines = one.lines(2)
    assert len(lines) == 5
    assert lines[3][0] == f"{len(one.features) - 2} more"
    assert sum(nats for *_, nats in lines[:-1]) == pytest.approx(lines[-1][2])


def test_notebooks_show_the_table_escaped():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    X = pd.DataFrame({"<b>x": x, "town": rng.choice(["<i>", "b"], size=300)})
    model = SelectiveNB().fit(X, np.where(x > 0, "<up>", "down"))
    explained = model.explain(X)
    page = explained[0]._repr_html_()
    assert "&lt;b&gt;x" in page
    assert "<b>" not in page
    assert "<up>" not in page
    assert "300 rows" in explained._repr_html_()


def test_explaining_checks_its_rows(paired):
    model, X, _ = paired
    with pytest.raises(ValueError, match="now missing"):
        model.explain(X.drop(columns="a"))
    with pytest.raises(ValueError, match="not fitted"):
        SelectiveNB().explain(X)
