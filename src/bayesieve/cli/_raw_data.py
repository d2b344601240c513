"""Raw rows in files, texts or sequences: counted by class without a matrix."""

from __future__ import annotations

import argparse
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import vstack
from sklearn.base import clone

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
from bayesieve.cli._labelled_rows import Labels, fits_in_memory
from bayesieve.cli._plan import Plan
from bayesieve.cli._rules import rules_from

__all__ = ["MOST_TERMS", "Batches", "RawData", "remade"]

#: Above this many terms the comparison with all of them is left out.
MOST_TERMS = 3_000_000

Batches = Iterator[tuple[Any, NDArray[np.int64]]]


class RawData(ABC):
    """Labelled raw rows in files, as an estimator on `RawNaiveBayes` takes them.

    A subclass says how rows are read (`_parts`) and counted (`count`), and which
    estimator takes them (`_model`).
    """

    unit: str
    #: What rows are called.
    rows_noun: str
    interrupted = False
    #: Whether Ctrl-C may end the counting, so that the first rows make a model.
    stops_early: ClassVar[bool] = True
    #: The other model of counts, where nobody has said which and it was not tried.
    leaves_model: str | None = None

    def __init__(
        self,
        files: DataFiles,
        labels: Labels,
        codes: NDArray[np.int64],
        model: str,
        arguments: argparse.Namespace,
    ) -> None:
        self.files, self.labels, self.arguments = files, labels, arguments
        self.model, self._codes = model, codes
        share = getattr(arguments, "test_share", 0.0)
        self._is_test = held_out(codes, share, getattr(arguments, "seed", 0))

    # ------------------------------------------------------------------ what differs

    @abstractmethod
    def count(self, interrupt: Interrupt | None = None) -> Any:
        """Return the counts of the training rows."""

    @abstractmethod
    def _parts(self, title: str, test: bool = False) -> Batches:
        """Yield (rows, class numbers) of the rows held out, or of all others."""

    @abstractmethod
    def _model(self, k: Any, weights: bool = False, **options: Any) -> Any:
        """An estimator of so many terms."""

    @abstractmethod
    def _n_entries(self, counts: Any) -> float:
        """Pairs of a training row and a term in it: what every fit has to count."""

    @abstractmethod
    def _all_rows(self) -> Any:
        """All rows as an estimator takes them, None where they are too many."""

    @property
    def _settings(self) -> dict[str, Any]:
        """What prediction has to know about the files."""
        return {"label": self.labels.column}

    def _weighted_size(self, k: Any, counts: Any) -> Any:
        """The number of terms with weights, where their rows may be too many."""
        return k

    def _other_makers(self) -> dict[str, Callable[[float], Any]]:
        """Estimators that begin with the rows again, by their names as rivals."""
        return {}

    def _other_rivals(self, plan: Plan, refits: Refits | None) -> list[str]:
        """Those of them that are fitted."""
        return []

    def _l1(self, counts: Any) -> Any:
        """Logistic regression on the same terms, where other libraries have them."""
        raise NotImplementedError

    # ----------------------------------------------------------------------- fitting

    def fit(self, clock: Clock, *, saves: bool) -> Fitted:
        """Count, choose k if asked to, select and estimate."""
        arguments = self.arguments
        # Weights need every row twice, so there is no such model of the first rows.
        stops = saves and self.stops_early and not arguments.weights
        with Interrupt(stops) as interrupt:
            with clock.measure("counting"):
                counts = self.count(interrupt)
            stopped = interrupt.requested or self.interrupted
        if stopped and not counts.class_count.all():
            raise KeyboardInterrupt  # some class was not met: there is no model yet
        plan = Plan.of(
            arguments, self.model, self._n_entries(counts) * counts.n_classes
        )
        if stopped:
            size = default_size(counts.n_features)
            k = plan.k if not plan.weighted and plan.k is not None else size
            plan = Plan(False, k, compares=False)
        evaluates = self._is_test.any() and not stopped
        rules = self._rules(counts)
        cv, k = None, plan.k
        if plan.chooses_proven:
            with clock.measure("cross-validation"):
                cv = self._chosen(k, counts)
            k = cv.best if k == "cv" else cv.sparing
        elif k is None:
            k = default_size(counts.n_features)
        elif plan.weighted:
            k = self._weighted_size(k, counts)
        models = {"chosen": self._model(k, plan.weighted, **rules)}
        if plan.compares and evaluates:
            if counts.n_features <= MOST_TERMS:
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
            held_out_names=self._held_out_names() if evaluates else None,
            refits=refits,
            of_size=lambda k: self._fit(
                self._model(k, exact=False, **_allowed(rules)), counts
            ),
            cv=cv,
            interrupted=stopped,
            settings=self._settings,
        )

    def _rivals(
        self,
        plan: Plan,
        model: Any,
        models: dict[str, Any],
        counts: Any,
        refits: Refits | None,
    ) -> dict[str, Any]:
        """Fit the others of the plan, and those that begin with the rows again."""
        chosen = plan.weighted and plan.k == "1se" and hasattr(model, "lambda_best_")
        if refits is not None and chosen and model.lambda_best_ < model.lambda_:
            penalty = {"regularization": model.lambda_best_}
            models["more"] = self._model(None, True, **penalty)
        rivals: dict[str, Any] = {
            name: self._fit(own, counts)
            for name, own in models.items()
            if name != "chosen"
        }
        others = self._other_rivals(plan, refits)
        if refits is not None:
            train = np.flatnonzero(~self._is_test)
            rivals |= {name: refits.fit(name, train) for name in others}
        return rivals

    def _fit(self, model: Any, counts: Any) -> Any:
        """Fit counts, with the rows behind them where weights need them."""
        if not model.weights:
            return model.fit_counts(counts)
        model._validate_params()  # as fit_files does, which would count once more
        return model._fit_weights(
            model._of_model(counts), lambda: self._parts("Weighting")
        )

    def _refits(self, models: dict[str, Any]) -> Refits | None:
        """The rows in memory, and the models by the share of rows they will get."""
        rows = self._all_rows()
        if rows is None:
            return None
        makers = {name: remade(own) for name, own in models.items()}
        makers |= self._other_makers()
        return Refits(rows, self._codes, self.labels.classes, self._is_test, makers)

    def _held_out(self) -> Batches:
        return self._parts("Evaluating", test=True)

    def _held_out_names(self) -> list[str] | None:
        """What the rows that are held out are called, where they have names."""
        return None

    def _rules(self, counts: Any, numbered: bool = False) -> dict[str, Any]:
        return rules_from(
            *(self.arguments, counts.feature_names, counts.n_features),
            numbered=numbered,
        )

    def _chosen(self, k: str, counts: Any) -> CrossValidation:
        """Choose the number of terms by cross-validation on the training rows."""
        everything = self._fit(self._model("all"), counts)
        rules = self._rules(counts, numbered=True)
        counted, found = [], []
        n_bytes = 0
        for rows, codes in self._parts("Cross-validating"):
            counted.append(everything._selected_columns(rows))
            found.append(codes)
            n_bytes += counted[-1].data.nbytes + counted[-1].indices.nbytes
            if not fits_in_memory(n_bytes):
                raise CommandError(
                    f"-k {k} counts the {self.unit} of every {self.rows_noun[:-1]} in "
                    f"memory, and those of {self.files.name!r} take more than "
                    f"{n_bytes:,} bytes. Hint: --min-df leaves rare {self.unit} out, "
                    "and -k bic or -k elbow need no rows."
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


def remade(model: Any) -> Callable[[float], Any]:
    """A new model of the same kind; of a part of the rows with a penalty to match."""

    def make(share: float) -> Any:
        own = clone(model)
        if share < 1.0 and model.weights and isinstance(model.k, str):
            # What noise can gain by chance grows with the root of the rows.
            own.set_params(k=None, regularization=model.lambda_ * share**0.5)
        return own

    return make
