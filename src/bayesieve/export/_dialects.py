"""How four databases write names, literals and the few functions that scores need.

Whatever comes from data (names of columns, labels, terms) goes through `name` and
`text` of a dialect, and through nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

__all__ = ["DIALECTS", "NEVER", "Dialect", "balanced"]

#: Score of what is impossible: far below all others, and no infinity to subtract.
NEVER = -1e300


def balanced(parts: Sequence[str], join: str) -> str:
    """Parts joined two by two: parsers have a limit for depth, none for breadth."""
    if not parts:
        return "0"
    if len(parts) == 1:
        return parts[0]
    middle = len(parts) // 2
    return join.format(balanced(parts[:middle], join), balanced(parts[middle:], join))


class Dialect:
    """A database: what differs from one to the other. Here is standard SQL."""

    key: ClassVar[str]
    title: ClassVar[str]
    #: Integers from the first to the second can be written; None: all.
    integers: ClassVar[tuple[int, int] | None] = None
    #: Longest name in bytes; the rest would be cut off without a word.
    longest_name: ClassVar[int | None] = None
    quote: ClassVar[str] = '"'
    double: ClassVar[str] = "DOUBLE"
    string: ClassVar[str] = "TEXT"
    #: What leaves columns out of ``*``, if there is something.
    leaves_out: ClassVar[str | None] = None
    has_times: ClassVar[bool] = True
    has_nan: ClassVar[bool] = True
    #: Whether a column may hold what is not of its type.
    loosely_typed: ClassVar[bool] = False
    #: Values of a category from which on they are joined rather than listed.
    most_listed: ClassVar[int | None] = None
    materialized: ClassVar[str] = "MATERIALIZED "

    # ------------------------------------------------------------- names and literals

    def _refuse(self, what: str, given: str, why: str) -> ValueError:
        return ValueError(
            f"{what} cannot be written for {self.title}: {why}. Got {given!r:.80}."
        )

    def _checked(self, given: str, what: str) -> str:
        if "\0" in given:
            raise self._refuse(what, given, "it holds a null character")
        try:
            given.encode()
        except UnicodeEncodeError:
            raise self._refuse(
                what, given, "half a surrogate pair is no text"
            ) from None
        return given

    def name(self, given: str, what: str = "A name") -> str:
        """A quoted name, whatever it holds."""
        self._checked(given, what)
        if not given:
            raise self._refuse(what, given, "a name must not be empty")
        if self.longest_name is not None and len(given.encode()) > self.longest_name:
            why = f"a name has at most {self.longest_name} bytes"
            raise self._refuse(what, given, why)
        return self.quote + given.replace(self.quote, 2 * self.quote) + self.quote

    def folded(self, name: str) -> str:
        """The same for names that are one to the database."""
        return re.sub("[A-Z]+", lambda found: found[0].lower(), name)

    def text(self, given: str, what: str = "A text") -> str:
        """A string literal, whatever it holds."""
        return "'" + self._checked(given, what).replace("'", "''") + "'"

    def number(self, value: float) -> str:
        """A literal that is this double to the last bit."""
        raise NotImplementedError

    def bound(self, value: float) -> str:
        """The same where the last bit decides on which side a number falls."""
        return self.number(value)

    def whole(self, value: int) -> str:
        """An integer to compare columns of integers with."""
        return str(value)

    def label(self, value: Any) -> str:
        """A class label as a literal of its type."""
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, int):
            if self.integers and not self.integers[0] <= value <= self.integers[1]:
                raise ValueError(
                    "Labels that are integers must lie between {} and {} to be "
                    "written for {}. Got {}. Hint: fit the model on strings.".format(
                        *self.integers, self.title, value
                    )
                )
            return str(value)
        if isinstance(value, float) and math.isfinite(value):
            return self.number(value)
        if isinstance(value, str):
            return self.text(value, "A label")
        raise ValueError(
            "Labels must be strings, numbers or booleans to be written in SQL. "
            f"Got {type(value).__name__} {value!r:.80}."
        )

    # ----------------------------------------------------------------------- functions

    def real(self, column: str) -> str:
        """A column of numbers as doubles."""
        return f"CAST({column} AS {self.double})"

    def number_of(self, column: str) -> str:
        """The same, and infinity, which no model takes, for what is no number."""
        return self.real(column)

    def to_compare(self, column: str) -> str:
        """A column of numbers, to be compared with some that are listed."""
        return self.real(column)

    def whole_of(self, column: str) -> str:
        """A column of integers, to the last digit."""
        return column

    def is_number(self, column: str) -> str:
        """Whether what is there reads as a number, where a column may hold anything."""
        return f"{column} IS NOT NULL"

    def flag(self, column: str) -> str:
        """A column of booleans as 0 and 1."""
        return f"CAST({column} AS INTEGER)"

    def text_of(self, column: str) -> str:
        """A column of strings, or of what reads as such."""
        return f"CAST({column} AS {self.string})"

    def is_flag(self, column: str) -> str:
        """Whether a column is one of booleans."""
        return f"typeof({column}) = 'boolean'"

    def trimmed(self, text: str, characters: str) -> str:
        """A text without some characters at its ends."""
        return f"TRIM({text}, {self.text(characters)})"

    def exact(self, own: str) -> str:
        """A string of the query, which equals one of a column as all characters do.

        The column may have a collation of its own, in which "a" equals "A". What is no
        string there is compared as the database does it: "yes" with a boolean.
        """
        return own

    def is_nan(self, expression: str) -> str:
        """Whether a double is NaN."""
        return f"isnan({expression})"

    def micros(self, column: str) -> str:
        """A time as whole microseconds since 1970."""
        raise NotImplementedError

    def nanos(self, column: str) -> str | None:
        """The same in nanoseconds; None where times are no finer."""
        return None

    def largest(self, values: Sequence[str]) -> str:
        """The largest of some numbers."""
        return balanced(values, "GREATEST({}, {})")

    def pick(self, values: Sequence[float], place: str, *, whole: bool = False) -> str:
        """The number at a place, which counts from one; with `whole`, an integer."""
        raise NotImplementedError

    def field(self, word: str, shift: int, mask: int) -> str:
        """Some bits of an integer that is not negative."""
        moved = f"({word} >> {shift})" if shift else word
        return f"({moved} & {mask})"

    @property
    def infinity(self) -> str:
        """Plus infinity."""
        return f"CAST('Infinity' AS {self.double})"

    # ---------------------------------------------------------------------------- texts

    #: Whether texts can be cut as Python does it; then the methods below are there.
    has_texts: ClassVar[bool] = False

    def matches(self, text: str, pattern: str) -> str:
        """Whether a pattern is found in a text."""
        raise NotImplementedError

    def replaced(self, text: str, pattern: str, by: str, group: int) -> str:
        """A text with what matches replaced: by a character and the group after it.

        With group -1, by the group and the character after it.
        """
        raise NotImplementedError

    def kept(self, array: str, condition: str) -> str:
        """The elements of an array that fulfil a condition, in which {} stands."""
        raise NotImplementedError

    def grams(self, words: str, n: int) -> str:
        """The n-grams of an array of words, joined by spaces."""
        raise NotImplementedError

    def concatenated(self, arrays: Sequence[str]) -> str:
        """Arrays one after the other."""
        raise NotImplementedError

    def rows_of(self, array: str) -> str:
        """A row for each element of an array."""
        raise NotImplementedError


class DuckDB(Dialect):
    """DuckDB 1.4 and newer."""

    key, title, leaves_out, most_listed = "duckdb", "DuckDB", "EXCLUDE", 10
    integers = (-(2**127) + 1, 2**127 - 1)

    def number(self, value: float) -> str:
        """As a double: a literal without an exponent is a decimal."""
        return (
            f"{float(value)!r}e0"
            if "e" not in repr(float(value))
            else repr(float(value))
        )

    def is_flag(self, column: str) -> str:
        """By the name of its type."""
        return f"typeof({column}) = 'BOOLEAN'"

    def exact(self, own: str) -> str:
        """Columns of another collation are refused then."""
        return f'{own} COLLATE "C"'

    def micros(self, column: str) -> str:
        """Of dates, timestamps with and without a zone, and intervals."""
        return f"epoch_us({column})"

    def nanos(self, column: str) -> str:
        """Of nanosecond timestamps."""
        return f"epoch_ns({column})"

    def pick(self, values: Sequence[float], place: str, *, whole: bool = False) -> str:
        """An element of a constant list."""
        write = str if whole else self.number
        return f"([{', '.join(map(write, values))}])[{place}]"

    has_texts = True

    def matches(self, text: str, pattern: str) -> str:
        """Anywhere in the text."""
        return f"regexp_matches({text}, {self.text(pattern)})"

    def replaced(self, text: str, pattern: str, by: str, group: int) -> str:
        """All matches."""
        new = by + "\\1" if group > 0 else "\\1" + by
        return f"regexp_replace({text}, {self.text(pattern)}, {self.text(new)}, 'g')"

    def kept(self, array: str, condition: str) -> str:
        """By a lambda."""
        return f"list_filter({array}, lambda w: {condition.format('w')})"

    def grams(self, words: str, n: int) -> str:
        """Slices of the list; none where it is too short."""
        if n == 1:
            return words
        own = f"array_to_string({words}[i : i + {n - 1}], ' ')"
        return f"list_transform(range(1, len({words}) - {n - 2}), lambda i: {own})"

    def concatenated(self, arrays: Sequence[str]) -> str:
        """Two by two."""
        return balanced(arrays, "list_concat({}, {})")

    def rows_of(self, array: str) -> str:
        """Among what is selected."""
        return f"UNNEST({array})"


class Postgres(Dialect):
    """PostgreSQL 12 and newer."""

    key, title, longest_name = "postgres", "PostgreSQL", 63
    double = "double precision"

    def folded(self, name: str) -> str:
        """Quoted names keep their case."""
        return name

    def number(self, value: float) -> str:
        """As a double: a bare literal is a numeric."""
        return f"'{float(value)!r}'::double precision"

    def flag(self, column: str) -> str:
        """Booleans and integers alike."""
        return f"CAST(CAST({column} AS boolean) AS integer)"

    def is_flag(self, column: str) -> str:
        """By its type."""
        return f"pg_typeof({column}) = 'boolean'::regtype"

    def trimmed(self, text: str, characters: str) -> str:
        """On both sides."""
        return f"btrim({text}, {self.text(characters)})"

    def is_nan(self, expression: str) -> str:
        """NaN is equal to itself here."""
        return f"{expression} = 'NaN'::double precision"

    def micros(self, column: str) -> str:
        """Exact: the seconds are numeric."""
        return f"EXTRACT(EPOCH FROM {column})::numeric * 1000000"

    def pick(self, values: Sequence[float], place: str, *, whole: bool = False) -> str:
        """An element of a constant array."""
        listed = ",".join(repr(int(v) if whole else float(v)) for v in values)
        kind = "bigint" if whole else "double precision"
        return f"('{{{listed}}}'::{kind}[])[{place}]"


class Spark(Dialect):
    """Spark SQL 4.0 and newer."""

    key, title, quote, leaves_out, most_listed = "spark", "Spark", "`", "EXCEPT", 64
    string = "STRING"
    materialized = ""
    integers = (-(10**38) + 1, 10**38 - 1)

    def folded(self, name: str) -> str:
        """All letters lose their case."""
        return name.lower()

    def name(self, given: str, what: str = "A name") -> str:
        """Quoted; Spark puts variables in the place of ${...} before it reads names."""
        if "${" in given:
            raise self._refuse(what, given, "Spark would replace ${...}")
        return super().name(given, what)

    def text(self, given: str, what: str = "A text") -> str:
        """Backslashes escape here, and ${...} would be replaced."""
        escaped = self._checked(given, what).replace("\\", "\\\\")
        return "'" + escaped.replace("'", "\\'").replace("$", "\\u0024") + "'"

    def number(self, value: float) -> str:
        """As a double: a bare literal is a decimal."""
        return f"{float(value)!r}D"

    def trimmed(self, text: str, characters: str) -> str:
        """With words between the two."""
        return f"TRIM(BOTH {self.text(characters)} FROM {text})"

    def micros(self, column: str) -> str:
        """Of the moment; that of a date is its midnight in the session's zone."""
        return f"unix_micros(CAST({column} AS TIMESTAMP))"

    def pick(self, values: Sequence[float], place: str, *, whole: bool = False) -> str:
        """An element of a constant array."""
        listed = [f"{value}L" if whole else self.number(value) for value in values]
        return f"element_at(array({', '.join(listed)}), {place})"

    def field(self, word: str, shift: int, mask: int) -> str:
        """By a function: the operator is newer than some of what runs Spark's SQL."""
        moved = f"shiftright({word}, {shift})" if shift else word
        return f"({moved} & {mask})"

    has_texts = True

    def matches(self, text: str, pattern: str) -> str:
        """Anywhere in the text."""
        return f"({text} RLIKE {self.text(pattern)})"

    def replaced(self, text: str, pattern: str, by: str, group: int) -> str:
        """All matches."""
        new = by + "$1" if group > 0 else "$1" + by
        return f"regexp_replace({text}, {self.text(pattern)}, {self.text(new)})"

    def kept(self, array: str, condition: str) -> str:
        """By a lambda."""
        return f"filter({array}, w -> {condition.format('w')})"

    def grams(self, words: str, n: int) -> str:
        """Slices of the array; none where it is too short."""
        if n == 1:
            return words
        last = f"size({words}) - {n - 1}"
        own = f"array_join(slice({words}, i, {n}), ' ')"
        every = f"transform(sequence(1, {last}), i -> {own})"
        return (
            f"CASE WHEN {last} < 1 THEN CAST(array() AS array<string>) ELSE {every} END"
        )

    def concatenated(self, arrays: Sequence[str]) -> str:
        """All at once."""
        return f"concat({', '.join(arrays)})"

    def rows_of(self, array: str) -> str:
        """Among what is selected."""
        return f"EXPLODE({array})"


