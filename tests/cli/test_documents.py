"""Every command in the README, in the documents and in the help is run as written."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.cli.files import (
    SCRIPT,
    people,
    reviews,
    write_csv,
    write_genomes,
    write_jsonl,
    write_parquet,
    write_svmlight,
)
from tests.io.messy_files import write_xlsx
from tests.patience import HANGS

from bayesieve.cli._app import COMMANDS

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def sample_files(folder):
    """Small real files under the names that the documents use."""
    header = ("body", "stars")
    rows = [(text, 5 if label == "pos" else 1) for text, label in reviews(150)]
    write_csv(folder / "reviews.csv", header, rows)
    write_csv(folder / "monday.csv", header, rows[:80])
    write_csv(folder / "tuesday.csv", header, rows[80:])
    new = [(i, "2024-05-01", row[0]) for i, row in enumerate(rows[:20])]
    write_csv(folder / "new.csv", ("id", "date", "body"), new)
    (folder / "reviews").mkdir()
    for part in range(2):
        path = folder / "reviews" / f"part{part}.csv.gz"
        write_csv(path, header, rows[part::2], opened=gzip.open)
    (folder / "new").mkdir()
    write_jsonl(folder / "new" / "a.jsonl", header[:1], [row[:1] for row in rows[:9]])
    table = ("id", "age", "town", "mood", "day", "outcome")
    filled = [(i, float(age) if age else None, *rest) for i, age, *rest in people(200)]
    write_parquet(folder / "patients.parquet", table, filled)
    write_csv(folder / "patients.csv", table, people(200))
    rng = np.random.default_rng(0)
    genes = rng.normal(size=(60, 30)) + np.outer(np.arange(60) % 2, np.arange(30) < 3)
    names = [f"g{i}" for i in range(30)]
    labelled = [
        [*row, "yes" if i % 2 else "no"] for i, row in enumerate(genes.tolist())
    ]
    write_csv(folder / "genes.csv", [*names, "tumour"], labelled)
    write_svmlight(folder / "counts.svm")
    write_xlsx(folder / "patients.xlsx", patients=[table, *filled])
    old = write_csv(folder / "old.csv", header, rows, delimiter=";")
    text = old.read_text(encoding="utf-8")
    (folder / "old_reviews.csv").write_text(text, encoding="cp1252", newline="")
    flowers = [(f"{x:.1f}", f"{y:.1f}", "ab"[int(x > 0)]) for x, y in genes[:, :2]]
    write_csv(folder / "iris.data", flowers[0], flowers[1:])
    customers(folder)
    write_genomes(folder / "genomes", folder / "genomes.csv", n=24)
    for path in sorted((folder / "genomes").iterdir())[:3]:
        shutil.copy(path, folder / "new")
    records = [path.read_text() for path in sorted((folder / "genomes").iterdir())]
    (folder / "genes.fna").write_text("".join(records))
    shutil.copy(folder / "genomes.csv", folder / "genes.tsv")
    for i in range(20):
        kind = folder / "programs" / ("elf" if i % 2 else "pe")
        kind.mkdir(parents=True, exist_ok=True)
        head = b"\x7fELF\x02\x01\x01" if i % 2 else b"MZ\x90\x00\x03\x00\x00"
        (kind / f"program{i}").write_bytes(head + rng.bytes(300))


def customers(folder):
    """Tables as people have them: amounts, dates, identifiers, texts and columns."""
    rng = np.random.default_rng(1)
    income = rng.integers(10_000, 60_000, 200).tolist()
    head = ("id", "name", "zip", "joined", "income", "bought")
    rows = [
        (
            i,
            f"customer {i}",
            f"{rng.integers(5):05}",
            f"{rng.integers(1, 29):02}/{rng.integers(1, 13):02}/2024",
            f"{own:,}",
            "yes" if own + rng.normal(0, 9000) > 30_000 else "no",
        )
        for i, own in enumerate(income)
    ]
    write_csv(folder / "customers.csv", head, rows)
    write_csv(folder / "customers.csv.gz", head, rows, opened=gzip.open)
    german = [f"{own},50;{row[-1]};Köln" for own, row in zip(income, rows, strict=True)]
    lines = "\n".join(["Einkommen;gekauft;Ort", *german])
    (folder / "kunden.csv").write_bytes(lines.encode("cp1252"))
    write_csv(folder / "export.csv", ("sum", "paid"), [(r[4], r[5]) for r in rows])
    (folder / "points.csv").write_text(
        "".join(f"{i % 7},{i},{i % 2}\n" for i in range(60))
    )
    write_xlsx(folder / "sales.xlsx", Sales=[head, *rows], Notes=[["nothing"]])
    tickets = [
        (text, int(rng.integers(9)) + 3 * (label == "pos"), label)
        for text, label in reviews(150)
    ]
    write_csv(folder / "tickets.csv", ("message", "priority", "urgent"), tickets)


def run(command, folder):
    """Run a line as a user would type it, with the installed script on the path."""
    search = os.pathsep.join([str(SCRIPT.parent), os.environ["PATH"]])
    return subprocess.run(
        command,
        shell=True,
        executable=shutil.which("bash"),
        cwd=folder,
        env={**os.environ, "PATH": search},
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )


def commands_of(document):
    """The lines that begin with `$ bayesieve` in blocks marked as console."""
    text = document.read_text(encoding="utf-8")
    blocks = re.findall(r"^```console\n(.*?)^```", text, re.M | re.S)
    joined = "".join(blocks).replace("\\\n", " ")
    return re.findall(r"^\$ (bayesieve .*)$", joined, re.M)


def check(command, folder):
    done = run(command.partition("  #")[0], folder)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr
    assert done.stdout or "--out" in command


pytestmark = pytest.mark.skipif(
    shutil.which("bash") is None, reason="the lines are those of a POSIX shell"
)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(path, marks=() if path.name == "README.md" else pytest.mark.slow)
        for path in DOCUMENTS
    ],
    ids=lambda path: path.name,
)
def test_commands_of_documents(document, tmp_path):
    commands = commands_of(document)
    if not commands:
        pytest.skip("there is no console command in it")
    sample_files(tmp_path)
    for command in commands:  # later lines use what earlier ones have written
        check(command, tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("samples")
    sample_files(folder)
    for command in (
        "bayesieve select reviews.csv -k 6 --save reviews.model",
        "bayesieve select reviews.csv -k 3 --save small.model",
        "bayesieve select patients.csv --drop id --label outcome --save patients.model",
        "bayesieve select 'genomes/*.fasta' --labels genomes.csv --save genomes.model",
        "bayesieve counts monday.csv --save monday.counts",
        "bayesieve counts tuesday.csv --save tuesday.counts",
        "bayesieve counts merge monday.counts tuesday.counts --save week.counts",
    ):
        check(command, folder)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize(
    "example", [line for command in COMMANDS for line in command.examples]
)
def test_examples_of_the_help(example, folder):
    if example.endswith("| source      # now, in fish"):
        pytest.skip("a line for fish; what it prints is tested elsewhere")
    if example.startswith("eval"):
        done = run(example + "\ncomplete -p bayesieve", folder)
        assert done.returncode == 0, done.stderr
        assert "_bayesieve" in done.stdout
        return
    check(example, folder)
