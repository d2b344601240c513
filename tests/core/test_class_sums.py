"""Every compiled class-sum kernel against its plain NumPy twin."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from bayesieve.counts import _kernels as kernels

DTYPES = [
    np.bool_,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
    np.uint8,
    np.uint16,
    np.uint32,
    np.uint64,
    np.float32,
    np.float64,
]
LAYOUTS = ["C", "F", "strided", "reversed", "csr", "csc"]
N, M, K = 57, 23, 4


def twin_sums(X, codes, weights, n_classes):
    """f[c, i] = sum of w_j x_ji over the rows j of class c."""
    dense = X.toarray() if sparse.issparse(X) else X
    out = np.zeros((n_classes, dense.shape[1]))
    for row in range(dense.shape[0]):
        w = 1.0 if weights is None else weights[row]
        out[codes[row]] += w * dense[row].astype(np.float64)
    return out


def twin_moments(X, codes, weights, n_classes):
    dense = (X.toarray() if sparse.issparse(X) else X).astype(np.float64)
    w = np.ones(len(codes)) if weights is None else weights
    mean = np.zeros((n_classes, dense.shape[1]))
    squares = np.zeros_like(mean)
    for c in range(n_classes):
        rows = codes == c
        if w[rows].sum() > 0:
            mean[c] = np.average(dense[rows], axis=0, weights=w[rows])
            squares[c] = (w[rows, None] * (dense[rows] - mean[c]) ** 2).sum(0)
    return mean, squares


def laid_out(dense, layout, index=np.int32):
    if layout == "C":
        return np.ascontiguousarray(dense)
    if layout == "F":
        return np.asfortranarray(dense)
    if layout == "strided":
        wide = np.zeros((dense.shape[0] * 2, dense.shape[1] * 3), dtype=dense.dtype)
        wide[::2, ::3] = dense
        return wide[::2, ::3]
    if layout == "reversed":
        return np.ascontiguousarray(dense[::-1, ::-1])[::-1, ::-1]
    made = sparse.csr_array(dense) if layout == "csr" else sparse.csc_array(dense)
    made.indices = made.indices.astype(index)
    made.indptr = made.indptr.astype(index)
    return made


def example(dtype, seed=0, n=N, m=M, k=K):
    rng = np.random.default_rng(seed)
    dense = rng.integers(0, 2 if dtype is np.bool_ else 6, (n, m))
    dense[rng.random((n, m)) < 0.6] = 0
    if np.dtype(dtype).kind == "f":
        dense = dense / 8  # exact in float32, so sums are exact in any order
    codes = rng.integers(0, k, n)
    return dense.astype(dtype), codes, rng.integers(0, 9, n) / 4


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_agree_with_numpy(dtype, layout):
    dense, codes, some = example(dtype)
    for index, weights in itertools.product((np.int32, np.int64), (None, some)):
        X = laid_out(dense, layout, index)
        out = np.zeros((K, M))
        assert kernels.class_sums(X, codes, weights, out) is None
        np.testing.assert_array_equal(out, twin_sums(dense, codes, weights, K))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_presence_counts_values_above_the_threshold(dtype, layout):
    dense, codes, some = example(dtype, seed=1)
    for index, weights in itertools.product((np.int32, np.int64), (None, some)):
        for threshold in (0.0, 0.25, 2.0):
            out = np.zeros((K, M))
            X = laid_out(dense, layout, index)
            found = kernels.class_sums(
                X, codes, weights, out, kernels.PRESENCE, threshold
            )
            assert found is None
            expected = twin_sums(dense.astype(float) > threshold, codes, weights, K)
            np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("layout", ["csr", "csc"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sparse_table_agrees_with_numpy(dtype, layout):
    dense, codes, some = example(dtype, seed=2)
    for index, weights in itertools.product((np.int32, np.int64), (None, some)):
        X = laid_out(dense, layout, index)
        table, found = kernels.sparse_class_sums(X, codes, weights, K)
        assert found is None
        assert isinstance(table, sparse.csc_array)
        table.check_format(full_check=True)
        assert table.has_sorted_indices
        assert table.data.all()  # no explicit zeros
        np.testing.assert_array_equal(
            table.toarray(), twin_sums(dense, codes, weights, K)
        )


def test_sparse_table_of_a_dense_matrix():
    dense, codes, weights = example(np.float64, seed=3)
    for X in (dense, np.asfortranarray(dense)):
        table, found = kernels.dense_class_sums_as_sparse(X, codes, weights, K)
        assert found is None
        np.testing.assert_array_equal(
            table.toarray(), twin_sums(dense, codes, weights, K)
        )


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_unsorted_and_duplicate_entries_add_up(layout):
    # Row 0 holds column 2 twice and out of order: 1 + 4 at column 2, 3 at column 0.
    data, rows, cols = [1.0, 3.0, 4.0, 5.0], [0, 0, 0, 1], [2, 0, 2, 1]
    pointers, minor = ([0, 3, 4], cols) if layout == "csr" else ([0, 1, 2, 4], None)
    if layout == "csc":
        data, minor = [3.0, 5.0, 1.0, 4.0], [0, 1, 0, 0]
    make = sparse.csr_array if layout == "csr" else sparse.csc_array
    X = make((data, minor, pointers), shape=(2, 3))
    codes = np.array([0, 1])
    out = np.zeros((2, 3))
    kernels.class_sums(X, codes, None, out)
    np.testing.assert_array_equal(out, [[3, 0, 5], [0, 5, 0]])
    table, _ = kernels.sparse_class_sums(X, codes, None, 2)
    np.testing.assert_array_equal(table.toarray(), out)
    assert len(rows) == len(cols)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint16, np.int64, np.float32, np.float64]
)
def test_centred_sums_agree_with_numpy(dtype, weighted, layout):
    dense, codes, some = example(dtype, seed=4)
    if np.dtype(dtype).kind != "u":
        dense = (dense - 2 * (dense == 3)).astype(dtype)
    weights = some if weighted else None
    for index in (np.int32, np.int64):
        X = laid_out(dense, layout, index)
        mean = np.random.default_rng(5).normal(size=(K, M))
        deviation, square, present = (np.zeros((K, M)) for _ in range(3))
        tables = (mean, deviation, square, *((present,) if sparse.issparse(X) else ()))
        kernels.centred_sums(X, codes, weights, *tables)
        stored = dense != 0 if sparse.issparse(X) else np.ones_like(dense, dtype=bool)
        w = np.ones(N) if weights is None else weights
        for c in range(K):
            rows = codes == c
            gap = np.where(stored[rows], dense[rows].astype(float) - mean[c], 0.0)
            np.testing.assert_allclose(
                deviation[c], (w[rows, None] * gap).sum(0), atol=1e-12
            )
            np.testing.assert_allclose(
                square[c], (w[rows, None] * gap**2).sum(0), atol=1e-12
            )
            if sparse.issparse(X):
                expected = (w[rows, None] * stored[rows]).sum(0)
                np.testing.assert_allclose(present[c], expected, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_categories_agree_with_numpy(dtype, layout):
    dense, codes, some = example(dtype, seed=6)
    dense = np.floor(dense).astype(dtype)
    sizes = dense.max(0).astype(np.int64) + 1
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    for index, weights in itertools.product((np.int32, np.int64), (None, some)):
        X = laid_out(dense, layout, index)
        largest = np.zeros(M, dtype=np.int64)
        assert kernels.column_max(X, largest) is None
        np.testing.assert_array_equal(largest + 1, sizes)
        out = np.zeros((K, offsets[-1]))
        kernels.category_sums(X, codes, weights, offsets, out)
        expected = np.zeros_like(out)
        for row, col in itertools.product(range(N), range(M)):
            code = int(dense[row, col])
            if code or not sparse.issparse(X):
                w = 1.0 if weights is None else weights[row]
                expected[codes[row], offsets[col] + code] += w
        np.testing.assert_array_equal(out, expected)


BAD = [
    (kernels.NON_NEGATIVE, np.int8, -1),
    (kernels.NON_NEGATIVE, np.int64, -7),
    (kernels.NON_NEGATIVE, np.float32, -0.5),
    (kernels.NON_NEGATIVE, np.float64, np.nan),
    (kernels.NON_NEGATIVE, np.float64, np.inf),
    (kernels.NON_NEGATIVE, np.float64, -np.inf),
    (kernels.FINITE, np.float32, np.nan),
    (kernels.FINITE, np.float64, -np.inf),
    (kernels.PRESENCE, np.float64, np.nan),
    (kernels.PRESENCE, np.float32, np.inf),
    (kernels.ZERO_ONE, np.uint8, 2),
    (kernels.ZERO_ONE, np.float64, 0.5),
    (kernels.ZERO_ONE, np.float64, np.nan),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("check", "dtype", "value"), BAD)
def test_the_first_offending_value_is_reported(check, dtype, value, layout):
    dense = np.zeros((N, M), dtype=dtype)
    dense[::2] = 1
    for row, col in ((40, 3), (11, 17), (40, 20)):
        dense[row, col] = value
    X = laid_out(dense, layout)
    codes = np.arange(N) % K
    out = np.zeros((K, M))
    position = kernels.class_sums(X, codes, None, out, check)
    assert position is not None
    row, col, found = kernels.locate(X, position)
    first = (40, 3) if layout == "csc" else (11, 17)  # in storage order
    assert (row, col) == first
    np.testing.assert_equal(found, dense[row, col].item())
    if layout in ("csr", "csc"):
        table, again = kernels.sparse_class_sums(X, codes, None, K, check)
        assert table is None
        assert again == position


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("value", [-1.0, 0.5, np.nan, np.inf, 2.0**31])
def test_bad_category_codes_are_reported(value, layout):
    dense = np.ones((N, M))
    dense[11, 17] = value
    X = laid_out(dense, layout)
    position = kernels.column_max(X, np.zeros(M, dtype=np.int64))
    assert kernels.locate(X, position)[:2] == (11, 17)


def test_negative_zero_and_explicit_zeros_are_zeros():
    X = sparse.csr_array((np.array([-0.0, 0.0, 2.0]), ([0, 0, 1], [0, 1, 1])))
    out = np.zeros((2, 2))
    assert kernels.class_sums(X, np.array([0, 1]), None, out) is None
    np.testing.assert_array_equal(out, [[0, 0], [0, 2]])
    table, _ = kernels.sparse_class_sums(X, np.array([0, 1]), None, 2)
    assert table.nnz == 1


@pytest.mark.parametrize("layout", ["csr", "csc", "C", "F"])
def test_large_inputs_use_threads_and_stay_exact(layout):
    # Above the serial limit: 300,000 stored values over 40,000 columns.
    rng = np.random.default_rng(7)
    n, m, k = 3_000, 40_000, 3
    codes, weights = rng.integers(0, k, n), rng.random(n)
    cols = np.sort(rng.integers(0, m, (n, 100)), axis=1)
    X = sparse.csr_array(
        (rng.random(n * 100), cols.ravel(), np.arange(n + 1) * 100), shape=(n, m)
    )
    X.sum_duplicates()
    expected = np.zeros((k, m))
    for row in range(n):  # row order: the documented order of additions
        part = slice(X.indptr[row], X.indptr[row + 1])
        expected[codes[row], X.indices[part]] += weights[row] * X.data[part]
    if layout == "csc":
        X = X.tocsc()
    elif layout in "CF":
        X = X[:, :2_000].toarray(order=layout)
        expected = np.ascontiguousarray(expected[:, :2_000])
    out = np.zeros(expected.shape)
    assert kernels.class_sums(X, codes, weights, out) is None
    np.testing.assert_array_equal(out, expected)  # to the last bit


def malformed(**changes):
    X = sparse.csr_array(np.eye(3))
    for name, value in changes.items():
        setattr(X, name, np.array(value, dtype=np.int32))
    return X


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": [0, 1, 3]},
        {"indices": [0, -1, 2]},
        {"indptr": [0, 2, 1, 3]},
        {"indptr": [0, 1, 2, 9]},
        {"indptr": [1, 1, 2, 3]},
    ],
)
def test_malformed_matrices_never_write_outside(changes):
    X, codes = malformed(**changes), np.array([0, 1, 1])
    with pytest.raises(ValueError, match="malformed"):
        kernels.class_sums(X, codes, None, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="malformed"):
        kernels.sparse_class_sums(X, codes, None, 2)
    X = (
        sparse.csc_array((X.data, X.indices, X.indptr), shape=(3, 3), copy=False)
        if ("indices" in changes)
        else X
    )
    with pytest.raises(ValueError, match="malformed"):
        kernels.class_sums(X, codes, None, np.zeros((2, 3)))


def test_codes_and_shapes_are_checked():
    X = np.ones((3, 2))
    for codes in ([0, 1, 2], [0, -1, 1]):
        with pytest.raises(ValueError, match="class codes"):
            kernels.class_sums(X, np.array(codes), None, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="one class code per row"):
        kernels.class_sums(X, np.array([0, 1]), None, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="one column per feature"):
        kernels.class_sums(X, np.array([0, 1, 1]), None, np.zeros((2, 3)))
    with pytest.raises(ValueError, match="one weight per row"):
        kernels.class_sums(X, np.array([0, 1, 1]), np.ones(2), np.zeros((2, 2)))


def test_read_only_and_empty_inputs():
    X = np.ones((3, 2))
    X.flags.writeable = False
    out = np.zeros((2, 2))
    codes = np.array([0, 1, 1])
    kernels.class_sums(X, codes, None, out)
    np.testing.assert_array_equal(out, [[1, 1], [2, 2]])
    frozen = sparse.csr_array(np.eye(3))
    for array in (frozen.data, frozen.indices, frozen.indptr):
        array.flags.writeable = False
    out = np.zeros((2, 3))
    kernels.class_sums(frozen, codes, None, out)
    np.testing.assert_array_equal(out, [[1, 0, 0], [0, 1, 1]])
    for empty in (np.empty((0, 2)), sparse.csr_array((0, 2)), sparse.csc_array((0, 2))):
        out = np.zeros((2, 2))
        kernels.class_sums(empty, np.empty(0, dtype=np.int64), None, out)
        assert not out.any()


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_duplicates_are_found_in_any_order(make, dtype):
    def duplicated(indices, indptr):
        shape = (2, 6) if make is sparse.csr_array else (6, 2)
        data = np.ones(len(indices))
        X = make((data, np.array(indices, dtype), np.array(indptr, dtype)), shape=shape)
        return kernels.has_duplicates(X)

    assert not duplicated([5, 0, 3, 0, 5], [0, 3, 5])  # unsorted, each cell once
    assert duplicated([5, 0, 5, 0, 5], [0, 3, 5])
    assert duplicated([5, 0, 3, 1, 1], [0, 3, 5])
    assert not duplicated([], [0, 0, 0])


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.34, 0.33, 0.33], [0.95, 0.05]])
@pytest.mark.parametrize("weighted", [False, True])
def test_large_matrices_shared_among_threads_by_class_or_column(shares, weighted):
    """Enough entries and columns for both ways to share the work (0.95: by column)."""
    rng = np.random.default_rng(len(shares))
    n, m, entries = 20_000, 30_000, 300_000
    rows, columns = rng.integers(n, size=entries), rng.integers(m, size=entries)
    values = rng.integers(1, 5, size=entries)
    X = sparse.csr_array((values, (rows, columns)), shape=(n, m))
    codes = rng.choice(len(shares), size=n, p=shares)
    weights = rng.integers(1, 4, size=n).astype(float) if weighted else None
    out = np.zeros((len(shares), m))
    assert kernels.class_sums(X, codes, weights, out, kernels.NON_NEGATIVE, 0.0) is None
    scale = np.ones(n) if weights is None else weights
    onehot = sparse.csr_array((scale, (codes, np.arange(n))), shape=(len(shares), n))
    np.testing.assert_array_equal(out, (onehot @ X).toarray())
    # The first offending value over all threads, whichever meets its own first.
    spoilt = X.astype(float)
    spoilt.data[[1234, 250_000]] = -1.0
    again = np.zeros_like(out)
    assert (
        kernels.class_sums(spoilt, codes, weights, again, kernels.NON_NEGATIVE, 0.0)
        == 1234
    )
