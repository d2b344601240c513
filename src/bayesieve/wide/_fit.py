"""One fit: candidates by counts, then weights by rows, to a size or a penalty."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bayesieve.counts import ClassCounts
from bayesieve.exceptions import FewFeaturesWarning, NotConvergedWarning
from bayesieve.utils._warnings import warn_user
from bayesieve.weights import LinearTerms, PathSolver, WeightPath, WeightProblem
from bayesieve.weights._result import Progress, Stopped
from bayesieve.weights._sparse_newton import WeightState
from bayesieve.weights._weight_path import PathPoint
from bayesieve.wide._block import candidate_block, first_of_equals
from bayesieve.wide._candidates import Candidates, candidate_number, screen

__all__ = [
    "WideData",
    "WideFit",
    "WideModel",
    "WideRows",
    "WideSettings",
    "distinct",
    "fit_wide",
    "fitted",
    "screened",
    "warn_if_unfinished",
]

_PATH_RATIO = 0.5  # between penalties on the way to a given one
#: Penalties below this many nats a weight are not looked at when one is to be chosen.
LEAST_NATS = 0.1


@dataclass(frozen=True, eq=False)
class WideData:
    """Rows and their counts.

    Attributes
    ----------
    X : ndarray, csr or csc matrix of shape (n_rows, n_features)
    codes : ndarray of shape (n_rows,)
        Class of each row.
    row_weight : ndarray of shape (n_rows,) or None
    counts : ClassCounts
        Of exactly these rows, of the kind that the model needs.
    """

    X: Any
    codes: np.ndarray
    row_weight: np.ndarray | None
    counts: ClassCounts

    @property
    def total_weight(self) -> float:
        """Rows, or the sum of their weights."""
        return float(self.counts.class_count.sum())


@dataclass(frozen=True, eq=False)
class WideSettings:
    """What to fit.

    Attributes
    ----------
    model : {"multinomial", "bernoulli"}
    k : int or None
        Wanted number of features.
    penalty : float or None
        lambda, where no number of features is wanted.
    share : float
        Share of the penalty that stays when the weights of the chosen features are
        refitted: 0 is a free refit, 1 none at all.
    alpha : float or ndarray
    binarize : float or None
        Bernoulli model: values above it count as present.
    exponent : float
    candidates : int, "auto" or "all"
    feature_cost : ndarray of shape (n_features,) or None
    refit_intercept : bool
    log_prior : ndarray of shape (n_classes,)
        Minus infinity for classes that no row has.
    tol : float
    owner : str
        Name of the estimator, for messages.
    wanted_prior : ndarray of shape (n_classes,), optional
        Log-probabilities of the classes that the user wants; those of the rows unless
        given. Intercepts that are refitted are shifted to them afterwards.
    """

    model: str
    k: int | None
    penalty: float | None
    share: float
    alpha: Any
    binarize: float | None
    exponent: float
    candidates: Any
    feature_cost: np.ndarray | None
    refit_intercept: bool
    log_prior: np.ndarray
    tol: float
    owner: str
    wanted_prior: np.ndarray | None = None

    def for_rows(self, data: WideData) -> WideSettings:
        """The same for other rows: their class shares, unless those were given."""
        with np.errstate(divide="ignore"):
            learnt = np.log(data.counts.class_count / data.total_weight)
        if self.wanted_prior is None or self.refit_intercept:
            return replace(self, log_prior=learnt)
        # A class that the user expects, but no row of these has, cannot be fitted.
        return replace(
            self, log_prior=np.where(np.isneginf(learnt), learnt, self.wanted_prior)
        )


@dataclass(frozen=True, eq=False)
class WideRows:
    """Rows as the columns of the candidates alone.

    Attributes
    ----------
    block : csc_array of shape (n_rows, n_candidates)
    codes : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,) or None
    """

    block: Any
    codes: np.ndarray
    weight: np.ndarray | None

    def counted(self, present: np.ndarray, n_classes: int) -> WideRows:
        """Rows that count, with codes among the present classes."""
        position = np.full(n_classes, -1, dtype=np.int32)
        position[present] = np.arange(present.size)
        codes, weight = position[self.codes], self.weight
        counted = codes >= 0
        if weight is not None:
            counted &= weight > 0.0
        if counted.all():
            return replace(self, codes=codes)
        rows = np.flatnonzero(counted)
        block = self.block.tocsr()[rows].tocsc()
        return WideRows(block, codes[rows], None if weight is None else weight[rows])


def screened(counts: ClassCounts, settings: WideSettings) -> Candidates:
    """The candidates that the settings ask for."""
    size = candidate_number(settings.candidates, settings.k, counts.n_features)
    return screen(
        counts,
        size,
        model=settings.model,
        alpha=settings.alpha,
        owner=settings.owner,
    )


def distinct(
    candidates: Candidates, rows: WideRows, settings: WideSettings
) -> tuple[Candidates, WideRows]:
    """Of candidates that are the same in every row, the first.

    Copies would share one weight in any way at all, and take the place of others among
    k features. Where features have costs of their own, they stay.
    """
    if settings.feature_cost is not None or settings.candidates == "all":
        return candidates, rows
    kept = first_of_equals(rows.block)
    if kept.size == candidates.columns.size:
        return candidates, rows
    return candidates.take(kept), replace(rows, block=rows.block[:, kept])


@dataclass(frozen=True, eq=False)
class WideFit:
    """A fitted model and how it was found.

    Attributes
    ----------
    columns : ndarray of int64
        Features with a weight, sorted.
    weights : ndarray
        Their weights in (0, 1].
    slope, offset : ndarray of shape (n_columns, n_classes)
        Log-probabilities, see `Candidates`; offset is None without absence.
    intercept : ndarray of shape (n_classes,)
    chosen : ndarray of int64
        Features of the penalised problem; a refit may set some of them to zero.
    penalty, share : float
    gap, tol : float
        Duality gap of the penalised problem, and the gap asked for, in nats.
    path : WeightPath
    certificate : Certificate
        Of the screening.
    n_candidates : int
    stopped : str
    steps : int
    """

    columns: np.ndarray
    weights: np.ndarray
    slope: np.ndarray
    offset: np.ndarray | None
    intercept: np.ndarray
    chosen: np.ndarray
    penalty: float
    share: float
    gap: float
    tol: float
    path: WeightPath
    certificate: Any
    n_candidates: int
    stopped: Stopped
    steps: int


class WideModel:
    """Candidates and solver for some rows, ready for any penalty or size.

    Parameters
    ----------
    candidates : Candidates
    rows : WideRows
        The columns of the candidates.
    settings : WideSettings
    n_features : int
        Columns there are in all.
    progress : Progress, optional
    """

    def __init__(
        self,
        candidates: Candidates,
        rows: WideRows,
        settings: WideSettings,
        n_features: int,
        progress: Progress | None = None,
    ) -> None:
        self.candidates, self.settings = candidates, settings
        #: Candidates before copies of others were left out.
        self.screened = candidates
        self.n_features = n_features
        # A class without rows has no posterior anywhere; it is left out of the fit.
        self.present = np.flatnonzero(np.isfinite(settings.log_prior))
        rows = rows.counted(self.present, settings.log_prior.size)
        problem = WeightProblem(
            LinearTerms(rows.block, *self.tables(candidates)),
            codes=rows.codes,
            log_prior=settings.log_prior[self.present],
            cost=self._cost(),
            exponent=settings.exponent,
            row_weight=rows.weight,
        )
        self.progress = Progress() if progress is None else progress
        self.solver = PathSolver(
            problem,
            refit_intercept=settings.refit_intercept,
            tol=settings.tol,
            progress=self.progress,
        )

    @classmethod
    def of(
        cls, data: WideData, settings: WideSettings, progress: Progress | None = None
    ) -> WideModel:
        """Screen the columns of a matrix and take those of the candidates."""
        n_features = int(data.X.shape[1])
        candidates = screened(data.counts, settings)
        block = candidate_block(
            data.X, candidates.columns, settings.model, settings.binarize
        )
        rows = WideRows(block, data.codes, data.row_weight)
        some, rows = distinct(candidates, rows, settings)
        model = cls(some, rows, settings, n_features, progress)
        model.screened = candidates
        return model

    def tables(self, found: Candidates) -> tuple[np.ndarray, np.ndarray | None]:
        """Slopes and offsets of the present classes, centred over them.

        Offsets are the same in every row: intercepts that are refitted take them over.
        """
        slope = found.slope[:, self.present]
        slope = slope - slope.mean(axis=1, keepdims=True)
        if found.offset is None or self.settings.refit_intercept:
            return slope, None
        offset = found.offset[:, self.present]
        return slope, offset - offset.mean(axis=1, keepdims=True)

    def _cost(self) -> np.ndarray:
        columns = self.candidates.columns
        if self.settings.feature_cost is None:
            return np.ones(columns.size)
        return self.settings.feature_cost[columns]

    # ----------------------------------------------------------------------- solving

    @property
    def least_penalty(self) -> float:
        """Where the path ends when a penalty is to be chosen."""
        problem = self.solver.problem
        paid = problem.cost[problem.cost > 0.0]
        if not paid.size:
            return self.solver.largest
        rows = problem.n_rows / max(problem.terms.n_rows, 1)
        return min(LEAST_NATS * rows / float(np.median(paid)), self.solver.largest)

    def to_penalty(self, penalty: float) -> PathPoint:
        """Follow the path from the largest penalty to this one."""
        solver = self.solver
        steps = 0
        if penalty < solver.largest:
            solver.begin()
        if 0.0 < penalty < solver.largest:
            steps = int(math.log(solver.largest / penalty) / -math.log(_PATH_RATIO))
        elif penalty == 0.0:
            steps = int(
                math.log(max(solver.largest / max(self.least_penalty, 1e-300), 1.0))
                / -math.log(_PATH_RATIO)
            )
        for step in range(1, steps + 1):
            solver.solve(solver.largest * _PATH_RATIO**step, looseness=5.0)
        return solver.solve(penalty)

    def to_size(self, k: int) -> PathPoint:
        """A point with k features, or few more, or as many as there are."""
        return self.solver.reach(k)

    def support(self, point: PathPoint, k: int | None) -> np.ndarray:
        """Terms with a weight at the point; of more than k those that matter most."""
        used = np.flatnonzero(point.weights)
        if k is None or used.size <= k:
            return used
        problem = self.solver.problem
        assert isinstance(problem.terms, LinearTerms)
        size = point.weights[used] * problem.terms.sizes(used)
        kept = np.argsort(-size, kind="stable")[:k]
        return np.sort(used[kept])

    def refitted(
        self, point: PathPoint, support: np.ndarray, share: float
    ) -> PathPoint | WeightState:
        """Weights and intercepts of a support, with a share of the penalty."""
        if share == 1.0 and support.size == np.count_nonzero(point.weights):
            return point
        return self.solver.refit(point, support, share * point.penalty)

    def whole_intercept(self, intercept: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Score of every class before its terms; minus infinity for absent classes.

        Slopes were centred over the classes, which no difference of scores notices.
        What the intercepts took over from offsets is given back.
        """
        out = np.full(self.settings.log_prior.size, -np.inf)
        first = self.settings.log_prior[self.present[0]]
        own = first + np.concatenate([[0.0], intercept])
        offset = self.candidates.offset
        if offset is not None and self.settings.refit_intercept:
            carried = weights @ offset[:, self.present]
            own = own - (carried - carried[0])
        wanted = self.settings.wanted_prior
        if wanted is not None and self.settings.refit_intercept:
            own = own + (wanted - self.settings.log_prior)[self.present]
        out[self.present] = own
        return out

    def fit_of(
        self, point: PathPoint, support: np.ndarray, state: PathPoint | WeightState
    ) -> WideFit:
        """Everything about one solution."""
        used = np.flatnonzero(state.weights)
        found = self.candidates
        path = self.solver.path(found.columns, self.n_features)
        shown = [
            self.whole_intercept(point.intercept, point.weights)
            for point in self.solver.ordered()
        ]
        return WideFit(
            columns=found.columns[used],
            weights=state.weights[used],
            slope=found.slope[used],
            offset=None if found.offset is None else found.offset[used],
            intercept=self.whole_intercept(state.intercept, state.weights),
            chosen=found.columns[support],
            penalty=point.penalty,
            share=self.settings.share,
            gap=point.gap,
            tol=self.solver.tol,
            path=replace(path, intercepts=np.array(shown).reshape(len(path), -1)),
            certificate=found.certificate,
            n_candidates=int(found.columns.size),
            stopped=self._stopped(point),
            steps=self.progress.evaluations,
        )

    def _stopped(self, point: PathPoint) -> Stopped:
        """Why the search ended; numbers beyond rounding's reach are not converged."""
        reason = self.progress.stopped
        sharp = not point.gap > self.solver.tol  # true for NaN: no gap is claimed
        return reason if sharp or reason != "converged" else "budget"


