"""partial_fit with averaged shapes and pairs: exactness, memory, pairs that go on."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from bayesieve import SelectiveNB, load_model, save_model
from bayesieve.partition._averaged import FineBins, average_columns, class_shares
from bayesieve.partition._bins import LevelBins, NumberBins
from bayesieve.partition._discretize import discretize_finely
from bayesieve.partition._pairs import average_pairs


def rows(n, seed=0, *, flip=False):
    """Two columns that act together, one alone, a category with them, noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    together = X[:, 0] * X[:, 1] + 0.3 * X[:, 0] + 0.3 * X[:, 1] > 0
    y = np.where(rng.random(n) < 0.2, X[:, 2] > 0, together).astype(int)
    if flip:
        y = 1 - y
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["town"] = np.array(["oslo", "rome", "lima"])[(y + rng.integers(2, size=n))]
    frame.loc[rng.random(n) < 0.05, "c"] = np.nan
    return frame, y


def learn(model, X, y, size=500, **options):
    for start in range(0, len(y), size):
        chunk = slice(start, start + size)
        model.partial_fit(X.iloc[chunk], y[chunk], **options)
    return model


def loss_of(model, X, y):
    return log_loss(y, model.predict_proba(X), labels=model.classes_)


def grids_of(model):
    """Bins of the model with the first grid of each bound, as it averages them."""
    levels = [own.levels for own in model._stream.in_use.fine]
    return [
        FineBins(own.bins, level)
        for own, level in zip(model.shapes_, levels, strict=True)
    ]


# -------------------------------------------------------------------------- fine bins


@pytest.mark.parametrize("distinct", [1, 2, 3, 5, 30, 300, 3000])
@pytest.mark.parametrize("weighted", [False, True])
def test_fine_bins_of_counts_are_those_of_rows(distinct, weighted):
    rng = np.random.default_rng(distinct)
    x = rng.integers(distinct, size=3000).astype(float)
    x[rng.random(3000) < 0.1] = np.nan
    y = (rng.random(3000) < 0.2 + 0.6 * (x > 0.3 * distinct)).astype(np.int32)
    weights = rng.integers(1, 4, 3000).astype(float) if weighted else None
    best, fine = discretize_finely(x[:, None], y, 2, sample_weight=weights)
    bins = NumberBins.from_values(x, 2, 10_000)
    places = np.searchsorted(bins.bounds, x) + 1
    places[np.isnan(x)] = 0
    np.add.at(bins.counts, (places, y), 1.0 if weights is None else weights)
    bounds = best[0].bounds
    found = bins.fine_intervals(bounds[np.isfinite(bounds)])
    np.testing.assert_array_equal(found.bounds, fine[0].bounds)
    np.testing.assert_array_equal(found.levels, fine[0].levels)
    np.testing.assert_array_equal(found.counts, fine[0].counts)


def test_weights_of_rows_move_the_bins_of_a_stream():
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    weights = rng.integers(1, 4, 2000)
    one = NumberBins.from_values(x, 2, 64, weights.astype(float))
    two = NumberBins.from_values(np.repeat(x, weights), 2, 64)
    np.testing.assert_array_equal(one.bounds, two.bounds)


def test_groups_of_more_values_than_a_stream_tells_apart():
    X = pd.DataFrame({"id": [f"v{n}" for n in range(12_000)] * 2})
    y = np.arange(24_000) % 2
    for partitions in ("best", "averaged"):
        model = SelectiveNB(partitions=partitions).fit(X, y)
        model.partial_fit(X.iloc[:100], y[:100])
        assert model.class_count_.sum() == 24_100


# -------------------------------------------------------------------------- exactness


@pytest.mark.parametrize("half_life", [None, 3000.0])
def test_shapes_are_averages_of_the_counts_of_all_rows(half_life):
    X, y = rows(9000)
    model = SelectiveNB(window=3000, half_life=half_life)
    learn(model, X, y, 1000, classes=[0, 1])
    model.refresh()
    found = average_columns(grids_of(model), model.class_count_).shapes
    for own, exact in zip(model.shapes_, found, strict=True):
        np.testing.assert_allclose(own.probabilities, exact.probabilities, rtol=1e-12)
        np.testing.assert_allclose(own.deviations, exact.deviations, rtol=1e-12)
        assert own.evidence == pytest.approx(exact.evidence, rel=1e-12)
        assert own.bins.counts.sum() == pytest.approx(model.class_count_.sum())
    np.testing.assert_array_equal(
        model.evidence_, [own.evidence for own in model.shapes_]
    )


