"""Counts of finished files on disk, so that a long count can be killed and resumed.

The folder holds parts (files of class counts) and a manifest that says which files each
part counts. A part is complete on disk before the manifest names it, and the manifest
is replaced in one step, so at any moment it names every counted file exactly once. The
manifest also names the next part before it is written and those that were replaced
before they are removed: what it never named is not ours and is left alone. Eight parts
are merged into one, and eight of those, so that there are few and each is rewritten a
few times only.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import reprlib
import secrets
import stat
import time
from collections.abc import Mapping, Set
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from bayesieve.counts._merge import add
from bayesieve.counts._storage import load_counts, save_counts
from bayesieve.io._bad_rows import BadRows
from bayesieve.utils._strict_json import read_json
from bayesieve.utils._whole_files import lock_file, remove_leftovers, whole_file

if TYPE_CHECKING:
    from bayesieve.counts._table import ClassCounts

T = TypeVar("T")

FORMAT = "bayesieve.checkpoint"
VERSION = 2
#: Counts are saved at the end of a file when so many seconds have gone by ...
SAVE_SECONDS = 1.0
#: ... and so many times as long as the last save took.
SAVE_SHARE = 10.0
#: So many parts of one level are merged into one.
FAN_IN = 8


@dataclass(frozen=True)
class FileState:
    """What tells whether a file was changed.

    Times are looked at within a run only, to spare a second reading: that of the last
    change of status can be set by nobody, but changes with a file's rights as well.
    """

    size: int
    mtime_ns: int
    ctime_ns: int
    sha256: str


def file_state(path: str) -> FileState:
    """Read a file, and return its state."""
    with open(path, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError(
                f"A checkpoint needs regular files, which can be read again. Got "
                f"{path!r}."
            )
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileState(found.st_size, found.st_mtime_ns, found.st_ctime_ns, digest)


def _is_same(path: str, state: FileState) -> bool:
    """Tell whether a file is as it was; it is read only where its times leave doubt."""
    now = os.stat(path)
    if (now.st_size, now.st_mtime_ns) != (state.size, state.mtime_ns):
        return False
    return now.st_ctime_ns == state.ctime_ns or file_state(path).sha256 == state.sha256


def merge_files(cls: type[ClassCounts], paths: list[Any]) -> ClassCounts:
    """Return the sum of saved counts, holding the sum and one of them at a time."""
    return reduce(add, (load_counts(cls, path) for path in paths))


class Parts(Protocol[T]):
    """How counts of files are kept: as files that can be saved, merged and loaded."""

    #: Ending of the files.
    ending: str

    def save(self, counts: T, path: Path) -> None:
        """Write counts to a file, atomically."""

    def merged(self, paths: list[Path]) -> T:
        """Return the sum of files, without holding more than needed."""

    def load(self, path: Path) -> T:
        """Return the counts of a file."""


class TableParts:
    """Parts that are files of `ClassCounts`."""

    ending = "npz"

    def __init__(self, cls: type[ClassCounts]) -> None:
        self._cls = cls

    def save(self, counts: ClassCounts, path: Path) -> None:
        """Write counts to a file, atomically."""
        save_counts(counts, path)

    def merged(self, paths: list[Path]) -> ClassCounts:
        """Return the sum of files, it and one of them in memory at a time."""
        return merge_files(self._cls, list(paths))

    def load(self, path: Path) -> ClassCounts:
        """Return the counts of a file."""
        return load_counts(self._cls, path)


class Checkpoint(Generic[T]):
    """The folder of a count that can be killed at any moment and resumed.

    It is made if it is not there. `parts` says how counts are kept in it. `settings`
    are plain values, all that the counts of a file depend on, and must be the same on
    every run.
    """

    def __init__(self, parts: Parts[T], folder: Any, settings: dict[str, Any]) -> None:
        self._kept = parts
        self.folder = Path(os.path.expanduser(os.fspath(folder)))
        # As JSON gives them back.
        self.settings: dict[str, Any] = json.loads(json.dumps(settings))
        self._parts: list[dict[str, Any]] = []
        self._next = self._part_name()
        self._replaced: list[str] = []
        self._notes: list[dict[str, Any]] = []
        self._lock: Any = None
        self._reported = 0
        self._saved_at = time.monotonic()
        self._pause = SAVE_SECONDS

    # ------------------------------------------------------------------ one at a time

    def __enter__(self) -> Checkpoint[T]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise ValueError(
                "The 'checkpoint' parameter must be a folder, there or not yet. Got "
                f"{str(self.folder)!r}{self._in_the_way()}."
            ) from None
        path = self.folder / "lock"
        if path.is_symlink():
            raise ValueError(
                f"The lock of the checkpoint {str(self.folder)!r} must be a regular "
                "file. Got a link."
            )
        self._lock = open(path, "a+b")
        try:
            lock_file(self._lock.fileno())
        except (BlockingIOError, PermissionError):
            self._lock.close()
            raise RuntimeError(
                f"The checkpoint {str(self.folder)!r} is in use by another process."
            ) from None
        except BaseException:  # a file system without locks
            self._lock.close()
            raise
        self._saved_at = time.monotonic()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.close()  # which unlocks; so does the end of the process

    def _in_the_way(self) -> str:
        for parent in self.folder.parents:
            if parent.exists() and not parent.is_dir():
                return f", and {str(parent)!r} is a file"
        return ", which is a file"

    # ------------------------------------------------------------------ resuming

    def _part_name(self) -> str:
        return f"counts-{secrets.token_hex(8)}.{self._kept.ending}"

    @property
    def _manifest(self) -> Path:
        return self.folder / "manifest.json"

    def resume(
        self, paths: list[str], labels: Mapping[str, str] | None = None
    ) -> set[str]:
        """Return which of the files are counted already.

        `labels` is what is said of each file beside its content, and `note` was told.
        """
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
            same_size = os.stat(path).st_size == source["size"]
            if not same_size or file_state(path).sha256 != source["sha256"]:
                raise ValueError(
                    f"{path!r} was changed after it was counted in the checkpoint "
                    f"{str(self.folder)!r}. Hint: remove the folder to start over."
                )
            now = "" if labels is None else labels[names[path]]
            if source.get("label", "") != now:
                raise ValueError(
                    f"{path!r} was counted with the label {source.get('label', '')!r} "
                    f"in the checkpoint {str(self.folder)!r}. Got {now!r}. Hint: use "
                    "another folder, or remove this one to start over."
                )
        return {names[path] for path in counted}

    def _read(self) -> None:
        try:
            _check_regular(self._manifest)
            text = self._manifest.read_bytes()
        except FileNotFoundError:
            self._refuse_foreign()
            self._write()
            return
        except ValueError as error:
            raise ValueError(f"{str(self._manifest)!r} {error}.") from None
        try:
            manifest = read_json(text)
            _check_manifest(manifest)
            for part in manifest["parts"]:
                _check_regular(self.folder / part["file"])
        except FileNotFoundError as error:
            raise ValueError(
                f"The checkpoint {str(self.folder)!r} lacks its part "
                f"{os.path.basename(error.filename)!r}. Hint: remove the folder to "
                "start over."
            ) from None
        except ValueError as error:
            raise ValueError(
                f"{str(self._manifest)!r} is not the manifest of a checkpoint that "
                f"this version reads: {error}. Hint: use another folder, or remove "
                "this one to start over."
            ) from None
        settings = manifest["settings"]
        if settings != self.settings:
            differ = [
                f"{name}={_SHORT.repr(now)} instead of {_SHORT.repr(before)}"
                for name, now, before in _differences(self.settings, settings)
            ]
            raise ValueError(
                f"The checkpoint {str(self.folder)!r} was begun with other settings. "
                f"Got {', '.join(differ)}. Hint: use another folder, or remove this "
                "one to start over."
            )
        self._parts = manifest["parts"]
        self._next = manifest["next"]
        self._replaced = manifest["replaced"]

    def _refuse_foreign(self) -> None:
        """Refuse a folder that holds anything else: files in it may get removed."""
        others = [
            entry.name
            for entry in self.folder.iterdir()
            if entry.name != "lock" and _BESIDE_MANIFEST.fullmatch(entry.name) is None
        ]
        if others:
            raise ValueError(
                "The folder of a checkpoint must be new, empty or a checkpoint. Got "
                f"{str(self.folder)!r}, which holds {sorted(others)[0]!r}."
            )

    def _clean(self) -> None:
        """Remove what an interrupted run has left behind, and nothing else."""
        self._remove([self._next, *self._replaced])
        for path in (self._manifest, self.folder / self._next):
            remove_leftovers(path)

    def _remove(self, names: list[str]) -> None:
        """Remove parts that the manifest names as no longer in use."""
        for name in names:
            with contextlib.suppress(OSError):  # tried again at the next start
                os.unlink(self.folder / name)

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

    def note(self, path: str, state: FileState, label: str = "") -> None:
        """Take note of a file that was counted; `state` is from before."""
        if not _is_same(path, state):
            raise ValueError(f"{path!r} was changed while it was counted.")
        self._notes.append(
            {
                "path": os.path.realpath(path),
                "size": state.size,
                "sha256": state.sha256,
                **({"label": label} if label else {}),
            }
        )

    def is_time(self) -> bool:
        """Tell whether enough work was done to be worth saving."""
        return time.monotonic() - self._saved_at >= self._pause

    def save(self, counts: T, bad_rows: BadRows) -> None:
        """Save the counts of the files noted since the last time."""
        began = time.monotonic()
        skipped = bad_rows.skipped - self._reported
        self._reported = bad_rows.skipped
        first = bad_rows.first if skipped else ""
        entry = {"level": 0, "sources": self._notes, "skipped": skipped, "first": first}
        self._commit(counts, entry, [])
        self._notes = []
        level = 0
        while len(group := [p for p in self._parts if p["level"] == level]) >= FAN_IN:
            self._join(group, level + 1)
            level += 1
        self._saved_at = time.monotonic()
        self._pause = max(SAVE_SECONDS, SAVE_SHARE * (self._saved_at - began))
        if SAVE_SECONDS <= 0:
            self._pause = 0.0

    def result(self, bad_rows: BadRows) -> T:
        """Return the counts of all files, and leave them as a single part."""
        if len(self._parts) > 1:
            self._join(self._parts, 1 + max(part["level"] for part in self._parts))
        bad_rows.skipped, bad_rows.first = self.skipped
        return self._kept.load(self.folder / self._parts[0]["file"])

    def _join(self, group: list[dict[str, Any]], level: int) -> None:
        merged = self._kept.merged([self.folder / part["file"] for part in group])
        entry = {
            "level": level,
            "sources": [source for part in group for source in part["sources"]],
            "skipped": sum(part["skipped"] for part in group),
            "first": next((part["first"] for part in group if part["first"]), ""),
        }
        self._commit(merged, entry, group)

    def _commit(
        self,
        counts: T,
        entry: dict[str, Any],
        replaced: list[dict[str, Any]],
    ) -> None:
        """Put a part in the place of others: first the part, then the manifest."""
        name = self._next
        self._kept.save(counts, self.folder / name)
        gone = [part["file"] for part in replaced]
        kept = [part for part in self._parts if part["file"] not in gone]
        self._parts = [*kept, {"file": name, **entry}]
        self._next = self._part_name()
        still_there = [old for old in self._replaced if (self.folder / old).exists()]
        self._replaced = [*still_there, *gone]
        self._write()
        self._remove(self._replaced)

    def _write(self) -> None:
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "settings": self.settings,
            "parts": self._parts,
            "next": self._next,
            "replaced": self._replaced,
        }
        with (
            whole_file(self._manifest) as beside,
            open(beside, "w", encoding="utf-8") as file,
        ):
            file.write(json.dumps(manifest, indent=1))


# ----------------------------------------------------------------------- the manifest

_PART = re.compile(r"counts-[0-9a-f]{16}\.(npz|keys)")
_BESIDE_MANIFEST = re.compile(r"\.manifest\.json\.[0-9a-f]{16}\.tmp")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_FIELDS = {"format", "version", "settings", "parts", "next", "replaced"}
_PART_FIELDS = {"file", "level", "sources", "skipped", "first"}
_SOURCE_FIELDS = {"path", "size", "sha256"}
_LARGEST = 2**63


def _check_regular(path: Path) -> None:
    """Refuse anything in the folder that is not a file of its own, links too."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise ValueError(f"must be a regular file. Got a link or a folder: {path.name}")


