"""What one row of a file may ask for: bounds that are looked at before memory is.

A packed file may unpack to a thousand times its size, and a file of a few kilobytes may
hold one row of gigabytes. Each check here is for one way of that, or for what DuckDB
does with it: leave a row out, or crash.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from bayesieve.io._duckdb import identifier, literal, needs, quoted

__all__ = [
    "VECTOR_ROWS",
    "check_last_row",
    "check_parquet",
    "oversized",
    "physical_memory",
    "refuse_deep_json",
    "too_long",
    "value_bytes",
]

# DuckDB gives rows in vectors of so many.
VECTOR_ROWS = 2048
_VECTOR_BYTES = 1 << 30
_DEEPEST = 1000  # nesting of JSON
_OPENING, _CLOSING = np.frombuffer(b"[{", np.uint8), np.frombuffer(b"]}", np.uint8)


def physical_memory() -> int:
    """Bytes of memory of this machine; some number where it does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 34


def too_long(what: str, longest: int) -> ValueError:
    """The error for a row that is longer than rows may be."""
    return ValueError(
        f"{what} must have at most {longest:,} bytes. Got more. Hint: if the file is "
        "what it should be, raise max_row_bytes."
    )


def refuse_deep_json(stream: Any, told: str, *, by_line: bool) -> None:
    """Refuse JSON that is nested without end, at which DuckDB before 2.0 crashes.

    Brackets within strings count as well, as far as the end of the line.
    """
    if int(needs("duckdb").__version__.split(".")[0]) >= 2:
        return
    depth = 0
    while block := stream.read(1 << 20):
        for number, part in enumerate(block.split(b"\n") if by_line else [block]):
            depth = 0 if number else depth
            opened = part.count(b"[") + part.count(b"{")
            if depth + opened <= _DEEPEST:
                depth = max(0, depth + opened - part.count(b"]") - part.count(b"}"))
                continue
            marks = np.frombuffer(part, np.uint8)
            steps = np.isin(marks, _OPENING).astype(np.int64)
            levels = depth + np.cumsum(steps - np.isin(marks, _CLOSING))
            if levels.max() > _DEEPEST:
                raise ValueError(
                    f"{told} is nested too deeply, more than {_DEEPEST:,} brackets."
                )
            depth = max(0, int(levels[-1]))


def oversized(error: Exception) -> bool:
    """Whether DuckDB stopped at a row that is longer than rows may be."""
    told = str(error).lower()
    # The last is of a line longer than two buffers.
    signs = ("maximum_object_size", "max_line_size", "not support a full read")
    return any(sign in told for sign in signs)


def check_last_row(
    path: str,
    compression: str | None,
    stream: Callable[[], Any],
    longest: int,
    n_bytes: int,
    *,
    told: str,
) -> None:
    """Refuse a CSV file whose last line DuckDB leaves out, without a word, as too long.

    Parameters
    ----------
    path : str
    compression : str or None
        How it is packed.
    stream : callable
        Opens the file, unpacked.
    longest : int
        Longest row.
    n_bytes : int
        Of the values that were read. Where the rest of the file is shorter than that,
        it need not be unpacked again, which costs a third of the time of counting.
    told : str
        What the file is called in messages.
    """
    size = os.path.getsize(path)
    if compression is None:
        if _last_line(path, size, longest) > longest:
            raise too_long(f"The last row of {told}", longest)
        return
    if compression == "gzip" and size > 4:
        with open(path, "rb") as file:
            file.seek(size - 4)
            unpacked = int.from_bytes(file.read(4), "little")
        if 0 <= unpacked - n_bytes <= longest:
            return
    length, ended = 0, False
    with stream() as lines:
        while block := lines.read(1 << 20):
            body = block.rstrip(b"\r\n")
            last = _last_break(body)
            if last >= 0 or (body and ended):
                length = len(body) - 1 - last
            else:
                length += len(body)
            ended = len(body) < len(block)
    if length > longest:
        raise too_long(f"The last row of {told}", longest)


def _last_break(block: bytes) -> int:
    """Place of the last end of a line, or -1."""
    return max(block.rfind(b"\n"), block.rfind(b"\r"))


def _last_line(path: str, size: int, longest: int) -> int:
    """Bytes of the last line of a file that is not blank; counted to the longest."""
    length, end = 0, size
    with open(path, "rb") as file:
        while end and length <= longest:
            start = max(0, end - (1 << 16))
            file.seek(start)
            block = file.read(end - start)
            body = block if length else block.rstrip(b"\r\n")
            last = _last_break(body)
            length += len(body) - 1 - last
            if last >= 0:
                break
            end = start
    return length


def value_bytes(column: Any) -> int:
    """Bytes of the values of an Arrow array of strings."""
    width = {"string": 4, "large_string": 8}.get(str(column.type))
    if width is None or not len(column):
        return 0
    ends = np.frombuffer(column.buffers()[1], np.dtype(f"i{width}"))
    return int(ends[column.offset + len(column)] - ends[column.offset])


def check_parquet(
    connection: Any, path: str, columns: Iterable[str], longest: int, *, told: str
) -> None:
    """Refuse values of a Parquet file that are too long, before they are unpacked.

    A value that comes again and again is stored once, so that a small file may hold any
    number of long ones.
    """
    parquet = needs("pyarrow.parquet")
    with parquet.ParquetFile(path) as file:
        metadata = file.metadata
        names = metadata.schema.names
    wanted = set(columns)
    repeated = False
    for group in range(metadata.num_row_groups):
        own = metadata.row_group(group)
        for place in range(own.num_columns):
            column = own.column(place)
            if column.path_in_schema.split(".")[0] not in wanted:
                continue
            values = max(column.num_values, 1)
            if column.total_uncompressed_size > longest * values:
                raise too_long(f"A value of {told}", longest)
            dictionary = any("DICTIONARY" in own for own in column.encodings)
            strings = column.physical_type == "BYTE_ARRAY"
            repeated |= dictionary and strings
    if not repeated:
        return
    total = " + ".join(
        f"coalesce(strlen({identifier(name)}::VARCHAR), 0)"
        for name in wanted
        if name in names
    )
    source = f"read_parquet({quoted(literal(path))}, file_row_number = true)"
    [(row, vector)] = connection.execute(
        f"SELECT max(a), max(b) FROM (SELECT max({total}) AS a, sum({total}) AS b "
        f"FROM {source} GROUP BY file_row_number // {VECTOR_ROWS})"
    ).fetchall()
    if row is not None and row > longest:
        raise too_long(f"A row of {told}", longest)
    if vector is not None and vector > max(_VECTOR_BYTES, 32 * longest):
        raise ValueError(
            f"{told} unpacks to {int(vector):,} bytes in {VECTOR_ROWS:,} rows, more "
            f"than the {max(_VECTOR_BYTES, 32 * longest):,} that fit. Hint: if it is "
            "what it should be, raise max_row_bytes."
        )