def test_bins_count_every_row_also_between_averages():
    X, y = rows(20_000)
    model = learn(SelectiveNB(window=2000), X, y, 100, classes=[0, 1])
    assert model._stream.rows_since_average > 0
    for name, own in zip(X.columns, model.shapes_, strict=True):
        assert own.bins.counts.sum(axis=0).tolist() == np.bincount(y).tolist(), name
        assert own.bins.n_parts <= 100
    missing = model.shapes_[2].bins.counts[0]
    assert missing.tolist() == np.bincount(y[X["c"].isna()]).tolist()
    # Probabilities lag by a twentieth of the rows at most.
    late = average_columns(grids_of(model), model.class_count_).shapes
    for own, exact in zip(model.shapes_, late, strict=True):
        used = own.bins.counts.any(axis=1)
        np.testing.assert_allclose(
            own.probabilities[used], exact.probabilities[used], atol=0.03
        )


def test_pairs_are_averages_of_cells_that_are_counted_since_they_were_chosen():
    X, y = rows(12_000)
    model = learn(SelectiveNB(window=3000), X, y, 1000, classes=[0, 1])
    assert (0, 1) in model.pairs_
    assert len(model.pair_weights_) == len(model.pairs_)
    for own in model.pair_shapes_:
        bins = [model.shapes_[j].bins.parts for j in own.columns]
        if 4 in own.columns:  # the category
            continue
        parts = [
            part.assign(X.iloc[:, j].to_numpy())
            for j, part in zip(own.columns, bins, strict=True)
        ]
        table = np.zeros_like(own.counts)
        n_counted = int(own.counts.sum())
        assert 3000 <= n_counted <= 12_000
        late = slice(12_000 - n_counted, None)
        np.add.at(table, (own.place([part[late] for part in parts]), y[late]), 1)
        np.testing.assert_array_equal(own.counts, table)
    pairs = model._stream.pairs
    axes = model._stream.in_use.axes(pairs)
    model._stream.rows_since_average = 10**9
    model.partial_fit(X.iloc[:1], y[:1])
    shares = class_shares(model.class_count_)
    for own in model.pair_shapes_:
        met = own.counts.sum(axis=0)
        exact = average_pairs([own.columns], axes, [own.levels], [own.counts], met)[0][
            0
        ]
        assert own.evidence == pytest.approx(exact.evidence)
        # Only differences between classes matter.
        ours, theirs = own.lifts(shares), exact.lifts(class_shares(met))
        np.testing.assert_allclose(
            ours[:, 1] - ours[:, 0], theirs[:, 1] - theirs[:, 0], atol=1e-12
        )


def test_one_call_with_all_rows_is_close_to_fit():
    X, y = rows(6000)
    test_X, test_y = rows(6000, seed=1)
    stream = SelectiveNB().partial_fit(X, y)
    batch = SelectiveNB().fit(X, y)
    assert stream.pairs_ == batch.pairs_
    away = np.abs(stream.predict_proba(test_X) - batch.predict_proba(test_X))
    assert away.mean() < 0.01
    np.testing.assert_allclose(stream.evidence_, batch.evidence_, rtol=0.03, atol=0.1)
    ours, theirs = loss_of(stream, test_X, test_y), loss_of(batch, test_X, test_y)
    assert ours == pytest.approx(theirs, rel=0.01)
    np.testing.assert_allclose(
        stream.feature_importances_, batch.feature_importances_, atol=0.02
    )


