"""How counting grows: 1e5 to 3e6 generated documents, (1,2)-grams, one thread.

The documents are those of text_counting.py, each size being the beginning of the next.
Every count runs in a process of its own. Beside time and memory of a count it measures
what a plan for many machines needs: the bytes of a serialised partial count, the time
to merge two halves, and how many terms are left when the rare ones are dropped.
"""

from __future__ import annotations

import argparse
import json
import pickle
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from measurement import in_own_process, option_parser, peak_bytes, report, target, timed
from text_counting import SEED, batches

SIZES = (100_000, 300_000, 1_000_000, 3_000_000)
QUICK = (2_000, 6_000, 20_000)
LIMITS = (2, 5, 10)


def first_rows(folder: Path, start: int, stop: int) -> Iterator[tuple[Any, Any]]:
    """Give the batches of some rows."""
    first = 0
    for texts, codes in batches(folder):
        low, high = max(start - first, 0), min(stop - first, len(texts))
        if low < high:
            yield texts[low:high], codes[low:high]
        first += len(texts)
        if first >= stop:
            return


def count(folder: Path, start: int, stop: int, threads: int) -> Any:
    from bayesieve import ClassCounts

    batches = first_rows(folder, start, stop)
    return ClassCounts.from_text(batches, ngram_range=(1, 2), n_jobs=threads)


def count_side(folder: Path, n: int, threads: int) -> dict[str, Any]:
    from bayesieve.text._options import TextOptions

    _ = TextOptions().plan  # the tables of characters: a quarter of a second, once
    before = peak_bytes()
    begin = time.process_time()
    seconds, parts = timed(lambda: count(folder, 0, n, threads))
    processor = time.process_time() - begin
    peak = peak_bytes()
    text_bytes = sum(texts.nbytes for texts, _ in first_rows(folder, 0, n))
    frequency = parts.document_count.sum(axis=0)
    return {
        "documents": n,
        "text_bytes": text_bytes,
        "seconds": seconds,
        "processor_seconds": processor,
        "peak_bytes": peak,
        "extra_bytes": peak - before,
        "terms": parts.n_features,
        "table_bytes": parts.feature_names.nbytes
        + parts.feature_count.nbytes
        + parts.document_count.nbytes,
        "terms_left": {str(low): int((frequency >= low).sum()) for low in LIMITS},
    }


