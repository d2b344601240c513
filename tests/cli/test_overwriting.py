"""No output of a command may be one of its inputs, nor another output."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from tests.cli.files import write_reviews
from tests.cli.test_select import refused
from tests.patience import HANGS

from bayesieve.cli import main

pytest.importorskip("duckdb", reason="reading files needs duckdb")


@pytest.fixture
def folder(tmp_path, capsys, monkeypatch):
    """Data, a model and two files of counts, in the working directory."""
    monkeypatch.chdir(tmp_path)
    write_reviews(tmp_path, "csv", "v")
    assert main(["select", "v.csv", "-k", "4", "--save", "w.model"]) == 0
    for name in ("a", "b"):
        assert main(["counts", "v.csv", "--save", name]) == 0
    (tmp_path / "inner").mkdir()
    capsys.readouterr()
    return tmp_path


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("predict w.model v.csv --out v.csv", "--out 'v.csv' would overwrite 'v.csv'"),
        ("predict v.csv a --out v.csv", "--out 'v.csv' would overwrite 'v.csv'"),
        ("select v.csv --save v.csv", "--save 'v.csv' would overwrite 'v.csv'"),
        ("select v.csv --save ./inner/../v.csv", "would overwrite 'v.csv'"),
        ("select v.csv --report v.csv", "--report 'v.csv' would overwrite 'v.csv'"),
        ("select ?.csv --save v.csv", "--save 'v.csv' would overwrite 'v.csv'"),
        ("counts v.csv --save v.csv", "--save 'v.csv' would overwrite 'v.csv'"),
        ("counts merge a b --save a", "--save 'a' would overwrite 'a'"),
        ("counts merge a b --save b", "--save 'b' would overwrite 'b'"),
        ("select a --save a", "--save 'a' would overwrite 'a'"),
        ("report w.model --out w.model", "--out 'w.model' would overwrite 'w.model'"),
        ("select v.csv --save s --report s", "--save and --report must name two files"),
        ("select v.csv --save s --report inner/../s", "must name two files"),
        ("select v.csv --save a --report ./a", "must name two files"),
    ],
)
def test_a_file_that_would_be_lost_is_refused(command, told, folder, capsys):
    before = contents(folder)
    assert told in refused(capsys, *command.split())
    assert contents(folder) == before


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize(
    ("link", "read", "save"),
    [
        (os.symlink, "v.csv", "other.csv"),
        (os.symlink, "other.csv", "v.csv"),
        (os.link, "v.csv", "other.csv"),
    ],
)
def test_links_are_followed(link, read, save, folder, capsys):
    link(folder / "v.csv", folder / "other.csv")
    before = contents(folder)
    line = refused(capsys, "select", read, "--save", save)
    assert f"--save {save!r} would overwrite {read!r}" in line
    assert contents(folder) == before


def test_a_home_folder_is_expanded(folder, capsys, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    before = contents(folder)
    line = refused(capsys, "select", "~/v.csv", "--save", "v.csv")
    assert "--save 'v.csv' would overwrite" in line
    assert contents(folder) == before


def test_other_files_may_be_written_again(folder, capsys):
    for _ in range(2):
        command = "select v.csv -k 4 --save w.model --report r.html"
        assert main(command.split()) == 0
        assert main(["predict", "w.model", "v.csv", "--out", "out.csv"]) == 0
        assert main(["report", "w.model", "--out", "r.html"]) == 0
        # A file called like the word of the command is none of its inputs.
        assert main(["counts", "merge", "a", "b", "--save", "merge"]) == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_take_what_can_be_streamed_and_no_archives(folder, capsys):
    os.mkfifo(folder / "pipe.csv")
    before = os.lstat(folder / "pipe.csv")
    for command in ("select v.csv --save pipe.csv", "counts v.csv --save pipe.csv"):
        assert "--save must name a regular file" in refused(capsys, *command.split())
    assert main(["predict", "w.model", "v.csv"]) == 0
    wanted = capsys.readouterr().out
    for command, start in (
        ("predict w.model v.csv --out pipe.csv", wanted),
        ("report w.model --out pipe.csv", "<!DOCTYPE html>"),
    ):
        with subprocess.Popen(
            ["cat", "pipe.csv"], stdout=subprocess.PIPE, cwd=folder
        ) as reader:
            assert main(command.split()) == 0
            found, _ = reader.communicate(timeout=HANGS)
        assert found.decode().lower().startswith(start.lower())
        capsys.readouterr()
    assert os.lstat(folder / "pipe.csv").st_ino == before.st_ino
    assert not [name for name in os.listdir(folder) if name.endswith(".tmp")]
