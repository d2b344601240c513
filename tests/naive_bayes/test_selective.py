"""SelectiveNB and AveragedNB: criterion, optimisers, prediction, bad input."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.optimize import minimize
from scipy.special import softmax
from sklearn.base import clone
from tests.patience import HANGS

from bayesieve import AveragedNB, MODLEncoder, SelectiveNB, compression_rate
from bayesieve.weights import VNS, Auto, Gradient

OPTIMIZERS = ["auto", "convex", "vns", "multistart", "gradient", "coordinate"]


def table(seed=0, n=800, n_classes=3):
    """Mixed columns: some tell, some repeat each other, some are noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    first = rng.normal(size=n) + y
    frame = pd.DataFrame(
        {
            "first": first,
            "copy": first + 0.3 * rng.normal(size=n),
            "second": rng.normal(size=n) - 0.7 * y,
            "noise": rng.normal(size=n),
            "colour": np.where(
                rng.random(n) < 0.6, np.array(list("rgbwk"))[y], "other"
            ),
            "flag": rng.random(n) < 0.2 + 0.3 * (y == 1),
            "constant": 1,
        }
    )
    frame.loc[rng.random(n) < 0.1, "second"] = np.nan
    frame.loc[rng.random(n) < 0.05, "colour"] = None
    return frame, np.array(["no", "perhaps", "yes"])[:n_classes][y]


def criterion_by_hand(X, y, regularization, exponent, rows=None):
    """CR(w) from the encoder's log-likelihoods, and how to get weights of its size."""
    encoder = MODLEncoder(output="log_likelihood").fit(X, y)
    classes, codes = np.unique(y, return_inverse=True)
    n_columns, n_classes = X.shape[1], classes.shape[0]
    logs = encoder.transform(X).reshape(len(y), n_columns, n_classes)
    prior = np.log(np.bincount(codes) / len(y))
    cost = np.maximum(0, math.log(n_columns) - 1 + encoder.costs_[:, 1])
    cost[encoder.levels_ == 0] = 0

    def criterion(w):
        scores = prior + np.einsum("k,nkj->nj", w, logs)
        top = scores.max(axis=1)
        total = np.log(np.exp(scores - top[:, None]).sum(axis=1)) + top
        nll = (total - scores[np.arange(len(y)), codes]).sum()
        return nll + regularization * (cost @ np.where(w > 0, w, 0) ** exponent)

    return criterion, encoder


@pytest.mark.parametrize("exponent", [1.0, 2.0])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_convex_is_the_optimum(exponent, n_classes):
    X, y = table(n_classes=n_classes)
    model = SelectiveNB(optimizer="convex", exponent=exponent, partitions="best").fit(
        X, y
    )
    criterion, _ = criterion_by_hand(X, y, 0.1, exponent)
    assert model.criterion_ == pytest.approx(criterion(model.weights_), rel=1e-12)
    found = minimize(
        criterion,
        np.full(X.shape[1], 0.5),
        method="L-BFGS-B",
        bounds=[(0, 1)] * X.shape[1],
        options={"ftol": 1e-15, "gtol": 1e-9, "maxfun": 100_000, "maxiter": 10_000},
    )
    assert model.criterion_ <= found.fun + 1e-8
    assert model.criterion_ == pytest.approx(found.fun, abs=1e-4)


def test_weights_of_zero_cost_the_labels():
    X, y = table()
    model = SelectiveNB(optimizer="convex", regularization=1e9).fit(X, y)
    assert not model.weights_.any()
    counts = np.unique(y, return_counts=True)[1]
    assert model.criterion_ == pytest.approx(-(counts * np.log(counts / 800)).sum())
    np.testing.assert_allclose(model.predict_proba(X)[0], counts / 800, rtol=1e-3)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_selects_and_predicts(optimizer):
    X, y = table()
    model = SelectiveNB(optimizer=optimizer, random_state=0).fit(X, y)
    assert ((model.weights_ >= 0) & (model.weights_ <= 1)).all()
    # The noise; random descents may end just above zero.
    assert model.weights_[3] < (1e-12 if optimizer in ("auto", "convex") else 0.1)
    assert model.weights_[6] == 0
    assert model.weights_[[0, 2, 4]].all()
    assert model.score(X, y) > 0.75
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(proba), model.predict_log_proba(X))
    assert compression_rate(y, proba, model.class_count_ / 800) > 0.4
    assert model.stopped_ in ("converged", "budget")
    assert model.history_.shape[1] == 4
    assert (np.diff(model.history_[:, 3]) <= 0).all()


