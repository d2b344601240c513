"""Ctrl-C in a real process: code 130, and what was done is saved where asked for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from tests.cli.files import (
    PEOPLE,
    SCRIPT,
    people,
    write_csv,
    write_reviews,
    write_svmlight,
)
from tests.patience import HANGS

from bayesieve import ClassCounts, load_model

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Ctrl-C cannot be sent there"
)

# Runs the program, with a signal to itself once so many batches were read.
PROGRAM = """\
import os, signal, sys
from bayesieve.cli import _files, main
_files._BATCH_ROWS = 64
read = _files.DataFiles.rows
seen = 0
def rows(self, columns, *more):
    global seen
    for item in read(self, columns, *more):
        if len(columns) > 1:
            seen += 1
            if seen == {batches}:
                os.kill(os.getpid(), signal.SIGINT)
        yield item
_files.DataFiles.rows = rows
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""


def run(*arguments, batches, cwd):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(batches=batches), *arguments],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
        cwd=cwd,
    )


@pytest.fixture
def data(tmp_path):
    return write_reviews(tmp_path, "csv", n=4000)


def test_without_save_it_ends_at_once(data, tmp_path):
    done = run("select", data, batches=10, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.endswith("bayesieve: interrupted\n")
    assert "Traceback" not in done.stderr
    assert os.listdir(tmp_path) == [data.name]


def test_the_model_of_the_first_rows_is_saved(data, tmp_path):
    # The guess of the columns takes one batch; the tenth is in the middle of the file.
    done = run("select", data, "-k", "4", "--save", "m", batches=10, cwd=tmp_path)
    assert done.returncode == 130, done.stderr
    assert "interrupted; the model in 'm' knows the first" in done.stderr
    assert "Traceback" not in done.stderr
    model = load_model(tmp_path / "m")
    rows = int(model.class_count_.sum())
    assert 100 < rows < 2000
    assert f"{rows:,} rows" in done.stderr
    assert model.predict(["a great film"]).tolist() == ["pos"]
    assert sorted(os.listdir(tmp_path)) == ["m", data.name]


@pytest.mark.parametrize("command", ["select", "counts"])
def test_before_the_first_row_nothing_is_saved(command, data, tmp_path):
    # The first batch is looked at to guess the columns, the second one is counted.
    done = run(command, data, "--save", "m", batches=2, cwd=tmp_path)
    assert done.returncode == 130, done.stderr
    assert done.stderr.endswith("bayesieve: interrupted\n")
    assert os.listdir(tmp_path) == [data.name]


def test_a_class_that_was_not_met_leaves_no_model(tmp_path):
    rows = [("a good film", "pos")] * 2000 + [("a bad film", "neg")] * 2000
    data = write_csv(tmp_path / "sorted.csv", ("text", "label"), rows)
    done = run("select", data, "--save", "m", batches=10, cwd=tmp_path)
    assert done.returncode == 130, done.stderr
    assert done.stderr.endswith("bayesieve: interrupted\n")
    assert os.listdir(tmp_path) == [data.name]


# Runs the program, with a signal to itself when the model is about to be evaluated.
EVALUATION = """\
import os, signal, sys
from bayesieve.cli import main
from bayesieve.cli._text_data import TextData
read = TextData._held_out
def rows(self):
    os.kill(os.getpid(), signal.SIGINT)
    return read(self)
TextData._held_out = rows
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""


def test_an_interrupted_evaluation_saves_the_whole_model(data, tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", EVALUATION, "select", data, "--save", "m"],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 130, done.stderr
    assert "interrupted; the model in 'm' was not evaluated" in done.stderr
    assert load_model(tmp_path / "m").class_count_.sum() == 3002  # of 4,000


def test_the_counts_of_the_first_rows_are_saved(data, tmp_path):
    done = run("counts", data, "--save", "c", batches=10, cwd=tmp_path)
    assert done.returncode == 130, done.stderr
    assert "interrupted; 'c' has the counts of the first" in done.stderr
    rows = ClassCounts.load(tmp_path / "c").class_count.sum()
    assert 100 < rows < 2000


def test_an_interrupted_prediction_leaves_nothing(data, tmp_path):
    assert run("select", data, "--save", "m", batches=0, cwd=tmp_path).returncode == 0
    options = ("--out", "labels.csv")
    done = run("predict", "m", data, *options, batches=10, cwd=tmp_path)
    assert done.returncode == 130
    assert done.stderr.endswith("bayesieve: interrupted\n")
    assert sorted(os.listdir(tmp_path)) == ["m", data.name]


@pytest.mark.slow
def test_a_signal_from_outside(tmp_path):
    # The installed script, interrupted wherever it happens to be.
    data = write_reviews(tmp_path, "csv", n=60_000)
    for delay in (0.3, 0.9, 1.5, 2.5):
        with subprocess.Popen(
            [str(SCRIPT), "select", str(data), "-k", "cv"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=HANGS)
        if process.returncode == 0:
            break  # done before the signal came
        assert process.returncode in (130, -signal.SIGINT)
        if process.returncode == 130:
            assert err.endswith("bayesieve: interrupted\n")
            assert "Traceback" not in err
            assert out == ""


# Runs the program, with a signal to itself in the middle of the search of weights.
SEARCH = """\
import os, signal, sys
from bayesieve.cli import main
from bayesieve.weights import _result
note = _result.Progress.note
seen = 0
def noted(self, weights, value):
    global seen
    note(self, weights, value)
    seen += 1
    if seen == 2:
        os.kill(os.getpid(), signal.SIGINT)
_result.Progress.note = noted
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("kind", ["table", "matrix", "texts"])
@pytest.mark.parametrize(
    "save", [pytest.param((), marks=pytest.mark.slow), ("--save", "m")]
)
def test_a_model_that_was_cut_short_is_told(kind, save, tmp_path):
    pytest.importorskip("pandas", reason="reading tables needs pandas")
    if kind == "table":
        data = write_csv(tmp_path / "d.csv", PEOPLE, people())
        options = ["--drop", "id"]
    elif kind == "matrix":
        data = write_svmlight(tmp_path / "d.svm")
        options = ["--weights", "-k", "3"]
    else:
        data, options = write_reviews(tmp_path, "csv"), ["--weights", "-k", "5"]
    done = subprocess.run(
        [sys.executable, "-c", SEARCH, "select", data, *options, *save],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 130, done.stderr
    where = " in 'm'" if save else ""
    assert (
        f"interrupted; the model{where} is cut short: the search of its weights had "
        "not ended" in done.stderr
    )
    assert done.stdout
    if save:
        load_model(tmp_path / "m")


# Runs the program, where a library makes an error of its own of a signal at its import.
IMPORT = """\
import builtins, signal, sys
from bayesieve.cli import main
plain = builtins.__import__
def imported(name, *rest, **more):
    if name.startswith("sklearn"):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("the library is broken") from None
    return plain(name, *rest, **more)
builtins.__import__ = imported
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(["demo", "--no-report"]))
"""


def test_a_signal_that_a_library_makes_an_error_of_is_an_interruption(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", IMPORT],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 130
    assert done.stderr == "bayesieve: interrupted\n"
