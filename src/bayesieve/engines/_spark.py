"""Spark: each partition is counted where it is, and each group added up by one task.

Partitions become tables through `mapInArrow`. Tables are pickled, cut into rows of
bytes and shuffled by group; each group is added up where it arrives. What is wrong with
the data travels as a row as well, so that the driver can raise a plain ValueError.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from bayesieve.engines._adding import Counting, Merger, T, no_rows
from bayesieve.engines._spark_vectors import feature_matrix, label_values
from bayesieve.io._near_names import check_column

_SCHEMA = "slot int, part int, piece int, payload binary"
# Arrow batches of Spark hold up to 10,000 rows and must stay below 2 GB.
_PIECE = 1 << 16
_PIECES_PER_BATCH = 256
_PROBLEM = -1


def count_on_spark(
    frame: Any,
    counting: Counting[T],
    *,
    text: str | None = None,
    label: str = "label",
    features: Any = None,
) -> list[T]:
    """Count a Spark DataFrame: the total of each group."""
    names = _column_names(frame, text, label, features)
    check_python(frame)
    # Where there is one group, a first round adds up as many tables as there are
    # tasks, a second one the rest.
    lanes = _parallelism(frame) if counting.groups == 1 else 1
    # By number: mapInArrow stumbles over names with a dot in them.
    quoted = ("`" + name.replace("`", "``") + "`" for name in names)
    columns = [f"{name} AS c{number}" for number, name in enumerate(quoted)]
    counted = frame.selectExpr(*columns).mapInArrow(
        _counting(counting, text is not None, names[:-1], lanes), _SCHEMA
    )
    if lanes > 1:
        counted = _shuffled(counted, lanes).mapInArrow(
            _merging(counting, last=False), _SCHEMA
        )
    totals = _shuffled(counted, counting.groups).mapInArrow(
        _merging(counting, last=True), _SCHEMA
    )
    try:
        rows = totals.collect()
    except Exception as error:
        raise _explained(error) from error
    tables: dict[int, list[tuple[int, bytes]]] = {}
    for row in rows:
        if row.slot == _PROBLEM:
            raise ValueError(bytes(row.payload).decode())
        tables.setdefault(row.slot, []).append((row.piece, bytes(row.payload)))
    if not tables:
        raise no_rows()
    return [
        pickle.loads(b"".join(payload for _, payload in sorted(tables[slot])))
        for slot in sorted(tables)
    ]


def _column_names(frame: Any, text: Any, label: Any, features: Any) -> list[str]:
    """Return the columns to read, the label last; wrong names are an error."""
    if (text is None) == (features is None):
        raise ValueError(
            "from_spark counts either text=, the name of a column of strings, or "
            "features=, the name of a column of vectors or arrays or a list of "
            f"numeric columns. Got {'neither' if text is None else 'both'}."
        )
    if not hasattr(frame, "mapInArrow"):
        raise TypeError(
            "The 'frame' parameter of from_spark must be a Spark DataFrame. "
            f"Got {type(frame).__module__}.{type(frame).__qualname__}."
        )
    wanted = [text] if text is not None else features
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    names.append(label)
    for name in names:
        check_column(name, frame.columns, "the DataFrame")
    return names


def _parallelism(frame: Any) -> int:
    try:
        return max(1, int(frame.sparkSession.sparkContext.defaultParallelism))
    except Exception:  # Spark Connect has no context
        return 8


def default_groups(frame: Any) -> int:
    """Return how many groups of terms are merged at the same time."""
    return min(256, _parallelism(frame)) if hasattr(frame, "sparkSession") else 1


# --------------------------------------------------------------------------- Python


def check_python(frame: Any) -> None:
    """Refuse a local session whose workers run another Python.

    A cluster has its own paths: there only the worker itself can tell.
    """
    try:
        context = frame.sparkSession.sparkContext
        master, program = str(context.master), str(context.pythonExec)
    except Exception:  # Spark Connect has no context
        return
    if not master.startswith("local"):
        return
    found = shutil.which(program)
    if found is not None and os.path.abspath(found) == os.path.abspath(sys.executable):
        return
    prefix = ""
    if found is not None:
        answer = subprocess.run(
            [found, "-c", "import sys; print(sys.prefix)"],
            capture_output=True,
            text=True,
            check=False,
        )
        prefix = answer.stdout.strip()
    if prefix != sys.prefix:
        raise RuntimeError(
            "Spark's workers must run the Python of this process, which has bayesieve. "
            f"Got {program!r}, and this is {sys.executable!r}. Hint: set "
            "PYSPARK_PYTHON to sys.executable before the session is made."
        )


def _explained(error: Exception) -> Exception:
    """Return the error with a hint, where one is known."""
    message = str(error)
    if "No module named 'bayesieve" in message:
        return RuntimeError(
            "Spark's workers have no bayesieve. Hint: install it for the Python that "
            "PYSPARK_PYTHON names on every worker."
        )
    if "PYTHON_VERSION_MISMATCH" in message:
        return RuntimeError(
            "Spark's workers run another version of Python. Hint: set PYSPARK_PYTHON "
            "to an interpreter of the same version before the session is made."
        )
    if "maxResultSize" in message:
        return RuntimeError(
            "The counts do not fit through spark.driver.maxResultSize. Hint: raise it, "
            "or drop rare terms on the workers with min_df."
        )
    return error


# --------------------------------------------------------------------------- workers


def _counting(
    counting: Counting[T], texts: bool, names: list[str], lanes: int
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Make the function that turns the rows of a partition into serialised tables."""

    def count(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        part = 0 if context is None else context.partitionId()
        try:
            tables = counting.count(_read(batches, texts, names))
        except (ValueError, TypeError) as error:
            _drain(batches)
            yield from _problem(part, f"Partition {part}: {error}")
            return
        for group, table in enumerate(tables or ()):
            # Without groups, tables go to lanes in turn.
            slot = group if lanes == 1 else part % lanes
            yield from _rows(slot, part, table)

    return count


def _drain(batches: Iterator[Any]) -> None:
    """Read to the end: Spark takes a worker that stops reading for a broken one."""
    for _ in batches:
        pass


def _read(
    batches: Iterable[Any], texts: bool, names: list[str]
) -> Iterator[tuple[Any, Any]]:
    for batch in batches:
        if not batch.num_rows:
            continue
        labels = label_values(batch.column(batch.num_columns - 1))
        if texts:
            yield batch.column(0), labels
        else:
            yield feature_matrix(batch, names), labels


def _merging(
    counting: Counting[T], *, last: bool
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Make the function that adds up the tables of each slot of a partition.

    The last round leaves one table for each slot; an earlier one sends what it has to
    slot 0.
    """

    def totals(slot: int, merger: Merger[T]) -> Iterator[Any]:
        try:
            total = merger.total()
            assert total is not None  # at least one table was added
            if last:
                total = counting.reduce(total)
        except ValueError as error:
            yield from _problem(slot, str(error))
            return
        yield from _rows(slot if last else 0, slot, total)

    def merge(batches: Iterator[Any]) -> Iterator[Any]:
        slot, merger = None, Merger(counting.add)
        for found, part, payload in _payloads(batches):
            if found == _PROBLEM:
                _drain(batches)
                yield from _problem(part, payload.decode())
                return
            if slot is not None and found != slot:
                yield from totals(slot, merger)
                merger = Merger(counting.add)
            slot = found
            try:
                merger.add(pickle.loads(payload))
            except ValueError as error:
                _drain(batches)
                yield from _problem(part, f"Partition {part}: {error}")
                return
        if slot is not None:
            yield from totals(slot, merger)

    return merge


# --------------------------------------------------------------------------- rows


def _shuffled(counted: Any, n_slots: int) -> Any:
    """Bring the rows of a slot together, tables one after the other in order."""
    return counted.repartition(n_slots, "slot").sortWithinPartitions(
        "slot", "part", "piece"
    )


def _rows(slot: int, part: int, table: Any) -> Iterator[Any]:
    """Serialise a table into record batches of small rows of bytes."""
    payload = memoryview(pickle.dumps(table, protocol=5))
    for first in range(0, len(payload), _PIECE * _PIECES_PER_BATCH):
        block = payload[first : first + _PIECE * _PIECES_PER_BATCH]
        pieces = [block[at : at + _PIECE] for at in range(0, len(block), _PIECE)]
        yield _record_batch(slot, part, first // _PIECE, pieces)


def _problem(part: int, message: str) -> Iterator[Any]:
    yield _record_batch(_PROBLEM, part, 0, [message.encode()])


def _record_batch(slot: int, part: int, piece: int, pieces: list[Any]) -> Any:
    import pyarrow as pa

    n = len(pieces)
    return pa.record_batch(
        {
            "slot": pa.array(np.full(n, slot, dtype=np.int32)),
            "part": pa.array(np.full(n, part, dtype=np.int32)),
            "piece": pa.array(np.arange(piece, piece + n, dtype=np.int32)),
            "payload": pa.array([bytes(item) for item in pieces], type=pa.binary()),
        }
    )


def _payloads(batches: Iterable[Any]) -> Iterator[tuple[int, int, bytes]]:
    """Put the rows of each table together again; they come sorted."""
    key: tuple[int, int] | None = None
    pieces: list[bytes] = []
    for batch in batches:
        slots, parts = (batch.column(i).to_pylist() for i in (0, 1))
        for slot, part, piece in zip(
            slots, parts, batch.column(3).to_pylist(), strict=True
        ):
            if key is not None and key != (slot, part):
                yield *key, b"".join(pieces)
                pieces = []
            key = (slot, part)
            pieces.append(piece)
    if key is not None:
        yield *key, b"".join(pieces)
