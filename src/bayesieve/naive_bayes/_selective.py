"""Weighted selective naive Bayes: optimal parts, then one optimised weight a column."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import Interval, StrOptions, fit_context
from bayesieve._description import Description, Saved, SelfDescribing, saved
from bayesieve.exceptions import NotConvergedWarning
from bayesieve.naive_bayes._ready_made import ReadyMade
from bayesieve.naive_bayes._stream_learner import StreamLearner
from bayesieve.naive_bayes._weight_search import WeightSearch, term_sizes
from bayesieve.naive_bayes._weighted import log_prior_of, order_by_level
from bayesieve.partition._column import ColumnPartition
from bayesieve.utils._warnings import warn_user
from bayesieve.weights._terms import DenseTerms

__all__ = ["SelectiveNB"]


class SelectiveNB(StreamLearner):
    """Naive Bayes on mixed columns with few columns and a weight in [0, 1] for each.

    Every column is cut or grouped as by `MODLEncoder`; then the weights minimise

        sum_n -log P_w(y_n | x_n) + regularization * sum_k c_k w_k^exponent

    where c_k grows with the complexity of the column's partition, so that of two
    columns that say the same the simpler one is kept. Weights of most columns end at
    zero. For ``exponent >= 1`` the problem is convex and ``optimizer="convex"`` is
    **exact** up to its tolerance; everything else is **heuristic**. All are any-time:
    the best weights so far are kept when time runs out or Ctrl-C is pressed.

    Parameters
    ----------
    optimizer : {"auto", "convex", "vns", "multistart", "gradient", "coordinate"}
        "auto" (default): the convex optimum, then columns that hardly gain anything are
        dropped (see `min_gain`). "convex": projected Newton steps to high accuracy, and
        for ``exponent < 1`` a local search from there. "gradient": projected descent by
        mini-batches with adaptive steps (PGDMB). "vns": descents from random places
        around the best one, nearer or farther as they succeed (PGDMB-VNS).
        "multistart": descents from random places. "coordinate": one weight at a time
        with halved steps and a prior on the number of columns, as the Khiops tool does
        (fractional naive Bayes).
    regularization : float, default=0.1
        Weight of the penalty, >= 0.
    exponent : float, optional
        Exponent of the weights in the penalty, > 0; below 1 gives fewer columns and a
        problem with local minima. 1.0 unless given, 0.95 for "coordinate".
    variable_cost : array-like of shape (n_features,) or dict, optional
        Cost of using each column in nats, in place of its preparation cost; a dict
        names the columns it changes. A way to say what is dear or distrusted.
    min_gain : float, default=5e-5
        "auto" keeps a column only if the criterion, in nats per row, would rise by this
        much without it.
    batch_size : int or None, default=1000
        Rows of a mini-batch; None for all rows.
    effort : int, default=5
        "vns" and "multistart" take ``log(n_columns * n_rows) * 2**effort`` iterations.
    max_iter : int, default=100
        Iterations of one descent.
    tol : float, default=1e-4
        A descent has improved if the criterion fell by this much, in nats per row.
    patience : int, default=5
        Iterations without improvement that end a descent.
    step : float, default=0.01
        First step of a descent, for every weight.
    start : float or array-like, default=0.5
        First weights of a descent.
    max_seconds : float, optional
        Time for the search of the weights; the best so far are kept.
    max_features : int, optional
        Most columns that may have a weight: those of largest importance are kept and
        their weights optimised again.
    random_state : int, RandomState instance or None, default=None
        For mini-batches, random starts and orders.
    criterion : {"khiops", "classical"}, default="khiops"
        Prior on partitions, see `MODLEncoder`.
    categorical_features : "from_dtype" or array-like, default="from_dtype"
        Columns to be grouped rather than cut, see `MODLEncoder`.
    input : {"table", "log_likelihood"}, default="table"
        "log_likelihood": X holds ready-made conditional log-likelihoods
        ``log p_k(x_k | C_j)``, shape (n_samples, n_columns, n_classes), or the same
        flattened to two dimensions as `MODLEncoder` gives them.
    window : int, default=10_000
        Rows of a stream that are kept, for the weights and for changes of the stream.
    half_life : float, optional
        Rows of a stream after which a row's count has lost half its weight; None for a
        stream that does not drift slowly.
    drift_detection : bool, default=True
        Whether `partial_fit` begins again from the latest rows when the loss of new
        rows has risen abruptly.
    callback : callable, optional
        Called during the search with a state that has ``iteration``, ``value``,
        ``best_value``, ``weights`` and ``seconds``; a true return value ends it.
    verbose : bool, default=False
        Whether to show a progress bar on a terminal.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        In [0, 1]; 0 for columns that are not used. For ready-made log-likelihoods of
        shape (n_columns,).
    criterion_ : float
        Value of the criterion, in nats; that of the search that was used ("coordinate"
        has its own).
    history_ : ndarray of shape (n_points, 4)
        Iteration, seconds, criterion there, best criterion so far.
    n_iter_ : int
    stopped_ : str
        Why the search ended: "converged", "budget", "time", "interrupted", "callback".
        "budget" is how "vns" and "multistart" always end, and "gradient" at `max_iter`;
        with "auto" and "convex" it comes with a `NotConvergedWarning`.
    partitions_ : list of ColumnPartition
    levels_ : ndarray of shape (n_features_in_,)
        Information of each column alone, see `MODLEncoder`.
    support_, support_indices_ : columns with a weight.
    feature_importances_ : ndarray of shape (n_features_in_,)
    classes_ : ndarray of shape (n_classes,)
    class_count_ : ndarray of shape (n_classes,)
    drifts_ : list of int
        Rows of the stream at which a change was found.
    n_rows_seen_ : int
        Rows of the stream so far, those of an earlier `fit` by their weight included.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    AveragedNB : Weights by averaging over subsets, without a penalty on each.
    MODLEncoder : The partitions alone.

    Notes
    -----
    Fitting takes O(n log n) a column for the partitions and O(n K J) an evaluation of
    the criterion, for n rows, K informative columns and J classes. Memory: one byte for
    each row and informative column. A stream keeps `window` rows and the counts of
    512 bins a numerical column (of 10,000 values a categorical one), whatever its
    length; data seen earlier than the window enters through counts only.

    References
    ----------
    C. Hue, M. Boullé, V. Lemaire, "Online learning of a weighted selective naive Bayes
    classifier with non-convex optimization", Advances in Knowledge Discovery and
    Management 7, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SelectiveNB
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 20))
    >>> y = (X[:, 3] + X[:, 7] + 0.5 * rng.normal(size=2000) > 0).astype(int)
    >>> model = SelectiveNB().fit(X, y)
    >>> model.support_indices_
    array([3, 7])
    >>> model.score(X, y) > 0.85
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "optimizer": [
            StrOptions(
                {"auto", "convex", "vns", "multistart", "gradient", "coordinate"}
            )
        ],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "exponent": [Interval(Real, 0, None, closed="neither"), None],
        "variable_cost": ["array-like", dict, None],
        "min_gain": [Interval(Real, 0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left"), None],
        "effort": [Interval(Integral, 0, 30, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "step": [Interval(Real, 0, None, closed="neither")],
        "start": [Interval(Real, 0, 1, closed="both"), "array-like"],
        "max_seconds": [Interval(Real, 0, None, closed="left"), None],
        "max_features": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        "criterion": [StrOptions({"khiops", "classical"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like"],
        "input": [StrOptions({"table", "log_likelihood"})],
        "window": [Interval(Integral, 1, None, closed="left")],
        "half_life": [Interval(Real, 0, None, closed="neither"), None],
        "drift_detection": ["boolean"],
        "callback": [callable, None],
        "verbose": ["verbose"],
    }
    _saved: ClassVar[dict[str, Saved]] = {
        "history_": saved("floats", "points", 4, domain="any"),
        "n_iter_": saved("int"),
        "stopped_": saved("text"),
        "drifts_": saved("integers", "drifts"),
        "n_rows_seen_": saved("int", optional=True),
    }
    #: Of ready-made log-likelihoods, whose ``m`` numbers a row are columns by classes.
    _saved_ready_made: ClassVar[dict[str, Saved]] = {
        "weights_": saved("floats", "columns", domain="counts"),
        "levels_": saved("floats", "columns", domain="any"),
        "_term_sizes": saved("floats", "columns", domain="known"),
    }

    def __init__(
        self,
        *,
        optimizer: str = "auto",
        regularization: float = 0.1,
        exponent: float | None = None,
        variable_cost: Any = None,
        min_gain: float = 5e-5,
        batch_size: int | None = 1000,
        effort: int = 5,
        max_iter: int = 100,
        tol: float = 1e-4,
        patience: int = 5,
        step: float = 0.01,
        start: Any = 0.5,
        max_seconds: float | None = None,
        max_features: int | None = None,
        random_state: Any = None,
        criterion: str = "khiops",
        categorical_features: Any = "from_dtype",
        input: str = "table",
        window: int = 10_000,
        half_life: float | None = None,
        drift_detection: bool = True,
        callback: Any = None,
        verbose: bool = False,
    ) -> None:
        self.optimizer = optimizer
        self.regularization = regularization
        self.exponent = exponent
        self.variable_cost = variable_cost
        self.min_gain = min_gain
        self.batch_size = batch_size
        self.effort = effort
        self.max_iter = max_iter
        self.tol = tol
        self.patience = patience
        self.step = step
        self.start = start
        self.max_seconds = max_seconds
        self.max_features = max_features
        self.random_state = random_state
        self.criterion = criterion
        self.categorical_features = categorical_features
        self.input = input
        self.window = window
        self.half_life = half_life
        self.drift_detection = drift_detection
        self.callback = callback
        self.verbose = verbose

    # ------------------------------------------------------- description and files

    def _describe(self) -> Description:
        found = super()._describe()
        if self.input == "log_likelihood":
            found = replace(found, named=None)  # X has a name for each column and class
        how = f" The search of the weights ended: {self.stopped_}."
        return replace(found, detail=found.detail + how, stopped=self.stopped_)

    def _saved_attributes(self) -> dict[str, Saved]:
        found = super()._saved_attributes()
        if self.input == "log_likelihood":
            for name in ("_reader", "partitions_", "_used_tables"):
                del found[name]
            found |= self._saved_ready_made
        return found

    def _to_save(self) -> dict[str, Any]:
        if self.input == "log_likelihood":
            return SelfDescribing._to_save(self)
        partitions = self.partitions_
        if self._stream is not None:
            partitions = self._stream.with_new_values(partitions)
        return super()._to_save() | {"partitions_": partitions}

    def _restore(self, values: dict[str, Any]) -> None:
        values = values | {"drifts_": values["drifts_"].tolist()}
        if self.input == "log_likelihood":
            SelfDescribing._restore(self, values | {"partitions_": []})
        else:
            super()._restore(values)

    # ------------------------------------------------------------------- batch

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SelectiveNB:
        """Learn partitions and weights from all rows at once.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Numbers, strings, categories, booleans, dates; missing values allowed.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 is the same row twice.

        Returns
        -------
        self
        """
        self._stream = None
        self.drifts_: list[int] = []
        if hasattr(self, "n_rows_seen_"):
            del self.n_rows_seen_
        if self.input == "log_likelihood":
            return self._fit_ready_made(X, y, sample_weight)
        data = self._prepare(X, y, sample_weight)
        search = self._search_for(
            data.partitions, data.informative, data.codes, data.weights
        )
        result = search.run(data.terms, data.log_prior)
        self._set_model(data, result.weights)
        self._tell(result)
        return self

    def _search_for(
        self,
        partitions: list[ColumnPartition],
        informative: np.ndarray,
        codes: np.ndarray,
        weights: np.ndarray | None,
        *,
        regularization: float | None = None,
    ) -> WeightSearch:
        preparation = np.array([p.cost.preparation for p in partitions])
        costs = self._preparation_costs(preparation, self._column_names())
        return WeightSearch(
            self,
            codes=codes,
            row_weight=weights,
            preparation=costs[informative],
            n_candidates=len(partitions),
            order=order_by_level(partitions, informative),
            informative=informative,
            regularization=(
                self.regularization if regularization is None else regularization
            ),
        )

    def _searches_anew(self) -> bool:
        """Whether a stream's weights are searched again, rather than take steps.

        From the weights before, the convex optimum is a few Newton steps away.
        """
        exponent = 1.0 if self.exponent is None else self.exponent
        return self.optimizer in ("auto", "convex") and exponent >= 1.0

    def _preparation_costs(self, found: np.ndarray, names: list[str]) -> np.ndarray:
        """B_k of every column: what the user says, else what was found."""
        if self.variable_cost is None:
            return found
        given = self.variable_cost
        if hasattr(given, "to_dict") and all(isinstance(n, str) for n in given.index):
            given = given.to_dict()  # a pandas Series goes by its labels
        costs: Any = found.copy()
        if isinstance(given, dict):
            for name, cost in given.items():
                if name not in names:
                    raise ValueError(
                        "The 'variable_cost' parameter of SelectiveNB must name "
                        f"columns of X. Got {name!r}."
                    )
                costs[names.index(name)] = self._finite_cost(cost)
            return costs
        costs = np.asarray(given, dtype=object)
        if costs.shape != found.shape:
            raise ValueError(
                "The 'variable_cost' parameter of SelectiveNB must hold a finite "
                f"number for each of the {found.shape[0]} columns. Got an array of "
                f"shape {costs.shape}."
            )
        return np.array([self._finite_cost(cost) for cost in costs.tolist()])

    def _finite_cost(self, cost: Any) -> float:
        if not isinstance(cost, Real) or not np.isfinite(float(cost)):
            raise ValueError(
                "The 'variable_cost' parameter of SelectiveNB must hold finite "
                f"numbers. Got {cost!r}."
            )
        return float(cost)

    def _tell(self, result: Any) -> None:
        self.criterion_ = float(result.value)
        self.history_ = np.asarray(result.history, dtype=np.float64).reshape(-1, 4)
        self.n_iter_ = int(result.iterations)
        self.stopped_ = result.stopped
        # The other searches spend their budget by design.
        if result.stopped == "budget" and self.optimizer in ("auto", "convex"):
            warn_user(
                "The weights of SelectiveNB did not converge: the search ended after "
                f"{self.n_iter_} steps. The weights are valid and better than none.",
                NotConvergedWarning,
            )

    # -------------------------------------------------------------- ready-made

    def _fit_ready_made(self, X: Any, y: Any, sample_weight: Any) -> SelectiveNB:
        data = ReadyMade.from_training(self, X, y, sample_weight)
        self.classes_ = data.classes
        n_columns = data.logs.shape[1]
        self.class_count_ = np.bincount(
            data.codes, data.weights, data.classes.shape[0]
        ).astype(np.float64)
        self.class_log_prior_ = log_prior_of(self.class_count_)
        names = [f"x{k}" for k in range(n_columns)]
        search = WeightSearch(
            self,
            codes=data.codes,
            row_weight=data.weights,
            preparation=self._preparation_costs(np.ones(n_columns), names),
            n_candidates=n_columns,
            order=np.arange(n_columns),
            informative=np.arange(n_columns),
            regularization=self.regularization,
        )
        terms = DenseTerms(data.logs)
        result = search.run(terms, self.class_log_prior_)
        self.weights_ = result.weights
        self._term_sizes = term_sizes(terms, result.weights, self.class_log_prior_)
        self.partitions_ = []
        self.levels_ = np.full(n_columns, np.nan)
        self._tell(result)
        return self

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean size of each column's term in the scores, in nats.

        The mean absolute Shapley value: how far, on average over training rows and
        classes, the term ``w_k log p_k(part | C)`` is from its own mean.
        """
        if self.input == "log_likelihood":
            check_is_fitted(self, "weights_")
            return self._term_sizes
        return super().feature_importances_

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Weighted score of each class, ``log P(C) + sum_k w_k log p_k(x_k | C)``.

        Normalised, these are the probabilities before the last smoothing.
        """
        check_is_fitted(self, "weights_")
        if self.input == "table":
            return super().predict_joint_log_proba(X)
        logs = ReadyMade.from_rows(self, X, self.classes_.shape[0])
        return np.asarray(DenseTerms(logs).scores(self.weights_, self.class_log_prior_))
