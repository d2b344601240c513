"""Labels become codes as `np.unique` would make them, whichever way is taken."""

from __future__ import annotations

import numpy as np
import pytest

from bayesieve.utils._validation import encode_labels


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 1, 7, 3], dtype=np.int8),
        np.array([5, 4, 5, 6], dtype=np.uint64),
        np.array([-2, 4, -2, 0]),
        np.array([True, False, True]),
        np.array([True, True]),
        np.array([0, 2**40, 5]),  # too wide a range to count
        np.array([2**63 + 1, 2**63], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1]),
        np.array([1.0, 0.0, 1.0]),
        np.array(["b", "a", "b"]),
    ],
    ids=str,
)
def test_codes_are_those_of_numpy(labels):
    classes, codes = encode_labels(labels)
    expected, inverse = np.unique(labels, return_inverse=True)
    assert classes.dtype == expected.dtype or labels.dtype.kind == "U"
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)
    assert codes.dtype == np.int64
