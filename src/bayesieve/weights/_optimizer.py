"""The protocol of the optimisers: a problem goes in, a `WeightResult` comes out.

An optimiser is a small frozen object with its own settings. A new one is a subclass of
`Optimizer` in a file of this package, with its name in `_search.OPTIMIZERS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np

from bayesieve.weights._result import Callback, Progress, WeightResult
from bayesieve.weights._terms import Array

__all__ = [
    "COUNT",
    "COUNT_OR_NONE",
    "NOT_NEGATIVE",
    "POSITIVE",
    "Optimizer",
    "Rule",
    "generator_of",
    "is_number",
]

#: Whether a value is allowed, and what is.
Rule = tuple[Callable[[Any], bool], str]


def is_number(value: Any, kind: type = Real) -> bool:
    """Whether a setting is a finite number, and no truth value."""
    whole = isinstance(value, kind) and not isinstance(value, bool | np.bool_)
    return whole and bool(np.isfinite(value))


COUNT: Rule = (lambda v: is_number(v, Integral) and v >= 1, "an int >= 1")
COUNT_OR_NONE: Rule = (lambda v: v is None or COUNT[0](v), "an int >= 1 or None")
NOT_NEGATIVE: Rule = (lambda v: is_number(v) and v >= 0.0, "a number >= 0")
POSITIVE: Rule = (lambda v: is_number(v) and v > 0.0, "a number above 0")


class Optimizer(ABC):
    """A way to find the weights; subclasses are frozen dataclasses of settings.

    All are any-time: the best weights so far are the answer when the time is up, the
    callback says so or Ctrl-C is pressed.
    """

    #: Exponent of the penalty, unless the user gives one.
    usual_exponent: ClassVar[float] = 1.0
    #: Whether a search ends with its iterations by design, so that this is no warning.
    spends_budget: ClassVar[bool] = True
    #: Whether the value of a result is the criterion of the problem itself.
    minimises_problem: ClassVar[bool] = True

    #: What each setting may be.
    _rules: ClassVar[Mapping[str, Rule]] = {}

    def __post_init__(self) -> None:
        for name, (valid, allowed) in self._rules.items():
            self._check(name, valid(getattr(self, name)), allowed)

    def _check(self, name: str, valid: bool, allowed: str) -> None:
        if not valid:
            raise ValueError(
                f"The {name!r} parameter of {type(self).__name__} must be {allowed}. "
                f"Got {getattr(self, name)!r}."
            )

    def minimise(
        self,
        problem: Any,
        start: Array | None = None,
        *,
        time_limit: float | None = None,
        callback: Callback | None = None,
        random_state: Any = None,
    ) -> WeightResult:
        """Find the weights of a problem.

        Parameters
        ----------
        problem : WeightProblem
        start : ndarray of shape (n_terms,), optional
            Weights to begin from.
        time_limit : float, optional
            Seconds.
        callback : callable, optional
            Called with an `OptimizerState`; a true return value ends the search.
        random_state : int, RandomState, Generator or None
        """
        progress = Progress(time_limit, callback)
        return self._search(problem, start, progress, generator_of(random_state))

    @abstractmethod
    def _search(
        self,
        problem: Any,
        start: Array | None,
        progress: Progress,
        rng: np.random.Generator,
    ) -> WeightResult:
        """The search itself; `progress` keeps the clock and the best weights."""

    def settings(self) -> dict[str, Any]:
        """The settings that are not the usual ones, by their names."""
        return {
            own.name: getattr(self, own.name)
            for own in fields(cast("Any", self))
            if getattr(self, own.name) != own.default
        }

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self.settings().items())
        return f"{type(self).__name__}({told})"

    def is_quick_from_near(self, exponent: float) -> bool:
        """Whether a search from weights near the optimum takes a few steps only."""
        return False


def generator_of(state: Any) -> np.random.Generator:
    """NumPy's generator for scikit-learn's three kinds of `random_state`."""
    if isinstance(state, np.random.RandomState):
        state = state.randint(2**31)
    return np.random.default_rng(state)
