"""What the weighted classifiers share: parts, probabilities, prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from bayesieve._description import Description, Saved, TableColumns
from bayesieve._scorecard import (
    InputColumn,
    Kind,
    LookupTerm,
    Scorecard,
    Term,
    axis_of,
)
from bayesieve.naive_bayes._class_weight import class_factors, count_by_class
from bayesieve.naive_bayes._explained_terms import (
    ExplainedTerm,
    explanation_of,
    term_of_parts,
)
from bayesieve.naive_bayes._explanation import Explanation
from bayesieve.partition._column import ColumnPartition
from bayesieve.preprocessing._mixed_columns import columns_of
from bayesieve.preprocessing._prepare import (
    log_likelihood_tables,
    part_indexes,
    partition_table,
)
from bayesieve.preprocessing._table_columns import TableReader
from bayesieve.preprocessing._table_input import (
    LabelledRows,
    TableEstimator,
    TableRows,
)
from bayesieve.weights._terms import PartTerms

__all__ = [
    "PreparedRows",
    "WeightedNaiveBayes",
    "log_prior_of",
    "order_by_level",
]


def log_prior_of(
    class_count: np.ndarray, factors: np.ndarray | None = None
) -> np.ndarray:
    """Logarithm of the class shares; a class not met yet gets a tiny one.

    A row counts as often as the factor of its class says.
    """
    class_count = class_count if factors is None else class_count * factors
    total = float(class_count.sum())
    if (class_count > 0).all():
        return np.asarray(np.log(class_count / total))
    eps = 1.0 / (total + 1.0)
    smoothed = (class_count + eps) / (total + class_count.shape[0] * eps)
    return np.asarray(np.log(smoothed))


def order_by_level(
    partitions: Sequence[ColumnPartition], informative: np.ndarray
) -> np.ndarray:
    """Places of the informative columns by decreasing level, ties by name."""
    keys = [(-partitions[j].level, partitions[j].name) for j in informative]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


@dataclass(frozen=True)
class PreparedRows:
    """Training rows as parts of the columns that say something, and their texts.

    Counts and tables are those of the rows with their weights; `class_factors` say how
    often rows of each class count where errors are judged, in the prior and in
    `row_weight`.
    """

    partitions: list[ColumnPartition]
    informative: np.ndarray
    parts: np.ndarray
    tables: list[np.ndarray]
    codes: np.ndarray
    weights: np.ndarray | None
    classes: np.ndarray
    class_count: np.ndarray
    class_factors: np.ndarray | None
    texts: list[list[str]]

    @property
    def terms(self) -> PartTerms:
        """The rows as terms of the columns."""
        return PartTerms(self.parts, self.tables, self.class_count.shape[0])

    @property
    def log_prior(self) -> np.ndarray:
        """Logarithm of the class shares."""
        return log_prior_of(self.class_count, self.class_factors)

    @property
    def row_weight(self) -> np.ndarray | None:
        """Weights of the rows in the criterion; None where all count once."""
        return count_by_class(self.weights, self.class_factors, self.codes)


class WeightedNaiveBayes(ClassifierMixin, TableEstimator):
    """Base of the classifiers with one partition and one weight for each column.

    Probabilities are those of section "prediction" of the method: scores
    ``log P(C) + sum_k w_k log p_k(part | C)``, softmax, and a last smoothing by half a
    row spread over the classes.
    """

    _saved: ClassVar[dict[str, Saved]] = {
        "class_log_prior_": Saved("floats", "C", domain="logs"),
        "weights_": Saved("floats", "m", domain="counts"),
        "_used_tables": Saved("floats", "used parts", "C", domain="logs"),
        "criterion_": Saved("float"),
    }
    class_weight: Any

    def _describe(self) -> Description:
        used, importances = self.support_indices_, self.feature_importances_
        k, n_columns = used.shape[0], self.weights_.shape[0]
        sentence = "No column says anything about the label."
        if k > 0:
            rest = "; the others have no weight" if k < n_columns else ""
            sentence = f"{k:,} of {n_columns:,} columns used{rest}."
        weighed = "" if self.class_weight is None else ", rows weighed by class_weight"
        return self._description(
            n_features=n_columns,
            indices=used,
            score=importances[used],
            score_name="importance (nats)",
            sentence=sentence,
            detail=f"The criterion of the weights is {self.criterion_:,.1f} nats"
            f"{weighed}.",
            noun="columns",
            weights=self.weights_[None, used],
            weight_name="weight",
            table=TableColumns(self.partitions_, self.weights_, importances),
        )

    def _to_save(self) -> dict[str, Any]:
        empty = np.zeros((0, self.classes_.shape[0]))
        return super()._to_save() | {
            "_used_tables": np.vstack([empty, *self._used_tables])
        }

    def _restore(self, values: dict[str, Any]) -> None:
        # Parts of the columns where they are not those of the partitions.
        cuts = values.pop("_cuts", values["partitions_"])
        tables = values["_used_tables"]
        used = (values["weights_"] > 0) & ~values["_reader"].text
        sizes = [cuts[j].n_parts for j in np.flatnonzero(used)]
        if sum(sizes) != tables.shape[0]:
            raise ValueError("'_used_tables' does not fit 'partitions_'")
        split = np.split(tables, np.cumsum(sizes)[:-1]) if sizes else []
        super()._restore(values | {"_used_tables": split})

    def _read_training(self, X: Any) -> TableRows:
        return self._read_first(X, self.categorical_features)

    def _read_labelled(self, X: Any, y: Any, sample_weight: Any) -> LabelledRows:
        """Read the table and its labels."""
        rows = self._with_labels(self._read_training(X), y, sample_weight)
        self.classes_ = rows.classes
        return rows

    def _prepare(self, rows: LabelledRows) -> PreparedRows:
        """Learn the partitions of a table and place its rows in them."""
        n_classes = rows.classes.shape[0]
        partitions = partition_table(
            self._reader,
            rows.table.numbers,
            rows.table.levels,
            rows.codes,
            rows.classes,
            self._column_names(),
            sample_weight=rows.weights,
            criterion=self.criterion,
        )
        counted = np.bincount(rows.codes, rows.weights, n_classes)
        class_count = counted.astype(np.float64)
        informative = self._informative(partitions)
        parts = part_indexes(
            partitions,
            informative.tolist(),
            self._reader,
            rows.table.numbers,
            rows.table.levels,
        )
        tables = log_likelihood_tables(
            [partitions[j].counts for j in informative], class_count
        )
        return PreparedRows(
            partitions,
            informative,
            parts,
            tables,
            rows.codes,
            rows.weights,
            rows.classes,
            class_count,
            self._class_factors(class_count),
            rows.table.texts,
        )

    def _class_factors(self, class_count: np.ndarray) -> np.ndarray | None:
        """How many times a row of each class counts where errors are judged."""
        return class_factors(
            self.class_weight, self.classes_, class_count, type(self).__name__
        )

    def _informative(self, partitions: Sequence[ColumnPartition]) -> np.ndarray:
        return np.flatnonzero([partition.level > 0 for partition in partitions])

    def _set_model(self, data: PreparedRows, weights: np.ndarray) -> None:
        """Store the partitions and what prediction needs."""
        self.partitions_ = data.partitions
        self.levels_ = np.array([partition.level for partition in data.partitions])
        self._set_prior(data.class_count, data.class_factors)
        self._set_weights(data.informative, weights, data.tables)

    def _set_prior(
        self, class_count: np.ndarray, class_factors: np.ndarray | None
    ) -> None:
        """Store how many rows each class has, and what the scores start from."""
        self.class_count_ = class_count
        self.class_log_prior_ = log_prior_of(class_count, class_factors)

    def _set_weights(
        self,
        informative: np.ndarray,
        weights: np.ndarray,
        tables: Sequence[np.ndarray],
    ) -> None:
        """Store weights, and the log-likelihoods of the columns that have one."""
        self.weights_ = np.zeros(self.n_features_in_)
        self.weights_[informative] = weights
        self._used_tables = [tables[int(k)] for k in np.flatnonzero(weights)]

    def _cuts(self) -> list[ColumnPartition]:
        """Partitions, where only the parts matter and not what they hold."""
        return self.partitions_

    def _used_columns(self) -> np.ndarray:
        """Columns whose parts have a weight; texts have none."""
        return np.flatnonzero((self.weights_ > 0) & ~self._reader.text)

    def _start_scores(self) -> np.ndarray:
        """Score of each class before any term."""
        return self.class_log_prior_

    def _scores(self, table: TableRows) -> np.ndarray:
        """Unnormalised log posterior of each class, shape (n_rows, n_classes)."""
        return self._column_scores(table)

    def _column_scores(self, table: TableRows) -> np.ndarray:
        """What the scores start from, and what the columns add."""
        used = self._used_columns()
        parts = part_indexes(
            self._cuts(), used.tolist(), self._reader, table.numbers, table.levels
        )
        terms = PartTerms(parts, self._used_tables, self.classes_.shape[0])
        return np.asarray(terms.scores(self.weights_[used], self._start_scores()))

    @property
    def _spread(self) -> float:
        """Half a row, as a share of all: what the last smoothing spreads."""
        return 0.5 / (float(self.class_count_.sum()) + 1.0)

    def _smoothed(self, scores: np.ndarray) -> np.ndarray:
        """Posterior with half a row spread over the classes."""
        n_classes, share = scores.shape[1], self._spread
        posterior = softmax(scores, axis=1)
        return np.asarray((posterior + share / n_classes) / (1.0 + share))

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Weighted score of each class, ``log P(C) + sum_k w_k log p_k(x_k | C)``.

        Normalised, these are the probabilities before the last smoothing.
        """
        check_is_fitted(self, "weights_")
        return self._scores(self._read_more(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, shape (n_samples, n_classes)."""
        return self._smoothed(self.predict_joint_log_proba(X))

    def _proba_of(self, table: TableRows) -> np.ndarray:
        """Class probabilities of rows that were read already."""
        return self._smoothed(self._scores(table))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log of the class probabilities, shape (n_samples, n_classes)."""
        return np.asarray(np.log(self.predict_proba(X)))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of each row; ties go to the first class."""
        scores = self.predict_joint_log_proba(X)
        return np.asarray(self.classes_[np.argmax(scores, axis=1)])

    def explain(self, X: Any) -> Explanation:
        """What each term adds to the score of each class, row by row. **Exact**.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_features)

        Returns
        -------
        Explanation
            Its ``by_column()`` shares pairs and triples among their columns.

        Notes
        -----
        Memory is O(n_samples n_terms n_classes).
        """
        check_is_fitted(self, "weights_")
        return self._explained(X)

    def _explained(self, X: Any) -> Explanation:
        """Explain rows of the kind that the model was fitted on."""
        table = self._read_more(X)
        terms = self._explained_terms(table)
        columns, _ = columns_of(self._match(X))
        used = {j for own in terms for j in own.columns}
        return explanation_of(
            terms,
            self._start_scores(),
            self.classes_,
            self._proba_of(table),
            self._column_names(),
            {j: np.asarray(columns[j]) for j in used},
            X.index if hasattr(X, "iloc") else None,
        )

    def _explained_terms(self, table: TableRows) -> list[ExplainedTerm]:
        """The weighted terms of some rows, those of the columns first."""
        used, names = self._used_columns(), self._column_names()
        cuts = self._counted_cuts()
        parts = part_indexes(
            self._cuts(), used.tolist(), self._reader, table.numbers, table.levels
        )
        found = []
        for k, j in enumerate(used.tolist()):
            own = self.weights_[j] * self._used_tables[k]
            mean, shared = term_of_parts(own, cuts[j].counts, parts[:, k])
            found.append(ExplainedTerm(names[j], (j,), mean, shared))
        return found

    def _scorecard(self) -> Scorecard:
        check_is_fitted(self, "weights_")
        used, names = self.support_indices_.tolist(), self._column_names()
        places = {column: place for place, column in enumerate(used)}
        reader = self._reader
        columns = [
            InputColumn(names[j], j, _kind_of(reader, j), reader.origins.get(j))
            for j in used
        ]
        return Scorecard(
            self.classes_,
            self._start_scores(),
            tuple(columns),
            tuple(self._score_terms(places)),
            self.n_features_in_,
            self._spread,
            type(self).__name__,
        )

    def _score_terms(self, places: Mapping[int, int]) -> list[Term]:
        """The weighted terms; `places` are those of the columns in use."""
        cuts = self._cuts()
        silent = np.zeros(self.classes_.shape[0])
        return [
            LookupTerm((axis_of(cuts[j], places[j]),), self.weights_[j] * table, silent)
            for j, table in zip(
                self._used_columns().tolist(), self._used_tables, strict=True
            )
        ]

    @property
    def support_(self) -> np.ndarray:
        """Boolean mask of the columns with a weight, shape (n_features_in_,)."""
        check_is_fitted(self, "weights_")
        return self.weights_ > 0

    @property
    def support_indices_(self) -> np.ndarray:
        """Columns with a weight."""
        check_is_fitted(self, "weights_")
        return np.flatnonzero(self.weights_).astype(np.int64)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean size of each column's term in the scores, in nats.

        The mean absolute Shapley value: how far, on average over training rows and
        classes, the term ``w_k log p_k(part | C)`` is from its own mean.
        """
        check_is_fitted(self, "weights_")
        importances = np.zeros(self.weights_.shape[0])
        cuts = self._counted_cuts()
        for j, table in zip(self._used_columns(), self._used_tables, strict=True):
            importances[j] = self._term_size(table, cuts[j].counts, self.weights_[j])
        return importances

    def _counted_cuts(self) -> list[ColumnPartition]:
        """The parts of the terms, with what they hold."""
        return self.partitions_

    def _term_size(self, table: np.ndarray, counts: np.ndarray, weight: float) -> float:
        """How far, on average, a weighted term is from its own mean, in nats."""
        prior = self.class_count_ / self.class_count_.sum()
        rows = counts.sum(axis=1)
        share = rows / rows.sum()
        # Only differences between classes matter to the posterior.
        lift = table - (table @ prior)[:, None]
        away = np.abs(lift - share @ lift)
        return float(weight) * float(share @ away @ prior)


def _kind_of(reader: TableReader, column: int) -> Kind:
    """What a column of a table holds, as a scorecard calls it."""
    if reader.text[column]:
        return "note"
    if reader.categorical[column]:
        return "category"
    return "time" if reader.temporal[column] else "number"
