"""`partial_fit` of the weighted classifier: counts, drift, and steps of the weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import fit_context
from bayesieve.naive_bayes._drift import DriftWatch
from bayesieve.naive_bayes._stream import StreamMemory
from bayesieve.naive_bayes._weighted import (
    WeightedNaiveBayes,
    log_posterior,
    log_prior_of,
)
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._group import ValueGrouping
from bayesieve.preprocessing._prepare import log_likelihood_tables
from bayesieve.weights._terms import PartTerms

__all__ = ["StreamLearner"]


class StreamLearner(WeightedNaiveBayes):
    """Learning from a stream in constant memory; a subclass optimises the weights."""

    _stream: StreamMemory | None = None

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> StreamLearner:
        """Learn from more rows of a stream, in constant memory.

        The first rows (or an earlier `fit`) give partitions and weights, so the model
        predicts from then on. Later rows update the counts of parts and take the
        weights a few steps on; partitions are searched again whenever the number of
        rows has doubled, and from the latest rows alone when the stream has changed.

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
        if getattr(self, "input", "table") != "table":
            raise ValueError(
                "partial_fit needs input='table': ready-made log-likelihoods cannot be "
                f"updated. Got input={self.input!r}."
            )
        if self._stream is not None:
            return self._go_on(X, y, classes, sample_weight)
        if hasattr(self, "weights_"):
            stream = self._new_stream()
            stream.start_from(self.partitions_, self.class_count_)
            self._stream = stream
            self.n_rows_seen_ = stream.rows_since_start
            self._follow_partitions()
            return self._go_on(X, y, classes, sample_weight)
        table = self._read_first(X, self.categorical_features)
        rows = self._with_labels(table, y, sample_weight, classes)
        self.classes_ = rows.classes
        self.drifts_: list[int] = []
        stream = self._new_stream()
        stream.add(rows)
        stream.renew()
        self._stream = stream
        self.n_rows_seen_ = rows.codes.shape[0]
        self._follow_partitions()
        self._learn_from_window(full=True)
        return self

    def refresh(self) -> StreamLearner:
        """Search the partitions of a stream again now, and then the weights."""
        check_is_fitted(self, "weights_")
        if self._stream is None:
            raise ValueError(
                "refresh is for streams: it needs an earlier partial_fit. Got a model "
                "that was fitted at once."
            )
        self._stream.renew()
        self._follow_partitions()
        self._learn_from_window(full=True)
        return self

    def _new_stream(self) -> StreamMemory:
        self._watch = DriftWatch()
        self._suspect_rows = 0
        self._rows_since_search = 0
        return StreamMemory(
            self._reader,
            self._column_names(),
            self.classes_,
            window=self.window,
            half_life=self.half_life,
            criterion=self.criterion,
        )

    def _go_on(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> StreamLearner:
        stream = self._stream
        assert stream is not None
        self._check_same_classes(classes)
        rows = self._with_labels(
            self._read_more(X), y, sample_weight, classes=self.classes_
        )
        n_rows = rows.codes.shape[0]
        if not n_rows:
            return self
        absent = stream.class_count == 0
        bins = stream.add(rows)
        newcomer = bool((stream.class_count[absent] > 0).any())
        self.n_rows_seen_ += n_rows
        changed = self._watch.sees(self._losses(bins, rows.codes))
        self._suspect_rows = self._suspect_rows + n_rows if self._watch.alarms else 0
        if changed and self.drift_detection:
            self.drifts_.append(self.n_rows_seen_ - self._suspect_rows)
            stream.forget_before(self._suspect_rows)
            self._watch.reset()
            self._suspect_rows = 0
            renewed = True
        else:
            # No partition tells a class apart that was not there when it was made.
            renewed = newcomer or stream.is_due()
            if renewed:
                stream.renew()
        if renewed:
            self._follow_partitions()
        else:
            self._window_parts[stream.last_places] = self._parts_of(
                stream.bin_rows[stream.last_places]
            )
        self._learn_from_window(full=renewed)
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

    def _follow_partitions(self) -> None:
        """Take over new partitions: which columns say something, and their parts."""
        stream = self._stream
        assert stream is not None
        self.levels_ = np.array([partition.level for partition in stream.partitions])
        self._informative_columns = self._informative(stream.partitions)
        self._maps = [stream.parts_of_bins(j) for j in self._informative_columns]
        widest = max((p.n_parts for p in stream.partitions), default=1)
        self._window_parts = np.zeros(
            (stream.window, self._informative_columns.shape[0]),
            dtype=np.uint8 if widest <= 256 else np.uint16,
            order="F",
        )
        filled = stream.bin_rows[: stream.filled]
        self._window_parts[: stream.filled] = self._parts_of(filled)

    def _parts_of(self, bins: np.ndarray) -> np.ndarray:
        """Parts of rows given by their bins, in the informative columns."""
        stream = self._stream
        assert stream is not None
        parts = np.empty(
            (bins.shape[0], len(self._maps)), self._window_parts.dtype, order="F"
        )
        for k, j in enumerate(self._informative_columns):
            known = self._maps[k]
            n_bins = stream.bins[j].counts.shape[0]
            if n_bins > known.shape[0]:  # values met since the groups were made
                grouping = stream.partitions[j].parts
                assert isinstance(grouping, ValueGrouping)
                new = np.full(n_bins - known.shape[0], grouping.default_group)
                known = self._maps[k] = np.concatenate([known, new])
            parts[:, k] = known[bins[:, j]]
        return parts

    def _losses(self, bins: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Negative log-likelihood of new rows under the model so far."""
        informative = self._informative_columns
        used = np.flatnonzero(self.weights_[informative])
        parts = np.asfortranarray(self._parts_of(bins)[:, used])
        terms = PartTerms(parts, self._used_tables, self.classes_.shape[0])
        weights = self.weights_[informative[used]]
        scores = terms.scores(weights, self.class_log_prior_)
        return -log_posterior(scores)[np.arange(codes.shape[0]), codes]

    def _learn_from_window(self, *, full: bool) -> None:
        """Update probabilities from the counts, then the weights from the window."""
        stream = self._stream
        assert stream is not None
        informative = self._informative_columns
        tables = log_likelihood_tables(
            [
                stream.part_counts(j, known)
                for j, known in zip(informative, self._maps, strict=True)
            ],
            stream.class_count,
        )
        weights = self._stream_weights(tables, full=full)
        class_count = stream.class_count.copy()
        self._set_weights(class_count, informative, weights, tables)

    def _stream_weights(self, tables: list[np.ndarray], *, full: bool) -> np.ndarray:
        """Weights of the informative columns: searched, or a few steps on."""
        stream = self._stream
        assert stream is not None
        informative = self._informative_columns
        before = None
        if not full:
            before = self.weights_[informative]
            self._rows_since_search += stream.last_places.shape[0]
            if self._searches_anew() and self._rows_since_search < stream.window // 2:
                return before
        self._rows_since_search = 0
        filled = stream.filled
        weights = stream.weights[:filled]
        # Probabilities rest on all rows, so the penalty is shared among all of them.
        total = max(float(stream.class_count.sum()), 1.0)
        search = self._search_for(
            stream.partitions,
            informative,
            stream.codes[:filled],
            None if (weights == 1.0).all() else weights,
            regularization=self.regularization * min(1.0, weights.sum() / total),
        )
        terms = PartTerms(self._window_parts[:filled], tables, self.classes_.shape[0])
        prior = log_prior_of(stream.class_count)
        if full or self._searches_anew():
            result = search.run(terms, prior, before)
        else:
            result = search.steps(terms, prior, before)
        self._tell(result)
        return np.asarray(result.weights)

    @property
    def partitions_(self) -> list[ColumnPartition]:
        """Partition of each column, with the counts of all rows so far."""
        if self._stream is None:
            return self._partitions
        stream = self._stream
        place = {int(j): k for k, j in enumerate(self._informative_columns)}
        found = []
        for j, partition in enumerate(stream.partitions):
            if j in place:
                counts = stream.part_counts(j, self._maps[place[j]])
            else:
                counts = stream.class_count[None, :].copy()
            parts = replace(partition.parts, counts=counts)
            found.append(replace(partition, parts=parts))
        return found

    def _cuts(self) -> list[ColumnPartition]:
        return self._partitions if self._stream is None else self._stream.partitions

    @partitions_.setter
    def partitions_(self, found: list[ColumnPartition]) -> None:
        self._partitions = found
