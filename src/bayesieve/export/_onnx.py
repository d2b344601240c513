"""Fitted classifiers as ONNX models, for any runtime that takes them."""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any, Literal

import numpy as np

from bayesieve._scorecard import InputColumn, LookupTerm, Scorecard, TextTerms, Values
from bayesieve.export._onnx_axes import word_columns
from bayesieve.export._onnx_graph import (
    IR_VERSION,
    ML,
    ML_OPSET,
    OPSET,
    Graph,
    check_text,
    onnx_module,
)
from bayesieve.export._onnx_terms import ScoreGraph
from bayesieve.export._scorecard import scorecard_of

__all__ = [
    "MATRIX",
    "NO_INTEGER",
    "TICKS_OF",
    "check_matrix",
    "label_of",
    "label_values",
    "probabilities_of",
    "taken_of",
    "to_onnx",
]

MATRIX = "X"
#: What stands for missing in columns of 64-bit integers: NumPy's NaT.
NO_INTEGER = np.iinfo(np.int64).min
_FARTHEST = np.iinfo(np.int64).max
_UNITS = {1: "s", 10**3: "ms", 10**6: "us", 10**9: "ns"}
TICKS_OF = {unit: ticks for ticks, unit in _UNITS.items()}


def to_onnx(
    model: Any,
    *,
    feature_names: Any = None,
    inputs: Literal["auto", "matrix", "columns"] = "auto",
    dtype: Any = np.float64,
    texts: Literal["refuse", "counts"] = "refuse",
    missing: str = "",
) -> Any:
    """Return a fitted classifier as an ONNX model.

    Labels and probabilities are those of the model, computed in doubles: **exact** up
    to rounding, about 1e-12. Cost O(n_parts) of the selected columns alone, in the file
    and, but for finding a number's part in a logarithm of them, for each row.

    Parameters
    ----------
    model : estimator, Pipeline, search or tuple of fitted steps
        A fitted classifier, alone or behind steps that only take some of the columns.
        Pipelines with other steps are converted by skl2onnx after `register_onnx`.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that reach the classifier.
    inputs : {"auto", "matrix", "columns"}, default="auto"
        "matrix": one tensor ``X`` of shape (n_rows, n_features_in_), for columns of
        numbers. "columns": a tensor of shape (n_rows, 1) for each column in use, under
        its name. "auto": "columns" for a model of a table that has names, or that holds
        strings or times; "matrix" for all others.
    dtype : {float64, float32}, default=float64
        Type of the numbers that are put in. With float32, numbers are rounded before
        the model sees them, and those near a bound may fall on its other side.
    texts : {"refuse", "counts"}, default="refuse"
        ONNX has no operator that cuts texts into words as Python does. With "counts"
        the input is instead how often each selected term is met, of shape
        (n_rows, n_terms), as ``to_vectorizer(model).transform(texts)`` gives it.
    missing : str, default=""
        The string that stands for a missing value among strings.

    Returns
    -------
    onnx_model : onnx.ModelProto
        With the outputs ``label``, of shape (n_rows,), a tensor of strings, int64,
        booleans or doubles as the labels are, and ``probabilities``, doubles of shape
        (n_rows, n_classes).

    See Also
    --------
    onnx_inputs : Rows as such a model takes them.
    register_onnx : Convert pipelines by skl2onnx.

    Notes
    -----
    Opset 16 with ai.onnx.ml 3, IR version 8 (ONNX 1.11): onnxruntime 1.12 and later.

    Numbers are doubles, and NaN is missing; so are booleans and categories that are
    numbers. Times and durations are int64 of shape (n_rows, 1) that count from 1970 in
    the unit that the input's description gives, and the smallest int64 is missing, as
    in ``column.to_numpy("datetime64[us]").astype("int64")``; so are integers that
    doubles cannot tell apart.

    An ONNX model can raise no errors. Where the classifier refuses a row, as one with a
    count of -1 or an infinite measurement, all probabilities are NaN and the label
    means nothing. Columns that were not selected are not looked at. Sparse matrices
    have no place in onnxruntime: give dense rows, in batches.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseMultinomialNB, to_onnx
    >>> X = np.array([[3, 0, 1], [2, 0, 1], [0, 3, 1], [0, 2, 1]])
    >>> model = SparseMultinomialNB(k=2).fit(X, ["a", "a", "b", "b"])
    >>> onnx_model = to_onnx(model)
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(onnx_model.SerializeToString())
    >>> label, probabilities = session.run(None, {"X": np.array([[1.0, 0.0, 9.0]])})
    >>> label.tolist()
    ['a']
    """
    onnx = onnx_module()
    _check_choices(inputs, texts, missing)
    dtype = _checked_dtype(dtype)
    card = scorecard_of(model, feature_names)
    if texts == "refuse" and any(isinstance(t, TextTerms) for t in card.terms):
        raise ValueError(
            "ONNX has no operator that cuts texts into words as Python does. "
            f"Got a {card.owner} of texts. Hint: texts='counts' takes counts of the "
            "selected terms; to_sklearn takes texts."
        )
    given = _Inputs(card, _form(card, inputs), dtype, missing)
    graph = Graph({"label", "probabilities"})
    declared, scores = given.declare(graph)
    labels = label_values(card)
    probabilities_of(graph, card, scores, "probabilities")
    label_of(graph, scores, labels, "label")
    helper = onnx.helper
    label_type = helper.np_dtype_to_tensor_dtype(labels.dtype)
    outputs = [
        helper.make_tensor_value_info("label", label_type, ["rows"]),
        helper.make_tensor_value_info(
            "probabilities", onnx.TensorProto.DOUBLE, ["rows", card.n_classes]
        ),
    ]
    made = helper.make_graph(
        graph.nodes, card.owner, declared, outputs, graph.constants
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
    found = helper.make_model(
        made, opset_imports=opsets, ir_version=IR_VERSION, producer_name="bayesieve"
    )
    helper.set_model_props(found, {"columns": json.dumps(given.told)})
    onnx.checker.check_model(found)
    return found


def probabilities_of(graph: Graph, card: Scorecard, scores: str, output: str) -> str:
    """Class probabilities from scores."""
    if not card.spread:
        return graph.add("Softmax", scores, axis=1, output=output)
    found = graph.add("Softmax", scores, axis=1)
    share = graph.constant(np.float64(card.spread / card.n_classes))
    whole = graph.constant(np.float64(1.0 + card.spread))
    return graph.add("Div", graph.add("Add", found, share), whole, output=output)


def label_of(graph: Graph, scores: str, labels: np.ndarray, output: str) -> str:
    """The label of the first class with the largest score."""
    best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    return graph.add("Gather", graph.constant(labels, "labels"), best, output=output)


def label_values(card: Scorecard) -> np.ndarray:
    """Labels as a tensor holds them."""
    labels = card.labels
    if all(isinstance(label, str) for label in labels.tolist()):
        for label in labels.tolist():
            check_text(str(label), "A label")
        return np.array([str(label) for label in labels.tolist()], dtype=object)
    if labels.dtype.kind == "O":
        labels = np.array(labels.tolist())
    kinds = {type(label) for label in card.labels.tolist()}
    if len(kinds) == 1:
        if labels.dtype.kind == "b":
            return labels
        if labels.dtype.kind == "f":
            return labels.astype(np.float64)
        if labels.dtype.kind == "i" or (
            labels.dtype.kind == "u" and int(labels.max()) <= _FARTHEST
        ):
            return labels.astype(np.int64)
    raise ValueError(
        "Labels must be strings, integers of 64 bits, booleans or floats in ONNX. "
        f"Got {card.labels[0]!r} and others. Hint: fit the model on strings."
    )


def _check_choices(inputs: Any, texts: Any, missing: Any) -> None:
    for name, value, allowed in (
        ("inputs", inputs, ("auto", "matrix", "columns")),
        ("texts", texts, ("refuse", "counts")),
    ):
        if not isinstance(value, str) or value not in allowed:
            shown = ", ".join(map(repr, allowed[:-1]))
            raise ValueError(
                f"The {name!r} parameter of to_onnx must be {shown} or "
                f"{allowed[-1]!r}. Got {value!r}."
            )
    if not isinstance(missing, str):
        raise TypeError(
            f"The 'missing' parameter of to_onnx must be a str. Got {missing!r}."
        )
    check_text(missing, "The 'missing' parameter of to_onnx")


def _checked_dtype(dtype: Any) -> type:
    with contextlib.suppress(TypeError, ValueError):  # what NumPy knows no type for
        for allowed in (np.float64, np.float32):
            if dtype is not None and np.dtype(dtype) == allowed:
                return allowed
    raise ValueError(
        f"The 'dtype' parameter of to_onnx must be float64 or float32. Got {dtype!r}."
    )


def check_matrix(card: Scorecard) -> None:
    """Refuse columns that are no numbers of a matrix."""
    mixed = _mixed(card)
    if mixed:
        own = card.columns[min(mixed)]
        kinds = {"category": "strings", "number": "large integers"}
        raise ValueError(
            f"One matrix needs columns of numbers. Got {kinds.get(own.kind, own.kind)} "
            f"in column {own.name!r}. Hint: to_onnx with inputs='columns'."
        )


def _mixed(card: Scorecard) -> set[int]:
    """Columns that no matrix of doubles can hold."""
    return word_columns(card) | {
        place
        for place, own in enumerate(card.columns)
        if own.kind in ("time", "text", "note") or own.origin is not None
    }


def _form(card: Scorecard, inputs: str) -> str:
    """Whether rows come as one matrix or by columns."""
    if not card.columns:
        return "matrix"  # a row has to be somewhere
    if inputs == "matrix":
        check_matrix(card)
    if inputs != "auto":
        return inputs
    tables = any(isinstance(term, LookupTerm) for term in card.terms)
    named = any(own.name != f"x{own.number}" for own in card.columns)
    return "columns" if (tables and named) or _mixed(card) else "matrix"


class _Inputs:
    """The inputs of a model, and what stands in them."""

    def __init__(self, card: Scorecard, form: str, dtype: type, missing: str) -> None:
        self._card, self._form, self._dtype = card, form, dtype
        self._missing = missing
        self._words = word_columns(card)
        self._texts = {
            term.column: term for term in card.terms if isinstance(term, TextTerms)
        }
        self.told: list[dict[str, Any]] = []

    def declare(self, graph: Graph) -> tuple[list[Any], str]:
        """Inputs, and the scores computed from them."""
        if self._form == "matrix":
            declared, numbers, places = self._matrix(graph)
            words: dict[int, str] = {}
            counts: dict[int, str] = {}
        else:
            declared, numbers, places, words, counts = self._by_columns(graph)
        self._check_missing()
        own = ScoreGraph(
            graph, self._card, numbers, places, words, counts, self._missing
        )
        return declared, own.scores(declared[0].name)

    def _check_missing(self) -> None:
        for term in self._card.terms:
            for axis in term.axes if isinstance(term, LookupTerm) else ():
                if axis.column not in self._words or not isinstance(axis, Values):
                    continue
                if self._missing in axis.values:
                    name = self._card.columns[axis.column].name
                    raise ValueError(
                        "The 'missing' parameter of to_onnx must be no value of the "
                        f"table. Got {self._missing!r}, a value of column {name!r}. "
                        "Hint: missing='<missing>'."
                    )

    def _value(self, graph: Graph, name: str, dtype: Any, width: Any, text: str) -> Any:
        onnx = onnx_module()
        kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return onnx.helper.make_tensor_value_info(
            name, kind, ["rows", width], doc_string=text
        )

    def _matrix(self, graph: Graph) -> tuple[list[Any], str, dict[int, int]]:
        card = self._card
        width = card.n_columns
        name = graph.name(MATRIX)
        declared = self._value(graph, name, self._dtype, width, "numbers")
        names = [own.name for own in card.columns]
        named = any(own.name != f"x{own.number}" for own in card.columns)
        self.told.append(
            {
                "input": name,
                "kind": "matrix",
                "dtype": self._told_dtype,
                "width": width,
                "reads": [own.number for own in card.columns],
                "names": names if named else None,
                "categories": [
                    own.number for own in card.columns if own.kind == "category"
                ],
            }
        )
        return [declared], *taken_of(graph, card, name, self._dtype)

    @property
    def _told_dtype(self) -> str:
        return np.dtype(self._dtype).name

    def _by_columns(self, graph: Graph) -> Any:
        declared, numeric = [], []
        places: dict[int, int] = {}
        words: dict[int, str] = {}
        counts: dict[int, str] = {}
        for place, own in enumerate(self._card.columns):
            name = graph.name(_safe(own.name))
            told: dict[str, Any] = {
                "input": name,
                "column": own.name,
                "number": own.number,
                "kind": own.kind,
            }
            if place in self._texts:
                term = self._texts[place]
                options = term.options.vectorizer()
                told |= {"terms": list(term.terms), "options": _plain(options)}
                width: Any = len(term.terms)
                dtype: Any = self._dtype
                text = f"counts of the terms of column {own.name!r}"
                counts[place] = self._doubles(graph, name)
            elif place in self._words:
                width, dtype = 1, object
                told["missing"] = self._missing
                text = f"column {own.name!r}: strings, {self._missing!r} if missing"
                words[place] = name
            elif own.kind == "time" or own.origin is not None:
                width, dtype = 1, np.int64
                unit = _unit_of(own)
                told["unit"] = unit
                what = "integers" if unit is None else f"{unit} since 1970"
                text = f"column {own.name!r}: {what}, {NO_INTEGER} if missing"
                numeric.append(_from_integers(graph, own, name))
            else:
                width, dtype = 1, self._dtype
                text = f"column {own.name!r}: numbers, NaN if missing"
                numeric.append(self._doubles(graph, name))
            if dtype is self._dtype:
                told["dtype"] = self._told_dtype
            if numeric and place not in self._texts and place not in self._words:
                places[place] = len(numeric) - 1
            declared.append(self._value(graph, name, dtype, width, text))
            self.told.append(told)
        numbers = None
        if numeric:
            numbers = numeric[0]
            if len(numeric) > 1:
                numbers = graph.add("Concat", *numeric, axis=1)
        return declared, numbers, places, words, counts

    def _doubles(self, graph: Graph, name: str) -> str:
        return name if self._dtype is np.float64 else graph.cast(name, np.float64)


def taken_of(
    graph: Graph, card: Scorecard, name: str, dtype: Any
) -> tuple[str, dict[int, int]]:
    """The columns that a scorecard reads of a matrix, as doubles."""
    chosen = [own.number for own in card.columns]
    if chosen != list(range(card.n_columns)):
        which = graph.constant(np.array(chosen, dtype=np.int64), "columns")
        name = graph.add("Gather", name, which, axis=1)
    if dtype is not np.float64:
        name = graph.cast(name, np.float64)
    return name, {place: place for place in range(len(chosen))}


def _from_integers(graph: Graph, own: InputColumn, name: str) -> str:
    """Doubles as the model makes them of times and of large integers."""
    origin = own.origin
    if origin is None:
        found = graph.cast(name, np.float64)
        found = graph.add("Div", found, graph.constant(np.float64(10**6)))
    else:
        low = max(NO_INTEGER, origin.whole - _FARTHEST)
        high = min(_FARTHEST, origin.whole + _FARTHEST)
        if low > high or not NO_INTEGER <= origin.whole <= _FARTHEST:
            raise ValueError(
                "Integers must have 64 bits and a sign in ONNX. "
                f"Got larger ones in column {own.name!r}."
            )
        # Farther ones than any bound would go over the ends of 64 bits.
        low_end = graph.constant(np.int64(low))
        found = graph.add("Clip", name, low_end, graph.constant(np.int64(high)))
        found = graph.add("Sub", found, graph.constant(np.int64(origin.whole)))
        found = graph.cast(found, np.float64)
    gone = graph.add("Equal", name, graph.constant(np.int64(NO_INTEGER)))
    return graph.add("Where", gone, graph.constant(np.float64(np.nan)), found)


def _unit_of(own: InputColumn) -> str | None:
    """What the integers of a column count; None for integers that are no times."""
    if own.kind != "time":
        return None
    ticks = 10**6 if own.origin is None else own.origin.ticks
    if ticks not in _UNITS:
        raise ValueError(
            "Times must be in nanoseconds or coarser in ONNX. "
            f"Got 1/{ticks} of a second in column {own.name!r}."
        )
    return _UNITS[ticks]


def _safe(name: str) -> str:
    """A name as ONNX asks for them: that of a variable in C."""
    found = re.sub(r"\W", "_", name, flags=re.ASCII) or "column"
    return f"_{found}" if found[0].isdigit() else found


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options as JSON holds them."""
    return {
        name: sorted(value) if isinstance(value, set | frozenset) else value
        for name, value in options.items()
    }
