"""Cells by genes from .h5ad files: every way of storing them gives the same matrix."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from bayesieve.io._cells import CellSource
from bayesieve.io._h5_arrays import ArrayReader, Block, filled_ahead

h5py = pytest.importorskip("h5py")
anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")

N, M = 300, 40


@pytest.fixture
def matrix():
    rng = np.random.default_rng(0)
    X = sparse.random_array((N, M), density=0.2, rng=rng, format="csr")
    X.data = rng.integers(1, 60, X.nnz).astype(np.float32)
    some = X.toarray()
    some[17] = 0  # a cell without molecules
    return sparse.csr_array(some)


def cells(X, **more):
    return anndata.AnnData(
        X,
        obs=pd.DataFrame({"kind": ["a", "b"] * (N // 2)}, index=names("cell", N)),
        var=pd.DataFrame(index=names("gene", M)),
        **more,
    )


def names(stem, number):
    return [f"{stem}{i}" for i in range(number)]


def put_together(source, budget, n_threads=2):
    """All parts as one dense matrix, and how many there were."""
    whole, parts = np.full(source.shape, np.nan), 0
    for rows, columns, X in source.parts(budget, n_threads):
        block = X.toarray() if sparse.issparse(X) else X
        where = whole[slice(*rows), slice(*columns)]
        assert np.isnan(where).all()  # every cell once
        where[:] = block
        parts += 1
    return whole, parts


def stored(kind, X):
    make = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}
    return make[kind](X) if kind in make else X.toarray()


@pytest.mark.parametrize("packing", [None, "gzip", "lzf"])
@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
@pytest.mark.parametrize("budget", [1, 3000, 1 << 20])
def test_blocks_make_up_the_matrix(tmp_path, matrix, kind, packing, budget):
    path = tmp_path / "cells.h5ad"
    cells(stored(kind, matrix)).write_h5ad(path, compression=packing)
    with CellSource(path, None, False) as source:
        whole, parts = put_together(source, budget)
    np.testing.assert_array_equal(whole, matrix.toarray())
    if budget == 1 << 20:
        assert parts == 1
    elif packing is None and kind != "dense":  # not cut finer than gzip has packed it
        assert parts > 5


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("packing", [None, "gzip", "lzf"])
@pytest.mark.parametrize("chunks", [None, 7, 64, 1000])
@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<i8", "<u2", "|i1", "<f8"])
def test_arrays_as_h5py_reads_them(tmp_path, shuffle, packing, chunks, dtype):
    if chunks is None and (shuffle or packing):
        pytest.skip("filters need chunks")
    values = np.random.default_rng(1).integers(0, 100, 500).astype(dtype)
    more = {"chunks": (chunks,), "shuffle": shuffle, "maxshape": (None,)}
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset(
            "v", data=values, compression=packing, **(more if chunks else {})
        )
    with h5py.File(tmp_path / "a.h5", "r") as file:
        reader = ArrayReader(file["v"])
        edges = [0, 3, 3, 64, 65, 400, 500]
        blocks = [Block(a, b) for a, b in itertools.pairwise(edges)]
        for block, (found,) in zip(
            blocks, filled_ahead([reader], blocks, 2), strict=True
        ):
            np.testing.assert_array_equal(found, values[block.first : block.last])
            assert found.dtype.isnative
        reader.close()


def test_usual_files_are_read_without_h5py(tmp_path, matrix, monkeypatch):
    """As anndata writes them, packed or not: the readers that share the work."""
    if not hasattr(__import__("os"), "preadv"):
        pytest.skip("no preadv on this system: h5py reads")

    def refused(*_):
        raise AssertionError("h5py read this")

    monkeypatch.setattr(ArrayReader, "_by_h5py", refused)
    for packing in (None, "gzip"):
        path = tmp_path / f"{packing}.h5ad"
        cells(stored("csr", matrix)).write_h5ad(path, compression=packing)
        with CellSource(path, None, False) as source:
            whole, _ = put_together(source, 2000)
        np.testing.assert_array_equal(whole, matrix.toarray())


def test_chunks_that_were_never_written_are_fill_values(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        made = file.create_dataset("v", (100,), "f4", chunks=(10,), fillvalue=3)
        made[40:50] = 1
    with h5py.File(tmp_path / "a.h5", "r") as file:
        reader = ArrayReader(file["v"])
        ((found,),) = filled_ahead([reader], [Block(0, 100)], 1)
        assert found.sum() == 280


def test_truncated_file_is_an_error_and_not_rubbish(tmp_path, matrix):
    path = tmp_path / "cells.h5ad"
    cells(stored("csr", matrix)).write_h5ad(path, compression="gzip")
    with h5py.File(path, "r") as file:
        spot = []
        file["X/data"].id.chunk_iter(lambda chunk: spot.append(chunk.byte_offset))
    with path.open("r+b") as file:
        file.seek(spot[0] + 10)
        file.write(b"\xff" * 40)
    with (
        CellSource(path, None, False) as source,
        pytest.raises(ValueError, match="is damaged: the values of '/X/data'"),
    ):
        list(source.parts(1 << 20, 2))


def test_a_file_that_was_replaced_is_read_as_it_was_opened(tmp_path, matrix):
    path, other = tmp_path / "cells.h5ad", tmp_path / "other.h5ad"
    cells(stored("csr", matrix)).write_h5ad(path)
    cells(stored("csr", 3 * matrix)).write_h5ad(other)
    backed = anndata.read_h5ad(path, backed="r")
    other.replace(path)
    with CellSource(backed, None, False) as source:
        whole, _ = put_together(source, 1 << 20)
    np.testing.assert_array_equal(whole, matrix.toarray())
    backed.file.close()


def test_a_file_open_for_writing_is_read_with_what_is_not_yet_on_disk(tmp_path, matrix):
    path = tmp_path / "cells.h5ad"
    cells(stored("csr", matrix)).write_h5ad(path)
    backed = anndata.read_h5ad(path, backed="r+")
    data = backed.file["X/data"]
    data[...] = 2 * data[...]
    with CellSource(backed, None, False) as source:
        whole, _ = put_together(source, 3000)
    np.testing.assert_array_equal(whole, 2 * matrix.toarray())
    backed.file.close()


@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
def test_no_more_than_the_budget_is_in_memory(tmp_path, kind):
    """Two blocks at a time, whatever the size of the file."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((N, M), density=0.5, rng=rng, format="csr")
    path = tmp_path / "cells.h5ad"
    cells(stored(kind, X)).write_h5ad(path)
    budget = 2 * 12 * N  # at 8 + 4 bytes an entry, above any row or column
    with CellSource(path, None, False) as source:
        for _, _, block in source.parts(budget, 1):
            parts = [block]
            if sparse.issparse(block):
                parts = [block.data, block.indices]
            assert 2 * sum(part.nbytes for part in parts) <= budget


