"""Columns of a mixed table as numbers or as coded levels, and which is which."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.preprocessing._mixed_columns import as_numbers, columns_of
from bayesieve.utils._arrays import coded_values, holds_objects
from bayesieve.utils._exact_numbers import (
    Origin,
    choose_origin,
    warn_if_rounded,
    whole_column,
)
from bayesieve.utils._reads_like_text import reads_like_text
from bayesieve.utils._validation import is_missing

__all__ = [
    "Levels",
    "TableReader",
    "check_distinct_names",
    "match_by_name",
    "read_levels",
    "read_texts",
]


@dataclass(frozen=True)
class Levels:
    """A categorical column: its distinct values and the code of every row.

    Missing values are the level ``None``.
    """

    codes: np.ndarray
    values: list[Hashable]


def read_levels(column: Any, name: str) -> Levels:
    """Code the values of a categorical column in order of first appearance."""
    if hasattr(column, "cat") and hasattr(column, "iloc"):  # pandas, category dtype
        column = column.cat.remove_unused_categories()
        return _with_missing(
            np.asarray(column.cat.codes, dtype=np.int64), column.cat.categories.tolist()
        )
    if hasattr(column, "iloc") and not holds_objects(column.dtype):
        import pandas as pd

        try:
            codes, values = pd.factorize(column)
        except TypeError as error:
            raise _not_plain(name, error) from error
        return _with_missing(np.asarray(codes, dtype=np.int64), _plain(values.tolist()))
    values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    try:
        codes, distinct = coded_values(values)
    except TypeError as error:
        raise _not_plain(name, error) from error
    return _merge_missing(codes, _plain(distinct))


def _plain(values: list[Any]) -> list[Hashable]:
    return [v.item() if isinstance(v, np.generic) else v for v in values]


def _not_plain(name: str, error: Exception) -> TypeError:
    return TypeError(
        f"A categorical column must hold strings, numbers or other plain values. "
        f"Got {error} in {name}; argument must be a string or a number."
    )


def _with_missing(codes: np.ndarray, values: list[Any]) -> Levels:
    missing = codes < 0
    if missing.any():
        codes = np.where(missing, len(values), codes)
        values = [*values, None]
    return Levels(codes, values)


def _merge_missing(codes: np.ndarray, values: list[Any]) -> Levels:
    """Make one level of None, NaN, NaT and NA."""
    missing = [is_missing(value) for value in values]
    if not any(missing):
        return Levels(codes, values)
    place = np.cumsum(~np.array(missing)) - 1
    kept = [v for v, gone in zip(values, missing, strict=True) if not gone]
    place[missing] = len(kept)
    return Levels(place[codes], [*kept, None])


def read_texts(column: Any, name: str) -> list[str]:
    """The texts of a column; a missing one is empty."""
    values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    for row in _not_strings(values):
        if not is_missing(values[row]):
            raise ValueError(
                "A text column must hold strings or missing values. "
                f"Got {values[row]!r} at row {row} of {name}."
            )
        values[row] = ""
    return list(values)


def _not_strings(values: list[Any]) -> list[int]:
    """Rows that hold something else than a string."""
    if set(map(type, values)) <= {str}:
        return []
    return [row for row, value in enumerate(values) if not isinstance(value, str)]


def _is_text(column: Any) -> bool:
    """Whether a column without numbers holds texts; categories by dtype do not."""
    if str(column.dtype).startswith(("category", "Categorical", "Enum")):
        return False
    values = column.to_list() if hasattr(column, "to_list") else column.tolist()
    for row in _not_strings(values):
        if not is_missing(values[row]):
            return False
        values[row] = None
    return reads_like_text(values)


def _finite(values: np.ndarray, name: str) -> np.ndarray:
    if np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise ValueError(
            "Numbers must be finite or missing. "
            f"Got {float(values[row])!r} at row {row} of {name}: Input X contains "
            "infinity. "
            "Hint: replace it by NaN (missing) or by a large number."
        )
    return values


def check_distinct_names(names: Sequence[str]) -> None:
    """Refuse a table in which two columns share a name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(
                "Columns are matched by name, so names must differ. "
                f"Got {name!r} more than once."
            )
        seen.add(name)


def match_by_name(X: Any, wanted: Sequence[str]) -> Any:
    """Put the columns of a frame in the order of fit; other input passes unchanged.

    Missing or new columns are left for scikit-learn's own message.
    """
    if not (hasattr(X, "columns") and hasattr(X, "shape")):
        return X
    names = list(X.columns)
    if names == list(wanted) or not all(isinstance(name, str) for name in names):
        return X
    check_distinct_names(names)
    if set(names) != set(wanted):
        return X
    return X[list(wanted)]


