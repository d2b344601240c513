"""Texts in files: counted by class without a document-term matrix."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.cli._columns import Columns
from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._fit_outcome import Clock, CrossValidation, Fitted, default_size
from bayesieve.cli._held_out import held_out
from bayesieve.cli._interrupts import Interrupt
from bayesieve.cli._labelled_rows import LabelledRows
from bayesieve.cli._options import text_parameters
from bayesieve.cli._progress import Progress

__all__ = ["TextData", "texts_of"]

_FOLDS = 5
_SIZES = (
    *(2, 3, 5, 8, 13, 20, 30, 50, 80, 130, 200, 300, 500, 800),
    *(1300, 2000, 3000, 5000),
)
#: Above this many terms the comparison with all of them is left out.
_MOST_TERMS = 3_000_000

Batches = Iterator[tuple[Any, NDArray[np.int64]]]


def texts_of(values: Any, files: DataFiles, first: int = 0) -> Any:
    """Return an Arrow array of strings; a missing text is an error, or empty."""
    if str(values.type) not in ("string", "large_string", "string_view"):
        import pyarrow

        try:
            values = values.cast("string")
        except (pyarrow.ArrowNotImplementedError, pyarrow.ArrowInvalid) as error:
            raise CommandError(
                f"the texts of {files.name!r} are {values.type}, and cannot be read as "
                f"text: {error}"
            ) from None
    if values.null_count:
        if not files.skip_bad_rows:
            missing = values.is_null().to_numpy(zero_copy_only=False)
            raise CommandError(
                f"labelled row {first + int(np.argmax(missing)) + 1:,} of "
                f"{files.name!r} has no text. Hint: --skip-bad-rows takes such texts "
                "as empty."
            )
        values = values.fill_null("")
    return values


@dataclass(frozen=True)
class _Rereadable:
    """Batches that can be gone through again and again."""

    batches: Callable[[], Iterator[tuple[Any, NDArray[Any]]]]

    def __iter__(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        return self.batches()


class TextData:
    """Labelled texts in files.

    Parameters
    ----------
    files : DataFiles
    columns : Columns
    rows : LabelledRows
        The texts.
    arguments : argparse.Namespace
        Of a command with data, text and model arguments.
    """

    unit = "terms"

    def __init__(
        self,
        files: DataFiles,
        columns: Columns,
        rows: LabelledRows,
        arguments: argparse.Namespace,
    ) -> None:
        self.files, self.columns, self._rows = files, columns, rows
        self.labels, self.interrupted = rows.labels, rows.interrupted
        self.model = "multinomial" if arguments.model == "auto" else arguments.model
        if self.model not in ("multinomial", "bernoulli"):
            raise CommandError(
                f"texts take --model multinomial or bernoulli. Got {self.model!r}."
            )
        self.parameters = {
            "model": self.model,
            "alpha": arguments.alpha,
            "time_limit": arguments.time_limit,
            **text_parameters(arguments),
        }
        self.weights = getattr(arguments, "weights", False)
        share = getattr(arguments, "test_share", 0.0)
        self._is_test = held_out(rows.codes, share, getattr(arguments, "seed", 0))

    # ------------------------------------------------------------------- reading

    def _parts(
        self, title: str, test: bool = False, interrupt: Interrupt | None = None
    ) -> Batches:
        """Yield (texts, class numbers) of the rows held out, or of all others."""
        done = 0
        for codes, batch in self._rows.batches(title, "texts"):
            if interrupt is not None and interrupt.requested:
                if not done:
                    raise KeyboardInterrupt  # there is nothing to save
                return
            texts = texts_of(batch.column(0), self.files, done)
            chosen = np.flatnonzero(self._is_test[done : done + codes.size] == test)
            done += codes.size
            if chosen.size:
                yield texts.take(chosen), codes[chosen]

    # ------------------------------------------------------------------ counting

    def count(self, interrupt: Interrupt | None = None) -> Any:
        """Return the counts of the training rows."""
        return self._counted(
            (
                (texts, self.labels.classes[codes])
                for texts, codes in self._parts("Counting", interrupt=interrupt)
            ),
            self.labels.classes,
            min_df=self.parameters["min_df"],
            max_df=self.parameters["max_df"],
        )

    def _counted(self, batches: Any, classes: NDArray[Any], **limits: Any) -> Any:
        from bayesieve.counts import ClassCounts

        own = self.parameters
        return ClassCounts.from_text(
            batches,
            analyzer=own["analyzer"],
            ngram_range=own["ngram_range"],
            stop_words=own["stop_words"],
            binary=self.model == "bernoulli",
            classes=classes,
            **limits,
        )

    # ------------------------------------------------------------------- fitting

    def fit(self, k: Any, clock: Clock, *, saves: bool) -> Fitted:
        """Count, choose k if asked to, select and estimate."""
        from bayesieve.naive_bayes import SparseTextNB

        cv = None
        if self.weights and k in ("all", "cv", "1se"):
            raise CommandError(
                "--weights takes -k as a number, a share, elbow or bic for texts. "
                f"Got {k!r}."
            )
        # Weights need every row twice, so there is no model of the first rows.
        with Interrupt(saves and not self.weights) as interrupt:
            if k in ("cv", "1se"):
                with clock.measure("cross-validation"):
                    counts, cv = self._cross_validated(k)
                k = cv.best if k == "cv" else cv.sparing
                if (self.parameters["min_df"], self.parameters["max_df"]) != (1, 1.0):
                    counts = self.count()  # without the terms that are left out
            else:
                with clock.measure("counting"):
                    counts = self.count(interrupt)
            stopped = interrupt.requested or self.interrupted
        if stopped and not counts.class_count.all():
            raise KeyboardInterrupt  # some class was not met: there is no model yet
        k = default_size(counts.n_features) if k is None else k
        with clock.measure("selection"):
            model = SparseTextNB(k, weights=self.weights, **self.parameters)
            model = (
                model.fit_files(_Rereadable(self._training))
                if self.weights
                else model.fit_counts(counts)
            )
        evaluates = self._is_test.any() and not stopped
        everything = None
        if evaluates and counts.n_features <= _MOST_TERMS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                full = SparseTextNB("all", **self.parameters)
                everything = full.fit_counts(counts)
        return Fitted(
            model,
            self.unit,
            model.n_features_in_,
            int(counts.class_count.sum()),
            counts=counts,
            everything=everything,
            held_out=self._held_out if evaluates else None,
            cv=cv,
            interrupted=stopped,
            settings={"text": self.columns.text, "label": self.labels.column},
        )

    def _training(self) -> Iterator[tuple[Any, NDArray[Any]]]:
        for texts, codes in self._parts("Reading"):
            yield texts, self.labels.classes[codes]

    def _held_out(self) -> Batches:
        return self._parts("Evaluating", test=True)

    def _cross_validated(self, k: str) -> tuple[Any, CrossValidation]:
        """Return the counts of the training rows and the accuracy for each k.

        One pass counts (class, fold) pairs, so that the counts without a fold are a
        difference; a second one predicts the rows of each fold for every k.
        """
        from bayesieve.counts import ClassCounts
        from bayesieve.model_selection import splits_of
        from bayesieve.naive_bayes import SparseTextNB

        n_classes, training = len(self.labels.classes), self._rows.codes[~self._is_test]
        n_folds = folds_for(k, training)
        fold = np.empty(training.size, dtype=np.int64)
        for f, (_, test) in enumerate(splits_of(n_folds, training)):
            fold[test] = f

        def with_folds(title: str) -> Iterator[tuple[Any, Any, Any]]:
            done = 0
            for texts, codes in self._parts(title):
                yield texts, codes, fold[done : done + codes.size]
                done += codes.size

        pairs = self._counted(
            (
                (texts, codes * n_folds + own)
                for texts, codes, own in with_folds("Counting")
            ),
            np.arange(n_classes * n_folds),
        )

        def part(rows: NDArray[np.int64]) -> Any:
            documents = pairs.document_count
            return ClassCounts(
                self.labels.classes,
                pairs.class_count[rows],
                pairs.feature_count[rows],
                kind=pairs.kind,
                feature_names=pairs.feature_names,
                document_count=None if documents is None else documents[rows],
            )

        parts = [part(np.arange(n_classes) * n_folds + f) for f in range(n_folds)]
        whole = parts[0]
        for own in parts[1:]:
            whole = whole + own
        sizes = [size for size in _SIZES if size <= max(whole.n_features, 2)]
        models: list[list[Any]] = []
        with (
            warnings.catch_warnings(),
            Progress("Solving", n_folds * len(sizes)) as bar,
        ):
            warnings.simplefilter("ignore")
            for own in parts:
                rest = whole - own
                models.append([])
                for size in sizes:
                    model = SparseTextNB(size, **self.parameters).fit_counts(rest)
                    models[-1].append(model)
                    bar.update(sum(map(len, models)), f"k = {size}")
        right = np.zeros((len(sizes), n_folds))
        for texts, codes, own in with_folds("Cross-validating"):
            for f in range(n_folds):
                chosen = np.flatnonzero(own == f)
                if not chosen.size:
                    continue
                held, truth = texts.take(chosen), codes[chosen]
                for s, model in enumerate(models[f]):
                    joint = model.predict_joint_log_proba(held)
                    right[s, f] += (np.argmax(joint, axis=1) == truth).sum()
        return whole, CrossValidation.of(sizes, right / np.bincount(fold))


def folds_for(k: str, codes: NDArray[np.int64]) -> int:
    """Return the number of folds for rows of these classes."""
    smallest = int(np.bincount(codes).min())
    if smallest < 2:
        raise CommandError(
            f"-k {k} needs two rows or more of each class to learn from. "
            f"Got {smallest} of the rarest."
        )
    return min(_FOLDS, smallest)
