"""Certified solves and class sums on a GPU, against the compiled core on the host.

Needs PyTorch and array-api-compat; the data are made on the device.

- `solve_multinomial` on a billion columns of two classes, float64 counts on the device,
  Zipf-like as in `solve_wide.py`, with its full certificate: seconds until the answer
  is on the host, beside one addition of the two rows of counts into an array allocated
  beforehand; by the compiled pass, which the first call compiles, and by the array API
  alone, as where it cannot be compiled. Then the same counts as a NumPy array by the
  compiled core: the supports must be equal and the bounds equal to 1e-9.
- `solve_bernoulli` on the same table, as presences.
- Both on the counts as int32, half the bytes.
- `class_sums` of a CSR tensor (1.6 million rows, 12 million columns, 40 million
  entries), left on the device, and `ClassCounts.from_matrix`, which fetches the table,
  beside the same matrix in SciPy with two threads.

The device is waited for before and after everything that is timed. With --device cpu
the same code runs on tensors of the host, to see that it runs; by itself the library
gives these to the compiled core. --profile FOLDER writes
what one solve of each kind does.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import math
import pstats
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import sparse

from bayesieve import ClassCounts, solve_bernoulli, solve_multinomial
from bayesieve.counts import class_sums
from bayesieve.solvers import _device_passes
from bayesieve.utils import _device_arrays, _gpu_programs
from measurement import option_parser, report, target, timed

SEED = 20240229
#: Columns that are drawn at once.
PIECE = 1 << 25


def waiting(device: str, run: Callable[[], Any]) -> Callable[[], Any]:
    """The same call between two waits for the device."""

    def both() -> Any:
        wait(device)
        result = run()
        wait(device)
        return result

    return both


def wait(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)


def best_of(
    device: str, repeats: int, run: Callable[[], Any]
) -> tuple[list[float], Any]:
    """Seconds of every repetition but the first, and the last result."""
    waiting(device, run)()
    seconds = []
    for _ in range(repeats):
        spent, result = timed(waiting(device, run))
        seconds.append(spent)
    return seconds, result


def zipf_table(m: int, device: str) -> torch.Tensor:
    """Counts of two classes: Zipf-like totals in random order, log-normal ratios."""
    generator = torch.Generator(device).manual_seed(SEED)
    like = {"dtype": torch.float64, "device": device, "generator": generator}
    table = torch.empty((2, m), dtype=torch.float64, device=device)
    for first in range(0, m, PIECE):
        n = min(PIECE, m - first)
        rate = 1.5 * m / (10.0 + m * torch.rand(n, **like))
        ratio = torch.exp(0.3 * torch.randn(n, **like))
        table[0, first : first + n] = torch.poisson(rate * ratio, generator)
        table[1, first : first + n] = torch.poisson(rate / ratio, generator)
    return table


def difference(ours: Any, theirs: Any) -> float:
    """The largest relative difference of the values of two certificates."""
    names = ("objective", "null_objective", "upper_bound", "relaxation_bound")
    names += ("published_bound", "sharp_bound")
    pairs = [(getattr(ours, name), getattr(theirs, name)) for name in names]
    return max(
        abs(a - b) / abs(b) if b else abs(a) for a, b in pairs if not math.isnan(b)
    )


def study_solves(options: argparse.Namespace, m: int, k: int) -> dict[str, Any]:
    table = zipf_table(m, options.device)
    wait(options.device)
    data = {"n_features": m, "k": k, "total": float(table.sum()), "bytes": 16 * m}
    print(data)
    rows = table.max(dim=1).values.cpu().numpy()
    out = torch.empty_like(table[0])
    add = partial(torch.add, table[0], table[1], out=out)
    addition, _ = best_of(options.device, options.repeats, add)
    print(f"addition: {1e3 * min(addition):.2f} ms")
    del out, add
    runs, answers = on_device(options, table, rows, k)
    counts = table.cpu().numpy()
    host, here = {}, {}
    solves = solvers(rows, k)
    for name, solve in solves.items():
        host[name], here[name] = timed(lambda solve=solve: solve(counts))
        print(f"{name} on the host: {host[name]:.3f} s")
    targets = []
    for (name, way), there in answers.items():
        if not np.array_equal(there.support, here[name].support):
            raise SystemExit(f"{name}, {way}: the supports of device and host differ.")
        told = f"{name}, {way}: relative difference to the host"
        apart = difference(there.certificate, here[name].certificate)
        targets.append(target(told, apart, most=1e-9))
    for name in solves:
        own = min(runs[name]["compiled"]["seconds"])
        targets.append(target(f"{name} on the device, seconds", own, most=0.05))
    found = here["multinomial"].certificate
    return {
        "data": data,
        "addition_seconds": addition,
        "runs": runs,
        "host_seconds": host,
        "is_optimal": found.is_optimal,
        "nodes": found.nodes,
        "targets": targets,
    }


def solvers(rows: np.ndarray, k: int) -> dict[str, Callable[[Any], Any]]:
    return {
        "multinomial": lambda counts: solve_multinomial(counts, k),
        "Bernoulli": lambda counts: solve_bernoulli(counts, k, class_count=rows),
    }


def on_device(
    options: argparse.Namespace, table: torch.Tensor, rows: np.ndarray, k: int
) -> tuple[dict[str, Any], dict[tuple[str, str], Any]]:
    """What is timed on the device, and the answers."""
    device, repeats = options.device, options.repeats
    compiling = _device_passes.gpu_program
    runs: dict[str, Any] = {}
    answers = {}
    for name, solve in solvers(rows, k).items():
        runs[name] = {}
        for way in ("compiled", "int32, compiled", "array API"):
            _device_passes.gpu_program = (
                compiling if "compiled" in way else lambda *_: None
            )
            given = table.int() if "int32" in way else table
            before = 0
            if device.startswith("cuda"):
                torch.cuda.empty_cache()
                torch.cuda.reset_peak_memory_stats(device)
                before = torch.cuda.memory_allocated(device)
            run = partial(solve, given)
            first, _ = timed(waiting(device, run))
            seconds, answers[name, way] = best_of(device, repeats, run)
            runs[name][way] = {"seconds": seconds, "first": first}
            told = f"{name}, {way}: {1e3 * min(seconds):.1f} ms, first {first:.2f} s"
            if device.startswith("cuda"):
                extra = torch.cuda.max_memory_allocated(device) - before
                runs[name][way]["extra_device_bytes"] = extra
                told += f", {extra / 1e6:.0f} MB beside the table"
            print(told)
            if options.profile:
                name_of = f"{name}_{way}".replace(" ", "_").replace(",", "")
                profile(options.profile / f"{name_of}.txt", device, run)
            del given, run
    _device_passes.gpu_program = compiling
    compiled = [one for one in _gpu_programs._PROGRAMS.values() if one is not None]
    if device.startswith("cuda") and not compiled:
        raise SystemExit("No pass could be compiled.")
    return runs, answers


def csr_tensor(n_rows: int, m: int, each: int, device: str) -> torch.Tensor:
    """Rows with so many entries: each from a stretch of its own, near its beginning."""
    generator = torch.Generator(device).manual_seed(SEED)
    like = {"dtype": torch.float64, "device": device, "generator": generator}
    stretch = m // each
    first = stretch * torch.arange(each, device=device)
    columns = first + (stretch * torch.rand((n_rows, each), **like) ** 3).long()
    values = 1.0 + torch.floor(3 * torch.rand(n_rows * each, **like))
    starts = each * torch.arange(n_rows + 1, device=device)
    return torch.sparse_csr_tensor(
        starts, columns.reshape(-1), values, size=(n_rows, m), check_invariants=True
    )


def study_sums(options: argparse.Namespace, n_rows: int, m: int) -> dict[str, Any]:
    device = options.device
    X = csr_tensor(n_rows, m, 25, device)
    y = np.random.default_rng(SEED).integers(0, 2, n_rows)
    labels = torch.from_numpy(y).to(device)
    there, sums = best_of(device, options.repeats, lambda: class_sums(X, labels))
    fetched, _ = best_of(device, options.repeats, lambda: ClassCounts.from_matrix(X, y))
    parts = (X.values(), X.col_indices().int(), X.crow_indices())
    matrix = sparse.csr_array(
        tuple(part.cpu().numpy() for part in parts), shape=(n_rows, m)
    )
    host, counts = best_of(
        "cpu", options.repeats, lambda: ClassCounts.from_matrix(matrix, y, n_jobs=2)
    )
    if not np.array_equal(sums.feature_count.cpu().numpy(), counts.feature_count):
        raise SystemExit("The class sums of device and host differ.")
    print(
        f"class sums of {n_rows:,} x {m:,}: {1e3 * min(there):.1f} ms on the device, "
        f"{1e3 * min(fetched):.1f} ms with the table fetched, "
        f"{1e3 * min(host):.1f} ms by two threads of the host"
    )
    return {
        "data": {"shape": [n_rows, m], "entries": 25 * n_rows},
        "seconds": {"device": there, "device, fetched": fetched, "host": host},
        "targets": [
            target("class sums, host / device", min(host) / min(there), least=10)
        ],
    }


def profile(path: Path, device: str, run: Callable[[], Any]) -> None:
    """Write what the device, and Python, do in one solve, the longest first."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as recording

    activities = [ProfilerActivity.CPU]
    if device.startswith("cuda"):
        activities.append(ProfilerActivity.CUDA)
    with recording(activities=activities) as found:
        waiting(device, run)()
    order = "cuda_time_total" if len(activities) == 2 else "cpu_time_total"
    python = cProfile.Profile()
    python.runcall(waiting(device, run))
    told = io.StringIO()
    pstats.Stats(python, stream=told).sort_stats("tottime").print_stats(40)
    table = found.key_averages().table(sort_by=order, row_limit=30)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(table + told.getvalue(), encoding="utf-8")


