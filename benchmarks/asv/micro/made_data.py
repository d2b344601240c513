"""What the benchmarks work on: made once for each size and process, never changed.

asv calls `setup` before every timed call. The makers remember their last answers, so
that only the first call of a process pays for them.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import sparse

SEED = 20241115
PER_ROW = 25  # words of a row, with repetitions
WORDS_IN_TEXT = 100


class Micro:
    """How often asv repeats: at least 3 times, at most 10, about 2 seconds."""

    rounds = 1
    repeat = (3, 10, 2.0)
    warmup_time = 0.0
    timeout = 300.0


def words_drawn(
    rng: np.random.Generator, classes: np.ndarray, n_columns: int
) -> np.ndarray:
    """Return a column for each class: about one over its rank as often, as words are.

    A class refuses a word with a chance of its own, up to a half, and draws again. The
    chance is a hash of the two: a table of them would be the largest part of memory.
    """
    size = classes.shape[0]
    first, second = ((n_columns ** rng.random(size)).astype(np.int64) for _ in range(2))
    hashed = ((first * 2_654_435_761 + classes * 40_503_111) >> 8) % 4_096
    refused = rng.random(size) < hashed / 8_192
    return np.where(refused, second, first) - 1


@lru_cache(maxsize=1)
def counts_of(n_classes: int, n_columns: int) -> np.ndarray:
    """Return Zipf-like counts of classes and columns; a tenth of the columns tells."""
    rng = np.random.default_rng(SEED)
    rate = 50.0 * n_columns / np.arange(1, n_columns + 1)
    rng.shuffle(rate)
    tells = rng.random(n_columns) < 0.1
    result = np.empty((n_classes, n_columns))
    for one in result:  # class by class: few rates at a time, peak memory is measured
        tilt = np.where(tells, rng.lognormal(0.0, 0.5, n_columns), 1.0)
        one[:] = rng.poisson(rate * tilt)
    return result


@lru_cache(maxsize=1)
def documents_per_class(
    n_classes: int, n_columns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return documents with each column, and documents, of classes of 10,000."""
    rng = np.random.default_rng(SEED)
    share = 0.5 / np.sqrt(np.arange(1, n_columns + 1))
    rng.shuffle(share)
    size = np.full(n_classes, 10_000)
    tilt = rng.uniform(0.7, 1.3, size=(n_classes, n_columns))
    return rng.binomial(10_000, share * tilt).astype(np.float64), size


@lru_cache(maxsize=2)
def rows_of(
    n_classes: int, n_rows: int, n_columns: int, *, seed: int = SEED
) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return documents as `CountVectorizer` gives them (int64, sorted) and classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    row = np.repeat(np.arange(n_rows), PER_ROW)
    column = words_drawn(rng, y[row], n_columns)
    counts = np.ones(row.shape[0], dtype=np.int64)
    X = sparse.csr_matrix((counts, (row, column)), shape=(n_rows, n_columns))
    X.sum_duplicates()
    return X, y


@lru_cache(maxsize=1)
def flags_of(n_rows: int, n_columns: int) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Return rows of yes and no (int8) and two classes."""
    X, y = rows_of(2, n_rows, n_columns)
    X = X.astype(np.int8)
    X.data[:] = 1
    return X, y


@lru_cache(maxsize=1)
def texts_of(n_texts: int) -> tuple[list[str], np.ndarray]:
    """Return texts of a hundred words out of 50,000, and two classes."""
    rng = np.random.default_rng(SEED)
    letters = rng.integers(ord("a"), ord("z") + 1, size=(50_000, 8), dtype=np.uint8)
    lengths = rng.integers(3, 9, size=50_000)
    words = np.array(
        [bytes(w[:n]).decode() for w, n in zip(letters, lengths, strict=True)],
        dtype=object,
    )
    y = rng.integers(0, 2, n_texts)
    drawn = words_drawn(rng, np.repeat(y, WORDS_IN_TEXT), 50_000)
    return [" ".join(words[row]) for row in drawn.reshape(n_texts, -1)], y


@lru_cache(maxsize=1)
def table_of(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers, half of the columns of which tell two classes a little."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, 2, n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, ::2] += 0.3 * y[:, None]
    return X, y
