"""Class sums as a plain table, left where the matrix lies."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from bayesieve.counts._device_sums import ClassSums, sums_on_device
from bayesieve.counts._matrix import CountRule
from bayesieve.counts._table import ClassCounts
from bayesieve.utils._device_arrays import in_host_memory, is_on_device

__all__ = ["class_sums"]


def class_sums(
    X: Any,
    y: Any,
    sample_weight: Any = None,
    binary: bool = False,
    *,
    binarize: float | None = 0.0,
    classes: Any = None,
) -> ClassSums:
    """Count a matrix on its device, and leave the table of class counts there.

    For `solve_multinomial`, `solve_bernoulli` and `sparsity_path`, which take such a
    table. `ClassCounts.from_matrix` counts in the same way and fetches the table.

    Parameters
    ----------
    X : array or CSR matrix on a device, of shape (n_samples, n_features)
        A dense array of PyTorch, CuPy or another library of the array API, a CSR tensor
        of PyTorch or a CSR matrix of CuPy; any real dtype, never written to. What lies
        in the memory of the host is counted there, into a NumPy array.
    y : array-like of shape (n_samples,)
        Labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights >= 0.
    binary : bool, default=False
        Count in how many rows a feature exceeds `binarize`, not its values.
    binarize : float or None, default=0.0
        For `binary`: values above it count 1; with None they must be 0 or 1.
    classes : array-like, default=None
        All classes there may be.

    Returns
    -------
    sums : ClassSums
        A named tuple of `feature_count`, an array of shape (n_classes, n_features) of
        float64 on the device of X; `class_count` (n_classes,) and `classes`, of NumPy.

    Notes
    -----
    Exact for whole numbers up to 2**53. Sums of fractions may differ in their last
    digits from run to run where the device adds in no fixed order. Time O(nnz); memory
    the table itself, n_classes * n_features * 8 bytes, and 1 GB at most for entries.

    Examples
    --------
    >>> from bayesieve import solve_multinomial
    >>> from bayesieve.counts import class_sums
    >>> sums = class_sums([[1, 0, 4], [2, 3, 0], [0, 4, 1]], ["a", "b", "b"])
    >>> sums.feature_count
    array([[1., 0., 4.],
           [2., 7., 1.]])
    >>> solve_multinomial(sums.feature_count, k=2).support
    array([1, 2])
    """
    X = in_host_memory(X)
    rule = CountRule.checked(None, binary, binarize)
    if is_on_device(X):
        return sums_on_device(X, y, sample_weight, rule, classes, None)
    counts = ClassCounts.from_matrix(
        X, y, sample_weight, binary, binarize=binarize, classes=classes
    )
    table = counts.feature_count
    dense = table.toarray() if sparse.issparse(table) else table
    return ClassSums(dense, counts.class_count, counts.classes)