@pytest.mark.parametrize("pairs", [0, 1, "auto"])
def test_close_to_the_batch_fit(pairs):
    X, y = rows(60_000)
    test_X, test_y = rows(20_000, seed=1)
    stream = learn(SelectiveNB(pairs=pairs), X, y, 1000, classes=[0, 1])
    batch = SelectiveNB(pairs=pairs).fit(X, y)
    assert not stream.drifts_
    assert loss_of(stream, test_X, test_y) <= 1.02 * loss_of(batch, test_X, test_y)
    assert bool(stream.pairs_) == (pairs != 0)
    assert len(stream.pairs_) <= (10 if pairs == "auto" else pairs)


def test_better_than_best_partitions_on_a_smooth_effect():
    X, y = rows(20_000)
    test_X, test_y = rows(20_000, seed=1)
    loss = {}
    for partitions, pairs in (("best", 0), ("averaged", 0), ("averaged", "auto")):
        model = SelectiveNB(partitions=partitions, pairs=pairs)
        learn(model, X, y, 1000, classes=[0, 1])
        loss[partitions, pairs] = loss_of(model, test_X, test_y)
    assert loss["averaged", 0] < loss["best", 0]
    assert loss["averaged", "auto"] < 0.9 * loss["averaged", 0]


def test_the_order_of_rows_matters_little():
    X, y = rows(12_000)
    order = np.random.default_rng(0).permutation(12_000)
    test_X, test_y = rows(10_000, seed=1)
    one = learn(SelectiveNB(window=2000), X, y, 500)
    other = learn(SelectiveNB(window=2000), X.iloc[order], y[order], 500)
    np.testing.assert_array_equal(one.class_count_, other.class_count_)
    loss = loss_of(one, test_X, test_y)
    # Pairs are chosen from the rows of a window.
    assert loss_of(other, test_X, test_y) == pytest.approx(loss, rel=0.05)


# ---------------------------------------------------------------------- what goes on


def test_a_pair_may_be_chosen_from_rows_of_other_class_shares():
    X, y = rows(20_000)
    order = np.argsort(y[:16_000], kind="stable")  # then the window is of one class
    model = SelectiveNB(window=4000, drift_detection=False)
    model.partial_fit(X.iloc[order], y[order])
    assert model.score(X, y) > 0.7
    order = np.concatenate([order, np.arange(16_000, 20_000)[y[16_000:] == 1]])
    learn(model, X.iloc[order[16_000:]], y[order[16_000:]], 500)
    model.refresh()
    assert model.score(X, y) > 0.7


def test_memory_does_not_grow():
    model = SelectiveNB(window=1000)
    sizes = []
    for number in range(60):
        model.partial_fit(*rows(1000, seed=number), classes=[0, 1])
        sizes.append(len(pickle.dumps(model)))
    assert (0, 1) in model.pairs_
    assert max(sizes[20:]) <= 1.05 * max(sizes[:20])


def test_pairs_go_on_when_partitions_are_searched_again():
    X, y = rows(30_000)
    model = learn(SelectiveNB(window=2000), X.iloc[:8000], y[:8000], 1000)
    counted = dict(zip(model.pairs_, model.pair_shapes_, strict=True))[0, 1]
    version = model._stream.version
    learn(model, X.iloc[8000:], y[8000:], 1000)
    assert model._stream.version > version
    later = dict(zip(model.pairs_, model.pair_shapes_, strict=True))[0, 1]
    assert later.counts.sum() == counted.counts.sum() + 22_000


def test_abrupt_drift_forgets_shapes_and_pairs():
    X, y = rows(15_000)
    after, labels = rows(15_000, seed=2, flip=True)
    model = learn(SelectiveNB(), X, y, 1000, classes=[0, 1])
    learn(model, after, labels, 1000)
    assert len(model.drifts_) == 1
    test_X, test_y = rows(5000, seed=3, flip=True)
    begun = learn(SelectiveNB(), after, labels, 1000)
    assert loss_of(model, test_X, test_y) <= 1.05 * loss_of(begun, test_X, test_y)
    assert all(own.counts.sum() <= 16_000 for own in model.pair_shapes_)


