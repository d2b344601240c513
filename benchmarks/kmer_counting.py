"""Counts of k-mers of real sequences: the largest run, Jellyfish beside it, a kill.

    python benchmarks/kmer_counting.py [--quick] [--folder F]

The sequences are those of Debian's packages metaphlan2-data (marker genes of microbes),
ncbi-rrna-data (ribosomal RNA, as BLAST databases) and microbiomeutil-data; they are
downloaded by apt-get and unpacked into the folder, 1.5 GB, unless they are there.

1. All k-mers of two files, k = 21 and 31, counted by Jellyfish too, and compared.
2. Each record of all files is a row, its file the class: all canonical 31-mers, copies
   merged, and the best 100 proven, in a process whose memory is measured.
3. A count with a checkpoint is killed by the system in the middle and started again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from measurement import in_own_process, option_parser, peak_bytes, report, target

GOLD = Path("/usr/share/microbiomeutil-data/RESOURCES/rRNA16S.gold.fasta")
BLAST = Path("/usr/share/ncbi/data")
DATABASES = ["Combined16SrRNA", "SSURef_93.fasta", "LSURef_93.fasta"]
MARKERS = "var/lib/metaphlan2-data/markers.fasta"


def sequences(folder: Path) -> list[Path]:
    """The files of all packages, made where they are not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for name in DATABASES:
        path = folder / f"{name.removesuffix('.fasta')}.fasta"
        if not path.exists():
            if shutil.which("blastdbcmd") is None or not BLAST.is_dir():
                sys.exit("Install ncbi-rrna-data and ncbi-blast+ first.")
            database = ["blastdbcmd", "-db", BLAST / name, "-entry", "all"]
            part = path.with_suffix(".part")
            subprocess.run([*database, "-out", part], check=True)
            part.rename(path)
        found.append(path)
    markers = folder / "markers.fasta"
    if not markers.exists():
        with tempfile.TemporaryDirectory(dir=folder) as inner:
            get = ["apt-get", "download", "-q", "metaphlan2-data"]
            subprocess.run(get, cwd=inner, check=True)
            package = next(Path(inner).glob("*.deb"))
            subprocess.run(["dpkg", "-x", package, inner], check=True)
            shutil.move(Path(inner, MARKERS), markers)
    return [*found, markers]


# --------------------------------------------------------- in processes of their own


def count(arguments: list[str]) -> dict[str, Any]:
    """Count and solve; the options are those of `from_sequences` as JSON."""
    from bayesieve import ClassCounts, solve_bernoulli

    given = json.loads(arguments[0])
    labels = given.pop("labels")
    if not isinstance(labels[0], str):  # so many records in a row
        labels = [name for name, size in labels for _ in range(size)]
    begin = time.perf_counter()
    counts = ClassCounts.from_sequences(given.pop("paths"), labels, **given)
    counted = time.perf_counter()
    found: dict[str, Any] = {"seconds": counted - begin}
    if counts.copies is not None:
        found["distinct"] = counts.copies.n_features
    found["columns"] = counts.n_features
    found["digest"] = digest(counts)
    if counts.n_classes > 1:
        begin = time.perf_counter()
        solution = solve_bernoulli(counts, min(100, counts.n_features))
        found["solve_seconds"] = time.perf_counter() - begin
        found["proven"] = bool(solution.certificate.is_optimal)
        found["gain"] = float(solution.gains.sum())
    return found | {"peak_bytes": peak_bytes()}


def digest(counts: Any) -> str:
    """A short print of the keys and the counts."""
    names = counts.feature_names if counts.copies is None else counts.copies.names
    found = hashlib.sha256(names.keys)
    table = counts.feature_count
    parts = [table] if isinstance(table, np.ndarray) else [table.data, table.indices]
    for part in parts:
        found.update(np.ascontiguousarray(part))
    return found.hexdigest()


def counted(**options: Any) -> dict[str, Any]:
    options = {"k": 31, "n_jobs": -1} | options
    options["paths"] = [str(path) for path in options["paths"]]
    found: dict[str, Any] = in_own_process(
        "kmer_counting.py", ["--run", json.dumps(options)]
    )
    return found


# ------------------------------------------------------------------ the parts


