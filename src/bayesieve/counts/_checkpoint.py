"""Counts of finished files on disk, so that a long count can be killed and resumed.

The folder holds parts (files of class counts) and a manifest that says which files each
part counts. A part is complete on disk before the manifest names it, and the manifest
is replaced in one step, so at any moment it names every counted file exactly once. A
part that no manifest names is a leftover and is removed. Eight parts are merged into
one, and eight of those, so that there are few and each is rewritten a few times only.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from bayesieve.counts._batch_counter import BadRows
from bayesieve.counts._merge import add
from bayesieve.counts._parts import Parts
from bayesieve.counts._storage import load_parts, save_parts

FORMAT = "bayesieve.checkpoint"
VERSION = 1
#: Counts are saved at the end of a file when so many seconds have gone by ...
SAVE_SECONDS = 1.0
#: ... and so many times as long as the last save took.
SAVE_SHARE = 10.0
#: So many parts of one level are merged into one.
FAN_IN = 8


def file_state(path: str) -> dict[str, int]:
    """Return what tells whether a file was changed."""
    state = os.stat(path)
    return {"size": state.st_size, "mtime_ns": state.st_mtime_ns}


def merge_files(paths: list[Any]) -> Parts:
    """Return the sum of saved counts, holding the sum and one of them at a time."""
    return reduce(add, (load_parts(path) for path in paths))


class Checkpoint:
    """The folder of a count that can be killed at any moment and resumed.

    Parameters
    ----------
    folder : path-like
        Made if it is not there.
    settings : dict of plain values
        All that the counts of a file depend on; must be the same on every run.
    """

    def __init__(self, folder: Any, settings: dict[str, Any]) -> None:
        self.folder = Path(os.path.expanduser(os.fspath(folder)))
        # As JSON gives them back.
        self.settings: dict[str, Any] = json.loads(json.dumps(settings))
        self._parts: list[dict[str, Any]] = []
        self._notes: list[dict[str, Any]] = []
        self._lock: Any = None
        self._reported = 0
        self._saved_at = time.monotonic()
        self._pause = SAVE_SECONDS

    # ------------------------------------------------------------------ one at a time

    def __enter__(self) -> Checkpoint:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = open(self.folder / "lock", "a+b")
        try:
            _lock(self._lock)
        except OSError:
            self._lock.close()
            raise RuntimeError(
                f"The checkpoint {str(self.folder)!r} is in use by another process."
            ) from None
        self._saved_at = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.close()  # which unlocks; so does the end of the process

    # ------------------------------------------------------------------ resuming

    @property
    def _manifest(self) -> Path:
        return self.folder / "manifest.json"

    def resume(self, paths: list[str]) -> set[str]:
        """Return which of the files are counted already."""
        self._read()
        self._clean()
        counted = {
            source["path"]: source for part in self._parts for source in part["sources"]
        }
        names = {os.path.realpath(path): path for path in paths}
        for path, source in counted.items():
            if path not in names:
                raise ValueError(
                    f"The checkpoint {str(self.folder)!r} holds counts of {path!r}, "
                    "which is not among the files. Hint: use another folder, or "
                    "remove this one to start over."
                )
            state = file_state(path)
            if any(state[key] != source[key] for key in state):
                raise ValueError(
                    f"{path!r} was changed after it was counted in the checkpoint "
                    f"{str(self.folder)!r}. Hint: remove the folder to start over."
                )
        return {names[path] for path in counted}

    def _read(self) -> None:
        try:
            text = self._manifest.read_text(encoding="utf-8")
        except FileNotFoundError:
            self._refuse_foreign()
            self._write()
            return
        try:
            manifest = json.loads(text)
            known = manifest["format"] == FORMAT and manifest["version"] == VERSION
            settings, parts = manifest["settings"], manifest["parts"]
        except (ValueError, KeyError, TypeError):
            known = False
        if not known:
            raise ValueError(
                f"{str(self._manifest)!r} is not the manifest of a checkpoint that "
                "this version reads."
            )
        if settings != self.settings:
            differ = [
                f"{name}={now!r} instead of {before!r}"
                for name, now, before in _differences(self.settings, settings)
            ]
            raise ValueError(
                f"The checkpoint {str(self.folder)!r} was begun with other settings. "
                f"Got {', '.join(differ)}. Hint: use another folder, or remove this "
                "one to start over."
            )
        self._parts = parts

    def _refuse_foreign(self) -> None:
        """Refuse a folder that holds anything else: files in it may get removed."""
        others = [
            entry.name
            for entry in self.folder.iterdir()
            if entry.name != "lock" and not entry.name.startswith(".manifest.json.")
        ]
        if others:
            raise ValueError(
                "The folder of a checkpoint must be new, empty or a checkpoint. Got "
                f"{str(self.folder)!r}, which holds {sorted(others)[0]!r}."
            )

    def _clean(self) -> None:
        """Remove what an interrupted run has left behind."""
        kept = {part["file"] for part in self._parts}
        for entry in self.folder.iterdir():
            name = entry.name
            if (name.startswith("counts-") and name not in kept) or (
                name.startswith((".counts-", ".manifest.json."))
            ):
                entry.unlink()

    @property
    def skipped(self) -> tuple[int, str]:
        """How many rows were left out so far, and a description of the first."""
        first = next((part["first"] for part in self._parts if part["first"]), "")
        return sum(part["skipped"] for part in self._parts), first

    # ------------------------------------------------------------------ saving

    @property
    def has_notes(self) -> bool:
        """Whether files are counted that are not yet saved."""
        return bool(self._notes)

    def note(self, path: str, state: dict[str, int]) -> None:
        """Take note of a file that was counted; `state` is from before."""
        if file_state(path) != state:
            raise ValueError(f"{path!r} was changed while it was counted.")
        self._notes.append({"path": os.path.realpath(path), **state})

    def is_time(self) -> bool:
        """Tell whether enough work was done to be worth saving."""
        return time.monotonic() - self._saved_at >= self._pause

    def save(self, parts: Parts, bad_rows: BadRows) -> None:
        """Save the counts of the files noted since the last time."""
        began = time.monotonic()
        skipped = bad_rows.skipped - self._reported
        self._reported = bad_rows.skipped
        first = bad_rows.first if skipped else ""
        entry = {"level": 0, "sources": self._notes, "skipped": skipped, "first": first}
        self._commit(parts, entry, [])
        self._notes = []
        level = 0
        while len(group := [p for p in self._parts if p["level"] == level]) >= FAN_IN:
            self._join(group, level + 1)
            level += 1
        self._saved_at = time.monotonic()
        self._pause = max(SAVE_SECONDS, SAVE_SHARE * (self._saved_at - began))
        if SAVE_SECONDS <= 0:
            self._pause = 0.0

    def result(self, bad_rows: BadRows) -> Parts:
        """Return the counts of all files, and leave them as a single part."""
        if len(self._parts) > 1:
            self._join(self._parts, 1 + max(part["level"] for part in self._parts))
        bad_rows.skipped, bad_rows.first = self.skipped
        return load_parts(self.folder / self._parts[0]["file"])

    def _join(self, group: list[dict[str, Any]], level: int) -> None:
        merged = merge_files([self.folder / part["file"] for part in group])
        entry = {
            "level": level,
            "sources": [source for part in group for source in part["sources"]],
            "skipped": sum(part["skipped"] for part in group),
            "first": next((part["first"] for part in group if part["first"]), ""),
        }
        self._commit(merged, entry, group)

    def _commit(
        self, parts: Parts, entry: dict[str, Any], replaced: list[dict[str, Any]]
    ) -> None:
        """Put a part in the place of others: first the part, then the manifest."""
        name = f"counts-{secrets.token_hex(8)}.npz"
        save_parts(parts, self.folder / name)
        _sync_folder(self.folder)
        gone = {part["file"] for part in replaced}
        kept = [part for part in self._parts if part["file"] not in gone]
        self._parts = [*kept, {"file": name, **entry}]
        self._write()
        for old in gone:
            with contextlib.suppress(OSError):  # removed at the next start
                (self.folder / old).unlink()

    def _write(self) -> None:
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "settings": self.settings,
            "parts": self._parts,
        }
        beside = self.folder / f".manifest.json.{secrets.token_hex(8)}.tmp"
        with open(beside, "x", encoding="utf-8") as file:
            json.dump(manifest, file, indent=1, ensure_ascii=True)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self._manifest)
        _sync_folder(self.folder)


def _differences(now: Any, before: Any, name: str = "") -> list[tuple[str, Any, Any]]:
    """Return the names and values in which two nested dictionaries differ."""
    if not (isinstance(now, dict) and isinstance(before, dict)):
        return [] if now == before else [(name, now, before)]
    found = []
    for key in {**now, **before}:
        found += _differences(now.get(key), before.get(key), str(key))
    return found


def _sync_folder(folder: Path) -> None:
    """Make renames last, where the system can say so."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _lock(file: Any) -> None:
    """Lock a file until it is closed; OSError if another process has it."""
    if os.name == "posix":
        fcntl = import_module("fcntl")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        msvcrt = import_module("msvcrt")
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
