"""What a command tells about the columns it has read: guesses, doubts, suspicions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.cli._told import listed, tell
from bayesieve.io._column_format import ReadColumn
from bayesieve.io._suspicions import (
    gives_label_away,
    odd_labels,
    repeated_rows,
    repeats_are_odd,
)
from bayesieve.utils._scripts import default_analyzer, script_of

if TYPE_CHECKING:
    from bayesieve.cli._labelled_rows import Labels

__all__ = [
    "say_how_read",
    "say_repeated_texts",
    "say_script",
    "say_what_is_odd_about_labels",
    "say_what_is_suspicious",
]

_MOST_LOOKED_AT = 500  # columns, for what gives the label away
_LEAST_REPEATED = 0.01  # of the rows
_LEAST_REPEATED_TEXTS, _LONG_TEXT = 0.05, 20


def say_how_read(read: Sequence[ReadColumn], ignored: Mapping[str, str]) -> None:
    """Tell how values were read that are not written plainly, and what was left out."""
    guessed = [
        f"{own.name!r} ({own.guessed})"
        for own in read
        if own.guessed and own.name not in ignored
    ]
    if guessed:
        tell(
            f"guessed how values are written: {listed(guessed, quote=False)}; --types, "
            "--decimal and --thousands change it"
        )
    if ignored:
        by_reason: dict[str, list[str]] = {}
        for name, why in ignored.items():
            by_reason.setdefault(why, []).append(name)
        said = {
            "constant": "one value only",
            "identifier": "identifiers",
            "nested": "lists or objects",
        }
        told = [f"{listed(own)} ({said[why]})" for why, own in by_reason.items()]
        tell(f"left out: {'; '.join(told)}; --types COL=KIND takes a column in")
    for own in read:
        if own.doubt and ignored.get(own.name) != "constant":
            tell(f"warning: column {own.name!r} {own.doubt}")


def say_script(
    name: str, texts: Sequence[Any], ngrams: tuple[int, int] | None = None
) -> tuple[str, tuple[int, int]]:
    """Return how texts are cut by their script, and tell it if not into words."""
    texts = [text for text in texts if isinstance(text, str)]
    analyzer, usual = default_analyzer(texts)
    if analyzer != "word":
        low, high = ngrams or usual
        tell(
            f"the texts of {name!r} are {script_of(texts).title()}: cut into {low} to "
            f"{high} characters (--analyzer word or --ngrams change it)"
        )
    return analyzer, usual


def say_what_is_suspicious(
    read: Sequence[ReadColumn], codes: NDArray[np.integer[Any]], n_classes: int
) -> None:
    """Tell of columns that give the label away, and of rows that are there twice."""
    found = []
    for own in read[:_MOST_LOOKED_AT]:
        share = None if own.kind == "text" else gives_label_away(own, codes, n_classes)
        if share is not None:
            found.append(f"{own.name!r} in {100 * share:.4g} % of the rows")
    if found:
        tell(
            f"warning: the label can be told by one column alone: "
            f"{listed(found, quote=False)}. A column that is known only once the label "
            "is must be left out: --drop COL"
        )
    if len(read) > _MOST_LOOKED_AT or not repeats_are_odd(read, codes.size):
        return
    repeated = repeated_rows(read, codes)
    if repeated >= _LEAST_REPEATED * codes.size:
        tell(
            f"warning: {repeated:,} of {codes.size:,} rows repeat an earlier one in "
            "every column: those held out may have been learnt, and the accuracy is "
            "too good. Hint: leave them out of the file"
        )


def say_repeated_texts(texts: Sequence[Any]) -> None:
    """Tell that many of the first texts are there more than once."""
    long = [own for own in texts if isinstance(own, str) and len(own) >= _LONG_TEXT]
    repeated = len(long) - len(set(long))
    if repeated >= _LEAST_REPEATED_TEXTS * len(texts) and repeated > 1:
        tell(
            f"warning: {repeated:,} of the first {len(texts):,} texts repeat an "
            "earlier one: those held out may have been learnt, and the accuracy is too "
            "good. Hint: leave them out of the file"
        )


def say_what_is_odd_about_labels(labels: Labels) -> None:
    """Tell of classes that may be one, that mean nothing, or have one row."""
    classes, rows = labels.classes.tolist(), labels.rows.tolist()
    for sentence in odd_labels(labels.column, classes, rows):
        tell(f"warning: the label {labels.column!r} {sentence}")
