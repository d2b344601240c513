from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, replace

import pytest
from tests.patience import HANGS

from bayesieve.cli import _demo, main
from bayesieve.cli._show import finite
from bayesieve.cli._terminal import Terminal

OUTCOME = _demo._Outcome(
    k=3,
    messages=5574,
    train_messages=4180,
    test_messages=1394,
    vocabulary=7431,
    words=[
        _demo._Word("claim", 0, 82, 5.5),
        _demo._Word("wednesdayafternoontealadieschoir", 1, 2, 0.25),
        _demo._Word("my", 581, 11, -2.75),
    ],
    certificate={
        "objective": -900.0,
        "null_objective": -1000.0,
        "upper_bound": -900.0,
        "gap": 0.0,
        "relative_gap": 0.0,
        "is_optimal": True,
        "nodes": 3,
    },
    sparse=_demo._Score(0.95, 0.85),
    all_words=_demo._Score(0.98, 0.94),
    majority=_demo._Score(0.866, 0.5),
    weighted=_demo._Score(0.97, 0.9),
    verdict={"lines": ["Right on 95.0 % of new rows."], "remarks": [], "next": []},
    evaluation={
        "rows": 1394,
        "splits": 1,
        "contenders": [
            {
                "name": "proven best words",
                "features": 3,
                "accuracy": 0.95,
                "log_loss": 0.2,
                "chosen": True,
            }
        ],
        "per_class": [
            {"name": "ham", "rows": 1207, "recall": 0.99, "precision": None},
            {"name": "spam", "rows": 187, "recall": 0.7, "precision": 0.9},
        ],
        "two_classes": None,
        "costs": None,
    },
    select_seconds=0.0123,
    total_seconds=1.26,
)


def shown(outcome, encoding="utf-8"):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding, newline="\n")
    _demo._show(outcome, Terminal(stream))
    stream.flush()
    return raw.getvalue().decode(encoding)


def test_a_proof_is_said_in_one_sentence():
    assert "Proven: no other 3 words explain the labels better.\n" in shown(OUTCOME)


def test_a_gap_is_said_in_one_sentence():
    certificate = OUTCOME.certificate | {
        "upper_bound": -898.0,
        "gap": 2.0,
        "relative_gap": 0.02,
        "is_optimal": False,
    }
    text = shown(replace(OUTCOME, certificate=certificate))
    assert "these 3 words are at most 2 % short of the best possible." in text
    assert "no other" not in text


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_output_fits_80_columns(encoding):
    words = [
        _demo._Word("für" * 9, 12345, 1234, 10.0 - number) for number in range(100)
    ]
    outcome = replace(OUTCOME, k=7431, words=words)
    assert max(map(len, shown(outcome, encoding).splitlines())) <= 80


def test_bar_sides_follow_the_sign_of_the_weight():
    lines = {line.split()[0]: line for line in shown(OUTCOME).splitlines() if line}
    assert "│█" in lines["claim"]
    assert "█│" in lines["my"]
    assert "wednesdayafternoontealadie…" in lines  # cut, with a mark


def test_a_large_k_shows_the_words_of_largest_weight():
    words = [_demo._Word(f"w{number}", 1, 1, 50.0 - number) for number in range(101)]
    text = shown(replace(OUTCOME, k=101, words=words))
    assert "and 71 more that say less" in text
    # |weight| > 35 holds for w0..w14 and w86..w100: thirty words.
    assert re.search(r"^  w14 ", text, re.M)
    assert not re.search(r"^  w15 ", text, re.M)
    assert not re.search(r"^  w85 ", text, re.M)
    assert re.search(r"^  w86 ", text, re.M)


def test_json_has_no_number_that_json_cannot_hold():
    certificate = OUTCOME.certificate | {"relative_gap": float("nan")}
    fields = finite(asdict(replace(OUTCOME, certificate=certificate)))
    assert json.loads(json.dumps(fields, allow_nan=False))["certificate"] == {
        **OUTCOME.certificate,
        "relative_gap": None,
    }


