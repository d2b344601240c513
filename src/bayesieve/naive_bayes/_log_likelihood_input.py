"""Models of ready-made conditional log-likelihoods in place of a table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from bayesieve._description import Description, Saved, SelfDescribing
from bayesieve._scorecard import Scorecard
from bayesieve.naive_bayes._class_weight import count_by_class
from bayesieve.naive_bayes._explained_terms import ExplainedTerm, explanation_of
from bayesieve.naive_bayes._explanation import Explanation
from bayesieve.naive_bayes._selective_search import SearchedNB
from bayesieve.naive_bayes._weighted import log_prior_of
from bayesieve.preprocessing._table_input import read_labels
from bayesieve.utils._validation import refuse_one_class
from bayesieve.weights import ColumnPrior, DenseTerms, search
from bayesieve.weights._search import term_sizes

__all__ = ["LogLikelihoodNB"]


@dataclass(frozen=True)
class _LogLikelihoodRows:
    """Log-likelihoods (n_rows, n_columns, n_classes) with labels and weights."""

    logs: np.ndarray
    codes: np.ndarray
    weights: np.ndarray | None
    classes: np.ndarray

    @classmethod
    def from_training(
        cls, owner: Any, X: Any, y: Any, sample_weight: Any
    ) -> _LogLikelihoodRows:
        """Check X, y and weights; rows of weight zero are left out."""
        flat = _flat(owner, X, reset=True)
        codes, weights, classes = read_labels(
            owner, y, flat.shape[0], sample_weight, None
        )
        if weights is not None and not weights.all():
            there = np.flatnonzero(weights)
            flat, weights = flat[there], weights[there]
            present, codes = np.unique(codes[there], return_inverse=True)
            classes = classes[present]
        refuse_one_class(type(owner).__name__, classes)
        logs = _by_class(flat, classes.shape[0])
        return cls(logs, codes.astype(np.int32), weights, classes)

    @staticmethod
    def from_rows(owner: Any, X: Any, n_classes: int) -> np.ndarray:
        """Check rows to be predicted."""
        return _by_class(_flat(owner, X, reset=False), n_classes)


class LogLikelihoodNB(SearchedNB):
    """Base: with ``input="log_likelihood"`` weights are searched for terms as given.

    There is then neither a table nor a partition; ``_term_sizes`` are what importances
    are otherwise computed from. With ``input="table"`` nothing changes.
    """

    #: Of ready-made log-likelihoods, whose ``m`` numbers a row are columns by classes.
    _saved_ready_made: ClassVar[dict[str, Saved]] = {
        "weights_": Saved("floats", "columns", domain="counts"),
        "levels_": Saved("floats", "columns", domain="any"),
        "_term_sizes": Saved("floats", "columns", domain="known"),
        "_term_means": Saved("floats", "columns", "C", domain="any", optional=True),
    }
    input: str
    #: Mean of each term over the training rows; None in models of earlier versions.
    _term_means: np.ndarray | None = None

    def _fit_ready_made(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Learn the weights of the terms."""
        data = _LogLikelihoodRows.from_training(self, X, y, sample_weight)
        self.classes_ = data.classes
        n_columns = data.logs.shape[1]
        counted = np.bincount(data.codes, data.weights, data.classes.shape[0])
        factors = self._class_factors(counted)
        self._set_prior(counted.astype(np.float64), factors)
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
            terms,
            data.codes,
            self.class_log_prior_,
            count_by_class(data.weights, factors, data.codes),
            columns,
        )
        result = self._searched(search, problem, k=self.k)
        self.weights_ = result.weights
        self._set_no_texts()
        self._term_sizes = term_sizes(
            terms, result.weights, log_prior_of(self.class_count_)
        )
        self._term_means = np.average(data.logs, axis=0, weights=data.weights)
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
        logs = _LogLikelihoodRows.from_rows(self, X, self.classes_.shape[0])
        return np.asarray(DenseTerms(logs).scores(self.weights_, self.class_log_prior_))

    def _scorecard(self) -> Scorecard:
        if self.input == "log_likelihood":
            raise ValueError(
                f"A {type(self).__name__} of ready-made log-likelihoods cannot be "
                "exported: its terms are computed elsewhere. "
                "Hint: fit it with input='table'."
            )
        return super()._scorecard()

    def _explained(self, X: Any) -> Explanation:
        if self.input == "table":
            return super()._explained(X)
        if self._term_means is None:
            raise ValueError(
                "explain needs the mean of each term, which a model of ready-made "
                "log-likelihoods keeps from this version on. Hint: fit it again."
            )
        logs = _LogLikelihoodRows.from_rows(self, X, self.classes_.shape[0])
        terms = []
        for k in np.flatnonzero(self.weights_).tolist():
            weight, mean = self.weights_[k], self._term_means[k]
            shared = (weight * (logs[:, k] - mean),)
            terms.append(ExplainedTerm(f"x{k}", (k,), weight * mean, shared))
        return explanation_of(
            terms,
            self.class_log_prior_,
            self.classes_,
            self.predict_proba(X),
            [f"x{k}" for k in range(self.weights_.shape[0])],
            {},
        )

    # ---------------------------------------------------------- description and files

    def _describe(self) -> Description:
        found = super()._describe()
        if self.input == "log_likelihood":
            found = replace(found, named=None)  # X has a name for each column and class
        return found

    @property
    def _n_named(self) -> int | None:
        if self.input == "log_likelihood":
            return int(self.weights_.shape[0])
        return super()._n_named

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
        return super()._to_save()

    def _restore(self, values: dict[str, Any]) -> None:
        if self.input == "log_likelihood":
            SelfDescribing._restore(self, values | {"partitions_": [], "_texts": []})
        else:
            super()._restore(values)


def _flat(owner: Any, X: Any, *, reset: bool) -> np.ndarray:
    if np.ndim(X) == 3:
        X = np.asarray(X).reshape(np.shape(X)[0], -1)
    return np.asarray(validate_data(owner, X, reset=reset, dtype=np.float64))


def _by_class(flat: np.ndarray, n_classes: int) -> np.ndarray:
    if flat.shape[1] % n_classes:
        raise ValueError(
            "Ready-made log-likelihoods need one number for each column and class. "
            f"Got {flat.shape[1]} numbers a row for {n_classes} classes."
        )
    return flat.reshape(flat.shape[0], -1, n_classes)
