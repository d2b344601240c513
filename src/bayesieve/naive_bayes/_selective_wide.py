"""What the weighted classifiers of wide matrices share."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import Interval, StrOptions, fit_context
from bayesieve._description import (
    Description,
    Saved,
    SupportProblem,
    class_weights,
    gain_detail,
    weighted_detail,
    weighted_sentence,
    weighted_support_sentence,
)
from bayesieve._estimator import RowCounter
from bayesieve.counts import ClassCounts
from bayesieve.model_selection._splits import (
    HELD_OUT,
    Split,
    splits_for_few,
    splits_of,
)
from bayesieve.model_selection._weight_choice import (
    SHARES,
    WeightChoice,
    choose_penalty,
    choose_share,
)
from bayesieve.naive_bayes._base import SupportClassifier
from bayesieve.naive_bayes._penalty_choice import (
    CHOICE_SAVED,
    choice_described,
    drop_choice,
    keep_choice,
    penalties_told,
)
from bayesieve.utils._computed_once import computed_once
from bayesieve.utils._progress import ProgressBar
from bayesieve.utils._validation import as_matrix, label_array, refuse_one_class
from bayesieve.utils._warnings import warn_if_interrupted
from bayesieve.weights._all_columns import AllColumns
from bayesieve.weights._candidate_columns import candidate_block, columns_by_name
from bayesieve.weights._column_tables import ColumnTables
from bayesieve.weights._result import OptimizerState, Progress
from bayesieve.weights._wide_chunks import fit_chunks
from bayesieve.weights._wide_solver import (
    CountedRows,
    WideFit,
    WideSettings,
    WideSolver,
)

__all__ = ["SelectiveWideNB", "WideWeightedNB", "information_penalty", "term_sizes"]


class WideWeightedNB(SupportClassifier, RowCounter):
    """Base: counts, settings, keeping a fit, prediction; holds no mathematics."""

    _model: ClassVar[str]
    _kind: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "exponent": [Interval(Real, 0, 1, closed="right")],
        "n_jobs": [Integral, None],
        "relaxed": ["boolean", StrOptions({"auto"})],
        "candidates": [
            Interval(Integral, 2, None, closed="left"),
            StrOptions({"auto", "all"}),
        ],
        "feature_cost": ["array-like", None],
        "refit_intercept": ["boolean"],
        "fit_prior": ["boolean"],
        "class_prior": ["array-like", None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "cv": ["cv_object"],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "verbose": ["verbose"],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "class_count_": Saved("floats", "C", domain="counts"),
        "class_log_prior_": Saved("floats", "C", domain="logs"),
        "class_intercept_": Saved("floats", "C", domain="logs"),
        "support_indices_": Saved("indices", "k", "m"),
        "k_": Saved("int", "k"),
        "_support_weights": Saved("floats", "k", domain="counts", optional=True),
        "weights_": Saved("floats", "m", domain="counts", old=True),
        "feature_log_prob_": Saved("floats", "C", "k", domain="logs"),
        "_weighted_slope": Saved("floats", "k", "C"),
        "_weighted_offset": Saved("floats", "k", "C", optional=True),
        "_importances": Saved("floats", "k"),
        "lambda_": Saved("float", domain="known"),
        "relaxation_": Saved("float", domain="finite"),
        "dual_gap_": Saved("float"),
        "path_": Saved("weight path"),
        "certificate_": Saved("certificate"),
        "n_candidates_": Saved("int"),
        "_n_proven": Saved("int", optional=True),
        "stopped_": Saved("text"),
        "n_iter_": Saved("int"),
    }

    def _describe(self) -> Description:
        return self._description(
            score=self._importances,
            score_name="importance (nats)",
            **self._proof(),
            dual_gap=self.dual_gap_,
            stopped=self.stopped_,
            problem=SupportProblem(self._model, {"alpha": self.alpha}),
            weight_path=self.path_,
            penalty=self.lambda_,
            **class_weights(
                self.classes_, self._log_parameters(), self._support_weights
            ),
        )

    def _proof(self) -> dict[str, Any]:
        """What is proven, in words; of a searched support, the support."""
        proof = self.certificate_
        if not hasattr(self, "_n_proven"):  # of version 0.1: proven of the candidates
            n_known = self.n_candidates_
            return {
                "sentence": weighted_sentence(
                    self.dual_gap_, self.k_, n_known, "features", everything=False
                ),
                "detail": gain_detail(proof, int(proof.k), "features"),
            }
        # Copies of other features are out, and no part of the proof.
        noun = "features"
        if self._n_proven < self.n_features_in_:
            noun = "distinct features"
        if getattr(self, "exact", False):
            sentence = weighted_support_sentence(proof, noun)
        else:
            sentence = weighted_sentence(self.dual_gap_, self.k_, self._n_proven, noun)
        return {
            "sentence": sentence,
            "detail": weighted_detail(proof, "features"),
            "is_weighted": True,
        }

    def _log_parameters(self) -> np.ndarray:
        """Log-parameters whose contrast between classes a feature brings."""
        return self.feature_log_prob_

    def _restore(self, values: dict[str, Any]) -> None:
        values = {"_weighted_offset": None} | values
        weights = values.pop("weights_", None)
        if "_support_weights" not in values:  # a file of version 0.1
            if weights is None:
                raise ValueError("'_support_weights' is not there")
            values["_support_weights"] = weights[values["support_indices_"]]
        super()._restore(values)

    def _count_kind(self) -> str:
        return self._kind

    def _threshold(self) -> float | None:
        """Above which a value counts as present, where that is what counts."""
        return 0.0

    # -------------------------------------------------------------------- preparing

    def _counted_rows(self, X: Any, y: Any, sample_weight: Any) -> CountedRows:
        X, codes, classes, weights = self._validated(
            X, y, None, sample_weight, first=True
        )
        counts = self._counted(X, codes, classes, weights)
        if sparse.issparse(X) and X.format == "csc":
            X = X.tocsr()  # rows are taken for folds; columns once, for the candidates
        return CountedRows(X, codes, weights, counts)

    def _settings_for(
        self,
        counts: ClassCounts,
        k: int | None = None,
        regularization: float | None = None,
    ) -> WideSettings:
        n_features = counts.n_features
        wanted = self._log_prior(counts.class_count)
        with np.errstate(divide="ignore"):
            learnt = np.log(counts.class_count / counts.class_count.sum())
        user_prior = self.class_prior is not None or not self.fit_prior
        return WideSettings(
            model=self._model,
            k=k,
            regularization=regularization,
            share=0.0 if self.relaxed is True else 1.0,
            alpha=self._smoothing(n_features),
            binarize=self._threshold(),
            exponent=float(self.exponent),
            candidates=self.candidates,
            feature_cost=self._costs(n_features, k),
            refit_intercept=self.refit_intercept,
            # A refitted intercept is that of the rows; a user prior comes after.
            log_prior=learnt if self.refit_intercept else wanted,
            wanted_prior=wanted if user_prior else None,
            tol=float(self.tol),
            owner=type(self).__name__,
        )

    def _smoothing(self, n_features: int) -> Any:
        if isinstance(self.alpha, Real):
            return float(self.alpha)
        return self._one_a_feature(
            "alpha", self.alpha, n_features, "numbers above 0", strict=True
        )

    def _costs(self, n_features: int, k: int | None) -> np.ndarray | None:
        if self.feature_cost is None:
            return None
        costs = self._one_a_feature(
            "feature_cost", self.feature_cost, n_features, "finite numbers >= 0"
        )
        if k is not None and not costs.any():
            raise ValueError(
                f"The 'feature_cost' parameter of {type(self).__name__} must have a "
                "cost above 0 for k to be searched by the penalty. Got zeros only."
            )
        return costs

    def _one_a_feature(
        self, name: str, given: Any, n_features: int, what: str, strict: bool = False
    ) -> np.ndarray:
        values = np.asarray(given, dtype=np.float64)
        valid = values.shape == (n_features,) and bool(np.isfinite(values).all())
        if not valid or not bool((values > 0 if strict else values >= 0).all()):
            raise ValueError(
                f"The {name!r} parameter of {type(self).__name__} must hold "
                f"{n_features} {what}, one for each feature. Got "
                f"{_shown(given, values)}."
            )
        return values

    def _splits(self, rows: CountedRows) -> list[Split]:
        return splits_for_few(self.cv, rows.codes, type(self).__name__)

    def _bar(self) -> ProgressBar:
        bar = ProgressBar(type(self).__name__)
        bar.shown = bar.shown and bool(self.verbose)
        return bar

    # ---------------------------------------------------------------------- keeping

    def _keep(self, found: WideFit, counts: ClassCounts) -> None:
        """Store the model, and what prediction needs of the features in use."""
        found.warn(type(self).__name__)
        class_count = counts.class_count
        self.classes_ = counts.classes
        self.class_count_ = class_count
        self.class_log_prior_ = self._log_prior(class_count)
        self.class_intercept_ = found.intercept
        self.support_indices_ = found.columns
        self.k_ = int(found.columns.size)
        self._support_weights = found.weights
        self.__dict__.pop("weights_", None)  # of an earlier fit
        self.lambda_ = float(found.penalty)
        self.relaxation_ = 1.0 - float(found.share)
        self.dual_gap_ = float(found.gap)
        self.path_ = found.path
        self.certificate_ = found.certificate
        self.n_candidates_ = found.n_candidates
        self._n_proven = found.n_proven
        self.stopped_: str = found.stopped
        self.n_iter_ = found.steps
        self._weighted_slope = found.weights[:, None] * found.slope
        self._weighted_offset = (
            None if found.offset is None else found.weights[:, None] * found.offset
        )
        self._set_log_prob(found)
        self._keep_frequency(counts)
        self._importances = term_sizes(found, counts)

    def _set_log_prob(self, found: WideFit) -> None:
        self.feature_log_prob_ = np.ascontiguousarray(found.slope.T)

    # ------------------------------------------------------------------- prediction

    def _start_scores(self) -> np.ndarray:
        return self.class_intercept_

    def _support_log_likelihood(self, part: Any) -> np.ndarray:
        scores = np.asarray(self._values(part) @ self._weighted_slope)
        if self._weighted_offset is not None:
            scores = scores + self._weighted_offset.sum(axis=0)
        return scores

    def _term_logs(self) -> tuple[np.ndarray, np.ndarray]:
        absent = self._weighted_offset
        absent = np.zeros_like(self._weighted_slope) if absent is None else absent
        return self._weighted_slope + absent, absent

    def _values(self, part: Any) -> Any:
        values = part.data if sparse.issparse(part) else part
        self._refuse(part, values < 0, "counts >= 0")
        return part

    # ----------------------------------------------------------------- fitted views

    @computed_once
    def weights_(self) -> np.ndarray:
        """Weight of each feature, shape (n_features_in_,)."""
        weights = np.zeros(self.n_features_in_)
        weights[self.support_indices_] = self._support_weights
        return weights

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean size of each feature's term in nats a row, shape (n_features_in_,)."""
        check_is_fitted(self, "support_indices_")
        importances = np.zeros(self.n_features_in_)
        importances[self.support_indices_] = self._importances
        return importances

    @property
    def coef_(self) -> np.ndarray:
        """Weighted log-odds of each feature, shape (1, n_features_in_)."""
        self._need_two_classes("coef_")
        return self._spread(self._weighted_slope[:, 1] - self._weighted_slope[:, 0])

    @property
    def intercept_(self) -> np.ndarray:
        """Log-odds of a row without any feature, shape (1,)."""
        self._need_two_classes("intercept_")
        start = self.class_intercept_
        if self._weighted_offset is not None:
            start = start + self._weighted_offset.sum(axis=0)
        return np.diff(start)