def test_leaving_early_ends_the_threads(tmp_path, matrix):
    import threading

    path = tmp_path / "cells.h5ad"
    cells(stored("csr", matrix)).write_h5ad(path)
    before = threading.active_count()
    with CellSource(path, None, False) as source:
        parts = source.parts(1000, 2)
        next(parts)
        parts.close()
    assert threading.active_count() == before


# ---------------------------------------------------------------------- columns of obs


def column(tmp_path, values, name="c"):
    adata = anndata.AnnData(
        np.ones((len(values), 1), dtype=np.float32),
        obs=pd.DataFrame({name: values}, index=names("x", len(values))),
    )
    adata.write_h5ad(tmp_path / "c.h5ad")
    answers = []
    for source in (adata, tmp_path / "c.h5ad"):
        with CellSource(source, None, False) as opened:
            answers.append(opened.column(name))
    for one, other in zip(*answers, strict=True):
        assert one.tolist() == other.tolist()
    return [part.tolist() for part in answers[0]]


def test_categories_without_cells_are_no_labels(tmp_path):
    values = pd.Categorical(["b", "a", "b"], categories=["z", "b", "a", "y"])
    assert column(tmp_path, values) == [["b", "a"], [0, 1, 0]]


def test_missing_labels_have_the_code_minus_one(tmp_path):
    values = pd.Categorical(["b", None, "a"], categories=["b", "a"])
    assert column(tmp_path, values) == [["b", "a"], [0, -1, 1]]
    assert column(tmp_path, [1.5, np.nan, 2.0]) == [[1.5, 2.0], [0, -1, 1]]
    numbers = pd.array([3, None, 1], dtype="Int64")
    assert column(tmp_path, numbers) == [[3, 1], [0, -1, 1]]


@pytest.mark.parametrize("dtype", [object, "string[python]"])
def test_labels_with_null_characters_are_told_apart(matrix, dtype):
    adata = cells(matrix)
    values = np.array(["a", None, "a\0b", "a\0c"], dtype=object)
    values = values[np.arange(len(adata)) % 4]
    adata.obs["c"] = pd.Series(values, index=adata.obs_names, dtype=dtype)
    with CellSource(adata, None, False) as source:
        labels, codes = source.column("c")
    assert labels.tolist() == ["a", "a\0b", "a\0c"]
    assert codes[:4].tolist() == [0, -1, 1, 2]


def test_labels_of_other_types(tmp_path):
    assert column(tmp_path, [3, 1, 3]) == [[3, 1], [0, 1, 0]]
    assert column(tmp_path, [True, False, True]) == [[True, False], [0, 1, 0]]
    assert column(tmp_path, ["x", "y", "x"]) == [["x", "y"], [0, 1, 0]]


