"""How files are to be read, where the user says so; nothing heavy is imported."""

from __future__ import annotations

import codecs
from dataclasses import dataclass

__all__ = ["KINDS", "LARGEST_ROW", "LONGEST_ROW", "ReadOptions"]

#: What a column can be said to be.
KINDS = ("number", "category", "text", "date", "ignore")

# Longest row of a file, unless another is asked for; buffers are as large.
LONGEST_ROW = 1 << 25
LARGEST_ROW = 1 << 30  # that may be asked for: what Arrow and DuckDB can hold


@dataclass(frozen=True)
class ReadOptions:
    """What is said about files; what is not said is found out, and told.

    Attributes
    ----------
    encoding : str, optional
        As Python's `codecs` name them.
    sep : str, optional
        One character between the fields of a text file.
    header : bool
        Whether the first row of a text file or sheet holds the names of the columns.
    sheet : str or int, optional
        Name or number (from 1) of a sheet of a workbook.
    longest : int
        Bytes that a row may have.
    """

    encoding: str | None = None
    sep: str | None = None
    header: bool = True
    sheet: str | int | None = None
    longest: int = LONGEST_ROW

    def __post_init__(self) -> None:
        if self.encoding is not None:
            check_encoding(self.encoding)
        if self.sep is not None and (len(self.sep) != 1 or self.sep in '"\r\n\0'):
            raise ValueError(
                "The fields of a file are separated by one character, and neither by "
                f"a quote nor by the end of a line. Got {self.sep!r}."
            )


def check_encoding(name: str) -> None:
    """Refuse what is no name of an encoding of texts."""
    try:
        found = codecs.lookup(name)
        known = found._is_text_encoding and found.incrementaldecoder is not None
    except (LookupError, ValueError):  # ValueError: a name with a NUL
        known = False
    if not known:
        raise ValueError(
            "An encoding must have a name that Python knows, such as utf-8, cp1252, "
            f"gb18030 or shift_jis. Got {name!r}."
        )
