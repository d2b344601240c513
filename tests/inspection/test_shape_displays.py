"""Displays of shapes, pairs and explained rows."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt

from bayesieve import (
    ExplanationDisplay,
    MODLEncoder,
    PairDisplay,
    SelectiveNB,
    ShapeDisplay,
    SparseMultinomialNB,
    SparseTextNB,
)
from bayesieve._description import describe
from bayesieve.inspection._shape_data import pair_map
from bayesieve.partition._bands import beta_band


@pytest.fixture(scope="module")
def model():
    """Numbers with missing values, dates and categories, two classes."""
    rng = np.random.default_rng(0)
    n = 2500
    day = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    income = rng.normal(50, 10, n)
    town = rng.choice(["Oslo", "$R_1$", "Lima"], size=n, p=[0.6, 0.3, 0.1])
    score = (
        0.1 * (income - 50)
        + 1.5 * (town == "Lima")
        + 1.0 * (day > pd.Timestamp("2022-06-01"))
    )
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    income[rng.random(n) < 0.15] = np.nan
    X = pd.DataFrame(
        {"day": day, "income": income, "town": town, "noise": rng.normal(size=n)}
    )
    return SelectiveNB(pairs=0).fit(X, y), X, y


@pytest.fixture(scope="module")
def paired():
    """A pair of a number with missing values and a category, and a triple."""
    rng = np.random.default_rng(1)
    n = 2500
    a, b = rng.normal(size=n), rng.choice(["u", "v", "w"], size=n)
    c, d, e = (rng.choice(["x", "o", "-"], size=n) for _ in range(3))
    odd = (a > 0.4) ^ (b == "u")
    line = ((c == d) & (d == e) & (e != "-")).astype(float)
    score = 3.5 * odd + 7.0 * line - 2.5
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    a[rng.random(n) < 0.2] = np.nan
    X = pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e})
    fitted = SelectiveNB().fit(X, y)
    assert {len(own) for own in fitted.pairs_} == {2, 3}
    return fitted, X, y


def tick_texts(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]


def stairs(ax):
    """Lines of steps, without the bands."""
    return [own.get_data() for own in ax.patches if hasattr(own, "get_data")]


# ------------------------------------------------------------------------- shapes


def test_steps_are_the_weighted_log_odds_with_their_band(model):
    fitted, _, _ = model
    display = ShapeDisplay.from_estimator(fitted, "income")
    shape, weight = fitted.shapes_[1], fitted.weights_[1]
    share = fitted.class_count_[1] / fitted.class_count_.sum()

    def log_odds(p):
        return weight * (np.log(p / (1 - p)) - np.log(share / (1 - share)))

    p, s = shape.probabilities[1:, 1], shape.deviations[1:, 1]
    low, high = beta_band(p, s)
    band, line = stairs(display.ax_)
    np.testing.assert_allclose(line.values, log_odds(p))
    np.testing.assert_allclose(band.values, log_odds(high))
    np.testing.assert_allclose(band.baseline, log_odds(low))
    np.testing.assert_array_equal(line.edges[1:-1], shape.bins.parts.bounds[1:])
    assert display.ax_.get_ylabel() == "log-odds of yes (nats)"
    assert display.ax_.get_xlabel() == "income"
    assert f"weight {weight:.2f}" in display.ax_.get_title(loc="left")


def test_the_other_class_is_the_mirror_image(model):
    fitted, _, _ = model
    yes = stairs(ShapeDisplay.from_estimator(fitted, "income").ax_)[1]
    display = ShapeDisplay.from_estimator(fitted, "income", label="no")
    np.testing.assert_allclose(stairs(display.ax_)[1].values, -yes.values)
    assert display.ax_.get_ylabel() == "log-odds of no (nats)"
    with pytest.raises(
        ValueError, match="label must be one of the classes 'no', 'yes'"
    ):
        ShapeDisplay.from_estimator(fitted, "income", label="perhaps")


def test_missing_numbers_stand_apart(model):
    fitted, X, _ = model
    display = ShapeDisplay.from_estimator(fitted, "income")
    told = [own.get_text() for own in display.ax_.texts]
    assert told == [f"missing\n({X['income'].isna().sum()} rows)"]
    point = display.ax_.containers[0].lines[0]
    assert point.get_xdata()[0] < X["income"].min()
    display = ShapeDisplay.from_estimator(fitted, "noise")
    assert not display.ax_.texts


def test_dates_are_written_as_dates(model):
    fitted, _, _ = model
    display = ShapeDisplay.from_estimator(fitted, "day")
    display.figure_.canvas.draw()
    assert {"2022", "2023"} <= set(tick_texts(display.ax_.xaxis))


def test_categories_are_bars_with_their_rows(model):
    fitted, X, _ = model
    display = ShapeDisplay.from_estimator(fitted, "town")
    rows = X["town"].value_counts()
    expected = {f"{name}  ({n:,})" for name, n in rows.items()}
    assert set(tick_texts(display.ax_.yaxis)) == expected
    shape = fitted.shapes_[2]
    lifts = shape.lifts(fitted.class_count_ / fitted.class_count_.sum())
    values = fitted.weights_[2] * (lifts[:3, 1] - lifts[:3, 0])
    widths = [bar.get_width() for bar in display.ax_.patches]
    np.testing.assert_allclose(widths, values)
    display.figure_.canvas.draw()  # a dollar sign begins no formula
    few = ShapeDisplay(display.curve).plot(max_values=2)
    assert len(few.ax_.get_yticks()) == 2
    assert few.ax_.get_ylabel() == "1 more with fewer rows"


def test_a_column_without_weight_has_its_own_shape(model):
    fitted, _, _ = model
    assert fitted.weights_[3] == 0.0
    display = ShapeDisplay.from_estimator(fitted, "noise")
    assert "no weight by itself" in display.ax_.get_title(loc="left")
    p = fitted.shapes_[3].probabilities[1:, 1]
    share = fitted.class_count_[1] / fitted.class_count_.sum()
    expected = np.log(p / (1 - p)) - np.log(share / (1 - share))
    np.testing.assert_allclose(stairs(display.ax_)[1].values, expected)


def test_many_classes_have_a_line_each(real_data):
    frame = real_data("uci_vehicle")
    X, y = frame.drop(columns="label"), frame["label"]
    fitted = SelectiveNB(pairs=0).fit(X, y)
    j = int(np.argmax(fitted.weights_))
    display = ShapeDisplay.from_estimator(fitted, j)
    lines = stairs(display.ax_)
    assert len(lines) == 4  # and no bands
    lifts = fitted.shapes_[j].lifts(fitted.class_count_ / fitted.class_count_.sum())
    for c in range(4):
        expected = fitted.weights_[j] * lifts[1:, c]
        np.testing.assert_allclose(lines[c].values, expected)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == fitted.classes_.tolist()
    one = ShapeDisplay.from_estimator(fitted, j, label=fitted.classes_[2])
    assert len(stairs(one.ax_)) == 2
    assert one.ax_.get_ylabel() == f"lift of {fitted.classes_[2]} (nats)"


def test_crowded_bins_are_drawn_equally_wide():
    rng = np.random.default_rng(0)
    x = np.exp(rng.normal(0, 4, size=4000))
    y = (rng.random(4000) < np.where(x > 1, 0.7, 0.3)).astype(int)
    display = ShapeDisplay.from_estimator(SelectiveNB().fit(x[:, None], y), 0)
    assert display.ax_.get_xlabel() == "x0 (bins as wide as each other)"
    line = stairs(display.ax_)[1]
    np.testing.assert_array_equal(np.diff(line.edges), 1.0)


def test_given_axes_are_drawn_on(model):
    fitted, _, _ = model
    _, ax = plt.subplots()
    assert ShapeDisplay.from_estimator(fitted, 1, ax=ax).ax_ is ax


def test_nothing_is_drawn_where_rows_do_not_differ():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), np.ones(200)])
    fitted = SelectiveNB().fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="nothing to draw: rows do not differ in"):
        ShapeDisplay.from_estimator(fitted, "x1")


def test_what_has_no_shapes_is_refused(model):
    _, X, y = model
    best = SelectiveNB(partitions="best").fit(X, y)
    for other in (best, MODLEncoder().fit(X, y)):
        with pytest.raises(ValueError, match="PartitionDisplay"):
            ShapeDisplay.from_estimator(other, "income")
    fitted, _, _ = model
    with pytest.raises(ValueError, match=r"name of a column\. Got 'incom'"):
        ShapeDisplay.from_estimator(fitted, "incom")
    with pytest.raises(ValueError, match="column number below 4"):
        ShapeDisplay.from_estimator(fitted, 4)


# -------------------------------------------------------------------------- pairs


def pair_of(fitted, size):
    return next(own for own in fitted.pairs_ if len(own) == size)


def test_a_pair_is_a_heat_map_of_its_weighted_log_odds(paired):
    fitted, X, _ = paired
    own = pair_of(fitted, 2)
    q = fitted.pairs_.index(own)
    names = [X.columns[j] for j in own]
    display = PairDisplay.from_estimator(fitted, tuple(reversed(names)))
    shape = fitted.pair_shapes_[q]
    lifts = shape.lifts(fitted.class_count_ / fitted.class_count_.sum())
    log_odds = fitted.pair_weights_[q] * (lifts[:-1, 1] - lifts[:-1, 0])
    cells = tuple(slice(n) for n in shape.n_cells)
    expected = log_odds.reshape(shape.shape)[cells]
    rows = shape.counts[:-1].sum(axis=1).reshape(shape.shape)[cells]
    assert rows.sum() == len(X)
    mesh = display.ax_.collections[0].get_array()
    np.testing.assert_array_equal(mesh.mask, (rows <= 0).T)
    np.testing.assert_allclose(mesh.data, expected.T)
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == tuple(names)
    assert display.axes_ == [display.ax_]
    display.figure_.canvas.draw()


def test_axes_are_labelled_by_values_of_the_columns(paired):
    fitted, X, _ = paired
    own = pair_of(fitted, 2)
    found = pair_map(describe(fitted).table.shapes, fitted.pairs_.index(own), [1])
    axes = {axis.name: axis for axis in found.axes}
    assert sorted(axes["b"].labels) == ["u", "v", "w"]
    assert axes["b"].bounds is None
    numbers = axes["a"]
    assert numbers.labels[0] == "missing"
    assert numbers.bounds[0] == ""
    short = [float(own) for own in numbers.bounds[1:]]
    assert short == sorted(short)
    assert max(map(len, numbers.bounds)) <= 6
    assert numbers.labels[1].startswith("up to ")
    assert numbers.labels[-1].startswith("above ")
    edges = [float(numbers.labels[i].split()[-1]) for i in (1, -1)]
    np.testing.assert_allclose(edges, [short[0], short[-1]], rtol=0.01)
    # Labels say which rows are counted in a cell.
    place = list(axes).index("a")
    rows = found.rows.sum(axis=1 - place)
    assert rows[0] == X["a"].isna().sum()
    assert rows[1] == (X["a"] <= edges[0]).sum()
    assert rows[-1] == (X["a"] > edges[1]).sum()


def test_a_triple_is_some_heat_maps(paired):
    fitted, *_ = paired
    own = pair_of(fitted, 3)
    display = PairDisplay.from_estimator(fitted, own)
    shape = fitted.pair_shapes_[fitted.pairs_.index(own)]
    assert len(display.axes_) == min(shape.n_cells)
    titles = {ax.get_title().split(": ")[1] for ax in display.axes_}
    assert titles == {"x", "o", "-"}
    display.figure_.canvas.draw()
    _, ax = plt.subplots()
    with pytest.raises(ValueError, match="ax must be None for three columns"):
        PairDisplay.from_estimator(fitted, own, ax=ax)


def test_pairs_that_are_not_there_are_refused(paired, model):
    fitted, _, _ = paired
    with pytest.raises(ValueError, match=r"a pair in use, such as .* Got \('a', 'e'\)"):
        PairDisplay.from_estimator(fitted, ("a", "e"))
    with pytest.raises(ValueError, match=r"two or three columns\. Got 'a'"):
        PairDisplay.from_estimator(fitted, "a")
    with pytest.raises(ValueError, match="such as none"):
        PairDisplay.from_estimator(model[0], ("day", "town"))


def test_pairs_of_many_classes_are_of_one(real_data):
    frame = real_data("uci_vehicle")
    X, y = frame.drop(columns="label"), frame["label"]
    fitted = SelectiveNB(pairs=3).fit(X, y)
    own = fitted.pairs_[0]
    for label in (None, fitted.classes_[0]):
        display = PairDisplay.from_estimator(fitted, own, label=label)
        assert len(display.pair.classes) == 1
    assert display.pair.classes == [0]
    bar = display.figure_.axes[-1]
    assert bar.get_ylabel() == f"lift of {fitted.classes_[0]} (nats)"


# ---------------------------------------------------------------- explained rows


def test_bars_lead_from_the_base_to_the_score(paired):
    fitted, X, _ = paired
    row = X.iloc[[4]]
    display = ExplanationDisplay.from_estimator(fitted, row)
    label = fitted.predict(row)[0]
    scores = fitted.predict_joint_log_proba(row)[0]
    sign = 1 if label == "yes" else -1
    explained = fitted.explain(row)
    values, base = explained.contrast(label)
    bars = display.ax_.patches
    assert len(bars) == len(explained.features)
    order = np.argsort(-np.abs(values[0]), kind="stable")
    np.testing.assert_allclose([bar.get_width() for bar in bars], values[0, order])
    assert bars[0].get_x() == pytest.approx(base)
    end = bars[-1].get_x() + bars[-1].get_width()
    assert end == pytest.approx(sign * (scores[1] - scores[0]))
    labels = tick_texts(display.ax_.yaxis)
    assert labels[0] == "base"
    assert labels[-1] == "score"
    assert display.ax_.get_xlabel() == f"log-odds of {label}"
    chance = fitted.predict_proba(row).max()
    assert f"probability {chance:.3f}" in display.ax_.get_title(loc="left")


def test_by_column_and_for_another_class(paired):
    fitted, X, _ = paired
    row = X.iloc[[4]]
    display = ExplanationDisplay.from_estimator(
        fitted, row, label="no", by_column=True, max_terms=2
    )
    labels = tick_texts(display.ax_.yaxis)
    assert len(labels) == 5
    assert labels[3] == f"{fitted.support_indices_.size - 2} more"
    assert all(" = " in name for name in labels[1:3])
    assert display.ax_.get_xlabel() == "log-odds of no"


def test_one_row_is_drawn_and_no_other_number(paired):
    fitted, X, _ = paired
    with pytest.raises(ValueError, match=r"draws one row\. Got 3 rows"):
        ExplanationDisplay.from_estimator(fitted, X.head(3))
    with pytest.raises(ValueError, match="max_terms must be an int >= 1"):
        ExplanationDisplay.from_estimator(fitted, X.head(1), max_terms=0)


def test_words_of_a_text_are_drawn():
    texts = ["win a prize now", "win cash", "see you now", "see you at home"]
    fitted = SparseTextNB(4).fit(texts, ["spam", "spam", "ham", "ham"])
    display = ExplanationDisplay.from_estimator(fitted, ["win, win, see"])
    assert tick_texts(display.ax_.yaxis) == ["base", "win = 2", "see = 1", "score"]
    values, _ = display.explanation.contrast("spam")
    widths = sorted(bar.get_width() for bar in display.ax_.patches)
    np.testing.assert_allclose(widths, sorted(values.data))


def test_what_is_impossible_is_drawn_longest():
    X = np.array([[3, 0, 1], [2, 0, 2], [0, 3, 1], [0, 2, 3]])
    fitted = SparseMultinomialNB("all", alpha=0.0).fit(X, ["a", "a", "b", "b"])
    display = ExplanationDisplay.from_estimator(fitted, X[:1])
    lengths = [bar.get_width() for bar in display.ax_.patches]
    assert np.isfinite(lengths).all()
    assert lengths[0] == max(lengths)
    shown = [text.get_text() for text in display.ax_.texts]
    assert shown[1] == shown[-1] == "+inf"
    display.figure_.canvas.draw()


@pytest.mark.parametrize("name", ["uci_adult", "uci_heart", "uci_tictactoe"])
def test_everything_of_real_tables_is_drawn(real_data, name):
    frame = real_data(name).head(4000)
    X, y = frame.drop(columns="label"), frame["label"]
    fitted = SelectiveNB().fit(X, y)
    for j in fitted.support_indices_.tolist():
        ShapeDisplay.from_estimator(fitted, j).figure_.canvas.draw()
        plt.close("all")
    for own in fitted.pairs_[:4]:
        PairDisplay.from_estimator(fitted, own).figure_.canvas.draw()
        plt.close("all")
    ExplanationDisplay.from_estimator(fitted, X.head(1)).figure_.canvas.draw()
