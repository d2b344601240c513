"""What a second thread gives: count, solve, weights and prediction with one and two.

    python benchmarks/two_threads.py [--quick] [--only WORD]

Each job runs with ``n_jobs=1`` and ``n_jobs=2`` in turns, at a small and at a large
size, on the data of the asv suite; the best repetition of each side counts. The target
is that nothing is slower with two: kernels start threads for each call, which small
work would pay for without use. Answers are the same (tests/core, tests/properties).
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import bayesieve as bs
from measurement import HERE, interleaved, option_parser, report, target

sys.path.insert(0, str(HERE / "asv"))
from micro import made_data

#: Seconds that the repetitions of both sides take together, about.
_SECONDS = 2.0
#: A side that is so much slower is told; less is what a shared machine adds to either.
_SLOWER = 1.1

Run = Callable[[int], Any]


def counting(large: bool) -> Iterator[tuple[str, Run]]:
    """Rows, texts and sequences to class counts."""
    n = 200_000 if large else 2_000
    X, y = made_data.rows_of(2, n, 1_000_000 if large else 10_000)
    X_csc, dense = X.tocsc(), made_data.table_of(n, 50)[0]
    many = np.random.default_rng(0).integers(0, 40, n)
    texts, labels = made_data.texts_of(20_000 if large else 200)
    letters = np.random.default_rng(0).choice(
        np.frombuffer(b"ACGT", dtype=np.uint8), (50, 400_000 if large else 4_000)
    )
    genomes = [row.tobytes() for row in letters]
    from_matrix = bs.ClassCounts.from_matrix
    yield "counts of CSR", lambda n: from_matrix(X, y, n_jobs=n)
    yield "counts of CSC", lambda n: from_matrix(X_csc, y, n_jobs=n)
    yield "counts of CSR, 40 classes", lambda n: from_matrix(X, many, n_jobs=n)
    yield (
        "presences of CSR",
        lambda n: from_matrix(X, y, binary=True, binarize=0, n_jobs=n),
    )
    yield (
        "moments of dense",
        lambda n: from_matrix(dense, y, kind="moments", n_jobs=n),
    )
    for ngrams in ((1, 1), (1, 2)):
        yield (
            f"counts of texts, {ngrams}",
            lambda n, own=ngrams: bs.ClassCounts.from_text(
                [(texts, labels)], ngram_range=own, n_jobs=n
            ),
        )
    for copies in (True, False):
        told = "31-mers of genomes" + (", copies merged" if copies else "")
        yield (
            told,
            lambda n, own=copies: bs.SparseSequenceNB(
                20, merge_copies=own, n_jobs=n
            ).fit(genomes, ["a", "b"] * 25),
        )


def solving(large: bool) -> Iterator[tuple[str, Run]]:
    """Class counts to supports with their proof."""
    m = 5_000_000 if large else 20_000
    table = made_data.counts_of(2, m)
    rows = np.full(2, table.max())
    more = made_data.counts_of(20, m // 10)
    X, y = made_data.rows_of(2, 100_000 if large else 1_000, m)
    sparse = bs.ClassCounts.from_matrix(X, y)
    yield "best of counts", lambda n: bs.solve_multinomial(table, 100, n_jobs=n)
    yield (
        "best of counts, 20 classes",
        lambda n: bs.solve_multinomial(more, 100, n_jobs=n),
    )
    yield "best of sparse counts", lambda n: bs.solve_multinomial(sparse, 100, n_jobs=n)
    yield (
        "best of presences",
        lambda n: bs.solve_bernoulli(table, 100, class_count=rows, n_jobs=n),
    )
    ks = [10, 100, 1000]
    yield "path of counts", lambda n: bs.sparsity_path(table, ks, n_jobs=n)
    if not large:
        yield (
            "alternatives",
            lambda n: bs.near_optimal_supports(table, 10, limit=50, n_jobs=n),
        )


def fitting(large: bool) -> Iterator[tuple[str, Run]]:
    """Rows to classifiers and selectors, weights among them."""
    n, m = (100_000, 1_000_000) if large else (1_000, 10_000)
    X, y = made_data.rows_of(2, n, m)
    flags, own = made_data.flags_of(n, m)
    five, classes = made_data.rows_of(5, n // 5, m // 5)
    Z, z = made_data.table_of(50_000 if large else 500, 20)
    texts, labels = made_data.texts_of(10_000 if large else 200)
    for model in (
        *(bs.SparseMultinomialNB(100), bs.SparseBernoulliNB(100)),
        *(bs.SelectiveMultinomialNB(k=100), bs.SelectiveBernoulliNB(k=100)),
        bs.SelectiveMultinomialNB(k="1se"),
        *(bs.SparseMultinomialNBCV(), bs.SparseBernoulliNBCV()),
        bs.NaiveFeatureSelector(100),
    ):
        yield _told(model), _fit(model, X, y)
    yield (
        "SelectiveMultinomialNB, 5 classes",
        _fit(bs.SelectiveMultinomialNB(k=100), five, classes),
    )
    for model in (bs.L0Screener(), bs.L1Screener(), bs.PearsonScreener()):
        yield _told(model), _fit(model, flags, own)
    for model in (
        *(bs.SelectiveNB(), bs.SelectiveNB(pairs=0), bs.SelectiveNB(partitions="best")),
        *(bs.MODLEncoder(), bs.SparseGaussianNB(5), bs.MixedScreener()),
    ):
        yield _told(model), _fit(model, Z, z)
    for model in (bs.SparseTextNB(100), bs.SparseTextNB(100, weights=True)):
        yield _told(model), _fit(model, texts, labels)
    fitted = bs.SparseTextNB(100).fit(texts, labels)
    yield (
        "SparseTextNB, predict",
        lambda n: fitted.set_params(n_jobs=n).predict_proba(texts),
    )
    tables = bs.SelectiveNB(pairs=0).fit(Z, z)
    yield (
        "SelectiveNB, predict",
        lambda n: tables.set_params(n_jobs=n).predict_proba(Z),
    )
    counts = bs.SparseMultinomialNB(100).fit(X, y)
    yield (
        "SparseMultinomialNB, predict",
        lambda n: counts.set_params(n_jobs=n).predict_proba(X),
    )


def _told(model: Any) -> str:
    return repr(model).replace("\n", " ")


def _fit(model: Any, X: Any, y: Any) -> Run:
    return lambda n: model.set_params(n_jobs=n).fit(X, y)


def compared(name: str, size: str, run: Run, quick: bool) -> dict[str, Any]:
    """Seconds of one and of two threads."""
    sides = {"one": lambda: run(1), "two": lambda: run(2)}
    first = interleaved(sides, 1)  # imports and memory
    spent = max(1e-4, first["one"][0] + first["two"][0])
    least = 1 if quick or spent > 5 else 3
    repeats = least if quick else max(least, min(200, int(_SECONDS / spent)))
    seconds = interleaved(sides, repeats)
    one, two = min(seconds["one"]), min(seconds["two"])
    told = f"{one:9.4f} s {two:9.4f} s {one / two:6.2f}"
    print(f"{size:5} {name:52.52} {told}", flush=True)
    return {"job": name, "size": size, "seconds": {"one": one, "two": two}} | {
        "repeats": repeats
    }


def main() -> None:
    parser = option_parser("two_threads", __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", default="", help="jobs whose name has this")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'':58} {'one':>11} {'two':>11}  ratio")
    runs = []
    for large in (False,) if options.quick else (False, True):
        for jobs in (counting, solving, fitting):
            for name, run in jobs(large):
                if options.only in name:
                    size = "large" if large else "small"
                    runs.append(compared(name, size, run, options.quick))
    slower = [
        run for run in runs if run["seconds"]["two"] > _SLOWER * run["seconds"]["one"]
    ]
    targets = [target("jobs slower with two threads", len(slower), most=0)]
    report("two_threads", options, made_data.SEED, {"runs": runs, "targets": targets})


if __name__ == "__main__":
    main()
