"""What a column is and how it is written, and a column that was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from bayesieve.io._date_styles import ISO
from bayesieve.io._number_styles import NumberStyle

__all__ = ["ColumnFormat", "Marks", "ReadColumn"]


@dataclass(frozen=True)
class Marks:
    """The marks of numbers where somebody has said them, else None."""

    decimal: str | None = None
    thousands: str | None = None

    def __post_init__(self) -> None:
        if self.decimal not in (None, ".", ","):
            raise ValueError(
                f"The decimal mark must be a point or a comma. Got {self.decimal!r}."
            )
        if self.thousands not in (None, ",", ".", " ", "'"):
            raise ValueError(
                "The mark between thousands must be a comma, a point, a space or an "
                f"apostrophe. Got {self.thousands!r}."
            )
        if self.decimal is not None and self.decimal == self.thousands:
            raise ValueError(
                "The marks before decimals and between thousands must differ. Got "
                f"{self.decimal!r} for both."
            )

    @property
    def said(self) -> bool:
        """Whether anything was."""
        return not self.decimal is self.thousands is None


@dataclass(frozen=True)
class ColumnFormat:
    """What a column is and how its values are written; saved with a model.

    `style` is None for numbers that are written plainly, `date` has the format of
    dates; `strays` are values that are no numbers and were taken as missing.
    """

    kind: str
    style: NumberStyle | None = None
    date: str = ISO
    strays: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> ColumnFormat:
        """Return what `to_dict` has written."""
        style = given.get("style")
        return cls(
            str(given["kind"]),
            None if style is None else NumberStyle(**style),
            str(given.get("date", ISO)),
            bool(given.get("strays", False)),
        )


@dataclass
class ReadColumn:
    """A column as it was read.

    `guessed` says how values were read where that is not plain; `doubt`, in words that
    follow the name of the column, that they may be read otherwise, and how to say so.
    """

    name: str
    format: ColumnFormat
    values: Any
    guessed: str = ""
    doubt: str = ""
    #: How many values were taken as missing where the kind was known, and one of them.
    strays: tuple[int, str] = (0, "")
    #: Rows that the values of a category or text are at, for others to look at.
    strings: Any = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """Number, date, category or text."""
        return self.format.kind
