"""A million rows in chunks of a thousand: memory, accuracy, recovery from a change."""

from __future__ import annotations

import os
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from bayesieve import SelectiveNB

N_ROWS = 1_000_000
CHUNK = 1000
TOWNS = np.array(["oslo", "rome", "lima", "cairo", "kyoto"])


def chunk(number, *, changed=False):
    """Rows of one chunk: six numbers, a category, two columns of noise."""
    rng = np.random.default_rng(number)
    y = rng.integers(2, size=CHUNK)
    shifts = np.array([1.0, 0.8, 0.6, 0.4, 0.2, 0.0])
    shifts = shifts[::-1] * -1 if changed else shifts
    frame = pd.DataFrame(
        rng.normal(size=(CHUNK, 6)) + np.outer(y, shifts), columns=list("abcdef")
    )
    frame["town"] = TOWNS[(rng.integers(4, size=CHUNK) + y) % 5]
    frame["noise"] = rng.exponential(size=CHUNK)
    frame.loc[rng.random(CHUNK) < 0.05, "a"] = np.nan
    return frame, y


def resident_kilobytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


@pytest.mark.slow
def test_a_million_rows():
    model = SelectiveNB()
    memory = []
    for number in range(N_ROWS // CHUNK):
        model.partial_fit(*chunk(number), classes=[0, 1])
        if sys.platform == "linux":
            memory.append(resident_kilobytes())
    assert model.n_rows_seen_ == N_ROWS
    assert model.class_count_.sum() == N_ROWS
    if memory:  # flat after the first fifty chunks: 2 MB for the allocator's moods
        assert max(memory[50:]) <= max(memory[:50]) + 2048
    assert model.drifts_ == []
    tests = [chunk(N_ROWS + number) for number in range(50)]
    X = pd.concat([X for X, _ in tests], ignore_index=True)
    y = np.concatenate([y for _, y in tests])
    whole = [chunk(number) for number in range(N_ROWS // CHUNK)]
    batch = SelectiveNB().fit(
        pd.concat([X for X, _ in whole], ignore_index=True),
        np.concatenate([y for _, y in whole]),
    )
    ours = log_loss(y, model.predict_proba(X))
    assert ours <= 1.02 * log_loss(y, batch.predict_proba(X))


@pytest.mark.slow
def test_recovery_from_an_abrupt_change():
    model = SelectiveNB()
    losses = []
    for number in range(400):
        X, y = chunk(number, changed=number >= 200)
        if number:
            losses.append(log_loss(y, model.predict_proba(X), labels=[0, 1]))
        model.partial_fit(X, y, classes=[0, 1])
    before = np.mean(losses[150:199])
    assert losses[199] > 1.5 * before  # the change was felt
    assert np.mean(losses[205:249]) < 1.05 * before
    assert len(model.drifts_) == 1
    assert model.drifts_[0] == 200_000
