"""Weighted selective naive Bayes: optimal parts, then one optimised weight a column."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import Interval, StrOptions, fit_context
from bayesieve._description import Description, Saved, SelfDescribing
from bayesieve.exceptions import NotConvergedWarning
from bayesieve.naive_bayes._log_likelihood_input import LogLikelihoodRows
from bayesieve.naive_bayes._stream import StreamMemory, StreamPartitions
from bayesieve.naive_bayes._text_terms import (
    TextTable,
    WeightedNGrams,
    check_text_options,
    text_rule,
)
from bayesieve.naive_bayes._text_weighted import TextFit, TextWeightedNB
from bayesieve.naive_bayes._weighted import (
    PreparedRows,
    log_posterior,
    log_prior_of,
    order_by_level,
)
from bayesieve.partition._column import ColumnPartition
from bayesieve.preprocessing._prepare import log_likelihood_tables
from bayesieve.preprocessing._table_input import TableRows
from bayesieve.utils._progress import ProgressBar
from bayesieve.utils._warnings import warn_if_interrupted, warn_user
from bayesieve.weights import (
    OPTIMIZERS,
    Auto,
    ColumnPrior,
    Convex,
    DenseTerms,
    Optimizer,
    OptimizerState,
    PartTerms,
    WeightProblem,
    WeightResult,
    feature_costs,
    follow,
    optimizer_of,
    search,
)
from bayesieve.weights._joint_solver import JointRows, fit_joint
from bayesieve.weights._result import Progress
from bayesieve.weights._search import term_sizes
from bayesieve.weights._terms import Terms
from bayesieve.weights._text_candidates import NGrams, TextRule

__all__ = ["SelectiveNB"]

#: In version 0.1 parameters of the class, beside the name of the optimiser.
_FORMER_SETTINGS = {
    "min_gain": 5e-5,
    "batch_size": 1000,
    "effort": 5,
    "max_iter": 100,
    "tol": 1e-4,
    "patience": 5,
    "step": 0.01,
    "start": 0.5,
}


class SelectiveNB(TextWeightedNB):
    """Naive Bayes on mixed columns with few columns and a weight in [0, 1] for each.

    Every column is cut or grouped as by `MODLEncoder`; then the weights minimise

        sum_n -log P_w(y_n | x_n) + regularization * sum_k c_k w_k^exponent

    where c_k grows with the complexity of the column's partition, so that of two
    columns that say the same the simpler one is kept. Weights of most columns end at
    zero. The n-grams of columns of texts enter beside the other columns, each with a
    weight of its own; see the notes. For ``exponent >= 1`` the problem is convex and
    ``optimizer="convex"`` is **exact** up to its tolerance; everything else is
    **heuristic**. All are any-time: the best weights so far are kept when time runs out
    or Ctrl-C is pressed.

    Parameters
    ----------
    k : int, optional
        Most columns, n-grams of texts among them, that may have a weight: those of
        largest importance are kept and their weights optimised again.
    optimizer : str or Optimizer, default="auto"
        A name, for the usual settings, or an object of `bayesieve.weights` such as
        ``VNS(effort=3)``. "auto" (`Auto`): the convex optimum, then columns that hardly
        gain anything are dropped. "convex" (`Convex`): projected Newton steps to high
        accuracy, and for ``exponent < 1`` a local search from there. "gradient"
        (`Gradient`): projected descent by mini-batches with adaptive steps (PGDMB).
        "vns" (`VNS`): descents from random places around the best one, nearer or
        farther as they succeed (PGDMB-VNS). "multistart" (`MultiStart`): descents from
        random places. "coordinate" (`Coordinate`): one weight at a time with halved
        steps and a prior on the number of columns, as the Khiops tool does (fractional
        naive Bayes). Tables with texts take "auto" or "convex", which are then the
        same: Newton steps on working sets, along a path of penalties.
    regularization : float, default=0.1
        Weight of the penalty, >= 0.
    exponent : float, optional
        Exponent of the weights in the penalty, > 0; below 1 gives fewer columns and a
        problem with local minima. 1.0 unless given, 0.95 for "coordinate".
    feature_cost : array-like of shape (n_features,) or dict, optional
        Cost of using each column in nats, in place of its preparation cost; a dict
        names the columns it changes. A way to say what is dear or distrusted. Of a text
        column it is the cost of each n-gram, to which the logarithm of their number is
        added; the penalty of n-grams is then not chosen.
    time_limit : float, optional
        Seconds for the search of the weights; the best so far are kept.
    random_state : int, RandomState instance or None, default=None
        For mini-batches, random starts and orders.
    criterion : {"khiops", "classical"}, default="khiops"
        Prior on partitions, see `MODLEncoder`.
    categorical_features : "from_dtype" or array-like, default="from_dtype"
        Columns to be grouped rather than cut, see `MODLEncoder`.
    text_features : "auto", str, array-like or None, default="auto"
        Columns of texts, whose n-grams are counted. "auto": columns of strings of which
        more than half are distinct, with three words or more on average (of Chinese,
        Japanese, Thai and other scripts without spaces, as many characters as such
        words have); not those of a categorical dtype. Else a name, or names, numbers or
        a mask as for `categorical_features`; None for none. A missing text is an empty
        one.
    text_options : dict, optional
        How texts are cut, as these parameters of `SparseTextNB` say: `analyzer`,
        `ngram_range`, `lowercase`, `strip_accents`, `token_pattern`, `stop_words`,
        `binary`, `min_df`, `max_df`. Without `analyzer`, words; characters of Chinese
        and Japanese, one and two at a time, and of scripts whose words are not spaced
        apart or are broken by their vowel signs (Thai, Hindi), two to four at a time.
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
        In [0, 1]; 0 for columns that are not used. Of a text column, the largest weight
        of its n-grams. For ready-made log-likelihoods of shape (n_columns,).
    text_terms_ : dict of str to list of str
        Of each text column, the n-grams with a weight, sorted.
    text_weights_ : dict of str to ndarray
        Weights of these n-grams, in (0, 1].
    text_penalty_ : float
        With texts: penalty of a weight of one for each n-gram, in nats; where
        `feature_cost` gives several, the largest.
    text_options_ : dict of str to dict
        How each text column was cut, as arguments of CountVectorizer.
    class_intercept_ : ndarray of shape (n_classes,)
        With texts: score of each class before any term.
    criterion_ : float
        Value of the criterion, in nats; that of the search that was used ("coordinate"
        has its own).
    history_ : ndarray of shape (n_points, 4)
        Iteration, seconds, criterion there, best criterion so far.
    n_iter_ : int
    stopped_ : str
        Why the search ended: "converged", "budget", "time", "interrupted" (with an
        `InterruptedFitWarning`), "callback". "budget" is how "vns" and "multistart"
        always end, and "gradient" at its `max_iter`; with "auto" and "convex" it comes
        with a `NotConvergedWarning`.
    partitions_ : list of ColumnPartition
        That of a text column has one part.
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

    With texts the score of class c is ``b_c + sum_k w_k log p_k(part | c) + sum_j w_j
    x_j log theta_cj``, over columns k and n-grams j that a row has x_j times; theta is
    the share of an n-gram among all of its text column in the class, smoothed by one,
    as in `MultinomialNB`. Up to 20,000 n-grams of each text column, those of largest
    certified gain, are candidates. Every n-gram has the same penalty, chosen by the
    log loss of rows that were not fitted (five folds; one from 20,000 rows on), and
    the class intercepts b are fitted with the weights: one convex problem, solved to
    3e-4 of the loss without any term. Rows are neither shuffled nor drawn at random
    anew: the same table gives the same model. A stream keeps the texts of the window
    and, for each text column, counts of at most 2**18 n-grams: of more, those in fewest
    texts are from then on known by their sum only.

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

    Texts beside numbers:

    >>> import pandas as pd
    >>> table = pd.DataFrame({
    ...     "review": ["a good film it was", "what a bad film", "good and kind folk",
    ...                "bad sound in a hall"] * 20,
    ...     "minutes": rng.normal(100, 10, 80),
    ... })
    >>> stars = [5, 1, 5, 1] * 20
    >>> model = SelectiveNB(k=2, text_features=["review"]).fit(table, stars)
    >>> model.text_terms_
    {'review': ['bad', 'good']}
    >>> model.predict(pd.DataFrame({"review": ["so good"], "minutes": [90.0]}))
    array([5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 1, None, closed="left"), None],
        "optimizer": [StrOptions(set(OPTIMIZERS)), Optimizer],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "exponent": [Interval(Real, 0, None, closed="neither"), None],
        "feature_cost": ["array-like", dict, None],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "random_state": ["random_state"],
        "criterion": [StrOptions({"khiops", "classical"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like"],
        "text_features": [str, "array-like", None],
        "text_options": [dict, None],
        "input": [StrOptions({"table", "log_likelihood"})],
        "window": [Interval(Integral, 1, None, closed="left")],
        "half_life": [Interval(Real, 0, None, closed="neither"), None],
        "drift_detection": ["boolean"],
        "callback": [callable, None],
        "verbose": ["verbose"],
    }
    #: What is remembered of a stream.
    _stream: StreamMemory | None = None
    _saved: ClassVar[dict[str, Saved]] = {
        "history_": Saved("floats", "points", 4, domain="any"),
        "n_iter_": Saved("int"),
        "stopped_": Saved("text"),
        "drifts_": Saved("integers", "drifts"),
        "n_rows_seen_": Saved("int", optional=True),
    }
    #: Of ready-made log-likelihoods, whose ``m`` numbers a row are columns by classes.
    _saved_ready_made: ClassVar[dict[str, Saved]] = {
        "weights_": Saved("floats", "columns", domain="counts"),
        "levels_": Saved("floats", "columns", domain="any"),
        "_term_sizes": Saved("floats", "columns", domain="known"),
    }

    def __init__(
        self,
        *,
        k: int | None = None,
        optimizer: str | Optimizer = "auto",
        regularization: float = 0.1,
        exponent: float | None = None,
        feature_cost: Any = None,
        time_limit: float | None = None,
        random_state: Any = None,
        criterion: str = "khiops",
        categorical_features: Any = "from_dtype",
        text_features: Any = "auto",
        text_options: dict[str, Any] | None = None,
        input: str = "table",
        window: int = 10_000,
        half_life: float | None = None,
        drift_detection: bool = True,
        callback: Any = None,
        verbose: bool = False,
    ) -> None:
        self.k = k
        self.optimizer = optimizer
        self.regularization = regularization
        self.exponent = exponent
        self.feature_cost = feature_cost
        self.time_limit = time_limit
        self.random_state = random_state
        self.criterion = criterion
        self.categorical_features = categorical_features
        self.text_features = text_features
        self.text_options = text_options
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

    @classmethod
    def _read_parameters(cls, given: dict[str, Any]) -> dict[str, Any]:
        own = {name: given.pop(name) for name in _FORMER_SETTINGS if name in given}
        kind = OPTIMIZERS.get(str(given.get("optimizer")))
        taken = () if kind is None else [field.name for field in fields(kind)]  # type: ignore[arg-type]
        changed = {
            name: value
            for name, value in own.items()
            if name in taken and value != _FORMER_SETTINGS[name]
        }
        if kind is not None and changed:
            given["optimizer"] = kind(**changed)
        return given

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
            SelfDescribing._restore(self, values | {"partitions_": [], "_texts": []})
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
            A weight of 2 is the same row twice. With texts that holds for all counts,
            not for the choice of `text_penalty_`: two copies of a row may be on both
            sides of a split, a row of weight 2 cannot.

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
        options = check_text_options(self.text_options, type(self).__name__)
        data = self._prepare(X, y, sample_weight)
        prior = self._prior_of(data)
        if data.texts:
            table = TextTable(
                data.parts,
                [len(own) for own in data.tables],
                data.texts,
                [text_rule(options, texts) for texts in data.texts],
                data.codes,
                data.weights,
                data.classes,
                self.k,
                type(self).__name__,
            )
            fitted = self._fit_texts(table, *table.training_rows(data.tables), prior)
            result = fitted.found.result
            self._set_model(data, result.weights[: len(data.tables)])
            self._set_texts(fitted)
        else:
            problem = self._problem(
                data.terms, data.codes, data.log_prior, data.weights, prior
            )
            result = self._searched(search, problem)
            self._set_model(data, result.weights)
            self._set_no_texts()
        self._tell(result)
        return self

    def _read_training(self, X: Any) -> TableRows:
        return self._read_first(X, self.categorical_features, self.text_features)

    # ------------------------------------------------------------------- texts

    def _fit_texts(
        self,
        table: TextTable,
        rows: JointRows,
        ngrams: list[NGrams],
        prior: ColumnPrior,
        *,
        share: float = 1.0,
        penalty: float | None = None,
    ) -> TextFit:
        """Weights of columns and n-grams; a share of the rows bears that of the costs.

        `penalty` is that of each n-gram; chosen unless given.
        """
        self._check_for_texts()
        begin = time.monotonic()
        costs = feature_costs(prior.preparation, prior.n_variables)
        column_slope = self.regularization * share * costs
        given = self._given_text_penalties(ngrams)
        if self.regularization == 0:
            penalty = 0.0
        elif penalty is None and None in given:
            limit = None if self.time_limit is None else 0.5 * self.time_limit
            choice = Progress(limit)
            penalty = table.chosen_penalty(column_slope, choice)
            warn_if_interrupted(type(self).__name__, choice.stopped)
        penalty = max(own or 0.0 for own in given) if penalty is None else penalty
        of_terms = [
            np.full(len(found.names), penalty if own is None else share * own)
            for own, found in zip(given, ngrams, strict=True)
        ]
        left = self.time_limit
        if left is not None:
            left = max(0.0, left - (time.monotonic() - begin))
        with ProgressBar("Weights") as bar:
            found = fit_joint(
                rows,
                np.concatenate([column_slope, *of_terms]),
                Progress(left, self._callback(bar)),
                k=self.k,
                exponent=self._penalty_exponent(),
            )
        weights = found.result.weights[rows.n_columns :]
        columns = self._reader.text_columns.tolist()
        texts = WeightedNGrams.from_weights(columns, ngrams, weights)
        return TextFit(found, texts, penalty)

    def _check_for_texts(self) -> None:
        """Refuse optimisers and exponents that texts cannot have."""
        must = "parameter of SelectiveNB must be"
        columns = self._column_names()
        texts = ", ".join(repr(columns[j]) for j in self._reader.text_columns)
        hint = f"Hint: text_features=None reads {texts} as categories."
        if not isinstance(optimizer_of(self.optimizer), Auto | Convex):
            raise ValueError(
                f"The 'optimizer' {must} 'auto' or 'convex' for a table with texts. "
                f"Got {self.optimizer!r}. {hint}"
            )
        if self._penalty_exponent() > 1.0:
            raise ValueError(
                f"The 'exponent' {must} at most 1 for a table with texts. "
                f"Got {self.exponent!r}. {hint}"
            )

    def _given_text_penalties(self, ngrams: list[NGrams]) -> list[float | None]:
        """Penalty of an n-gram of each text column, where the user gives its cost."""
        unknown = np.full(self.n_features_in_, np.nan)
        costs = self._preparation_costs(unknown, self._column_names())
        return [
            None
            if np.isnan(cost)
            else self.regularization * float(feature_costs(cost, own.n_distinct))
            for cost, own in zip(costs[self._reader.text], ngrams, strict=True)
        ]

    def _prior_of(self, found: PreparedRows | StreamPartitions) -> ColumnPrior:
        """What is known of the informative columns among some partitions."""
        partitions, informative = found.partitions, found.informative
        preparation = np.array([p.cost.preparation for p in partitions])
        return ColumnPrior(
            self._preparation_costs(preparation, self._column_names())[informative],
            len(partitions),
            informative,
            order_by_level(partitions, informative),
        )

    def _problem(
        self,
        terms: Terms,
        codes: np.ndarray,
        log_prior: np.ndarray,
        row_weight: np.ndarray | None,
        columns: ColumnPrior,
        share: float = 1.0,
    ) -> WeightProblem:
        """The criterion; a share of all rows bears that share of the penalty."""
        return WeightProblem(
            terms,
            codes,
            log_prior,
            feature_costs(columns.preparation, columns.n_variables),
            regularization=self.regularization * share,
            exponent=self._penalty_exponent(),
            row_weight=row_weight,
            columns=columns,
        )

    def _penalty_exponent(self) -> float:
        if self.exponent is not None:
            return float(self.exponent)
        return optimizer_of(self.optimizer).usual_exponent

    def _searched(
        self,
        how: Callable[..., WeightResult],
        problem: WeightProblem,
        start: np.ndarray | None = None,
    ) -> WeightResult:
        """Search the weights, or follow a stream, with the parameters of the model."""
        with ProgressBar("Weights") as bar:
            return how(
                optimizer_of(self.optimizer),
                problem,
                start,
                k=self.k,
                time_limit=self.time_limit,
                callback=self._callback(bar),
                random_state=self.random_state,
            )

    def _callback(self, bar: ProgressBar) -> Any:
        """The user's callback, and the progress bar if one is wanted."""
        if not self.verbose:
            return self.callback

        def tell(state: OptimizerState) -> bool | None:
            bar.update(state.iteration, f"criterion {state.best_value:.6g}")
            return None if self.callback is None else self.callback(state)

        return tell

    def _preparation_costs(self, found: np.ndarray, names: list[str]) -> np.ndarray:
        """B_k of every column: what the user says, else what was found."""
        given: Any = self.feature_cost
        if given is None:
            return found
        must = "The 'feature_cost' parameter of SelectiveNB must"
        if hasattr(given, "to_dict") and all(isinstance(n, str) for n in given.index):
            given = given.to_dict()  # a pandas Series goes by its labels
        if isinstance(given, dict):
            for name in given:
                if name not in names:
                    raise ValueError(f"{must} name columns of X. Got {name!r}.")
            values, places = [*given.values()], [names.index(n) for n in given]
        else:
            values, places = given, [*range(found.shape[0])]
        costs = np.asarray(values, dtype=object)
        if costs.shape != (len(places),):
            raise ValueError(
                f"{must} hold a finite number for each of the {found.shape[0]} "
                f"columns. Got an array of shape {costs.shape}."
            )
        for cost in costs.tolist():
            if not isinstance(cost, Real) or not np.isfinite(float(cost)):
                raise ValueError(f"{must} hold finite numbers. Got {cost!r}.")
        found = found.copy()
        found[places] = costs.astype(np.float64)
        return found

    def _tell(self, result: WeightResult) -> None:
        self.criterion_ = float(result.value)
        self.history_ = np.asarray(result.history, dtype=np.float64).reshape(-1, 4)
        self.n_iter_ = int(result.iterations)
        self.stopped_ = result.stopped
        warn_if_interrupted(type(self).__name__, result.stopped)
        if (
            result.stopped == "budget"
            and not optimizer_of(self.optimizer).spends_budget
        ):
            warn_user(
                "The weights of SelectiveNB did not converge: the search ended after "
                f"{self.n_iter_} steps. The weights are valid and better than none.",
                NotConvergedWarning,
            )

    # ------------------------------------------------------------------ stream

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> SelectiveNB:
        """Learn from more rows of a stream, in constant memory.

        The first rows (or an earlier `fit`) give partitions and weights, so the model
        predicts from then on. Later rows update the counts of parts. Weights follow:
        they are searched again after every half window of rows ("auto", "convex"), or
        take a few steps of a descent on the criterion with each call (the others).
        Partitions are searched again when the number of rows has doubled (four times
        that once the window is full), when a class comes for the first time, and from
        the latest rows alone when the stream has changed. What the columns are is
        settled by the first rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            All classes that will ever come; without it the first rows must show them
            all.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if self.input != "table":
            raise ValueError(
                "partial_fit needs input='table': ready-made log-likelihoods cannot be "
                f"updated. Got input={self.input!r}."
            )
        options = check_text_options(self.text_options, type(self).__name__)
        if self._stream is None and hasattr(self, "weights_"):
            rules = [
                replace(text_rule(options, []), options=own.ngrams.options)
                for own in self._texts
            ]
            stream = self._new_stream(rules)
            stream.start_from(self.partitions_, self.class_count_)
            stream.texts.start_from(self._texts, self.class_count_)
            self.n_rows_seen_ = stream.rows_since_start
            stream.in_use = StreamPartitions.from_memory(stream)
            self._stream = stream
        if self._stream is not None:
            return self._go_on(self._stream, X, y, classes, sample_weight)
        table = self._read_training(X)
        rows = self._with_labels(table, y, sample_weight, classes)
        if not rows.codes.shape[0]:
            raise ValueError(
                "The first rows of a stream must have some weight. Got only zeros."
            )
        self.classes_ = rows.classes
        stream = self._new_stream(
            [text_rule(options, texts) for texts in rows.table.texts]
        )
        stream.add(rows)
        stream.renew()
        self._learn(stream)
        self.drifts_ = []
        self.n_rows_seen_ = rows.codes.shape[0]
        self._stream = stream
        return self

    def refresh(self) -> SelectiveNB:
        """Search the partitions of a stream again now, and then the weights."""
        check_is_fitted(self, "weights_")
        if self._stream is None:
            raise ValueError(
                "refresh is for streams: it needs an earlier partial_fit. Got a model "
                "that was fitted at once."
            )
        stream = self._stream
        stream.refuse_torn()
        stream.is_whole = False
        stream.renew()
        stream.is_whole = True
        self._learn(stream)
        return self

    def _new_stream(self, rules: list[TextRule]) -> StreamMemory:
        return StreamMemory(
            self._reader,
            self._column_names(),
            self.classes_,
            window=self.window,
            half_life=self.half_life,
            criterion=self.criterion,
            rules=rules,
        )

    def _go_on(
        self, stream: StreamMemory, X: Any, y: Any, classes: Any, sample_weight: Any
    ) -> SelectiveNB:
        stream.refuse_torn()
        self._check_same_classes(classes)
        if self.window != stream.window:
            raise ValueError(
                "window cannot change while a stream is learnt. "
                f"Got {self.window}, before that {stream.window}. "
                "Hint: fit begins anew."
            )
        stream.half_life = self.half_life
        rows = self._with_labels(
            self._read_more(X, learn=True), y, sample_weight, classes=self.classes_
        )
        n_rows = rows.codes.shape[0]
        if not n_rows:
            return self
        scores = self._scores(rows.table)
        losses = -log_posterior(scores)[np.arange(n_rows), rows.codes]
        suspect = stream.take(rows, losses, detect=self.drift_detection)
        self.n_rows_seen_ += n_rows
        if suspect is not None:
            self.drifts_.append(self.n_rows_seen_ - suspect)
        self._learn(stream)
        return self

    def _check_same_classes(self, classes: Any) -> None:
        if classes is None or np.array_equal(classes, self.classes_):
            return
        given = np.unique(np.asarray(classes))
        if not np.array_equal(given, self.classes_):
            raise ValueError(
                "classes must be the same in every call of partial_fit. Got "
                f"{given.tolist()!r}, before that {self.classes_.tolist()!r}."
            )

    def _learn(self, stream: StreamMemory) -> None:
        """Update probabilities from the counts, then the weights from the window.

        Nothing of the model changes before all of it is known, so an error on the way
        (in a callback, say) leaves a model that predicts as before.
        """
        found, renewed = stream.next_partitions()
        tables = log_likelihood_tables(found.part_counts(stream), stream.class_count)
        before = None if renewed else self.weights_[found.informative]
        how = self._next_search(stream, renewed)
        fitted = result = None
        weights = before
        if how is not None and stream.texts.rules:
            fitted = self._stream_texts(stream, found, tables, renewed)
            result = fitted.found.result
            weights = result.weights[: len(tables)]
        elif how is not None:
            result = self._stream_weights(how, stream, found, tables, before)
            weights = np.asarray(result.weights)
        assert weights is not None  # new partitions are searched
        stream.in_use = found
        self.levels_ = np.array([p.level for p in found.partitions])
        class_count = stream.class_count.copy()
        self._set_weights(class_count, found.informative, weights, tables)
        if fitted is not None:
            self._set_texts(fitted)
        elif stream.texts.rules:
            self._update_texts(stream.texts.updated(self._texts))
        else:
            self._set_no_texts()
        if result is not None:
            self._tell(result)

    def _next_search(
        self, stream: StreamMemory, renewed: bool
    ) -> Callable[..., WeightResult] | None:
        """How the weights are found next: searched, a few steps on, or kept."""
        how: Callable[..., WeightResult] = search
        if not renewed:
            optimizer = optimizer_of(self.optimizer)
            quick = optimizer.is_quick_from_near(self._penalty_exponent())
            stream.rows_since_search += stream.last_places.shape[0]
            if quick and stream.rows_since_search < stream.window // 2:
                return None
            how = search if quick else follow
        stream.rows_since_search = 0
        return how

    def _stream_texts(
        self,
        stream: StreamMemory,
        found: StreamPartitions,
        tables: list[np.ndarray],
        renewed: bool,
    ) -> TextFit:
        """Weights of columns and n-grams, by the window and the counts of all rows."""
        filled, name = stream.filled, type(self).__name__
        weights = stream.weights[:filled]
        table = TextTable(
            found.parts[:filled],
            [len(own) for own in tables],
            [window[:filled] for window in stream.texts.window],
            stream.texts.rules,
            stream.codes[:filled],
            None if (weights == 1.0).all() else weights,
            self.classes_,
            self.k,
            name,
        )
        rows, ngrams = table.training_rows(
            tables,
            stream.texts.candidates(self.k, name),
            log_prior_of(stream.class_count),
        )
        fitted = self._fit_texts(
            table,
            rows,
            ngrams,
            self._prior_of(found),
            share=self._window_share(stream),
            penalty=None if renewed else stream.texts.penalty,
        )
        stream.texts.penalty = fitted.penalty
        return fitted

    @staticmethod
    def _window_share(stream: StreamMemory) -> float:
        """Share of the window in all rows.

        Probabilities rest on all rows, so the penalty is shared among all of them.
        """
        total = max(float(stream.class_count.sum()), 1.0)
        return min(1.0, float(stream.weights[: stream.filled].sum()) / total)

    def _stream_weights(
        self,
        how: Callable[..., WeightResult],
        stream: StreamMemory,
        found: StreamPartitions,
        tables: list[np.ndarray],
        before: np.ndarray | None,
    ) -> WeightResult:
        """Weights of the informative columns, by the rows of the window."""
        filled = stream.filled
        weights = stream.weights[:filled]
        problem = self._problem(
            PartTerms(found.parts[:filled], tables, self.classes_.shape[0]),
            stream.codes[:filled],
            log_prior_of(stream.class_count),
            None if (weights == 1.0).all() else weights,
            self._prior_of(found),
            self._window_share(stream),
        )
        return self._searched(how, problem, before)

    @property
    def partitions_(self) -> list[ColumnPartition]:
        """Partition of each column, with the counts of all rows so far."""
        if self._stream is None:
            check_is_fitted(self, "_partitions")
            return self._partitions
        assert self._stream.in_use is not None
        return self._stream.in_use.counted(self._stream)

    @partitions_.setter
    def partitions_(self, found: list[ColumnPartition]) -> None:
        self._partitions = found

    def _cuts(self) -> list[ColumnPartition]:
        if self._stream is None:
            return self._partitions
        assert self._stream.in_use is not None
        return self._stream.in_use.partitions

    # -------------------------------------------------------------- ready-made

    def _fit_ready_made(self, X: Any, y: Any, sample_weight: Any) -> SelectiveNB:
        data = LogLikelihoodRows.from_training(self, X, y, sample_weight)
        self.classes_ = data.classes
        n_columns = data.logs.shape[1]
        self.class_count_ = np.bincount(
            data.codes, data.weights, data.classes.shape[0]
        ).astype(np.float64)
        self.class_log_prior_ = log_prior_of(self.class_count_)
        names = [f"x{k}" for k in range(n_columns)]
        places = np.arange(n_columns)
        columns = ColumnPrior(
            self._preparation_costs(np.ones(n_columns), names),
            n_columns,
            places,
            places,
        )
        terms = DenseTerms(data.logs)
        problem = self._problem(
            terms, data.codes, self.class_log_prior_, data.weights, columns
        )
        result = self._searched(search, problem)
        self.weights_ = result.weights
        self._set_no_texts()
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
        logs = LogLikelihoodRows.from_rows(self, X, self.classes_.shape[0])
        return np.asarray(DenseTerms(logs).scores(self.weights_, self.class_log_prior_))