def test_categories_as_anndata_wrote_them_before_0_8(tmp_path, matrix):
    path = tmp_path / "old.h5ad"
    cells(stored("csr", matrix)).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        obs = file["obs"]
        del obs["kind"]
        kinds = obs.create_group("__categories")
        kinds.create_dataset("kind", data=["p", "q"], dtype=h5py.string_dtype())
        codes = obs.create_dataset("kind", data=np.tile([0, 1, -1], N // 3))
        codes.attrs["categories"] = kinds["kind"].ref
    with CellSource(path, None, False) as source:
        labels, places = source.column("kind")
    assert labels.tolist() == ["p", "q"]
    assert places[:3].tolist() == [0, 1, -1]


# ---------------------------------------------------------------------- which matrix


def test_layers_and_raw(tmp_path, matrix):
    doubled = 2 * matrix
    adata = cells(stored("csr", matrix), layers={"twice": stored("csc", doubled)})
    adata.raw = adata
    adata = adata[:, :10].copy()
    adata.write_h5ad(tmp_path / "c.h5ad")
    backed = anndata.read_h5ad(tmp_path / "c.h5ad", backed="r")
    for source in (adata, tmp_path / "c.h5ad", backed):
        for layer, raw, wanted in (
            (None, False, matrix[:, :10]),
            ("twice", False, doubled[:, :10]),
            (None, True, matrix),
        ):
            with CellSource(source, layer, raw) as opened:
                whole, _ = put_together(opened, 3000)
                assert opened.gene_names.tolist() == names("gene", wanted.shape[1])
            np.testing.assert_array_equal(whole, wanted.toarray())
    backed.file.close()


def test_what_anndata_wrote_as_none_is_not_there(tmp_path, matrix):
    adata = cells(stored("csr", matrix))
    with h5py.File(tmp_path / "c.h5ad", "w") as file:
        anndata.io.write_elem(
            file, "/", adata
        )  # raw is None, as its newest versions do
        if "raw" not in file:
            file["raw"] = h5py.Empty("f4")
        assert file["raw"].shape is None
    with CellSource(tmp_path / "c.h5ad", None, False) as source:
        whole, _ = put_together(source, 3000)
        assert source.matrices_told() == ""
    np.testing.assert_array_equal(whole, matrix.toarray())
    with pytest.raises(
        ValueError, match=r"has no raw\.X\. Other matrices here: layer=N"
    ):
        CellSource(tmp_path / "c.h5ad", None, True)


def test_a_view_of_a_backed_object(tmp_path, matrix):
    path = tmp_path / "c.h5ad"
    cells(stored("csr", matrix)).write_h5ad(path)
    backed = anndata.read_h5ad(path, backed="r")
    rows = np.arange(0, N, 3)
    with CellSource(backed[rows], None, False) as opened:
        whole, _ = put_together(opened, 3000)
    np.testing.assert_array_equal(whole, matrix.toarray()[rows])
    backed.file.close()


# ---------------------------------------------------------------------- refusals


def test_what_is_no_h5ad_file(tmp_path):
    (tmp_path / "a.h5ad").write_text("no")
    with pytest.raises(ValueError, match=r"a\.h5ad' is not an \.h5ad file: "):
        CellSource(tmp_path / "a.h5ad", None, False)
    with pytest.raises(ValueError, match="there is no such file"):
        CellSource(tmp_path / "b.h5ad", None, False)
    with h5py.File(tmp_path / "c.h5ad", "w") as file:
        file["X"] = np.ones((2, 2))
    with pytest.raises(ValueError, match="with the group 'obs'"):
        CellSource(tmp_path / "c.h5ad", None, False)
    with pytest.raises(TypeError, match=r"an AnnData object or the path.*Got list"):
        CellSource([1, 2], None, False)


def test_unknown_layers_and_columns_are_told_with_what_there_is(matrix):
    adata = cells(stored("csr", matrix), layers={"counts": stored("csr", matrix)})
    with pytest.raises(
        ValueError,
        match=r"no layers\['count'\]. Other.* here: layer=None \(X\), layer='counts'\.",
    ):
        CellSource(adata, "count", False)
    with pytest.raises(ValueError, match=r"has no raw.X"):
        CellSource(adata, None, True)
    with pytest.raises(ValueError, match="name two matrices"):
        CellSource(adata, "counts", True)
    with pytest.raises(ValueError, match=r"has no column 'type'. It has 'kind'."):
        CellSource(adata, None, False).column("type")


@pytest.mark.parametrize("breakage", ["falls", "short", "long"])
def test_malformed_pointers(tmp_path, matrix, breakage):
    path = tmp_path / "c.h5ad"
    cells(stored("csr", matrix)).write_h5ad(path)
    with h5py.File(path, "r+") as file:
        indptr = file["X/indptr"][:]
        del file["X/indptr"]
        if breakage == "falls":
            indptr[5] = indptr[4] - 1
        elif breakage == "long":
            indptr[-1] += 10
        file["X/indptr"] = indptr[:-1] if breakage == "short" else indptr
    with pytest.raises(ValueError, match="malformed: indptr must rise"):
        CellSource(path, None, False)
