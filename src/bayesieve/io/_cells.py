"""Cells by genes: the matrices and columns of an AnnData object or an .h5ad file.

Of a file only what is asked for is read, a block of rows at a time; a matrix stored by
columns is read a block of columns at a time, as its bytes lie.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
from scipy import sparse

from bayesieve.io._h5_arrays import ArrayReader, Block, filled_ahead
from bayesieve.utils._arrays import Array, coded_values, holds_objects
from bayesieve.utils._optional import optional_module
from bayesieve.utils._validation import as_matrix, native_values

__all__ = ["CellSource", "Part"]

_PURPOSE = "Reading .h5ad"

#: Some rows or columns of a matrix: ((first, last), (first, last), values).
Part = tuple[tuple[int, int], tuple[int, int], Any]


class CellSource:
    """An AnnData object or an .h5ad file, and one of its matrices.

    Parameters
    ----------
    source : AnnData or path-like
        An object may be backed by a file.
    layer : str or None
        The matrix, None for X.
    use_raw : bool
        Whether to take X and the genes of ``raw``.
    """

    def __init__(self, source: Any, layer: str | None, use_raw: bool) -> None:
        if layer is not None and use_raw:
            raise ValueError(
                f"layer={layer!r} and use_raw=True name two matrices. Give one of them."
            )
        self._open = ExitStack()
        try:
            if isinstance(source, (str, os.PathLike)):
                self._root: Any = _FileRoot(os.fspath(source), self._open)
            elif _is_anndata(source):
                self._root = _ObjectRoot(source)
            else:
                raise TypeError(
                    "from_anndata needs an AnnData object or the path of an .h5ad "
                    f"file. Got {type(source).__name__}."
                )
            self._choose(layer, use_raw)
        except BaseException:
            self.close()
            raise

    def _choose(self, layer: str | None, use_raw: bool) -> None:
        root, self._layer, self._use_raw = self._root, layer, use_raw
        if use_raw:
            self.place = "raw.X"
        else:
            self.place = "X" if layer is None else f"layers[{layer!r}]"
        found = root.raw() if use_raw else root.layer(layer)
        if found is None:
            raise ValueError(
                f"{root.told} has no {self.place}. {self.matrices_told()}".rstrip()
            )
        self.gene_names = np.asarray(root.gene_names(use_raw), dtype=object)
        self._matrix = _matrix_of(found, self.place, self._open)
        self.shape = (root.n_cells, self.gene_names.size)
        if tuple(self._matrix.shape) != self.shape:
            raise ValueError(
                f"{self.place} of {root.told} must have one row per cell and one "
                f"column per gene, {self.shape}. Got {tuple(self._matrix.shape)}."
            )

    def __enter__(self) -> CellSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, if this object opened it."""
        self._open.close()

    def matrices_told(self) -> str:
        """Say which other matrices there are, or nothing."""
        options: dict[str | None, str] = {}
        if self._root.layer(None) is not None:
            options[None] = "layer=None (X)"
        options |= {name: f"layer={name!r}" for name in self._root.layers()}
        if not self._use_raw:
            options.pop(self._layer, None)
        others = list(options.values())
        if self._root.has_raw and not self._use_raw:
            others.append("use_raw=True")
        return f"Other matrices here: {', '.join(others)}." if others else ""

    def column(self, name: str) -> tuple[Array, Array]:
        """Return the labels that a column of obs has, and the code of each cell.

        Labels without cells are not among them; a cell without one has the code -1.
        """
        return _coded(self._root.column(name))

    def cell(self, row: int) -> str:
        """Name a cell for an error message."""
        return f"cell {str(self._root.cell_name(row))!r} (row {row})"

    def parts(self, memory_budget: int, n_threads: int) -> Iterator[Part]:
        """Yield the matrix in blocks of rows or of columns, each entry once.

        The arrays of a block are written to again once the next one is asked for.
        """
        yield from self._matrix.parts(memory_budget, n_threads)


# --------------------------------------------------------------------------- the source