def test_pairs_fade_as_other_counts_do():
    X, y = rows(20_000)
    model = SelectiveNB(window=2000, half_life=1000.0, drift_detection=False)
    learn(model, X, y, 1000, classes=[0, 1])
    assert model.class_count_.sum() == pytest.approx(1000 / np.log(2), rel=0.01)
    for own in model.pair_shapes_:
        # They lack what was left of rows before the window they were chosen from.
        assert own.counts.sum() == pytest.approx(model.class_count_.sum(), rel=0.002)


def test_fit_then_partial_fit_goes_on_from_shapes_and_pairs():
    X, y = rows(20_000)
    model = SelectiveNB().fit(X, y)
    before = model.pairs_
    counts = [own.counts.sum() for own in model.pair_shapes_]
    more, labels = rows(3000, seed=5)
    learn(model, more, labels, 1000)
    assert model.pairs_ == before
    assert [own.counts.sum() - 3000 for own in model.pair_shapes_] == counts
    assert model.shapes_[0].bins.counts.sum() == 23_000
    # The bins of the stream are those of the fit: averages of the same counts.
    again = SelectiveNB().fit(X, y)
    exact = [own.probabilities for own in again.shapes_]
    again.partial_fit(X.iloc[:1], y[:1])
    for own, was in zip(again.shapes_, exact, strict=True):
        np.testing.assert_allclose(own.probabilities, was, atol=2e-3)


def test_few_rows_after_a_fit_do_not_undo_its_pairs():
    X, y = rows(10_000)
    model = SelectiveNB(optimizer="gradient", random_state=0).fit(X, y)
    before = dict(zip(model.pairs_, model.pair_weights_, strict=True))
    assert before[0, 1] > 0.3
    more, labels = rows(100, seed=5)
    learn(model, more, labels, 10)
    after = dict(zip(model.pairs_, model.pair_weights_, strict=True))
    assert after[0, 1] > 0.7 * before[0, 1]


def test_saved_and_loaded_models_go_on(tmp_path):
    X, y = rows(12_000)
    model = learn(SelectiveNB(window=2000), X.iloc[:9000], y[:9000], 700)
    save_model(model, tmp_path / "stream.model")
    loaded = load_model(tmp_path / "stream.model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert loaded.pairs_ == model.pairs_
    learn(loaded, X.iloc[9000:], y[9000:], 700)
    learn(model, X.iloc[9000:], y[9000:], 700)
    assert loaded.pairs_ == model.pairs_
    for own, other in zip(loaded.shapes_, model.shapes_, strict=True):
        assert own.bins.counts.sum() == other.bins.counts.sum() == 12_000
    for own, other in zip(loaded.pair_shapes_, model.pair_shapes_, strict=True):
        assert own.counts.sum() == other.counts.sum()
    assert loss_of(loaded, X, y) == pytest.approx(loss_of(model, X, y), rel=0.02)


def test_a_class_that_comes_late():
    X, y = rows(6000)
    late = np.where(X["a"] > 1, 2, y)
    model = SelectiveNB().partial_fit(X.iloc[:1000], y[:1000], classes=[0, 1, 2])
    assert model.predict_proba(X)[:, 2].max() < 0.01
    learn(model, X.iloc[1000:], late[1000:], 500)
    assert model.shapes_[0].probabilities.shape[1] == 3
    assert (model.predict(X)[X["a"] > 1] == 2).mean() > 0.8


def test_values_and_missing_numbers_that_come_late():
    X, y = rows(8000)
    X = X.assign(c=X["c"].fillna(0.0))
    model = learn(SelectiveNB(window=1000), X.iloc[:4000], y[:4000])
    new = X.iloc[4000:].copy()
    new["town"] = np.where(y[4000:] == 1, "paris", "lagos")
    new["c"] = np.nan
    learn(model, new, y[4000:])
    assert model.shapes_[2].bins.counts[0].sum() > 0
    assert model.score(new, y[4000:]) > 0.9
    unseen = new.iloc[:5].assign(town="nowhere", a=np.nan)
    assert np.isfinite(model.predict_proba(unseen)).all()


def test_new_values_share_a_bin_until_bins_are_made_again():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=3000)
    X = pd.DataFrame({"town": np.array(["oslo", "rome"])[y]})
    model = SelectiveNB(window=500, drift_detection=False)
    learn(model, X.iloc[:2500], y[:2500])
    new = pd.DataFrame({"town": ["lima"] * 200})
    model.partial_fit(new, np.ones(200, dtype=int))
    shape = model.shapes_[0]
    assert shape.bins.counts[-1].tolist() == [0.0, 200.0]
    model._stream.rows_since_average = 10**9
    model.partial_fit(new.iloc[:1], [1])
    assert model.shapes_[0].probabilities[-1, 1] > 0.95
    model.refresh()
    assert model.shapes_[0].bins.counts[-1].sum() == 0
    assert model.score(new, np.ones(200)) == 1.0


