"""Weighted naive Bayes whose columns have averaged shapes, alone and in pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve._description import Description, Saved, TableShapes
from bayesieve._scorecard import LookupTerm, Term, axis_of
from bayesieve.naive_bayes._explained_terms import (
    ExplainedTerm,
    term_of_grid,
)
from bayesieve.naive_bayes._text_weighted import TextWeightedNB
from bayesieve.partition._averaged import Shape, class_shares
from bayesieve.partition._column import ColumnPartition
from bayesieve.partition._pairs import PairShape
from bayesieve.preprocessing._prepare import part_indexes
from bayesieve.preprocessing._table_input import TableRows
from bayesieve.weights._terms import PartTerms

__all__ = ["ShapedNB"]

_OF_SHAPES = {
    "_bins": Saved("partitions", optional=True),
    "evidence_": Saved("floats", "m", domain="finite", optional=True),
    "_probabilities": Saved("floats", "bins", "C", domain="counts", optional=True),
    "_deviations": Saved("floats", "bins", "C", domain="counts", optional=True),
    "pair_weights_": Saved("floats", "pairs", domain="counts", optional=True),
    "_pair_evidence": Saved("floats", "pairs", domain="finite", optional=True),
    "_pair_columns": Saved("integers", "pairs", 3, optional=True),
    "_pair_levels": Saved("integers", "pairs", 3, optional=True),
    "_pair_cells": Saved("integers", "cells of bins", optional=True),
    "_pair_counts": Saved("floats", "cells", "C", domain="counts", optional=True),
    "_pair_probabilities": Saved(
        "floats", "cells", "C", domain="counts", optional=True
    ),
    "_pair_deviations": Saved("floats", "cells", "C", domain="counts", optional=True),
}
_NONE = -1
#: Between the names of the columns of a pair.
PAIR_SIGN = " \u00d7 "


class ShapedNB(TextWeightedNB):
    """Base: prediction and files of models with averaged shapes.

    Owns ``shapes_``, ``evidence_``, ``pairs_`` and ``pair_weights_``; a model of best
    partitions has none of them. Scores are ``log P(C) + sum_k w_k log p_k(C | bin) /
    P(C) + sum_q w_q log p_q(C | cell) / P(C)``, over columns k and pairs q.
    """

    _saved: ClassVar[dict[str, Saved]] = _OF_SHAPES
    shapes_: list[Shape]
    pair_shapes_: list[PairShape]
    pair_weights_: np.ndarray

    # ------------------------------------------------------------------------ fitted

    def _set_shapes(
        self,
        shapes: list[Shape],
        pairs: Sequence[PairShape],
        pair_weights: np.ndarray,
    ) -> None:
        """Store the shapes of all columns, and the pairs that have a weight."""
        self.shapes_ = shapes
        self.evidence_ = np.array([own.evidence for own in shapes])
        used = np.flatnonzero(pair_weights)
        self.pair_shapes_ = [pairs[int(q)] for q in used]
        self.pair_weights_ = pair_weights[used]

    def _set_no_shapes(self) -> None:
        """Forget the shapes of an earlier fit."""
        for name in ("shapes_", "evidence_", "pair_shapes_", "pair_weights_"):
            self.__dict__.pop(name, None)

    @property
    def _is_shaped(self) -> bool:
        return hasattr(self, "shapes_")

    @property
    def pairs_(self) -> list[tuple[int, ...]]:
        """Numbers of the columns of each pair, or triple, that has a weight."""
        check_is_fitted(self, "weights_")
        if not self._is_shaped:
            return []
        return [own.columns for own in self.pair_shapes_]

    @property
    def support_(self) -> np.ndarray:
        """Boolean mask of the columns in a term with a weight."""
        used = super().support_
        for columns in self.pairs_:
            used[list(columns)] = True
        return used

    @property
    def support_indices_(self) -> np.ndarray:
        """Columns in a term with a weight, alone or in a pair."""
        return np.flatnonzero(self.support_).astype(np.int64)

    # -------------------------------------------------------------------- prediction

    def _cuts(self) -> list[ColumnPartition]:
        if self._is_shaped:
            return [own.bins for own in self.shapes_]
        return super()._cuts()

    def _counted_cuts(self) -> list[ColumnPartition]:
        return self._cuts() if self._is_shaped else super()._counted_cuts()

    def _shares(self) -> np.ndarray:
        """Class shares that the lifts of shapes are relative to."""
        return class_shares(self.class_count_)

    def _tables_of_terms(self) -> list[np.ndarray]:
        """Lifts of the columns with a weight, then of the pairs."""
        shares = self._shares()
        return [
            *self._used_tables,
            *(own.lifts(shares) for own in self.pair_shapes_),
        ]

    def _weights_of_terms(self) -> np.ndarray:
        """Weights of the columns that have one, then of the pairs."""
        return np.concatenate([self.weights_[self._used_columns()], self.pair_weights_])

    def _parts_of_terms(self, table: TableRows) -> np.ndarray:
        """Bin or cell of each row in the terms of `_tables_of_terms`."""
        mains = self._used_columns()
        needed = np.unique([*mains, *(j for own in self.pairs_ for j in own)])
        columns = needed.astype(np.int64)
        bins = part_indexes(
            self._cuts(), columns.tolist(), self._reader, table.numbers, table.levels
        )
        if not self.pair_shapes_:
            return bins
        place = {int(j): k for k, j in enumerate(columns)}
        parts = [bins[:, place[int(j)]] for j in mains]
        for own in self.pair_shapes_:
            parts.append(own.place([bins[:, place[j]] for j in own.columns]))
        return np.column_stack(parts)

    def _column_scores(self, table: TableRows) -> np.ndarray:
        if not self._is_shaped:
            return super()._column_scores(table)
        terms = PartTerms(
            self._parts_of_terms(table), self._tables_of_terms(), self.classes_.shape[0]
        )
        return np.asarray(terms.scores(self._weights_of_terms(), self._start_scores()))

    def _explained_terms(self, table: TableRows) -> list[ExplainedTerm]:
        found = super()._explained_terms(table)
        if not self._is_shaped:
            return found
        shares, names = self._shares(), self._column_names()
        for own, weight in zip(self.pair_shapes_, self.pair_weights_, strict=True):
            columns = list(own.columns)
            bins = part_indexes(
                self._cuts(), columns, self._reader, table.numbers, table.levels
            )
            cells = [of_bin[bins[:, k]] for k, of_bin in enumerate(own.cells)]
            mean, shared = term_of_grid(own, weight * own.lifts(shares), cells)
            name = _pair_name(names, columns)
            found.append(ExplainedTerm(name, own.columns, mean, shared))
        return found

    def _score_terms(self, places: Mapping[int, int]) -> list[Term]:
        found = super()._score_terms(places)
        if not self._is_shaped:
            return found
        cuts, shares = self._cuts(), self._shares()
        for own, weight in zip(self.pair_shapes_, self.pair_weights_, strict=True):
            axes = tuple(
                axis_of(cuts[j], places[j], cells)
                for j, cells in zip(own.columns, own.cells, strict=True)
            )
            table = weight * own.lifts(shares)
            grid = table[:-1].reshape(*own.shape, -1)
            found.append(LookupTerm(axes, grid, table[-1]))
        return found

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean size of what each column adds to the scores, in nats.

        How far, on average over training rows and classes, a term is from its own mean:
        without pairs the mean absolute Shapley value. The size of a pair is shared
        evenly between its columns; ``explain(X).by_column()`` shares it exactly. Of a
        text column, the sum over its n-grams of the mean of ``w_j x_j |log theta_cj|``,
        less what is common to the classes.
        """
        importances = super().feature_importances_
        if self._is_shaped:
            for own, size in zip(self.pair_shapes_, self._pair_sizes(), strict=True):
                importances[list(own.columns)] += size / len(own.columns)
        return importances

    def _pair_sizes(self) -> np.ndarray:
        """Mean size of the term of each pair in the scores, in nats."""
        shares = self._shares()
        return np.array(
            [
                self._term_size(own.lifts(shares), own.counts, weight)
                for own, weight in zip(
                    self.pair_shapes_, self.pair_weights_, strict=True
                )
            ]
        )

    # ------------------------------------------------------------------- description

    def _describe(self) -> Description:
        found = super()._describe()
        if not self._is_shaped:
            return found
        assert found.table is not None
        n_columns = self.n_features_in_
        n_terms = sum(own.weights.size for own in self._texts)
        shapes = TableShapes(
            self.shapes_,
            self.pair_shapes_,
            self.pair_weights_,
            self._pair_sizes(),
            n_columns + n_terms,
            self._shares(),
            self._ranges,
        )
        found = replace(found, table=replace(found.table, shapes=shapes))
        return self._with_pairs(found, shapes, n_terms) if self.pairs_ else found

    def _with_pairs(
        self, found: Description, shapes: TableShapes, n_terms: int
    ) -> Description:
        """A description whose last features are pairs, after columns and n-grams."""
        mains, n_pairs = self._used_columns(), len(shapes.pairs)
        columns = self._column_names()
        names = [*found.names_of(np.arange(shapes.first_pair))]
        names += [_pair_name(columns, own) for own in self.pairs_]
        ngrams = slice(found.total - n_terms, found.total)
        assert found.weights is not None
        of_terms = found.weights[0, ngrams]
        towards = None
        if found.towards is not None:
            alone = np.full(mains.size, None), np.full(n_pairs, None)
            towards = np.concatenate([alone[0], found.towards[ngrams], alone[1]])
        in_use = int(np.count_nonzero(self.support_ & ~self._reader.text))
        return replace(
            found,
            indices=np.concatenate(
                [mains, found.indices[ngrams], shapes.first_pair + np.arange(n_pairs)]
            ),
            score=np.concatenate(
                [
                    super().feature_importances_[mains],
                    found.score[ngrams],
                    shapes.pair_sizes,
                ]
            ),
            sentence=self._pairs_sentence(in_use, n_terms),
            named=lambda places: [names[j] for j in places.tolist()],
            weights=np.concatenate(
                [self.weights_[mains], of_terms, self.pair_weights_]
            )[None],
            towards=towards,
            total=mains.size + n_terms + n_pairs,
            n_used=in_use + n_terms,
        )

    def _pairs_sentence(self, in_use: int, n_terms: int) -> str:
        """How many columns, pairs and n-grams are used."""
        n_columns = self.n_features_in_ - len(self._texts)
        told = f"{in_use:,} of {n_columns:,} columns"
        pairs = f"alone or in {_pairs_told(self.pairs_)}"
        if not self._texts:
            rest = "; the others have no weight" if in_use < n_columns else ""
            return f"{told} used, {pairs}{rest}."
        n_distinct = sum(own.ngrams.n_distinct for own in self._texts)
        return f"{told}, {pairs}, and {n_terms:,} of {n_distinct:,} n-grams used."

    # ------------------------------------------------------------------------- files

    def _to_save(self) -> dict[str, Any]:
        found = super()._to_save()
        if not self._is_shaped:
            return found
        pairs = self.pair_shapes_
        empty = np.zeros((0, self.classes_.shape[0]))
        columns = np.full((len(pairs), 3), _NONE)
        levels = np.full((len(pairs), 3), _NONE)
        for q, own in enumerate(pairs):
            columns[q, : len(own.columns)] = own.columns
            levels[q, : len(own.columns)] = own.levels
        cells = [cells for own in pairs for cells in own.cells]
        return found | {
            "_bins": [own.bins for own in self.shapes_],
            "_probabilities": np.vstack([own.probabilities for own in self.shapes_]),
            "_deviations": np.vstack([own.deviations for own in self.shapes_]),
            "_pair_evidence": np.array([own.evidence for own in pairs]),
            "_pair_columns": columns,
            "_pair_levels": levels,
            "_pair_cells": np.concatenate([np.zeros(0, np.int64), *cells]),
            "_pair_counts": np.vstack([empty, *(own.counts for own in pairs)]),
            "_pair_probabilities": np.vstack(
                [empty, *(own.probabilities for own in pairs)]
            ),
            "_pair_deviations": np.vstack([empty, *(own.deviations for own in pairs)]),
        }

    def _restore(self, values: dict[str, Any]) -> None:
        given = {name: values.pop(name) for name in _OF_SHAPES if name in values}
        if not given:
            super()._restore(values)
            return
        if given.keys() != _OF_SHAPES.keys():
            raise ValueError("'_bins' lacks what belongs to it")
        found = given["_bins"]
        if [own.kind for own in found] != [own.kind for own in values["partitions_"]]:
            raise ValueError("'_bins' and 'partitions_' differ in what columns are")
        super()._restore(values | {"_cuts": found})
        bins = self._named_columns(found)
        sizes = [own.n_parts for own in bins]
        means = _split(given["_probabilities"], sizes, "_probabilities")
        deviations = _split(given["_deviations"], sizes, "_deviations")
        self.evidence_ = given["evidence_"]
        self.shapes_ = [
            Shape(*own)
            for own in zip(
                bins, means, deviations, self.evidence_.tolist(), strict=True
            )
        ]
        if any((own <= 0.0).any() for own in means):
            raise ValueError("'_probabilities' must be above zero")
        self.pair_weights_ = given["pair_weights_"]
        self.pair_shapes_ = _pairs_of_file(given, sizes)