def _is_anndata(source: Any) -> bool:
    """Whether an object is an AnnData, without importing it."""
    return any(
        kind.__name__ == "AnnData" and kind.__module__.partition(".")[0] == "anndata"
        for kind in type(source).__mro__
    )


class _ObjectRoot:
    """An AnnData object."""

    def __init__(self, adata: Any) -> None:
        self._adata = adata
        self.n_cells = int(adata.n_obs)
        self.told = "The AnnData object"
        self.has_raw = adata.raw is not None

    def layers(self) -> list[str]:
        return [str(name) for name in self._adata.layers]

    def layer(self, name: str | None) -> Any:
        if name is None:
            return self._adata.X
        return self._adata.layers.get(name)

    def raw(self) -> Any:
        return self._adata.raw.X if self.has_raw else None

    def gene_names(self, use_raw: bool) -> Any:
        return self._adata.raw.var_names if use_raw else self._adata.var_names

    def column(self, name: str) -> Any:
        if name not in self._adata.obs:
            raise _unknown_column(self.told, name, list(self._adata.obs.columns))
        return self._adata.obs[name]

    def cell_name(self, row: int) -> Any:
        return self._adata.obs_names[row]


class _FileRoot:
    """An .h5ad file, of which only what is asked for is read."""

    def __init__(self, path: str, opened: ExitStack) -> None:
        h5py = optional_module("h5py", purpose=_PURPOSE, extra="anndata")
        io = optional_module("anndata.io", purpose=_PURPOSE, extra="anndata")
        self._read_elem: Any = io.read_elem
        self.told = repr(path)
        if not os.path.isfile(path):
            hint = " Hint: anndata.read_zarr(...) and pass the object."
            raise ValueError(
                f"{path!r} is not an .h5ad file: there is no such file."
                + (hint if path.rstrip("/").endswith(".zarr") else "")
            )
        try:
            self._file = opened.enter_context(h5py.File(path, "r"))
        except OSError as error:
            raise ValueError(f"{path!r} is not an .h5ad file: {error}.") from error
        for name in ("obs", "var"):
            if not isinstance(self._file.get(name), h5py.Group):
                raise ValueError(
                    f"{path!r} is not an .h5ad file with the group {name!r}. Hint: a "
                    "file of old anndata is renewed by read_h5ad(...) and write_h5ad."
                )
        self.has_raw = self._member("raw/X") is not None
        self.n_cells = int(_index_of(self._file["obs"]).shape[0])

    def _member(self, name: str) -> Any:
        """What a name holds; None where there is nothing, or a None was written."""
        found: Any = self._file
        for part in name.split("/"):
            found = found.get(part) if hasattr(found, "keys") else None
        return None if getattr(found, "shape", ()) is None else found

    def layers(self) -> list[str]:
        return list(self._member("layers") or ())

    def layer(self, name: str | None) -> Any:
        if name is None:
            return self._member("X")
        return self._file["layers"][name] if name in self.layers() else None

    def raw(self) -> Any:
        return self._member("raw/X")

    def gene_names(self, use_raw: bool) -> Any:
        return self._read(_index_of(self._file["raw/var" if use_raw else "var"]))

    def column(self, name: str) -> Any:
        obs = self._file["obs"]
        index = obs.attrs.get("_index", "_index")
        names = [key for key in obs if key not in (index, "__categories")]
        if name not in names:
            raise _unknown_column(self.told, name, names)
        column = obs[name]
        values = self._read(column)
        categories = column.attrs.get("categories")
        if categories is None:
            return values
        # As anndata wrote them before 0.8: codes here, categories in their own group.
        pandas = optional_module("pandas", purpose=_PURPOSE, extra="anndata")
        return pandas.Categorical.from_codes(values, self._read(obs[categories]))

    def _read(self, element: Any) -> Any:
        if "encoding-type" in element.attrs or hasattr(element, "keys"):
            return self._read_elem(element)
        # Before 0.8 arrays said nothing of themselves, and anndata warns of them.
        return element.asstr()[:] if element.dtype.kind == "O" else element[:]

    def cell_name(self, row: int) -> Any:
        name = _index_of(self._file["obs"])[row]
        return name.decode() if isinstance(name, bytes) else name


