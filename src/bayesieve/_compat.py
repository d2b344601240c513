"""The only file that touches private scikit-learn names; types for its decorators.

When one of them moves, this is the file to change.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from sklearn.base import _fit_context
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.metaestimators import available_if as _available_if
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "Interval",
    "RealNotInt",
    "StrOptions",
    "available_if",
    "check_sample_weight",
    "fit_context",
    "l1_logistic_regression",
    "safe_indexing",
]

Method = TypeVar("Method", bound=Callable[..., Any])


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Decorate a fit with scikit-learn's validation of the parameters."""
    decorate: Callable[[Method], Method] = _fit_context(
        prefer_skip_nested_validation=prefer_skip_nested_validation
    )
    return decorate


def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """Decorate a method that some settings do not have."""
    decorate: Callable[[Method], Method] = _available_if(check)
    return decorate


def l1_logistic_regression(**parameters: Any) -> Any:
    """Logistic regression with an l1 penalty, as each version names it."""
    from sklearn.linear_model import LogisticRegression

    penalty = inspect.signature(LogisticRegression).parameters["penalty"].default
    named = {"penalty": "l1"} if penalty == "l2" else {"l1_ratio": 1.0}
    return LogisticRegression(solver="saga", **named, **parameters)
