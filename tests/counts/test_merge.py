"""Adding, subtracting, scaling and selecting class counts."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from bayesieve.counts import ClassCounts, _layout
from bayesieve.solvers import solve_multinomial
from bayesieve.solvers._gaussian import gaussian_problem

KINDS = ["count", "binary", "moments", "category"]


def counts_of(data, y, **options):
    return ClassCounts.from_matrix(np.array(data), y, **options)


def test_union_of_vocabularies_by_hand():
    a = counts_of([[1, 2], [3, 4]], ["x", "y"], feature_names=["cat", "dog"])
    b = counts_of([[5, 6], [7, 8]], ["y", "z"], feature_names=["emu", "cat"])
    both = a + b
    assert both.feature_names.tolist() == ["cat", "dog", "emu"]
    assert both.classes.tolist() == ["x", "y", "z"]
    np.testing.assert_array_equal(
        both.feature_count, [[1, 2, 0], [3 + 6, 4, 5], [8, 0, 7]]
    )
    np.testing.assert_array_equal(both.class_count, [1, 2, 1])
    back = both - b
    np.testing.assert_array_equal(back.feature_count, [[1, 2, 0], [3, 4, 0], [0, 0, 0]])
    assert back.class_count.tolist() == [1, 1, 0]


def test_union_as_sparse_tables_is_the_same(monkeypatch):
    def build():
        a = counts_of([[1, 2], [3, 4]], ["x", "y"], feature_names=["cat", "dog"])
        b = counts_of([[5, 0], [7, 8]], ["y", "z"], feature_names=["emu", "cat"])
        b = b + counts_of([[1, 0]], ["w"], feature_names=["emu", "cat"])
        return a, b, a + b

    dense = build()[2].feature_count
    monkeypatch.setattr(_layout, "DENSE_CELLS", 0)
    a, b, both = build()
    assert isinstance(both.feature_count, sparse.csc_array)
    np.testing.assert_array_equal(both.feature_count.toarray(), dense)
    back = both - b
    assert isinstance(back.feature_count, sparse.csc_array)
    assert back.feature_count.data.all()
    with pytest.raises(
        ValueError, match=r"to take from 0.0 \(class 'x', feature 'cat'"
    ):
        ClassCounts(
            both.classes,
            both.class_count,
            both.feature_count * 0,
            feature_names=both.feature_names,
        ) - ClassCounts(
            both.classes,
            both.class_count,
            both.feature_count,
            feature_names=both.feature_names,
        )
    assert both.select([2, 0]).feature_names.tolist() == ["emu", "cat"]
    assert a + b == pickle.loads(pickle.dumps(both))


@pytest.mark.parametrize("kind", KINDS)
def test_different_order_of_names_is_matched(kind):
    data = np.array([[1, 0, 2], [0, 3, 1], [1, 1, 0]])
    a = counts_of(data, [0, 1, 1], kind=kind, feature_names=["p", "q", "r"])
    b = counts_of(data[:, [2, 0, 1]], [0, 1, 1], kind=kind, feature_names=list("rpq"))
    both, twice = a + b, a.scaled(2)
    np.testing.assert_allclose(both.feature_count, twice.feature_count)
    if kind == "moments":
        np.testing.assert_allclose(both.centred_squares, twice.centred_squares)
    left = both - b
    np.testing.assert_allclose(left.feature_count, a.feature_count)


def test_categories_grow():
    a = counts_of([[0, 1], [2, 0]], [0, 1], kind="category")
    b = counts_of([[1, 3]], [1], kind="category")
    both = a + b
    whole = counts_of([[0, 1], [2, 0], [1, 3]], [0, 1, 1], kind="category")
    assert both == whole == b + a
    np.testing.assert_array_equal((both - b).class_count, a.class_count)
    with pytest.raises(ValueError, match=r"include their categories. Got 4 categories"):
        a - b


def test_moments_merge_by_hand():
    # 1, 3 and 5, 7: merged mean 4, squares 9 + 1 + 1 + 9 = 20.
    a = counts_of([[1.0], [3.0]], [0, 0], kind="moments")
    b = counts_of([[5.0], [7.0]], [0, 0], kind="moments")
    both = a + b
    np.testing.assert_array_equal(both.mean, [[4]])
    np.testing.assert_array_equal(both.centred_squares, [[20]])
    rest = both - b
    np.testing.assert_allclose(rest.mean, [[2]])
    np.testing.assert_allclose(rest.centred_squares, [[2]])
    nothing = both - both
    np.testing.assert_array_equal(nothing.mean, 0)
    np.testing.assert_array_equal(nothing.centred_squares, 0)
    wild = counts_of([[-100.0], [100.0]], [0, 0], kind="moments")
    with pytest.raises(ValueError, match="centred squares"):
        both - wild


def test_document_counts_follow():
    a = ClassCounts([0, 1], [2, 2], [[3, 1], [0, 2]], document_count=[[2, 1], [0, 1]])
    both = a + a
    np.testing.assert_array_equal(both.document_count, [[4, 2], [0, 2]])
    assert both - a == a
    assert a.scaled(2) == both
    np.testing.assert_array_equal(a.select([1]).document_count, [[1], [1]])
    plain = ClassCounts([0, 1], [2, 2], [[3, 1], [0, 2]])
    assert (a + plain).document_count is None
    assert (a - plain).document_count is None


def test_residue_is_clipped_and_more_is_refused():
    a = ClassCounts([0, 1], [1, 1], [[0.3, 1], [1, 1]])
    b = ClassCounts([0, 1], [1, 1], [[0.1 + 0.2, 1], [1, 1]])  # above 0.3 by rounding
    assert (a - b).feature_count.tolist() == [[0, 0], [0, 0]]
    c = ClassCounts([0, 1], [1, 1], [[0.31, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"feature_count 0.31 to take from 0.3 .*col"):
        a - c
    with pytest.raises(ValueError, match=r"class_count 2.0 to take from 1.0 .class 0."):
        a - ClassCounts([0, 1], [2, 1], [[0, 0], [0, 0]])


@pytest.mark.parametrize(
    ("a", "b", "match"),
    [
        ({}, {"kind": "binary"}, "same kind. Got 'count' and 'binary'"),
        ({}, {"feature_names": ["a", "b"]}, "names on the right and none on the left"),
        ({"feature_names": ["a", "b"]}, {}, "names on the left and none on the right"),
        ({}, {"data": [[1, 2, 3]] * 2}, "same number of features. Got 2 and 3"),
        ({}, {"y": ["0", "1"]}, "of one kind. Got number .* and text"),
        ({"y": [False, True]}, {}, "of one kind. Got bool .* and number"),
        (
            {"feature_names": ["a", "a"]},
            {"feature_names": ["a", "b"]},
            "distinct .*Got 'a' twice",
        ),
        (
            {"feature_names": ["a", "b"], "kind": "moments"},
            {"feature_names": ["a", "c"], "kind": "moments"},
            "absent column is not a zero. Got 'c'",
        ),
        (
            {"feature_names": ["a", "b"], "kind": "category"},
            {"feature_names": ["a"], "data": [[1], [1]], "kind": "category"},
            "Got 'b' on one side only",
        ),
    ],
)
def test_tables_that_do_not_fit(a, b, match):
    base = {"data": [[1, 2], [3, 4]], "y": [0, 1]}
    with pytest.raises(ValueError, match=match):
        counts_of(**(base | a)) + counts_of(**(base | b))


def test_subtraction_needs_a_part():
    a = counts_of([[1, 2], [3, 4]], ["x", "y"], feature_names=["p", "q"])
    other_class = counts_of([[1, 2]], ["z"], feature_names=["p", "q"])
    with pytest.raises(ValueError, match=r"class .*'z'.* on the right only"):
        a - other_class
    other_name = counts_of([[1, 2]], ["x"], feature_names=["p", "zebra"])
    with pytest.raises(ValueError, match=r"feature 'zebra' on the right only"):
        a - other_name
    part = counts_of([[3]], ["y"], feature_names=["p"])
    np.testing.assert_array_equal((a - part).feature_count, [[1, 2], [0, 4]])
    for kind in ("moments", "category"):
        whole = counts_of([[1, 2]], ["x"], feature_names=["p", "q"], kind=kind)
        some = counts_of([[1]], ["x"], feature_names=["p"], kind=kind)
        with pytest.raises(ValueError, match="Got 'q' on the left only"):
            whole - some


def test_sum_and_foreign_operands():
    a = counts_of([[1, 2], [3, 4]], [0, 1])
    assert sum([a, a, a]) == a.scaled(3)
    for operation in (lambda: a + 1, lambda: 1 + a, lambda: a - 1, lambda: a - "a"):
        with pytest.raises(TypeError):
            operation()
    assert a != 1
    with pytest.raises(TypeError):
        hash(a)


def test_mixed_text_dtypes_of_classes():
    a = counts_of([[1], [2]], np.array(["x", "y"], dtype=object))
    b = counts_of([[1], [2]], np.array(["y", "long"]))
    assert (a + b).classes.tolist() == ["long", "x", "y"]
    c = counts_of([[1], [2]], np.array([1, 2], dtype=np.int8))
    d = counts_of([[1], [2]], np.array([2, 300], dtype=np.int64))
    assert (c + d).classes.tolist() == [1, 2, 300]


@pytest.mark.parametrize("factor", [0, -1, np.nan, np.inf])
def test_scaled_needs_a_positive_factor(factor):
    with pytest.raises(ValueError, match="finite number > 0"):
        counts_of([[1]], [0]).scaled(factor)
    with pytest.raises(TypeError, match=r"number > 0\. Got str"):
        counts_of([[1]], [0]).scaled("2")


@pytest.mark.parametrize("kind", KINDS)
def test_select(kind):
    data = np.array([[1, 0, 2], [0, 3, 1], [1, 1, 0]])
    names = ["p", "q", "r"]
    whole = counts_of(data, [0, 1, 1], kind=kind, feature_names=names)
    for chosen in ([2, 0], [-1, 0], [], [False, True, True]):
        columns = np.arange(3)[
            np.array(chosen, dtype=bool if len(chosen) == 3 else int)
        ]
        part = whole.select(chosen)
        assert part.feature_names.tolist() == [names[j] for j in columns]
        assert part.n_features == len(columns)
        if len(columns):
            assert part == counts_of(
                data[:, columns],
                [0, 1, 1],
                kind=kind,
                feature_names=[names[j] for j in columns],
            )
    for wrong, match in (
        ([3], "must lie in 0 .. 2. Got 3"),
        ([True], "one entry per feature"),
        ([0.5], "integers or a boolean mask"),
        ([[0]], "one dimension"),
    ):
        with pytest.raises(ValueError, match=match):
            whole.select(wrong)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"classes": [1, 0]}, "sorted 1-D array of distinct"),
        ({"classes": [0, 0]}, "sorted 1-D array of distinct"),
        ({"class_count": [1]}, "class_count must have shape"),
        ({"class_count": [1, -1]}, "class_count must hold finite numbers >= 0"),
        ({"feature_count": [[1, np.nan], [1, 1]]}, "feature_count must hold finite"),
        ({"feature_count": [[1, 1]]}, "feature_count must have shape"),
        ({"feature_count": None}, "needs feature_count"),
        ({"kind": "moments", "feature_count": None}, "needs mean"),
        ({"kind": "category"}, "needs n_categories"),
        ({"kind": "category", "n_categories": [3]}, "add up to the columns"),
        ({"kind": "other"}, "kind must be one of"),
        ({"feature_names": ["a"]}, "one name per column"),
        ({"document_count": [[1], [1]]}, "document_count must have shape"),
    ],
)
def test_the_constructor_checks_its_parts(options, match):
    good = {
        "classes": [0, 1],
        "class_count": [1, 1],
        "feature_count": [[1, 2], [3, 4]],
    }
    with pytest.raises(ValueError, match=match):
        ClassCounts(**(good | options))


def test_a_column_that_is_taken_away_whole_is_empty():
    # The same fractions added in another order: what is left is rounding, not a count.
    random = np.random.default_rng(0)
    for _ in range(20):
        X = random.integers(1, 9, size=(12, 3))
        X[6:, 0] = 0
        y, weights = np.repeat([0, 1, 0, 1], 3), random.integers(1, 10, size=12) / 10

        def counted(rows, X=X, y=y, weights=weights):
            return ClassCounts.from_matrix(
                X[rows], y[rows], weights[rows], classes=[0, 1]
            )

        first, last = np.arange(6), np.arange(6, 12)
        whole = counted(first[::-1]) + counted(last)
        rest = whole - counted(first[::2]) - counted(first[1::2])
        assert rest.feature_count[:, 0].tolist() == [0, 0]
        np.testing.assert_allclose(rest.class_count, counted(last).class_count)
        assert solve_multinomial(rest, k=2, alpha=1e-9).support.tolist() == [1, 2]


@pytest.mark.parametrize("dense_cells", [_layout.DENSE_CELLS, 0])
def test_sums_of_many_fractions_leave_nothing(monkeypatch, dense_cells):
    # Adding 0.1 a hundred thousand times is off by 1.9e-8: 1.9e-12 of the sum.
    monkeypatch.setattr(_layout, "DENSE_CELLS", dense_cells)
    n = 100_000
    drifted = float(np.bincount(np.zeros(n, dtype=int), np.full(n, 0.1))[0])
    assert drifted != n * 0.1
    whole = ClassCounts(
        [0, 1, 2], [drifted, 2, 1], [[drifted, 0.1], [drifted + 0.25, 1], [3, 4]]
    )
    part = ClassCounts([0, 1, 2], [n * 0.1, 1, 1], [[n * 0.1, 0], [n * 0.1, 0], [1, 0]])
    rest = whole - part
    table = rest.feature_count
    table = table if isinstance(table, np.ndarray) else table.toarray()
    np.testing.assert_allclose(table, [[0, 0.1], [0.25, 1], [2, 4]], rtol=1e-6)
    assert table[0, 0] == 0
    assert rest.class_count.tolist() == [0, 1, 0]


@pytest.mark.parametrize("dense_cells", [_layout.DENSE_CELLS, 0])
def test_integers_are_subtracted_exactly(monkeypatch, dense_cells):
    monkeypatch.setattr(_layout, "DENSE_CELLS", dense_cells)
    large = [1e15 + 1, 2.0**53, 1e10 + 1]
    a = ClassCounts([0, 1, 2], large, [[value, 1] for value in large])
    b = ClassCounts(
        [0, 1, 2], [1e15, 2.0**53 - 1, 1e10], [[1e15, 0], [2.0**53 - 1, 0], [1e10, 0]]
    )
    table = (a - b).feature_count
    table = table if isinstance(table, np.ndarray) else table.toarray()
    assert table.tolist() == [[1, 1]] * 3
    assert (a - b).class_count.tolist() == [1, 1, 1]


def test_codes_that_no_row_has_are_not_left_by_rounding():
    # Code 0 of a sparse column is what the others leave: nothing here.
    X = np.array([[1, 2], [2, 1], [1, 1], [1, 1], [1, 1]])
    weights = [0.1, 0.2, 0.3, 0.3, 0.7]
    y = [0, 0, 0, 1, 2]
    dense = ClassCounts.from_matrix(X, y, weights, kind="category")
    thin = ClassCounts.from_matrix(sparse.csr_array(X), y, weights, kind="category")
    empty = dense.feature_count == 0
    np.testing.assert_array_equal(thin.feature_count == 0, empty)


def exact_squares(values):
    values = [Fraction(float(value)) for value in values]
    mean = sum(values) / len(values)
    return mean, sum((value - mean) ** 2 for value in values)


@pytest.mark.parametrize("centre", [0.0, 1.0, -1e4, 1e8, 1e12])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e3])
@pytest.mark.parametrize(("n", "n_taken"), [(20, 5), (200, 199), (500, 250), (500, 5)])
@pytest.mark.parametrize("chunks", [1, 20])
def test_moments_are_subtracted_to_their_rounding(centre, scale, n, n_taken, chunks):
    def counted(values):
        return ClassCounts.from_matrix(
            values[:, None], np.zeros(len(values)), kind="moments"
        )

    random = np.random.default_rng(n)
    x = centre + scale * random.normal(size=n)
    x[:n_taken] += 3 * scale
    whole = sum(counted(part) for part in np.array_split(x, chunks))
    rest = whole - counted(x[:n_taken])
    # Bounds from exact sums: S_a - S_b - d^2 lever, each term to some units in the last
    # place, and d to those of both means.
    mean, squares = exact_squares(x[n_taken:])
    (mean_a, squares_a), (mean_b, squares_b) = map(exact_squares, (x, x[:n_taken]))
    lever = n * n_taken / (n - n_taken)
    d = abs(float(mean_a - mean_b))
    unit = np.finfo(float).eps
    e = 8 * unit * float(abs(mean_a) + abs(mean_b))
    terms = float(squares_a + squares_b) + d * d * lever
    bound = 64 * unit * terms + (2 * d + e) * e * lever
    found = float(rest.centred_squares[0, 0])
    assert abs(Fraction(found) - squares) <= bound or found == 0
    if float(squares) > 16 * bound:  # zero is for what rounding cannot tell from it
        assert found > 0
    assert abs(Fraction(float(rest.mean[0, 0])) - mean) <= e * n / (n - n_taken)


def test_variance_around_a_large_mean_is_kept():
    x = 1e8 + np.random.default_rng(0).normal(size=(2000, 1))
    y = np.zeros(2000)
    whole = ClassCounts.from_matrix(x, y, kind="moments")
    rest = whole - ClassCounts.from_matrix(x[:1000], y[:1000], kind="moments")
    np.testing.assert_allclose(rest.centred_squares, 1000 * x[1000:].var(), rtol=1e-7)


def test_a_column_that_is_constant_in_what_is_left_is_not_selected():
    random = np.random.default_rng(3)
    for _ in range(20):
        X = 5 + 3 * random.normal(size=(60, 2))
        X[30:, 0] = 0.7
        y = random.integers(0, 2, 60)
        whole, part = (
            ClassCounts.from_matrix(X[:n], y[:n], kind="moments", classes=[0, 1])
            for n in (60, 30)
        )
        problem = gaussian_problem(whole - part, variance="class", solver="test")
        assert problem.eligible.tolist() == [False, True]


def test_no_more_rows_have_a_feature_than_there_are():
    random = np.random.default_rng(0)
    for _ in range(200):
        X, y = random.integers(0, 2, (40, 6)), np.arange(40) % 2
        X[y == 0, 0] = 1
        weights = random.integers(1, 10, 40) / 10

        def counted(rows, X=X, y=y, weights=weights):
            return ClassCounts.from_matrix(
                X[rows], y[rows], weights[rows], kind="binary"
            )

        rest = counted(slice(None)) - counted(slice(19, None, -1))
        assert (rest.feature_count <= rest.class_count[:, None]).all()
