"""The weighted classifiers on real tables; a set that is absent is skipped."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold

from bayesieve import AveragedNB, SelectiveNB
from bayesieve.weights import VNS

NOT_FEATURES = ["label", "Id", "name", "Hospital Number", "speaker", "split"]
SMALL = [
    "uci_australian",
    "uci_breast",
    "uci_bupa",
    "uci_crx",
    "uci_flag",
    "uci_german_numeric",
    "uci_glass",
    "uci_heart",
    "uci_horsecolic",
    "uci_hypothyroid",
    "uci_ionosphere",
    "uci_iris",
    "uci_pima",
    "uci_segmentation",
    "uci_sonar",
    "uci_soybean",
    "uci_tictactoe",
    "uci_vehicle",
    "uci_wine",
]


def load(real_data, name):
    frame = real_data(name)
    y = frame["label"].to_numpy()
    return frame.drop(columns=[c for c in NOT_FEATURES if c in frame]), y


@pytest.mark.parametrize("name", SMALL)
def test_neighbourhood_search_comes_near_the_optimum(real_data, name):
    """With full batches, at most 1e-3 nats a row above it."""
    X, y = load(real_data, name)
    best = {"partitions": "best", "random_state": 0}
    exact = SelectiveNB(optimizer="convex", **best).fit(X, y)
    search = SelectiveNB(optimizer=VNS(batch_size=None), **best).fit(X, y)
    gap = (search.criterion_ - exact.criterion_) / len(y)
    assert -1e-9 <= gap <= 1e-3


def test_adult(real_data):
    """Khiops' figures for ten folds: AUC 0.925 with 13.2 variables."""
    X, y = load(real_data, "uci_adult")
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    train, test = next(folds.split(X, y))
    model = SelectiveNB().fit(X.iloc[train], y[train])
    proba = model.predict_proba(X.iloc[test])
    assert roc_auc_score(y[test], proba[:, 1]) > 0.92
    assert log_loss(y[test], proba) < 0.29
    assert model.support_.sum() <= 13
    for partition in model.partitions_:
        np.testing.assert_array_equal(partition.counts.sum(axis=0), model.class_count_)


@pytest.mark.parametrize("name", ["uci_soybean", "uci_horsecolic", "uci_mushroom"])
def test_averaging_keeps_more_columns(real_data, name):
    X, y = load(real_data, name)
    averaged = AveragedNB(random_state=0).fit(X, y)
    selected = SelectiveNB().fit(X, y)
    assert selected.support_.sum() <= averaged.support_.sum()
    assert averaged.score(X, y) > 0.8
    assert selected.score(X, y) > 0.8


def test_a_stream_of_real_rows(real_data):
    X, y = load(real_data, "uci_shuttle")
    order = np.random.default_rng(0).permutation(len(y))
    X, y = X.iloc[order], y[order]
    model = SelectiveNB()
    for start in range(0, 40_000, 1000):
        chunk = slice(start, start + 1000)
        model.partial_fit(X.iloc[chunk], y[chunk], classes=np.unique(y))
    loss = log_loss(y[40_000:], model.predict_proba(X.iloc[40_000:]))
    batch = SelectiveNB().fit(X.iloc[:40_000], y[:40_000])
    assert loss < 0.02
    assert loss < 2 * log_loss(y[40_000:], batch.predict_proba(X.iloc[40_000:]))
