"""Texts in files: counted by class without a document-term matrix."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from bayesieve.cli._columns import Columns
from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._fit_matrix import cross_validated
from bayesieve.cli._fit_outcome import (
    Clock,
    CrossValidation,
    Fitted,
    Refits,
    default_size,
)
from bayesieve.cli._held_out import held_out
from bayesieve.cli._interrupts import Interrupt
from bayesieve.cli._labelled_rows import LabelledRows, fits_in_memory
from bayesieve.cli._options import search_seconds, text_parameters
from bayesieve.cli._plan import Plan, l1_of_matrix
from bayesieve.cli._reading_told import say_script
from bayesieve.cli._rules import rules_from
from bayesieve.counts import ClassCounts
from bayesieve.counts._selection import documents_with
from bayesieve.exceptions import UnspacedTextWarning
from bayesieve.feature_extraction import to_vectorizer
from bayesieve.naive_bayes import SparseTextNB

__all__ = ["TextData", "settle_analyzer", "texts_of"]

#: Texts that are fitted again in parts, in bytes.
_MOST_TEXT_BYTES = 200_000_000

#: Above this many terms the comparison with all of them is left out.
_MOST_TERMS = 3_000_000

#: What decides in each model of counts.
_MODELS = {"presence": "bernoulli", "counts": "multinomial"}

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


def settle_analyzer(
    arguments: argparse.Namespace, name: str, texts: Sequence[Any]
) -> None:
    """Cut texts as their script asks for, unless somebody has said how."""
    if arguments.analyzer is None:
        analyzer, ngrams = say_script(name, texts, arguments.ngrams)
        arguments.analyzer, arguments.ngrams = analyzer, arguments.ngrams or ngrams


class TextData:
    """Labelled texts in files, for a command with data, text and model arguments."""

    unit = "terms"

    def __init__(
        self,
        files: DataFiles,
        columns: Columns,
        rows: LabelledRows,
        arguments: argparse.Namespace,
        ignored: Mapping[str, str] | None = None,
    ) -> None:
        self.files, self.columns, self._rows = files, columns, rows
        #: Why columns beside the texts are left out, by their names.
        self.ignored = dict(ignored or {})
        self.arguments = arguments
        self.labels, self.interrupted = rows.labels, rows.interrupted
        settle_analyzer(arguments, columns.texts[0], rows.first.column(0).to_pylist())
        self.model = "multinomial" if arguments.model == "auto" else arguments.model
        if self.model not in ("multinomial", "bernoulli"):
            raise CommandError(
                f"texts take --model multinomial or bernoulli. Got {self.model!r}."
            )
        self.parameters = {
            "model": self.model,
            "alpha": arguments.alpha,
            "time_limit": search_seconds(arguments),
            **text_parameters(arguments),
        }
        share = getattr(arguments, "test_share", 0.0)
        self._test: list[tuple[Any, NDArray[np.int64]]] = []
        self._is_test = held_out(rows.codes, share, getattr(arguments, "seed", 0))

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

    # ------------------------------------------------------------------- fitting

    def fit(self, clock: Clock, *, saves: bool) -> Fitted:
        """Count, choose k if asked to, select and estimate."""
        arguments = self.arguments
        # Weights need every row twice, so there is no such model of the first rows.
        with Interrupt(saves and not arguments.weights) as interrupt:
            with clock.measure("counting"):
                counts = self.count(interrupt)
            stopped = interrupt.requested or self.interrupted
        if stopped and not counts.class_count.all():
            raise KeyboardInterrupt  # some class was not met: there is no model yet
        documents = documents_with(counts)
        assert documents is not None
        plan = Plan.of(arguments, self.model, documents.sum() * counts.n_classes)
        self.tries_pairs = False
        #: The other model of counts, where nobody has said which and it was not tried.
        self.leaves_model: str | None = None
        if stopped:
            size = default_size(counts.n_features)
            k = plan.k if not plan.weighted and plan.k is not None else size
            plan = Plan(False, k, compares=False)
        evaluates = self._is_test.any() and not stopped
        rules = self._rules(counts)
        cv, k = None, plan.k
        if plan.chooses_proven:
            full = self._fit(self._model("all"), counts)
            with clock.measure("cross-validation"):
                cv = self._chosen(k, full, self._rules(counts, numbered=True))
            k = cv.best if k == "cv" else cv.sparing
        elif k is None:
            k = default_size(counts.n_features)
        models = {"chosen": self._model(k, plan.weighted, **rules)}
        if plan.compares and evaluates:
            if counts.n_features <= _MOST_TERMS:
                models["all"] = self._model("all", **_allowed(rules))
            if plan.weighted:
                models["proven"] = self._model(default_size(counts.n_features))
            elif plan.rival_weights:
                models["weighted"] = self._model("1se", True)
        with clock.measure("selection"):
            model = self._fit(models["chosen"], counts)
        refits = self._refits(models) if plan.refits and evaluates else None
        with warnings.catch_warnings(), clock.measure("comparison"):
            warnings.simplefilter("ignore")
            rivals = self._rivals(plan, model, models, counts, refits)
            if plan.l1 and evaluates:
                rivals["l1"] = self._l1(counts)
        return Fitted(
            model,
            self.unit,
            model.n_features_in_,
            int(counts.class_count.sum()),
            counts=counts,
            rivals=rivals,
            held_out=self._held_out if evaluates else None,
            refits=refits,
            of_size=lambda k: self._fit(
                self._model(k, exact=False, **_allowed(rules)), counts
            ),
            cv=cv,
            interrupted=stopped,
            settings={"text": self.columns.texts[0], "label": self.labels.column},
        )

    def _rivals(
        self,
        plan: Plan,
        model: SparseTextNB,
        models: dict[str, SparseTextNB],
        counts: Any,
        refits: Refits | None,
    ) -> dict[str, Any]:
        """Fit the others of the plan, and those that begin with the texts again."""
        chosen = plan.weighted and plan.k == "1se" and hasattr(model, "lambda_best_")
        if refits is not None and chosen and model.lambda_best_ < model.lambda_:
            penalty = {"regularization": model.lambda_best_}
            models["more"] = self._model(None, True, **penalty)
        rivals: dict[str, Any] = {
            name: self._fit(own, counts)
            for name, own in models.items()
            if name != "chosen"
        }
        other = "presence" if self.model == "multinomial" else "counts"
        tries_other = plan.tries_other and refits is not None
        if self.arguments.model == "auto" and plan.weighted and not tries_other:
            self.leaves_model = other
        self.tries_pairs = self._may_try_pairs(plan) and refits is not None
        if refits is not None and plan.weighted:
            train = np.flatnonzero(~self._is_test)
            if self.tries_pairs:
                rivals["pairs"] = refits.fit("pairs", train)
            if tries_other:
                rivals[other] = refits.fit(other, train)
        return rivals

    def _model(self, k: Any, weights: bool = False, **options: Any) -> SparseTextNB:
        return SparseTextNB(k, weights=weights, **(self.parameters | options))

    def _fit(self, model: SparseTextNB, counts: Any) -> SparseTextNB:
        """Fit counts, with the texts behind them where weights need them."""
        if not model.weights:
            return model.fit_counts(counts)
        model._validate_params()  # as fit_files does, which would count once more
        return model._fit_weights(
            model._of_model(counts), lambda: self._parts("Weighting")
        )

    def _refits(self, models: dict[str, SparseTextNB]) -> Refits | None:
        """The texts in memory, and the models by the share of rows they will get."""
        if not self._rows.is_held:
            return None
        import pyarrow

        parts, done = [], 0
        for codes, batch in self._rows.batches("Reading"):
            parts.append(texts_of(batch.column(0), self.files, done))
            done += codes.size
        if sum(own.nbytes for own in parts) > _MOST_TEXT_BYTES:
            return None
        texts = pyarrow.concat_arrays([own.cast("large_string") for own in parts])
        makers = {name: _remade(own) for name, own in models.items()}
        makers["pairs"] = _remade(self._model("1se", True, ngram_range=(1, 2)))
        for name, model in _MODELS.items():
            makers[name] = _remade(self._model("1se", True, model=model))
        classes = self.labels.classes
        return Refits(texts, self._rows.codes, classes, self._is_test, makers)

    def _may_try_pairs(self, plan: Plan) -> bool:
        """Whether pairs of words are a rival: few texts, and nobody has said which."""
        words = self.arguments.analyzer == "word" and self.arguments.ngrams == (1, 1)
        return words and plan.weighted and plan.tries_pairs

    def _l1(self, counts: Any) -> Any:
        """Logistic regression on the same terms."""
        full = self._fit(self._model("all"), counts)
        texts, codes = [], []
        for part, own in self._parts("Reading"):
            texts += part.to_pylist()
            codes.append(own)
        steps = [("terms", to_vectorizer(full)), *l1_of_matrix().steps]
        return Pipeline(steps).fit(texts, self.labels.classes[np.concatenate(codes)])

    def _held_out(self) -> Batches:
        return iter(self._test) if self._test else self._parts("Evaluating", test=True)

    def _rules(self, counts: Any, numbered: bool = False) -> dict[str, Any]:
        return rules_from(
            *(self.arguments, counts.feature_names, counts.n_features),
            numbered=numbered,
        )

    def _chosen(
        self, k: str, everything: Any, rules: dict[str, Any]
    ) -> CrossValidation:
        """Choose the number of terms by cross-validation on the training rows."""
        counted, found = [], []
        n_bytes = 0
        for texts, codes in self._parts("Cross-validating"):
            counted.append(everything._selected_columns(texts))
            found.append(codes)
            n_bytes += counted[-1].data.nbytes + counted[-1].indices.nbytes
            if not fits_in_memory(n_bytes):
                raise CommandError(
                    f"-k {k} counts the terms of every text in memory, and those of "
                    f"{self.files.name!r} take more than {n_bytes:,} bytes. Hint: "
                    "--min-df leaves rare terms out, and -k bic or -k elbow need no "
                    "rows."
                )
        X, y = vstack(counted), self.labels.classes[np.concatenate(found)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found_k = cross_validated(
                *(X.tocsr(), y, k, self.model, self.arguments, rules)
            )
            return found_k[1]


def _allowed(rules: dict[str, Any]) -> dict[str, Any]:
    """What a rival without a number of terms keeps of the rules: terms left out."""
    return {name: own for name, own in rules.items() if name == "exclude"}


def _remade(model: SparseTextNB) -> Callable[[float], Any]:
    """A new model of the same kind; of a part of the rows with a penalty to match."""

    def make(share: float) -> Any:
        own = clone(model)
        if share < 1.0 and model.weights and isinstance(model.k, str):
            # What noise can gain by chance grows with the root of the rows.
            own.set_params(k=None, regularization=model.lambda_ * share**0.5)
        return own

    return make
