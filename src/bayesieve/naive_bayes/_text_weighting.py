"""How a classifier of raw rows finds weights for its terms."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np

from bayesieve._description import gain_detail, weighted_detail, weighted_sentence
from bayesieve.counts import ClassCounts
from bayesieve.naive_bayes._base import SparseNaiveBayes
from bayesieve.naive_bayes._penalty_choice import (
    drop_choice,
    keep_choice,
    penalties_told,
)
from bayesieve.naive_bayes._selective_wide import information_penalty, term_sizes
from bayesieve.naive_bayes._text_weights import TermWeights
from bayesieve.solvers._selection import select_features
from bayesieve.utils._packed_names import PackedNames
from bayesieve.utils._progress import ProgressBar
from bayesieve.utils._warnings import warn_if_interrupted

__all__ = ["Batches", "WeighsTerms"]

#: Gives (raw rows, class codes), the same each time it is called.
Batches = Callable[[], Iterator[tuple[Any, np.ndarray]]]


class WeighsTerms(SparseNaiveBayes):
    """Terms and weights from counts and from the rows behind them."""

    @abstractmethod
    def _without_rare_terms(self, counts: ClassCounts) -> ClassCounts:
        """The terms that are considered."""

    @abstractmethod
    def _keep_terms(self, counts: ClassCounts) -> None:
        """Keep the selected terms."""

    @abstractmethod
    def _cutting(self) -> Any:
        """How raw rows are cut into terms, a dataclass of what JSON can say."""

    @abstractmethod
    def _new_matcher(self, names: Any, cutting: Any) -> Any:
        """What finds some terms in raw rows."""

    @abstractmethod
    def _matched(self, matcher: Any, rows: Any) -> Any:
        """Counts of the terms of a matcher in each row, a csr_array."""

    def _fit_weights(self, counts: ClassCounts, batches: Batches) -> Self:
        """Terms and weights from the counts and from the texts behind them."""
        name = type(self).__name__
        if self._rules():
            told = ", ".join(rule for rule in self._rules() if rule != "is_open")
            raise ValueError(
                f"The 'weights' parameter of {name} must be False beside rules: "
                f"weights keep to none. Got weights=True with {told}."
            )
        if self.k == "all" and self.regularization is None:
            raise ValueError(
                f"The 'k' parameter of {name} must be an int, a share, 'elbow', 'bic', "
                "'cv' or '1se' with weights=True. Got 'all'."
            )
        self._drop_counts()
        everything = counts
        counts = self._without_rare_terms(counts)
        with np.errstate(divide="ignore"):
            learnt = np.log(counts.class_count / counts.class_count.sum())
        terms = TermWeights(
            counts,
            lambda names: self._term_rows(names, batches),
            self.model,
            self.alpha,
            learnt,
            self.memory_budget,
            name,
        )
        found = terms.fit(**self._wanted_weights(terms))
        self.n_features_in_ = counts.n_features
        self.classes_ = counts.classes
        self.class_count_ = counts.class_count
        self.class_log_prior_ = self._log_prior(counts.class_count)
        self._start = found.intercept + self.class_log_prior_ - learnt
        self.support_indices_ = found.columns
        self.k_ = int(found.columns.size)
        self.certificate_ = found.certificate
        self.support_gains_ = term_sizes(found, counts)
        self.weights_ = found.weights
        self.lambda_, self.dual_gap_ = float(found.penalty), float(found.gap)
        self.path_, self._n_proven = found.path, found.n_proven
        absent = np.zeros_like(found.slope) if found.offset is None else found.offset
        self.feature_log_prob_ = np.ascontiguousarray((found.slope + absent).T)
        self._absent_log_prob = np.ascontiguousarray(absent.T)
        self._keep_terms(counts)
        if self.keep_counts:
            self.counts_, self._counted_with = everything, self._count_options()
        return self

    def _wanted_weights(self, terms: TermWeights) -> dict[str, Any]:
        """How many terms, or which penalty, as `TermWeights.fit` takes it."""
        drop_choice(self)
        if self.regularization is not None:
            return {"regularization": float(self.regularization), "share": 1.0}
        if self.k in ("cv", "1se"):
            rule = "1se" if self.k == "1se" else "best"
            bar = ProgressBar("Choosing the number of terms")
            bar.shown = bar.shown and bool(self.verbose)
            with bar:
                found = terms.choose(rule, penalties_told(bar))
            if found is None:
                few = information_penalty(float(terms.counts.class_count.sum()))
                return {"regularization": few, "share": 1.0}
            warn_if_interrupted(terms.owner, found.stopped)
            keep_choice(self, found.path)
            return {"regularization": found.penalty, "share": found.share}
        if self.k is None:
            raise ValueError(
                f"{terms.owner} with weights=True takes k or regularization, one of "
                "the two. Got None for both."
            )
        if isinstance(self.k, str):
            options = {"model": self.model, "alpha": self.alpha, "owner": terms.owner}
            selection = select_features(terms.counts, self.k, **options)
            return {"k": int(selection.solution.support.size)}
        if isinstance(self.k, Integral):
            return {"k": int(self.k)}
        return {"k": max(2, round(float(self.k) * terms.counts.n_features))}

    def _term_rows(
        self, names: PackedNames, batches: Batches
    ) -> Iterator[tuple[Any, np.ndarray]]:
        """Counts of some terms in each row, with the class codes."""
        matcher = self._new_matcher(names, self._cutting())
        for raw, codes in batches():
            rows = self._matched(matcher, raw)
            kept = np.flatnonzero(codes >= 0)
            if kept.size < codes.size:
                rows, codes = rows[kept], codes[kept]
            yield rows, codes

    def _weights_proof(self) -> dict[str, Any]:
        """What is proven of the weights: other terms than the candidates had no say."""
        proof, noun = self.certificate_, self._noun
        n_known = getattr(self, "_n_proven", None)
        if n_known is None:  # a file of version 0.1: of the screening
            return {
                "sentence": weighted_sentence(
                    self.dual_gap_, self.k_, int(proof.k), noun, everything=False
                ),
                "detail": gain_detail(proof, int(proof.k), noun),
            }
        sentence = weighted_sentence(
            self.dual_gap_, self.k_, n_known, noun, everything=False
        )
        return {
            "sentence": sentence,
            "detail": weighted_detail(proof, noun, everything=False),
            "is_weighted": True,
        }
