"""Arrow IPC files and streams, and Feather."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._duckdb import needs
from bayesieve.io._format import Format
from bayesieve.io._frames import plain_values

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["Arrow"]


class Arrow(Format):
    """Columns with types of their own, in batches as they were written."""

    name = "arrow"
    told = "Arrow"
    endings = (".arrow", ".feather", ".ipc", ".arrows")

    def columns(self, file: DataFile) -> list[str]:
        """Names of the columns; those that are there twice are made unique."""
        with _opened(file) as (schema, _):
            return file.unique_names(schema.names)

    def batches(
        self,
        file: DataFile,
        names: Sequence[str],
        bad_rows: BadRows,
        types: Mapping[str, str],
        rows: int,
    ) -> Iterator[Any]:
        """Yield the batches of the file, cut into pieces of so many rows."""
        file.check_columns(names)
        places = [file.columns.index(name) for name in names]
        with _opened(file) as (_, batches):
            for batch in batches:
                whole = _plain(batch.select(places))
                for begin in range(0, whole.num_rows, rows):
                    yield whole.slice(begin, rows)


def _plain(batch: Any) -> Any:
    """Return a batch whose columns are called by places and hold values, not codes."""
    pyarrow = needs("pyarrow")
    columns = [
        own.dictionary_decode()
        if pyarrow.types.is_dictionary(own.type)
        else plain_values(own)
        for own in batch.columns
    ]
    names = [f"c{i}" for i in range(len(columns))]
    return pyarrow.RecordBatch.from_arrays(columns, names=names)


@contextmanager
def _opened(file: DataFile) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Open a file, such as Feather, or a stream: (schema, batches)."""
    pyarrow = needs("pyarrow")
    path, _ = file.readable
    with pyarrow.memory_map(path) as source:
        head = source.read(6)
        source.seek(0)
        if head == b"ARROW1":
            with needs("pyarrow.ipc").open_file(source) as reader:
                numbers = range(reader.num_record_batches)
                yield reader.schema, map(reader.get_batch, numbers)
        else:
            with needs("pyarrow.ipc").open_stream(source) as reader:
                yield reader.schema, iter(reader)
