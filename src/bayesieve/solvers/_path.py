"""The whole path over k: objective, bound and gap for a grid of sizes."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.counts import ClassCounts
from bayesieve.exceptions import FewFeaturesWarning, GapWarning
from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._additive_rules import solve_additive_under
from bayesieve.solvers._bernoulli import bernoulli_problem
from bayesieve.solvers._branch import Limits
from bayesieve.solvers._categorical import categorical_problem
from bayesieve.solvers._certificate import Certificate, Solution
from bayesieve.solvers._criteria import (
    MOST_DEFAULT,
    default_sizes,
    elbow_position,
    multinomial_bic,
)
from bayesieve.solvers._gaussian import gaussian_problem
from bayesieve.solvers._inputs import (
    check_limits,
    check_size,
    row_counts,
    warn_of_few_features,
)
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._multinomial import certify, multinomial_problem
from bayesieve.solvers._problem import MultinomialProblem
from bayesieve.solvers._rule_input import rules_of
from bayesieve.solvers._rules import Rules, check_device_rules, refuse_device_rules
from bayesieve.utils._computed_once import computed_once
from bayesieve.utils._device_arrays import is_on_device
from bayesieve.utils._drawing import drawn
from bayesieve.utils._resources import keeps_to_jobs
from bayesieve.utils._warnings import warn_user

__all__ = ["SparsityPath", "additive_path", "multinomial_path", "sparsity_path"]

MODELS = ("multinomial", "bernoulli", "gaussian", "categorical")


@dataclass(frozen=True, repr=False)
class SparsityPath:
    """Objective and bound for a grid of sizes.

    Attributes
    ----------
    k : ndarray of int64
        Sizes, increasing.
    objective, upper_bound, gap : ndarray
        Value of the best support found, proven bound on every support of that size, and
        their difference.
    null_objective : float
        Value without features.
    bic_values : ndarray
        Bayesian information criterion up to a constant; NaN where the number of rows is
        not known (a plain table).
    """

    k: NDArray[np.int64]
    objective: Floats
    upper_bound: Floats
    gap: Floats
    null_objective: float
    bic_values: Floats
    _support: Callable[[int], NDArray[np.int64]] = field(repr=False, compare=False)

    @computed_once
    def elbow(self) -> int:
        """The k farthest above the chord of the path, both axes scaled to [0, 1]."""
        return int(self.k[elbow_position(self.k, self.objective)])

    @computed_once
    def bic(self) -> int:
        """The k of least BIC on the grid."""
        if np.isnan(self.bic_values).all():
            raise ValueError(
                "BIC needs the number of rows, which a plain table does not know. "
                "Hint: pass a ClassCounts."
            )
        return int(self.k[int(np.nanargmin(self.bic_values))])

    def __repr__(self) -> str:
        return (
            f"SparsityPath({self.k.shape[0]} sizes from {self.k[0]} to {self.k[-1]}, "
            f"largest gap {self.gap.max():.3g} nats, elbow {self.elbow})"
        )

    def support(self, k: int) -> NDArray[np.int64]:
        """Sorted columns of the support of size k; solved now if off the grid."""
        return self._support(check_size(k, solver="SparsityPath.support"))

    def plot(self, ax: Any = None) -> Any:
        """Draw gain and bound against k with elbow and BIC marked; returns the axes.

        The elbow is the point highest above the chord of the path; the chord is bent
        here because k has a logarithmic axis. Needs matplotlib
        (``pip install matplotlib``).
        """
        return drawn("draw_path", self, ax)


@keeps_to_jobs
def sparsity_path(
    counts: Any,
    ks: Iterable[int] | None = None,
    *,
    model: str = "multinomial",
    class_count: Any = None,
    alpha: float | Floats = 1.0,
    exact: bool = True,
    time_limit: float | None = 10.0,
    include: Any = None,
    exclude: Any = None,
    groups: Any = None,
    max_per_group: int | None = None,
    feature_cost: Any = None,
    budget: float | None = None,
    n_jobs: int | None = -1,
) -> SparsityPath:
    """Solve a grid of sizes, each with the support and value that it has alone.

    Parameters
    ----------
    counts : ClassCounts or array of shape (n_classes, n_features)
        A plain table will do for the multinomial model, and with `class_count` for the
        Bernoulli model. An array of PyTorch, CuPy or another library of the array API
        stays on its device, but for columns that may matter.
    ks : iterable of int, optional
        Sizes; by default about 50, geometric from 2 to min(n_features, 10,000).
    model : {"multinomial", "bernoulli", "gaussian", "categorical"}
        The last three give every k from one ranking.
    class_count : array-like of shape (n_classes,), optional
        Rows of each class, beside a plain table, which does not know them.
    alpha : float, default=1.0
        Smoothing; not used by the Gaussian model.
    exact : bool, default=True
        Close gaps by branch and bound (multinomial only).
    time_limit : float or None, default=10.0
        Seconds for each size; a size that hits it keeps its true gap.
    include, exclude, groups, max_per_group, feature_cost, budget
        Rules that every support keeps to, as in `solve_multinomial`. Where groups are
        taken whole, sizes count groups.
    n_jobs : int or None, default=-1
        Threads, as scikit-learn counts them: -1 is one for each processor.

    Returns
    -------
    SparsityPath

    Examples
    --------
    >>> from bayesieve import sparsity_path
    >>> path = sparsity_path([[8, 1, 4, 0], [1, 8, 3, 2]], ks=[2, 3, 4])
    >>> path.k
    array([2, 3, 4])
    >>> path.support(2)
    array([0, 1])
    """
    name = "sparsity_path"
    if model not in MODELS:
        raise ValueError(
            f"The 'model' parameter of {name} must be one of {', '.join(MODELS)}. "
            f"Got {model!r}."
        )
    check_limits(time_limit, None, solver=name)
    n_features = getattr(counts, "n_features", None)
    if n_features is None:
        n_features = (getattr(counts, "shape", None) or np.shape(counts))[-1]
    rules = rules_of(
        n_features,
        getattr(counts, "feature_names", None),
        include=include,
        exclude=exclude,
        groups=groups,
        max_per_group=max_per_group,
        feature_cost=feature_cost,
        budget=budget,
        owner=name,
    )
    if model == "multinomial":
        check_device_rules(counts, rules, solver=name)
        problem = multinomial_problem(
            counts, alpha, rules=rules, on_device=True, solver=name
        )
        rows = math.nan
        if isinstance(counts, ClassCounts) or class_count is not None:
            rows = row_counts(counts, class_count, solver=name).sum()
        return multinomial_path(
            problem, ks, n_rows=float(rows), exact=exact, time_limit=time_limit
        )
    additive: AdditiveProblem
    if model == "bernoulli":
        if is_on_device(counts):
            given = (include, exclude, groups, max_per_group, feature_cost, budget)
            refuse_device_rules(counts, given, solver=name)
            return _device_path(counts, ks, alpha, class_count, name)
        additive = bernoulli_problem(
            counts, alpha, class_count=class_count, solver=name
        )
    elif model == "gaussian":
        additive = gaussian_problem(counts, variance="class", solver=name)
    else:
        additive = categorical_problem(counts, float(alpha), solver=name)
    return additive_path(additive, ks, rules=rules, time_limit=time_limit)


def _device_path(
    counts: Any,
    ks: Iterable[int] | None,
    alpha: float | Floats,
    class_count: Any,
    solver: str,
) -> SparsityPath:
    """Path of Bernoulli counts on a device, of the leading columns of its sizes."""
    sizes = None if ks is None else [*ks]
    asked = [MOST_DEFAULT] if sizes is None else sizes
    largest = max((int(n) for n in asked if isinstance(n, Integral)), default=1)

    def problem(k: int) -> AdditiveProblem:
        return bernoulli_problem(
            counts, alpha, class_count=class_count, leading=k + 1, solver=solver
        )

    held = problem(largest)
    path = additive_path(held, sizes)
    return replace(
        path, _support=lambda k: (held if k <= largest else problem(k)).best(k)
    )


def _sizes(
    ks: Iterable[int] | None, available: int, smallest: int
) -> NDArray[np.int64]:
    if ks is None:
        return default_sizes(available, smallest=max(smallest, 2))
    sizes = np.unique(np.asarray(list(ks) if np.iterable(ks) else ()))
    if (
        sizes.ndim != 1
        or not sizes.shape[0]
        or not np.issubdtype(sizes.dtype, np.integer)
        or sizes[0] < smallest
    ):
        raise ValueError(
            f"The 'ks' parameter of sparsity_path must hold ints >= {smallest}. "
            f"Got {ks!r}."
        )
    if sizes[-1] > available:
        what = "can be selected"
        warn_of_few_features(int(sizes[-1]), available, what=what)
    clipped: NDArray[np.int64] = np.minimum(sizes, available).astype(np.int64)
    return clipped


def multinomial_path(
    problem: MultinomialProblem,
    ks: Iterable[int] | None = None,
    *,
    n_rows: float = math.nan,
    exact: bool = True,
    time_limit: float | None = 10.0,
    node_limit: int | None = 10_000,
) -> SparsityPath:
    """Path of a multinomial problem, from the largest size down."""
    smallest = max(2, problem.included.shape[0])
    if problem.rules is not None and problem.rules.are_groups_whole:
        smallest = max(1, problem.included.shape[0])
    smallest = min(smallest, problem.n_nonempty)
    sizes = np.unique(_sizes(ks, problem.n_nonempty, smallest))
    solved: dict[int, tuple[NDArray[np.int64], Floats, Certificate]] = {}

    def solve(k: int) -> tuple[NDArray[np.int64], Floats, Certificate]:
        if k not in solved:
            limits = Limits.starting_now(time_limit, node_limit)
            outcome = problem.solve(k, exact=exact, limits=limits)
            solved[k] = (outcome.support, *certify(problem, k, outcome))
            if outcome.stopped:
                warn_user(
                    f"The search for k={k} stopped at its limit after "
                    f"{outcome.nodes} nodes; the path keeps its true gap. "
                    "Hint: raise time_limit to close it.",
                    GapWarning,
                )
        return solved[k]

    for k in sizes[::-1].tolist():  # a larger size leaves a pool for a smaller one
        solve(k)
    certificates = [solved[k][2] for k in sizes.tolist()]
    gain = np.array([solved[k][1].sum() for k in sizes.tolist()])
    n_columns = np.array([solved[k][0].shape[0] for k in sizes.tolist()])
    return SparsityPath(
        sizes,
        np.array([one.objective for one in certificates]),
        np.array([one.upper_bound for one in certificates]),
        np.array([one.gap for one in certificates]),
        problem.null_value,
        multinomial_bic(n_columns, gain, problem.n_classes, n_rows),
        lambda k: solve(k)[0],
    )


def additive_path(
    problem: AdditiveProblem,
    ks: Iterable[int] | None = None,
    *,
    rules: Rules | None = None,
    time_limit: float | None = 10.0,
) -> SparsityPath:
    """Path of an additive model: one ranking gives every size, rules apart."""
    if rules is not None:
        return _additive_path_under(problem, ks, rules, time_limit)
    sizes = np.unique(_sizes(ks, max(problem.n_eligible, 1), 1))
    if problem.n_eligible == 0:
        sizes = np.zeros(1, dtype=np.int64)
    certificates, gain = [], np.empty(sizes.shape[0])
    for position, k in enumerate(sizes.tolist()):
        # Added up in the order of columns, as a solution is.
        gains = problem.gains[np.sort(problem.ranking[:k])]
        rest = problem.ranking[k : k + 1]
        following = float(problem.gains[rest[0]]) if rest.shape[0] else -math.inf
        certificates.append(problem.certificate(gains, k, following))
        gain[position] = gains.sum()
    extra = np.broadcast_to(
        np.asarray(problem.extra_parameters, dtype=np.float64), problem.gains.shape
    )
    parameters = np.concatenate([[0.0], np.cumsum(extra[problem.ranking])])
    bic = -2.0 * gain + parameters[sizes] * math.log(max(problem.n_rows, 1.0))
    return SparsityPath(
        sizes,
        np.array([one.objective for one in certificates]),
        np.array([one.upper_bound for one in certificates]),
        np.array([one.gap for one in certificates]),
        problem.null_value,
        bic,
        problem.best,
    )


def _additive_path_under(
    problem: AdditiveProblem,
    ks: Iterable[int] | None,
    rules: Rules,
    time_limit: float | None,
) -> SparsityPath:
    """A solve for each size: supports under rules need not be nested."""
    name = "sparsity_path"
    items = rules.per_item(problem.eligible.astype(np.float64)) > 0
    items[rules.excluded] = False
    items[rules.included] = True
    smallest = max(1, rules.included.shape[0])
    available = max(int(items.sum()), smallest)
    sizes = np.unique(_sizes(ks, available, smallest))
    solved: dict[int, Solution] = {}

    def solve(k: int) -> Solution:
        if k not in solved:
            limits = Limits.starting_now(time_limit, None)
            with warnings.catch_warnings():
                # Fewer than so many is what rules are for.
                warnings.simplefilter("ignore", FewFeaturesWarning)
                solved[k] = solve_additive_under(problem, k, rules, limits, name)
        return solved[k]

    solutions = [solve(k) for k in sizes.tolist()]
    certificates = [one.certificate for one in solutions]
    extra = np.broadcast_to(
        np.asarray(problem.extra_parameters, dtype=np.float64), problem.gains.shape
    )
    log_rows = math.log(max(problem.n_rows, 1.0))
    return SparsityPath(
        sizes,
        np.array([one.objective for one in certificates]),
        np.array([one.upper_bound for one in certificates]),
        np.array([one.gap for one in certificates]),
        problem.null_value,
        np.array(
            [log_rows * extra[s.support].sum() - 2.0 * s.gains.sum() for s in solutions]
        ),
        lambda k: solve(k).support,
    )