class SQLite(Dialect):
    """SQLite 3.35 and newer, with its functions of mathematics and JSON."""

    key, title, double = "sqlite", "SQLite", "REAL"
    has_times = has_nan = False
    integers = (-(2**63), 2**63 - 1)
    loosely_typed = True

    def number(self, value: float) -> str:
        """The shortest decimal; older versions may read it one bit off."""
        return repr(float(value))

    def bound(self, value: float) -> str:
        """A ratio of integers, which no version reads inexactly."""
        value = float(value)
        if value == 0.0 or (len(repr(value)) <= 16 and 1e-5 < abs(value) < 1e15):
            return repr(value)
        top, exponent = math.frexp(value)
        mantissa, exponent = int(top * 2**53), exponent - 53
        sign, steps = ("*", exponent) if exponent > 0 else ("/", -exponent)
        found = f"{mantissa}.0"
        while steps > 0:
            step = min(steps, 50)
            found = f"({found} {sign} {2**step}.0)"
            steps -= step
        return found

    def whole(self, value: int) -> str:
        """Within 64 bits, as the columns are."""
        return str(min(max(value, -(2**63) + 1), 2**63 - 1))

    def label(self, value: Any) -> str:
        """Booleans are 1 and 0 here."""
        written = super().label(value)
        return {"TRUE": "1", "FALSE": "0"}.get(written, written)

    def number_of(self, column: str) -> str:
        """CAST reads what it can of a text: 12 of "12 apples", 0 of "".

        So it is asked of what can be read whole alone.
        """
        return (
            f"CASE WHEN {column} IS NULL OR {self.is_number(column)} "
            f"THEN {self.real(column)} ELSE {self.infinity} END"
        )

    def is_number(self, column: str) -> str:
        """Against a real number a text stands as one if all of it can be read so.

        If not, it is larger than any.
        """
        return f"{column} <= {self.real(self.infinity)}"

    def to_compare(self, column: str) -> str:
        """Integers stay what they are, which doubles might not tell apart."""
        return self.whole_of(column)

    def whole_of(self, column: str) -> str:
        """Texts are read as integers where they are some, and all else stays."""
        return f"CAST({column} AS NUMERIC)"

    def flag(self, column: str) -> str:
        """Booleans are integers here."""
        return self.whole_of(column)

    def exact(self, own: str) -> str:
        """By bytes."""
        return f"{own} COLLATE BINARY"

    def largest(self, values: Sequence[str]) -> str:
        """The scalar maximum has its own name."""
        return balanced(values, "MAX({}, {})")

    def pick(self, values: Sequence[float], place: str, *, whole: bool = False) -> str:
        """By halves: there are no arrays."""

        def halved(first: int, last: int) -> str:
            if last - first == 1 or len(set(values[first:last])) == 1:
                return str(values[first]) if whole else self.number(values[first])
            middle = (first + last) // 2
            low, high = halved(first, middle), halved(middle, last)
            return f"CASE WHEN {place} <= {middle} THEN {low} ELSE {high} END"

        return halved(0, len(values))

    @property
    def infinity(self) -> str:
        """There is no other way to write it."""
        return "9e999"


DIALECTS: dict[str, Dialect] = {
    own.key: own for own in (DuckDB(), Postgres(), Spark(), SQLite())
}