def _index_of(frame: Any) -> Any:
    """The names of the rows of a table of an .h5ad file."""
    name = frame.attrs.get("_index", "_index")
    if name not in frame:
        raise ValueError(
            f"{frame.file.filename!r} is damaged: {frame.name!r} has no index {name!r}."
        )
    return frame[name]


def _unknown_column(told: str, name: str, names: list[str]) -> ValueError:
    shown = ", ".join(repr(str(one)) for one in names[:20])
    more = f", and {len(names) - 20} more" if len(names) > 20 else ""
    return ValueError(
        f"obs of {told} has no column {name!r}. It has {shown or 'none'}{more}."
    )


def _coded(values: Any) -> tuple[Array, Array]:
    """Labels that occur, and the place of each value among them, -1 for none."""
    pandas = optional_module("pandas", purpose=_PURPOSE, extra="anndata")
    column = values if isinstance(values, pandas.Series) else pandas.Series(values)
    if isinstance(column.dtype, pandas.CategoricalDtype):
        codes, labels = column.cat.codes.to_numpy(), column.cat.categories
    elif holds_objects(column.dtype):
        codes, distinct = coded_values(column.tolist())
        labels = pandas.Index(distinct, dtype=object)
        codes[labels.isna()[codes]] = -1
    else:
        codes, labels = pandas.factorize(column, use_na_sentinel=True)
    codes = np.asarray(codes, dtype=np.int64)
    used = np.bincount(codes[codes >= 0], minlength=len(labels)) > 0
    place = np.full(len(labels) + 1, -1, dtype=np.int64)  # the last is that of code -1
    place[:-1][used] = np.arange(int(used.sum()))
    found = labels[used]
    plain = pandas.api.types.is_numeric_dtype(found.dtype)
    kind = None if plain and not hasattr(found.dtype, "na_value") else object
    return np.asarray(found, dtype=kind), place[codes]


# --------------------------------------------------------------------------- the matrix


def _matrix_of(found: Any, place: str, opened: ExitStack) -> Any:
    """How a matrix is read, by where it is."""
    if sparse.issparse(found) or isinstance(found, np.ndarray):
        return _InMemory(found)
    if hasattr(found, "group") and getattr(found, "backend", "hdf5") == "hdf5":
        found = found.group  # a sparse matrix of a backed object
    kind = type(found).__module__.partition(".")[0]
    if kind == "h5py" and hasattr(found, "keys"):
        return _SparseOnDisk(found, place, opened)
    if kind == "h5py":
        return _DenseOnDisk(found, place, opened)
    if hasattr(found, "columns") or (kind == "anndata" and hasattr(found, "__array__")):
        return _InMemory(found)
    raise TypeError(
        f"{place} must be a NumPy array, a SciPy sparse matrix, or one of these in an "
        f".h5ad file. Got {type(found).__module__}.{type(found).__name__}. Hint: "
        "adata.to_memory(), or count pieces with ClassCounts.from_chunks."
    )


class _InMemory:
    """A matrix that is there already: one part."""

    def __init__(self, matrix: Any) -> None:
        self._matrix, _ = as_matrix(matrix)
        self.shape = self._matrix.shape

    def parts(self, memory_budget: int, n_threads: int) -> Iterator[Part]:
        n, m = self.shape
        yield (0, n), (0, m), self._matrix