def beside_jellyfish(path: Path, k: int, folder: Path) -> dict[str, Any]:
    """All counts of all k-mers by both, and their times."""
    from bayesieve import ClassCounts

    index, dump = folder / "index.jf", folder / "dump.txt"
    begin = time.perf_counter()
    run = ["jellyfish", "count", "-m", str(k), "-s", "100M", "-C", "-t", "2"]
    subprocess.run([*run, "-o", index, path], check=True)
    theirs = time.perf_counter() - begin
    begin = time.perf_counter()
    counts = ClassCounts.from_sequences([path], ["all"], k=k, binary=False, n_jobs=-1)
    ours = time.perf_counter() - begin
    with dump.open("wb") as file:
        subprocess.run(["jellyfish", "dump", "-c", index], check=True, stdout=file)
    digits = np.full(256, 255, dtype=np.uint8)
    digits[list(b"ACGT")] = range(4)
    keys, numbers = [], []
    with dump.open("rb") as file:
        while lines := file.readlines(1 << 26):
            letters = np.frombuffer(
                b"".join(line[:k] for line in lines), dtype=np.uint8
            )
            table = digits[letters].reshape(-1, k).astype(np.uint64)
            key = np.zeros(len(lines), dtype=np.uint64)
            for column in table.T:
                key = key << np.uint64(2) | column
            keys.append(key)
            numbers.append(np.array([int(line[k + 1 :]) for line in lines]))
    key, number = np.concatenate(keys), np.concatenate(numbers)
    order = np.argsort(key)
    same = np.array_equal(key[order], counts.feature_names.keys) and np.array_equal(
        number[order], np.asarray(counts.feature_count).ravel()
    )
    found = {"k": k, "distinct": key.size, "equal": bool(same), "seconds": ours}
    print(f"k={k}: {key.size:,} k-mers, equal: {same}", end="; ")
    print(f"{ours:.1f} s, jellyfish {theirs:.1f} s")
    return found | {"jellyfish_seconds": theirs, "file": path.name}


def killed(paths: list[Path], folder: Path, labels: list[str]) -> dict[str, Any]:
    """A count that is killed after half of its time, and what the next run does."""
    options = {"paths": paths, "labels": labels, "merge_copies": True}
    whole = counted(**options)
    kept = folder / "kept"
    given = {"k": 31, "n_jobs": -1, **options, "checkpoint": str(kept)}
    given["paths"] = [str(path) for path in paths]
    script = [sys.executable, __file__, "--run", json.dumps(given)]
    process = subprocess.Popen(script, stdout=subprocess.DEVNULL)
    while not list(kept.glob("*.keys")):  # until the first part is on disk
        time.sleep(0.2)
    time.sleep(1.0)
    process.send_signal(signal.SIGKILL)
    process.wait()
    parts = len(list(kept.glob("*.keys")))
    again = counted(**options, checkpoint=str(kept))
    same = again["digest"] == whole["digest"]
    print(
        f"killed with {parts} part(s) on disk; resumed in {again['seconds']:.1f} s "
        f"where all takes {whole['seconds']:.1f} s; equal: {same}"
    )
    return {"whole": whole, "resumed": again, "parts": parts, "equal": same}


def split(path: Path, n_parts: int, folder: Path) -> list[Path]:
    """The records of a file in so many files."""
    from bayesieve.sequences import read_records

    found = [folder / f"part{i:02}.fasta" for i in range(n_parts)]
    files = [own.open("w") for own in found]
    for number, (header, bases) in enumerate(read_records(path)):
        files[number % n_parts].write(f">{header}\n{bases}\n")
    for file in files:
        file.close()
    return found


def records_of(path: Path) -> int:
    """Number of records of a FASTA file."""
    with path.open("rb") as file:
        return sum(line.startswith(b">") for line in file)


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        print(json.dumps(count(sys.argv[2:])))
        return
    parser = option_parser("kmer_counting", __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    default = Path(tempfile.gettempdir(), "bayesieve-sequences")
    parser.add_argument("--folder", type=Path, default=default, help="where files go")
    parser.add_argument(
        "--budget-gb", type=float, default=4.0, help="memory_budget of the largest run"
    )
    options = parser.parse_args()
    if shutil.which("jellyfish") is None:
        sys.exit("Install jellyfish first.")
    files = [GOLD] if options.quick else sequences(options.folder)
    small = files[0] if options.quick else files[2]
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=options.folder.parent) as inner:
        folder = Path(inner)
        compared = [small, *files[1:2]]
        results["jellyfish"] = [
            beside_jellyfish(path, k, folder) for path in compared for k in (21, 31)
        ]
        parts = split(files[1] if len(files) > 1 else small, 12, folder)
        results["killed"] = killed(parts, folder, list("ab" * 6))
    runs = [[path.stem, records_of(path)] for path in files]
    if options.quick:
        runs = [["first", runs[0][1] // 2], ["second", runs[0][1] - runs[0][1] // 2]]
    begin = time.perf_counter()
    largest = counted(
        paths=files,
        labels=runs,
        records=True,
        merge_copies=True,
        memory_budget=int(options.budget_gb * 1e9),
    )
    results["largest"] = largest | {
        "rows": runs,
        "bytes": sum(path.stat().st_size for path in files),
        "all_seconds": time.perf_counter() - begin,
    }
    print(json.dumps(results["largest"], indent=1))
    equal = all(found["equal"] for found in results["jellyfish"])
    results["targets"] = [
        target("all counts are Jellyfish's", float(equal), least=1),
        target(
            "killed and resumed, the same", float(results["killed"]["equal"]), least=1
        ),
        target("distinct k-mers of the largest run", largest["distinct"], least=5e8),
        target("its peak memory, GB", largest["peak_bytes"] / 1e9, most=16),
        target("its best 100 proven", float(largest["proven"]), least=1),
    ]
    report("kmer_counting", options, None, results)


if __name__ == "__main__":
    main()
