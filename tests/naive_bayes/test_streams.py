"""partial_fit: constant memory, drift, classes that come late, forgetting."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from bayesieve import SelectiveNB
from bayesieve.naive_bayes._drift import DriftWatch
from bayesieve.naive_bayes._stream import StreamMemory
from bayesieve.partition._bins import LevelBins, NumberBins
from bayesieve.weights import VNS


def rows(n, seed=0, flip=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    signal = X[:, 0] - X[:, 1] if not flip else X[:, 2] + X[:, 1]
    y = (signal + 0.5 * rng.normal(size=n) > 0).astype(int)
    return X, y


def learn(model, X, y, size=500, **options):
    for start in range(0, len(y), size):
        chunk = slice(start, start + size)
        model.partial_fit(X[chunk], y[chunk], **options)
    return model


def test_predicts_after_the_first_chunk():
    X, y = rows(1000)
    model = SelectiveNB().partial_fit(X, y, classes=[0, 1])
    test_X, test_y = rows(2000, seed=1)
    assert model.score(test_X, test_y) > 0.8
    assert model.n_rows_seen_ == 1000
    assert model.drifts_ == []


def test_close_to_the_batch_fit():
    X, y = rows(60_000)
    test_X, test_y = rows(20_000, seed=1)
    stream = learn(SelectiveNB(), X, y, 1000, classes=[0, 1])
    batch = SelectiveNB().fit(X, y)
    loss = log_loss(test_y, stream.predict_proba(test_X))
    assert loss <= 1.02 * log_loss(test_y, batch.predict_proba(test_X))
    assert stream.support_indices_.tolist() == [0, 1]
    assert not stream.drifts_


def test_counts_are_those_of_all_rows():
    X, y = rows(30_000)
    model = learn(SelectiveNB(window=2000), X, y, 1000)
    assert model.class_count_.tolist() == np.bincount(y).tolist()
    for j in model.support_indices_:
        partition = model.partitions_[j]
        assert partition.counts.sum() == 30_000
        # Bins are finer than parts, so parts are counted exactly, but for rows that
        # came before the bins were settled.
        parts = partition.parts.assign(X[:, j])
        exact = np.zeros_like(partition.counts)
        np.add.at(exact, (parts, y), 1)
        assert np.abs(exact - partition.counts).sum() <= 0.01 * 30_000


def test_abrupt_drift_is_found_and_forgotten():
    before, labels_before = rows(20_000)
    after, labels_after = rows(20_000, seed=2, flip=True)
    model = learn(SelectiveNB(pairs=0), before, labels_before, 1000, classes=[0, 1])
    learn(model, after, labels_after, 1000)
    assert len(model.drifts_) == 1
    assert abs(model.drifts_[0] - 20_000) <= 1000
    assert model.support_indices_.tolist() == [1, 2]
    assert model.score(*rows(5000, seed=3, flip=True)) > 0.8
    deaf = learn(
        SelectiveNB(drift_detection=False), before, labels_before, 1000, classes=[0, 1]
    )
    learn(deaf, after, labels_after, 1000)
    assert deaf.drifts_ == []


def test_forgetting_follows_a_slow_drift():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 1))
    cut = np.linspace(-2, 2, 40_000)
    y = (X[:, 0] > cut).astype(int)
    loss = {}
    for half_life in (None, 2000.0):
        model = SelectiveNB(half_life=half_life, drift_detection=False)
        learn(model, X, y, 1000, classes=[0, 1])
        late = slice(-1000, None)
        loss[half_life] = log_loss(y[late], model.predict_proba(X[late]), labels=[0, 1])
    assert loss[2000.0] < 0.5 * loss[None]


def test_a_weight_of_zero_can_come_back():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 3))
    # The second column says nothing at first.
    tells = np.r_[np.zeros(20_000), np.ones(20_000)]
    y = (X[:, 0] + tells * X[:, 1] + 0.5 * rng.normal(size=40_000) > 0).astype(int)
    model = learn(SelectiveNB(), X[:20_000], y[:20_000], 1000, classes=[0, 1])
    assert model.weights_[1] == 0
    learn(model, X[20_000:], y[20_000:], 1000)
    assert model.weights_[1] > 0.5


def test_classes_unseen_at_first():
    X, y = rows(2000)
    late = np.where(X[:, 3] > 1, 2, y)
    model = SelectiveNB().partial_fit(X[:500], y[:500], classes=[0, 1, 2])
    proba = model.predict_proba(X[:500])
    assert proba.shape == (500, 3)
    assert proba[:, 2].max() < 0.01
    learn(model, X[500:], late[500:], 250)
    assert (model.predict(X) == 2).any()
    with pytest.raises(ValueError, match="The label 3 at row 0"):
        model.partial_fit(X[:1], [3])
    with pytest.raises(ValueError, match="classes must be the same"):
        model.partial_fit(X[:1], [1], classes=[0, 1])


def test_a_first_chunk_of_one_class():
    X, y = rows(1000)
    zeros = y == 0
    model = SelectiveNB().partial_fit(X[zeros], y[zeros], classes=[0, 1])
    assert (model.predict(X) == 0).all()
    learn(model, X[~zeros], y[~zeros], 100)
    assert set(model.predict(X)) == {0, 1}
    with pytest.raises(ValueError, match="at least two classes"):
        SelectiveNB().partial_fit(X[zeros], y[zeros])


def test_single_rows():
    X, y = rows(300)
    model = SelectiveNB()
    for n in range(300):
        model.partial_fit(X[n : n + 1], y[n : n + 1], classes=[0, 1])
    assert model.score(X, y) > 0.7


def test_mixed_columns_and_new_values():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=6000)
    town = np.where(rng.random(6000) < 0.8, np.array(["oslo", "rome"])[y], "else")
    frame = pd.DataFrame({"town": town, "x": rng.normal(size=6000) + y})
    frame.loc[3000:, "town"] = frame.loc[3000:, "town"].replace("rome", "milan")
    frame.loc[rng.random(6000) < 0.1, "x"] = np.nan
    model = SelectiveNB(window=1000)
    for start in range(0, 6000, 500):
        chunk = slice(start, start + 500)
        model.partial_fit(frame.iloc[chunk], y[chunk], classes=[0, 1])
    assert model.score(frame.iloc[4000:], y[4000:]) > 0.85
    unseen = frame.iloc[:5].assign(town="nowhere", x=np.nan)
    assert np.isfinite(model.predict_proba(unseen)).all()
    shuffled = frame[["x", "town"]]
    np.testing.assert_array_equal(
        model.predict_proba(shuffled), model.predict_proba(frame)
    )


def test_identifiers_do_not_fill_the_memory():
    model = SelectiveNB(window=500)
    rng = np.random.default_rng(0)
    sizes = []
    for chunk in range(60):
        y = rng.integers(2, size=1000)
        frame = pd.DataFrame(
            {
                "id": [f"{chunk}-{n}" for n in range(1000)],
                "x": rng.normal(size=1000) + y,
            }
        )
        model.partial_fit(frame, y, classes=[0, 1])
        sizes.append(len(pickle.dumps(model)))
    assert max(sizes[30:]) <= 1.05 * max(sizes[:30])
    assert model.weights_[0] == 0


def test_fit_then_partial_fit_goes_on():
    X, y = rows(5000)
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(
        word=np.where(X[:, 0] > 0, "up", "down")
    )
    model = SelectiveNB().fit(frame, y)
    before = model.class_count_.copy()
    more, labels = rows(3000, seed=5)
    more = pd.DataFrame(more, columns=list("abcdef")).assign(word="up")
    learn_frame = more.assign(word=np.where(more["a"] > 0, "up", "down"))
    for start in range(0, 3000, 500):
        chunk = slice(start, start + 500)
        model.partial_fit(learn_frame.iloc[chunk], labels[chunk])
    assert model.class_count_.sum() == before.sum() + 3000
    assert model.score(frame, y) > 0.8
    # A new fit begins again.
    model.fit(frame, y)
    assert model.class_count_.sum() == 5000
    assert model.drifts_ == []


def test_refresh():
    X, y = rows(3000)
    model = learn(SelectiveNB(), X, y, 300, classes=[0, 1])
    assert model.refresh() is model
    with pytest.raises(ValueError, match="refresh is for streams"):
        SelectiveNB().fit(X, y).refresh()


@pytest.mark.parametrize(
    "optimizer", [VNS(effort=2), "gradient", "coordinate", "convex"]
)
def test_every_optimizer_learns_from_streams(optimizer):
    X, y = rows(6000)
    model = SelectiveNB(optimizer=optimizer, random_state=0)
    learn(model, X, y, 1000, classes=[0, 1])
    assert model.score(*rows(3000, seed=1)) > 0.8


def test_weights_of_rows_in_a_stream():
    X, y = rows(2000)
    weights = np.random.default_rng(0).integers(0, 3, 2000).astype(float)
    repeated = np.repeat(np.arange(2000), weights.astype(int))
    one = SelectiveNB().partial_fit(X, y, classes=[0, 1], sample_weight=weights)
    two = SelectiveNB().partial_fit(X[repeated], y[repeated], classes=[0, 1])
    np.testing.assert_array_equal(one.class_count_, two.class_count_)
    np.testing.assert_allclose(one.weights_, two.weights_, atol=1e-4)
    one.partial_fit(X[:5], y[:5], sample_weight=np.zeros(5))  # nothing to learn
    assert one.class_count_.sum() == weights.sum()


def test_bins_are_never_split_by_values():
    values = np.array([1.0, 1.0, 2.0, 2.0, 2.0, 3.0, np.nan])
    bins = NumberBins.from_values(values, 2, 10)
    assert bins.bounds.tolist() == [1.5, 2.5]
    many = np.random.default_rng(0).normal(size=5000)
    bins = NumberBins.from_values(many, 2, 64)
    sizes = np.bincount(np.searchsorted(bins.bounds, many))
    assert 60 <= len(sizes) <= 64
    assert sizes.max() <= 2 * 5000 / 64
    neighbours = np.array([1.0, np.nextafter(1.0, 2.0)])
    bound = NumberBins.from_values(neighbours, 2, 10).bounds
    assert np.searchsorted(bound, neighbours).tolist() == [0, 1]
    assert NumberBins.from_values(np.full(3, np.nan), 2, 10).bounds.size == 0


def test_dictionary_of_values_is_bounded():
    bins = LevelBins(["a", "b"], 2, max_bins=3)
    bins.extend(["c", "d", "e"])
    assert list(bins.row) == ["a", "b", "c"]
    codes = bins.assign(np.array([0, 1, 2]), ["c", "d", "a"])
    assert codes.tolist() == [3, 0, 1]


def test_drift_watch():
    rng = np.random.default_rng(0)
    watch = DriftWatch()
    assert not any(watch.sees(rng.exponential(size=1000)) for _ in range(200))
    assert watch.sees(2 * rng.exponential(size=1000))
    watch.reset()
    assert not watch.sees(5 * rng.exponential(size=1000))  # nothing to compare with
    assert not watch.sees(np.empty(0))


@pytest.mark.parametrize("step", ["add", "renew"])
def test_an_interrupted_chunk_is_not_half_remembered_without_a_word(monkeypatch, step):
    X, y = rows(3000)
    model = SelectiveNB(random_state=0).partial_fit(X[:500], y[:500])
    before = model.predict_proba(X)
    with monkeypatch.context() as patch:

        def interrupted(*arguments):
            raise KeyboardInterrupt

        patch.setattr(StreamMemory, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(X[500:], y[500:])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    with pytest.raises(RuntimeError, match="An earlier partial_fit was"):
        model.partial_fit(X[500:], y[500:])
    with pytest.raises(RuntimeError, match="holds some of them only"):
        model.refresh()
    model.fit(X, y).partial_fit(X[:500], y[:500])
