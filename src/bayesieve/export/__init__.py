"""Fitted models where data are: in SQL, and in whatever else reads a scorecard."""

from __future__ import annotations

from bayesieve.export._onnx import to_onnx
from bayesieve.export._onnx_rows import onnx_inputs
from bayesieve.export._scorecard import read_columns, scorecard_of
from bayesieve.export._skl2onnx import register_onnx
from bayesieve.export._sklearn import to_sklearn
from bayesieve.export._sql import to_sql

__all__ = [
    "onnx_inputs",
    "read_columns",
    "register_onnx",
    "scorecard_of",
    "to_onnx",
    "to_sklearn",
    "to_sql",
]
