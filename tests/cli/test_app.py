from __future__ import annotations

import os
import subprocess
import sys
import warnings
from importlib.metadata import version

import pytest
from tests.patience import HANGS

from bayesieve.cli import _app, main
from bayesieve.cli._command import Command, CommandError


def run_cli(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "bayesieve.cli", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=HANGS,
        check=False,
        **options,
    )


@pytest.fixture
def command(monkeypatch):
    """Put one command, ``act``, in place of the real ones; set what it does."""

    def install(run):
        act = Command("act", "does it", "Does it.", lambda parser: None, run)
        monkeypatch.setattr(_app, "COMMANDS", (act,))

    return install


def raiser(error):
    def run(arguments):
        raise error

    return run


def test_version_is_the_installed_one(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"bayesieve {version('bayesieve')}\n"


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(command.name in out for command in _app.COMMANDS)


def test_every_command_has_examples_in_its_help(capsys):
    for command in _app.COMMANDS:
        assert command.examples
        assert main([command.name, "--help"]) == 0
        out = capsys.readouterr().out
        assert "examples:" in out
        assert all(example in out for example in command.examples)


def test_no_arguments_shows_the_help(capsys):
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("usage: bayesieve")


def test_help_of_each_command(capsys):
    for command in _app.COMMANDS:
        assert main([command.name, "--help"]) == 0
        assert f"usage: bayesieve {command.name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], *([c.name, "--help"] for c in _app.COMMANDS)],
)
def test_help_loads_no_heavy_package(arguments):
    # What keeps --help well under 0.3 s: neither NumPy nor scikit-learn is imported.
    program = (
        "import sys\n"
        "from bayesieve.cli import main\n"
        f"assert main({arguments!r}) == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'duckdb', 'pyarrow'}\n"
        "heavy &= set(sys.modules)\n"
        "sys.exit(f'imported {sorted(heavy)}' if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_unknown_command_is_one_line_and_code_2():
    done = run_cli("dmeo")
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "'dmeo'" in done.stderr
    assert "demo" in done.stderr


def test_unknown_option_is_one_line_and_code_2(capsys):
    assert main(["demo", "--colour"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "--colour" in err


@pytest.mark.parametrize(
    "error",
    [
        CommandError("what was wrong.\nHint: what to do."),
        ValueError("what was wrong.\nHint: what to do."),
    ],
)
def test_data_error_is_one_line_and_code_2(command, capsys, error):
    command(raiser(error))
    assert main(["act"]) == 2
    captured = capsys.readouterr()
    assert captured.err == "bayesieve: what was wrong. Hint: what to do.\n"
    assert captured.out == ""


def test_missing_file_is_one_line_and_code_2(command, capsys, tmp_path):
    command(lambda arguments: (tmp_path / "absent.csv").read_text())
    assert main(["act"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "absent.csv" in err


def test_a_missing_package_is_one_line_and_code_2(command, capsys):
    command(raiser(ImportError("needs duckdb. Hint: pip install it")))
    assert main(["act"]) == 2
    assert capsys.readouterr().err == (
        "bayesieve: needs duckdb. Hint: pip install it\n"
    )


def test_too_little_memory_is_one_line_and_code_2(command, capsys):
    command(raiser(MemoryError()))
    assert main(["act"]) == 2
    assert "more memory than there is" in capsys.readouterr().err


def test_a_message_cannot_steer_the_terminal(command, capsys):
    command(raiser(ValueError("column '\x1b[2J\x07'")))
    assert main(["act"]) == 2
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\\x1b[2J" in err


def test_the_exit_code_of_a_command_is_passed_on(command):
    command(lambda arguments: 130)
    assert main(["act"]) == 130


def test_interrupt_is_code_130(command, capsys):
    command(raiser(KeyboardInterrupt()))
    assert main(["act"]) == 130
    assert capsys.readouterr().err == "bayesieve: interrupted\n"


def test_a_bug_is_one_line_that_tells_how_to_see_its_traceback(
    command, capsys, monkeypatch
):
    command(raiser(ZeroDivisionError("a bug")))
    monkeypatch.delenv("BAYESIEVE_TRACEBACK", raising=False)
    assert main(["act"]) == 2
    assert capsys.readouterr().err == (
        "bayesieve: unexpected ZeroDivisionError: a bug (a fault of bayesieve; "
        "BAYESIEVE_TRACEBACK=1 shows where)\n"
    )
    monkeypatch.setenv("BAYESIEVE_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError, match="a bug"):
        main(["act"])


def test_warning_is_one_line_on_stderr(command, capsys):
    def run(arguments):
        warnings.simplefilter("default")
        warnings.warn("fewer words\nthan asked for", UserWarning, stacklevel=1)

    command(run)
    assert main(["act"]) == 0
    assert capsys.readouterr().err == (
        "bayesieve: warning: fewer words than asked for\n"
    )


def test_warning_display_is_restored(command):
    before = warnings.showwarning
    command(lambda arguments: None)
    main(["act"])
    assert warnings.showwarning is before


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_broken_pipe_is_silent(arguments):
    with subprocess.Popen(
        [sys.executable, "-m", "bayesieve.cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        process.stdout.close()  # before the process has written anything
        stderr = process.stderr.read()
        assert process.wait(timeout=HANGS) == 0
    assert stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_one_line_and_code_2():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "bayesieve.cli", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=HANGS,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "cannot write the output" in done.stderr


def test_a_closed_stdout_is_no_error(command, monkeypatch):
    command(lambda arguments: print("to nobody"))
    monkeypatch.setattr(sys, "stdout", None)
    assert main(["act"]) == 0
