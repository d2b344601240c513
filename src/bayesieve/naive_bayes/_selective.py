"""Weighted selective naive Bayes: optimal parts, then one optimised weight a column."""

from __future__ import annotations

from dataclasses import fields
from numbers import Integral, Real
from typing import Any, ClassVar

from bayesieve._compat import Interval, StrOptions, fit_context
from bayesieve.naive_bayes._log_likelihood_input import LogLikelihoodNB
from bayesieve.naive_bayes._selective_stream import StreamNB
from bayesieve.naive_bayes._text_terms import TextTable, check_text_options, text_rule
from bayesieve.preprocessing._table_input import TableRows
from bayesieve.weights import OPTIMIZERS, Optimizer, search

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


class SelectiveNB(StreamNB, LogLikelihoodNB):
    """Naive Bayes on mixed columns: a shape and a weight in [0, 1] for each, and pairs.

    What a column says about the class is averaged over all ways to cut or group it,
    by their posterior probability: a smooth shape where the rows say so, steps where
    they are sharp, and next to nothing where they say nothing. Pairs and triples of
    columns that say more together enter beside them. Then the weights minimise

        sum_n -log P_w(y_n | x_n) + regularization * sum_k c_k w_k^exponent

    with every row left out of its own probabilities. Weights of most columns end at
    zero. With ``partitions="best"`` the one best partition of `MODLEncoder` takes the
    place of the averages, as in the papers, and c_k grows with its complexity. The
    n-grams of columns of texts enter beside the other columns, each with a weight of
    its own; see the notes. Averages are **exact**, the choice of pairs is
    **heuristic**. For ``exponent >= 1`` the problem of the weights is convex and
    ``optimizer="convex"`` is **exact** up to its tolerance; everything else is
    **heuristic**. All are any-time: the best weights so far are kept when time runs out
    or Ctrl-C is pressed.

    Parameters
    ----------
    k : int, optional
        Most columns, n-grams of texts among them, that may have a weight: those of
        largest importance are kept and their weights optimised again. Pairs are made
        of these columns alone.
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
    class_weight : dict or "balanced", optional
        What errors cost, by class: a row of a class counts so many times in the prior
        and in the criterion of the weights. A dict names the classes whose weight is
        not 1; "balanced" weighs each class by the inverse of its rows, and is not for
        streams. Only the ratios matter: all rows together count for as many as they
        are. Partitions and probabilities of parts stay those of the data; the class
        probabilities are those of data in which classes are as frequent as weighted.
    time_limit : float, optional
        Seconds for the search of the weights; the best so far are kept.
    random_state : int, RandomState instance or None, default=None
        For mini-batches, random starts and orders.
    partitions : {"averaged", "best"}, default="averaged"
        Whether the class probabilities of a column are averaged over all its
        partitions, or those of its best one. A stream with texts has best partitions.
    pairs : "auto" or int, default="auto"
        Pairs and triples of columns beside the columns: as many as pass a test, or at
        most so many; 0 for none. Those of the fifty columns that say most are looked
        at, by the columns alone where there are texts, and not at all with texts and
        `k`. Best partitions have none.
    criterion : {"khiops", "classical"}, default="khiops"
        Prior on best partitions, see `MODLEncoder`.
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
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        In [0, 1]; 0 for columns that are not used. Of a text column, the largest weight
        of its n-grams. For ready-made log-likelihoods of shape (n_columns,).
    shapes_ : list of Shape
        With averaged partitions: of each column its fine bins, their class
        probabilities and the standard deviations of these.
    evidence_ : ndarray of shape (n_features_in_,)
        With averaged partitions: nats by which each column alone explains the classes
        better than none, all its partitions together.
    pairs_ : list of tuple of int
        Columns of each pair or triple that has a weight.
    pair_weights_ : ndarray of shape (n_pairs,)
        Their weights, in (0, 1].
    pair_shapes_ : list of PairShape
        Their cells, with class probabilities and standard deviations.
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
        The best one of each column; that of a text column has one part.
    levels_ : ndarray of shape (n_features_in_,)
        Information of each column alone, see `MODLEncoder`.
    support_, support_indices_ : columns with a weight, alone or in a pair.
    feature_importances_ : ndarray of shape (n_features_in_,)
    classes_ : ndarray of shape (n_classes,)
    class_count_ : ndarray of shape (n_classes,)
        Rows of each class by their `sample_weight`, whatever `class_weight` says.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the class shares, weighted by `class_weight`.
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
    Bins of a numerical column are up to 64 of equal frequency, missing values apart,
    and the bounds of its best partition; those of a categorical column are its values,
    up to 64 in the order in which their class shares differ most, of more the groups of
    its best partition. Partitions of bins
    into 1, 2, ... parts are as likely as each other, and so are those of one number of
    parts; the class probabilities of a part have a Dirichlet prior with the class
    shares as mean and the strength of two rows. Averages are those of all intervals of
    the bins on grids of 4, 8, ... of them, of all groupings of up to ten values, and of
    those groupings of more values that keep their order. The probabilities of a row's
    bin without that row follow from the same sums; of more than 64 classes rows are not
    left out, and there are no pairs.

    A pair is a grid of 16 x 16 cells, a triple one of 4 or 8 cells an axis, averaged
    over all recursive halvings. Pairs enter in up to eight rounds, each judged by the
    leave-one-out log-likelihood: its slope when the pair begins to take the place of
    its columns must be above zero by more than chance among so many.

    Fitting takes O(n log n) a column for the bins, O(n K J) an evaluation of the
    criterion, for n rows, K columns and J classes, and O(n J) a pair and round.
    Memory: two bytes for each row and column. A stream keeps `window` rows and the
    counts of 512 bins a numerical column (of 10,000 values a categorical one), whatever
    its length; data seen earlier than the window enters through counts only. Pairs of a
    stream are chosen by the rows of the window and counted from then on.

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
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "random_state": ["random_state"],
        "partitions": [StrOptions({"averaged", "best"})],
        "pairs": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
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
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        *,
        k: int | None = None,
        optimizer: str | Optimizer = "auto",
        regularization: float = 0.1,
        exponent: float | None = None,
        feature_cost: Any = None,
        class_weight: Any = None,
        time_limit: float | None = None,
        random_state: Any = None,
        partitions: str = "averaged",
        pairs: int | str = "auto",
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
        n_jobs: int | None = -1,
    ) -> None:
        self.k = k
        self.optimizer = optimizer
        self.regularization = regularization
        self.exponent = exponent
        self.feature_cost = feature_cost
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.random_state = random_state
        self.partitions = partitions
        self.pairs = pairs
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
        self.n_jobs = n_jobs

    @classmethod
    def _read_parameters(cls, given: dict[str, Any]) -> dict[str, Any]:
        # Version 0.1 knew best partitions only.
        given = {"partitions": "best", "pairs": 0} | given
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
        self._forget_stream()
        if self.input == "log_likelihood":
            return self._fit_ready_made(X, y, sample_weight)
        options = check_text_options(self.text_options, type(self).__name__)
        rows = self._read_labelled(X, y, sample_weight)
        rules = [text_rule(options, texts) for texts in rows.table.texts]
        if self.partitions == "averaged":
            self._fit_shapes(rows, rules)
            return self
        self._refuse_pairs()
        self._set_no_shapes()
        data = self._prepare(rows)
        prior = self._prior_of(data.partitions, data.informative)
        if data.texts:
            table = TextTable(
                data.parts,
                [len(own) for own in data.tables],
                data.texts,
                rules,
                data.codes,
                data.weights,
                data.classes,
                self.k,
                type(self).__name__,
                data.class_factors,
            )
            fitted = self._fit_texts(table, *table.training_rows(data.tables), prior)
            result = fitted.found.result
            self._set_model(data, result.weights[: len(data.tables)])
            self._set_texts(fitted)
        else:
            problem = self._problem(
                data.terms, data.codes, data.log_prior, data.row_weight, prior
            )
            result = self._searched(search, problem, k=self.k)
            self._set_model(data, result.weights)
            self._set_no_texts()
        self._tell(result)
        return self

    def _refuse_pairs(self) -> None:
        if self.pairs not in (0, "auto"):
            raise ValueError(
                "The 'pairs' parameter of SelectiveNB must be 0 or 'auto' for best "
                f"partitions, which have no pairs. Got {self.pairs!r}. "
                "Hint: partitions='averaged'."
            )

    def _read_training(self, X: Any) -> TableRows:
        return self._read_first(X, self.categorical_features, self.text_features)
