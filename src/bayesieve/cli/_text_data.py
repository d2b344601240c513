"""Texts in files: counted by class without a document-term matrix."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from bayesieve.cli._columns import Columns
from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._fit_outcome import Refits
from bayesieve.cli._interrupts import Interrupt
from bayesieve.cli._labelled_rows import LabelledRows, fits_in_memory
from bayesieve.cli._options import search_seconds, text_parameters
from bayesieve.cli._plan import Plan, l1_of_matrix
from bayesieve.cli._raw_data import Batches, RawData, remade
from bayesieve.cli._reading_told import say_script
from bayesieve.counts import ClassCounts
from bayesieve.counts._selection import documents_with
from bayesieve.exceptions import UnspacedTextWarning
from bayesieve.feature_extraction import to_vectorizer
from bayesieve.naive_bayes import SparseTextNB

__all__ = ["TextData", "settle_analyzer", "texts_of"]

#: Texts that are fitted again in parts, in bytes.
_MOST_TEXT_BYTES = 200_000_000

#: What decides in each model of counts.
_MODELS = {"presence": "bernoulli", "counts": "multinomial"}


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


def settle_analyzer(
    arguments: argparse.Namespace, name: str, texts: Sequence[Any]
) -> None:
    """Cut texts as their script asks for, unless somebody has said how."""
    if arguments.analyzer is None:
        analyzer, ngrams = say_script(name, texts, arguments.ngrams)
        arguments.analyzer, arguments.ngrams = analyzer, arguments.ngrams or ngrams


class TextData(RawData):
    """Labelled texts in files, for a command with data, text and model arguments."""

    unit, rows_noun = "terms", "texts"

    def __init__(
        self,
        files: DataFiles,
        columns: Columns,
        rows: LabelledRows,
        arguments: argparse.Namespace,
        ignored: Mapping[str, str] | None = None,
    ) -> None:
        model = "multinomial" if arguments.model == "auto" else arguments.model
        super().__init__(files, rows.labels, rows.codes, model, arguments)
        self.columns, self._rows = columns, rows
        #: Why columns beside the texts are left out, by their names.
        self.ignored = dict(ignored or {})
        self.interrupted = rows.interrupted
        self.tries_pairs = False
        settle_analyzer(arguments, columns.texts[0], rows.first.column(0).to_pylist())
        if model not in ("multinomial", "bernoulli"):
            raise CommandError(
                f"texts take --model multinomial or bernoulli. Got {model!r}."
            )
        self.parameters = {
            "model": model,
            "alpha": arguments.alpha,
            "time_limit": search_seconds(arguments),
            **text_parameters(arguments),
        }
        self._test: list[tuple[Any, NDArray[np.int64]]] = []

    # ------------------------------------------------------------------- reading

    def _parts(
        self, title: str, test: bool = False, interrupt: Interrupt | None = None
    ) -> Batches:
        """Yield (texts, class numbers) of the rows held out, or of all others.

        Where rows are read from files each time, those held out are kept when they are
        met for the first time, if they fit in memory.
        """
        done = n_bytes = 0
        kept: list[tuple[Any, NDArray[np.int64]]] | None = None
        if not (test or self._rows.is_held or self._test):
            kept = []
        for codes, batch in self._rows.batches(title, "texts"):
            if interrupt is not None and interrupt.requested:
                if not done:
                    raise KeyboardInterrupt  # there is nothing to save
                return
            texts = texts_of(batch.column(0), self.files, done)
            is_test = self._is_test[done : done + codes.size]
            chosen = np.flatnonzero(is_test == test)
            done += codes.size
            if kept is not None and is_test.any():
                held = texts.take(np.flatnonzero(is_test))
                n_bytes += held.nbytes
                kept.append((held, codes[is_test]))
                kept = kept if fits_in_memory(n_bytes) else None
            if chosen.size:
                yield texts.take(chosen), codes[chosen]
        self._test = self._test or kept or []

    # ------------------------------------------------------------------ counting

    def count(self, interrupt: Interrupt | None = None) -> Any:
        """Return the counts of the training rows."""
        with warnings.catch_warnings():
            # Somebody who says --analyzer word has been told before.
            warnings.simplefilter("ignore", UnspacedTextWarning)
            return ClassCounts.from_text(
                (
                    (texts, self.labels.classes[codes])
                    for texts, codes in self._parts("Counting", interrupt=interrupt)
                ),
                binary=self.model == "bernoulli",
                classes=self.labels.classes,
                **text_parameters(self.arguments),
            )

    def _n_entries(self, counts: Any) -> float:
        documents = documents_with(counts)
        assert documents is not None
        return float(documents.sum())

    # ------------------------------------------------------------------- fitting

    @property
    def _settings(self) -> dict[str, Any]:
        return {"text": self.columns.texts[0], **super()._settings}

    def _model(self, k: Any, weights: bool = False, **options: Any) -> SparseTextNB:
        return SparseTextNB(k, weights=weights, **(self.parameters | options))

    def _all_rows(self) -> Any:
        if not self._rows.is_held:
            return None
        import pyarrow

        parts, done = [], 0
        for codes, batch in self._rows.batches("Reading"):
            parts.append(texts_of(batch.column(0), self.files, done))
            done += codes.size
        if sum(own.nbytes for own in parts) > _MOST_TEXT_BYTES:
            return None
        return pyarrow.concat_arrays([own.cast("large_string") for own in parts])

    def _other_makers(self) -> dict[str, Callable[[float], Any]]:
        makers = {"pairs": remade(self._model("1se", True, ngram_range=(1, 2)))}
        for name, model in _MODELS.items():
            makers[name] = remade(self._model("1se", True, model=model))
        return makers

    def _other_rivals(self, plan: Plan, refits: Refits | None) -> list[str]:
        """Pairs of words, and the other model of counts; or note what was not tried."""
        other = "presence" if self.model == "multinomial" else "counts"
        tries_other = plan.tries_other and refits is not None
        if self.arguments.model == "auto" and plan.weighted and not tries_other:
            self.leaves_model = other
        self.tries_pairs = self._may_try_pairs(plan) and refits is not None
        if not plan.weighted:
            return []
        return ["pairs"] * self.tries_pairs + [other] * tries_other

    def _may_try_pairs(self, plan: Plan) -> bool:
        """Whether pairs of words are a rival: few texts, and nobody has said which."""
        words = self.arguments.analyzer == "word" and self.arguments.ngrams == (1, 1)
        return words and plan.weighted and plan.tries_pairs

    def _l1(self, counts: Any) -> Any:
        full = self._fit(self._model("all"), counts)
        texts, codes = [], []
        for part, own in self._parts("Reading"):
            texts += part.to_pylist()
            codes.append(own)
        steps = [("terms", to_vectorizer(full)), *l1_of_matrix().steps]
        return Pipeline(steps).fit(texts, self.labels.classes[np.concatenate(codes)])

    def _held_out(self) -> Batches:
        return iter(self._test) if self._test else super()._held_out()
