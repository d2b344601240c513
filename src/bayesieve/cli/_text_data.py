"""Texts in files: counted by class without a document-term matrix, in two passes."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesieve.cli._columns import Columns
from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles, needs
from bayesieve.cli._fitted import Clock, Fitted, default_size, one_standard_error
from bayesieve.cli._labels import HeldOut, Labels, rows_with_codes
from bayesieve.cli._options import text_parameters
from bayesieve.cli._progress import Interrupt, Progress

__all__ = ["TextData", "texts_of"]

_FOLDS = 5
_SIZES = (
    2,
    3,
    5,
    8,
    13,
    20,
    30,
    50,
    80,
    130,
    200,
    300,
    500,
    800,
    1300,
    2000,
    3000,
    5000,
)
#: Above this many terms the comparison with all of them is left out.
_MOST_TERMS = 3_000_000


def texts_of(values: Any, files: DataFiles, first: int = 0) -> Any:
    """Return an Arrow array of strings; a missing text is empty in a CSV file."""
    if str(values.type) not in ("string", "large_string", "string_view"):
        pyarrow = needs("pyarrow")
        try:
            values = values.cast("string")
        except (pyarrow.ArrowNotImplementedError, pyarrow.ArrowInvalid) as error:
            raise CommandError(
                f"the texts of {files.name!r} are {values.type}, and cannot be read as "
                f"text: {error}"
            ) from None
    if values.null_count:
        if not files.is_text and not files.skip_bad_rows:
            row = first + int(
                np.argmax(values.is_null().to_numpy(zero_copy_only=False))
            )
            raise CommandError(
                f"labelled row {row + 1:,} of {files.name!r} has no text. "
                "Hint: --skip-bad-rows takes such texts as empty."
            )
        values = values.fill_null("")
    return values


@dataclass(frozen=True)
class _Rereadable:
    """Batches that can be gone through again and again."""

    batches: Callable[[], Iterator[tuple[Any, np.ndarray]]]

    def __iter__(self) -> Iterator[tuple[Any, np.ndarray]]:
        return self.batches()


class TextData:
    """Labelled texts in files.

    Parameters
    ----------
    files : DataFiles
    columns : Columns
    labels : Labels
    arguments : argparse.Namespace
        Of a command with data, text and model arguments.
    """

    unit = "terms"

    def __init__(
        self,
        files: DataFiles,
        columns: Columns,
        labels: Labels,
        arguments: argparse.Namespace,
    ) -> None:
        self.files, self.columns, self.labels = files, columns, labels
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
        self.share = getattr(arguments, "test_share", 0.0)
        self.seed = getattr(arguments, "seed", 0)

    # ------------------------------------------------------------------- reading

    def _batches(
        self, title: str, interrupt: Interrupt | None = None
    ) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield (texts, class numbers) of all rows that have a label."""
        done = 0
        assert self.columns.text is not None  # or this were a table
        with Progress(title, self.labels.n_rows) as bar:
            read = rows_with_codes(self.files, [self.columns.text], self.labels)
            for codes, batch in read:
                if interrupt is not None and interrupt.requested:
                    if not done:
                        raise KeyboardInterrupt  # there is nothing to save
                    return
                yield texts_of(batch.column(0), self.files, done), codes
                done += codes.size
                bar.update(done, f"{done:,} texts")

    def _parts(
        self, title: str, held_out: bool, interrupt: Interrupt | None = None
    ) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield the rows that are held out, or those that are not."""
        split = HeldOut(self.share, len(self.labels.classes), self.seed)
        for texts, codes in self._batches(title, interrupt):
            chosen = np.flatnonzero(split.mask(codes) == held_out)
            if chosen.size:
                yield texts.take(chosen), codes[chosen]

    # ------------------------------------------------------------------ counting

    def count(self, interrupt: Interrupt | None = None) -> Any:
        """Return the counts of the training rows."""
        return self._counted(
            (
                (texts, self.labels.classes[codes])
                for texts, codes in self._parts("Counting", False, interrupt)
            ),
            self.labels.classes,
            min_df=self.parameters["min_df"],
            max_df=self.parameters["max_df"],
        )

    def _counted(self, batches: Any, classes: np.ndarray, **limits: Any) -> Any:
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
                    counts, cv = self._cross_validated()
                best, sparing = one_standard_error(cv)
                k = best if k == "cv" else sparing
                if (self.parameters["min_df"], self.parameters["max_df"]) != (1, 1.0):
                    counts = self.count()  # without the terms that are left out
            else:
                with clock.measure("counting"):
                    counts = self.count(interrupt)
            stopped = interrupt.requested
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
        everything = None
        if self.share > 0 and not stopped and counts.n_features <= _MOST_TERMS:
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
            held_out=self._held_out if self.share > 0 and not stopped else None,
            cv=cv,
            interrupted=stopped,
            settings={"text": self.columns.text, "label": self.labels.column},
        )

    def _training(self) -> Iterator[tuple[Any, np.ndarray]]:
        for texts, codes in self._parts("Reading", False):
            yield texts, self.labels.classes[codes]

    def _held_out(self) -> Iterator[tuple[Any, np.ndarray]]:
        yield from self._parts("Evaluating", True)

    def _cross_validated(self) -> tuple[Any, list[dict[str, Any]]]:
        """Return the counts of the training rows and the accuracy for each k.

        One pass counts (class, fold) pairs, so that the counts without a fold are a
        difference; a second one predicts the rows of each fold for every k.
        """
        from bayesieve.counts import ClassCounts
        from bayesieve.naive_bayes import SparseTextNB

        n_classes = len(self.labels.classes)
        pairs = self._counted(
            (
                (texts, codes * _FOLDS + fold)
                for texts, codes, fold in self._folds("Counting")
            ),
            np.arange(n_classes * _FOLDS),
        )

        def part(rows: np.ndarray) -> Any:
            documents = pairs.document_count
            return ClassCounts(
                self.labels.classes,
                pairs.class_count[rows],
                pairs.feature_count[rows],
                kind=pairs.kind,
                feature_names=pairs.feature_names,
                document_count=None if documents is None else documents[rows],
            )

        folds = [part(np.arange(n_classes) * _FOLDS + fold) for fold in range(_FOLDS)]
        whole = folds[0]
        for fold in folds[1:]:
            whole = whole + fold
        sizes = [k for k in _SIZES if k <= max(whole.n_features, 2)]
        models: list[list[Any]] = []
        with warnings.catch_warnings(), Progress("Solving", _FOLDS * len(sizes)) as bar:
            warnings.simplefilter("ignore")
            for fold in folds:
                rest = whole - fold
                models.append([])
                for k in sizes:
                    own = SparseTextNB(k, **self.parameters).fit_counts(rest)
                    models[-1].append(own)
                    bar.update(sum(map(len, models)), f"k = {k}")
        right = np.zeros((_FOLDS, len(sizes)))
        rows = np.zeros(_FOLDS)
        for texts, codes, fold in self._folds("Cross-validating"):
            for f in range(_FOLDS):
                chosen = np.flatnonzero(fold == f)
                if not chosen.size:
                    continue
                own, truth = texts.take(chosen), codes[chosen]
                rows[f] += chosen.size
                for s, model in enumerate(models[f]):
                    joint = model.predict_joint_log_proba(own)
                    right[f, s] += (np.argmax(joint, axis=1) == truth).sum()
        scores = (right / np.maximum(rows, 1)[:, None])[rows > 0]
        spread = scores.std(axis=0) / np.sqrt(scores.shape[0])
        cv = [
            {"k": k, "mean": float(mean), "se": float(se)}
            for k, mean, se in zip(sizes, scores.mean(axis=0), spread, strict=True)
        ]
        return whole, cv

    def _folds(self, title: str) -> Iterator[tuple[Any, np.ndarray, np.ndarray]]:
        split = HeldOut(0.0, len(self.labels.classes), self.seed + 1, folds=_FOLDS)
        for texts, codes in self._parts(title, False):
            yield texts, codes, split.fold(codes)
