"""Parquet files: only the columns that are asked for are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bayesieve.io._bad_rows import BadRows
from bayesieve.io._duckdb import identifier, literal, quoted
from bayesieve.io._format import Format, record_batches
from bayesieve.io._row_bounds import check_parquet

if TYPE_CHECKING:
    from bayesieve.io._files import DataFile

__all__ = ["Parquet"]


class Parquet(Format):
    """Columns with types of their own."""

    name = "parquet"
    told = "Parquet"
    endings = (".parquet", ".pq")

    def columns(self, file: DataFile) -> list[str]:
        """Names of the columns."""
        return list(file.connection.sql(f"FROM {_source(file)} LIMIT 0").columns)

    def batches(
        self,
        file: DataFile,
        names: Sequence[str],
        bad_rows: BadRows,
        types: Mapping[str, str],
        rows: int,
    ) -> Iterator[Any]:
        """Yield Arrow batches, after a look at how long values are."""
        file.check_columns(names)
        path, _ = file.readable
        told = repr(file.path)
        check_parquet(file.connection, path, names, file.longest, told=told)
        asked = ", ".join(f"{identifier(name)} AS c{i}" for i, name in enumerate(names))
        yield from record_batches(
            file.connection.sql(f"SELECT {asked} FROM {_source(file)}"), rows
        )


def _source(file: DataFile) -> str:
    return f"read_parquet({quoted(literal(file.readable[0]))})"
