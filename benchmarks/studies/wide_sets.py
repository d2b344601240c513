"""The wide sparse sets of wide_weights.py: rows, labels, splits and vocabularies.

Eight text sets, counted by `CountVectorizer()` as it comes, fitted on the training rows
of each split; two sets of word counts without texts. Where the source has a test part
it is used, once. Elsewhere five stratified resplits take a fifth of the rows for tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import _twenty_newsgroups as newsgroups
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedShuffleSplit

from measurement import data_folder, read_data  # ledger has put its folder on the path

SEED = 20240306
RESPLITS = 5
TEST_SHARE = 0.2
FILES = {
    "cr": "cr",
    "mpqa": "mpqa",
    "words_basehock": "words_basehock",
    "words_relathe": "words_relathe",
    "trec": "trec",
    "mr": "mr",
    "sst2": "sst2",
    "twitter": "twitter_s140_sample",
    "imdb": "imdb",
    "newsgroups20": "newsgroups20",
}
TITLES = {
    "cr": "CR",
    "mpqa": "MPQA",
    "words_basehock": "basehock",
    "words_relathe": "relathe",
    "trec": "TREC",
    "mr": "MR",
    "sst2": "SST2",
    "twitter": "Twitter",
    "imdb": "IMDB",
    "newsgroups20": "20 newsgroups",
}
NAMES = tuple(FILES)  # small ones first: the order of the work


@dataclass(frozen=True)
class WideSet:
    """Rows as texts or as a matrix of counts, labels as codes, and the splits."""

    name: str
    rows: Any
    y: np.ndarray
    fixed: bool
    splits: tuple[tuple[np.ndarray, np.ndarray], ...]

    @property
    def n_classes(self) -> int:
        """How many classes the training rows have."""
        return int(self.y.max()) + 1


@dataclass(frozen=True)
class Part:
    """Counts (CSR, int64) and labels of one split, both sides."""

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray


def body(post: str) -> str:
    """Return a post without header, footer and quotes.

    In the order in which `fetch_20newsgroups(remove=...)` strips them.
    """
    post = newsgroups.strip_newsgroup_header(post)
    post = newsgroups.strip_newsgroup_footer(post)
    return newsgroups.strip_newsgroup_quoting(post)


def available() -> list[str]:
    """Return the names of the sets whose files are here."""
    folder = data_folder()
    return [n for n, file in FILES.items() if (folder / f"{file}.parquet").is_file()]


def resplits(y: np.ndarray, count: int = RESPLITS) -> tuple[Any, ...]:
    """Return that many stratified (train, test) rows; each has its own seed."""
    result = []
    for at in range(count):  # a seed for each: more resplits leave the first as is
        cut = StratifiedShuffleSplit(1, test_size=TEST_SHARE, random_state=SEED + at)
        result += [
            (np.sort(train), np.sort(test))
            for train, test in cut.split(np.zeros((y.shape[0], 1)), y)
        ]
    return tuple(result)


def load(name: str) -> WideSet:
    """Return a set by its name."""
    frame = read_data(FILES[name])
    if name.startswith("words_"):
        labels = frame.pop("label").to_numpy()
        y = np.unique(labels, return_inverse=True)[1]
        counts = sparse.csr_matrix(frame.to_numpy(dtype=np.int64))
        return WideSet(name, counts, y, False, resplits(y))
    if name == "twitter":  # neutral tweets are in the test part alone
        frame = frame[frame["label"] != 2]
    frame = frame[frame["split"] != "dev"]
    texts = frame["text"].to_numpy(dtype=object)
    if name == "newsgroups20":
        texts = np.array([body(text) for text in texts], dtype=object)
    y = np.unique(frame["label"].to_numpy(), return_inverse=True)[1]
    part = frame["split"].to_numpy()
    if np.all(part == "all"):
        return WideSet(name, texts, y, False, resplits(y))
    rows = tuple(np.flatnonzero(part == side) for side in ("train", "test"))
    return WideSet(name, texts, y, True, (rows,))


def counted(data: WideSet, split: int) -> Part:
    """Return the counts of one split over the words of its training rows."""
    train, test = data.splits[split]
    if sparse.issparse(data.rows):
        X_train, X_test = data.rows[train], data.rows[test]
        seen = np.flatnonzero(np.diff(X_train.tocsc().indptr))
        X_train, X_test = X_train[:, seen], X_test[:, seen]
    else:
        vectorizer = CountVectorizer()
        X_train = vectorizer.fit_transform(data.rows[train])
        X_test = vectorizer.transform(data.rows[test])
    for X in (X_train, X_test):
        X.sort_indices()
    return Part(X_train, data.y[train], X_test, data.y[test])


def wanted_sizes(n_columns: int, shares: Sequence[float]) -> list[int]:
    """Return k for each share of the columns, in percent."""
    return [max(1, round(n_columns * share / 100)) for share in shares]
