"""What a kind of file is: its endings, its columns, its batches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._duckdb import needs
from bayesieve.io._row_bounds import VECTOR_ROWS, oversized, too_long

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["Format", "record_batches"]

_BEGINNING = 1 << 16
# Vectors of DuckDB are put together to batches of more rows as long as they are small.
_BATCH_BYTES = 1 << 26


class Format:
    """One kind of file."""

    #: How it is called, which is also how names in hints end.
    name: str
    #: What it is called in messages.
    told: str
    endings: tuple[str, ...]
    #: Whether values are written as text and have no types.
    is_text = False
    #: Whether the file is text, in some encoding, and may be packed.
    is_encoded = False
    #: Whether it holds a matrix, whose columns have no names.
    is_matrix = False
    #: Whether it holds sequences, which are neither a table nor a matrix.
    is_sequences = False
    #: Whether rows that cannot be read come without any value when they are left out.
    leaves_gaps = False
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
        """Whether there is nothing in a file."""
        with file.stream() as stream:
            block = stream.read(_BEGINNING)
        return len(block) < _BEGINNING and not block.strip()

    def unreadable(self, file: DataFile, error: Exception) -> ValueError:
        """Say in one sentence why a file cannot be read."""
        if oversized(error):
            return too_long(f"A row of {file.path!r}", file.longest)
        problem = _told_problem(error)
        if problem is None:
            problem = f"it is damaged, or no {self.told} file"
        return ValueError(f"{file.path!r} cannot be read: {problem}.")


#: What DuckDB, Arrow and the system say, and what it means; their advice is not ours.
_PROBLEMS = (
    (r"duplicate key \"(?P<what>[^\"]{1,60})", "an object has the key {what!r} twice"),
    (r"permission denied", "permission denied"),
    (r"no space left|out of disk|could not write to file", "the disk is full"),
    (r"too many open files", "too many files are open"),
    (r"no such file|does not exist|no files found", "it is no longer there"),
    (r"is a directory", "it is a folder"),
    (r"out of memory|failed to allocate", "it needs more memory than there is"),
    (r"invalid unicode|invalid utf|not valid utf", "its text is not UTF-8"),
    (r"expected (top-level )?json array|expected.*\bobjects?\b", "a row is no object"),
    (r"malformed json|json transform", "it is no valid JSON"),
    (
        r"no magic bytes|too small to be a parquet|parquet magic",
        "it is no Parquet file, or only a part of one",
    ),
    (
        r"not an arrow file|magic number|invalid flatbuffers",
        "it is no Arrow file, or only a part of one",
    ),
    (
        r"could not convert|conversion error|casting|failed to cast",
        "values of a column are of several kinds",
    ),
    (
        r"inflate|gzip|zlib|zstd|lzma|unexpected end|end-of-stream|truncated|eof|crc",
        "it is cut off or damaged",
    ),
)


def _told_problem(error: Exception) -> str | None:
    """Return what an error of another library means, if that is known."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror[0].lower() + error.strerror[1:]
    told = str(error)
    for pattern, problem in _PROBLEMS:
        match = re.search(pattern, told, re.IGNORECASE)
        if match:
            return problem.format(**match.groupdict())
    return None


def record_batches(
    relation: Any, rows: int, *, vector: int = VECTOR_ROWS
) -> Iterator[Any]:
    """Yield the rows of a relation as Arrow batches, bounded in rows and in bytes.

    DuckDB gives `vector` rows at a time; few, where nothing else bounds their bytes.
    """
    stream = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    waiting: list[Any] = []
    n_rows = n_bytes = 0
    for batch in stream(min(rows, vector)):
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