def fit_wide(
    data: WideData,
    settings: WideSettings,
    progress: Progress | None = None,
    start: tuple[np.ndarray, np.ndarray] | None = None,
) -> WideFit:
    """Screen, then weights for `settings.k` features or for `settings.penalty`.

    Parameters
    ----------
    data : WideData
    settings : WideSettings
        With k or with a penalty.
    progress : Progress, optional
        When time is up or Ctrl-C is pressed, the last solution is the answer.
    start : (columns, weights), optional
        Weights to begin from, for a given penalty.
    """
    return fitted(WideModel.of(data, settings, progress), start)


def fitted(
    model: WideModel, start: tuple[np.ndarray, np.ndarray] | None = None
) -> WideFit:
    """Weights of one model, for the k or the penalty of its settings."""
    settings, solver = model.settings, model.solver
    point = state = support = None
    with model.progress:
        # What an interruption would leave: no feature at all.
        model.progress.note(solver.newton.state.weights, np.inf)
        if settings.k is not None:
            point = model.to_size(settings.k)
        else:
            assert settings.penalty is not None
            point = _to_penalty(model, settings.penalty, start)
        support = model.support(point, settings.k)
        state = model.refitted(point, support, settings.share)
    if state is None:  # stopped on the way: the point of the path reached so far
        solver.begin()
        point = point or min(solver.points, key=lambda found: found.penalty)
        support = model.support(point, settings.k)
        state = solver.within(point, support)
    assert support is not None
    if settings.k is not None and support.size < settings.k:
        screened_in = model.candidates.columns.size
        _warn_of_few(settings, support.size, model.progress.stopped, screened_in)
    if settings.penalty is not None and point.penalty > settings.penalty:
        _warn_of_another_penalty(settings, point.penalty, model.progress.stopped)
    return model.fit_of(point, support, state)


