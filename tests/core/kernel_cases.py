"""Every kernel of the compiled core with an input to run it on.

Used where all kernels must keep one promise: they listen (`test_listening`), they
survive when memory or threads run out (`test_faults`), sanitizers find nothing in them.
`size` is about the number of numbers a kernel has to look at.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bayesieve import _core
from bayesieve.text._options import TextOptions
from bayesieve.text._term_names import pack

Call = Callable[[], Any]
CASES: dict[str, Callable[[int], Call]] = {}

#: What is done at once, whatever it is given, or only makes an object.
INSTANT = {
    "ThreadLimit",
    "TimeLimit",
    "TimeLimit.reached",
    "TimeLimitReached",
    "available_threads",
    "DenseColumns",
    "SparseColumns",
    "TextTables",
    "text_tables",
    "KeyCounter",
    "KeyCounter.class_rows",
    "KeyCounter.nbytes",
    "KeyCounter.spilled_bytes",
    "SequenceReader",
    "SequenceReader.finish",
    "SequenceReader.letters",
    "SequenceReader.others",
    "SequenceReader.records",
    "TextPlan",
    "text_plan",
    "TextCounter",
    "TextCounter.nbytes",
    "TextCounter.spilled_bytes",
    "TextCounter.longest_search",
    "TermMatcher.nbytes",
    "text_hash",
    "HISTOGRAM_SHIFT",
}


def kernel(name: str) -> Callable[[Callable[[int], Call]], Callable[[int], Call]]:
    """Register an input; a name may be followed by a dot and a variant."""

    def register(make: Callable[[int], Call]) -> Callable[[int], Call]:
        assert name not in CASES
        CASES[name] = make
        return make

    return register


def kernel_of(case: str) -> str:
    """The name of the kernel that a case runs."""
    return case.split(":")[0]


def _random(size: int) -> np.random.Generator:
    return np.random.default_rng(size)


# --------------------------------------------------------------------- class sums


def _compressed(size: int, form: str, rows: int, columns: int) -> Any:
    rng = _random(size)
    major, minor = (rows, columns) if form == "csr" else (columns, rows)
    each = max(1, size // major)
    indices = rng.integers(0, minor, major * each).astype(np.int32)
    indptr = np.arange(0, major * each + 1, each, dtype=np.int64)
    return (
        rng.integers(0, 3, major * each).astype(np.float64),
        indices,
        indptr,
        form == "csr",
    )


def _codes(rows: int, classes: int) -> Any:
    return _random(rows).integers(0, classes, rows)


ROWS, COLUMNS = 2000, 50_000


def _class_sums(form: str, classes: int, rows: int, columns: int) -> Any:
    def make(size: int) -> Call:
        x = _compressed(size, form, rows, columns)
        out = np.zeros((classes, columns))
        codes = _codes(rows, classes)
        return lambda: _core.compressed_class_sums(*x, codes, None, 0, 0.0, out)

    return make


# Shared among threads by class, by stripes or blocks of columns, not at all.
kernel("compressed_class_sums:classes")(_class_sums("csr", 2, ROWS, COLUMNS))
kernel("compressed_class_sums:stripes")(_class_sums("csr", 1, ROWS, COLUMNS))
kernel("compressed_class_sums:columns")(_class_sums("csc", 3, ROWS, COLUMNS))
kernel("compressed_class_sums:narrow")(_class_sums("csr", 2, ROWS, 30))


def _dense(size: int, columns: int, order: Any) -> Any:
    rows = max(1, size // columns)
    return np.asarray(
        _random(size).integers(0, 3, (rows, columns)).astype(np.float32), order=order
    )


@kernel("dense_class_sums:rows")
def _(size: int) -> Call:
    X = _dense(size, 700, "C")
    codes, out = _codes(X.shape[0], 3), np.zeros((3, X.shape[1]))
    return lambda: _core.dense_class_sums(X, codes, None, 0, 0.0, out)


@kernel("dense_class_sums:columns")
def _(size: int) -> Call:
    X = _dense(size, 40, "F")
    codes, out = _codes(X.shape[0], 3), np.zeros((3, X.shape[1]))
    return lambda: _core.dense_class_sums(X, codes, None, 0, 0.0, out)


@kernel("compressed_centred_sums")
def _(size: int) -> Call:
    x = _compressed(size, "csr", ROWS, COLUMNS)
    mean, *out = (np.zeros((3, COLUMNS)) for _ in range(4))
    codes = _codes(ROWS, 3)
    return lambda: _core.compressed_centred_sums(*x, codes, None, mean, *out)


@kernel("dense_centred_sums")
def _(size: int) -> Call:
    X = _dense(size, 700, "C")
    mean, *out = (np.zeros((3, X.shape[1])) for _ in range(3))
    codes = _codes(X.shape[0], 3)
    return lambda: _core.dense_centred_sums(X, codes, None, mean, *out)


@kernel("compressed_column_max")
def _(size: int) -> Call:
    x, out = _compressed(size, "csr", ROWS, COLUMNS), np.zeros(COLUMNS, np.int64)
    return lambda: _core.compressed_column_max(*x, ROWS, out)


@kernel("dense_column_max")
def _(size: int) -> Call:
    X = _dense(size, 700, "C")
    out = np.zeros(X.shape[1], np.int64)
    return lambda: _core.dense_column_max(X, out)


@kernel("compressed_category_sums")
def _(size: int) -> Call:
    x = _compressed(size, "csr", ROWS, COLUMNS)
    offsets = np.arange(0, 3 * COLUMNS + 1, 3)
    out, codes = np.zeros((3, 3 * COLUMNS)), _codes(ROWS, 3)
    return lambda: _core.compressed_category_sums(*x, codes, None, offsets, out)


@kernel("dense_category_sums")
def _(size: int) -> Call:
    X = _dense(size, 700, "C")
    offsets = np.arange(0, 3 * X.shape[1] + 1, 3)
    out, codes = np.zeros((3, 3 * X.shape[1])), _codes(X.shape[0], 3)
    return lambda: _core.dense_category_sums(X, codes, None, offsets, out)


@kernel("resample_weights:halves")
def _(size: int) -> Call:
    units, out = np.arange(max(1, size // 20)), np.zeros((max(1, size // 20), 20), "u1")
    return lambda: _core.resample_weights(units, 7, 0, True, out)


@kernel("resample_weights:poisson")
def _(size: int) -> Call:
    units, out = np.arange(max(1, size // 20)), np.zeros((max(1, size // 20), 20), "u1")
    return lambda: _core.resample_weights(units, 7, 0, False, out)


def _replicate_sums(columns: int) -> Any:
    def make(size: int) -> Call:
        data, indices, indptr, _ = _compressed(size, "csc", ROWS, columns)
        weights = _random(size).integers(0, 4, (ROWS, 20)).astype(np.uint8)
        codes, out = _codes(ROWS, 3), np.zeros((20, 3, columns))
        x = (data, indices, indptr)
        return lambda: _core.replicate_class_sums(*x, codes, weights, 0, 0.0, out)

    return make


kernel("replicate_class_sums:wide")(_replicate_sums(COLUMNS // 10))
kernel("replicate_class_sums:narrow")(_replicate_sums(30))


@kernel("has_duplicates")
def _(size: int) -> Call:
    each = max(1, size // 100)
    indices = np.tile(np.arange(each, dtype=np.int32), 100)
    indptr = np.arange(0, 100 * each + 1, each, dtype=np.int64)
    return lambda: _core.has_duplicates(indices, indptr, each)


def _slots(size: int, form: str) -> tuple[Any, Any, Any]:
    x = _compressed(size, form, ROWS, COLUMNS)
    return x, _codes(ROWS, 200), np.zeros(COLUMNS, np.int64)


def _sparse_slots(form: str) -> Any:
    def make(size: int) -> Call:
        x, codes, slots = _slots(size, form)
        return lambda: _core.sparse_class_slots(*x, codes, None, 200, 0, 0.0, slots)

    return make


def _sparse_sums(form: str) -> Any:
    def make(size: int) -> Call:
        x, codes, slots = _slots(size, form)
        _core.sparse_class_slots(*x, codes, None, 200, 0, 0.0, slots)
        starts = np.concatenate([[0], np.cumsum(slots)])
        classes = np.empty(starts[-1], np.int32)
        values = np.empty(starts[-1])
        return lambda: _core.sparse_class_sums(
            *x, codes, None, 200, 0, 0.0, starts, classes, values
        )

    return make


for _form in ("csr", "csc"):
    kernel(f"sparse_class_slots:{_form}")(_sparse_slots(_form))
    kernel(f"sparse_class_sums:{_form}")(_sparse_sums(_form))


# --------------------------------------------------------------------- solvers


def _table(size: int, classes: int) -> Any:
    columns = max(1, size // classes)
    return _random(size).integers(0, 9, (classes, columns)).astype(np.float64)


def _csc(size: int, classes: int) -> Any:
    table = sp.random_array(
        (classes, max(1, 4 * size // classes)),
        density=0.25,
        format="csc",
        rng=_random(size),
    )
    table.data = np.ceil(table.data * 5000.0)  # some beyond the table of x log x
    table.sort_indices()
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), table.data


@kernel("divergence")
def _(size: int) -> Call:
    counts, expected = _table(size, 1)[0], np.full(size, 3.3)
    return lambda: _core.divergence(counts, expected)


@kernel("divergence_gains")
def _(size: int) -> Call:
    table, shares = _table(size, 5) + 1, np.full(5, 0.2)
    return lambda: _core.divergence_gains(table, shares)


@kernel("divergence_gains_csc")
def _(size: int) -> Call:
    parts = _csc(size, 5)
    alpha, shares = np.ones(parts[0].size - 1), np.full(5, 0.2)
    return lambda: _core.divergence_gains_csc(*parts, alpha, shares)


def _columns(kind: str, classes: int, size: int, empty: bool = False) -> Any:
    if kind == "DenseColumns":
        table = _table(size, classes)
        return _core.DenseColumns(0 * table if empty else table, np.ones(1))
    start, row, value = _csc(size, classes)
    value = 0 * value if empty else value
    return _core.SparseColumns(start, row, value, classes, np.ones(1))


def _columns_case(kind: str, method: str, arguments: tuple[Any, ...]) -> None:
    @kernel(f"{kind}.{method}")
    def _(size: int) -> Call:
        columns = _columns(kind, 4, size)
        return lambda: getattr(columns, method)(*arguments)


_SHARES = np.array([0.1, 0.2, 0.3, 0.4])
for _kind in ("DenseColumns", "SparseColumns"):
    _columns_case(_kind, "scan", ())
    _columns_case(_kind, "with_total", (20.0,))
    _columns_case(_kind, "with_gain", (_SHARES, 2.0, 0.0))
    _columns_case(_kind, "gains", (_SHARES, 1e-9))
_columns_case("DenseColumns", "extract", (20.0,))


@kernel("DenseColumns.group_sums")
def _(size: int) -> Call:
    columns = _columns("DenseColumns", 4, size)
    groups = np.arange(max(1, size // 4), dtype=np.int64) % 7
    return lambda: columns.group_sums(_SHARES, 1e-9, 0.0, groups, 7)


def _witnesses_case(kind: str) -> None:
    @kernel(f"{kind}.witnesses")
    def _(size: int) -> Call:
        # A class without any count is looked for to the end.
        columns = _columns(kind, 4, size, empty=True)
        return lambda: columns.witnesses(np.ones(4))


for _kind in ("DenseColumns", "SparseColumns"):
    _witnesses_case(_kind)


@kernel("bernoulli_gains")
def _(size: int) -> Call:
    table, rows = _table(size, 5), np.full(5, 20.0)
    return lambda: _core.bernoulli_gains(table, rows, np.ones(1))


@kernel("bernoulli_columns")
def _(size: int) -> Call:
    table, rows = _table(size, 5), np.full(5, 20.0)
    return lambda: _core.bernoulli_columns(table, rows, np.ones(1), None, 0.5)


@kernel("bernoulli_gains_csc")
def _(size: int) -> Call:
    parts, rows = _csc(size, 5), np.full(5, 6000.0)
    return lambda: _core.bernoulli_gains_csc(*parts, rows, 1.0)


@kernel("relax_two_classes")
def _(size: int) -> Call:
    f = _table(size, 2) + 1
    n = f.shape[1]
    value, _ = _core.divergence_gains(f, np.array([0.5, 0.5]))
    k = max(1, n // 3)
    total = float(f.sum())
    fixed = (k, 0.0, 0.0, 0.0, 0.0, 0.5, 0.5, total, 0.2)
    until = (-np.inf, 0.0, 0.0, 1000, np.inf)
    return lambda: _core.relax_two_classes(
        value, np.zeros(n), f[0], f[1], *fixed, *until
    )


@kernel("search_two_classes")
def _(size: int) -> Call:
    # Words of one class each, nearly alike: the best ones even the classes out.
    n, rng = max(8, size // 2), _random(size)
    f = rng.uniform(1.0, 20.0, (2, n))
    f *= (1.0 + 1e-3 * rng.random(n)) / (f * np.log(2 * f / f.sum(axis=0))).sum(axis=0)
    share, k, none = np.array([0.5, 0.5]), n // 3, np.empty(0, np.int64)
    value, doubt = _core.divergence_gains(f, share)
    value += doubt
    place = np.arange(n)
    total, ordered = f.sum(axis=0), np.sort(value)[::-1]
    candidates = (value, doubt, f[0], f[1], place, place, total.max(), total.sum())
    chosen = (True, none, 0.0, 0.0, 0.0, 0.0, *share, k)
    root = (ordered[:k].sum(), *share, value, ordered[k - 1], ordered[k])
    tolerances = (1e-12, 0.02, 1e-12, 1e-11, 500, 6, 200, 300)
    best = (none, 0.0, 0.0, False)
    return lambda: _core.search_two_classes(
        *candidates, *chosen, *root, *best, *tolerances
    )


@kernel("class_envelope")
def _(size: int) -> Call:
    classes = 20
    f = _table(size, classes) + 1
    f[np.arange(classes), np.arange(classes)] += 1e4  # a large count for each class
    shares = f.sum(axis=1) / f.sum()
    value, _ = _core.divergence_gains(f, shares)
    chosen, lines = np.zeros(classes), np.empty((0, 3))
    return lambda: _core.class_envelope(
        f, value, chosen, shares, 0.0, f.shape[1] // 3, lines, 0.0, 1000
    )


# --------------------------------------------------------------------- partitions


def _discretize(classes: int, columns: int, whole: bool) -> Any:
    def make(size: int) -> Call:
        rng, rows = _random(size), max(4, size // columns)
        X = rng.normal(size=(rows, columns))
        codes = (X[:, 0] + rng.normal(size=rows) > 0).astype(np.int32)
        codes += rng.integers(0, classes - 1, rows).astype(np.int32)
        weights = None if whole else rng.uniform(0.5, 2.0, rows)
        return lambda: _core.discretize_columns(
            X, codes, classes, weights, 1.0, False, 1e9, 6
        )

    return make


kernel("discretize_columns:long")(_discretize(2, 1, True))
kernel("discretize_columns:wide")(_discretize(2, 50, True))
kernel("discretize_columns:classes")(_discretize(20, 2, True))
kernel("discretize_columns:weights")(_discretize(3, 2, False))


@kernel("discretize_table")
def _(size: int) -> Call:
    table = np.ascontiguousarray(_table(size, 2).T)
    return lambda: _core.discretize_table(table, 1.0, False, 1e9)


def _group(classes: int, values: int) -> Any:
    def make(size: int) -> Call:
        rows = min(values, max(3, size // classes))
        rng = _random(size)
        share = rng.dirichlet(np.ones(classes), rows)
        table = np.floor(share * rng.integers(1, 300, (rows, 1)))
        tables = [table] * max(1, size // (rows * classes))
        return lambda: _core.group_tables(tables, 1.0, False, 1e9)

    return make


kernel("group_tables:subsets")(_group(3, 12))
kernel("group_tables:two classes")(_group(2, 3000))
kernel("group_tables:merges")(_group(6, 300))


def _counts(size: int, cells: int) -> list[np.ndarray]:
    table = _random(size).poisson(3.0, (cells, 2)).astype(np.float64)
    return [table] * max(2, size // table.size)


@kernel("average_intervals")
def _(size: int) -> Call:
    tables = _counts(size, 40)
    ends = [[np.arange(1, 41)]] * len(tables)
    priors = [[np.zeros(40)]] * len(tables)
    return lambda: _core.average_intervals(tables, np.ones(2), ends, priors, True)


@kernel("average_groups")
def _(size: int) -> Call:
    tables = _counts(size, 7)
    priors = [np.zeros(7)] * len(tables)
    return lambda: _core.average_groups(tables, np.ones(2), priors, True)


@kernel("average_boxes")
def _(size: int) -> Call:
    tables = _counts(size, 64)
    levels = [[3, 3]] * len(tables)
    return lambda: _core.average_boxes(tables, np.ones(2), levels, True)


@kernel("score_pairs")
def _(size: int) -> Call:
    rng, columns, rows = _random(size), 6, max(4, size // 6)
    cells = rng.integers(0, 8, (columns, rows)).astype(np.uint8)
    codes = rng.integers(0, 2, rows).astype(np.int32)
    sets = np.array([[a, b] for a in range(columns) for b in range(a)])
    share = np.log([0.5, 0.5])
    parts = rng.integers(0, 4, (columns, rows)).astype(np.uint8)
    table, offset = rng.normal(size=(4 * columns, 1)), 4 * np.arange(columns + 1)
    posterior = rng.random((rows, 1))
    levels = np.full(columns, 3)
    return lambda: _core.score_pairs(
        *(cells, levels, sets, 4, codes, None, None, np.ones(2), share),
        *(posterior, parts, table, offset, 1e-4),
    )


# --------------------------------------------------------------------- weights


def _parts(size: int, classes: int) -> Any:
    rng, terms = _random(size), 12
    rows = max(2, size // terms)
    parts = rng.integers(0, 5, (terms, rows)).astype(np.uint8)
    table = rng.normal(size=(terms * 5, classes - 1))
    offset = np.arange(0, 5 * terms + 1, 5, dtype=np.int64)
    return parts, table, offset, rng.uniform(0, 1, terms), np.zeros(classes - 1)


def _class_codes(rows: int, classes: int) -> Any:
    return _codes(rows, classes).astype(np.int32)


@kernel("weighted_scores")
def _(size: int) -> Call:
    given = _parts(size, 4)
    out = np.empty((given[0].shape[1], 3))
    return lambda: _core.weighted_scores(*given, out)


def _nll(classes: int) -> Any:
    def make(size: int) -> Call:
        given = _parts(size, classes)
        codes, out = _class_codes(given[0].shape[1], classes), np.empty(12)
        return lambda: _core.weighted_nll(*given, codes, None, out)

    return make


kernel("weighted_nll:two classes")(_nll(2))
kernel("weighted_nll:many classes")(_nll(20))


@kernel("softmax_nll")
def _(size: int) -> Call:
    rows = max(2, size // 3)
    scores, codes = _random(size).normal(size=(rows, 3)), _class_codes(rows, 4)
    return lambda: _core.softmax_nll(scores, codes, None, True)


@kernel("weighted_curvature")
def _(size: int) -> Call:
    given, out = _parts(size, 4), np.empty((12, 12))
    return lambda: _core.weighted_curvature(*given, None, np.arange(12), out)


@kernel("weighted_trial")
def _(size: int) -> Call:
    rows = max(2, size // 3)
    scores, codes = _random(size).normal(size=(rows, 3)), _class_codes(rows, 4)
    table, part = np.ones((5, 3)), (np.arange(rows) % 5).astype(np.uint8)
    return lambda: _core.weighted_trial(scores, part, table, 0.1, codes, None, 0.0)


@kernel("box_qp")
def _(size: int) -> Call:
    n = max(2, int(np.sqrt(size)))
    A = _random(size).normal(size=(n, n))
    H, g, out = A @ A.T / n, np.ones(n), np.empty(n)
    low, high = np.full(n, -1.0), np.full(n, 1.0)
    return lambda: _core.box_qp(H, g, low, high, 0.0, 50, out)


@kernel("exp_nonpositive")
def _(size: int) -> Call:
    values = np.zeros(size)
    return lambda: _core.exp_nonpositive(values)


def _linear(size: int, classes: int) -> Any:
    rng, columns = _random(size), 300
    each = max(1, size // columns)
    rows = max(2, 2 * each)
    indptr = np.arange(0, columns * each + 1, each, dtype=np.int64)
    index = np.sort(rng.integers(0, rows, (columns, each)), axis=1)
    slope = rng.normal(size=(columns, classes - 1))
    values = rng.uniform(0, 2, columns * each)
    return (indptr, index.astype(np.int32).ravel(), values, slope), rows, columns


@kernel("linear_scores")
def _(size: int) -> Call:
    terms, rows, columns = _linear(size, 4)
    weights, out = np.ones(columns), np.zeros((rows, 3))
    return lambda: _core.linear_scores(*terms, weights, None, out)


@kernel("linear_gradient")
def _(size: int) -> Call:
    terms, rows, columns = _linear(size, 4)
    residual, out = np.ones((rows, 3)), np.empty(columns)
    return lambda: _core.linear_gradient(*terms, residual, None, out)


@kernel("linear_curvatures")
def _(size: int) -> Call:
    terms, rows, columns = _linear(size, 4)
    p, chosen, out = np.full((rows, 3), 0.25), np.arange(columns), np.empty(columns)
    return lambda: _core.linear_curvatures(*terms, None, p, None, chosen, out)


def _descent(classes: int, offsets: bool) -> Any:
    def make(size: int) -> Call:
        terms, rows, columns = _linear(size // (8 if offsets else 1), classes)
        p = np.full((rows, classes - 1), 1.0 / classes)
        g, out = _random(size).normal(size=columns), np.empty(columns)
        low, high = np.full(columns, -5.0), np.full(columns, 5.0)
        offset = np.full((columns, classes - 1), 0.1) if offsets else None
        slack, b = np.ones(classes - 1), np.zeros(classes - 1)
        chosen = np.arange(columns)
        fixed = (p, None, chosen, g, low, high, out, slack, b, 20, 20, 1e-12)
        return lambda: _core.linear_descent(*terms, offset, *fixed)

    return make


kernel("linear_descent:two classes")(_descent(2, False))
kernel("linear_descent:many classes")(_descent(6, False))
kernel("linear_descent:offsets")(_descent(3, True))


@kernel("assign_bins")
def _(size: int) -> Call:
    values = _random(size).normal(size=(max(1, size // 4), 4))
    bounds, start = np.tile(np.linspace(-1, 1, 50), 4), np.arange(0, 201, 50)
    out = np.empty(values.shape, np.int32)
    return lambda: _core.assign_bins(values, bounds, start, 1, out)


# --------------------------------------------------------------------- texts


def _texts(size: int, words: int = 12) -> tuple[Any, Any, Any]:
    """Texts of `words` words, about `size` words in all, half of them rare."""
    rng = _random(size)
    rows = max(2, size // words)
    common = rng.zipf(1.3, (rows, words)) % 20_000
    rare = rng.integers(0, 10 * size + 10, (rows, words))
    chosen = np.where(rng.random((rows, words)) < 0.5, common, rare)
    data, offsets = pack([" ".join(f"w{w}é" for w in row) for row in chosen.tolist()])
    return data, offsets, (np.arange(rows) % 2).astype(np.int32)


def _counter(**options: Any) -> Any:
    plan = TextOptions(**options).plan
    return _core.TextCounter(plan, 2, 2, 0, "", False, 0)


def _adding(size: int, words: int, **options: Any) -> Call:
    data, offsets, codes = _texts(size, words)
    return lambda: _counter(**options).add(data, offsets, codes)


kernel("TextCounter.add:words")(lambda size: _adding(size, 12, ngram_range=(1, 2)))
kernel("TextCounter.add:one text")(lambda size: _adding(size, size // 2))
kernel("TextCounter.add:one text, characters")(
    lambda size: _adding(size // 4, size // 8, analyzer="char_wb", ngram_range=(3, 4))
)


@kernel("TextCounter.add_words")
def _(size: int) -> Call:
    rng = _random(size)
    data, offsets = pack([f"word {w}" for w in rng.integers(0, size + 10, size)])
    words = np.array([0, size // 2, size], dtype=np.int64)
    codes = np.array([0, 1], dtype=np.int32)
    pattern = TextOptions(token_pattern=r"\S+")
    return lambda: _core.TextCounter(pattern.plan, 2, 2, 0, "", False, 0).add_words(
        data, offsets, words, codes
    )


@kernel("TextCounter.finish")
def _(size: int) -> Call:
    counter = _counter(ngram_range=(1, 2))
    counter.add(*_texts(size))
    return lambda: counter.finish(1 << 40)


def _names(size: int, first: int = 0) -> Any:
    """Sorted names of 16 bytes, "name" and a number."""
    number = np.arange(first, first + size)
    data = np.empty((size, 16), np.uint8)
    data[:, :4] = np.frombuffer(b"name", np.uint8)
    for place in range(15, 3, -1):
        data[:, place] = number % 10 + ord("0")
        number //= 10
    return data.ravel(), np.arange(0, 16 * size + 1, 16, dtype=np.int64)


@kernel("pack_texts")
def _(size: int) -> Call:
    texts = [f"text number {i}" for i in range(size)]
    return lambda: _core.pack_texts(texts, np.empty(0, np.int32))


@kernel("invalid_utf8_rows")
def _(size: int) -> Call:
    names = _names(size)
    return lambda: _core.invalid_utf8_rows(*names)


@kernel("names_are_sorted")
def _(size: int) -> Call:
    names = _names(size)
    return lambda: _core.names_are_sorted(*names)


@kernel("find_names")
def _(size: int) -> Call:
    names = _names(size)
    return lambda: _core.find_names(*names, *names)


@kernel("take_names")
def _(size: int) -> Call:
    names, positions = _names(size), _random(size).permutation(size)
    return lambda: _core.take_names(*names, positions)


@kernel("merge_names")
def _(size: int) -> Call:
    a, b = _names(size), _names(size, size // 2)
    return lambda: _core.merge_names(*a, *b)


@kernel("merge_named_tables")
def _(size: int) -> Call:
    n = max(1, size // 2)
    table, column = np.ones((2, n)), np.arange(n)
    return lambda: _core.merge_named_tables(table, column, table, column + n, 2 * n)


def _matcher(size: int) -> Any:
    names = pack(sorted({f"w{w}é" for w in range(size // 4 + 10)}))
    return _core.TermMatcher(TextOptions().plan, *names, 2), names[1].size - 1


@kernel("TermMatcher")
def _(size: int) -> Call:
    names = _names(size)
    plan = TextOptions().plan
    return lambda: _core.TermMatcher(plan, *names, 2).nbytes


@kernel("TermMatcher.rows")
def _(size: int) -> Call:
    (matcher, _), (data, offsets, _) = _matcher(size), _texts(size)
    return lambda: matcher.rows(data, offsets, None, 2, False)


@kernel("TermMatcher.add_weighted")
def _(size: int) -> Call:
    (matcher, terms), (data, offsets, codes) = _matcher(size), _texts(size)
    sums = np.zeros(2 * terms)
    rest = (codes, 2, None, False, False, 2, sums, None, None, 2)
    return lambda: matcher.add_weighted(data, offsets, None, *rest)


# ------------------------------------------------------------------ sequences


def _bases(size: int, rows: int) -> tuple[Any, Any, Any, Any]:
    """Random bases, half of them in stretches that come again, as rows."""
    rng = _random(size)
    symbols = rng.integers(0, 4, max(size, 64)).astype(np.uint8)
    half = symbols.size // 2
    symbols[half : 2 * half] = symbols[:half]
    starts = np.linspace(0, symbols.size, rows, endpoint=False).astype(np.int64)
    codes = (np.arange(rows) % 2).astype(np.int32)
    return symbols, starts, codes, rng.integers(0, 2**63, rows).astype(np.uint64)


def _key_counter(rows: int = 20, size: int = 0) -> Any:
    path = str(Path(tempfile.gettempdir(), "bayesieve-kernel-case.spill"))
    counter = _core.KeyCounter(True, 15, True, True, 2, 0, path)
    if size:
        counter.add(*_bases(size, rows), False)
    return counter


@kernel("KeyCounter.add")
def _(size: int) -> Call:
    given = _bases(size, 20)
    return lambda: _key_counter().add(*given, False)


@kernel("KeyCounter.finish")
def _(size: int) -> Call:
    row_of = np.arange(2, dtype=np.int32)
    given = _bases(size, 20)

    def call() -> Any:
        counter = _key_counter()
        counter.add(*given, False)
        return counter.finish(row_of, 1 << 40, 1)

    return call


@kernel("KeyCounter.finish_groups")
def _(size: int) -> Call:
    row_of = np.arange(2, dtype=np.int32)
    given = _bases(size, 20)

    def call() -> Any:
        counter = _key_counter()
        counter.add(*given, False)
        return counter.finish_groups(row_of, 1 << 40, 1)

    return call


@kernel("KeyCounter.write")
def _(size: int) -> Call:
    counter = _key_counter(size=size)

    def call() -> None:
        with tempfile.TemporaryDirectory() as folder:
            counter.write(str(Path(folder, "counts.keys")))

    return call


@kernel("KeyCounter.attach")
def _(size: int) -> Call:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "counts.keys")
        _key_counter(size=size).write(str(path))
        written = path.read_bytes()

    def call() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "counts.keys")
            path.write_bytes(written)
            _key_counter().attach(str(path))

    return call


@kernel("KeyMatcher")
def _(size: int) -> Call:
    keys = np.arange(0, 3 * max(size, 1), 3, dtype=np.uint64)
    symbols, starts = np.zeros(31, np.uint8), np.zeros(1, np.int64)
    return lambda: _core.KeyMatcher(True, 31, True, keys, 2).match(symbols, starts)


@kernel("KeyMatcher.match")
def _(size: int) -> Call:
    symbols, starts, _, _ = _bases(size, 20)
    matcher = _core.KeyMatcher(True, 6, True, np.arange(0, 4096, 2, dtype=np.uint64), 2)
    return lambda: matcher.match(symbols, starts)


@kernel("SequenceReader.read")
def _(size: int) -> Call:
    lines = [">name"] + ["ACGTACGTNNACGTACGTACGT"] * (size // 4 + 1)
    data = np.frombuffer("\n".join(lines).encode(), np.uint8)
    return lambda: _core.SequenceReader(5, True).read(data)


@kernel("spell_keys")
def _(size: int) -> Call:
    keys = np.arange(size, dtype=np.uint64)
    return lambda: _core.spell_keys(keys, True, 21)


@kernel("merge_keys")
def _(size: int) -> Call:
    a = np.arange(0, 2 * size, 2, dtype=np.uint64)
    b = np.arange(0, 3 * size, 3, dtype=np.uint64)
    return lambda: _core.merge_keys(a, b)
