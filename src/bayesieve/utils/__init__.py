"""Small functions shared by every layer."""

from __future__ import annotations

from bayesieve.utils._validation import (
    as_matrix,
    check_names,
    check_weights,
    describe_column,
    encode_labels,
    label_array,
)

__all__ = [
    "as_matrix",
    "check_names",
    "check_weights",
    "describe_column",
    "encode_labels",
    "label_array",
]