def _check_manifest(manifest: Any) -> None:
    """Check every field; names lead to files of the folder and nowhere else."""
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ValueError("it is another kind of file")
    if type(manifest.get("version")) is not int or manifest["version"] != VERSION:
        raise ValueError(f"its format is {manifest.get('version')!r:.40}")
    _check_fields(manifest, _FIELDS, "the manifest")
    if not isinstance(manifest["settings"], dict):
        raise ValueError("'settings' must be a mapping")
    for field in ("parts", "replaced"):
        if not isinstance(manifest[field], list):
            raise ValueError(f"{field!r} must be a list")
    for part in manifest["parts"]:
        _check_part(part)
    names = [part["file"] for part in manifest["parts"]]
    names += [manifest["next"], *manifest["replaced"]]
    for name in names:
        if not isinstance(name, str) or _PART.fullmatch(name) is None:
            raise ValueError(f"{name!r:.60} is not the name of a part")
    if len(set(names)) != len(names):
        raise ValueError("a part is named twice")
    paths = [own["path"] for part in manifest["parts"] for own in part["sources"]]
    if len(set(paths)) != len(paths):
        raise ValueError("a file is counted twice")


def _check_part(part: Any) -> None:
    _check_fields(part, _PART_FIELDS, "a part")
    _check_whole(part, "level", 64)
    _check_whole(part, "skipped", _LARGEST)
    if not isinstance(part["first"], str):
        raise ValueError("'first' must be a string")
    if not isinstance(part["sources"], list) or not part["sources"]:
        raise ValueError("'sources' must name the files that were counted")
    for source in part["sources"]:
        label = source.get("label", "") if isinstance(source, dict) else ""
        if not isinstance(label, str):
            raise ValueError("'label' must be a string")
        _check_fields(source, _SOURCE_FIELDS, "a source", may_have={"label"})
        _check_whole(source, "size", _LARGEST)
        path, digest = source["path"], source["sha256"]
        if not isinstance(path, str) or not os.path.isabs(path):
            raise ValueError(f"{path!r:.60} is not the path of a file")
        if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None:
            raise ValueError(f"{digest!r:.60} is not a SHA-256")


def _check_fields(
    holder: Any, fields: set[str], what: str, *, may_have: Set[str] = frozenset()
) -> None:
    if not isinstance(holder, dict) or holder.keys() - may_have != fields:
        raise ValueError(f"{what} must have the fields {', '.join(sorted(fields))}")


def _check_whole(holder: dict[str, Any], field: str, below: int) -> None:
    value = holder[field]
    if type(value) is not int or not 0 <= value < below:
        raise ValueError(f"{field!r} must be a whole number. Got {value!r:.40}")


#: What was read from a file may be of any length and depth.
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def _differences(now: Any, before: Any, name: str = "") -> list[tuple[str, Any, Any]]:
    """Return the names and values in which two nested dictionaries differ."""
    if not (isinstance(now, dict) and isinstance(before, dict)):
        return [] if now == before else [(name, now, before)]
    found = []
    for key in {**now, **before}:
        found += _differences(now.get(key), before.get(key), str(key))
    return found
