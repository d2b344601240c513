"""Results that are not rows of numbers: one JSON value for each unit of work.

A `UnitStore` is a ledger whose keys hold any JSON value. It is written after every
unit, a unit that is there is not done again, a file of other versions is refused.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ledger import Ledger, progress

HERE = Path(__file__).resolve().parent


class UnitStore(Ledger):
    """Units of work by name, and the file they live in."""

    def __init__(self, path: Path, **header: Any) -> None:
        super().__init__(path, columns=(), **header)

    def __contains__(self, key: str) -> bool:
        return key in self.rows

    def put(self, key: str, unit: Any) -> None:
        """Take a unit, in place of an older one, and write the file."""
        self.rows[key] = unit
        self._write()


def stored(path: Path) -> dict[str, Any]:
    """Return what a file holds: its header, and the units under "rows"."""
    return json.loads(path.read_text(encoding="utf-8"))


def significant(value: float, digits: int) -> float:
    """Return a number with so many digits, to keep the file small."""
    return float(f"{value:.{digits - 1}e}")


def surroundings_line(content: dict[str, Any]) -> str:
    """Return versions, machine and date of a file in one line for the page."""
    packages = ", ".join(f"{n} {v}" for n, v in content["packages"].items())
    return (
        f"{packages}, Python {content['python']}. {content['processor']}, "
        f"{content['processors']} processors. Written {content['date'][:10]}."
    )


def study_parser(
    name: str, description: str | None, quick: str
) -> argparse.ArgumentParser:
    """Return a parser with the options that these studies share."""
    parser = argparse.ArgumentParser(description=description)
    add = parser.add_argument
    add("--quick", action="store_true", help=f"{quick}, in a new temporary folder")
    add("--folder", type=Path, help=f"where results go (default: results/{name})")
    add("--tables-only", action="store_true", help="page and figures from what is here")
    add("--again", action="store_true", help="forget what is stored and begin anew")
    return parser


def run_study(
    name: str,
    options: argparse.Namespace,
    run: Callable[[argparse.Namespace], None],
    document: Callable[[Path], str],
    draw: Callable[[Path], list[Path]],
) -> int:
    """Do what is missing, then write the page and the figures from what is stored."""
    if options.folder is None:
        options.folder = HERE / "results" / name
        if options.quick:
            options.folder = Path(tempfile.mkdtemp(prefix=f"{name}_"))
    options.folder.mkdir(parents=True, exist_ok=True)
    if not options.tables_only:
        if options.again:
            (options.folder / f"{name}.json").unlink(missing_ok=True)
        try:
            run(options)
        except KeyboardInterrupt:
            progress("stopped; run the same command again to go on")
            return 130
    page = options.folder / "tables.md"
    page.write_text(document(options.folder), encoding="utf-8")
    for path in (page, *draw(options.folder)):
        print(f"written: {path}")
    return 0