def test_most_columns_hold_in_a_stream():
    X, y = rows(12_000)
    model = learn(SelectiveNB(k=2, window=1000), X, y, 500, classes=[0, 1])
    assert model.support_indices_.size <= 2
    assert set(np.flatnonzero(model.feature_importances_)) == set(
        model.support_indices_
    )


def test_weights_of_rows_and_classes():
    X, y = rows(3000)
    weights = np.random.default_rng(0).integers(1, 3, 3000).astype(float)
    repeated = np.repeat(np.arange(3000), weights.astype(int))
    options = {"pairs": 0, "class_weight": {1: 5.0}}
    one = SelectiveNB(**options).partial_fit(X, y, sample_weight=weights)
    two = SelectiveNB(**options).partial_fit(X.iloc[repeated], y[repeated])
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=1e-4)
    plain = SelectiveNB(pairs=0).partial_fit(X, y)
    assert one.predict_proba(X)[:, 1].mean() > plain.predict_proba(X)[:, 1].mean() + 0.1


@pytest.mark.parametrize("optimizer", ["gradient", "coordinate", "convex"])
def test_every_optimizer_weighs_pairs_of_streams(optimizer):
    X, y = rows(8000)
    model = SelectiveNB(optimizer=optimizer, random_state=0, window=4000)
    learn(model, X, y, 1000, classes=[0, 1])
    assert model.score(*rows(4000, seed=1)) > 0.75


def test_texts_keep_the_best_partitions():
    X, y = rows(600)
    X["said"] = np.where(y == 1, "such a good one", "what a bad one")
    model = learn(SelectiveNB(text_features=["said"]), X, y, 200)
    assert not hasattr(model, "shapes_")
    assert model.pairs_ == []
    assert model.score(X, y) == 1.0


def test_the_kind_of_partitions_is_settled():
    X, y = rows(500)
    model = SelectiveNB().partial_fit(X, y)
    model.set_params(partitions="best")
    match = "partitions cannot change.*Got 'best', before that 'averaged'"
    with pytest.raises(ValueError, match=match):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match=match):
        model.refresh()
    model = SelectiveNB(partitions="best").fit(X, y)
    model.set_params(partitions="averaged")
    with pytest.raises(ValueError, match="before that 'best'"):
        model.partial_fit(X, y)


@pytest.mark.parametrize("window", [500, 10_000])
def test_an_error_in_the_search_changes_nothing(window):
    X, y = rows(8000)
    model = learn(SelectiveNB(window=window), X.iloc[:3000], y[:3000], 500)
    before = model.predict_proba(X)
    shapes, pairs = model.shapes_, model.pair_shapes_

    def fail(state):
        raise RuntimeError("enough")

    model.set_params(callback=fail)
    with pytest.raises(RuntimeError, match="enough"):
        learn(model, X.iloc[3000:], y[3000:], 5000)
    assert model.shapes_ is shapes
    assert model.pair_shapes_ is pairs
    np.testing.assert_array_equal(model.predict_proba(X), before)
    model.set_params(callback=None)
    model.partial_fit(X, y)
    assert model.class_count_.sum() == 16_000


def test_a_full_dictionary_of_values():
    bins = LevelBins(["a", "b"], 2, max_bins=2)
    bins.counts[:] = [[5.0, 0.0], [1.0, 2.0], [2.0, 1.0]]
    grouping, values = bins.partition(attribute_cost=0.0, criterion="khiops")
    assert values == ("a", "b")
    assert bins.parts_of_bins(grouping)[0] == grouping.default_group
