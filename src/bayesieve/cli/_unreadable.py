"""What is wrong with a file that cannot be read, and how to mend it."""

from __future__ import annotations

import codecs
import re

from bayesieve.cli._command import CommandError

__all__ = ["check_encoding", "convert_hint", "unreadable"]

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_ENDINGS = {"json lines": "jsonl"}
_LONGEST_PROBLEM = 300


def convert_hint(form: str, encoding: str = "latin1") -> str:
    """Say how a file of another encoding becomes one that can be read."""
    ending = _ENDINGS.get(form, form)
    return (
        "Hint: save the file as UTF-8, for example: "
        f"iconv -f {encoding} -t utf-8 in.{ending} > out.{ending}"
    )


def check_encoding(path: str, form: str, beginning: bytes) -> None:
    """Refuse a file whose byte order mark tells that it is not UTF-8."""
    for mark, encoding in _MARKS.items():
        if beginning.startswith(mark):
            raise CommandError(
                f"{path!r} is {encoding.upper()} text, and must be UTF-8. "
                f"{convert_hint(form, encoding)}"
            )


def unreadable(
    path: str, form: str, error: Exception, found: str | None, *, skippable: bool
) -> CommandError:
    """Say in one line why DuckDB could not read a file.

    Parameters
    ----------
    path, form : str
    error : Exception
        What DuckDB says, in many lines.
    found : str or None
        What is known to be wrong, better than DuckDB can say it.
    skippable : bool
        Whether bad rows could be left out.
    """
    problem = found or _problem(str(error)) or type(error).__name__
    hints = []
    if "state machine" in problem:  # which no setting for single rows gets past
        ending = _ENDINGS.get(form, form)
        return CommandError(
            f"{path!r} cannot be read: it may have lines that end in different ways "
            "(\\r\\n and \\n), or quotes within a value. Hint for the first: "
            f"tr -d '\\r' < in.{ending} > out.{ending}"
        )
    if re.search(r"unicode|utf-?8", problem, re.IGNORECASE):
        hints.append(convert_hint(form))
    if skippable:
        skip = "--skip-bad-rows leaves such rows out."
        hints.append(f"(Or: {skip})" if hints else f"Hint: {skip}")
    told = " ".join([f"{problem.rstrip('. ')}.", *hints])
    return CommandError(f"{path!r} cannot be read: {told}")


def _problem(message: str) -> str:
    """Return the sentence of an error that says what is wrong."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    advice = [i for i, line in enumerate(lines) if line.startswith("Possible ")]
    row = re.search(r"CSV Error on Line: (\d+)", lines[0]) if lines else None
    if row is not None and advice and advice[0] > 1:
        # Between the two stands the row itself, which may have many lines. DuckDB
        # counts rows, not lines.
        told = f"row {int(row[1]):,}, the header counted: {lines[advice[0] - 1]}"
    else:
        told = "; ".join(lines[: min(advice[:1] or [3])])
    for prefix in ("Invalid Input Error: ", "IO Error: ", "Binder Error: "):
        told = told.removeprefix(prefix)
    return told[:_LONGEST_PROBLEM]
