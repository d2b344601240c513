"""Tables of categories as matrices of codes: codes stay, other values are numbered."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_X_y, validate_data

from bayesieve._description import Saved
from bayesieve._estimator import CountingEstimator
from bayesieve.counts import ClassCounts
from bayesieve.preprocessing._mixed_columns import (
    as_numbers,
    columns_of,
    refuse_another_kind,
)
from bayesieve.preprocessing._table_columns import read_levels
from bayesieve.utils._validation import describe_column

__all__ = ["CategoryCounter", "Values", "code_columns", "table_columns"]

#: Of each column, its values in the order of their codes; None where the column holds
#: codes. A missing value is None.
Values = list[list[Hashable] | None]
#: Code of a value that was not met in training; tables of categories are narrower.
_UNSEEN = 2**31


def table_columns(X: Any) -> list[Any] | None:
    """The columns of a table with other values than codes; None for other input.

    Values are strings, booleans beside strings, categories, and whatever is missing.
    """
    if sparse.issparse(X):
        return None
    if hasattr(X, "dtypes") and hasattr(X, "iloc"):
        dtypes = list(X.dtypes)
        if all(isinstance(own, np.dtype) and own.kind in "biu" for own in dtypes):
            return None
    elif not hasattr(X, "columns"):
        array = np.asarray(X)
        if array.ndim != 2 or array.dtype.kind in "biuc":
            return None
        if array.dtype.kind == "f" and not np.isnan(array).any():
            return None
    columns, _ = columns_of(X)
    return None if all(_holds_codes(column) for column in columns) else columns


def _holds_codes(column: Any) -> bool:
    """Whether a column holds numbers, or booleans by dtype, and all of them."""
    if hasattr(column.dtype, "fill_value"):  # sparse columns of pandas
        return True
    if str(column.dtype).lower() in ("bool", "boolean"):
        missing = column.is_null() if hasattr(column, "is_null") else column.isna()
        return not missing.any()
    numbers = as_numbers(column)
    return numbers is not None and not np.isnan(numbers).any()


def _first_values(columns: Sequence[Any], names: Any) -> Values:
    """What each column of a first table holds: codes, or values yet to be met."""
    found: Values = []
    for j, column in enumerate(columns):
        numbers = as_numbers(column)
        missing = None if numbers is None else np.isnan(numbers)
        if numbers is not None and missing is not None and missing.any():
            there = numbers[~missing]
            bad = there[(there < 0) | (there != np.floor(there)) | np.isinf(there)]
            if bad.size:
                raise ValueError(
                    f"Value {bad[0].item()!r} found in {describe_column(j, names)}; "
                    "a column of numbers must hold category codes 0, 1, 2, ... or "
                    "missing values. Hint: astype('category') takes any numbers as "
                    "categories, and SelectiveNB cuts them."
                )
        found.append([] if missing is None or missing.any() else None)
    return found


def code_columns(
    columns: Sequence[Any],
    values: Values,
    where: Sequence[str],
    *,
    learn: bool,
) -> np.ndarray:
    """The codes of columns, as floats of shape (n_rows, n_columns).

    With `learn` new values are added to `values`; otherwise they get a code beyond all
    tables, as a missing value in a column of codes does.
    """
    block = np.empty((len(columns[0]), len(columns)), order="F")
    for j, column in enumerate(columns):
        own = values[j]
        if own is None:
            block[:, j] = _own_codes(column, where[j], learn)
            continue
        levels = read_levels(column, where[j])
        code = {value: i for i, value in enumerate(own)}
        met = [_plain(value) for value in levels.values]
        refuse_another_kind(own, met, where[j])
        if learn:
            own.extend(value for value in met if value not in code)
            code = {value: i for i, value in enumerate(own)}
        place = np.array([code.get(value, _UNSEEN) for value in met], dtype=np.float64)
        block[:, j] = place[levels.codes]
    return block


def _plain(value: Any) -> Hashable:
    """Whole numbers as ints: beside missing ones, pandas makes floats of them."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value  # type: ignore[no-any-return]


def _own_codes(column: Any, where: str, learn: bool) -> np.ndarray:
    """The numbers of a column of codes."""
    numbers = as_numbers(column)
    if numbers is None:
        levels = read_levels(column, where)
        met = [np.nan if value is None else value for value in levels.values]
        other = [value for value in met if not isinstance(value, bool | float)]
        if other:
            raise ValueError(
                f"{where[0].upper()}{where[1:]} held category codes when fitted and "
                f"must hold codes now. Got values such as {other[0]!r}."
            )
        numbers = np.array(met, dtype=np.float64)[levels.codes]
    missing = np.isnan(numbers)
    if not missing.any():
        return numbers
    if learn:
        raise ValueError(
            f"NaN found in {where}; it held category codes in the first rows and must "
            "hold codes in all of them. Hint: give the column as strings or categories "
            "from the first rows on."
        )
    return np.where(missing, float(_UNSEEN), numbers)


class CategoryCounter(CountingEstimator):
    """Base of the estimators that count categories: matrices of codes, or tables.

    In a table, columns of whole numbers without a missing value are codes and all
    others hold values, which are numbered in the order in which they come.
    ``_column_values`` are those of all columns, and stay where the counts do.
    """

    _saved: ClassVar[dict[str, Saved]] = {
        "_column_values": Saved("category values", "m", optional=True),
    }
    _column_values: Values | None = None

    def _checked_rows(self, X: Any, y: Any, *, first: bool) -> tuple[Any, Any]:
        known = None if first else self._column_values
        columns = None
        if self._count_kind() == "category":
            columns = columns_of(X)[0] if known is not None else table_columns(X)
        if columns is None:
            self._column_values = None
            return super()._checked_rows(X, y, first=first)
        validate_data(self, X, reset=first, skip_check_array=True)
        names = getattr(self, "feature_names_in_", None)
        if first:
            known = _first_values(columns, names)
        elif known is None:  # earlier rows were all codes
            known = [None] * len(columns)
        values = [None if own is None else [*own] for own in known]
        where = [describe_column(j, names) for j in range(len(columns))]
        codes = code_columns(columns, values, where, learn=True)
        codes, y = check_X_y(codes, y, ensure_all_finite=False, estimator=self)
        self._column_values = values
        return codes, y

    def _forget_rows(self) -> None:
        super()._forget_rows()
        self._column_values = None

    def _learn(self, counts: ClassCounts) -> None:
        super()._learn(counts)
        if not self.keep_counts:
            self._column_values = None
