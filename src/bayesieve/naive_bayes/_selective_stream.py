"""Streams of a weighted model: counts go on, weights follow, drifts are noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import log_softmax
from sklearn.utils.validation import check_is_fitted

from bayesieve._compat import fit_context
from bayesieve._description import Saved
from bayesieve.naive_bayes._class_weight import check_class_weight, count_by_class
from bayesieve.naive_bayes._shape_stream import ShapeStreamNB
from bayesieve.naive_bayes._stream import StreamMemory
from bayesieve.naive_bayes._stream_parts import StreamPartitions
from bayesieve.naive_bayes._text_terms import TextTable, check_text_options, text_rule
from bayesieve.naive_bayes._text_weighted import TextFit
from bayesieve.naive_bayes._weighted import log_prior_of
from bayesieve.partition._column import ColumnPartition
from bayesieve.preprocessing._prepare import log_likelihood_tables
from bayesieve.weights import PartTerms, WeightResult
from bayesieve.weights._text_candidates import TextRule

__all__ = ["StreamNB"]


class StreamNB(ShapeStreamNB):
    """Base: a model that goes on learning by `partial_fit`.

    Owns ``drifts_`` and ``n_rows_seen_``, the memory of the stream, and the partitions:
    with a stream they are those of the model with the counts of all rows so far. What
    is done with best partitions is here, with averaged shapes in `ShapeStreamNB`.
    """

    _saved: ClassVar[dict[str, Saved]] = {
        "drifts_": Saved("integers", "drifts"),
        "n_rows_seen_": Saved("int", optional=True),
    }
    #: What is remembered of a stream; None of a model that was fitted at once.
    _stream: StreamMemory | None = None
    drifts_: list[int]
    input: str
    text_options: dict[str, Any] | None
    criterion: str
    window: int
    half_life: float | None
    drift_detection: bool

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn from more rows of a stream, in constant memory.

        The first rows (or an earlier `fit`) give shapes or partitions and weights, so
        the model predicts from then on. Later rows update the counts of bins and
        parts. Averaged shapes follow when the rows have grown by a twentieth, and
        whenever weights are searched. Weights follow: they are searched again after
        every half window of rows ("auto", "convex"), or take a few steps of a descent
        on the criterion with each call (the others). Partitions, fine bins and pairs
        are chosen again when the number of rows has doubled (four times that once the
        window is full), when a class comes for the first time, and from the latest
        rows alone when the stream has changed. Pairs are chosen by the rows of the
        window; their cells are counted from then on. What the columns are, and whether
        partitions are averaged, is settled by the first rows.

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
        self._refuse_balanced()
        options = check_text_options(self.text_options, type(self).__name__)
        if self._stream is None and hasattr(self, "weights_"):
            rules = [
                replace(text_rule(options, []), options=own.ngrams.options)
                for own in self._texts
            ]
            stream = self._new_stream(rules)
            shapes: tuple[Any, ...] = ()
            if not self._reader.text.any():  # tables with texts go on without
                self._refuse_other_kind(self._is_shaped)
                shapes = (self.shapes_, self.pair_shapes_) if self._is_shaped else ()
            stream.start_from(self.partitions_, self.class_count_, *shapes)
            stream.texts.start_from(self._texts, self.class_count_)
            self.n_rows_seen_ = stream.rows_since_start
            stream.in_use = stream.new_parts()
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

    def refresh(self) -> Self:
        """Search partitions and pairs of a stream again now, and then the weights."""
        check_is_fitted(self, "weights_")
        if self._stream is None:
            raise ValueError(
                "refresh is for streams: it needs an earlier partial_fit. Got a model "
                "that was fitted at once."
            )
        self._refuse_balanced()
        stream = self._stream
        self._refuse_other_kind(stream.averages)
        stream.refuse_torn()
        stream.is_whole = False
        stream.renew()
        stream.is_whole = True
        self._learn(stream)
        return self

    def _refuse_balanced(self) -> None:
        if self.class_weight == "balanced":
            raise ValueError(
                f"The 'class_weight' parameter of {type(self).__name__} must be a dict "
                "or None for a stream: the shares of its classes are not known before "
                "it ends. Got 'balanced'. Hint: class_weight={'spam': 10.0} says what "
                "an error costs."
            )

    @property
    def _averages(self) -> bool:
        """Whether rows are learnt as averaged shapes: tables without texts."""
        return self.partitions == "averaged" and not self._reader.text.any()

    def _refuse_other_kind(self, averages: bool) -> None:
        """Refuse other partitions than those that were learnt so far."""
        if averages != self._averages:
            before = "averaged" if averages else "best"
            raise ValueError(
                "partitions cannot change while a stream is learnt. "
                f"Got {self.partitions!r}, before that {before!r}. "
                "Hint: fit begins anew."
            )

    def _new_stream(self, rules: list[TextRule]) -> StreamMemory:
        return StreamMemory(
            self._reader,
            self._column_names(),
            self.classes_,
            window=self.window,
            half_life=self.half_life,
            criterion=self.criterion,
            averages=self._averages,
            rules=rules,
        )

    def _go_on(
        self, stream: StreamMemory, X: Any, y: Any, classes: Any, sample_weight: Any
    ) -> Self:
        stream.refuse_torn()
        self._refuse_other_kind(stream.averages)
        self._check_same_classes(classes)
        check_class_weight(self.class_weight, self.classes_, type(self).__name__)
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
        losses = -log_softmax(scores, axis=1)[np.arange(n_rows), rows.codes]
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
        if stream.averages:
            self._learn_shapes(stream)
        else:
            self._learn_parts(stream)

    def _learn_parts(self, stream: StreamMemory) -> None:
        """Learn with the best partitions."""
        class_count = stream.class_count.copy()
        factors = self._class_factors(class_count)
        found, renewed = stream.next_parts()
        assert isinstance(found, StreamPartitions)
        tables = log_likelihood_tables(found.placed.counts(stream), stream.class_count)
        before = None if renewed else self.weights_[found.informative]
        how = self._next_search(stream, renewed)
        fitted = result = None
        weights = before
        if how is not None and stream.texts.rules:
            fitted = self._stream_texts(stream, found, tables, factors, renewed)
            result = fitted.found.result
            weights = result.weights[: len(tables)]
        elif how is not None:
            result = self._stream_weights(how, stream, found, tables, factors, before)
            weights = np.asarray(result.weights)
        assert weights is not None  # new partitions are searched
        stream.in_use = found
        self._set_no_shapes()
        self.levels_ = np.array([p.level for p in found.partitions])
        self._set_prior(class_count, factors)
        self._set_weights(found.informative, weights, tables)
        if fitted is not None:
            self._set_texts(fitted)
        elif stream.texts.rules:
            self._update_texts(stream.texts.updated(self._texts))
        else:
            self._set_no_texts()
        if result is not None:
            self._tell(result)

    def _stream_texts(
        self,
        stream: StreamMemory,
        found: StreamPartitions,
        tables: list[np.ndarray],
        factors: np.ndarray | None,
        renewed: bool,
    ) -> TextFit:
        """Weights of columns and n-grams, by the window and the counts of all rows."""
        filled, name = stream.filled, type(self).__name__
        weights = stream.weights[:filled]
        table = TextTable(
            found.placed.parts[:filled],
            [len(own) for own in tables],
            [window[:filled] for window in stream.texts.window],
            stream.texts.rules,
            stream.codes[:filled],
            None if (weights == 1.0).all() else weights,
            self.classes_,
            self.k,
            name,
            factors,
        )
        rows, ngrams = table.training_rows(
            tables,
            stream.texts.candidates(self.k, name),
            log_prior_of(stream.class_count, factors),
        )
        fitted = self._fit_texts(
            table,
            rows,
            ngrams,
            self._prior_of(found.partitions, found.informative),
            share=stream.window_share(stream.class_count.sum()),
            penalty=None if renewed else stream.texts.penalty,
        )
        stream.texts.penalty = fitted.penalty
        return fitted

    def _stream_weights(
        self,
        how: Callable[..., WeightResult],
        stream: StreamMemory,
        found: StreamPartitions,
        tables: list[np.ndarray],
        factors: np.ndarray | None,
        before: np.ndarray | None,
    ) -> WeightResult:
        """Weights of the informative columns, by the rows of the window."""
        filled = stream.filled
        weights, codes = stream.weights[:filled], stream.codes[:filled]
        problem = self._problem(
            PartTerms(found.placed.parts[:filled], tables, self.classes_.shape[0]),
            codes,
            log_prior_of(stream.class_count, factors),
            count_by_class(None if (weights == 1.0).all() else weights, factors, codes),
            self._prior_of(found.partitions, found.informative),
            stream.window_share(stream.class_count.sum()),
        )
        return self._searched(how, problem, before, k=self.k)

    def _forget_stream(self) -> None:
        """Begin anew, as `fit` does."""
        self._stream = None
        self.drifts_ = []
        if hasattr(self, "n_rows_seen_"):
            del self.n_rows_seen_

    # ---------------------------------------------------------- partitions and files

    @property
    def partitions_(self) -> list[ColumnPartition]:
        """Partition of each column, with the counts of all rows so far."""
        if self._stream is None:
            check_is_fitted(self, "_partitions")
            return self._partitions
        assert self._stream.in_use is not None
        return self._stream.counted(self._stream.in_use.partitions)

    @partitions_.setter
    def partitions_(self, found: list[ColumnPartition]) -> None:
        self._partitions = found

    def _cuts(self) -> list[ColumnPartition]:
        if self._is_shaped:
            return super()._cuts()
        if self._stream is None:
            return self._partitions
        assert self._stream.in_use is not None
        return self._stream.in_use.partitions

    def _to_save(self) -> dict[str, Any]:
        found = super()._to_save()
        if "partitions_" in found:  # that of a table
            partitions = self.partitions_
            if self._stream is not None:
                partitions = self._stream.with_new_values(partitions)
            found["partitions_"] = partitions
        return found

    def _restore(self, values: dict[str, Any]) -> None:
        super()._restore(values | {"drifts_": values["drifts_"].tolist()})