@pytest.mark.parametrize("optimizer", ["auto", "convex", "vns"])
def test_exponent_below_one_keeps_fewer(optimizer):
    X, y = table()
    one = SelectiveNB(optimizer=optimizer, random_state=0).fit(X, y)
    half = SelectiveNB(optimizer=optimizer, exponent=0.5, random_state=0).fit(X, y)
    assert half.support_.sum() <= one.support_.sum()
    assert half.score(X, y) > 0.7


def test_auto_drops_what_hardly_gains():
    X, y = table()
    strict = SelectiveNB(optimizer=Auto(min_gain=0.0)).fit(X, y)
    exact = SelectiveNB(optimizer="convex").fit(X, y)
    np.testing.assert_allclose(strict.weights_, exact.weights_, atol=1e-3)
    loose = SelectiveNB(optimizer=Auto(min_gain=0.01)).fit(X, y)
    assert loose.support_.sum() < exact.support_.sum()
    # Each column that went cost less than was allowed, those that stayed would not.
    gone = exact.support_.sum() - loose.support_.sum()
    assert loose.criterion_ - exact.criterion_ <= gone * 0.01 * 800
    criterion, _ = criterion_by_hand(X, y, 0.1, 1.0)
    for column in loose.support_indices_:
        rest = SelectiveNB(optimizer="convex").fit(
            X.assign(
                **{X.columns[k]: 0 for k in range(7) if not loose.support_[k]}
            ).assign(**{X.columns[column]: 0}),
            y,
        )
        assert criterion(rest.weights_) - loose.criterion_ >= 0.01 * 800 - 1e-3


def test_probabilities_by_hand():
    X, y = table()
    model = SelectiveNB(partitions="best").fit(X, y)
    logs = MODLEncoder(output="log_likelihood").fit(X, y).transform(X)
    scores = np.log(model.class_count_ / 800) + np.einsum(
        "k,nkj->nj", model.weights_, logs.reshape(800, 7, 3)
    )
    smoothed = (softmax(scores, axis=1) + 0.5 / (3 * 801)) / (1 + 0.5 / 801)
    np.testing.assert_allclose(model.predict_proba(X), smoothed, atol=5e-11)
    np.testing.assert_allclose(model.predict_joint_log_proba(X), scores, atol=1e-9)


def test_frames_and_arrays_agree():
    X, y = table()
    numeric = X[["first", "copy", "second", "noise"]]
    frame = SelectiveNB().fit(numeric, y)
    array = SelectiveNB().fit(numeric.to_numpy(), y)
    np.testing.assert_array_equal(frame.weights_, array.weights_)
    polars = SelectiveNB().fit(pl.from_pandas(X), y)
    pandas = SelectiveNB().fit(X, y)
    np.testing.assert_allclose(polars.weights_, pandas.weights_)
    np.testing.assert_allclose(
        polars.predict_proba(pl.from_pandas(X)), pandas.predict_proba(X)
    )


def test_columns_are_matched_by_name():
    X, y = table()
    model = SelectiveNB().fit(X, y)
    shuffled = X[X.columns[::-1]]
    np.testing.assert_array_equal(model.predict_proba(shuffled), model.predict_proba(X))
    with pytest.raises(ValueError, match="yet now missing"):
        model.predict(X.drop(columns="first"))


