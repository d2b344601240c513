"""Every file that is saved is there whole or not at all, and nothing else is."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
import threading

import pytest
from tests.patience import HANGS

from bayesieve.counts import ClassCounts
from bayesieve.persistence import load_model
from bayesieve.utils._whole_files import whole_file

pytestmark = pytest.mark.skipif(os.name != "posix", reason="POSIX file systems")

COUNTS = ClassCounts.from_matrix([[1, 0], [0, 2]], ["a", "b"])


def put(path, text):
    with whole_file(path) as beside, open(beside, "w") as file:
        file.write(text)


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.fixture
def folder(tmp_path):
    """A folder that must hold nothing unexpected in the end."""
    yield tmp_path
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def special_files(folder):
    os.mkfifo(folder / "pipe")
    os.mkdir(folder / "folder")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(folder / "socket"))
    server.close()
    try:  # not the system's own, which root could replace
        os.mknod(folder / "device", stat.S_IFCHR | 0o600, os.makedev(1, 3))
    except PermissionError:
        (folder / "device").symlink_to("/dev/null")
    (folder / "link").symlink_to(folder / "pipe")
    return {
        "pipe": "a named pipe",
        "folder": "a folder",
        "socket": "a socket",
        "device": "a device",
        "link": "a named pipe",
    }


def test_what_is_no_regular_file_is_refused_and_left_as_it_is(folder):
    for name, kind in special_files(folder).items():
        before = os.lstat(folder / name)
        with pytest.raises(ValueError, match=f"{name}': it must be .* Got {kind}.$"):
            COUNTS.save(folder / name)
        assert os.lstat(folder / name) == before


def test_standard_output_is_refused(folder):
    # Through a link that names no file: pipe:[123].
    script = (
        "from bayesieve.counts import ClassCounts\n"
        "ClassCounts.from_matrix([[1], [2]], [0, 1]).save('/dev/stdout')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True)
    assert b"Cannot save to '/dev/stdout'" in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666])
def test_an_existing_file_keeps_its_mode(folder, mode):
    path = folder / "counts"
    path.write_text("old")
    path.chmod(mode)
    modes = []
    with whole_file(path) as beside:
        modes.append(mode_of(beside))
    assert modes == [0o600]  # until it is in its place
    assert mode_of(path) == mode
    COUNTS.save(path)
    assert mode_of(path) == mode
    assert ClassCounts.load(path) == COUNTS


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_a_new_file_gets_what_the_umask_leaves(folder, umask):
    before = os.umask(umask)
    try:
        put(folder / "new", "text")
    finally:
        os.umask(before)
    assert mode_of(folder / "new") == 0o666 & ~umask


@pytest.mark.skipif(os.name == "posix" and os.getuid() != 0, reason="needs root")
def test_owner_and_group_are_kept(folder):
    path = folder / "file"
    path.write_text("old")
    os.chown(path, 12345, 54321)
    put(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 54321)


def test_a_group_that_cannot_be_kept_loses_its_rights(folder, monkeypatch):
    path = folder / "file"
    path.write_text("old")
    path.chmod(0o664)
    seen = os.stat

    def of_others(name, *rest, **options):
        found = seen(name, *rest, **options)
        if str(name) != str(path):
            return found
        fields = list(found)
        fields[5] = found.st_gid + 1
        return os.stat_result(fields)

    def refuse(*_):
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(os, "stat", of_others)
        patch.setattr(os, "fchown", refuse)
        put(path, "new")
    assert mode_of(path) == 0o644


def test_long_names(folder):
    name = "é" * 120  # 240 bytes, of at most 255
    put(folder / name, "text")
    assert (folder / name).read_text() == "text"


def test_leftovers_of_dead_writers_are_removed_and_nothing_else(folder):
    script = (
        "import os, signal, sys\n"
        "from bayesieve.utils._whole_files import whole_file\n"
        "with whole_file(sys.argv[1]):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    path = folder / "counts"
    put(path, "old")
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    (left,) = [name for name in os.listdir(folder) if name != "counts"]
    others = [
        ".counts.0123.tmp",
        ".counts.0123456789abcdef.tmp~",
        ".other.0123456789abcdef.tmp",
        ".counts.0123456789ABCDEF.tmp",
    ]
    for name in others:
        (folder / name).write_text("mine")
    (folder / ".counts.0123456789abcdef.tmp").symlink_to(path)  # a link is not ours
    assert path.read_text() == "old"
    put(path, "new")
    assert left not in os.listdir(folder)
    for name in [*others, ".counts.0123456789abcdef.tmp"]:
        os.unlink(folder / name)
    assert os.listdir(folder) == ["counts"]
    assert path.read_text() == "new"


def test_two_writers_at_once(folder):
    path = folder / "file"
    with whole_file(path) as first:
        put(path, "second")  # does not take the first for a leftover
        assert os.path.exists(first)
        with open(first, "w") as file:
            file.write("first")
    assert path.read_text() == "first"


def test_many_writers_at_once(folder):
    path = folder / "file"
    texts = [f"writer {n} " * 2000 for n in range(6)]
    failed = []

    def write(text):
        try:
            for _ in range(30):
                put(path, text)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        if path.exists():
            assert path.read_text() in texts
    for thread in threads:
        thread.join(HANGS)
    assert failed == []
    assert os.listdir(folder) == ["file"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for load in (ClassCounts.load, load_model):
        with pytest.raises(
            ValueError, match=r"must be a regular file\. Got a named pipe"
        ):
            load(tmp_path / "pipe")
        with pytest.raises(ValueError, match="Got a folder"):
            load(tmp_path)
