"""The labels of a file: read once, so that every class is known before any counting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._progress import Progress

__all__ = ["HeldOut", "Labels", "as_labels", "read_labels", "rows_with_codes"]


@dataclass(frozen=True)
class Labels:
    """The classes of a column, sorted, and which value stands for which.

    Attributes
    ----------
    column : str
    classes : ndarray of shape (n_classes,)
    rows : ndarray of shape (n_classes,)
        Rows of each class.
    codes : dict
        Value as read to the number of its class; None for a missing one.
    """

    column: str
    classes: np.ndarray
    rows: np.ndarray
    codes: dict[Any, int]

    @property
    def n_rows(self) -> int:
        """Rows that have a label."""
        return int(self.rows.sum())

    @property
    def majority(self) -> int:
        """The number of the class with most rows."""
        return int(np.argmax(self.rows))

    def encode(self, values: Any) -> np.ndarray:
        """Return the number of the class of each value of an Arrow array, or -1."""
        coded = values.dictionary_encode()
        table = [self.codes.get(_key(v), -1) for v in coded.dictionary.to_pylist()]
        places = coded.indices.fill_null(len(table)).to_numpy(zero_copy_only=False)
        return np.array([*table, -1], dtype=np.int64)[places]


def _key(value: Any) -> Any:
    # 1 and True are one key of a dictionary, but not one label.
    return (type(value).__name__, value)


def read_labels(files: DataFiles, column: str, used: Sequence[str] = ()) -> Labels:
    """Read one column and make classes of its values.

    Parameters
    ----------
    files : DataFiles
    column : str
    used : sequence of str
        Columns that are read later. DuckDB looks at no others, so a row whose text
        cannot be read is found, and left out, only where its text is asked for.
    """
    columns = [column]
    if files.skip_bad_rows and files.is_text:
        columns += used
    seen: dict[Any, int] = {}
    missing: tuple[str, int] | None = None
    unlabelled = done = 0
    with Progress("Reading labels") as bar:
        for path, before, batch in files.rows(columns):
            values = batch.column(0)
            if str(values.type).startswith(("list", "large_list", "struct", "map")):
                raise CommandError(
                    f"column {column!r} holds {values.type}, which cannot be labels."
                )
            coded = values.dictionary_encode()
            found = coded.dictionary.to_pylist()
            places = coded.indices.fill_null(len(found)).to_numpy(zero_copy_only=False)
            counts = np.bincount(places, minlength=len(found) + 1)
            for value, count in zip([*found, None], counts.tolist(), strict=True):
                if _is_missing(value):
                    unlabelled += count
                    if count and missing is None:
                        gone = [_is_missing(v) for v in [*found, None]]
                        first = int(np.argmax(np.array(gone)[places]))
                        missing = (path, before + first + 1)
                elif count:
                    key = _key(value)
                    seen[key] = seen.get(key, 0) + count
            done += batch.num_rows
            bar.update(done, "rows")
    if not done and not files.skip_bad_rows:
        raise CommandError(f"{files.paths[0]!r} has no rows.")
    if missing is not None and not files.skip_bad_rows:
        path, row = missing
        raise CommandError(
            f"row {row:,} of {path!r} has no label in column {column!r}. "
            "Hint: --skip-bad-rows leaves such rows out."
        )
    files.warn_skipped(unlabelled)
    return as_labels(column, seen, from_text=files.is_text)


def _is_missing(value: Any) -> bool:
    return value is None or value == "" or value != value


def as_labels(column: str, seen: dict[Any, int], *, from_text: bool) -> Labels:
    """Make sorted classes of the values met, and refuse what cannot be labels."""
    n_rows = sum(seen.values())
    if not seen:
        raise CommandError(f"there is no row with a label in column {column!r}.")
    if len(seen) == 1:
        ((_, value),) = seen
        raise CommandError(
            f"column {column!r} has one value only, {value!r}; two classes or more are "
            "needed."
        )
    if len(seen) > max(50, n_rows // 4):
        raise CommandError(
            f"column {column!r} has {len(seen):,} different values in {n_rows:,} rows, "
            "too many for a label. Hint: --label COL names another column."
        )
    values = [value for _, value in seen]
    kinds = {kind for kind, _ in seen}
    if not (kinds <= {"int", "float"} or len(kinds) == 1) or kinds & {"list", "dict"}:
        raise CommandError(
            f"labels must all be of one kind. Column {column!r} has "
            f"{' and '.join(sorted(kinds))}."
        )
    labels = _as_written(values) if from_text else values
    if kinds - {"int", "float", "bool", "str"}:
        labels = [str(value) for value in values]  # dates and decimals
    classes = np.unique(np.array(labels))
    if len(classes) != len(labels):
        raise CommandError(f"labels of column {column!r} cannot be told apart.")
    place = {label: i for i, label in enumerate(classes.tolist())}
    codes = {key: place[label] for key, label in zip(seen, labels, strict=True)}
    rows = np.zeros(len(classes), dtype=np.int64)
    for key, count in seen.items():
        rows[codes[key]] = count
    return Labels(column, classes, rows, codes)


def _as_written(texts: list[str]) -> list[Any]:
    """Return numbers or truth values where all of a CSV file's labels are such."""
    for truth in ({"True": True, "False": False}, {"true": True, "false": False}):
        if all(text in truth for text in texts):
            return [truth[text] for text in texts]
    whole = [_whole(text) for text in texts]
    return texts if None in whole else whole


