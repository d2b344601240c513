"""Compiled kernels of bayesieve."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class TimeLimitReached(TimeoutError):
    pass

class TimeLimit:
    """
    Ends kernels that this thread calls inside `with` after so many seconds,
    by raising TimeLimitReached.
    """

    def __init__(self, seconds: float) -> None: ...

    @property
    def reached(self) -> bool:
        """Whether its time is up."""

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None: ...

def available_threads() -> int:
    """Threads that kernels called by this thread may use."""

class ThreadLimit:
    """
    Kernels that this thread calls inside `with` use at most so many threads.
    """

    def __init__(self, threads: int) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *exception: object) -> None: ...

def compressed_class_sums(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_row: bool, codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, check: int, threshold: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Add the class sums of a CSR (by_row) or CSC matrix to out (K, m); return the first offending stored position or -1.
    """

def dense_class_sums(data: Annotated[NDArray, dict(device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, check: int, threshold: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Add the class sums of a dense matrix to out (K, m); return the first offending row * m + column or -1.
    """

def compressed_centred_sums(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_row: bool, codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], deviation: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], square: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], present: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """Add w (x - mean), w (x - mean)^2 and w of every stored entry."""

def dense_centred_sums(data: Annotated[NDArray, dict(device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, mean: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], deviation: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], square: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """Add w (x - mean) and w (x - mean)^2 of every entry."""

def compressed_column_max(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_row: bool, row_count: int, out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """Raise out (m,) to the largest category code of each column."""

def dense_column_max(data: Annotated[NDArray, dict(device='cpu', writable=False)], out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """Raise out (m,) to the largest category code of each column."""

def compressed_category_sums(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_row: bool, codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Add the weight of every non-zero (class, column, code) to out (K, offsets[-1]).
    """

def dense_category_sums(data: Annotated[NDArray, dict(device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """Add the weight of every (class, column, code) to out (K, offsets[-1])."""

def has_duplicates(indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], minor: int) -> bool:
    """Whether a CSR or CSC matrix stores any cell twice, in whatever order."""

def sparse_class_slots(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_row: bool, codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, class_count: int, check: int, threshold: float, slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> int:
    """
    Add to slots (m,) the number of classes with a non-zero sum in each column.
    """

def sparse_class_sums(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], by_row: bool, codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, class_count: int, check: int, threshold: float, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out_classes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], out_values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Fill the row indices and values of the CSC table with these column starts.
    """

def resample_weights(units: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], seed: int, first: int, pairs: bool, out: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Draw the weights (n, R) of the rows in the resamples first, first + 1, ...
    """

def replicate_class_sums(data: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], check: int, threshold: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> int:
    """
    Add the class sums of a CSC matrix under each column of weights to out (R, K, m).
    """

def divergence(counts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], expected: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    counts log(counts / expected) - counts + expected of every pair; 0 where nothing is
    expected.
    """

def divergence_gains(table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    Gain of every column of a smoothed (K, n) table at class shares, and a bound on its
    rounding.
    """

def divergence_gains_csc(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
    """
    divergence_gains of a CSC table without smoothing and one alpha for each column.
    """

HISTOGRAM_SHIFT: int = 48

class DenseColumns:
    """Columns of a (K, m) table in C order, smoothed."""

    def __init__(self, f: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def scan(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, int, Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Class totals without smoothing, sum of G log G over all columns, number of columns
        with a count, and the histogram of their totals G by their leading bits.
        """

    def with_total(self, min_total: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Columns with a count whose total reaches min_total."""

    def with_gain(self, shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], min_gain: float, min_total: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Columns with a count whose gain at p reaches min_gain, or may do so within its
        rounding; no logarithm is taken of columns whose total is under min_total.
        """

    def gains(self, shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], accuracy: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Gain of every column at p to a relative accuracy; 0 for a column without counts.
        """

    def witnesses(self, class_totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        The first column with a count of each class whose total is positive, and the first
        with any count that is smoothed.
        """

    def extract(self, min_total: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
        """
        Columns with a count whose total reaches min_total, and their counts (K, n).
        """

    def group_sums(self, shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], accuracy: float, scale: float, groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_groups: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Counts by class (K, n_groups), gains at p and smoothing of groups of columns. The
        gain of a column errs by no more than this share of it, or of the scale.
        """

class SparseColumns:
    """Columns of a (K, m) CSC table, smoothed."""

    def __init__(self, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: int, alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def scan(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, int, Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Class totals without smoothing, sum of G log G over all columns, number of columns
        with a count, and the histogram of their totals G by their leading bits.
        """

    def with_total(self, min_total: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Columns with a count whose total reaches min_total."""

    def with_gain(self, shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], min_gain: float, min_total: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Columns with a count whose gain at p reaches min_gain, or may do so within its
        rounding; no logarithm is taken of columns whose total is under min_total.
        """

    def gains(self, shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], accuracy: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """
        Gain of every column at p to a relative accuracy; 0 for a column without counts.
        """

    def witnesses(self, class_totals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        The first column with a count of each class whose total is positive, and the first
        with any count that is smoothed.
        """

def bernoulli_gains(table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
    """
    Gain of every column of a (K, m) table, and the value of the null model: Laplace
    smoothing by alpha, or (alpha 0) counts held in [1, upper_c].
    """

def bernoulli_columns(table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], class_count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, least: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
    """
    Columns of bernoulli_gains that gain at least so much, in order, their gains, and the
    same value of the null model.
    """

def bernoulli_gains_csc(start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], row: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], class_count: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], alpha: float, upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float]:
    """bernoulli_gains of a CSC table, one alpha for all columns."""

def relax_two_classes(value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], doubt: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f0: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], k: int, chosen_value: float, chosen_doubt: float, chosen0: float, chosen1: float, share0: float, share1: float, weight: float, step: float, good_enough: float, tolerance: float, branch_tolerance: float, most: int, seconds: float) -> tuple[float, float, float, float, Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, float, float, float, Annotated[NDArray[numpy.int64], dict(shape=(None,))], int]:
    """
    Upper bound, the part of it that is rounding away from the anchor, lower bound, step
    from the anchor at the upper bound, gains there, k-th and (k+1)-th largest of them,
    gain of the best set met, its doubt and its positions, evaluations. Values are gains
    at the anchor raised by their doubt.
    """

def search_two_classes(value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], doubt: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f0: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], f1: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], largest: float, together: float, positive: bool, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], chosen_value: float, chosen_doubt: float, chosen0: float, chosen1: float, anchor0: float, anchor1: float, k: int, upper: float, share0: float, share1: float, gains: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], floor: float, following: float, best_columns: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], best_gain: float, best_doubt: float, best_is_leaf: bool, dual_tolerance: float, branch_tolerance: float, anchor_tolerance: float, prune_tolerance: float, evaluations: int, anchors: int, rounding_nodes: int, node_limit: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], float, float, float, int, bool]:
    """
    Branch and bound from a root whose relaxation and best support are known: columns of
    the best support, its gain and doubt, a bound on all others (minus infinity if they
    are proven no better), relaxations solved, whether a limit ended it. Values are gains
    at the anchor raised by their doubt.
    """

