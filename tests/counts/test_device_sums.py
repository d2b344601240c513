"""Class sums of matrices on a device: those of the same matrix in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from tests.array_libraries import on_cupy, on_strict_device, on_torch, on_torch_gpu

from bayesieve import ClassCounts, solve_multinomial
from bayesieve.counts import _device_sums, class_sums
from bayesieve.utils import _device_arrays


def dense_strict(X):
    return on_strict_device(X.toarray())


def dense_torch(X):
    return on_torch(X.toarray())


def csr_torch(X):
    return csr_tensor(X, on_torch)


def csr_torch_gpu(X):
    return csr_tensor(X, on_torch_gpu)


def csr_tensor(X, placed):
    parts = [placed(part) for part in (X.indptr, X.indices, X.data)]
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return torch.sparse_csr_tensor(*parts, size=X.shape, check_invariants=True)


def csr_cupy(X):
    data = X.data if X.dtype == np.float32 else X.data.astype(float)  # it has no others
    parts = [on_cupy(part) for part in (data, X.indices, X.indptr)]
    cupyx = pytest.importorskip("cupyx.scipy.sparse", reason="CuPy is not installed")
    return cupyx.csr_matrix(tuple(parts), shape=X.shape)


LIBRARY_OF = {
    dense_strict: on_strict_device,
    dense_torch: on_torch,
    csr_torch: on_torch,
    csr_torch_gpu: on_torch_gpu,
    csr_cupy: on_cupy,
}

# PyTorch says once for each process that its CSR tensors are new, and unchecked.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support:UserWarning"),
    pytest.mark.filterwarnings("ignore:Sparse invariant checks are:UserWarning"),
]


@pytest.fixture(params=LIBRARY_OF)
def elsewhere(request, monkeypatch):
    monkeypatch.setattr(_device_arrays, "_is_in_host_memory", lambda array: False)
    monkeypatch.setattr(_device_sums, "_CHUNK", 50)  # a few rows, or columns, at once
    return request.param


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_numpy(dtype, binary, weighted, elsewhere):
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.poisson(0.4, (40, 50)).astype(dtype))
    y = rng.choice(["a", "b", "c"], 40)
    weight = rng.integers(1, 4, 40).astype(float) if weighted else None
    here = ClassCounts.from_matrix(X, y, weight, binary)
    assert ClassCounts.from_matrix(elsewhere(X), y, weight, binary) == here
    sums = class_sums(elsewhere(X), y, weight, binary)
    assert not isinstance(sums.feature_count, np.ndarray)
    there = _device_arrays.to_host(sums.feature_count)
    np.testing.assert_array_equal(there, here.feature_count)
    np.testing.assert_array_equal(sums.class_count, here.class_count)
    assert sums.classes.tolist() == here.classes.tolist()


def test_labels_and_weights_may_lie_on_the_device(elsewhere):
    rng = np.random.default_rng(1)
    X = sp.csr_array(rng.poisson(0.4, (40, 50)).astype(float))
    y, weight = rng.integers(0, 3, 40), rng.random(40)
    there = ClassCounts.from_matrix(
        elsewhere(X), on_strict_device(y), on_strict_device(weight)
    )
    here = ClassCounts.from_matrix(X, y, weight)
    np.testing.assert_allclose(there.feature_count, here.feature_count, rtol=1e-14)


def test_whole_labels_are_encoded_where_they_lie(elsewhere, monkeypatch):
    rng = np.random.default_rng(5)
    X = sp.csr_array(rng.poisson(0.4, (40, 50)).astype(float))
    y = rng.integers(3, 9, 40)
    labels = LIBRARY_OF[elsewhere](y)
    monkeypatch.setattr(_device_sums, "encode_labels", None)
    there = class_sums(elsewhere(X), labels)
    here = class_sums(X, y)
    for name in ("classes", "class_count"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    sums = _device_arrays.to_host(there.feature_count)
    np.testing.assert_array_equal(sums, here.feature_count)


def test_many_classes_are_kept_as_csc(elsewhere, monkeypatch):
    monkeypatch.setattr("bayesieve.counts._layout.DENSE_CELLS", 10)
    rng = np.random.default_rng(2)
    X, y = sp.csr_array(rng.poisson(0.2, (40, 50)).astype(float)), np.arange(40) % 5
    there = ClassCounts.from_matrix(elsewhere(X), y)
    assert sp.issparse(there.feature_count)
    assert there == ClassCounts.from_matrix(X, y)


@pytest.mark.parametrize(
    ("bad", "binarize", "message"),
    [
        (-1.5, 0.0, r"Negative value -1.5 found in feature 'f2' \(column 2\), row 1"),
        (np.nan, 0.0, r"NaN found in feature 'f2' \(column 2\), row 1"),
        (np.inf, 0.0, r"Infinity \(inf\) found in feature 'f2' \(column 2\), row 1"),
        (3.0, None, r"Value 3.0 found in feature 'f2' \(column 2\), row 1"),
    ],
)
def test_a_bad_value_is_named(bad, binarize, message, elsewhere):
    X = np.ones((3, 4))
    X[1, 2] = bad
    options = {} if binarize == 0.0 else {"binarize": None, "binary": True}
    names = [f"f{j}" for j in range(4)]
    for one in (X, elsewhere(sp.csr_array(X))):
        with pytest.raises(ValueError, match=message):
            ClassCounts.from_matrix(one, [0, 1, 1], feature_names=names, **options)


def test_what_is_not_counted_there(elsewhere):
    X = elsewhere(sp.csr_array(np.eye(3)))
    with pytest.raises(
        ValueError, match=r"kind 'count' or 'binary'. Got kind 'moments'"
    ):
        ClassCounts.from_matrix(X, [0, 1, 1], kind="moments")
    with pytest.raises(ValueError, match=r"one label per row of X, 3 in all\. Got 2"):
        class_sums(X, [0, 1])
    if elsewhere in (csr_torch, csr_torch_gpu):
        with pytest.raises(ValueError, match="must be >= 0 for sparse input"):
            class_sums(X, [0, 1, 1], binary=True, binarize=-1.0)
        with pytest.raises(
            TypeError, match=r"must be in CSR format\. Got torch\.sparse_coo"
        ):
            class_sums(X.to_sparse_coo(), [0, 1, 1])
        with pytest.raises(TypeError, match="Hint: class_sums"):
            solve_multinomial(X, 2)


def test_csr_tensors_in_host_memory_are_counted_by_the_compiled_core():
    rng = np.random.default_rng(3)
    X, y = sp.csr_array(rng.poisson(0.4, (40, 50)).astype(float)), np.arange(40) % 2
    sums = class_sums(csr_torch(X), y)
    assert isinstance(sums.feature_count, np.ndarray)
    np.testing.assert_array_equal(
        sums.feature_count, ClassCounts.from_matrix(X, y).feature_count
    )