def _whole(text: str) -> int | None:
    try:
        value = int(text) if len(text) < 19 and text.isascii() else None
    except ValueError:
        return None
    return value if str(value) == text else None


def rows_with_codes(
    files: DataFiles, columns: list[str], labels: Labels
) -> Iterator[tuple[np.ndarray, Any]]:
    """Yield (class numbers, Arrow batch with the columns), without unlabelled rows.

    The columns are c0, c1, ...; a row without a label was an error already, unless such
    rows are to be left out.
    """
    for _, _, batch in files.rows([*columns, labels.column]):
        codes = labels.encode(batch.column(len(columns)))
        kept = codes >= 0
        if not kept.all():
            batch = batch.take(np.flatnonzero(kept))
            codes = codes[kept]
        yield codes, batch


class HeldOut:
    """Which rows are held out: the same share of every class, row by row of a stream.

    Of each block of rows of a class a fixed number is taken at random; the first row of
    a class is always learnt from. The same seed gives the same rows again, whatever the
    batches are, so nothing needs to be remembered between two passes over a file.

    Parameters
    ----------
    share : float
        Share of the rows, to the nearest hundredth; 0 holds nothing out.
    n_classes : int
    seed : int
    folds : int, optional
        Give each row a fold in 0, 1, ... instead of holding a share out.
    """

    def __init__(
        self, share: float, n_classes: int, seed: int = 0, folds: int | None = None
    ) -> None:
        self._size = folds if folds is not None else _block_size(share)
        self._taken = 0 if folds is not None else round(share * self._size)
        if share > 0 and folds is None:
            self._taken = min(max(self._taken, 1), self._size - 1)
        self._folds = folds
        self._seed = np.uint64(seed)
        self._seen = np.zeros(n_classes, dtype=np.int64)

    def mask(self, codes: np.ndarray) -> np.ndarray:
        """Tell which of the next rows are held out."""
        return (self._places(codes) < self._taken) & (self._rank > 0)

    def fold(self, codes: np.ndarray) -> np.ndarray:
        """Return the fold of each of the next rows."""
        return self._places(codes)

    def _places(self, codes: np.ndarray) -> np.ndarray:
        """Place of each row in the random order of its block."""
        self._rank = np.zeros(codes.shape[0], dtype=np.int64)
        places = np.zeros(codes.shape[0], dtype=np.int64)
        for code in np.unique(codes):
            rows = np.flatnonzero(codes == code)
            rank = self._seen[code] + np.arange(rows.size)
            self._seen[code] += rows.size
            first, last = rank[0] // self._size, rank[-1] // self._size + 1
            whole = np.arange(first * self._size, last * self._size)
            noise = _scrambled(whole, self._seed + np.uint64(1000003 * (int(code) + 1)))
            order = np.argsort(noise.reshape(-1, self._size), axis=1)
            found = np.argsort(order, axis=1).reshape(-1)
            places[rows] = found[rank - whole[0]]
            self._rank[rows] = rank
        return places


def _block_size(share: float) -> int:
    return 20 if abs(share * 20 - round(share * 20)) < 1e-9 else 100


def _scrambled(numbers: np.ndarray, seed: np.uint64) -> np.ndarray:
    """A random number for each whole number, always the same (splitmix64)."""
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + seed) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))
