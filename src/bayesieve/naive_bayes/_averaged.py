"""Selective naive Bayes averaged over subsets by how much they compress."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from bayesieve._compat import Interval, StrOptions, fit_context
from bayesieve._description import Saved
from bayesieve.naive_bayes._weighted import WeightedNaiveBayes, order_by_level
from bayesieve.utils._warnings import warn_if_interrupted
from bayesieve.weights import AveragedResult, Averaging, SubsetProblem

__all__ = ["AveragedNB"]


class AveragedNB(WeightedNaiveBayes):
    """Naive Bayes whose weights average many subsets of columns (SNB). **Heuristic**.

    Subsets are met in several forward and backward passes over the columns in random
    order. Each subset counts by the share of the labels' code length that it saves; the
    weight of a column is the share of the subsets that hold it. Nearly every column
    with some information gets a weight: `SelectiveNB` predicts as well with fewer.

    Parameters
    ----------
    regularization : float, default=1.0
        Weight of the prior on subsets, >= 0.
    class_weight : dict or "balanced", optional
        What errors cost, by class, see `SelectiveNB`.
    time_limit : float, optional
        Seconds for the search; subsets met so far are averaged.
    random_state : int, RandomState instance or None, default=None
        For the orders of the columns.
    criterion : {"khiops", "classical"}, default="khiops"
        Prior on partitions, see `MODLEncoder`.
    categorical_features : "from_dtype" or array-like, default="from_dtype"
        Columns to be grouped rather than cut, see `MODLEncoder`.
    n_jobs : int or None, default=-1
        Threads of the compiled core, as scikit-learn counts them: -1 is one for each
        processor, None is 1 unless a `joblib.parallel_config` says otherwise. The
        result does not depend on them.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        In [0, 1].
    map_support_ : ndarray of bool of shape (n_features_in_,)
        The best subset met.
    criterion_ : float
        Cost of that subset, in nats.
    partitions_ : list of ColumnPartition
    levels_ : ndarray of shape (n_features_in_,)
    support_, support_indices_ : columns with a weight.
    feature_importances_ : ndarray of shape (n_features_in_,)
    classes_ : ndarray of shape (n_classes,)
    class_count_ : ndarray of shape (n_classes,)
        Rows of each class by their `sample_weight`, whatever `class_weight` says.
    class_log_prior_ : ndarray of shape (n_classes,)
        Logarithm of the class shares, weighted by `class_weight`.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    References
    ----------
    M. Boullé, "Compression-based averaging of selective naive Bayes classifiers", JMLR
    8, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import AveragedNB
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 6))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> AveragedNB(random_state=0).fit(X, y).support_indices_
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "regularization": [Interval(Real, 0, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "random_state": ["random_state"],
        "criterion": [StrOptions({"khiops", "classical"})],
        "categorical_features": [StrOptions({"from_dtype"}), "array-like"],
        "n_jobs": [Integral, None],
    }
    _saved: ClassVar[dict[str, Saved]] = {"map_support_": Saved("booleans", "m")}

    def __init__(
        self,
        *,
        regularization: float = 1.0,
        class_weight: Any = None,
        time_limit: float | None = None,
        random_state: Any = None,
        criterion: str = "khiops",
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = -1,
    ) -> None:
        self.regularization = regularization
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.random_state = random_state
        self.criterion = criterion
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AveragedNB:
        """Learn partitions, then meet and average subsets.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)
            Numbers, strings, categories, booleans, dates; missing values allowed.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        data = self._prepare(self._read_labelled(X, y, sample_weight))
        problem = SubsetProblem(
            data.terms,
            data.codes,
            data.log_prior,
            np.array([data.partitions[j].cost.preparation for j in data.informative]),
            len(data.partitions),
            regularization=self.regularization,
            row_weight=data.row_weight,
            order=order_by_level(data.partitions, data.informative),
        )
        result = Averaging().minimise(
            problem, time_limit=self.time_limit, random_state=self.random_state
        )
        assert isinstance(result, AveragedResult)
        self._set_model(data, result.weights)
        self.map_support_ = np.zeros(len(data.partitions), dtype=bool)
        self.map_support_[data.informative] = result.map_weights > 0
        self.criterion_ = float(result.value)
        warn_if_interrupted(type(self).__name__, result.stopped)
        return self
