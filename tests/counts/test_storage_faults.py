"""Every call to the system fails once: the old file or the new one is there, whole."""

from __future__ import annotations

import builtins
import errno
import itertools
import os
import subprocess
import sys
from contextlib import contextmanager
from functools import cache
from types import SimpleNamespace

import pytest
from tests.patience import HANGS
from tests.persistence.models import examples

from bayesieve.counts import ClassCounts, _checkpoint, _storage
from bayesieve.persistence import load_model, save_model

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX file systems")

#: What is called through the module os when files are written or removed.
CALLS = ("open", "fsync", "replace", "close", "fchmod", "unlink", "fstat")


class FaultyFile:
    """A file whose writes and close are counted, and fail when it is their turn."""

    def __init__(self, file, turn, every):
        self._file, self._turn, self._every = file, turn, every
        self._writes = 0

    def write(self, data):
        self._writes += 1
        if self._writes % self._every == 1 % self._every and self._turn():
            self._file.write(data[: len(data) // 2])
            self._file.flush()
            raise OSError(errno.ENOSPC, "No space left on device")
        return self._file.write(data)

    def close(self):
        closed = self._file.closed
        self._file.close()
        if not closed and self._turn():
            raise OSError(errno.EIO, "Input/output error")

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __getattr__(self, name):
        return getattr(self._file, name)


@contextmanager
def fault(number, monkeypatch, every=1):
    """Let the call of that number fail; tells whether there were that many.

    Of the writes to a file, which are many and alike, every few take part.
    """
    state = SimpleNamespace(calls=0, happened=False)

    def turn():
        state.calls += 1
        state.happened |= state.calls == number
        return state.calls == number

    def failing(call):
        def called(*arguments, **options):
            if turn():
                if call is closing:
                    closing(*arguments)  # as the system does: closed, and an error
                raise OSError(errno.EIO, "Input/output error")
            return call(*arguments, **options)

        return called

    def opened(*arguments, **options):
        if turn():
            raise OSError(errno.EMFILE, "Too many open files")
        return FaultyFile(builtins.open(*arguments, **options), turn, every)

    closing = os.close
    with monkeypatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, failing(getattr(os, name)))
        for module in (_storage, _checkpoint):
            patch.setattr(module, "open", opened, raising=False)
        yield state


@pytest.fixture
def _without_waiting(monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda handle: None)  # hundreds take long


def temporary(folder):
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


SMALL = ClassCounts.from_matrix([[1, 0], [0, 2]], ["a", "b"])
LARGE = SMALL.scaled(3)
SELECTORS = [examples()[name][0] for name in ("L0", "Pearson")]


def same_model(path, model):
    return type(load_model(path)) is type(model)


@pytest.mark.parametrize("exists", [True, False])
@pytest.mark.parametrize(
    ("old", "new", "save", "is_in"),
    [
        (
            SMALL,
            LARGE,
            lambda counts, path: counts.save(path),
            lambda path, counts: ClassCounts.load(path) == counts,
        ),
        (*SELECTORS, save_model, same_model),
    ],
    ids=["counts", "models"],
)
@pytest.mark.usefixtures("_without_waiting")
def test_saving(old, new, save, is_in, exists, tmp_path, monkeypatch):
    path = tmp_path / "file"
    happened = 0
    for number in itertools.count(1):
        path.unlink(missing_ok=True)
        if exists:
            save(old, path)
            path.chmod(0o640)
        failed = None
        with fault(number, monkeypatch) as state:
            try:
                save(new, path)
            except OSError as error:
                failed = error
        if not state.happened:
            assert failed is None
            break
        happened += 1
        assert temporary(tmp_path) == []
        if not exists and not path.exists():
            assert failed is not None
            continue
        if failed is None:
            assert is_in(path, new)
        else:
            assert is_in(path, new) or (exists and is_in(path, old))
        if exists:
            assert path.stat().st_mode & 0o777 == 0o640
    assert is_in(path, new)
    assert happened > 20


def counted(folder, paths):
    """Count files as `from_text` does, each saved by itself."""
    checkpoint = _checkpoint.Checkpoint(
        _checkpoint.TableParts(ClassCounts), folder, {"what": "words"}
    )
    bad_rows = SimpleNamespace(skipped=0, first="")
    with checkpoint:
        done = checkpoint.resume(paths)
        for path in paths:
            if path in done:
                continue
            before = _checkpoint.file_state(path)
            checkpoint.note(path, before)
            checkpoint.save(counts_of(path), bad_rows)
        return checkpoint.result(bad_rows)


@cache
def counts_of(path):
    with builtins.open(path) as file:
        return ClassCounts.from_text([([file.read()], [os.path.basename(path)])])


@pytest.mark.usefixtures("_without_waiting")
def test_checkpoints(tmp_path, monkeypatch):
    monkeypatch.setattr(_checkpoint, "SAVE_SECONDS", 0.0)
    monkeypatch.setattr(_checkpoint, "FAN_IN", 2)
    data = tmp_path / "data"
    data.mkdir()
    paths = [str(data / name) for name in "abc"]
    for path in paths:
        with builtins.open(path, "w") as file:
            file.write(f"shared words and own{os.path.basename(path)}")
    whole = counted(tmp_path / "whole", paths)
    happened = failures = 0
    for number in itertools.count(1):
        folder = tmp_path / f"checkpoint{number}"
        with fault(number, monkeypatch, every=20) as state:
            try:
                assert counted(folder, paths) == whole
            except (OSError, RuntimeError):
                failures += 1
        if not state.happened:
            break
        happened += 1
        assert temporary(folder) == []
        assert counted(folder, paths) == whole
        kept = sorted(name for name in os.listdir(folder))
        assert len(kept) == 3, (number, kept)  # the part, the lock, the manifest
    assert happened > 100
    assert failures > happened // 2


KILLS = """
import os, random, signal, sys, time
from bayesieve.counts import ClassCounts
path = sys.argv[1]
pair = [ClassCounts.from_matrix([[n, 0] * 500, [0, 2] * 500], [0, 1]) for n in (1, 2)]
pair[0].save(path)
rng = random.Random(0)
folder = os.path.dirname(path)
for kill in range(40):
    child = os.fork()
    if not child:
        while True:
            for counts in pair:
                counts.save(path)
    while kill % 2 and len(os.listdir(folder)) == 1:
        pass  # until it is in the middle
    time.sleep(rng.random() * 0.005)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert ClassCounts.load(path) in pair
    assert len(os.listdir(folder)) <= 2  # the file, and what this one left
pair[1].save(path)
assert os.listdir(folder) == [os.path.basename(path)]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_while_saving(tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", KILLS, str(tmp_path / "counts")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGS)
    assert done.returncode == 0, done.stderr
