"""What every study does: its common options, then run, page and figures."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ledger import forget, progress, read_parts

HERE = Path(__file__).resolve().parent


def significant(value: float, digits: int) -> float:
    """Return a number with so many digits, to keep the file small."""
    return float(f"{value:.{digits - 1}e}")


def surroundings_line(content: dict[str, Any]) -> str:
    """Return versions, machine and date of a part in one line for the page."""
    packages = ", ".join(f"{n} {v}" for n, v in content["packages"].items())
    return (
        f"{packages}, Python {content['python']}. {content['processor']}, "
        f"{content['processors']} processors. Written {content['date'][:10]}."
    )


def names_of(allowed: Iterable[str]) -> Callable[[str], list[str]]:
    """Return the type of an option: some of these names with commas between."""
    known = list(allowed)

    def parse(text: str) -> list[str]:
        names = [name for name in text.split(",") if name]
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(
                    f"{name!r} is not known; there are {', '.join(known)}."
                )
        return names

    return parse


def at_least_one(text: str) -> int:
    """Read a number of repetitions: the type of an option."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1. Got {text}.")
    return int(text)


def study_parser(
    name: str, description: str | None, quick: str
) -> argparse.ArgumentParser:
    """Return a parser with the options that all studies have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help=f"{quick}, in a new temporary folder")
    add("--folder", type=Path, help=f"where results go (default: results/{name})")
    add("--tables-only", action="store_true", help="page and figures from what is here")
    add("--again", action="store_true", help="forget what is asked for, begin anew")
    return parser


def run_study(
    name: str,
    options: argparse.Namespace,
    run: Callable[[argparse.Namespace], None],
    document: Callable[[Path], str],
    draw: Callable[[Path], None] | None = None,
    *,
    parts: Iterable[str] | None = None,
) -> None:
    """Do what is missing, then write the page and the figures from what is stored.

    `parts` are those that --again forgets: all of them unless said otherwise.
    """
    if options.folder is None:
        options.folder = HERE / "results" / name
        if options.quick:
            options.folder = Path(tempfile.mkdtemp(prefix=f"{name}_"))
    folder = options.folder
    if not options.tables_only:
        if options.again:
            forget(folder, read_parts(folder) if parts is None else parts)
        run(options)
    if not read_parts(folder):
        sys.exit(f"There are no results in {folder}. Hint: run it first.")
    page = folder / "tables.md"
    page.write_text(document(folder), encoding="utf-8")
    if draw is not None and find_spec("matplotlib"):
        draw(folder)
    elif draw is not None:
        progress("no matplotlib here: no figures")
    print(f"written: {page}")
