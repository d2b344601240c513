"""Certified marker genes of a million cells in an .h5ad file, and what scanpy needs.

    python benchmarks/anndata_markers.py [--quick] [--cells N] [--folder F] [--gzip]
                                         [--t-test-cells N ...] [--memory-gb M]

The file is made up after `sc_citeseq`: its 13 cell types in their shares and the mean
profile of its 500 genes in each, which get a fifth of the molecules; 29,500 genes that
tell nothing get the others, in shares that differ as those of genes do (log-normal).
The molecules of a cell are drawn from the profile of its type, their number differs
from cell to cell, and is such that 5 % of the matrix is not zero, as usual for 10x
data. The matrix is CSR of float32 in chunks, not packed, as anndata writes it.

Measured, each in a process of its own, with the file out of the cache of the system
first: reading the bytes and nothing else; counting by type and the best 100 genes with
their proof; and, where scanpy is installed, reading, normalising and its t-test, the
matrix in memory as its tutorials have it, once. That may not fit: the process may have
nine tenths of the memory that is free (or --memory-gb), and "failed" says when it asked
for more. All cells are tried first, then the first 800,000, 600,000, 400,000 and
200,000 of a million, or --t-test-cells, until one runs; each attempt is in the results.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from measurement import (
    in_own_process,
    option_parser,
    peak_bytes,
    read_data,
    report,
    target,
)

SEED = 0
GENES = 30_000
DENSITY = 0.05
MARKED_SHARE = 0.2  # of the molecules, on the genes of sc_citeseq
BLOCK = 1000  # cells made at a time
CHUNK = 1 << 16  # entries of a chunk of the file: 256 kB, about what h5py takes itself
NO_GENE = np.iinfo(np.uint16).max
GUIDE = 1 << 20  # a profile as a list of genes, each as often as its share says


def profiles() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Names and shares of the types, and the profile of each over all genes."""
    frame = read_data("sc_citeseq")
    label = "label" if "label" in frame else frame.columns[-1]
    types, codes = np.unique(frame[label].astype(str), return_inverse=True)
    counts = frame.drop(columns=label).to_numpy(dtype=float)
    means = np.stack([counts[codes == c].mean(axis=0) for c in range(types.size)])
    means /= means.sum(axis=1, keepdims=True)
    others = np.random.default_rng(SEED).lognormal(0, 1.5, GENES - means.shape[1])
    others = np.broadcast_to(others / others.sum(), (types.size, others.size))
    both = [MARKED_SHARE * means, (1 - MARKED_SHARE) * others]
    return types, np.bincount(codes) / codes.size, np.hstack(both)


def molecules_for(profile: np.ndarray, genes: float) -> int:
    """Molecules of a cell in which so many genes are seen, on average."""
    low, high = 1.0, 1e6
    while high - low > 1:
        middle = (low + high) / 2
        seen = (1 - np.exp(-middle * profile)).sum()
        low, high = (middle, high) if seen < genes else (low, middle)
    return int(high)


