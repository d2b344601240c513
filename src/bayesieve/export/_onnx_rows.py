"""Rows as an ONNX model of `to_onnx` takes them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve._scorecard import InputColumn
from bayesieve.export._onnx import NO_INTEGER, TICKS_OF
from bayesieve.export._scorecard import read_column
from bayesieve.preprocessing._mixed_columns import columns_of
from bayesieve.preprocessing._table_columns import check_distinct_names
from bayesieve.text._matching import TermMatcher
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import TermNames
from bayesieve.utils._exact_numbers import whole_column
from bayesieve.utils._validation import is_missing

__all__ = ["onnx_inputs"]

_FARTHEST = np.iinfo(np.int64).max


def onnx_inputs(onnx_model: Any, X: Any) -> dict[str, np.ndarray]:
    """Return rows as an ONNX model takes them: an array for each of its inputs.

    What each input wants is written in the model, by `to_onnx`. Where bayesieve is not
    installed a few lines do the same, as the guide shows.

    Parameters
    ----------
    onnx_model : onnx.ModelProto or onnxruntime.InferenceSession
        Made by `to_onnx`.
    X : DataFrame, array-like, sparse matrix, or sequence of texts
        Rows as the classifier takes them. Sparse rows are made dense: give them in
        batches.

    Returns
    -------
    inputs : dict of str to ndarray

    See Also
    --------
    to_onnx : Such a model.

    Examples
    --------
    >>> import onnxruntime
    >>> from bayesieve import SparseTextNB, onnx_inputs, to_onnx
    >>> texts = ["good good film", "a good plot", "a bad film", "bad bad plot"]
    >>> model = SparseTextNB(k=2).fit(texts, [1, 1, 0, 0])
    >>> onnx_model = to_onnx(model, texts="counts")
    >>> inputs = onnx_inputs(onnx_model, ["good and bad and good"])
    >>> inputs
    {'text': array([[1., 2.]])}
    >>> session = onnxruntime.InferenceSession(onnx_model.SerializeToString())
    >>> session.run(["label"], inputs)[0].tolist()
    [1]
    """
    told = _told(onnx_model)
    if told[0]["kind"] == "matrix":
        return {told[0]["input"]: _matrix(told[0], X)}
    if told[0]["kind"] == "text":
        return {told[0]["input"]: _counts(told[0], X)}
    columns, names = columns_of(X if hasattr(X, "columns") else np.asarray(X))
    check_distinct_names(names or ())
    found = {}
    for own in told:
        place = own["number"] if names is None else _place(own["column"], names)
        found[own["input"]] = _put(own, columns[place])
    return found


def _place(name: str, names: list[str]) -> int:
    """Place of a column among those of a table."""
    if name not in names:
        raise ValueError(
            f"The model needs the column {name!r}. Got a table without it."
        )
    return names.index(name)


def _told(onnx_model: Any) -> list[dict[str, Any]]:
    """What a model says of its inputs."""
    if hasattr(onnx_model, "get_modelmeta"):
        found = dict(onnx_model.get_modelmeta().custom_metadata_map)
    else:
        props = getattr(onnx_model, "metadata_props", ())
        found = {own.key: own.value for own in props}
    if "columns" not in found:
        raise ValueError(
            "onnx_inputs needs a model or session of to_onnx. "
            f"Got a {type(onnx_model).__name__} that does not describe its columns."
        )
    told: list[dict[str, Any]] = json.loads(found["columns"])
    return told


def _matrix(told: dict[str, Any], X: Any) -> np.ndarray:
    """Rows as one matrix; of a frame, columns by their names as everywhere."""
    dtype = np.dtype(told["dtype"])
    if sparse.issparse(X):
        return np.asarray(X.toarray(), dtype=dtype)
    if not hasattr(X, "columns"):
        X = np.asarray(X)
        if X.dtype.kind in "biuf" and not told.get("categories"):
            return np.asarray(X, dtype=dtype)
    # Columns that the model does not read may hold anything.
    columns, names = columns_of(X)
    if told["names"] is not None:
        check_distinct_names(names or ())
    found = np.zeros((len(columns[0]), told["width"]), dtype=dtype)
    for place, number in enumerate(told["reads"]):
        from_, name = number, f"x{number}"
        if names is not None and told["names"] is not None:
            name = told["names"][place]
            from_ = _place(name, names)
        if number in told.get("categories", ()):
            found[:, number] = _categories(name, columns[from_])
        else:
            own = InputColumn(name, 0, "number")
            found[:, number] = read_column(own, columns[from_])
    return found


def _put(told: dict[str, Any], column: Any) -> np.ndarray:
    """One column as an input."""
    if "terms" in told:
        return _counts(told, column.tolist() if hasattr(column, "tolist") else column)
    if "missing" in told:
        values = column.tolist() if hasattr(column, "tolist") else [*column]
        return _strings(told, values)[:, None]
    if "unit" in told:
        return _integers(told, column)[:, None]
    name = told["column"]
    if told["kind"] == "category":
        values = _categories(name, column)
    else:
        values = read_column(InputColumn(name, 0, "number"), column)
    return np.asarray(values, dtype=told["dtype"])[:, None]


def _counts(told: dict[str, Any], texts: Any) -> np.ndarray:
    """How often each term is met in each text."""
    matcher = TermMatcher(
        TermNames.from_strings(told["terms"]), TextOptions(**told["options"])
    )
    found = matcher.rows(["" if is_missing(own) else own for own in texts])
    return np.asarray(found.toarray(), dtype=told["dtype"])


def _strings(told: dict[str, Any], values: list[Any]) -> np.ndarray:
    found = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        if is_missing(value):
            found[row] = told["missing"]
        elif not isinstance(value, str):
            raise ValueError(
                f"Column {told['column']!r} must hold strings for this model. "
                f"Got {value!r}."
            )
        elif value == told["missing"]:
            raise ValueError(
                f"{value!r} stands for missing in this model. Got it as a value of "
                f"column {told['column']!r}. Hint: to_onnx(model, missing=...)."
            )
        else:
            found[row] = value
    return found


def _integers(told: dict[str, Any], column: Any) -> np.ndarray:
    """Times and large integers as int64."""
    whole = whole_column(column)
    kind = "integers" if told["unit"] is None else "times"
    if whole is None or (whole.ticks is None) != (told["unit"] is None):
        raise ValueError(
            f"Column {told['column']!r} must hold {kind} for this model. "
            f"Got {getattr(column, 'dtype', type(column).__name__)}."
        )
    values, ticks = np.where(whole.missing, 0, whole.values), whole.ticks or 1
    wanted = 1 if told["unit"] is None else TICKS_OF[told["unit"]]
    if ticks > wanted:
        values = values // (ticks // wanted)
    elif ticks < wanted:
        values = values.astype(object) * (wanted // ticks)
    for end in (values.min(), values.max()) if values.size else ():
        if not NO_INTEGER < int(end) <= _FARTHEST:
            raise ValueError(
                f"{kind.capitalize()} must lie between {NO_INTEGER + 1} and "
                f"{_FARTHEST} in ONNX, where the smallest int64 stands for missing. "
                f"Got {int(end)} in column {told['column']!r}."
            )
    found = np.array(values, dtype=np.int64)
    found[whole.missing] = NO_INTEGER
    return found


def _categories(name: str, column: Any) -> np.ndarray:
    """Categories that are numbers as doubles, which must hold them all."""
    found = np.asarray(read_column(InputColumn(name, 0, "number"), column), np.float64)
    whole = whole_column(column)
    if whole is not None and whole.ticks is None:
        far = np.flatnonzero((np.abs(found) >= 2.0**53) & ~whole.missing)
        for row in far.tolist():
            if int(found[row]) != int(whole.values[row]):
                raise ValueError(
                    "Numbers that are categories must be doubles in ONNX. "
                    f"Got {int(whole.values[row])} in column {name!r}."
                )
    return found