class SelectiveWideNB(WideWeightedNB):
    """Weights for a number of features, a penalty, or one chosen on held-out rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="neither"),
            StrOptions({"cv", "1se"}),
            None,
        ],
        "regularization": [Interval(Real, 0, None, closed="left"), None],
        **WideWeightedNB._parameter_constraints,
        "exact": ["boolean"],
        "random_state": ["random_state"],
        "warm_start": ["boolean"],
        "callback": [callable, None],
    }

    _saved: ClassVar[dict[str, Saved]] = CHOICE_SAVED

    def _describe(self) -> Description:
        """Beside the model, how the penalty was chosen."""
        return replace(super()._describe(), **choice_described(self))

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SelectiveWideNB:
        """Count, screen, and optimise the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix, DataFrame} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels, at least two classes.
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the same row twice.

        Returns
        -------
        self
        """
        if self.k is not None and self.regularization is not None:
            raise ValueError(
                f"{type(self).__name__} takes k or regularization, not both: a number "
                f"of features sets the penalty. Got k={self.k!r} and "
                f"regularization={self.regularization!r}."
            )
        self._check_exact()
        begin = time.monotonic()
        rows = self._counted_rows(X, y, sample_weight)
        settings = self._settings_for(
            rows.counts, self._wanted_size(rows.counts.n_features), self.regularization
        )
        start = None
        if self.warm_start and hasattr(self, "support_indices_"):
            start = self.support_indices_, self._support_weights
        settings = replace(self._chosen(rows, settings), exact=self.exact)
        left = self.time_limit
        if left is not None:
            left = max(0.0, left - (time.monotonic() - begin))
        with self._bar() as bar:
            progress = Progress(left, self._callback(bar))
            found = WideSolver.of(rows, settings, progress).fit(start)
        self._keep(found, rows.counts)
        self._keep_of_rows(X, sample_weight)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_chunks(
        self, chunks: Any, *, classes: Any = None, memory_budget: int | None = None
    ) -> SelectiveWideNB:
        """Fit rows that come in chunks and need not fit in memory together.

        The chunks are read at least four times: first they are counted and the
        candidates screened; then the columns of the candidates, a small part of each
        chunk, are kept and the fit is that of `fit` on all rows; then all columns are
        looked at for the gap, and for the bound of the certificate. Where the columns
        of the candidates exceed the budget, a random sample of the rows chooses the
        features (**heuristic**, nothing is proven); their weights are settled by all
        rows, at once or, where they do not fit either, by mini-batches over the chunks
        in up to ten passes.

        Parameters
        ----------
        chunks : list, or callable
            Of (X, y) or (X, y, sample_weight); a callable returns an iterator over all
            chunks each time it is called.
        classes : array-like of shape (n_classes,), optional
            All classes; found in the chunks unless given.
        memory_budget : int, optional
            Bytes for the columns of the candidates; no limit unless given.

        Returns
        -------
        self
        """
        name = type(self).__name__
        if isinstance(self.k, str) or (self.k is None) == (self.regularization is None):
            raise ValueError(
                f"{name}.fit_chunks needs a number k or regularization, one of the "
                f"two. Got k={self.k!r} and regularization={self.regularization!r}."
            )
        if self.relaxed == "auto":
            raise ValueError(
                f"{name}.fit_chunks cannot cross-validate; relaxed must be True or "
                "False. Got 'auto'."
            )
        self._check_exact()
        limit = memory_budget
        if limit is not None and (
            isinstance(limit, bool) or not isinstance(limit, Integral) or limit < 1
        ):
            raise ValueError(
                f"The 'memory_budget' parameter of {name}.fit_chunks must be an int "
                f">= 1, in bytes, or None. Got {memory_budget!r}."
            )
        again = chunks if callable(chunks) else _rereadable(chunks, name)
        counts = ClassCounts.from_chunks(
            again(), kind=self._kind, classes=classes, **self._count_options()
        )
        refuse_one_class(name, counts.classes, where="")
        self.n_features_in_ = counts.n_features
        if counts.feature_names is not None:
            self.feature_names_in_ = np.asarray(counts.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        settings = self._settings_for(
            counts, self._wanted_size(counts.n_features), self.regularization
        )
        settings = replace(settings, exact=self.exact)
        candidates = settings.screened(counts)
        table = counts.feature_count[:, candidates.columns]
        table = table if isinstance(table, np.ndarray) else table.toarray()
        first = np.column_stack([counts.class_count, table])

        def rows() -> Iterator[tuple[Any, np.ndarray, np.ndarray | None]]:
            sums = np.zeros_like(first)
            for chunk in again():
                X, names = as_matrix(chunk[0])
                weight = None if len(chunk) < 3 else np.asarray(chunk[2], np.float64)
                if names is None or counts.feature_names is None:
                    part, columns = X, candidates.columns
                else:
                    wanted = np.asarray(counts.feature_names)[candidates.columns]
                    part, columns = columns_by_name(X, names, wanted)
                block = candidate_block(part, columns, self._model, settings.binarize)
                y = label_array(np.asarray(chunk[1]))
                codes = self._codes_among(y, counts.classes)
                yield block, codes, weight
                _add_class_sums(sums, block, codes, weight)
            # Sums of at most 2**53 terms, each pass in an order of its own.
            if not np.allclose(sums, first, rtol=1e-9, atol=1e-9 * np.abs(first).max()):
                raise ValueError(
                    f"{name}.fit_chunks must get the same chunks each time. Got other "
                    "rows in a later pass than in the first."
                )

        def all_columns() -> Iterator[Any]:
            for chunk in again():
                X, names = as_matrix(chunk[0])
                if names is not None and counts.feature_names is not None:
                    X, _ = columns_by_name(X, names, np.asarray(counts.feature_names))
                weight = np.ones(1) if len(chunk) < 3 else np.asarray(chunk[2])
                # Rows without weight are not part of the fit.
                yield X if weight.all() else X[np.flatnonzero(weight)]

        tables = ColumnTables.of(counts, self._model, settings.alpha)
        with self._bar() as bar:
            found = fit_chunks(
                candidates,
                rows,
                settings,
                n_features=counts.n_features,
                class_weight=counts.class_count,
                memory_budget=memory_budget,
                progress=Progress(self.time_limit, self._callback(bar)),
                random_state=self.random_state,
                everything=AllColumns(
                    all_columns, tables, settings.binarize, is_cheap=False
                ),
            )
        self._keep(found, counts)
        return self

    def _callback(self, bar: ProgressBar) -> Any:
        def tell(state: OptimizerState) -> bool | None:
            bar.update(
                state.iteration + 1, f"{np.count_nonzero(state.weights)} features"
            )
            return None if self.callback is None else self.callback(state)

        return tell if bar.is_followed else self.callback

    def _check_exact(self) -> None:
        if self.exact and (self.k is None or isinstance(self.k, str)):
            raise ValueError(
                f"The 'exact' parameter of {type(self).__name__} must be False without "
                "a number k: the search is for the best k features. Got True with "
                f"k={self.k!r}."
            )

    def _wanted_size(self, n_features: int) -> int | None:
        if isinstance(self.k, bool):
            raise ValueError(
                f"The 'k' parameter of {type(self).__name__} must be an int >= 1, a "
                f"share in (0, 1), 'cv', '1se' or None. Got {self.k!r}."
            )
        if self.k is None or isinstance(self.k, str):
            return None
        if isinstance(self.k, Integral):
            return int(self.k)
        return max(1, round(float(self.k) * n_features))

    def _chosen(self, rows: CountedRows, settings: WideSettings) -> WideSettings:
        """Settings with everything chosen that was left to choose."""
        shares = SHARES if self.relaxed == "auto" else (settings.share,)
        limit = None if self.time_limit is None else 0.5 * self.time_limit
        counting = self._counting()
        choice: WeightChoice
        drop_choice(self)
        if settings.k is None and settings.regularization is None:
            splits = self._penalty_splits(rows)
            if not splits:
                return replace(
                    settings, regularization=information_penalty(rows.total_weight)
                )
            with self._bar() as bar:
                choice = choose_penalty(
                    rows,
                    settings,
                    splits,
                    counting,
                    shares,
                    rule="1se" if self.k == "1se" else "best",
                    time_limit=limit,
                    tell=penalties_told(bar),
                )
            settings = replace(settings, regularization=choice.penalty)
            keep_choice(self, choice.path)
        elif self.relaxed == "auto":
            choice = choose_share(rows, settings, self._splits(rows), counting, limit)
        else:
            return settings
        warn_if_interrupted(type(self).__name__, choice.stopped)
        return replace(settings, share=choice.share)

    def _penalty_splits(self, rows: CountedRows) -> list[Split]:
        """Folds of `cv`, or one part held out; none where a class has a single row."""
        if isinstance(self.k, str):
            return self._splits(rows)
        sizes = np.bincount(rows.codes, minlength=rows.counts.n_classes)
        if sizes[sizes > 0].min() < 2 or HELD_OUT * rows.codes.size < sizes.size:
            return []
        splitter = StratifiedShuffleSplit(
            1, test_size=HELD_OUT, random_state=self.random_state
        )
        return splits_of(splitter, rows.codes)


def information_penalty(n_rows: float) -> float:
    """Half the logarithm of the rows for each weight: what BIC asks of a parameter."""
    return 0.5 * float(np.log(max(n_rows, 2.0)))


def term_sizes(found: WideFit, counts: ClassCounts) -> np.ndarray:
    """Mean size of each feature's term over the rows, in nats."""
    total = float(counts.class_count.sum())
    prior = counts.class_count / total
    table = counts.feature_count[:, found.columns]
    table = table if isinstance(table, np.ndarray) else table.toarray()
    lift = found.slope - (found.slope @ prior)[:, None]
    sizes = (table.T * np.abs(lift)).sum(axis=1)
    return np.asarray(found.weights * sizes / total)


def _shown(given: Any, values: np.ndarray) -> str:
    """A short description of what came."""
    if values.size <= 8:
        return repr(given)
    return f"an array of shape {values.shape}"


def _add_class_sums(
    sums: np.ndarray, block: Any, codes: np.ndarray, weight: np.ndarray | None
) -> None:
    """Add the rows of each class, and the values of each column, to their sums."""
    weight = np.ones(codes.size) if weight is None else weight
    rows = np.arange(codes.size)
    by_class = sparse.csr_array((weight, (codes, rows)), (sums.shape[0], codes.size))
    sums[:, 0] += np.bincount(codes, weight, sums.shape[0])
    part = by_class @ block
    sums[:, 1:] += part.toarray() if sparse.issparse(part) else part


def _rereadable(chunks: Any, name: str) -> Callable[[], Iterator[Any]]:
    if isinstance(chunks, Iterator):
        raise ValueError(
            f"{name}.fit_chunks reads the chunks several times, and an iterator can be "
            "read once. Hint: pass a list, or a function that returns an iterator."
        )
    return lambda: iter(chunks)
