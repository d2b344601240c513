"""Which column is the label and which one holds texts: said, or guessed aloud."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from typing import Any

from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._terminal import plain_text
from bayesieve.io._near_names import check_column

__all__ = ["Columns", "choose_columns", "say_guesses"]

_LABEL_NAMES = (
    *("label", "labels", "class", "target", "y", "category", "sentiment"),
    *("outcome", "diagnosis", "species"),
)
_TEXT_NAMES = (
    *("text", "texts", "message", "body", "content", "review", "comment"),
    *("sentence", "document", "tweet", "description"),
)
_SAMPLE_ROWS = 2000
_LOOKED_AT = 200  # columns; wider tables have their label at an end
_MOST_CLASSES = 50


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are; `guessed` has the column of options not given.

    `text` is None for a table of numbers and categories, which has `features`.
    """

    label: str | None
    text: str | None
    features: list[str]
    guessed: dict[str, str]


def choose_columns(
    files: DataFiles, arguments: argparse.Namespace, *, needs_label: bool = True
) -> Columns:
    """Take what was said about the columns and guess the rest from names and values."""
    names = files.columns
    where = repr(files.paths[0])
    for name in (arguments.text, arguments.label, *arguments.drop):
        if name is not None:
            check_column(name, names, where)
    if arguments.text is not None and arguments.no_text:
        raise CommandError("--text and --no-text cannot both be given.")
    if arguments.text is not None and arguments.text == arguments.label:
        raise CommandError(
            f"--text and --label must name two columns. Got {arguments.text!r} twice."
        )
    free = [name for name in names if name not in arguments.drop]
    guessed: dict[str, str] = {}
    text, label = arguments.text, arguments.label
    guess_text = text is None and not arguments.no_text
    guess_label = label is None and needs_label
    sample = _Sample(files, free) if guess_text or guess_label else None
    if guess_text and sample is not None:
        text = sample.text([n for n in sample.names if n != label])
        if text is not None:
            guessed["--text"] = text
    if guess_label and sample is not None:
        label = sample.label([n for n in sample.names if n != text])
        if label is None:
            shown = ", ".join(repr(name) for name in names[:12])
            more = ", ..." if len(names) > 12 else ""
            raise CommandError(
                f"which column of {where} is the label is not clear: say --label COL. "
                f"Its columns are {shown}{more}."
            )
        guessed["--label"] = label
    features = [name for name in free if name not in (label, text)]
    if text is None and not features:
        raise CommandError(f"{where} has no column besides the label {label!r}.")
    return Columns(label, text, features, guessed)


def say_guesses(columns: Columns) -> None:
    """Tell on stderr what was guessed, and how to say otherwise."""
    if not columns.guessed or sys.stderr is None:
        return
    told = " and ".join(
        f"{option} {plain_text(name)!r}" for option, name in columns.guessed.items()
    )
    other = " or --no-text" if "--text" in columns.guessed else ""
    print(f"bayesieve: guessed {told} (say it{other} to change it)", file=sys.stderr)


class _Sample:
    """The first rows of a table, and what they look like."""

    def __init__(self, files: DataFiles, names: list[str]) -> None:
        if len(names) > _LOOKED_AT:
            half = _LOOKED_AT // 2
            names = names[:half] + names[-half:]
        self.names = names
        self._values: dict[str, list[Any]] = {name: [] for name in names}
        for _, _, batch in files.rows(names):
            if not batch.num_rows:
                continue  # a file may have a header only
            part = batch.slice(0, _SAMPLE_ROWS)
            for i, name in enumerate(names):
                self._values[name] = part.column(i).to_pylist()
            return
        told = "has no rows that can be read" if files.skip_bad_rows else "has no rows"
        raise CommandError(f"{files.paths[0]!r} {told}.")

    def text(self, names: list[str]) -> str | None:
        """Return the column that reads like texts, the wordiest of several."""
        scores = {name: self._wordiness(name) for name in names}
        called = [n for n in names if n.lower() in _TEXT_NAMES and scores[n] >= 2]
        wordy = [n for n in names if scores[n] >= 3 and not self._repeats(n)]
        return max(called or wordy, key=lambda name: scores[name], default=None)

    def _repeats(self, name: str) -> bool:
        """Tell whether a column has few different values, as categories do."""
        values = self._values[name]
        return len(set(values)) < 0.3 * len(values)

    def _wordiness(self, name: str) -> float:
        """Mean number of words; 0 for what is not text."""
        values = [value for value in self._values[name] if value not in (None, "")]
        if not values or not all(isinstance(value, str) for value in values):
            return 0.0
        words = sum(len(value.split()) for value in values) / len(values)
        long = sum(len(value) for value in values) / len(values) >= 40
        # Chinese and Japanese have no spaces between words.
        return max(words, 3.0) if long else words

    def label(self, names: list[str]) -> str | None:
        """Return the column that looks like labels: by name, or the only one."""
        for known in _LABEL_NAMES:
            for name in names:
                # The first rows of a sorted file have one label.
                if name.lower() == known and self._is_label(name, least=1):
                    return name
        likely = [name for name in names if self._is_label(name)]
        if len(likely) == 1:
            return likely[0]
        # By custom the label of a table is its last column.
        return names[-1] if names and names[-1] in likely else None

    def _is_label(self, name: str, least: int = 2) -> bool:
        values = [value for value in self._values[name] if value not in (None, "")]
        try:
            distinct = len(set(values))
        except TypeError:  # lists and structures
            return False
        return least <= distinct <= min(_MOST_CLASSES, max(len(values) // 2, 2))
