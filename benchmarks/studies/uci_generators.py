"""The four generated sets of the weighted naive Bayes paper: LED and waveforms.

Both problems are of Breiman, Friedman, Olshen and Stone, "Classification and Regression
Trees" (1984), sections 2.6.1 and 2.6.2; UCI gives them as C programs. LED: the seven
segments of a digit, each shown wrongly with probability 0.1; LED17 adds 17 random bits.
Waveform: a random convex combination of two of three triangular waves, observed at 21
points with unit normal noise; WaveformNoise adds 19 columns of such noise alone. As in
UCI's files the waves have two decimals. Segments are nominal, so text.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from uci_sets import DataSet, load

SEED = 1984
SEGMENTS = 7
POINTS = 21
# Top, upper left, upper right, middle, lower left, lower right, bottom; digits 0 to 9.
DIGITS = np.array(
    [
        [1, 1, 1, 0, 1, 1, 1],
        [0, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 1, 1],
        [1, 1, 0, 1, 1, 1, 1],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ],
    dtype=np.int8,
)
# The two waves that a class mixes. UCI's program numbers the waves otherwise, which
# only renames the classes.
PAIRS = ((0, 1), (0, 2), (1, 2))


def waves() -> np.ndarray:
    """Return h1, h2, h3 (3, 21): triangles of height 6 around points 11, 15 and 7."""
    point = np.arange(1, POINTS + 1)
    return np.stack([np.maximum(6 - np.abs(point - top), 0) for top in (11, 15, 7)])


def led(
    rows: int, *, noise: float = 0.1, irrelevant: int = 0, seed: int = SEED
) -> tuple[np.ndarray, np.ndarray]:
    """Return bits (rows, 7 + irrelevant) and the digits shown."""
    rng = np.random.default_rng([seed, irrelevant])
    digit = rng.integers(10, size=rows)
    wrong = rng.random((rows, SEGMENTS)) < noise
    bits = DIGITS[digit] ^ wrong
    other = rng.integers(2, size=(rows, irrelevant), dtype=np.int8)
    return np.hstack([bits, other]), digit


def waveform(
    rows: int, *, irrelevant: int = 0, seed: int = SEED
) -> tuple[np.ndarray, np.ndarray]:
    """Return values (rows, 21 + irrelevant), two decimals, and classes 0, 1, 2."""
    rng = np.random.default_rng([seed, irrelevant])
    label = rng.integers(3, size=rows)
    share = rng.random((rows, 1))
    first, second = waves()[np.array(PAIRS)[label]].transpose(1, 0, 2)
    values = share * first + (1.0 - share) * second
    values = np.hstack([values, np.zeros((rows, irrelevant))])
    return np.round(values + rng.standard_normal(values.shape), 2), label


def _led_set(name: str, rows: int, irrelevant: int) -> DataSet:
    import pandas as pd

    bits, digit = led(rows, irrelevant=irrelevant)
    text = np.array(["0", "1"], dtype=object)[bits]
    columns = [f"segment{at}" for at in range(1, SEGMENTS + 1)]
    columns += [f"random{at}" for at in range(1, irrelevant + 1)]
    return DataSet(name, pd.DataFrame(text, columns=columns, dtype=object), digit)


def _waveform_set(name: str, rows: int, irrelevant: int) -> DataSet:
    import pandas as pd

    values, label = waveform(rows, irrelevant=irrelevant)
    columns = [f"x{at}" for at in range(1, values.shape[1] + 1)]
    return DataSet(name, pd.DataFrame(values, columns=columns), label)


GENERATORS: dict[str, Callable[[], DataSet]] = {
    "led": lambda: _led_set("led", 1_000, 0),
    "led17": lambda: _led_set("led17", 10_000, 17),
    "waveform": lambda: _waveform_set("waveform", 5_000, 0),
    "waveform_noise": lambda: _waveform_set("waveform_noise", 5_000, 19),
}


def generate(name: str) -> DataSet:
    """Return one generated set, by its name in GENERATORS."""
    if name not in GENERATORS:
        known = ", ".join(GENERATORS)
        raise ValueError(f"The name of a set must be one of {known}. Got {name!r}.")
    return GENERATORS[name]()


def read_set(name: str) -> DataSet:
    """Return a set, loaded or generated."""
    return generate(name) if name in GENERATORS else load(name)
