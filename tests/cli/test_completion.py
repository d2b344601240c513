"""`bayesieve completion`: scripts that shells accept and that know every option."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from tests.patience import HANGS

from bayesieve.cli import main
from bayesieve.cli._app import COMMANDS


@pytest.fixture
def script(capsys):
    def make(shell):
        assert main(["completion", shell]) == 0
        return capsys.readouterr().out

    return make


def completed(script, words):
    """What bash offers for the last of the words."""
    listed = " ".join(f"'{word}'" for word in words)
    program = (
        f"{script}\nCOMP_WORDS=({listed})\nCOMP_CWORD={len(words) - 1}\n"
        "completes=($(complete -p bayesieve))\n"
        '${completes[-2]}\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", program],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=True,
    )
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not here")
def test_bash_completes(script, tmp_path):
    made = script("bash")
    names = [command.name for command in COMMANDS]
    assert completed(made, ["bayesieve", ""]) == names
    assert completed(made, ["bayesieve", "--ver"]) == ["--version"]
    assert completed(made, ["bayesieve", "pre"]) == ["predict"]
    assert completed(made, ["bayesieve", "select", "--no-t"]) == ["--no-text"]
    models = completed(made, ["bayesieve", "select", "x.csv", "--model", ""])
    assert models == ["auto", "multinomial", "bernoulli", "gaussian", "selective"]
    assert completed(made, ["bayesieve", "completion", "f"]) == ["fish"]
    (tmp_path / "data.csv").touch()
    place = f"{tmp_path}/da"
    offered = completed(made, ["bayesieve", "select", place])
    assert offered == [f"{tmp_path}/data.csv"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_option_is_there(shell, script):
    made = script(shell)
    for option in ("--skip-bad-rows", "--test-share", "--proba", "--ngrams"):
        wanted = f"-l {option.lstrip('-')}" if shell == "fish" else option
        assert wanted in made, option
    for command in COMMANDS:
        assert command.name in made


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_accepts_the_script(shell, script, tmp_path):
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not here")
    path = tmp_path / "script"
    path.write_text(script(shell), encoding="utf-8")
    done = subprocess.run(
        [shell, "-n", str(path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr


def test_another_shell_is_refused(capsys):
    assert main(["completion", "tcsh"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "'tcsh'" in err
