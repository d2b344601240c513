"""`ClassCounts.from_matrix`: hand-checked counts, every input format, every refusal."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone

from bayesieve.counts import ClassCounts, _layout, count_matrix
from bayesieve.feature_selection import NaiveFeatureSelector
from bayesieve.naive_bayes import SelectiveBernoulliNB, SparseMultinomialNB

X = np.array([[1, 0, 2], [0, 3, 1], [4, 0, 0], [0, 0, 5]])
Y = np.array(["b", "a", "b", "a"])


def test_counts_by_hand():
    counts = ClassCounts.from_matrix(X, Y)
    # Class a: rows 1 and 3; class b: rows 0 and 2.
    np.testing.assert_array_equal(counts.feature_count, [[0, 3, 6], [5, 0, 2]])
    np.testing.assert_array_equal(counts.class_count, [2, 2])
    assert counts.classes.tolist() == ["a", "b"]
    assert counts.kind == "count"
    assert (counts.n_classes, counts.n_features) == (2, 3)
    assert counts.feature_count.dtype == counts.class_count.dtype == np.float64
    assert counts.feature_names is None
    assert counts.document_count is None
    assert repr(counts) == (
        "ClassCounts(kind='count', 2 classes, 3 features, total weight 4)"
    )


def test_weights_by_hand():
    counts = ClassCounts.from_matrix(X, Y, [1, 2, 0.5, 0])
    np.testing.assert_array_equal(counts.feature_count, [[0, 6, 2], [3, 0, 2]])
    np.testing.assert_array_equal(counts.class_count, [2, 1.5])
    assert ClassCounts.from_matrix(X, Y, 2.0) == ClassCounts.from_matrix(X, Y).scaled(2)


def test_binary_by_hand():
    counts = ClassCounts.from_matrix(X, Y, binary=True)
    np.testing.assert_array_equal(counts.feature_count, [[0, 1, 2], [2, 0, 1]])
    assert counts.kind == "binary"
    above = ClassCounts.from_matrix(X, Y, kind="binary", binarize=1)
    np.testing.assert_array_equal(above.feature_count, [[0, 1, 1], [1, 0, 1]])
    signed = ClassCounts.from_matrix([[-1.0, 0.0], [0.5, -3.0]], [0, 1], binary=True)
    np.testing.assert_array_equal(signed.feature_count, [[0, 0], [1, 0]])
    below = ClassCounts.from_matrix([[-1.0, 0.0]], [0], binary=True, binarize=-0.5)
    np.testing.assert_array_equal(below.feature_count, [[0, 1]])


def test_moments_by_hand():
    # Class 0: values 1, 3 (mean 2, squares 2); class 1: 5 (mean 5, squares 0).
    for made in (np.array, sparse.csr_array, sparse.csc_array):
        counts = ClassCounts.from_matrix(
            made([[1.0, 0.0], [3.0, -4.0], [5.0, 0.1]]), [0, 0, 1], kind="moments"
        )
        np.testing.assert_allclose(counts.mean, [[2, -2], [5, 0.1]])
        np.testing.assert_allclose(counts.centred_squares, [[2, 8], [0, 0]])
        np.testing.assert_allclose(counts.feature_count, [[4, -4], [5, 0.1]])
        assert counts.centred_squares[1, 1] == 0


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_array])
def test_moments_are_stable(make):
    # Mean 1e8, variance 2/3: sums of squares would lose every digit.
    values = 1e8 + np.tile([0.0, 1.0, 2.0], 1000)[:, None]
    codes = np.repeat([0, 1], 1500)
    counts = ClassCounts.from_matrix(make(values), codes, kind="moments")
    np.testing.assert_allclose(counts.centred_squares, [[1000.0], [1000.0]], rtol=1e-9)
    # A constant column has variance exactly zero, though 0.1 * n is rounded.
    weights = np.random.default_rng(0).random(3000)
    constant = make(np.full((3000, 1), 0.1))
    for w in (None, weights):
        counts = ClassCounts.from_matrix(constant, codes, w, kind="moments")
        np.testing.assert_array_equal(counts.centred_squares, 0)
        np.testing.assert_allclose(counts.mean, 0.1, rtol=1e-15)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_array])
def test_categories_by_hand(make):
    codes = make([[0, 2], [1, 0], [1, 0]])
    counts = ClassCounts.from_matrix(codes, ["x", "x", "y"], kind="category")
    assert counts.n_categories.tolist() == [2, 3]
    assert counts.category_offsets.tolist() == [0, 2, 5]
    assert [c.tolist() for c in counts.categories] == [[0, 1], [0, 1, 2]]
    np.testing.assert_array_equal(
        counts.feature_count, [[1, 1, 1, 0, 1], [0, 1, 1, 0, 0]]
    )
    assert counts.n_features == 2
    wider = ClassCounts.from_matrix(
        codes, ["x", "x", "y"], kind="category", min_categories=[3, 1]
    )
    assert wider.n_categories.tolist() == [3, 3]
    wider = ClassCounts.from_matrix(
        codes, ["x", "x", "y"], kind="category", min_categories=4
    )
    assert wider.n_categories.tolist() == [4, 4]


def frames():
    names = ["p", "q", "r"]
    yield "pandas", pd.DataFrame(X, columns=names)
    yield (
        "pandas mixed",
        pd.DataFrame(
            {"p": X[:, 0].astype("int8"), "q": X[:, 1] == 3, "r": X[:, 2].astype(float)}
        ).assign(q=X[:, 1]),
    )
    yield "pandas nullable", pd.DataFrame(X, columns=names).astype("Int64")
    yield (
        "pandas sparse",
        pd.DataFrame(X, columns=names).astype(pd.SparseDtype("float", 0.0)),
    )
    partly = pd.DataFrame(X, columns=names)
    partly["q"] = partly["q"].astype(pd.SparseDtype("int64", 0))
    yield "pandas partly sparse", partly
    yield "polars", pl.DataFrame(X, schema=names)
    yield (
        "polars mixed",
        pl.DataFrame(X, schema=names).with_columns(
            pl.col("p").cast(pl.UInt8), pl.col("r").cast(pl.Float32)
        ),
    )


@pytest.mark.parametrize(("label", "frame"), list(frames()))
def test_frames_keep_their_names(label, frame):
    counts = ClassCounts.from_matrix(frame, Y)
    assert counts.feature_names.tolist() == ["p", "q", "r"], label
    assert counts == ClassCounts.from_matrix(X, Y, feature_names=["p", "q", "r"])
    assert "(named)" in repr(counts)


def test_frames_without_string_names_or_with_booleans():
    assert ClassCounts.from_matrix(pd.DataFrame(X), Y).feature_names is None
    flags = pd.DataFrame({"f": [True, False], "n": [2, 3]})
    counts = ClassCounts.from_matrix(flags, [0, 1])
    np.testing.assert_array_equal(counts.feature_count, [[1, 2], [0, 3]])
    counts = ClassCounts.from_matrix(pl.DataFrame({"f": [True, False]}), [0, 1])
    np.testing.assert_array_equal(counts.feature_count, [[1], [0]])
    counts = ClassCounts.from_matrix(
        pl.DataFrame({"f": [True, False], "n": [2, 3]}), [0, 1]
    )
    np.testing.assert_array_equal(counts.feature_count, [[1, 2], [0, 3]])


def test_a_sparse_frame_is_never_made_dense():
    # 200 x 20,000 with few entries: a dense copy would be 32 MB.
    wide = sparse.random_array(
        (200, 2_000), density=0.001, rng=np.random.default_rng(0), format="coo"
    )
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csc_matrix(wide))
    tracemalloc.start()
    counts = ClassCounts.from_matrix(frame, np.arange(200) % 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * 2_000 * 8
    assert counts == ClassCounts.from_matrix(wide, np.arange(200) % 2)


@pytest.mark.parametrize(
    "made",
    [
        X.tolist(),
        np.asfortranarray(X),
        X.astype(">i4"),
        X.astype(np.float16),
        X.astype(np.longdouble),
        X.astype(object),
        np.ma.array(X),
        sparse.csr_matrix(X),
        sparse.csc_matrix(X),
        sparse.coo_array(X),
        sparse.coo_matrix(X),
        sparse.lil_array(X),
        sparse.dok_array(X),
        sparse.bsr_array(X),
        sparse.dia_array(X),
        sparse.csr_array(X.astype(np.longdouble)),
    ],
    ids=str,
)
def test_every_matrix_type_gives_the_same(made):
    assert ClassCounts.from_matrix(made, Y) == ClassCounts.from_matrix(X, Y)


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([3, 1, 3, 1], [1, 3]),
        ([True, False, True, False], [False, True]),
        ([2.5, -1.0, 2.5, -1.0], [-1.0, 2.5]),
        (np.array(["b", "a", "b", "a"], dtype=object), ["a", "b"]),
        (np.array([3, 1, 3, 1], dtype=object), [1, 3]),
        (pd.Series(["b", "a", "b", "a"]), ["a", "b"]),
        (pd.Series(["b", "a", "b", "a"], dtype="category"), ["a", "b"]),
        (pl.Series(["b", "a", "b", "a"]), ["a", "b"]),
        (pl.Series([3, 1, 3, 1]), [1, 3]),
        (["é", "a", "é", "a"], ["a", "é"]),
    ],
    ids=repr,
)
def test_label_types(y, classes):
    counts = ClassCounts.from_matrix(X, y)
    assert counts.classes.tolist() == classes
    assert counts.classes.tolist() == np.unique(np.asarray(y)).tolist()
    np.testing.assert_array_equal(counts.feature_count, [[0, 3, 6], [5, 0, 2]])
    again = ClassCounts.from_matrix(X, y, classes=classes[::-1])
    assert again.classes.tolist() == classes
    np.testing.assert_array_equal(again.feature_count, counts.feature_count)


def test_classes_without_rows_are_kept():
    counts = ClassCounts.from_matrix(X, Y, classes=["c", "b", "a"])
    assert counts.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(counts.class_count, [2, 2, 0])
    np.testing.assert_array_equal(counts.feature_count[2], 0)
    moments = ClassCounts.from_matrix(X, Y, classes=["a", "b", "c"], kind="moments")
    np.testing.assert_array_equal(moments.mean[2], 0)


def test_no_aliasing_of_the_input():
    data, y = X.astype(float), Y.copy()
    names = np.array(["p", "q", "r"], dtype=object)
    known = np.array(["a", "b"])
    counts = ClassCounts.from_matrix(data, y, feature_names=names, classes=known)
    before = counts.scaled(1)
    data[:], y[:], names[:], known[:] = 9, "z", "z", "z"
    assert counts == before
    table, weight = np.ones((2, 3)), np.ones(2)
    direct = ClassCounts(["a", "b"], weight, table)
    table[:], weight[:] = 7, 7
    assert direct == ClassCounts(["a", "b"], [1, 1], np.ones((2, 3)))


def test_the_input_is_not_written_to():
    unsorted = sparse.csr_array(
        (np.array([1.0, 2.0, 3.0]), np.array([2, 0, 2]), np.array([0, 3, 3])),
        shape=(2, 3),
    )
    for kind in ("count", "binary", "moments", "category"):
        ClassCounts.from_matrix(unsorted, [0, 1], kind=kind)
        assert unsorted.indices.tolist() == [2, 0, 2]
        assert unsorted.data.tolist() == [1, 2, 3]


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array])
def test_duplicate_entries_are_summed_first(make):
    coo = sparse.coo_array(([2.0, -1.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    if make is sparse.csr_array:
        dup = make((coo.data, [1, 1, 0], [0, 2, 3]), shape=(2, 2))
    else:
        dup = make(([3.0, 2.0, -1.0], [1, 0, 0], [0, 1, 3]), shape=(2, 2))
    assert not dup.has_canonical_format
    dense = dup.toarray()
    for kind in ("count", "binary", "moments", "category"):
        counted = ClassCounts.from_matrix(dup, [0, 1], kind=kind)
        assert counted == ClassCounts.from_matrix(dense, [0, 1], kind=kind)
    chunked = ClassCounts.from_chunks([(dup, [0, 1]), (dup, [0, 1])])
    assert chunked == ClassCounts.from_matrix(dense, [0, 1]).scaled(2)


def bad(value, dtype=float):
    data = np.ones((3, 4), dtype=dtype)
    data[1, 2] = value
    return data


@pytest.mark.parametrize(
    "make", [np.array, np.asfortranarray, sparse.csr_array, sparse.csc_array]
)
@pytest.mark.parametrize(
    ("kind", "value", "match"),
    [
        (
            "count",
            -1.5,
            "^Negative value -1.5 found in column 2, row 1; class counts need",
        ),
        ("count", np.nan, r"NaN found in column 2"),
        ("count", np.inf, r"inf.* found in column 2"),
        ("binary", np.nan, "NaN found in column 2"),
        ("binary", -np.inf, r"\(inf\) found in column 2"),
        ("moments", np.nan, "NaN .*class moments need finite values"),
        ("category", -1, "Negative value -1.0 found in column 2.*integer codes"),
        ("category", 1.5, "Value 1.5 found in column 2.*integer codes"),
        ("category", 1e12, r"under 2\*\*31"),
        ("category", np.nan, "NaN"),
    ],
)
def test_bad_values_are_named(make, kind, value, match):
    with pytest.raises(ValueError, match=match):
        ClassCounts.from_matrix(make(bad(value)), [0, 1, 1], kind=kind)


def test_bad_values_name_the_feature():
    names = ["a", "b", "price", "d"]
    frame = pd.DataFrame(bad(-1.5), columns=names)
    with pytest.raises(ValueError, match=r"feature 'price' \(column 2\)"):
        ClassCounts.from_matrix(frame, [0, 1, 1])
    with pytest.raises(ValueError, match=r"feature 'price' \(column 2\).*0 or 1"):
        count_matrix(
            bad(3),
            np.array([0, 1, 1]),
            np.array([0, 1]),
            kind="binary",
            binarize=None,
            names=np.array(names),
        )


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"y": [0, 1]}, "one label per row of X, 4 in all. Got 2"),
        ({"y": [[0], [1], [0], [1]]}, "y must have one dimension"),
        ({"y": [0, 1, np.nan, 1]}, "must not be missing. Got nan at row 2"),
        (
            {"y": np.array(["a", None, "b", "a"], dtype=object)},
            "missing. Got None at row 1",
        ),
        ({"y": np.array(["a", 1, "b", "a"], dtype=object)}, "mix of int and str"),
        ({"y": np.array(["2020-01-01"] * 4, dtype="M8[D]")}, "Labels must be strings"),
        ({"y": ["a", "b", "c", "a"], "classes": ["a", "b"]}, "label 'c' at row 2"),
        ({"y": [0, 1, 7, 1], "classes": [0, 1]}, "label 7 at row 2 of y is not one of"),
        ({"y": [0, 1, 1, 1], "classes": ["0", "1"]}, "label 0 at row 0"),
        ({"y": ["0", "1", "1", "1"], "classes": [0, 1]}, "label '0' at row 0"),
        ({"sample_weight": [1, 1, 1]}, "one weight per row, 4 in all"),
        ({"sample_weight": [1, -2, 1, 1]}, "negative weight .-2.0. at row 1"),
        ({"sample_weight": [1, 1, np.nan, 1]}, "NaN"),
        ({"sample_weight": [1, 1, np.inf, 1]}, "infinity"),
        ({"sample_weight": [0, 0, 0, 0]}, "Got only zeros"),
        ({"sample_weight": ["x"] * 4}, "sample_weight must hold real numbers"),
        ({"kind": "counts"}, "'kind' parameter must be one of 'count'"),
        ({"kind": "moments", "binary": True}, "binary=True means kind='binary'"),
        ({"binarize": 1.0}, "'binarize' parameter is for kind='binary' only"),
        ({"min_categories": 3}, "'min_categories' parameter is for kind='category'"),
        (
            {"kind": "category", "min_categories": 0},
            "'min_categories' parameter must be",
        ),
        (
            {"kind": "category", "min_categories": [1, 2]},
            "one entry per column, 3 in all",
        ),
        ({"kind": "binary", "binarize": np.nan}, "binarize.*NaN"),
        ({"feature_names": ["a"]}, "one name per column, 3 in all. Got 1"),
        ({"feature_names": ["a", 2, "c"]}, "sequence of str. Got int 2 at position 1"),
        ({"X": np.ones(4)}, "two dimensions"),
        ({"X": np.ones((4, 0))}, "at least one column"),
        ({"X": np.ones((0, 3)), "y": []}, "at least one row"),
        ({"X": X.astype(complex)}, "real numbers"),
        ({"X": sparse.csr_array(X.astype(complex))}, "real numbers"),
        ({"X": np.array([["a"]] * 4)}, "real numbers"),
        ({"X": np.array([[1, "a"]] * 4, dtype=object)}, "Got 'a' in column 1"),
        ({"X": np.ma.array(X, mask=X > 3)}, "masked"),
        ({"X": pd.DataFrame({"s": list("abcd")})}, "column 's'"),
        ({"X": pl.DataFrame({"s": list("abcd")})}, "column 's'"),
        ({"X": pd.DataFrame({"t": pd.to_datetime(["2020"] * 4)})}, "column 't'"),
        (
            {"X": pd.DataFrame({"n": [1, None, 2, 3]}, dtype="Int64")},
            "NaN found in feature 'n'",
        ),
        ({"X": pl.DataFrame({"n": [1, None, 2, 3]})}, "NaN found in feature 'n'"),
        (
            {"X": pd.DataFrame({"n": X[:, 0]}).astype(pd.SparseDtype(float, 1.0))},
            "fill value 0",
        ),
        (
            {"X": sparse.csr_array(X), "binary": True, "binarize": -1.0},
            "must be >= 0 for sparse",
        ),
        ({"X": np.full((4, 1), 1e308)}, "overflow"),
        ({"X": 1e200 * (X > 1), "y": [0] * 4, "kind": "moments"}, "overflow"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_refusals(options, match):
    call = {"X": X, "y": [0, 1, 0, 1]} | options
    with pytest.raises(ValueError, match=match):
        ClassCounts.from_matrix(**call)


def test_many_classes_stay_sparse():
    rng = np.random.default_rng(0)
    n, m, k = 20_000, 10_000, 1_000
    wide = sparse.random_array((n, m), density=5e-4, rng=rng, format="csr")
    y = rng.integers(0, k, n)
    whole = ClassCounts.from_matrix(wide, y, classes=np.arange(k))
    assert isinstance(whole.feature_count, np.ndarray)  # 1e7 cells: still dense
    previous = _layout.DENSE_CELLS
    _layout.DENSE_CELLS = 10**6
    try:
        for made in (wide, wide.tocsc()):
            tracemalloc.start()
            counts = ClassCounts.from_matrix(made, y, classes=np.arange(k))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert isinstance(counts.feature_count, sparse.csc_array)
            assert counts.feature_count.has_sorted_indices
            assert peak < k * m * 8 / 10
            assert "stored cells" in repr(counts)
            np.testing.assert_array_equal(
                counts.feature_count.toarray(), whole.feature_count
            )
        assert isinstance((counts + counts).feature_count, sparse.csc_array)
        assert counts + counts == counts.scaled(2)
        assert isinstance(counts.select([1, 2]).feature_count, np.ndarray)
    finally:
        _layout.DENSE_CELLS = previous


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("weighted", [False, True])
def test_categories_of_many_classes(make, weighted, monkeypatch):
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, (60, 7)) * (rng.random((60, 7)) < 0.5)
    y = rng.integers(0, 5, 60)
    weights = rng.integers(1, 5, 60) / 2 if weighted else None
    expected = ClassCounts.from_matrix(codes, y, weights, kind="category")
    monkeypatch.setattr(_layout, "DENSE_CELLS", 10)
    counts = ClassCounts.from_matrix(make(codes), y, weights, kind="category")
    assert isinstance(counts.feature_count, sparse.csc_array)
    assert counts.feature_count.data.all()
    np.testing.assert_array_equal(
        counts.feature_count.toarray(), expected.feature_count
    )


def test_two_classes_are_always_a_numpy_array(monkeypatch):
    monkeypatch.setattr(_layout, "DENSE_CELLS", 1)
    counts = ClassCounts.from_matrix(sparse.csr_array(X), Y)
    assert isinstance(counts.feature_count, np.ndarray)
    three = ClassCounts.from_matrix(sparse.csr_array(X), [0, 1, 2, 1])
    assert isinstance(three.feature_count, sparse.csc_array)
    dense = ClassCounts.from_matrix(X, [0, 1, 2, 1])
    assert dense == three


def test_count_matrix_for_estimators():
    counts = count_matrix(
        X, np.array([1, 0, 1, 0], dtype=np.int32), np.array(["a", "b"]), kind="count"
    )
    assert counts == ClassCounts.from_matrix(X, Y)
    ones = (X > 0).astype(np.uint8)
    strict = count_matrix(
        ones,
        np.array([1, 0, 1, 0]),
        np.array(["a", "b"]),
        None,
        kind="binary",
        binarize=None,
    )
    assert strict == ClassCounts.from_matrix(X, Y, binary=True)


ODD_INDICES = [
    (np.int16, np.int32),
    (np.int8, np.int16),
    (np.uint32, np.int32),
    (np.uint64, np.int64),
    (np.uint64, np.uint64),
    (np.dtype(">i4"), np.int32),
]


def with_indices(matrix, indices, pointers):
    """A copy whose indices were set by hand, which SciPy lets one do."""
    matrix = matrix.copy()
    matrix.indices = matrix.indices.astype(indices)
    matrix.indptr = matrix.indptr.astype(pointers)
    return matrix


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
@pytest.mark.parametrize("types", ODD_INDICES)
def test_indices_of_any_integer_type(make, types):
    X = np.random.default_rng(0).integers(0, 2, size=(30, 9))
    y = np.arange(30) % 3
    odd = with_indices(make(X), *types)
    for kind in ("count", "binary", "moments", "category"):
        expected = ClassCounts.from_matrix(make(X), y, kind=kind)
        assert ClassCounts.from_matrix(odd, y, kind=kind) == expected
        assert ClassCounts.from_chunks([(odd, y)], kind=kind) == expected
    for model in (SparseMultinomialNB(k=3), SelectiveBernoulliNB()):
        fitted, plain = clone(model).fit(odd, y), clone(model).fit(make(X), y)
        np.testing.assert_array_equal(fitted.predict_proba(odd), plain.predict_proba(X))
    selector = NaiveFeatureSelector(k=3).fit(odd, y)
    np.testing.assert_array_equal(
        selector.transform(odd).toarray(), X[:, selector.get_support()]
    )


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        (np.array([0, 2**63], dtype=np.uint64), r"0\.\.2\. Got 9223372036854775808"),
        (np.array([0, -1], dtype=np.int16), r"indices must lie in 0\.\.2\. Got -1"),
        (np.array([0.0, 1.0]), r"indices .* must be integers. Got dtype float64"),
    ],
)
def test_indices_that_cannot_be_are_one_sentence(indices, message):
    X = sparse.csr_array(np.array([[1, 1, 0], [0, 0, 0]]))
    X.indices = indices
    with pytest.raises(ValueError, match=message):
        ClassCounts.from_matrix(X, [0, 1])