class TableReader:
    """Reads tables whose columns are all of the kinds met first.

    Parameters
    ----------
    kinds : ndarray of bool
        Whether each column is categorical.
    names : list of str
        How columns are called in messages.
    temporal : ndarray of bool, optional
        Whether each column holds dates, times or durations.
    origins : dict of int to Origin, optional
        Where the numbers of a column are counted from, for columns of integers or times
        that doubles would merge. The first table settles it.
    text : ndarray of bool, optional
        Whether each column holds texts. Such a column is categorical with one level:
        what it says is in its texts, which `texts` reads.
    """

    def __init__(
        self,
        kinds: np.ndarray,
        names: list[str],
        temporal: np.ndarray | None = None,
        origins: dict[int, Origin] | None = None,
        text: np.ndarray | None = None,
    ) -> None:
        self.categorical = kinds
        self.text = np.zeros(kinds.shape, bool) if text is None else text
        self.origins = {} if origins is None else origins
        self.temporal = np.zeros(kinds.shape, bool) if temporal is None else temporal
        self.names = names
        self.numeric_columns = np.flatnonzero(~kinds)
        self.categorical_columns = np.flatnonzero(kinds)

    @classmethod
    def from_table(
        cls, X: Any, categorical_features: Any, text_features: Any = None
    ) -> tuple[TableReader, np.ndarray, list[Levels]]:
        """Decide what each column is, and read the table."""
        all_plain = _no_choice(categorical_features) and _no_texts(text_features)
        if _is_float_matrix(X) and all_plain and _fits(X):
            names = [f"column {j}" for j in range(X.shape[1])]
            reader = cls(np.zeros(X.shape[1], dtype=bool), names)
            return (reader, *reader.read(X))
        columns, frame_names = columns_of(X)
        if frame_names is not None:
            check_distinct_names(frame_names)
        names = [
            f"column {j}" if frame_names is None else f"column {frame_names[j]!r}"
            for j in range(len(columns))
        ]
        forced = _chosen(
            "categorical_features", categorical_features, len(columns), frame_names
        )
        text = _chosen("text_features", text_features, len(columns), frame_names)
        both = np.flatnonzero(forced & text)
        if both.size:
            raise ValueError(
                "A column can be among categorical_features or text_features, not "
                f"both. Got {names[both[0]]} in both."
            )
        kinds = forced | text
        numbers: dict[int, np.ndarray] = {}
        temporal = np.zeros(len(columns), dtype=bool)
        origins: dict[int, Origin] = {}
        for j, column in enumerate(columns):
            if kinds[j]:
                continue
            whole = whole_column(column)
            if whole is None:
                values = as_numbers(column)
                if values is not None:
                    warn_if_rounded(column, values, names[j])
            else:
                origin = choose_origin(whole)
                if origin is not None:
                    origins[j] = origin
                values, temporal[j] = whole.numbers(origin), whole.ticks is not None
                whole.warn_if_merged(values, names[j])
            kinds[j] = values is None
            if values is not None:
                numbers[j] = _finite(values, names[j])
            else:
                text[j] = _is_auto(text_features) and _is_text(column)
        reader = cls(kinds, names, temporal, origins, text)
        block = np.empty((len(columns[0]), len(numbers)), order="F")
        for place, j in enumerate(reader.numeric_columns.tolist()):
            block[:, place] = numbers[j]
        return reader, block, reader._levels(columns)

    def read(self, X: Any, *, learn: bool = False) -> tuple[np.ndarray, list[Levels]]:
        """Return the numeric columns side by side, and the categorical ones coded.

        With `learn` different values that become one are told, as in the first table.
        """
        plain = not (self.categorical.any() or self.temporal.any() or self.origins)
        if plain and hasattr(X, "iloc") and not (learn and _has_wide_integers(X)):
            X = _plain_numbers(X)
        if plain and _is_float_matrix(X) and not (learn and not _fits(X)):
            block = np.asarray(X, dtype=np.float64)
            # One pass tells whether a closer look is needed.
            with np.errstate(over="ignore", invalid="ignore"):
                total = float(block.sum())
            if not np.isfinite(total):
                for j, name in enumerate(self.names):
                    _finite(block[:, j], name)
            return block, []
        columns, _ = columns_of(X)
        block = np.empty((len(columns[0]), self.numeric_columns.size), order="F")
        for place, j in enumerate(self.numeric_columns.tolist()):
            values = self._numbers(columns[j], j, learn)
            block[:, place] = _finite(values, self.names[j])
        return block, self._levels(columns)

    def _levels(self, columns: Sequence[Any]) -> list[Levels]:
        """The categorical columns, coded."""
        return [
            Levels(np.zeros(len(columns[j]), np.int64), [None])
            if self.text[j]
            else read_levels(columns[j], self.names[j])
            for j in self.categorical_columns.tolist()
        ]

    @property
    def text_columns(self) -> np.ndarray:
        """The columns of texts."""
        return np.flatnonzero(self.text)

    def texts(self, X: Any) -> list[list[str]]:
        """The texts of each text column."""
        if not self.text.any():
            return []
        columns, _ = columns_of(X)
        return [
            read_texts(columns[j], self.names[j]) for j in self.text_columns.tolist()
        ]

    def _numbers(self, column: Any, j: int, learn: bool) -> np.ndarray:
        whole, origin = whole_column(column), self.origins.get(j)
        if whole is not None:
            if (whole.ticks is not None) != self.temporal[j]:
                return self._all_missing(column, j)
            values = whole.numbers(origin)
            if learn:
                whole.warn_if_merged(values, self.names[j])
            return values
        floats = None if self.temporal[j] else as_numbers(column)
        if floats is None:
            return self._all_missing(column, j)
        if learn:
            warn_if_rounded(column, floats, self.names[j])
        return floats if origin is None else origin.numbers(floats)

    def _all_missing(self, column: Any, j: int) -> np.ndarray:
        """A column of nothing but missing values may come with any dtype."""
        found = read_levels(column, self.names[j])
        there = [value for value in found.values if value is not None]
        if there:
            kind = "times" if self.temporal[j] else "numbers"
            raise ValueError(
                f"{self.names[j][0].upper()}{self.names[j][1:]} held {kind} when "
                f"fitted and must hold {kind} now. Got values such as {there[0]!r}."
            )
        return np.full(found.codes.shape[0], np.nan)