def make(path: Path, n_cells: int, packing: str | None) -> dict[str, Any]:
    """Write the file, a block of cells at a time."""
    import anndata
    import h5py
    import pandas as pd

    types, shares, profile = profiles()
    places = (np.arange(GUIDE) + 0.5) / GUIDE
    guides = [np.searchsorted(np.cumsum(p) / p.sum(), places) for p in profile]
    guide = np.stack(guides).astype(np.uint16)
    usual = molecules_for(shares @ profile, DENSITY * GENES)
    rng = np.random.default_rng(SEED)
    codes = rng.choice(types.size, n_cells, p=shares)
    number = np.clip(usual * rng.lognormal(-0.045, 0.3, n_cells), 1, 2 * usual)
    names = [f"gene{i}" for i in range(GENES)]
    with h5py.File(path, "w") as file:
        root = anndata.AnnData(
            obs=pd.DataFrame(
                {
                    "cell_type": pd.Categorical.from_codes(codes, types),
                    "donor": pd.Categorical(np.arange(n_cells) * 8 // n_cells),
                },
                index=[f"cell{i}" for i in range(n_cells)],
            ),
            var=pd.DataFrame(index=names),
        )
        root.obs["donor"] = root.obs["donor"].astype(str).astype("category")
        anndata.io.write_elem(file, "/", root)
        if "X" in file:
            del file["X"]
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0"})
        group.attrs["shape"] = np.array([n_cells, GENES])
        kept = {"maxshape": (None,), "chunks": (CHUNK,), "compression": packing}
        data = group.create_dataset("data", (0,), "f4", **kept)
        indices = group.create_dataset("indices", (0,), "i4", **kept)
        lengths = [np.zeros(1, dtype=np.int64)]
        for first in range(0, n_cells, BLOCK):
            own = slice(first, min(first + BLOCK, n_cells))
            size = number[own].astype(np.int64)
            drawn = rng.integers(0, GUIDE, (size.size, size.max()), dtype=np.uint32)
            drawn += (codes[own].astype(np.uint32) * GUIDE)[:, None]
            genes = guide.reshape(-1)[drawn]
            genes[np.arange(genes.shape[1]) >= size[:, None]] = NO_GENE
            genes.sort(axis=1)
            begins = np.ones(genes.shape, dtype=bool)
            np.not_equal(genes[:, 1:], genes[:, :-1], out=begins[:, 1:])
            at = np.flatnonzero(begins)
            times = np.diff(at, append=genes.size)
            there = genes.reshape(-1)[at] != NO_GENE
            at, times = at[there], times[there]
            end = data.shape[0]
            for dataset, values in ((data, times), (indices, genes.reshape(-1)[at])):
                dataset.resize((end + at.size,))
                dataset[end:] = values
            lengths.append(np.bincount(at // genes.shape[1], minlength=size.size))
        indptr = np.cumsum(np.concatenate(lengths))
        narrow = indptr[-1] <= np.iinfo(np.int32).max  # SciPy wants one type for both
        group["indptr"] = indptr.astype(np.int32 if narrow else np.int64)
    return {"entries": int(indptr[-1]), "molecules_per_cell": usual}


# ------------------------------------------------------------------------ what is timed


def forget(path: Path) -> None:
    """Have the system drop the file from its cache."""
    if hasattr(os, "posix_fadvise"):
        os.sync()
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read(path: Path) -> dict[str, Any]:
    """Read every byte: the floor."""
    piece = bytearray(16 << 20)
    begin = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.readinto(piece):
            pass
    return {"seconds": time.perf_counter() - begin}


def markers(path: Path) -> dict[str, Any]:
    """Count by cell type, and take the best 100 genes with their proof."""
    from bayesieve import ClassCounts, solve_multinomial

    begin = time.perf_counter()
    counts = ClassCounts.from_anndata(path, label="cell_type")
    counted = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = solve_multinomial(counts, k=100)
    end = time.perf_counter()
    names = [str(counts.feature_names[i]) for i in solution.support]
    return {
        "seconds": end - begin,
        "count_seconds": counted - begin,
        "solve_seconds": end - counted,
        "relative_gap": solution.certificate.relative_gap,
        "is_optimal": solution.certificate.is_optimal,
        "of_the_500": sum(int(name.removeprefix("gene")) < 500 for name in names),
    }


def free_bytes() -> int:
    """Memory that this process could have without others losing theirs."""
    with open("/proc/meminfo", encoding="ascii") as lines:
        told = dict(line.split(":") for line in lines)
    return int(told["MemAvailable"].split()[0]) * 1024


def first_cells(path: Path, cells: int) -> Any:
    """Read a part of the file; its cells are in no order, so that any will do."""
    import anndata
    import h5py
    from scipy.sparse import csr_matrix

    with h5py.File(path) as file:
        indptr = file["X/indptr"][: cells + 1]
        entries = [file[f"X/{own}"][: indptr[-1]] for own in ("data", "indices")]
        obs, var = (anndata.io.read_elem(file[own]) for own in ("obs", "var"))
    X = csr_matrix((*entries, indptr), shape=(cells, len(var)))
    return anndata.AnnData(X, obs=obs[:cells].copy(), var=var)


def t_test(path: Path, cells: int | None, memory_gb: float | None) -> dict[str, Any]:
    """Run scanpy's usual steps on the first cells, all in memory, as far as it goes."""
    import scanpy as sc

    allowed = memory_gb or 0.9 * free_bytes() / 1e9
    resource.setrlimit(resource.RLIMIT_DATA, (int(allowed * 1e9),) * 2)
    done, begin = {"memory_gb": round(allowed, 1)}, time.perf_counter()
    try:
        if cells is None:
            adata = sc.read_h5ad(path)
        else:
            adata = first_cells(path, cells)
        done["read_seconds"] = time.perf_counter() - begin
        sc.pp.normalize_total(adata)
        sc.pp.log1p(adata)
        done["normalised_seconds"] = time.perf_counter() - begin
        sc.tl.rank_genes_groups(adata, "cell_type", method="t-test")
    except (MemoryError, OSError, RuntimeError) as error:
        # HDF5 and Numba have errors of their own for it.
        if not isinstance(error, MemoryError) and "alloc" not in str(error).lower():
            raise
        # The steps that have their seconds were done before.
        return {
            **done,
            "failed": f"out of memory: asked for more than {allowed:.1f} GB",
        }
    return {**done, "seconds": time.perf_counter() - begin}


STEPS = {"read": read, "markers": markers}


def main() -> None:
    """Measure, print and store."""
    parser = option_parser("anndata_markers", __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--cells", type=int, help="instead of 1,000,000 (quick: 5,000)")
    parser.add_argument("--folder", type=Path, help="where the file goes, and stays")
    parser.add_argument("--gzip", action="store_true", help="pack the matrix")
    parser.add_argument("--repeats", type=int, default=2, help="turns (default: 2)")
    parser.add_argument(
        "--t-test-cells",
        type=int,
        nargs="*",
        metavar="N",
        help="numbers of cells to try scanpy's t-test with, until one runs",
    )
    parser.add_argument(
        "--memory-gb", type=float, help="what the t-test may have (default: 0.9 free)"
    )
    steps = ["make", *STEPS, "t_test"]
    parser.add_argument("--step", choices=steps, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    n_cells = options.cells or (5_000 if options.quick else 1_000_000)
    if options.step == "make":
        print(json.dumps(make(options.file, n_cells, "gzip" if options.gzip else None)))
        return
    if options.step:
        forget(options.file)
        if options.step == "t_test":
            result = t_test(options.file, options.cells, options.memory_gb)
        else:
            result = STEPS[options.step](options.file)
        print(json.dumps({**result, "peak_bytes": peak_bytes()}))
        return
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or Path(made)
        path = folder / f"cells_{n_cells}{'_gzip' if options.gzip else ''}.h5ad"
        results = measure(path, n_cells, options)
    report("anndata_markers", options, SEED, results)


def measure(path: Path, n_cells: int, options: argparse.Namespace) -> dict[str, Any]:
    """Make the file where it is not there yet, and run the steps in turns."""
    script, results = Path(__file__).name, {"cells": n_cells, "genes": GENES}
    if not path.exists():
        packed = ["--gzip"] if options.gzip else []
        arguments = ["--step", "make", "--file", f"{path}.part", "--cells"]
        made = in_own_process(script, [*arguments, str(n_cells), *packed])
        Path(f"{path}.part").rename(path)
        results.update(made)
    results["file_bytes"] = path.stat().st_size
    print(f"{n_cells:,} x {GENES:,}, file of {results['file_bytes'] / 1e9:.2f} GB")
    runs: dict[str, list[Any]] = {name: [] for name in [*STEPS, "t_test"]}
    for step in [*STEPS] * options.repeats:
        done = in_own_process(script, ["--step", step, "--file", str(path)])
        runs[step].append(done)
        print(f"{step:8} {json.dumps(done)}")
    if has_scanpy():
        runs["t_test"] = t_tests(path, n_cells, options)
    best = min(runs["markers"], key=lambda run: run["seconds"])
    targets = [
        target("seconds to certified markers", best["seconds"], most=60),
        target("peak memory, GB", best["peak_bytes"] / 1e9, most=4),
        target("markers among the 500 genes that tell", best["of_the_500"], least=100),
    ]
    return {**results, "runs": runs, "targets": targets}


def t_tests(path: Path, n_cells: int, options: argparse.Namespace) -> list[Any]:
    """Attempts of scanpy at fewer and fewer cells, up to the first that succeeds."""
    script, attempts = Path(__file__).name, []
    sizes = options.t_test_cells
    if sizes is None:
        sizes = [n_cells * share // 5 for share in (5, 4, 3, 2, 1)]
    for cells in sizes:
        arguments = ["--step", "t_test", "--file", str(path)]
        arguments += ["--cells", str(cells)] if cells < n_cells else []
        if options.memory_gb:
            arguments += ["--memory-gb", str(options.memory_gb)]
        try:
            done = in_own_process(script, arguments)
        except subprocess.CalledProcessError as error:
            if error.returncode > 0:
                raise
            # Killed, or ended by a library that cannot tell of memory that runs out.
            done = {"failed": f"ended with status {error.returncode}"}
        attempts.append({"cells": min(cells, n_cells), **done})
        print(f"t_test   {json.dumps(attempts[-1])}")
        if "failed" not in done:
            break
    return attempts


def has_scanpy() -> bool:
    """Whether scanpy is here; said once where it is not."""
    from importlib.util import find_spec

    if find_spec("scanpy") is None:
        print("scanpy is not installed: no t-test beside it", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    main()