@pytest.mark.parametrize("kind", [SelectiveNB, AveragedNB])
def test_weight_two_is_the_row_twice(kind):
    X, y = table(n=300)
    weights = np.random.default_rng(1).integers(0, 3, 300)
    repeated = np.repeat(np.arange(300), weights)
    weighted = kind(random_state=0).fit(X, y, sample_weight=weights)
    plain = kind(random_state=0).fit(X.iloc[repeated], y[repeated])
    np.testing.assert_allclose(weighted.weights_, plain.weights_, atol=1e-6)
    np.testing.assert_allclose(
        weighted.predict_proba(X), plain.predict_proba(X), atol=1e-6
    )


def test_at_most_k_columns():
    X, y = table()
    free = SelectiveNB(optimizer="convex", partitions="best").fit(X, y)
    model = SelectiveNB(optimizer="convex", k=2, partitions="best").fit(X, y)
    assert model.support_.sum() == 2
    largest = np.argsort(-free.feature_importances_)[:2]
    assert set(model.support_indices_) == set(largest)
    # Optimised again on what is left, not only cut.
    criterion, _ = criterion_by_hand(X, y, 0.1, 1.0)
    cut = np.where(model.support_, free.weights_, 0)
    assert model.criterion_ == pytest.approx(criterion(model.weights_))
    assert model.criterion_ <= criterion(cut) + 1e-9


@pytest.mark.parametrize("optimizer", ["convex", "coordinate", "auto"])
def test_feature_cost(optimizer):
    X, y = table()
    dear = SelectiveNB(optimizer=optimizer, feature_cost={"first": 1e7}).fit(X, y)
    assert dear.weights_[0] == 0
    assert dear.weights_[1] > 0
    costs = np.full(7, 10.0)
    costs[1] = 1e7
    array = SelectiveNB(optimizer=optimizer, feature_cost=costs).fit(X, y)
    assert array.weights_[1] == 0
    assert array.weights_[0] > 0


def test_ready_made_log_likelihoods():
    X, y = table()
    encoder = MODLEncoder(output="log_likelihood").fit(X, y)
    logs = encoder.transform(X)
    ours = SelectiveNB(optimizer="convex", partitions="best").fit(X, y)
    cost = encoder.costs_[:, 1]
    given = SelectiveNB(
        optimizer="convex", input="log_likelihood", feature_cost=cost
    ).fit(logs, y)
    np.testing.assert_allclose(
        given.weights_[ours.levels_ > 0], ours.weights_[ours.levels_ > 0], atol=1e-5
    )
    np.testing.assert_allclose(
        given.predict_proba(logs), ours.predict_proba(X), atol=1e-6
    )
    cube = logs.reshape(800, 7, 3)
    again = clone(given).fit(cube, y)
    np.testing.assert_array_equal(again.predict_proba(cube), given.predict_proba(logs))
    with pytest.raises(ValueError, match="one number for each column and class"):
        clone(given).fit(logs[:, :-1], y)
    with pytest.raises(ValueError, match="cannot be updated"):
        given.partial_fit(logs, y)


def test_time_limit_returns_the_best_so_far():
    X, y = table()
    model = SelectiveNB(optimizer=VNS(effort=20), time_limit=0.05, random_state=0).fit(
        X, y
    )
    assert model.stopped_ == "time"
    assert model.score(X, y) > 0.7


def test_callback_can_stop():
    X, y = table()
    seen = []

    def callback(state):
        seen.append(state.best_value)
        return len(seen) == 5

    model = SelectiveNB(optimizer="vns", callback=callback, random_state=0).fit(X, y)
    assert model.stopped_ == "callback"
    assert len(seen) == 5
    assert model.criterion_ <= seen[0]