def _to_penalty(
    model: WideModel, penalty: float, start: tuple[np.ndarray, np.ndarray] | None
) -> PathPoint:
    if start is None:
        return model.to_penalty(penalty)
    columns, weights = start
    candidates = model.candidates.columns
    position = np.minimum(np.searchsorted(candidates, columns), candidates.size - 1)
    known = candidates[position] == columns
    first = np.zeros(candidates.size)
    first[position[known]] = weights[known]
    newton = model.solver.newton
    newton.state = newton.at(first, newton.state.intercept)
    return model.solver.solve(penalty)


def warn_if_unfinished(found: WideFit, owner: str) -> None:
    """Tell that the weights are farther from the optimum than was asked for."""
    if found.stopped != "budget":
        return
    reached = "" if np.isnan(found.gap) else f" of {found.gap:.3g} nats"
    warn_user(
        f"The weights of {owner} did not converge: the search ended with a "
        f"gap{reached} above its tolerance of {found.tol:.3g} nats. The weights are "
        "valid and better than none. Hint: counts in the thousands make scores that "
        "hardly curve; divide them, take log1p of them, or raise tol.",
        NotConvergedWarning,
    )


def _warn_of_another_penalty(
    settings: WideSettings, reached: float, stopped: Stopped
) -> None:
    if stopped == "time":
        warn_user(
            f"{settings.owner} ran out of time at a penalty of {reached:.4g}, on the "
            f"way to {settings.penalty:.4g}; weights and gap are those of the former. "
            "Hint: raise time_limit.",
            NotConvergedWarning,
        )


def _warn_of_few(
    settings: WideSettings, found: int, stopped: Stopped, candidates: int
) -> None:
    if stopped != "converged":
        reason = f"the search was stopped ({stopped})"
    elif candidates < (settings.k or 0):
        reason = f"there are {candidates} distinct candidates"
    else:
        reason = "no others help to tell the classes apart"
    warn_user(
        f"{settings.owner} found {found} features instead of k={settings.k}: {reason}.",
        FewFeaturesWarning,
    )
