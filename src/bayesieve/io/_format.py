"""What a kind of file is: its endings, its columns, its batches."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._duckdb import needs
from bayesieve.io._row_bounds import VECTOR_ROWS, oversized, too_long

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["Format", "record_batches"]

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_BEGINNING = 1 << 16
_LONGEST_PROBLEM = 300
# Vectors of DuckDB are put together to batches of more rows as long as they are small.
_BATCH_BYTES = 1 << 26


class Format:
    """One kind of file."""

    #: How it is called, which is also how names in hints end.
    name: str
    endings: tuple[str, ...]
    #: Endings that may follow, of files that are unpacked while they are read.
    packed: tuple[str, ...] = (".gz", ".zst")
    #: Whether values are written as text and have no types.
    is_text = False
    #: Whether it holds a matrix, whose columns have no names.
    is_matrix = False
    #: Makes a label of what is read; None where it is one already.
    label_of: Callable[[Any], Any] | None = None

    def columns(self, file: DataFile) -> list[str]:
        """Names of the columns; none for an empty file."""
        raise ValueError(f"{file.path!r} holds a matrix, without names of columns.")

    def batches(
        self,
        file: DataFile,
        names: Sequence[str],
        bad_rows: BadRows,
        types: Mapping[str, str],
        rows: int,
    ) -> Iterator[Any]:
        """Yield Arrow batches with the columns `names`, of about so many rows.

        `types` are SQL types to read columns as, for formats that have to look for
        them; by default all of a file is looked at.
        """
        raise NotImplementedError

    def is_blank(self, file: DataFile) -> bool:
        """Whether there is nothing in a file; one that is not UTF-8 is refused."""
        with file.stream() as stream:
            block = stream.read(_BEGINNING)
        for mark, encoding in _MARKS.items():
            if block.startswith(mark):
                raise ValueError(
                    f"{file.path!r} is {encoding.upper()} text, and must be UTF-8. "
                    f"{self.convert_hint(encoding)}."
                )
        return len(block) < _BEGINNING and not block.strip()

    def convert_hint(self, encoding: str = "latin1") -> str:
        """Say how a file of another encoding becomes one that can be read."""
        return (
            "Hint: save the file as UTF-8, for example: "
            f"iconv -f {encoding} -t utf-8 in.{self.name} > out.{self.name}"
        )

    def unreadable(self, file: DataFile, error: Exception) -> ValueError:
        """Say in one sentence why a file cannot be read."""
        if oversized(error):
            return too_long(f"A row of {file.path!r}", file.longest)
        problem = problem_of(error)
        if "state machine" in problem:  # which leaving rows out does not get past
            return ValueError(
                f"{file.path!r} cannot be read: it may have lines that end in "
                "different ways (\\r\\n and \\n), or quotes within a value. Hint for "
                f"the first: tr -d '\\r' < in.{self.name} > out.{self.name}"
            )
        hint = f" {self.convert_hint()}." if _is_encoding(problem) else ""
        return ValueError(f"{file.path!r} cannot be read: {problem}.{hint}")


def _is_encoding(problem: str) -> bool:
    return re.search(r"unicode|utf-?8", problem, re.IGNORECASE) is not None


def problem_of(error: Exception | str) -> str:
    """Return the sentence of an error of DuckDB or the system that says what is wrong.

    Beyond its first lines stand advice and the row itself, which may be long.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    advice = [i for i, line in enumerate(lines) if line.startswith("Possible ")]
    told = "; ".join(lines[: min(advice[:1] or [3])]) or type(error).__name__
    for prefix in ("Invalid Input Error: ", "IO Error: ", "Binder Error: "):
        told = told.removeprefix(prefix)
    return re.sub(r"\s+", " ", told)[:_LONGEST_PROBLEM].rstrip(". ")


def record_batches(relation: Any, rows: int) -> Iterator[Any]:
    """Yield the rows of a relation as Arrow batches, bounded in rows and in bytes."""
    stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    waiting: list[Any] = []
    n_rows = n_bytes = 0
    for batch in stream(min(rows, VECTOR_ROWS)):
        waiting.append(batch)
        n_rows += batch.num_rows
        n_bytes += batch.nbytes
        if n_rows >= rows or n_bytes >= _BATCH_BYTES:
            yield _together(waiting)
            waiting, n_rows, n_bytes = [], 0, 0
    if waiting:
        yield _together(waiting)


def _together(batches: list[Any]) -> Any:
    if len(batches) == 1:
        return batches[0]
    table = needs("pyarrow").Table.from_batches(batches).combine_chunks()
    return table.to_batches()[0] if table.num_rows else batches[0]