def merge_side(folder: Path, n: int) -> dict[str, Any]:
    from bayesieve.counts._distributed import cut_by_term
    from bayesieve.counts._merge import add

    halves = [count(folder, 0, n // 2, 2), count(folder, n // 2, n, 2)]
    terms = sum(parts.n_features for parts in halves)
    merge_seconds, whole = timed(lambda: add(*halves))
    pickle_seconds, payload = timed(lambda: pickle.dumps(whole, protocol=5))
    n_bytes = len(payload)
    load_seconds, _ = timed(lambda: pickle.loads(payload))
    cut_seconds, groups = timed(lambda: cut_by_term(whole, 16))
    sizes = [parts.n_features for parts in groups]
    return {
        "documents": n,
        "terms_in": terms,
        "terms": whole.n_features,
        "merge_seconds": merge_seconds,
        "serialise_seconds": pickle_seconds,
        "deserialise_seconds": load_seconds,
        "payload_bytes": n_bytes,
        "cut_seconds": cut_seconds,
        "largest_group_over_mean": max(sizes) / float(np.mean(sizes)),
    }


def slope(x: list[float], y: list[float]) -> float:
    """Return the exponent p of y = c x**p that fits best."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def plan(results: dict[str, Any], documents: float, parts: int) -> dict[str, Any]:
    """Work out a large count from the measured rates.

    Terms grow as a power of the documents, taken from the two largest sizes; rates are
    those of the largest size. Merging is by pairs, each level on tables twice as large.
    """
    single = [point for point in results["curve"] if point["threads"] == 1]
    before, last = single[-2:]
    merge = results["merges"][-1]

    def grown(name: str, n: float, low: str | None = None) -> float:
        values = [
            point[name] if low is None else point[name][low] for point in (before, last)
        ]
        sizes = [point["documents"] for point in (before, last)]
        power = np.log(values[1] / values[0]) / np.log(sizes[1] / sizes[0])
        return float(values[1] * (n / sizes[1]) ** power)

    each = documents / parts
    partial_terms = grown("terms", each)
    levels = []
    tables = float(parts)
    while tables > 1:
        levels.append(tables * grown("terms", documents / tables))
        tables /= 2
    table_bytes = last["table_bytes"] / last["terms"]
    terms = grown("terms", documents)
    cpu = {
        "count": documents * last["processor_seconds"] / last["documents"],
        "cut": parts * partial_terms * merge["cut_seconds"] / merge["terms"],
        "serialise": parts
        * partial_terms
        * (merge["serialise_seconds"] + merge["deserialise_seconds"])
        / merge["terms"],
        "merge": sum(levels) * merge["merge_seconds"] / merge["terms_in"],
    }
    return {
        "documents": documents,
        "text_bytes": documents * last["text_bytes"] / last["documents"],
        "partitions": parts,
        "terms": terms,
        "table_bytes": terms * table_bytes,
        "terms_left": {
            str(low): grown("terms_left", documents, str(low)) for low in LIMITS
        },
        "table_bytes_per_term": table_bytes,
        "partition_terms": partial_terms,
        "partition_peak_bytes": partial_terms * last["extra_bytes"] / last["terms"],
        "partition_payload_bytes": partial_terms
        * merge["payload_bytes"]
        / merge["terms"],
        "shuffled_bytes": parts
        * partial_terms
        * merge["payload_bytes"]
        / merge["terms"],
        "processor_seconds": cpu,
        "processor_seconds_in_all": sum(cpu.values()),
    }


def parse() -> argparse.Namespace:
    parser = option_parser("text_scaling", __doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--most", type=int, help="leave larger sizes out")
    parser.add_argument(
        "--plan", action="store_true", help="work out the plan again from the JSON"
    )
    parser.add_argument("--side", choices=["count", "merge"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--documents", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = parse()
    if options.side == "count":
        print(
            json.dumps(count_side(options.folder, options.documents, options.threads))
        )
        return
    if options.side == "merge":
        print(json.dumps(merge_side(options.folder, options.documents)))
        return
    if options.plan:
        content = json.loads(options.output.read_text(encoding="utf-8"))
        content["plan"] = plan(content, 1e8, 100)
        options.output.write_text(
            json.dumps(content, indent=1) + "\n", encoding="utf-8"
        )
        print(json.dumps(content["plan"], indent=1))
        return
    sizes = [
        n
        for n in (QUICK if options.quick else SIZES)
        if options.most is None or n <= options.most
    ]
    runs: list[dict[str, Any]] = []
    merges = []
    with tempfile.TemporaryDirectory() as folder:
        place = ["--folder", folder]
        in_own_process("text_counting.py", ["--make", str(max(sizes)), *place])
        for _ in range(1 if options.quick else options.repeats):
            for n in sizes:
                for threads in (1, 2):
                    rest = ["--documents", str(n), "--threads", str(threads), *place]
                    run = in_own_process(
                        "text_scaling.py", ["--side", "count", *rest]
                    ) | {"threads": threads}
                    print(
                        f"{n} documents, {threads} threads: {run['seconds']:.2f} s "
                        f"({run['processor_seconds']:.2f} s of processor), "
                        f"{run['terms']} terms, {run['extra_bytes'] / 1e6:.0f} MB",
                        flush=True,
                    )
                    runs.append(run)
        for n in sizes:
            rest = ["--side", "merge", "--documents", str(n), *place]
            merges.append(in_own_process("text_scaling.py", rest))
            print(merges[-1], flush=True)
    curve = []
    for n in sizes:
        for threads in (1, 2):
            own = [r for r in runs if r["documents"] == n and r["threads"] == threads]
            curve.append(
                own[0]
                | {
                    name: min(run[name] for run in own)
                    for name in ("seconds", "processor_seconds", "extra_bytes")
                }
            )
    single = [point for point in curve if point["threads"] == 1]
    x = [float(point["documents"]) for point in single]
    terms = [float(point["terms"]) for point in single]
    exponents = {
        "seconds_by_documents": slope(x, [p["seconds"] for p in single]),
        "processor_seconds_by_documents": slope(
            x, [p["processor_seconds"] for p in single]
        ),
        "table_bytes_by_terms": slope(terms, [p["table_bytes"] for p in single]),
        "terms_by_documents": slope(x, terms),
    }
    print(exponents)
    targets = [
        target(
            "exponent of processor seconds by documents (1 is linear)",
            exponents["processor_seconds_by_documents"],
            most=1.15,
        ),
        target(
            "exponent of the table's bytes by terms (1 is linear)",
            exponents["table_bytes_by_terms"],
            most=1.05,
        ),
    ]
    results = {
        "curve": curve,
        "exponents": exponents,
        "merges": merges,
        "targets": targets,
        "runs": runs,
    }
    results["plan"] = plan(results, 1e8, 100)
    report("text_scaling", options, SEED, results)


if __name__ == "__main__":
    main()