@pytest.mark.parametrize("value", ["0", "1", "-3", "many", "2.5", ""])
def test_k_must_be_a_number_of_words(value, capsys):
    assert main(["demo", "-k", value]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "the number of words must be an int >= 2" in captured.err
    assert f"Got {value!r}" in captured.err


def test_k_above_the_vocabulary_is_refused(capsys):
    assert main(["demo", "-k", "1000000"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "at most 7,431" in err
    assert "Got 1,000,000." in err


def run_demo(*arguments, cwd=None, **environment):
    if cwd is None:
        arguments = (*arguments, "--no-report")
    return subprocess.run(
        [sys.executable, "-m", "bayesieve.cli", "demo", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=HANGS,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.fixture(scope="module")
def demo_text():
    done = run_demo(PYTHONIOENCODING="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_demo_proves_its_twenty_words(demo_text):
    assert "Proven: no other 20 words explain the labels better." in demo_text
    for word in ("claim", "prize", "txt", "free"):
        assert re.search(rf"^  {word} ", demo_text, re.M)


def test_demo_is_plain_when_not_on_a_terminal(demo_text):
    assert "\x1b" not in demo_text
    assert max(map(len, demo_text.splitlines())) <= 80


def test_demo_falls_back_to_ascii():
    done = run_demo("-k", "5", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "|###" in done.stdout


def test_demo_as_json():
    done = run_demo("-k", "7", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["dataset"] == "sms_spam"
    assert found["k"] == len(found["words"]) == 7
    assert found["train_messages"] + found["test_messages"] == found["messages"]
    certificate = found["certificate"]
    assert certificate["null_objective"] < certificate["objective"]
    assert certificate["objective"] <= certificate["upper_bound"]
    assert certificate["is_optimal"] is True
    weights = [word["weight"] for word in found["words"]]
    assert weights == sorted(weights, reverse=True)
    for model in ("sparse", "all_words"):
        assert found[model]["accuracy"] > found["majority"]["accuracy"]


def test_the_sign_of_a_weight_follows_the_counts():
    done = run_demo("--json")
    for word in json.loads(done.stdout)["words"]:
        # Ham has six times the messages, so a word more used in spam is spam's.
        if word["spam"] > word["ham"]:
            assert word["weight"] > 0
        if word["spam"] == 0:
            assert word["weight"] < 0


def test_demo_into_a_closed_pipe_is_silent():
    with subprocess.Popen(
        [sys.executable, "-m", "bayesieve.cli", "demo", "-k", "5", "--no-report"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()
        stderr = process.stderr.read()
        assert process.wait(timeout=HANGS) == 0
    assert stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent there")
def test_interrupt_ends_the_demo_without_a_traceback():
    # The signal comes while scikit-learn is being imported, on any machine.
    program = (
        "import os, signal, sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'sklearn':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from bayesieve.cli import main\n"
        "sys.exit(main(['demo', '--no-report']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "bayesieve: interrupted\n"


def test_demo_with_closed_stdout(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    _demo._show(OUTCOME, Terminal())


def test_demo_writes_its_report(tmp_path):
    done = run_demo("-k", "5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "report.html" in done.stdout
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<html" in page
    assert "SMS Spam Collection" in page
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_demo_writes_its_report_where_it_is_told(tmp_path):
    done = run_demo("-k", "5", "--report", "own.html", "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["report"] == "own.html"
    assert [path.name for path in tmp_path.iterdir()] == ["own.html"]


def test_demo_without_a_report_writes_nothing(tmp_path):
    done = run_demo("-k", "5", "--no-report", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_not_there_is_refused_before_any_work(capsys, tmp_path):
    nowhere = str(tmp_path / "nowhere" / "report.html")
    assert main(["demo", "--report", nowhere]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "is not there" in captured.err
