"""What every solver returns: the support, and the proof of how good it is."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._logs import Floats
from bayesieve.utils._computed_once import computed_once

__all__ = ["OPTIMAL_TOLERANCE", "Certificate", "Solution"]

#: A relative gap up to this size counts as closed.
OPTIMAL_TOLERANCE = 1e-9


def _same(a: object, b: object) -> bool:
    return a == b or (a != a and b != b)  # NaN is itself here


@dataclass(frozen=True, eq=False)
class Certificate:
    """How good a support is, and what is proven about every other support.

    Supports are sets of features that vary: a column without any count (or, under the
    Bernoulli model, present in every row) says nothing, whatever smoothing makes of it,
    and takes part in no support and no bound.

    Values are log-likelihoods in nats. The gap is computed from gains over the null
    model, not from the objectives, whose common constant would drown it in rounding.
    Bounds hold in exact arithmetic: the rounding of the gains is bounded and part of
    them. A gap that is no more than this rounding, and with it no more than 1e-9 of the
    gain, cannot be told from no gap and is written as 0. Where the rounding itself is
    more than that, because counts or smoothing are that large beside the gain, it stays
    in the gap and nothing is claimed.

    Attributes
    ----------
    objective : float
        Log-likelihood of the returned support.
    null_objective : float
        Log-likelihood of the model without any feature.
    upper_bound : float
        Proven: no support of size ``k`` exceeds it.
    relaxation_bound : float
        psi(k), the value of the convex relaxation.
    gap : float
        ``upper_bound - objective``.
    relative_gap : float
        ``gap / (objective - null_objective)``.
    is_optimal : bool
        Whether it is proven, rounding included, that ``relative_gap <= 1e-9``.
    nodes : int
        Nodes of the branch-and-bound tree that were solved; 1 where the relaxation or a
        closed form was enough.
    k : int
        Size asked for.
    published_bound : float
        psi(k-K-2), the paper's psi(k-4) for two classes: a lower bound on the optimum.
        NaN when ``k < K + 2``, and in the closed forms, which need no bound.
    sharp_bound : float
        psi(k-K+1), a higher lower bound on the optimum.
    class_shares : ndarray of shape (n_classes,)
        p*, the class shares at which ``relaxation_bound`` is attained.
    rounding : float
        How far rounding may have moved the gain, in nats: proven bounds hold up to it.
    under_rules : bool
        Whether rules say which supports are allowed: bounds are about those. Where
        groups are taken whole, ``k`` counts groups.
    """

    objective: float
    null_objective: float
    upper_bound: float
    relaxation_bound: float
    gap: float
    relative_gap: float
    is_optimal: bool
    nodes: int
    k: int
    published_bound: float
    sharp_bound: float
    class_shares: Floats
    rounding: float = 0.0
    under_rules: bool = False

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Certificate):
            return NotImplemented
        names = [item.name for item in fields(self) if item.name != "class_shares"]
        return all(_same(getattr(self, n), getattr(other, n)) for n in names)

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def from_gains(
        cls,
        *,
        null: float,
        gain: float,
        others: float = -math.inf,
        relaxation: float,
        nodes: int,
        k: int,
        published: float = math.nan,
        sharp: float = math.nan,
        class_shares: Floats,
        doubt: float = 0.0,
        under_rules: bool = False,
    ) -> Certificate:
        """Build from gains over the null model (``published``, ``sharp`` too).

        ``others`` is a proven bound on every other support, minus infinity if none is
        better; ``doubt`` how far rounding may have moved ``gain``.
        """
        gap = max(float(others - gain), 0.0)
        proven = max(float(others - (gain - doubt)), 0.0)  # rounding included
        closed = OPTIMAL_TOLERANCE * float(gain)
        is_optimal = proven <= closed
        if is_optimal and gap <= 3.0 * doubt:
            gap = 0.0  # the bound on the others was raised by as much as that
        elif not is_optimal and gap <= closed:
            gap = proven
        # Python's own division: without any gain this is infinite, and no warning.
        relative = gap / max(float(gain), sys.float_info.min) if gap else 0.0
        return cls(
            objective=null + gain,
            null_objective=null,
            upper_bound=null + gain + gap,
            relaxation_bound=null + relaxation,
            gap=gap,
            relative_gap=relative,
            is_optimal=is_optimal,
            nodes=nodes,
            k=k,
            published_bound=null + published,
            sharp_bound=null + sharp,
            class_shares=class_shares,
            rounding=float(doubt),
            under_rules=under_rules,
        )

    @property
    def remark(self) -> str:
        """Why the optimum is unproven where searching longer would not help, or ''."""
        if self.is_optimal or self.gap > 6.0 * self.rounding:
            return ""
        return (
            "counts or smoothing are so large beside the gain that rounding decides "
            "the rest"
        )

    def __str__(self) -> str:
        gain = self.objective - self.null_objective
        size = f"k={self.k}" + (" under the rules" if self.under_rules else "")
        if self.is_optimal:
            return f"proven optimal for {size}: gain {gain:,.6g} nats"
        short = (
            f"{size}: gain {gain:,.6g} nats, at most "
            f"{100 * self.relative_gap:.3g} % short of the optimum"
        )
        return f"{short}; {self.remark}" if self.remark else short


@dataclass(frozen=True, eq=False)
class Solution:
    """A support with its gains and its certificate.

    Attributes
    ----------
    support : ndarray of shape (k,), int64
        Sorted column indices.
    gains : ndarray of shape (k,)
        Gain of each selected feature in nats; they sum to
        ``certificate.objective - certificate.null_objective``.
    certificate : Certificate
    """

    support: NDArray[np.int64]
    gains: Floats
    certificate: Certificate
    #: Smoothed estimates on the support, from which ``log_theta`` is made when asked
    #: for.
    estimates: Floats = field(repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Solution):
            return NotImplemented
        return (
            np.array_equal(self.support, other.support)
            and np.array_equal(self.gains, other.gains)
            and self.certificate == other.certificate
        )

    __hash__ = None  # type: ignore[assignment]

    @computed_once
    def log_theta(self) -> Floats:
        """Log-parameters on the support, shape (n_classes, k)."""
        with np.errstate(divide="ignore"):
            result: Floats = np.log(self.estimates)
        return result
