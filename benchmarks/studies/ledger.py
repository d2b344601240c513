"""Results of a study on disk: every repetition, written so that a rerun goes on.

One JSON file holds the rows of one setting under keys (a draw, a model). The rows of a
key are those of repetitions 0, 1, 2, ... without a hole, so how many there are says
where to go on. A file is replaced at once, never half written.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from measurement import data_folder, read_data, surroundings

__all__ = [
    "Ledger",
    "blocks",
    "data_folder",
    "markdown",
    "progress",
    "read_data",
    "run_script",
    "surroundings",
]

Row = Sequence[float]


class Ledger:
    """The rows of one setting and the file they live in."""

    def __init__(self, path: Path, *, columns: Sequence[str], **header: Any) -> None:
        self.path = path
        self.columns = list(columns)
        around = surroundings()
        self.header = {
            **header,
            "python": around["python"],
            "packages": around["packages"],
            "columns": self.columns,
        }
        self.around = {
            name: around[name] for name in ("date", "system", "processor", "processors")
        }
        self.rows: dict[str, list[list[float]]] = {}
        if path.is_file():
            self._read()

    def _read(self) -> None:
        stored = json.loads(self.path.read_text(encoding="utf-8"))
        for name, value in self.header.items():
            if stored.get(name) != value:
                sys.exit(
                    f"{self.path} was written with {name} = {stored.get(name)!r}, "
                    f"this run has {value!r}. Hint: give another --folder, or remove "
                    "the file to begin again."
                )
        self.rows = stored["rows"]

    def done(self, key: str) -> int:
        """Return how many repetitions of a key are here."""
        return len(self.rows.get(key, []))

    def extend(self, key: str, start: int, rows: Sequence[Row]) -> None:
        """Take the rows of repetitions start, start + 1, ... and write the file."""
        if start != self.done(key):
            raise ValueError(
                f"The next repetition of {key!r} must be {self.done(key)}. Got {start}."
            )
        self.rows.setdefault(key, []).extend([list(row) for row in rows])
        self._write()

    def _write(self) -> None:
        head = json.dumps({**self.header, **self.around}, indent=1, ensure_ascii=False)
        body = ",\n".join(
            f"  {json.dumps(key)}: {json.dumps(rows, separators=(',', ':'))}"
            for key, rows in self.rows.items()
        )
        text = f'{head[:-2]},\n "rows": {{\n{body}\n }}\n}}\n'
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".tmp")
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, self.path)


def run_script(main: Callable[[], Any]) -> None:
    """Run a script's main; Ctrl-C and damaged files end it with one sentence."""
    try:
        code = main()
    except KeyboardInterrupt:
        print("Stopped. The same command goes on from here.", file=sys.stderr)
        sys.exit(130)
    except json.JSONDecodeError as error:
        sys.exit(f"A stored file is no JSON ({error}). Hint: remove it, or --folder.")
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
