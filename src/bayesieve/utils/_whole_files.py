"""Files that are there whole or not at all: written beside their place, then moved.

Every file this package saves goes through `whole_file`. A process that is killed leaves
at most a hidden file of its own beside the target; the next one that writes the same
target removes it, and tells it from the file of a live writer by the lock that lies on
that.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["lock_file", "open_regular", "remove_leftovers", "whole_file"]

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
}
#: So much of a name goes into that of the file beside it: names have 255 bytes, and a
#: character has up to four.
_SHOWN = 50


def lock_file(handle: int) -> None:
    """Lock an open file until it is closed; OSError if another process has it."""
    if os.name == "posix":
        fcntl = import_module("fcntl")
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        msvcrt = import_module("msvcrt")
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)


@contextlib.contextmanager
def whole_file(path: Any) -> Iterator[str]:
    """Give the name of an empty file beside `path`; move it there when all went well.

    What is under `path` is the old file or the new one at any moment, also after a
    crash of the system. A link keeps pointing at the file it names, and a file that is
    replaced keeps its permissions and, where the system lets us, owner and group.

    Parameters
    ----------
    path : path-like
        A regular file, or a name that is not taken; anything else is a ValueError.
    """
    shown = os.fspath(path)
    before = _found(shown)
    target = Path(os.path.realpath(shown))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"Cannot save to {shown!r}: the folder {str(target.parent)!r} is not there."
        )
    remove_leftovers(target)
    # A new file gets what the umask leaves of 0666; what replaces a file that others
    # must not read is never readable to them.
    handle, beside = _made_beside(target, 0o666 if before is None else 0o600)
    try:
        try:
            yield beside
            if before is not None:
                _keep_access(handle, beside, before)
            os.fsync(handle)
        finally:
            if os.name != "posix":  # where an open file cannot be moved
                os.close(handle)
                handle = -1
        os.replace(beside, target)
        _sync_folder(target.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise
    finally:
        if handle >= 0:
            os.close(handle)


def open_regular(path: Any) -> Any:
    """Open a file to read its bytes; a pipe or device, which may never end, is refused.

    Parameters
    ----------
    path : path-like
    """
    try:
        found = os.stat(os.fspath(path))
    except FileNotFoundError:
        raise FileNotFoundError(f"There is no file {os.fspath(path)!r}.") from None
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise ValueError(f"{os.fspath(path)} must be a regular file. Got {kind}.")
    return open(path, "rb")


def remove_leftovers(path: Any) -> None:
    """Remove what killed writers of a file have left beside it."""
    if os.name != "posix":  # no lock there tells who is alive
        return
    target = Path(os.path.realpath(os.fspath(path)))
    pattern = re.compile(re.escape(_prefix(target)) + r"[0-9a-f]{16}\.tmp")
    with contextlib.suppress(OSError):  # a folder that may be written but not listed
        for entry in os.scandir(target.parent):
            if pattern.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_dead(entry.path)


def _prefix(target: Path) -> str:
    return f".{target.name[:_SHOWN]}."


def _found(path: str) -> os.stat_result | None:
    """Return what is under a name, None for nothing; it must be a regular file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        kind = _KINDS.get(stat.S_IFMT(found.st_mode), "something else")
        raise ValueError(
            f"Cannot save to {path!r}: it must be a regular file or a new name. Got "
            f"{kind}."
        )
    return found


def _made_beside(target: Path, mode: int) -> tuple[int, str]:
    """Make an empty locked file beside the target; return its handle and name."""
    while True:
        beside = str(target.with_name(f"{_prefix(target)}{secrets.token_hex(8)}.tmp"))
        handle = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        try:
            if os.name != "posix" or _is_locked_by_us(handle, beside):
                return handle, beside
        except BaseException:
            os.close(handle)
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
        os.close(handle)  # another writer took it for a leftover, and removes it


def _is_locked_by_us(handle: int, beside: str) -> bool:
    try:
        lock_file(handle)
    except BlockingIOError:
        return False
    except OSError:  # no locks on this file system: nobody removes anything there
        return True
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(beside))
    except FileNotFoundError:
        return False


def _remove_if_dead(beside: str) -> None:
    handle = os.open(beside, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        lock_file(handle)
        os.unlink(beside)
    finally:
        os.close(handle)


def _keep_access(handle: int, beside: str, before: os.stat_result) -> None:
    """Give a file the permissions, and if allowed the owner, of the one it replaces."""
    mode = stat.S_IMODE(before.st_mode)
    if os.name != "posix":
        os.chmod(beside, mode)
        return
    now = os.fstat(handle)
    if now.st_uid != before.st_uid:
        with contextlib.suppress(PermissionError):
            os.fchown(handle, before.st_uid, -1)
    if now.st_gid != before.st_gid:
        try:
            os.fchown(handle, -1, before.st_gid)
        except PermissionError:
            # What the old group could do is not for another group.
            mode = mode & ~0o2070 | (mode & 0o007) << 3
    os.fchmod(handle, mode)


def _sync_folder(folder: Path) -> None:
    """Make a rename last, where the system can say so."""
    if os.name != "posix":
        return
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:  # a folder that may be written but not listed
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)