def class_envelope(counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], chosen_sums: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], anchor: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], chosen_value: float, k: int, start: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], level: float, most: int) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, float, Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
    """
    Upper bound on every support, of k candidates and the chosen columns, whose gain is no
    less than the level; score of each candidate, k-th and (k+1)-th largest score, and the
    lines (K + 1, 3) that give them. Values are gains at the anchor. Lines (0, 3) start from
    the middle, and at most so many steps are taken before and after intervals shrink.
    """

def discretize_columns(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, attribute_cost: float, classical: bool, budget: float, fine_levels: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
    """
    Best intervals of every column. Gives, with I_k intervals in column k: offsets
    (sums of I_k), bounds (sum of I_k - 1), counts (sum of I_k, J), granularity, costs
    (p, 3: construction, preparation, data), the costs of one interval, and whether
    the optimum was proven. With fine_levels > 0 also bins of up to 2 ** fine_levels
    equal shares and the bounds found: sums of their numbers of bounds, the bounds, the
    level of each, and the counts of missing values and of each bin, column by column.
    """

def discretize_table(table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], attribute_cost: float, classical: bool, budget: float) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))], int, Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))], bool]:
    """
    Best intervals of the rows of a (D, J) table: ends, counts, granularity, costs,
    costs of one interval, whether the optimum was proven.
    """

