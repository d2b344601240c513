"""Small real files of every format, and ways to run the command line on them."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
from tests.patience import HANGS

SCRIPT = Path(sys.executable).parent / "bayesieve"
GOOD = ["good", "great", "fine", "lovely"]
BAD = ["bad", "awful", "poor", "dull"]


def reviews(n=200, seed=0):
    """Rows of (text, label): short reviews with some noise."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        label = "pos" if i % 3 else "neg"
        words = list(rng.choice(GOOD if label == "pos" else BAD, size=2))
        words += list(rng.choice(["film", "plot", "actor", "scene", "naïve"], size=4))
        rows.append((" ".join(rng.permutation(words)) + ", the end", label))
    return rows


def people(n=300, seed=0):
    """Rows of a mixed table with missing values; the label is last."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        yes = i % 2
        age = "" if rng.random() < 0.1 else f"{rng.normal(35 + 20 * yes, 5):.1f}"
        town = rng.choice(["Oslo", "Rome"]) if rng.random() < 0.8 else "NA"
        mood = rng.choice(["up", "down"], p=[0.2 + 0.6 * yes, 0.8 - 0.6 * yes])
        day = f"2024-0{1 + rng.integers(6)}-1{rng.integers(10)}"
        rows.append((i, age, town, mood, day, "yes" if yes else "no"))
    return rows


PEOPLE = ("id", "age", "town", "mood", "day", "bought")


def write_csv(path, header, rows, delimiter=",", opened=open):
    with opened(path, "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def write_jsonl(path, header, rows):
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(dict(zip(header, row, strict=True))) + "\n")
    return path


def write_parquet(path, header, rows):
    import pyarrow
    from pyarrow import parquet

    columns = zip(*rows, strict=True)
    table = {name: list(own) for name, own in zip(header, columns, strict=True)}
    parquet.write_table(pyarrow.table(table), path)
    return path


def write_svmlight(path, n=200, seed=0, gz=False):
    rng = np.random.default_rng(seed)
    lines = []
    for i in range(n):
        label = 1 if i % 2 else -1
        entries = {3: 1 + rng.poisson(4 if label > 0 else 1), 5: rng.poisson(3)}
        entries[7] = rng.poisson(1 if label > 0 else 4)
        entries |= {int(j): 1 for j in rng.integers(10, 2000, size=5)}
        told = " ".join(f"{j}:{v}" for j, v in sorted(entries.items()) if v)
        lines.append(f"{label} {told}\n")
    text = "".join(lines).encode()
    Path(path).write_bytes(gzip.compress(text) if gz else text)
    return path


def write_genomes(folder, labels=None, n=24, seed=0, length=400):
    """Write a FASTA file for each of some genomes, and a table of their labels.

    Every third has a gene of 60 bases, whose thirty 31-mers tell its label.
    """
    rng = np.random.default_rng(seed)

    def bases(size):
        return "".join(rng.choice(list("ACGT"), size))

    gene, core = bases(60), bases(length)
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for i in range(n):
        resists = i % 3 == 0
        inserted = bases(50) + gene * resists + bases(50)  # it stands nowhere the same
        genome = core[: length // 2] + inserted + core[length // 2 :]
        (folder / f"g{i}.fasta").write_text(f">g{i} strain {i}\n{genome}\n")
        town = ["Oslo", "Rome"][int(rng.integers(2))]
        rows.append((f"g{i}", town, "resistant" if resists else "susceptible"))
    if labels is not None:
        write_csv(labels, ("sample", "town", "phenotype"), rows)
    return gene, {name: label for name, _, label in rows}


def write_reviews(folder, form, name="reviews", **options):
    """Write reviews in a format and return the path."""
    header, rows = ("text", "label"), reviews(**options)
    path = folder / f"{name}.{form}"
    if form == "csv.gz":
        return write_csv(path, header, rows, opened=gzip.open)
    if form == "jsonl":
        return write_jsonl(path, header, rows)
    if form == "json":
        objects = [dict(zip(header, row, strict=True)) for row in rows]
        path.write_text(json.dumps(objects), encoding="utf-8")
        return path
    if form == "parquet":
        return write_parquet(path, header, rows)
    return write_csv(path, header, rows, "\t" if form == "tsv" else ",")


def run_script(*arguments, **options):
    """Run the installed console script in a process of its own."""
    command = str(SCRIPT) if SCRIPT.exists() else shutil.which("bayesieve")
    return subprocess.run(
        [command, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=HANGS,
        check=False,
        **options,
    )
