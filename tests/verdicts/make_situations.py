"""Twenty situations, each a small file with one thing to be noticed.

``python tests/verdicts/make_situations.py FOLDER`` writes them all, to be looked at.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

WORDS = [f"{a}{b}" for a in "bdfgklmnprst" for b in ("an", "el", "ir", "os", "um")]
Rows = tuple[list[str], list[tuple[Any, ...]]]


@dataclass(frozen=True)
class Situation:
    """A file, options for select, and what its verdict must and must not say."""

    name: str
    make: Callable[[np.random.Generator], Rows]
    must: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    headline: str = "Right on"

    def write(self, folder: Path) -> Path:
        """Write the file; the same each time."""
        header, rows = self.make(np.random.default_rng(19))
        path = folder / f"{self.name}.csv"
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
        return path


def text(rng, label, strength=0.25, tell=3, length=12, shift=0):
    """A text whose words lean to its class."""
    words = rng.choice(WORDS, size=length).tolist()
    for i in range(length):
        if rng.random() < strength:
            words[i] = WORDS[(int(label) * tell + rng.integers(tell) + shift) % 60]
    return " ".join(words)


def texts(n, shares=(0.5, 0.5), **how):
    def make(rng):
        labels = rng.choice(len(shares), size=n, p=shares)
        return ["text", "label"], [
            (text(rng, c, **how), f"c{c}") for c in labels.tolist()
        ]

    return make


def noise_texts(rng):
    return ["text", "label"], [
        (" ".join(rng.choice(WORDS, size=12)), rng.choice(["a", "b"]))
        for _ in range(600)
    ]


def noise_table(rng):
    rows = [
        (*(f"{v:.3f}" for v in rng.normal(size=6)), rng.choice(["no", "yes"]))
        for _ in range(500)
    ]
    return [*(f"m{j}" for j in range(6)), "label"], rows


def table(n, leak=False, rare=0.5, signal=1.0, drift=False, copies=0, sort=False):
    def make(rng):
        rows = []
        for i in range(n):
            y = int(rng.random() < rare)
            sign = -1.0 if drift and i >= n // 2 else 1.0
            a = rng.normal(sign * signal * (2 * y - 1))
            b = rng.normal(0.5 * signal * (2 * y - 1))
            row = [f"{a:.3f}", f"{b:.3f}", rng.choice(["x", "y", "z"])]
            if leak:
                row.append(f"{10 * y + rng.normal():.3f}")
            rows.append((*row, *([f"{a:.3f}"] * copies), ["no", "yes"][y]))
        if sort:
            rows.sort(key=lambda row: row[-1])
        names = ["a", "b", "kind", *(["afterwards"] if leak else [])]
        names += [f"a{j}" for j in range(copies)]
        return [*names, "label"], rows

    return make


def redundant_texts(rng):
    """Every telling word comes with nine that say the same."""
    rows = []
    for _ in range(800):
        y = int(rng.random() < 0.5)
        words = rng.choice(WORDS, size=10).tolist()
        said = y if rng.random() < 0.8 else 1 - y
        words += [f"echo{said}{j}" for j in range(10)]
        rows.append((" ".join(rng.permutation(words)), f"c{y}"))
    return ["text", "label"], rows


def perfect_texts(rng):
    rows = []
    for _ in range(600):
        y = int(rng.random() < 0.5)
        words = rng.choice(WORDS, size=8).tolist()
        words += [f"t{y}{j}" for j in rng.integers(6, size=4)]
        rows.append((" ".join(words), f"c{y}"))
    return ["text", "label"], rows


def leaking_texts(rng):
    rows = []
    for _ in range(600):
        y = int(rng.random() < 0.5)
        mark = ["refused", ""][y] if rng.random() < 0.99 else ["", "refused"][y]
        rows.append((f"{text(rng, y)} {mark}", f"c{y}"))
    return ["text", "label"], rows


def drifting_texts(rng):
    """What spoke for one class speaks for the other in the second half of the file."""
    rows = []
    for i in range(1600):
        y = int(rng.random() < 0.5)
        said = y if i < 800 else 1 - y
        rows.append((text(rng, said, strength=0.4) + f" era{i // 800}", f"c{y}"))
    return ["text", "label"], rows


def missed_class(rng):
    """A class of its own, rare, and like another one."""
    rows = []
    for _ in range(1200):
        y = int(rng.choice(3, p=[0.55, 0.39, 0.06]))
        rows.append((text(rng, min(y, 1), strength=0.35), ["a", "b", "hidden"][y]))
    return ["text", "label"], rows


def weak_many(rng):
    """Three hundred words that each say very little: all of them say more."""
    vocabulary = [f"w{j}" for j in range(300)]
    lean = rng.normal(0.0, 0.45, size=300)
    rows = []
    for _ in range(700):
        y = int(rng.random() < 0.5)
        chance = np.exp((2 * y - 1) * lean)
        words = rng.choice(vocabulary, size=14, p=chance / chance.sum())
        rows.append((" ".join(words), f"c{y}"))
    return ["text", "label"], rows


SITUATIONS = (
    Situation("noise_texts", noise_texts, never=("leak",), headline="N"),
    Situation(
        "noise_texts_proven",
        noise_texts,
        must=("guessing",),
        options=("-k", "13"),
        headline="No better than guessing",
    ),
    Situation("noise_table", noise_table, never=("leak",), headline="N"),
    Situation(
        "all_chosen",
        lambda rng: (
            ["text", "label"],
            [
                (" ".join(rng.choice(WORDS[:13], size=6)), rng.choice(["a", "b"]))
                for _ in range(500)
            ],
        ),
        must=("guessing", "empty proof"),
        options=("-k", "13"),
        headline="No better than guessing",
    ),
    Situation("leak_table", table(500, leak=True), must=("leak",)),
    Situation("leak_texts", leaking_texts, must=("leak",)),
    Situation("tiny_texts", texts(24), must=("tiny",), headline=""),
    Situation("tiny_table", table(30, signal=0.7), must=("tiny",), headline=""),
    Situation(
        "unbalanced_texts",
        texts(1500, (0.9, 0.1), strength=0.35),
        must=("unbalanced",),
        never=("leak", "tiny"),
    ),
    Situation("unbalanced_table", table(1500, rare=0.08), must=("unbalanced",)),
    Situation("missed_class", missed_class, must=("missed class",)),
    Situation("redundant_texts", redundant_texts, must=("redundant",)),
    Situation(
        "redundant_proven",
        redundant_texts,
        must=("weights",),
        options=("-k", "20"),
    ),
    Situation("copied_columns", table(600, copies=4), never=("guessing", "leak")),
    Situation("perfect_texts", perfect_texts, must=("perfect",), never=("tiny",)),
    Situation("drift_texts", drifting_texts, must=("drift",), headline=""),
    Situation("drift_table", table(1200, drift=True), must=("drift",), headline=""),
    Situation(
        "sorted_rows",
        table(1200, sort=True),
        never=("drift", "guessing", "leak"),
    ),
    Situation("weak_words", weak_many, must=("all features",), options=("-k", "20")),
    Situation(
        "good_texts",
        texts(1500, strength=0.3),
        never=("guessing", "leak", "drift", "tiny", "perfect", "missed class"),
    ),
    Situation(
        "good_table",
        table(1500),
        never=("guessing", "leak", "drift", "tiny", "perfect", "missed class"),
    ),
    Situation("more_rows", weak_many, must=("more rows",)),
)

if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for situation in SITUATIONS:
        print(situation.write(target), *situation.options)