def _plain_numbers(X: Any) -> Any:
    """A pandas frame of nothing but NumPy's numbers as an array, at one stroke."""
    if all(isinstance(dtype, np.dtype) and dtype.kind in "fiu" for dtype in X.dtypes):
        return X.to_numpy(dtype=np.float64)
    return X


def _has_wide_integers(X: Any) -> bool:
    return any(
        getattr(d, "kind", "O") in "iu" and getattr(d, "itemsize", 8) == 8
        for d in X.dtypes
    )


def _fits(X: np.ndarray) -> bool:
    """Whether doubles hold every number of a matrix; they need no look themselves."""
    if X.dtype.kind == "f":
        return X.dtype.itemsize <= 8
    if X.dtype.itemsize < 8 or not X.size:
        return True
    return max(-int(X.min()), int(X.max())) <= 2**53


def _is_float_matrix(X: Any) -> bool:
    return (
        isinstance(X, np.ndarray)
        and X.ndim == 2
        and X.shape[1] > 0
        and X.dtype.kind in "fiu"
    )


def _no_choice(categorical_features: Any) -> bool:
    return isinstance(categorical_features, str) and (
        categorical_features == "from_dtype"
    )


def _is_auto(text_features: Any) -> bool:
    return isinstance(text_features, str) and text_features == "auto"


def _no_texts(text_features: Any) -> bool:
    """Whether no column of numbers is declared to hold texts."""
    return text_features is None or _is_auto(text_features) or not len(text_features)


#: What a parameter says of columns when it names none of them.
_UNNAMED = {"categorical_features": ("from_dtype",), "text_features": ("auto", None)}


def _chosen(
    parameter: str, given: Any, n_columns: int, names: Sequence[str] | None
) -> np.ndarray:
    """Which columns a parameter names, as a mask."""
    mask = np.zeros(n_columns, dtype=bool)
    if given is None or isinstance(given, str):
        if given in _UNNAMED[parameter]:
            return mask
        given = [given]
    chosen = list(np.asarray(given, dtype=object).reshape(-1))
    if len(chosen) == n_columns and all(isinstance(c, bool | np.bool_) for c in chosen):
        mask[:] = [bool(c) for c in chosen]
        return mask
    for item in chosen:
        if isinstance(item, bool | np.bool_):
            raise ValueError(
                f"A mask of {parameter} must have {n_columns} booleans, one for each "
                f"column. Got {len(chosen)} values."
            )
        if isinstance(item, str) and names is not None and item in names:
            mask[list(names).index(item)] = True
        elif isinstance(item, int | np.integer) and -n_columns <= item < n_columns:
            mask[int(item)] = True
        else:
            raise ValueError(
                f"{parameter} must be {_UNNAMED[parameter][0]!r}, column names, column "
                f"numbers below {n_columns} or a mask of {n_columns} booleans. "
                f"Got {item!r}."
            )
    return mask
