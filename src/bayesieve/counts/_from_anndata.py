"""`ClassCounts.from_anndata`: from cells by genes to class counts."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from scipy import sparse

from bayesieve.counts import _kernels as kernels
from bayesieve.counts._layout import is_dense_layout, laid_out
from bayesieve.counts._matrix import CountRule, canonical
from bayesieve.counts._strata import StratifiedCounts
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._cells import CellSource
from bayesieve.utils._arrays import Array
from bayesieve.utils._resources import (
    check_memory_budget,
    limited_threads,
    thread_count,
)
from bayesieve.utils._validation import check_name, encode_labels

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts

__all__ = ["count_anndata"]

#: Bytes of a matrix on disk that are in memory at a time, in two halves. More is
#: slower: what was read is then out of the processor's cache when it is counted.
_BLOCK_BYTES = 32 << 20


def count_anndata(
    cls: type[ClassCounts],
    source: Any,
    label: str,
    *,
    layer: str | None,
    use_raw: bool,
    batch: str | None,
    kind: str | None,
    binary: bool,
    classes: Any,
    check_counts: bool,
    on_bad_rows: str,
    memory_budget: int | None,
    n_jobs: int | None,
) -> ClassCounts | StratifiedCounts:
    """Count the cells; see `ClassCounts.from_anndata`."""
    rule = CountRule.checked(kind, binary)
    if rule.kind not in ("count", "binary"):
        raise ValueError(
            f"from_anndata counts molecules or cells: the 'kind' parameter must be "
            f"'count' or 'binary'. Got {kind!r}."
        )
    if on_bad_rows not in ("error", "skip"):
        raise ValueError(
            f"The 'on_bad_rows' parameter must be 'error' or 'skip'. Got "
            f"{on_bad_rows!r}."
        )
    check_memory_budget(memory_budget)
    check_name(label, "label", "from_anndata", "a column of obs")
    check_name(batch, "batch", "from_anndata", "a column of obs", optional=True)
    check_name(layer, "layer", "from_anndata", "a layer", optional=True)
    bad_cells = BadRows(on_bad_rows == "skip")
    n_threads = thread_count(n_jobs)
    with CellSource(source, layer, use_raw) as cells:
        _refuse_equal_names(cells)
        found, codes = _labels(cells, label, classes, bad_cells)
        strata = None
        if batch is not None:
            strata, batches = _labels(cells, batch, None, bad_cells)
            there = (codes >= 0) & (batches >= 0)
            codes = np.where(there, batches * found.size + codes, -1)
        bad_cells.warn()
        if not (codes >= 0).any():
            raise ValueError("There must be at least one cell to count. Got none.")
        n_groups = found.size * (1 if strata is None else strata.size)
        sums = _GroupSums(cells, codes, n_groups, rule, check_counts)
        with limited_threads(n_jobs):
            for part in cells.parts(memory_budget or _BLOCK_BYTES, n_threads):
                sums.add(*part)
        table, rows = sums.table(), sums.rows
        names = cells.gene_names
    if strata is None:
        return cls._of(
            found, rows, rule.kind, feature_count=laid_out(table), feature_names=names
        )
    pieces = {}
    for s, stratum in enumerate(strata.tolist()):
        own = slice(s * found.size, (s + 1) * found.size)
        pieces[stratum] = cls._of(
            found,
            rows[own],
            rule.kind,
            feature_count=laid_out(table[own]),
            feature_names=names,
        )
    return StratifiedCounts(pieces)


def _refuse_equal_names(cells: CellSource) -> None:
    times = Counter(map(str, cells.gene_names.tolist()))
    if len(times) == cells.gene_names.size:
        return
    twice = min(name for name, number in times.items() if number > 1)
    raise ValueError(
        f"Names of genes must be distinct. Got {twice!r} {times[twice]} times, and "
        f"{cells.gene_names.size - len(times)} repeated names in all. Hint: "
        "adata.var_names_make_unique()."
    )


def _labels(
    cells: CellSource, name: str, classes: Any, bad_cells: BadRows
) -> tuple[Array, Array]:
    """Sorted labels of a column, and the code of each cell, -1 where it has none."""
    labels, places = cells.column(name)
    missing = places < 0
    number = int(np.count_nonzero(missing))
    if number:
        cell = cells.cell(int(np.argmax(missing)))
        bad_cells.found(
            number,
            f"{number:,} of {places.size:,} cells have no {name!r}; the first is "
            f"{cell}.",
        )
    found, codes = encode_labels(labels, classes)
    return found, np.append(codes, -1)[places]


class _GroupSums:
    """Sums of a matrix over groups of cells, which come in parts.

    A table of up to 800 MB is added to in place; a larger one is kept sparse. Cells of
    code -1 go to a group of their own at the end.
    """

    def __init__(
        self,
        cells: CellSource,
        codes: Array,
        n_groups: int,
        rule: CountRule,
        check_counts: bool,
    ) -> None:
        self._cells, self._n_groups, self._rule = cells, n_groups, rule
        left_out = codes < 0
        self.rows = np.bincount(codes[~left_out], minlength=n_groups).astype(np.float64)
        self._codes = np.where(left_out, n_groups, codes)
        self._height = n_groups + int(left_out.any())
        width = cells.shape[1]
        self._dense = is_dense_layout(self._height, width)
        # What is no count must not get as far as the sums: the check of category codes,
        # integers >= 0, is that of counts. Presence needs no whole numbers.
        self._check = kernels.NON_NEGATIVE
        if rule.kind == "count" and check_counts:
            self._check = kernels.CATEGORY
        self._table: Any = np.zeros((self._height, width)) if self._dense else None
        self._strips: list[Any] = []  # blocks of columns, where the table is sparse

    def add(self, rows: tuple[int, int], columns: tuple[int, int], X: Any) -> None:
        """Add some rows, or some columns."""
        codes = np.ascontiguousarray(self._codes[slice(*rows)])
        check = self._check
        if self._rule.kind == "binary":
            self._refuse_negative(X, rows, columns)
            check, X = kernels.PRESENCE, canonical(X)
        if not self._dense:
            position = self._add_sparse(codes, columns, X, check)
        elif columns == (0, self._cells.shape[1]):
            position = kernels.class_sums(X, codes, None, self._table, check)
        else:
            out = np.zeros((self._height, columns[1] - columns[0]))
            position = kernels.class_sums(X, codes, None, out, check)
            self._table[:, slice(*columns)] = out
        if position is not None:
            self._refuse(X, position, rows, columns)

    def _add_sparse(
        self, codes: Array, columns: tuple[int, int], X: Any, check: int
    ) -> int | None:
        make = (
            kernels.sparse_class_sums
            if sparse.issparse(X)
            else kernels.dense_class_sums_as_sparse
        )
        part, position = make(X, codes, None, self._height, check)
        if position is not None:
            return position
        if columns != (0, self._cells.shape[1]):
            self._strips.append(part)
        else:
            self._table = part if self._table is None else self._table + part
        return None

    def table(self) -> Any:
        """The sums, without those of cells that were left out."""
        if not self._dense:
            strips = self._strips or [self._table]
            self._table = sparse.hstack(strips, format="csr")
        return self._table[: self._n_groups]

    # ----------------------------------------------------------------- what is no count

    def _refuse_negative(self, X: Any, *where: tuple[int, int]) -> None:
        """Scaled values are negative where a gene is low: no sign of presence."""
        values = X.data if sparse.issparse(X) else X
        if values.dtype.kind in "bu" or not values.size or not values.min() < 0:
            return
        self._refuse(X, int(np.argmax(values < 0)), *where)

    def _refuse(
        self,
        X: Any,
        position: int,
        rows: tuple[int, int],
        columns: tuple[int, int],
    ) -> NoReturn:
        row, column, value = kernels.locate(X, position)
        cells = self._cells
        place = rows[0] + row
        gene = str(cells.gene_names[columns[0] + column])
        if value != value:
            what = "holds missing values"
        elif value < 0 or self._rule.kind == "binary":
            what = "looks scaled"
        elif value in (np.inf, -np.inf):
            what = "holds infinite values"
        elif value != np.floor(value):
            what = "looks normalised"
        else:
            what = "holds values beyond 2**31"
        needs = (
            "presence needs values >= 0"
            if self._rule.kind == "binary"
            else "class counts need raw counts, whole numbers >= 0"
        )
        others = cells.matrices_told()
        told = f"{others} " if others else ""
        estimated = (
            "; check_counts=False takes estimated counts, which are fractions"
            if what == "looks normalised"
            else ""
        )
        raise ValueError(
            f"Value {value!r} found in gene {gene!r}, {cells.cell(place)} of "
            f"{cells.place}; {needs}, and this matrix {what}. {told}Hint: name the "
            f"matrix of raw counts by layer=... or use_raw=True{estimated}."
        )
