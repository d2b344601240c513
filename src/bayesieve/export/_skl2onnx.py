"""Estimators of this package in pipelines that skl2onnx converts."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from bayesieve import feature_selection, naive_bayes
from bayesieve._scorecard import TextTerms
from bayesieve.export._onnx import (
    check_matrix,
    label_of,
    label_values,
    probabilities_of,
    taken_of,
)
from bayesieve.export._onnx_graph import ML, ML_OPSET, Graph
from bayesieve.export._onnx_terms import ScoreGraph
from bayesieve.export._scorecard import scorecard_of
from bayesieve.utils._optional import optional_module

__all__ = ["register_onnx"]

#: The operators used mean the same in every later opset.
_OPSET = 13
_OPTIONS = {
    "zipmap": [True, False, "columns"],
    "output_class_labels": [False, True],
    "nocl": [False],
}


def register_onnx() -> None:
    """Teach skl2onnx to convert pipelines that hold estimators of bayesieve.

    After it, ``skl2onnx.to_onnx`` and ``skl2onnx.convert_sklearn`` take pipelines with
    the classifiers and selectors of bayesieve, other than `SparseTextNB`, whose columns
    are numbers in one tensor. Calling it again changes nothing.

    See Also
    --------
    to_onnx : A classifier alone, of mixed tables too, without skl2onnx.

    Notes
    -----
    Scores are computed in doubles; what comes out has the type of the input, so give
    doubles (`DoubleTensorType`, or an array of float64) for probabilities that are
    equal to 1e-9. Doubles need the option ``zipmap=False``, as onnxruntime makes
    dictionaries of floats alone.

    skl2onnx cuts texts for a CountVectorizer by itself, by rules that only come near to
    those of Python: letters beyond ASCII end words there. The counts, and with them the
    labels, may differ. `to_onnx` with ``texts="counts"`` takes counts made by Python.

    Examples
    --------
    >>> import numpy as np, skl2onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from bayesieve import SparseGaussianNB
    >>> from bayesieve.export import register_onnx
    >>> X = np.array([[1.0, 5.0], [2.0, 4.0], [8.0, 5.0], [9.0, 4.0]])
    >>> model = make_pipeline(StandardScaler(), SparseGaussianNB(k=1))
    >>> model = model.fit(X, ["a", "a", "b", "b"])
    >>> register_onnx()
    >>> onnx_model = skl2onnx.to_onnx(model, X, options={"zipmap": False})
    >>> [own.name for own in onnx_model.graph.output]
    ['label', 'probabilities']
    """
    skl2onnx = optional_module("skl2onnx", purpose="register_onnx", extra="onnx")
    for module in (naive_bayes, feature_selection):
        for name in module.__all__:
            kind = getattr(module, name)
            if not isinstance(kind, type) or not hasattr(kind, "fit"):
                continue
            alias = f"Bayesieve{name}"
            if _predicts(kind):
                skl2onnx.update_registered_converter(
                    kind,
                    alias,
                    _classifier_shapes,
                    _convert_classifier,
                    options=_OPTIONS,
                )
            elif hasattr(kind, "get_support"):
                skl2onnx.update_registered_converter(
                    kind, alias, _selector_shapes, _convert_selector
                )


def _predicts(kind: type) -> bool:
    return bool(is_classifier(kind())) if hasattr(kind, "predict_proba") else False


def _input_of(operator: Any) -> Any:
    """The one tensor of numbers that an operator is given."""
    from skl2onnx.common.data_types import (
        BooleanTensorType,
        DoubleTensorType,
        FloatTensorType,
        Int32TensorType,
        Int64TensorType,
    )

    owner = type(operator.raw_operator).__name__
    given = [type(own.type).__name__ for own in operator.inputs]
    numbers = (
        BooleanTensorType,
        DoubleTensorType,
        FloatTensorType,
        Int32TensorType,
        Int64TensorType,
    )
    if len(given) != 1 or not isinstance(operator.inputs[0].type, numbers):
        raise ValueError(
            f"{owner} needs one tensor of numbers in skl2onnx. Got {', '.join(given)}. "
            "Hint: bayesieve.to_onnx takes tables with an input for each column."
        )
    return operator.inputs[0]


def _result_type(given: Any, shape: list[Any]) -> Any:
    """Float for float, as skl2onnx has it; doubles for all others."""
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    kind = FloatTensorType if isinstance(given, FloatTensorType) else DoubleTensorType
    return kind(shape)


# ------------------------------------------------------------------------ classifiers


def _classifier_shapes(operator: Any) -> None:
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    given = _input_of(operator)
    card = scorecard_of(operator.raw_operator)
    rows = given.get_first_dimension()
    labels = label_values(card)
    if labels.dtype.kind == "f":
        raise ValueError(
            "skl2onnx knows labels that are strings, integers or booleans. "
            f"Got {labels[0]!r} and others. Hint: bayesieve.to_onnx takes floats."
        )
    words = labels.dtype.kind == "O"
    label_type = StringTensorType([rows]) if words else Int64TensorType([rows])
    operator.outputs[0].set_type(label_type)
    operator.outputs[1].set_type(_result_type(given.type, [rows, card.n_classes]))


def _convert_classifier(scope: Any, operator: Any, container: Any) -> None:
    card = scorecard_of(operator.raw_operator)
    if any(isinstance(term, TextTerms) for term in card.terms):
        raise ValueError(
            f"skl2onnx cannot convert a {card.owner} of texts. "
            "Hint: bayesieve.to_onnx with texts='counts'."
        )
    check_matrix(card)
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    graph = Graph((), scope.get_unique_variable_name)
    given = _input_of(operator)
    dtype = np.float64 if isinstance(given.type, DoubleTensorType) else None
    numbers, places = taken_of(graph, card, given.full_name, dtype)
    scores = ScoreGraph(graph, card, numbers, places, {}, {}, "").scores(
        given.full_name
    )
    labels = label_values(card)
    if labels.dtype.kind == "b":
        labels = labels.astype(np.int64)
    label, probabilities = (own.full_name for own in operator.outputs)
    label_of(graph, scores, labels, label)
    if isinstance(operator.outputs[1].type, FloatTensorType):
        found = probabilities_of(graph, card, scores, graph.name("softmax"))
        graph.cast(found, np.float32, output=probabilities)
    else:
        probabilities_of(graph, card, scores, probabilities)
    _append(graph, scope, container)


# -------------------------------------------------------------------------- selectors


def _selector_shapes(operator: Any) -> None:
    given = _input_of(operator)
    n_columns = int(operator.raw_operator.get_support().sum())
    kind = type(given.type)
    operator.outputs[0].set_type(kind([given.get_first_dimension(), n_columns]))


def _convert_selector(scope: Any, operator: Any, container: Any) -> None:
    graph = Graph((), scope.get_unique_variable_name)
    chosen = operator.raw_operator.get_support(indices=True).astype(np.int64)
    graph.add(
        "Gather",
        _input_of(operator).full_name,
        graph.constant(chosen),
        axis=1,
        output=operator.outputs[0].full_name,
    )
    _append(graph, scope, container)


def _append(graph: Graph, scope: Any, container: Any) -> None:
    """Put nodes and constants into the model that skl2onnx builds."""
    from onnx.helper import get_attribute_value

    for tensor in graph.constants:
        container.initializers.append(tensor)
    for node in graph.nodes:
        attributes = {own.name: get_attribute_value(own) for own in node.attribute}
        container.add_node(
            node.op_type,
            [*node.input],
            [*node.output],
            op_domain=node.domain,
            op_version=ML_OPSET if node.domain == ML else _OPSET,
            name=scope.get_unique_operator_name(node.op_type),
            **attributes,
        )
