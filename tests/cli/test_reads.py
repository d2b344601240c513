"""How often a command reads a file: once, and a second time to guess its columns."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from tests.cli.files import PEOPLE, people, write_csv, write_reviews

from bayesieve.cli import main
from bayesieve.io import _row_bounds
from bayesieve.io._files import DataFile

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")

COLUMNS = {"texts": ["--text", "text", "--label", "label"], "table": ["--drop", "id"]}


@pytest.fixture
def passes(monkeypatch):
    """Passes over a file that were begun, the look at its first rows among them."""
    begun = []
    read = DataFile.batches

    def noted(self, names, *rest, **more):
        begun.append(list(names))
        return read(self, names, *rest, **more)

    monkeypatch.setattr(DataFile, "batches", noted)
    return begun


@pytest.fixture(params=["texts", "table"])
def data(request, tmp_path):
    if request.param == "texts":
        return write_reviews(tmp_path, "csv", n=400), COLUMNS["texts"]
    return write_csv(tmp_path / "people.csv", PEOPLE, people()), COLUMNS["table"]


def test_a_file_is_read_once(data, passes, tmp_path, capsys):
    path, columns = data
    files = ["--save", str(tmp_path / "m"), "--report", str(tmp_path / "r.html")]
    assert main(["select", str(path), *columns, *files]) == 0
    # Where columns are guessed, the first rows are looked at before.
    assert len(passes) == 1 + ("--label" not in columns)
    capsys.readouterr()


def test_more_passes_need_no_file(passes, tmp_path, capsys):
    path = write_reviews(tmp_path, "csv")
    for options in (["-k", "cv"], ["-k", "4", "--weights"]):
        passes.clear()
        assert main(["select", str(path), *COLUMNS["texts"], *options]) == 0
        assert len(passes) == 1
    capsys.readouterr()


@pytest.mark.parametrize("weights", [[], ["--weights"]])
def test_rows_beyond_memory_are_read_again(
    weights, passes, tmp_path, capsys, monkeypatch
):
    path = write_reviews(tmp_path, "csv")
    # Rows are fitted again in parts only where they are in memory: --quick leaves it.
    arguments = ["select", str(path), *COLUMNS["texts"], "-k", "4", "--json", "--quick"]
    arguments += weights
    assert main(arguments) == 0
    held = capsys.readouterr().out
    # A quarter of the memory holds nothing, or the rows held out, or all rows; the last
    # of them for certain.
    size = path.stat().st_size
    for memory, times in ((1000, 3), (2 * size, 2), (8 * size, 1), (20 * size, 1)):
        passes.clear()
        monkeypatch.setattr(_row_bounds, "physical_memory", lambda n=memory: n)
        assert main(arguments) == 0
        again = capsys.readouterr().out
        assert again.partition('"seconds"')[0] == held.partition('"seconds"')[0]
        assert len(passes) == times + (bool(weights) and times > 1)


def test_only_the_columns_that_are_used_are_read(passes, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [(f"some words {i % 7}", i % 2, "other") for i in range(60)]
    path = write_csv(tmp_path / "d.csv", ("text", "label", "more"), rows)
    assert main(["counts", str(path), *COLUMNS["texts"], "--save", "c"]) == 0
    assert passes == [["text", "label"]]
    capsys.readouterr()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the kernel")
@pytest.mark.parametrize("kind", ["texts", "table", "weights"])
def test_the_bytes_that_are_read(kind, tmp_path, capsys):
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(2000)])
    path = tmp_path / "d.csv"
    options = [*COLUMNS["texts"], "-k", "5"]
    if kind == "table":
        rows = np.column_stack([rng.normal(size=(20_000, 10)), np.arange(20_000) % 2])
        np.savetxt(
            path, rows, "%.12g", ",", header="a,b,c,d,e,f,g,h,i,j,y", comments=""
        )
        options = ["--label", "y", "--no-text", "--model", "gaussian", "-k", "5"]
    else:
        rows = [(" ".join(rng.choice(words, 30)), i % 2) for i in range(10_000)]
        write_csv(path, ("text", "label"), rows)
        options += ["--weights"] if kind == "weights" else []
    assert main(["select", str(path), *options]) == 0  # everything is imported now

    def n_read():
        return int(Path("/proc/self/io").read_text().split()[1])

    before = n_read()
    assert main(["select", str(path), *options]) == 0
    assert (n_read() - before) / path.stat().st_size < 1.5
    capsys.readouterr()


@pytest.mark.parametrize("k", ["cv", "1se"])
def test_cross_validation_beyond_memory_is_refused(k, tmp_path, capsys, monkeypatch):
    path = write_reviews(tmp_path, "csv")
    arguments = ["select", str(path), *COLUMNS["texts"], "-k", k]
    assert main(arguments) == 0
    monkeypatch.setattr(_row_bounds, "physical_memory", lambda: 1000)
    capsys.readouterr()
    assert main(arguments) == 2
    assert f"-k {k} counts the terms of every text in memory" in capsys.readouterr().err