def group_tables(tables: list, attribute_cost: float, classical: bool, budget: float) -> list:
    """
    MODL groups of the values of each (V, J) table of counts: (group of each row, number
    of groups, default group, garbage group or -1, granularity, proven optimal, costs),
    costs being construction, preparation, data of the groups, then of one group.
    """

def weighted_scores(parts: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    start + sum over terms of weight * table[part], into out (rows, columns).
    """

def weighted_nll(parts: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None = None) -> float:
    """
    Sum of negative log-likelihoods of the rows, and on request its gradient.
    Tables and start are relative to class 0, which has no column.
    """

def softmax_nll(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None = None, residuals: bool = False) -> float:
    """
    weighted_nll from scores, which it overwrites: by the residuals on request.
    """

def weighted_curvature(parts: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], row_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Second derivatives of weighted_nll for the chosen terms."""

def weighted_trial(scores: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], part: Annotated[NDArray, dict(shape=(None,), device='cpu', writable=False)] | None, table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], delta: float, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], row_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, smoothing_rows: float = 0.0) -> float:
    """
    Cost of scores + delta * table[part] (or delta * table without parts): negative
    log-likelihood, or that of posteriors smoothed for so many rows.
    """

def box_qp(H: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], g: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tol: float, rounds: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Minimum of g'd + d'Hd/2 over a box, into out."""

def exp_nonpositive(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """The exponential the kernels use, in place, for values <= 0."""

def linear_scores(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)] | None, slope: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Add the sum over the chosen columns of weight * x * slope to out (rows, classes - 1).
    """

def linear_gradient(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)] | None, slope: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], residual: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """slope . (X' residual) of the chosen columns, into out."""

def linear_curvatures(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)] | None, slope: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, posterior: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Second derivative for each chosen weight alone, into out."""

def linear_descent(indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)] | None, slope: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, posterior: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], row_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], low: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], intercept_gradient: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, intercept: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')] | None, rounds: int, conjugate_steps: int, tol: float) -> int:
    """
    Minimise the second-order model over a box: the step into out, that of the intercepts
    into intercept. Returns the number of rounds.
    """

@overload
def assign_bins(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, out: Annotated[NDArray[numpy.int32], dict(shape=(None, None), device='cpu')]) -> None: ...

@overload
def assign_bins(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, out: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), device='cpu')]) -> None: ...

@overload
def assign_bins(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, out: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), device='cpu')]) -> None: ...

@overload
def assign_bins(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], bounds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, out: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), device='cpu')]) -> None:
    """
    Number of bounds below each value, plus first; 0 for NaN. Bounds of column j are
    bounds[start[j]:start[j + 1]], ascending.
    """

def average_intervals(tables: list, alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], ends: list, log_priors: list, leave_one_out: bool) -> list:
    """
    Evidence, means, deviations and leave-one-out means of the class probabilities of
    each bin, over all partitions of the bins of each table. Each table has grids: the
    ends of their bins, and ln of the prior of a partition into 1, 2, ... parts.
    """

def average_groups(tables: list, alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_priors: list, leave_one_out: bool) -> list:
    """The same over all groupings of up to 16 values."""

def average_boxes(tables: list, alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], levels: list, leave_one_out: bool) -> list:
    """
    The same over all recursive halvings of a grid with 2 ** level cells an axis.
    """

@overload
def score_pairs(cells: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sets: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], most_levels: int, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, row_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], posterior: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], parts: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], least: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

@overload
def score_pairs(cells: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sets: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], most_levels: int, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, row_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], posterior: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], parts: Annotated[NDArray[numpy.uint16], dict(shape=(None, None), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], least: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

@overload
def score_pairs(cells: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], levels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sets: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], most_levels: int, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, row_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_prior: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], posterior: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], parts: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], least: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Slope of the leave-one-out log-likelihood for the weight of the interplay of each
    set of columns, its variance, its curvature, and the evidence of the set. Sets have
    up to three columns, -1 for none. Boxes less likely than `least` count for nothing.
    """