def _pair_name(names: Sequence[str], columns: Sequence[int]) -> str:
    return PAIR_SIGN.join(names[j] for j in columns)


def _pairs_told(pairs: Sequence[tuple[int, ...]]) -> str:
    """How many pairs and triples there are."""
    told = []
    for size, word in ((2, "pair"), (3, "triple")):
        n = sum(len(own) == size for own in pairs)
        if n:
            told.append(f"{n:,} {word}{'' if n == 1 else 's'}")
    return " and ".join(told)


def _split(table: np.ndarray, sizes: Sequence[int], name: str) -> list[np.ndarray]:
    if sum(sizes) != table.shape[0]:
        raise ValueError(f"{name!r} does not fit its parts")
    return np.split(table, np.cumsum(sizes)[:-1]) if len(sizes) else []


def _pairs_of_file(given: dict[str, Any], n_bins: list[int]) -> list[PairShape]:
    """The pairs of a file, checked."""
    columns, levels = [], []
    for own, halvings in zip(
        given["_pair_columns"].tolist(), given["_pair_levels"].tolist(), strict=True
    ):
        there = [j for j in own if j != _NONE]
        height = halvings[: len(there)]
        if (
            len(there) < 2
            or own[: len(there)] != there
            or len(set(there)) != len(there)
            or not all(0 <= j < len(n_bins) for j in there)
            or not all(0 <= level <= 8 for level in height)
        ):
            raise ValueError("'_pair_columns' does not fit the columns")
        columns.append(tuple(there))
        levels.append(tuple(height))
    cell_sizes = [n_bins[j] for own in columns for j in own]
    cells = iter(_split(given["_pair_cells"], cell_sizes, "_pair_cells"))
    sizes = [(1 << sum(own)) + 1 for own in levels]
    tables = [
        _split(given[f"_pair_{name}"], sizes, f"_pair_{name}")
        for name in ("counts", "probabilities", "deviations")
    ]
    found = []
    for q, (own, height) in enumerate(zip(columns, levels, strict=True)):
        axes = tuple(next(cells) for _ in own)
        for axis, level in zip(axes, height, strict=True):
            if axis.size and not -1 <= axis.min() <= axis.max() < 1 << level:
                raise ValueError("'_pair_cells' names a cell that is not there")
        counts, means, deviations = (table[q] for table in tables)
        if (means <= 0.0).any():
            raise ValueError("'_pair_probabilities' must be above zero")
        evidence = float(given["_pair_evidence"][q])
        found.append(PairShape(own, axes, height, counts, means, deviations, evidence))
    return found
