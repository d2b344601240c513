"""The `gene_*` sets as the models take them: how counts are made of expression values.

The multinomial model needs values that are not negative. Where a file has none that is
(alon, tox171: intensities; all_bt, bladder: logarithms to base 2), its values are taken
as they are, as the paper did with its RNA sequences, logarithms too. Where it has
(golub, 11tumors: intensities after a background was taken off; khan: logarithms of
ratios), each column is moved up by its minimum over the training rows, and a test value
below that is 0. The three sets of logarithms are also raised to their powers, which
gives back intensities. The Gaussian model takes the values of the file.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ledger import data_folder, read_data


@dataclass(frozen=True)
class GeneSet:
    """One file, the base of its logarithms if any, and one class against the rest."""

    file: str
    title: str
    base: float | None = None
    against_rest: str | None = None


SETS = {
    "golub": GeneSet("gene_golub", "golub"),
    "alon": GeneSet("gene_alon", "alon"),
    "all_bt": GeneSet("gene_all_bt", "all_bt", base=2.0),
    "bladder2": GeneSet("gene_bladder", "bladder, cancer or not", 2.0, "Cancer"),
    "bladder": GeneSet("gene_bladder", "bladder", base=2.0),
    "khan": GeneSet("gene_khan", "khan", base=float(np.e)),
    "tox171": GeneSet("gene_tox171", "tox171"),
    "11tumors": GeneSet("gene_11tumors", "11tumors"),
}
VALUES = {
    "as they are": "values of the file",
    "shifted": "each column less its minimum over the training rows",
    "powers": "the logarithms of the file raised to their powers",
}


def available() -> list[str]:
    """Return the names of the sets whose files are here."""
    folder = data_folder()
    return [n for n, s in SETS.items() if (folder / f"{s.file}.parquet").is_file()]


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the values and the labels as codes."""
    data = SETS[name]
    frame = read_data(data.file)
    label = frame["label"].astype(str).to_numpy()
    if data.against_rest is not None:
        label = np.where(label == data.against_rest, "yes", "no")
    X = frame.drop(columns="label").to_numpy(dtype=np.float64)
    return X, np.unique(label, return_inverse=True)[1]


def kinds_of_counts(X: np.ndarray, base: float | None) -> list[str]:
    """Return how counts are made of these values."""
    first = "shifted" if (X < 0).any() else "as they are"
    return [first] if base is None else [first, "powers"]


def as_counts(
    train: np.ndarray, test: np.ndarray, kind: str, base: float | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return both sides as values that are not negative."""
    if kind == "as they are":
        return train, test
    if kind == "powers":
        if base is None:
            raise ValueError("Powers need the base of the logarithms. Got None.")
        return base**train, base**test
    least = train.min(axis=0)
    return train - least, np.maximum(test - least, 0.0)