class SequenceReader:
    """FASTA and FASTQ as bases, piece by piece."""

    def __init__(self, overlap: int, records: bool) -> None: ...

    def read(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple: ...

    def finish(self) -> tuple: ...

    @property
    def letters(self) -> int: ...

    @property
    def others(self) -> int: ...

    @property
    def records(self) -> int: ...

class KeyCounter:
    """Class counts of k-mers, or of bytes."""

    def __init__(self, dna: bool, length: int, canonical: bool, binary: bool, threads: int, budget: int, spill_path: str) -> None: ...

    def add(self, symbols: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], prints: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], goes_on: bool) -> None: ...

    def attach(self, path: str) -> None: ...

    def write(self, path: str) -> None: ...

    def finish(self, row_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], dense_cells: int, least: int) -> tuple: ...

    def finish_groups(self, row_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], dense_cells: int, least: int) -> tuple: ...

    def class_rows(self) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def spilled_bytes(self) -> int: ...

class KeyMatcher:
    """Finds keys in rows of symbols."""

    def __init__(self, dna: bool, length: int, canonical: bool, keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> None: ...

    def match(self, symbols: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple: ...

def spell_keys(keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], dna: bool, length: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """The strings that keys stand for, one after the other."""

def merge_keys(a: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple:
    """
    The union of two rising lists of keys, and where the keys of both are in it.
    """

class TextTables:
    """Properties of characters, and what texts become."""

def text_tables(flags: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], mapping: Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: bool, final_sigma: int) -> TextTables: ...

class TextPlan:
    """How texts are cut into n-grams."""

def text_plan(tables: TextTables, analyzer: str, min_n: int, max_n: int, shortest: int, joined: bool, stop: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], stop_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> TextPlan: ...

class TextCounter:
    """Class counts of the n-grams of texts."""

    def __init__(self, plan: TextPlan, classes: int, threads: int, budget: int, spill_path: str, binary: bool, pending: int) -> None: ...

    def add(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def add_words(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def finish(self, dense_cells: int) -> tuple: ...

    @property
    def nbytes(self) -> int: ...

    @property
    def spilled_bytes(self) -> int: ...

    @property
    def longest_search(self) -> int: ...

def text_hash(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
    """Hash of a string, by the key of this process."""

def pack_texts(texts: list, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], bool]:
    """
    UTF-8 of a list of str and bytes, offsets, and whether there were bytes. Rows with a
    negative code are empty, whatever they hold; no codes: all rows.
    """

def invalid_utf8_rows(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Rows that bytes.decode('utf-8') would refuse."""

def names_are_sorted(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> bool:
    """Whether packed strings rise strictly, as bytes."""

def find_names(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], query: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], query_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Positions of packed strings in sorted packed strings; -1: not there."""

def take_names(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """Packed strings at the given positions."""

def merge_names(data_a: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets_a: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data_b: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets_b: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """Union of two sorted sets of strings, and the columns of both in it."""

def merge_named_tables(a: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], column_a: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], column_b: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """Sum of two tables whose columns go to the given places."""

class TermMatcher:
    """Given terms, to be found in texts."""

    def __init__(self, plan: TextPlan, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> None: ...

    def rows(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int, binary: bool) -> tuple:
        """Values, columns and row ends of the document-term matrix."""

    def add_weighted(self, data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: int, idf: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, sublinear: bool, binary: bool, norm: int, value: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, code: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, threads: int) -> None:
        """Add tf-idf values to sums by class and term."""

    @property
    def nbytes(self) -> int: ...