def test_control_c_returns_the_best_so_far():
    """In a process of its own: test runners treat the signal in ways of their own."""
    code = """
import signal, threading
import numpy as np
from bayesieve import SelectiveNB
from bayesieve.weights import VNS

rng = np.random.default_rng(0)
y = rng.integers(2, size=3000)
X = rng.normal(size=(3000, 8)) + y[:, None] * np.linspace(0, 1, 8)
signal.signal(signal.SIGINT, signal.default_int_handler)
started = threading.Event()

def press():
    started.wait()
    signal.raise_signal(signal.SIGINT)

threading.Thread(target=press, daemon=True).start()
model = SelectiveNB(
    optimizer=VNS(effort=25), random_state=0,
    callback=lambda state: started.set() if state.iteration == 20 else None,
).fit(X, y)
print(model.stopped_, model.score(X, y) > 0.7)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.stdout.split() == ["interrupted", "True"], done.stderr
    assert (
        "InterruptedFitWarning: The fit of SelectiveNB was interrupted" in done.stderr
    )


def test_pickle():
    X, y = table()
    for model in (SelectiveNB().fit(X, y), AveragedNB(random_state=0).fit(X, y)):
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_random_state():
    X, y = table()
    one, two = (
        SelectiveNB(optimizer="vns", random_state=3).fit(X, y) for _ in range(2)
    )
    np.testing.assert_array_equal(one.weights_, two.weights_)
    state = np.random.RandomState(0)
    SelectiveNB(optimizer="gradient", random_state=state).fit(X, y)


def test_averaged():
    X, y = table()
    model = AveragedNB(random_state=0).fit(X, y)
    assert model.score(X, y) > 0.75
    assert model.map_support_.dtype == bool
    assert (model.weights_[model.map_support_] > 0).all()
    assert (model.weights_ <= 1).all()
    assert model.weights_[3] == 0
    quick = AveragedNB(time_limit=0.0, random_state=0).fit(X, y)
    assert quick.predict(X).shape == (800,)


@pytest.mark.parametrize("kind", [SelectiveNB, AveragedNB])
def test_no_informative_column(kind):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[:, 1] = 1.0
    X[:, 2] = np.nan
    model = kind().fit(X, y)
    assert not model.weights_.any()
    np.testing.assert_allclose(model.predict_proba(X), 0.5)
    assert not model.feature_importances_.any()


@pytest.mark.parametrize("kind", [SelectiveNB, AveragedNB])
def test_one_informative_column(kind):
    y = np.arange(100) % 2
    X = np.column_stack([y + 0.01 * np.arange(100), np.zeros(100)])
    model = kind(random_state=0).fit(X, y)
    assert model.weights_[0] > 0
    assert model.score(X, y) > 0.9


def test_bad_parameters():
    X, y = table()
    for parameters, message in [
        ({"optimizer": "newton"}, "'optimizer' parameter"),
        ({"regularization": -1}, "'regularization' parameter"),
        ({"exponent": 0}, "'exponent' parameter"),
        ({"feature_cost": [1.0]}, "a finite number for each of the 7 columns"),
        ({"feature_cost": {"nowhere": 1.0}}, "must name columns of X. Got 'nowhere'"),
        ({"optimizer": Gradient(start=[0.5])}, "'start' parameter of Gradient"),
        ({"categorical_features": ["nowhere"]}, "Got 'nowhere'"),
    ]:
        with pytest.raises(ValueError, match=message):
            SelectiveNB(**parameters).fit(X, y)


@pytest.mark.parametrize("kind", [SelectiveNB, AveragedNB])
def test_bad_data(kind):
    X, y = table(n=50)
    with pytest.raises(ValueError, match=r"at least two classes in y\. Got one class"):
        kind().fit(X, np.zeros(50))
    spoiled = X.copy()
    spoiled.loc[2, "first"] = np.inf
    with pytest.raises(ValueError, match="Got inf at row 2 of column 'first'"):
        kind().fit(spoiled, y)
    with pytest.raises(ValueError, match="Got 'first' more than once"):
        kind().fit(X.rename(columns={"copy": "first"}), y)
    with pytest.raises(ValueError, match="same number of rows"):
        kind().fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"NaN|missing"):
        kind().fit(X, np.r_[np.nan, np.arange(49) % 2])