class _DenseOnDisk:
    """A dense matrix of a file, by rows."""

    def __init__(self, dataset: Any, place: str, opened: ExitStack) -> None:
        if dataset.ndim != 2 or dataset.dtype.kind not in "biuf":
            raise ValueError(
                f"{place} must be a matrix of numbers. Got shape {dataset.shape} and "
                f"dtype {dataset.dtype}."
            )
        self.shape = dataset.shape
        self._reader = ArrayReader(dataset)
        opened.callback(self._reader.close)

    def parts(self, memory_budget: int, n_threads: int) -> Iterator[Part]:
        n, m = self.shape
        if not n or not m:
            return
        item = self._reader.dtype.itemsize
        rows = max(1, memory_budget // (2 * m * item), -(-self._reader.grain // m))
        starts = range(0, n, rows)
        blocks = [Block(at * m, min(n, at + rows) * m) for at in starts]
        filled = filled_ahead([self._reader], blocks, n_threads)
        for at, (values,) in zip(starts, filled, strict=True):
            values = native_values(values).reshape(-1, m)
            yield (at, min(n, at + rows)), (0, m), values


class _SparseOnDisk:
    """A CSR or CSC matrix of a file, by rows or by columns."""

    def __init__(self, group: Any, place: str, opened: ExitStack) -> None:
        written = str(group.attrs.get("encoding-type", ""))
        written = written or str(group.attrs.get("h5sparse_format", "?"))
        shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
        self._by_row = written.startswith("csr")
        if not (self._by_row or written.startswith("csc")) or shape is None:
            raise ValueError(
                f"{place} must be a dense, CSR or CSC matrix. Got a group with "
                f"encoding {written!r}."
            )
        self.shape = (int(shape[0]), int(shape[1]))
        self._indptr = np.asarray(group["indptr"][:], dtype=np.int64)
        self._readers = [ArrayReader(group[name]) for name in ("data", "indices")]
        for reader in self._readers:
            opened.callback(reader.close)
        stored = min(reader.size for reader in self._readers)
        major = self.shape[0 if self._by_row else 1]
        if not (
            self._indptr.size == major + 1
            and self._indptr[0] == 0
            and self._indptr[-1] <= stored
            and (self._indptr[1:] >= self._indptr[:-1]).all()
        ):
            raise ValueError(
                f"{place} of {group.file.filename!r} is malformed: indptr must rise "
                f"from 0 to the {stored:,} stored entries, in {major:,} steps."
            )

    def parts(self, memory_budget: int, n_threads: int) -> Iterator[Part]:
        per_entry = sum(reader.dtype.itemsize for reader in self._readers)
        grain = max(reader.grain for reader in self._readers)
        most = max(memory_budget // (2 * per_entry), grain, 1)
        edges = _cut(self._indptr, most)
        pairs = list(itertools.pairwise(edges))
        pointers = self._indptr
        blocks = [Block(int(pointers[a]), int(pointers[b])) for a, b in pairs]
        filled = filled_ahead(self._readers, blocks, n_threads)
        n, m = self.shape
        for (first, last), (values, indices) in zip(pairs, filled, strict=True):
            starts = pointers[first : last + 1] - pointers[first]
            if self._by_row:
                shape = (last - first, m)
                yield (first, last), (0, m), _csr(values, indices, starts, shape)
            else:
                block = _csr(values, indices, starts, (last - first, n), "csc")
                yield (0, n), (first, last), block


def _cut(pointers: Array, most: int) -> list[int]:
    """Cut rows into blocks of at most so many entries, or of one row."""
    edges, end = [0], pointers.size - 1
    while edges[-1] < end:
        at = edges[-1]
        after = int(np.searchsorted(pointers, pointers[at] + most, side="right")) - 1
        edges.append(min(end, max(after, at + 1)))
    return edges


def _csr(
    values: Array,
    indices: Array,
    starts: Array,
    shape: tuple[int, int],
    kind: str = "csr",
) -> Any:
    """Wrap arrays without a look at them: whoever counts them looks."""
    if kind == "csr":
        matrix: Any = sparse.csr_array(shape)
    else:
        matrix = sparse.csc_array(shape[::-1])
    if indices.dtype not in (np.int32, np.int64):
        indices = indices.astype(np.int64)
    matrix.data, matrix.indices = values, indices
    matrix.indptr = starts.astype(indices.dtype, copy=False)
    return matrix
