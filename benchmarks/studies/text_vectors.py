"""The five texts of Askari, d'Aspremont and El Ghaoui and their four feature vectors.

The counts in the paper's Tables 1 and 2 give the vectors away. With one-letter words
(`\\w{1,}`) and the vocabulary of training and test rows together, MPQA has exactly
the printed 6,208 words, and exactly the printed 27,603 "bigrams" when these are n-grams
of two *and three* words. So are ours; only the vocabulary is that of the training rows
alone, since test rows are not known when features are chosen.

Splits: as in the paper, random ones of the sizes of Table 1. The first of IMDB is the
official one. The tests of SST2 are always the official sentences (its training rows are
phrases of one another, a split by row would leak): later splits train on a random 90 %
of the phrases. The tweets are a sample; a fifth of them is the test part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from ledger import data_folder, read_data
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import StratifiedShuffleSplit

SEED = 20200601
LIMIT = 5_000  # tf-idf features of Experiment 1
FILES = {
    "mpqa": "mpqa",
    "amazon": "amazon_mds",
    "sst2": "sst2",
    "twitter": "twitter_s140_sample",
    "imdb": "imdb",
}
TITLES = {
    "mpqa": "MPQA",
    "amazon": "Amazon",
    "sst2": "SST2",
    "twitter": "Twitter",
    "imdb": "IMDB",
}
TEST_SIZES = {"mpqa": 2_122, "amazon": 0.2, "twitter": 0.2, "imdb": 25_000}
KEPT_PHRASES = 0.9  # of SST2, after the first split
NAMES = tuple(FILES)  # small ones first: the order of the work
VECTORS = {
    "count": "count",
    "tfidf": "tf-idf",
    "word_bigram": "tf-idf word bigram",
    "char_bigram": "tf-idf char bigram",
}


@dataclass(frozen=True)
class Texts:
    """Rows, labels as codes, and the official part: "train", "test" or "all"."""

    name: str
    rows: np.ndarray
    y: np.ndarray
    part: np.ndarray


@dataclass(frozen=True)
class Vectors:
    """One split as sparse rows (CSR, sorted), both sides, and the training terms."""

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    names: np.ndarray


def available() -> list[str]:
    """Return the names of the sets whose files are here."""
    folder = data_folder()
    return [n for n, file in FILES.items() if (folder / f"{file}.parquet").is_file()]


def load(name: str) -> Texts:
    """Return a set by its name."""
    frame = read_data(FILES[name])
    if name == "twitter":  # the sample alone: neutral tweets are in its test part only
        frame = frame[frame["split"] == "train"]
    frame = frame[frame["split"] != "dev"]
    y = np.unique(frame["label"].to_numpy(), return_inverse=True)[1]
    texts = frame["text"].to_numpy(dtype=object)
    return Texts(name, texts, y, frame["split"].to_numpy())


def split_rows(data: Texts, at: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and the test rows of one split."""
    official = tuple(np.flatnonzero(data.part == side) for side in ("train", "test"))
    if data.name == "sst2":
        train, test = official
        return (train if at == 0 else part_of(data.y, train, at)), test
    if data.name == "imdb" and at == 0:
        return official
    size = TEST_SIZES[data.name]
    cut = StratifiedShuffleSplit(1, test_size=size, random_state=SEED + at)
    train, test = next(iter(cut.split(np.zeros((data.y.shape[0], 1)), data.y)))
    return np.sort(train), np.sort(test)


def part_of(y: np.ndarray, rows: np.ndarray, at: int) -> np.ndarray:
    """Return a random stratified part of some rows."""
    cut = StratifiedShuffleSplit(1, train_size=KEPT_PHRASES, random_state=SEED + at)
    kept, _ = next(iter(cut.split(np.zeros((rows.shape[0], 1)), y[rows])))
    return np.sort(rows[kept])


def vectorizer(vector: str, max_features: int | None) -> Any:
    """Return what makes one of the four vectors; counts are never limited."""
    if vector == "count":
        return CountVectorizer(token_pattern=r"\w{1,}")
    if vector == "char_bigram":
        return TfidfVectorizer(
            analyzer="char", ngram_range=(2, 3), max_features=max_features
        )
    return TfidfVectorizer(
        token_pattern=r"\w{1,}",
        ngram_range=(1, 1) if vector == "tfidf" else (2, 3),
        max_features=max_features,
    )


def vectors(
    data: Texts, vector: str, at: int, *, max_features: int | None = LIMIT
) -> Vectors:
    """Return one split as one of the four vectors over the terms of its train rows."""
    train, test = split_rows(data, at)
    maker = vectorizer(vector, max_features)
    X_train = maker.fit_transform(data.rows[train])
    X_test = maker.transform(data.rows[test])
    for X in (X_train, X_test):
        X.sort_indices()
    names = maker.get_feature_names_out()
    return Vectors(X_train, data.y[train], X_test, data.y[test], names)


def wanted_size(n_columns: int, percent: float) -> int:
    """Return k for a share of the columns in percent; at least 2, as k = 1 is none."""
    return max(2, round(n_columns * percent / 100))
