"""Laws that class counts obey for any data."""

from __future__ import annotations

import tempfile
from pathlib import Path

import hypothesis.extra.numpy as hnp
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from bayesieve.counts import ClassCounts

KINDS = st.sampled_from(["count", "binary", "moments", "category"])
DISCRETE = st.sampled_from(["count", "binary", "category"])
CLASSES = [0, 1, 2]


@st.composite
def data(draw):
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    X = draw(hnp.arrays(np.int64, (n, m), elements=st.integers(0, 4)))
    y = draw(hnp.arrays(np.int64, n, elements=st.sampled_from(CLASSES)))
    w = draw(hnp.arrays(np.int64, n, elements=st.integers(0, 5)))
    w[0] = 1
    return X, y, w


def assert_close(a, b):
    """Equal up to rounding, relative to the size of what was added up."""
    assert a.kind == b.kind
    np.testing.assert_array_equal(a.classes, b.classes)
    np.testing.assert_allclose(a.class_count, b.class_count, rtol=1e-12)
    if a.kind == "moments":
        np.testing.assert_allclose(a.mean, b.mean, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(
            a.centred_squares, b.centred_squares, rtol=1e-9, atol=1e-9
        )
    else:
        np.testing.assert_allclose(a.feature_count, b.feature_count, rtol=1e-12)


@given(data(), KINDS)
def test_dense_csr_and_csc_agree(values, kind):
    X, y, w = values
    dense = ClassCounts.from_matrix(X, y, w, kind=kind)
    for make in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        made = ClassCounts.from_matrix(make(X), y, w, kind=kind)
        if kind == "moments":
            assert_close(made, dense)
        else:
            assert made == dense


@given(data(), st.randoms(use_true_random=False))
def test_float_weights_give_the_same_bits_in_every_format(values, random):
    X, y, _ = values
    w = np.array([random.random() for _ in y]) + 0.1
    floats = X * 0.1
    dense = ClassCounts.from_matrix(floats, y, w)
    assert ClassCounts.from_matrix(np.asfortranarray(floats), y, w) == dense
    assert ClassCounts.from_matrix(sparse.csr_array(floats), y, w) == dense
    assert ClassCounts.from_matrix(sparse.csc_array(floats), y, w) == dense
    chunks = [
        (floats[i : i + 3], y[i : i + 3], w[i : i + 3]) for i in range(0, len(y), 3)
    ]
    assert ClassCounts.from_chunks(chunks) == dense


@given(data(), DISCRETE, st.integers(1, 5))
def test_chunked_equals_whole(values, kind, size):
    X, y, w = values
    chunks = [
        (X[i : i + size], y[i : i + size], w[i : i + size])
        for i in range(0, len(y), size)
    ]
    whole = ClassCounts.from_matrix(X, y, w, kind=kind)
    assert ClassCounts.from_chunks(chunks, kind=kind) == whole
    parts = [
        ClassCounts.from_matrix(*chunk, kind=kind) for chunk in chunks if chunk[2].any()
    ]
    known = ClassCounts.from_matrix(X, y, w, kind=kind, classes=CLASSES)
    empty = known - known
    assert sum(parts, empty) == known


@given(data(), data(), data(), KINDS)
def test_addition_is_associative_and_commutative(one, two, three, kind):
    m = min(values[0].shape[1] for values in (one, two, three))
    a, b, c = (
        ClassCounts.from_matrix(X[:, :m], y, w, kind=kind, classes=CLASSES)
        for X, y, w in (one, two, three)
    )
    if kind == "moments":
        assert_close(a + b, b + a)
        assert_close((a + b) + c, a + (b + c))
        assert_close(a + b - b, a)
    else:
        assert a + b == b + a
        assert (a + b) + c == a + (b + c)
        back = a + b - b
        np.testing.assert_array_equal(back.class_count, a.class_count)
        if kind != "category":
            assert back == a


@given(data(), data(), st.randoms(use_true_random=False))
def test_subtracting_floats_returns(one, two, random):
    m = min(one[0].shape[1], two[0].shape[1])
    a, b = (
        ClassCounts.from_matrix(
            X[:, :m] * (0.1 + random.random()),
            y,
            w * (0.1 + random.random()),
            classes=CLASSES,
        )
        for X, y, w in (one, two)
    )
    back = a + b - b
    size = (a + b).feature_count.max()
    np.testing.assert_allclose(
        back.feature_count, a.feature_count, rtol=1e-9, atol=1e-12 * size
    )


@given(data(), KINDS)
def test_weight_two_is_a_row_repeated(values, kind):
    X, y, w = values
    repeated = ClassCounts.from_matrix(
        np.repeat(X, w, axis=0),
        np.repeat(y, w),
        kind=kind,
        classes=CLASSES,
        min_categories=X.max(0) + 1 if kind == "category" else None,
    )
    weighted = ClassCounts.from_matrix(X, y, w, kind=kind, classes=CLASSES)
    assert_close(weighted, repeated)


@given(data(), KINDS, st.booleans())
@settings(deadline=None)
def test_save_and_load_return_the_same(values, kind, named):
    X, y, w = values
    names = [f"né{j}" for j in range(X.shape[1])] if named else None
    counts = ClassCounts.from_matrix(X, y, w, kind=kind, feature_names=names)
    with tempfile.TemporaryDirectory() as folder:
        counts.save(Path(folder) / "c")
        assert ClassCounts.load(Path(folder) / "c") == counts


@given(data(), data(), st.permutations(list("abcdefghij")))
def test_union_by_name_equals_padding_with_zeros(one, two, letters):
    (X1, y1, w1), (X2, y2, w2) = one, two
    names1, names2 = letters[: X1.shape[1]], letters[3 : 3 + X2.shape[1]]
    both = ClassCounts.from_matrix(X1, y1, w1, feature_names=names1)
    both = both + ClassCounts.from_matrix(X2, y2, w2, feature_names=names2)
    union = names1 + [name for name in names2 if name not in names1]
    assert both.feature_names.tolist() == union
    whole = np.zeros((len(y1) + len(y2), len(union)))
    for column, name in enumerate(names1):
        whole[: len(y1), union.index(name)] = X1[:, column]
    for column, name in enumerate(names2):
        whole[len(y1) :, union.index(name)] = X2[:, column]
    assert both == ClassCounts.from_matrix(
        whole, np.r_[y1, y2], np.r_[w1, w2], feature_names=union
    )
