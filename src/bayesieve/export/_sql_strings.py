"""Strings of a table, read as the command line reads those of files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from bayesieve.export._dialects import Dialect
from bayesieve.io._string_column import (
    AROUND,
    MISSING_NUMBERS,
    MISSING_WORDS,
    SPACES,
    have_spaces,
)

__all__ = ["category_of_files", "number_of_files"]

_FLAGS = {"True", "False"}  # what booleans are called that a file has as such


def category_of_files(
    dialect: Dialect, column: str, known: Collection[Any]
) -> tuple[str, str]:
    """What a column of strings holds, and whether that is a missing value."""
    text = dialect.text_of(column)
    if not dialect.loosely_typed and not _FLAGS.isdisjoint(known):
        flag = f"CASE WHEN {text} = 'true' THEN 'True' ELSE 'False' END"
        text = f"CASE WHEN {dialect.is_flag(column)} THEN {flag} ELSE {text} END"
    missing = f"({column} IS NULL OR {_is_among(dialect, text, MISSING_WORDS)})"
    return text if have_spaces(known) else dialect.trimmed(text, SPACES), missing


def number_of_files(dialect: Dialect, column: str) -> str:
    """A column of numbers that may hold words for missing ones, which are NULL then."""
    words = (*MISSING_WORDS, *MISSING_NUMBERS)
    missing = _is_among(dialect, dialect.text_of(column), words)
    return (
        f"CASE WHEN typeof({column}) = 'text' AND {missing} THEN NULL ELSE {column} END"
    )


def _is_among(dialect: Dialect, text: str, words: Sequence[str]) -> str:
    """Whether a text is one of some words, whatever is around it."""
    listed = ", ".join(dialect.exact(dialect.text(word)) for word in words)
    return f"{dialect.trimmed(text, AROUND)} IN ({listed})"
