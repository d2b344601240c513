"""`partial_fit` of the weighted classifier: counts, drift, and steps of the weights."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import fit_context
from bayesieve.naive_bayes._drift import DriftWatch
from bayesieve.naive_bayes._followed import Followed
from bayesieve.naive_bayes._stream import StreamMemory
from bayesieve.naive_bayes._weighted import (
    WeightedNaiveBayes,
    log_posterior,
    log_prior_of,
)
from bayesieve.partition._column import ColumnPartition
from bayesieve.preprocessing._prepare import log_likelihood_tables
from bayesieve.weights._result import WeightResult
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
            self.n_rows_seen_ = stream.rows_since_start
            self._followed = Followed.from_memory(stream)
            self._stream = stream
            return self._go_on(X, y, classes, sample_weight)
        table = self._read_first(X, self.categorical_features)
        rows = self._with_labels(table, y, sample_weight, classes)
        if not rows.codes.shape[0]:
            raise ValueError(
                "The first rows of a stream must have some weight. Got only zeros."
            )
        self.classes_ = rows.classes
        stream = self._new_stream()
        stream.add(rows)
        stream.renew()
        self._learn(stream, Followed.from_memory(stream), full=True)
        self.drifts_: list[int] = []
        self.n_rows_seen_ = rows.codes.shape[0]
        self._stream = stream
        return self

    def refresh(self) -> StreamLearner:
        """Search the partitions of a stream again now, and then the weights."""
        check_is_fitted(self, "weights_")
        if self._stream is None:
            raise ValueError(
                "refresh is for streams: it needs an earlier partial_fit. Got a model "
                "that was fitted at once."
            )
        stream = self._stream
        self._refuse_torn(stream)
        stream.is_whole = False
        stream.renew()
        stream.is_whole = True
        self._learn(stream, Followed.from_memory(stream), full=True)
        return self

    def _new_stream(self) -> StreamMemory:
        self._watch = DriftWatch()
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
        self._refuse_torn(stream)
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
        absent = stream.class_count == 0
        # What is remembered changes in many steps; Ctrl-C may come between two of them.
        stream.is_whole = False
        stream.add(rows)
        newcomer = bool((stream.class_count[absent] > 0).any())
        self.n_rows_seen_ += n_rows
        if self._watch.sees(losses) and self.drift_detection:
            suspect = min(self._watch.suspect_rows, stream.filled)
            self.drifts_.append(self.n_rows_seen_ - suspect)
            self._watch.reset()
            stream.forget_before(suspect)
        elif newcomer or stream.is_due():
            # No partition tells a class apart that was not there when it was made.
            stream.renew()
        stream.is_whole = True
        followed = self._followed
        renewed = followed.version != stream.version
        if renewed:
            followed = Followed.from_memory(stream)
        else:
            followed.place(stream, stream.last_places)
        self._learn(stream, followed, full=renewed)
        return self

    @staticmethod
    def _refuse_torn(stream: StreamMemory) -> None:
        if not stream.is_whole:
            raise RuntimeError(
                "An earlier partial_fit was interrupted while its rows were added, and "
                "what is remembered of the stream holds some of them only; the model "
                "still predicts as before. Hint: fit begins anew, or go on from a "
                "model saved earlier."
            )

    def _check_same_classes(self, classes: Any) -> None:
        if classes is None or np.array_equal(classes, self.classes_):
            return
        given = np.unique(np.asarray(classes))
        if not np.array_equal(given, self.classes_):
            raise ValueError(
                "classes must be the same in every call of partial_fit. Got "
                f"{given.tolist()!r}, before that {self.classes_.tolist()!r}."
            )

    def _learn(self, stream: StreamMemory, followed: Followed, *, full: bool) -> None:
        """Update probabilities from the counts, then the weights from the window.

        Nothing of the model changes before all of it is known, so an error on the way
        (in a callback, say) leaves a model that predicts as before.
        """
        tables = log_likelihood_tables(followed.part_counts(stream), stream.class_count)
        weights, result = self._stream_weights(stream, followed, tables, full=full)
        self._followed = followed
        self.levels_ = np.array([p.level for p in followed.partitions])
        class_count = stream.class_count.copy()
        self._set_weights(class_count, followed.informative, weights, tables)
        if result is not None:
            self._tell(result)

    def _stream_weights(
        self,
        stream: StreamMemory,
        followed: Followed,
        tables: list[np.ndarray],
        *,
        full: bool,
    ) -> tuple[np.ndarray, WeightResult | None]:
        """Weights of the informative columns: searched, or a few steps on."""
        before = None
        if not full:
            before = self.weights_[followed.informative]
            self._rows_since_search += stream.last_places.shape[0]
            if self._searches_anew() and self._rows_since_search < stream.window // 2:
                return before, None
        self._rows_since_search = 0
        filled = stream.filled
        weights = stream.weights[:filled]
        # Probabilities rest on all rows, so the penalty is shared among all of them.
        total = max(float(stream.class_count.sum()), 1.0)
        search = self._search_for(
            followed.partitions,
            followed.informative,
            stream.codes[:filled],
            None if (weights == 1.0).all() else weights,
            regularization=self.regularization * min(1.0, weights.sum() / total),
        )
        terms = PartTerms(followed.parts[:filled], tables, self.classes_.shape[0])
        prior = log_prior_of(stream.class_count)
        if full or self._searches_anew():
            result = search.run(terms, prior, before)
        else:
            result = search.steps(terms, prior, before)
        return np.asarray(result.weights), result

    @property
    def partitions_(self) -> list[ColumnPartition]:
        """Partition of each column, with the counts of all rows so far."""
        if self._stream is None:
            check_is_fitted(self, "_partitions")
            return self._partitions
        counts = self._followed.part_counts(self._stream)
        place = {int(j): k for k, j in enumerate(self._followed.informative)}
        found = []
        for j, partition in enumerate(self._followed.partitions):
            own = self._stream.class_count[None, :].copy()
            parts = replace(
                partition.parts, counts=counts[place[j]] if j in place else own
            )
            found.append(replace(partition, parts=parts))
        return found

    def _cuts(self) -> list[ColumnPartition]:
        return self._partitions if self._stream is None else self._followed.partitions

    @partitions_.setter
    def partitions_(self, found: list[ColumnPartition]) -> None:
        self._partitions = found
