"""Results of a study on disk: every repetition, written so that a rerun goes on.

A study has one file, `results.json.xz` in its folder. It holds parts by name (a data
set, a setting, a method), each with a header that says what it was made with and with
rows under keys (a draw, a model). The rows of a key are those of repetitions 0, 1, 2,
... without a hole, so how many there are says where to go on; a key may also hold any
one JSON value, a unit. The file is replaced at once, never half written, and has the
same bytes for the same content.
"""

from __future__ import annotations

import json
import lzma
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measurement import data_folder, read_data, surroundings, timed

__all__ = [
    "Ledger",
    "blocks",
    "data_folder",
    "forget",
    "markdown",
    "progress",
    "read_data",
    "read_parts",
    "run_script",
    "timed",
    "write_parts",
]

FILE = "results.json.xz"
Row = Sequence[float]


def read_parts(folder: Path) -> dict[str, Any]:
    """Return the parts of a study by name, none when nothing is stored."""
    path = folder / FILE
    return json.loads(lzma.decompress(path.read_bytes())) if path.is_file() else {}


def write_parts(folder: Path, parts: Mapping[str, Any]) -> None:
    """Make these the parts of a study."""
    text = json.dumps(dict(sorted(parts.items())), separators=(",", ":"))
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f"{FILE}.tmp"
    draft.write_bytes(lzma.compress(text.encode(), preset=2))  # often: fast, not least
    os.replace(draft, folder / FILE)


def forget(folder: Path, names: Iterable[str]) -> None:
    """Take parts out of what is stored, if they are there."""
    parts, names = read_parts(folder), set(names)
    if names & set(parts):
        write_parts(folder, {n: part for n, part in parts.items() if n not in names})


class Ledger:
    """One part of a study: its rows, and what they were made with."""

    def __init__(
        self, folder: Path, part: str, /, *, columns: Sequence[str] = (), **header: Any
    ) -> None:
        self.folder, self.part = folder, part
        self.columns = list(columns)
        around = surroundings()
        self.header = {
            **header,
            "python": around["python"],
            "packages": around["packages"],
            "columns": self.columns,
        }
        names = ("date", "system", "processor", "processors", "load_average")
        self.around = {name: around[name] for name in names}
        self.rows: dict[str, Any] = {}
        if stored := read_parts(folder).get(part):
            self._take(stored)

    def _take(self, stored: dict[str, Any]) -> None:
        for name, value in self.header.items():
            if stored.get(name) != value:
                sys.exit(
                    f"{self.part} in {self.folder / FILE} was written with {name} = "
                    f"{stored.get(name)!r}, this run has {value!r}. Hint: give another "
                    "--folder, or --again to begin again."
                )
        self.rows = stored["rows"]

    def __contains__(self, key: str) -> bool:
        return key in self.rows

    def done(self, key: str) -> int:
        """Return how many repetitions of a key are here."""
        return len(self.rows.get(key, []))

    def extend(self, key: str, start: int, rows: Sequence[Row]) -> None:
        """Take the rows of repetitions start, start + 1, ... and write the file."""
        if start != self.done(key):
            raise ValueError(
                f"The next repetition of {key!r} must be {self.done(key)}. Got {start}."
            )
        self.put(key, [*self.rows.get(key, []), *(list(row) for row in rows)])

    def put(self, key: str, unit: Any) -> None:
        """Take what a key holds, in place of what it held, and write the file."""
        self.rows[key] = unit
        content = {**self.header, **self.around, "rows": self.rows}
        write_parts(self.folder, {**read_parts(self.folder), self.part: content})


def run_script(main: Callable[[], Any]) -> None:
    """Run a script's main; Ctrl-C and damaged files end it with one sentence."""
    try:
        code = main()
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        sys.exit(130)
    except (json.JSONDecodeError, lzma.LZMAError) as error:
        sys.exit(f"A stored file is damaged ({error}). Hint: remove it, or --folder.")
    except OSError as error:
        sys.exit(f"{error.strerror or error}: {error.filename or ''}")
    sys.exit(code if isinstance(code, int) else 0)


def blocks(done: int, wanted: int, size: int) -> list[tuple[int, int]]:
    """Split the repetitions that are missing into ranges of at most size."""
    return [(at, min(at + size, wanted)) for at in range(done, wanted, size)]


def markdown(head: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table: numbers on the right, a column without head left."""
    rule = ["---:" if name else ":---" for name in head]
    lines = [head, rule, *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def progress(text: str) -> None:
    """Tell where the study is, on stderr."""
    print(text, file=sys.stderr, flush=True)
