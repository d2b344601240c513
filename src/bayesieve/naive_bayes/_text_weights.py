"""Weights of terms: candidates by counts, then rows of these terms alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.counts import ClassCounts
from bayesieve.counts._table import count_matrix
from bayesieve.model_selection._splits import prediction_splits
from bayesieve.model_selection._weight_choice import WeightChoice, choose_penalty
from bayesieve.text._term_names import TermNames
from bayesieve.utils._packed_names import PackedNames
from bayesieve.weights._result import Progress
from bayesieve.weights._wide_chunks import fit_chunks
from bayesieve.weights._wide_solver import CountedRows, WideFit, WideSettings

__all__ = ["TermRows", "TermWeights"]

#: Given the names of terms, an iterator over (rows, class codes), as often as asked.
TermRows = Callable[[PackedNames], Iterator[tuple[Any, np.ndarray]]]


_BYTES_PER_ENTRY = 24  # of rows of all terms: themselves, and the parts of the folds
_LEAST_TEXTS = 2_000  # whatever the memory: fewer would choose by chance
_MOST_BYTES = 2**31  # for these rows, unless the user has said how many


@dataclass(frozen=True, eq=False)
class TermWeights:
    """Texts as counts and as rows, ready for weights.

    Attributes
    ----------
    counts : ClassCounts
        Of all terms, named.
    rows_of : callable
        See `TermRows`.
    model : {"multinomial", "bernoulli"}
    alpha : float or ndarray
    log_prior : ndarray of shape (n_classes,)
        Shares of the classes.
    memory : int or None
        Bytes for rows.
    owner : str
        For messages.
    """

    counts: ClassCounts
    rows_of: TermRows
    model: str
    alpha: Any
    log_prior: np.ndarray
    memory: int | None
    owner: str

    def __post_init__(self) -> None:
        if np.min(self.alpha) <= 0:
            raise ValueError(
                f"The 'alpha' parameter of {self.owner} must be above 0 with "
                f"weights=True. Got {self.alpha!r}."
            )

    def _settings(self, **wanted: Any) -> WideSettings:
        alpha = np.asarray(self.alpha, dtype=np.float64)
        return WideSettings(
            self.model, self.log_prior, self.owner, alpha=alpha, **wanted
        )

    def fit(self, **wanted: Any) -> WideFit:
        """Weights as `SelectiveMultinomialNB` finds them, for `k` or a penalty."""
        settings = self._settings(**wanted)
        candidates = settings.screened(self.counts)
        names = _packed_names(self.counts, candidates.columns)

        def chunks() -> Iterator[tuple[Any, np.ndarray, None]]:
            for rows, codes in self.rows_of(names):
                yield rows, codes, None

        found = fit_chunks(
            candidates,
            chunks,
            settings,
            n_features=self.counts.n_features,
            class_weight=self.counts.class_count,
            memory_budget=self.memory,
            progress=Progress(),
        )
        found.warn(self.owner)
        return found

    def choose(
        self, rule: str, tell: Callable[[int, int], None] | None = None
    ) -> WeightChoice | None:
        """The penalty by held-out texts, of all terms; None where there are too few.

        Beyond the memory a random part of the texts chooses.
        """
        X, codes, share = self._some_rows()
        splits = prediction_splits(codes, X.nnz)
        if not splits:
            return None
        kind: dict[str, Any] = {
            "kind": "count" if self.model == "multinomial" else "binary"
        }
        counts = count_matrix(X, codes, self.counts.classes, None, **kind)
        rows = CountedRows(X, codes, None, counts)
        found = choose_penalty(
            rows, self._settings(share=1.0), splits, kind, (1.0,), rule=rule, tell=tell
        )
        # What noise can gain by chance grows with the root of the rows.
        return found.scaled(share**-0.5)

    def _some_rows(self) -> tuple[Any, np.ndarray, float]:
        """Rows of all terms, their classes, and the share of all rows they are."""
        names = _packed_names(self.counts, slice(None))
        most = (self.memory or _MOST_BYTES) / _BYTES_PER_ENTRY
        generator, chance, kept = np.random.default_rng(0), 1.0, []
        n_entries = n_rows = 0

        def thinned(part: tuple[Any, np.ndarray], chance: float) -> tuple[Any, Any]:
            rows, codes = part
            own = np.flatnonzero(generator.random(codes.size) < chance)
            return rows[own], codes[own]

        for rows, codes in self.rows_of(names):
            n_rows += codes.size
            part = rows, codes
            kept.append(part if chance == 1.0 else thinned(part, chance))
            n_entries += kept[-1][0].nnz
            while n_entries > most and n_rows * chance > _LEAST_TEXTS:
                chance *= 0.5
                kept = [thinned(own, 0.5) for own in kept]
                n_entries = sum(rows.nnz for rows, _ in kept)
        blocks, found = zip(*kept, strict=True)
        every = np.concatenate(found)
        return sparse.vstack(blocks, format="csr"), every, every.size / max(n_rows, 1)


def _packed_names(counts: ClassCounts, columns: Any) -> PackedNames:
    assert counts.feature_names is not None
    names = counts.feature_names[columns]
    return names if isinstance(names, PackedNames) else TermNames.from_strings(names)