def device_told(device: str) -> dict[str, Any]:
    told: dict[str, Any] = {"device": device, "torch": torch.__version__}
    if device.startswith("cuda"):
        told["name"] = torch.cuda.get_device_name(device)
        told["memory_bytes"] = torch.cuda.get_device_properties(device).total_memory
        told["cuda"] = torch.version.cuda
    return told


def main() -> None:
    parser = option_parser("device_solve", __doc__)
    usual = "cuda" if torch.cuda.is_available() else "cpu"
    parser.add_argument("--device", default=usual, help="default: %(default)s")
    parser.add_argument("--features", type=int, help="columns of the solves")
    parser.add_argument("--k", type=int, help="features to select")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--profile", type=Path, help="the folder of the profiles")
    options = parser.parse_args()
    full = options.device.startswith("cuda") and not options.quick
    features = options.features or (1_000_000_000 if full else 2_000_000)
    k = options.k or (1_200 if full else 100)
    # On the host: the code for devices, which is what is looked at here.
    _device_arrays._is_in_host_memory = lambda array: False
    results = {
        **device_told(options.device),
        "solves": study_solves(options, features, k),
        "sums": study_sums(
            options, *((1_600_000, 12_000_000) if full else (40_000, 300_000))
        ),
    }
    if not full:
        options.quick = True  # the targets are for a GPU
    report("device_solve", options, SEED, results)


if __name__ == "__main__":
    main()
