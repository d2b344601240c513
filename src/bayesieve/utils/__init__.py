"""Small functions shared by every layer.

They are imported when first asked for: the command line uses what needs no NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("bayesieve.utils._validation"), name)
