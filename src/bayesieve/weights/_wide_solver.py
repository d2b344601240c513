"""Weights on a wide matrix: candidates by counts, then a path, a support, a refit.

`WideSolver` is the one object that the wide classifiers, the refined selector and the
text classifier work with.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.counts import ClassCounts
from bayesieve.exceptions import FewFeaturesWarning, NotConvergedWarning
from bayesieve.solvers import Certificate
from bayesieve.utils._resources import with_one_blas_thread
from bayesieve.utils._warnings import warn_if_interrupted, warn_user
from bayesieve.weights._all_columns import AllColumns
from bayesieve.weights._candidate_columns import candidate_block, first_of_equals
from bayesieve.weights._candidates import Candidates, candidate_number, screen
from bayesieve.weights._column_tables import ColumnTables
from bayesieve.weights._criterion import WeightProblem
from bayesieve.weights._linear_terms import LinearTerms
from bayesieve.weights._result import Progress, Stopped
from bayesieve.weights._sparse_newton import WeightState
from bayesieve.weights._terms import Array
from bayesieve.weights._weight_path import PathPoint, PathSolver, WeightPath
from bayesieve.weights._wide_proof import WideProof

__all__ = ["CountedRows", "WideFit", "WideSettings", "WideSolver"]

#: Penalties below this many nats a weight are not looked at when one is to be chosen.
_LEAST_NATS = 0.1
_TIMES = 2  # features let in for each one of the k that are chosen by weight


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows, and the counts of exactly these rows, of the kind of the model."""

    X: Any
    codes: Array
    row_weight: Array | None
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
    log_prior : ndarray of shape (n_classes,)
        Minus infinity for classes that no row has.
    owner : str
        Name of the estimator, for messages.
    k : int or None
        Wanted number of features.
    regularization : float or None
        The penalty lambda, where no number of features is wanted.
    share : float
        Share of the penalty that stays when the weights of the chosen features are
        refitted: 0 is a free refit, 1 none at all.
    alpha, exponent, candidates, feature_cost, refit_intercept, tol
        See `SelectiveMultinomialNB`.
    binarize : float or None
        Bernoulli model: values above it count as present.
    exact : bool
        Whether to search for a better support of k features, and for its proof.
    wanted_prior : ndarray of shape (n_classes,), optional
        Log-probabilities of the classes that the user wants; those of the rows unless
        given. Intercepts that are refitted are shifted to them afterwards.
    """

    model: str
    log_prior: Array
    owner: str
    k: int | None = None
    regularization: float | None = None
    share: float = 0.0
    alpha: Any = 1.0
    binarize: float | None = None
    exponent: float = 1.0
    candidates: Any = "auto"
    feature_cost: Array | None = None
    refit_intercept: bool = True
    tol: float = 3e-4
    exact: bool = False
    wanted_prior: Array | None = None

    def for_counts(self, counts: ClassCounts) -> WideSettings:
        """The same for other rows: their class shares, unless those were given."""
        with np.errstate(divide="ignore"):
            learnt = np.log(counts.class_count / counts.class_count.sum())
        if self.wanted_prior is None or self.refit_intercept:
            return replace(self, log_prior=learnt)
        # A class that the user expects, but no row of these has, cannot be fitted.
        return replace(
            self, log_prior=np.where(np.isneginf(learnt), learnt, self.wanted_prior)
        )

    def screened(self, counts: ClassCounts) -> Candidates:
        """The candidates that these settings ask for."""
        size = candidate_number(self.candidates, self.k, counts.n_features)
        return screen(
            counts, size, model=self.model, alpha=self.alpha, owner=self.owner
        )


@dataclass(frozen=True, eq=False)
class WideFit:
    """A fitted model and how it was found.

    Of the features with a weight: `columns` (sorted), `weights` in (0, 1], `slope` and
    `offset` (see `Candidates`). `gap` is the duality gap of the penalised problem, over
    all columns where the solver knows them, and `tol` the one asked for, in nats. The
    certificate is about any k weighted columns. Both speak of `n_proven` columns.
    """

    columns: Array
    weights: Array
    slope: Array
    offset: Array | None
    intercept: Array
    penalty: float
    share: float
    gap: float
    tol: float
    path: WeightPath
    certificate: Certificate
    n_candidates: int
    n_proven: int
    stopped: Stopped
    steps: int

    def warn(self, owner: str) -> None:
        """Tell that the fit was interrupted, or ended above the gap asked for."""
        warn_if_interrupted(owner, self.stopped)
        if self.stopped != "budget":
            return
        reached = "" if np.isnan(self.gap) else f" of {self.gap:.3g} nats"
        warn_user(
            f"The weights of {owner} did not converge: the search ended with a "
            f"gap{reached} above its tolerance of {self.tol:.3g} nats. The weights are "
            "valid and better than none. Hint: counts in the thousands make scores "
            "that hardly curve; divide them, take log1p of them, or raise tol.",
            NotConvergedWarning,
        )


class WideSolver:
    """Candidates and their rows, ready for any penalty or size.

    Parameters
    ----------
    settings : WideSettings
    candidates : Candidates
    block : csc_array of shape (n_rows, n_candidates)
        The columns of the candidates.
    codes : ndarray of shape (n_rows,)
    weight : ndarray of shape (n_rows,) or None
    n_features : int
        Columns there are in all.
    progress : Progress, optional
        When time is up or Ctrl-C is pressed, the last solution is the answer.
    distinct : bool
        Of candidates that are the same in every row take the first. Copies would share
        one weight in any way at all, and take the place of others among k features.
        Where features have costs of their own, they stay. What is proven is proven of
        distinct columns then.
    everything : AllColumns, optional
        All columns of the same rows. With them the solutions are proven over all
        columns, and those that screening left out join where they would be missed.
    """

    def __init__(
        self,
        settings: WideSettings,
        candidates: Candidates,
        block: Any,
        codes: Array,
        weight: Array | None,
        *,
        n_features: int,
        progress: Progress | None = None,
        distinct: bool = False,
        everything: AllColumns | None = None,
    ) -> None:
        #: Candidates before copies of others were left out.
        self.all_candidates = candidates
        self._distinct = (
            distinct and settings.feature_cost is None and settings.candidates != "all"
        )
        if self._distinct:
            kept = first_of_equals(block)
            if kept.size < candidates.columns.size:
                candidates, block = candidates.take(kept), block[:, kept]
        #: Columns that are known to be the same as a candidate in every row.
        self.copies = np.setdiff1d(
            self.all_candidates.columns, candidates.columns, assume_unique=True
        )
        self.settings, self.candidates = settings, candidates
        self.n_features, self.everything = n_features, everything
        # A class without rows has no posterior anywhere; it is left out of the fit.
        self.present = np.flatnonzero(np.isfinite(settings.log_prior))
        self._n_rows, self._kept = codes.size, self._rows_that_count(codes, weight)
        block, codes, weight = self.counted(block, codes, weight)
        problem = WeightProblem(
            LinearTerms(block, *self.tables(candidates)),
            codes=codes,
            log_prior=settings.log_prior[self.present],
            cost=self._cost(candidates.columns),
            exponent=settings.exponent,
            row_weight=weight,
        )
        self.progress = Progress() if progress is None else progress
        self.path = PathSolver(
            problem,
            refit_intercept=settings.refit_intercept,
            tol=settings.tol,
            progress=self.progress,
        )
        self.proof = WideProof(self)

    @classmethod
    def of(
        cls,
        rows: CountedRows,
        settings: WideSettings,
        progress: Progress | None = None,
    ) -> WideSolver:
        """Screen the columns of a matrix and take those of the candidates."""
        found = settings.screened(rows.counts)
        block = candidate_block(
            rows.X, found.columns, settings.model, settings.binarize
        )
        tables = ColumnTables.of(rows.counts, settings.model, settings.alpha)
        return cls(
            settings,
            found,
            block,
            rows.codes,
            rows.row_weight,
            n_features=int(rows.X.shape[1]),
            progress=progress,
            distinct=True,
            everything=AllColumns.of_matrix(rows.X, tables, settings.binarize),
        )

    def counted(
        self, block: Any, codes: Array, weight: Array | None
    ) -> tuple[Any, Array, Array | None]:
        """Rows that count, with codes among the present classes."""
        position = np.full(self.settings.log_prior.size, -1, dtype=np.int32)
        position[self.present] = np.arange(self.present.size)
        rows = self._rows_that_count(codes, weight)
        if rows is None:
            return block, position[codes], weight
        weight = None if weight is None else weight[rows]
        return block.tocsr()[rows].tocsc(), position[codes[rows]], weight

    def _rows_that_count(self, codes: Array, weight: Array | None) -> Array | None:
        """Rows of present classes and with a weight; None for all of them."""
        counted = np.isin(codes, self.present)
        if weight is not None:
            counted &= weight > 0.0
        return None if counted.all() else np.flatnonzero(counted)

    def of_all_rows(self, residual: Array) -> Array:
        """A residual of the rows that count as one of all rows."""
        if self._kept is None:
            return residual
        out = np.zeros((self._n_rows, residual.shape[1]))
        out[self._kept] = residual
        return out

    def join(self, columns: Array) -> Array:
        """Let other columns be candidates, too; returns the places of those so far.

        Copies of candidates, or of each other, stay out where only distinct ones count.
        """
        assert self.everything is not None
        before, problem = self.candidates.columns, self.path.problem
        assert isinstance(problem.terms, LinearTerms)
        own = self.everything.take(columns)
        if self._kept is not None:
            own = own.tocsr()[self._kept]
        block = sparse.hstack([problem.terms.columns, own], format="csc")
        if self._distinct:
            kept = first_of_equals(block)
            block = block[:, kept]
            new = columns[kept[kept >= before.size] - before.size]
            self.copies = np.union1d(self.copies, np.setdiff1d(columns, new))
            columns = new
        if not columns.size:
            return np.arange(before.size)
        found = self.candidates.joined(columns, self.everything.tables)
        order = np.argsort(np.concatenate([before, columns]), kind="stable")
        places = np.searchsorted(found.columns, before)
        terms = LinearTerms(block[:, order], *self.tables(found))
        cost = self._cost(found.columns)
        self.path.widen(replace(problem, terms=terms, cost=cost), places)
        self.candidates = found
        return places

    def tables(self, found: Candidates) -> tuple[Array, Array | None]:
        """Slopes and offsets of the present classes, centred over them.

        Offsets are the same in every row: intercepts that are refitted take them over.
        """
        slope = found.slope[:, self.present]
        slope = slope - slope.mean(axis=1, keepdims=True)
        if found.offset is None or self.settings.refit_intercept:
            return slope, None
        offset = found.offset[:, self.present]
        return slope, offset - offset.mean(axis=1, keepdims=True)

    def _cost(self, columns: Array) -> Array:
        if self.settings.feature_cost is None:
            return np.ones(columns.size)
        return np.asarray(self.settings.feature_cost[columns])

    # ----------------------------------------------------------------------- solving

    @property
    def least_penalty(self) -> float:
        """Where the path ends when a penalty is to be chosen."""
        problem = self.path.problem
        paid = problem.cost[problem.cost > 0.0]
        if not paid.size:
            return self.path.largest
        rows = problem.n_rows / max(problem.terms.n_rows, 1)
        return min(_LEAST_NATS * rows / float(np.median(paid)), self.path.largest)

    def stoppable(self) -> Progress:
        """The progress as a context that the clock and Ctrl-C leave quietly."""
        self.progress.note(
            self.path.state.weights, np.inf
        )  # what would be left: nothing yet
        return self.progress

    def to_penalty(self, penalty: float) -> PathPoint:
        """Follow the path from the largest penalty to this one."""
        return self.path.descend_to(penalty, self.least_penalty)

    def to_size(self, k: int) -> PathPoint:
        """A point with k features, or few more, or as many as there are."""
        return self.path.reach(k)

    def near(self, columns: Array, weights: Array, penalty: float) -> PathPoint:
        """The point of a penalty, from weights of features that were found before."""
        candidates = self.candidates.columns
        position = np.minimum(np.searchsorted(candidates, columns), candidates.size - 1)
        known = candidates[position] == columns
        first = np.zeros(candidates.size)
        first[position[known]] = weights[known]
        self.path.start_at(first)
        return self.path.solve(penalty)

    def support(self, point: PathPoint, k: int | None) -> Array:
        """Terms with a weight at the point; of more than k those that matter most."""
        return self.path.strongest(point, point.size if k is None else k)

    def refit(
        self, point: PathPoint, support: Array, share: float, *, stay: bool = True
    ) -> PathPoint | WeightState:
        """Weights and intercepts of a support, with a share of the penalty.

        Without `stay`, the path goes on afterwards from where it was.
        """
        if share == 1.0 and support.size == np.count_nonzero(point.weights):
            return point
        return self.path.refit(point, support, share * point.penalty, stay=stay)

    @with_one_blas_thread
    def fit(self, start: tuple[Array, Array] | None = None) -> WideFit:
        """Weights for the k or the penalty of the settings.

        Parameters
        ----------
        start : (columns, weights), optional
            Weights to begin from, for a given penalty.
        """
        settings, path, proof = self.settings, self.path, self.proof
        wanted = settings.regularization
        state: PathPoint | WeightState | None = None
        with self.stoppable():
            point = proof.joined(self._first_point(start), settings.k)
            support = self.support(point, settings.k)
            if settings.exact:
                support = proof.improved(point, support)
            # What a search has found is fitted without penalty already, and sharper.
            if proof.best is None or settings.share > 0.0:
                state = self.refit(proof.point or point, support, settings.share)
        if state is None:
            # Searched, or stopped on the way at the point of the path so far.
            path.begin()
            if proof.point is None:
                proof.point = min(path.points, key=lambda found: found.penalty)
            support = self.support(proof.point, settings.k)
            state = proof.best or path.within(proof.point, support)
        assert proof.point is not None
        point = proof.point
        if settings.k is not None and support.size < settings.k:
            self._warn_of_few(support.size)
        if wanted is not None and point.penalty > wanted:
            self._warn_of_another_penalty(point.penalty)
        return self.fit_of(point, state)

    def _first_point(self, start: tuple[Array, Array] | None) -> PathPoint:
        """The point of the settings, over the candidates."""
        settings = self.settings
        if settings.k is not None:
            return self.to_size(settings.k)
        assert settings.regularization is not None
        if start is None:
            return self.to_penalty(settings.regularization)
        return self.near(*start, settings.regularization)

    @with_one_blas_thread
    def missed_most(self) -> Array:
        """The k features that would be missed most among twice as many with a weight.

        The penalty that leaves k weights has shrunk them much, and frequent features
        gain by that. So twice as many are let in, their weights are refitted without
        penalty, and those stay whose removal would cost most. Where fewer than k ever
        get a weight, the candidates of largest gain fill up.
        """
        k = self.settings.k
        assert k is not None
        point = self.proof.joined(self.to_size(_TIMES * k), _TIMES * k)
        support = np.flatnonzero(point.weights)
        if support.size > k:
            state = self.path.refit(point, support)
            # What the likelihood would lose to second order, the others held.
            loss = state.weights[support] ** 2 * self.curvatures(state, support)
            kept = np.argsort(-loss, kind="stable")[:k]
            support = np.sort(support[kept])
        columns, found = self.candidates.columns[support], self.all_candidates
        missing = min(k, found.columns.size) - columns.size
        if missing <= 0:
            return columns
        rest = np.flatnonzero(~np.isin(found.columns, columns))
        best = rest[np.argsort(-found.gains[rest], kind="stable")[:missing]]
        return np.union1d(columns, found.columns[best])

    def certified(self, columns: Array) -> Certificate:
        """What is proven of columns that `missed_most` has chosen."""
        point, k = self.proof.point, self.settings.k
        assert point is not None
        assert k is not None
        known = self.candidates.columns
        # Copies of candidates, which fill up, bring nothing that is not there.
        state = self.path.refit(point, np.flatnonzero(np.isin(known, columns)))
        return self.proof.certificate(point, state, k)

    def curvatures(self, state: WeightState, support: Array) -> Array:
        """Second derivative of the likelihood for each weight of a support alone."""
        problem = self.path.problem
        assert isinstance(problem.terms, LinearTerms)
        return problem.terms.diagonal(state.scores, support, problem.row_weight)

    def whole_intercept(
        self, intercept: Array, weights: Array, among: Candidates | None = None
    ) -> Array:
        """Score of every class before its terms; minus infinity for absent classes.

        The weights are those of the candidates, unless others are given.
        Slopes were centred over the classes, which no difference of scores notices.
        What the intercepts took over from offsets is given back.
        """
        out = np.full(self.settings.log_prior.size, -np.inf)
        first = self.settings.log_prior[self.present[0]]
        own = first + np.concatenate([[0.0], intercept])
        offset = (self.candidates if among is None else among).offset
        if offset is not None and self.settings.refit_intercept:
            carried = weights @ offset[:, self.present]
            own = own - (carried - carried[0])
        wanted = self.settings.wanted_prior
        if wanted is not None and self.settings.refit_intercept:
            own = own + (wanted - self.settings.log_prior)[self.present]
        out[self.present] = own
        return out

    def fit_of(
        self,
        point: PathPoint,
        state: PathPoint | WeightState,
        share: float | None = None,
    ) -> WideFit:
        """Everything about one solution, with what is proven of it."""
        if not (
            state.weights.size
            == point.weights.size
            == self.path.problem.n_terms
            == self.candidates.columns.size
        ):
            raise KeyboardInterrupt  # pressed just while columns joined: no model
        used = np.flatnonzero(state.weights)
        point = self.proof.completed(point)
        k = int(used.size) if self.settings.k is None else self.settings.k
        certificate = self.proof.certificate(point, state, k)
        found = self.candidates
        path = self.path.path(found.columns, self.n_features, self.whole_intercept)
        return WideFit(
            columns=found.columns[used],
            weights=state.weights[used],
            slope=found.slope[used],
            offset=None if found.offset is None else found.offset[used],
            intercept=self.whole_intercept(state.intercept, state.weights),
            penalty=point.penalty,
            share=self.settings.share if share is None else share,
            gap=point.gap,
            tol=self.path.tol,
            path=path,
            certificate=certificate,
            n_candidates=int(found.columns.size),
            n_proven=self._n_proven(),
            stopped=self._stopped(point),
            steps=self.progress.evaluations,
        )

    def _n_proven(self) -> int:
        """Columns that the proofs speak of."""
        if self.everything is None:
            return int(self.candidates.columns.size)
        return self.n_features - int(self.copies.size)

    def _stopped(self, point: PathPoint) -> Stopped:
        """Why the search ended; numbers beyond rounding's reach are not converged."""
        reason = self.progress.stopped
        sharp = not point.gap > self.path.tol  # true for NaN: no gap is claimed
        return reason if sharp or reason != "converged" else "budget"

    def _warn_of_another_penalty(self, reached: float) -> None:
        if self.progress.stopped == "time":
            settings = self.settings
            warn_user(
                f"{settings.owner} ran out of time at a penalty of {reached:.4g}, on "
                f"the way to {settings.regularization:.4g}; weights and gap are those "
                "of the former. Hint: raise time_limit.",
                NotConvergedWarning,
            )

    def _warn_of_few(self, found: int) -> None:
        settings, stopped = self.settings, self.progress.stopped
        available, what = self.candidates.columns.size, "distinct candidates"
        if self.everything is not None:
            available, what = int(self.everything.varying.sum()), "features that vary"
        if stopped != "converged":
            reason = f"the search was stopped ({stopped})"
        elif available < (settings.k or 0):
            reason = f"there are {available} {what}"
        else:
            reason = "no others help to tell the classes apart"
        warn_user(
            f"{settings.owner} found {found} features instead of k={settings.k}: "
            f"{reason}.",
            FewFeaturesWarning,
        )
