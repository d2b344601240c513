"""Tables of pandas, polars and Arrow as Arrow tables whose columns have names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from bayesieve.io._duckdb import needs
from bayesieve.io._labels import is_missing

__all__ = ["as_arrow", "check_same_types", "one_table", "plain_values"]

_SECONDS = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def as_arrow(source: Any) -> Any:
    """Return a frame as an Arrow table; values that Arrow does not know as strings."""
    pyarrow, kind = needs("pyarrow"), type(source).__name__
    if isinstance(source, pyarrow.RecordBatch):
        source = pyarrow.Table.from_batches([source])
    is_pandas = hasattr(source, "iloc") and hasattr(source, "columns")
    is_polars = hasattr(source, "to_arrow") and hasattr(source, "columns")
    if not (is_pandas or is_polars or isinstance(source, pyarrow.Table)):
        hint = " Hint: to_frame() makes a table of it." if kind == "Series" else ""
        raise TypeError(
            "A source must be a path, a list of paths, or a table of pandas, polars or "
            f"Arrow. Got {kind}.{hint}"
        )
    if is_pandas and getattr(source.columns, "nlevels", 1) > 1:
        raise ValueError(
            f"Columns must have one name each. Got names of {source.columns.nlevels} "
            "levels. Hint: frame.columns = ['_'.join(map(str, own)) for own in frame]"
        )
    names = source.column_names if not (is_pandas or is_polars) else source.columns
    names = [str(name) for name in names]
    _check_names(names, kind)
    if not len(source):
        raise ValueError(f"The {kind} is empty: it has no rows.")
    if is_pandas:
        found = [_of_pandas(source.iloc[:, i], own) for i, own in enumerate(names)]
    elif is_polars:
        found = [_of_polars(source[:, i]) for i in range(len(names))]
    else:
        found = source.columns
    return pyarrow.table([plain_values(own) for own in found], names=names)


def _check_names(names: list[str], kind: str) -> None:
    if not names:
        raise ValueError(f"The {kind} is empty: it has no columns.")
    twice = [name for name, number in Counter(names).items() if number > 1]
    if twice:
        raise ValueError(
            "The columns of a table must have different names. Got more than one "
            f"{twice[0]!r}."
        )


def _of_pandas(column: Any, name: str) -> Any:
    pyarrow = needs("pyarrow")
    kind = str(column.dtype)
    if kind.startswith("complex"):
        raise ValueError(
            f"Column {name!r} holds {kind}, and a number must have one part. Hint: "
            "take .real and .imag as two columns, or leave it out."
        )
    if kind.startswith("Sparse"):
        column = column.sparse.to_dense()
    elif kind == "category" and column.cat.categories.dtype.kind == "O":
        column = column.cat.rename_categories(column.cat.categories.map(str))
    elif kind.startswith(("interval", "period")):
        return _strings(column)
    try:
        return pyarrow.array(column, from_pandas=True)
    except (pyarrow.ArrowException, TypeError, OverflowError):  # of several types
        return _strings(column)


def _of_polars(column: Any) -> Any:
    if str(column.dtype) == "Object":
        return _strings(column)
    if str(column.dtype).endswith("Int128"):
        column = column.cast(type(column)([""]).dtype)
    return column.to_arrow()


def _strings(values: Iterable[Any]) -> Any:
    """Return values as they would be written, missing ones as such."""
    written = [None if is_missing(value) else str(value) for value in values]
    return needs("pyarrow").array(written, needs("pyarrow").string())


def plain_values(column: Any) -> Any:
    """Return an Arrow column with durations as numbers of seconds."""
    pyarrow = needs("pyarrow")
    if not pyarrow.types.is_duration(column.type):
        return column
    ticks = column.cast(pyarrow.int64()).cast(pyarrow.float64(), safe=False)
    return needs("pyarrow.compute").divide(ticks, _SECONDS[column.type.unit])


# ------------------------------------------------------------- files read together


def check_same_types(
    names: Sequence[str], first: tuple[str, Any], other: tuple[str, Any]
) -> None:
    """Refuse (path, schema) of a file whose columns do not fit those of the first."""
    pyarrow = needs("pyarrow")
    if first[1].types == other[1].types:
        return
    for name, one, two in zip(names, first[1], other[1], strict=True):
        if one.type == two.type:
            continue
        own = [pyarrow.schema([("", field.type)]) for field in (one, two)]
        try:
            pyarrow.unify_schemas(own, promote_options="permissive")
        except (pyarrow.ArrowException, TypeError):
            raise ValueError(
                "Tables that are read together must have the same types. Got column "
                f"{name!r} as {two.type} in {other[0]!r}, and as {one.type} in "
                f"{first[0]!r}."
            ) from None


def one_table(batches: Sequence[Any]) -> Any:
    """Return the rows of batches whose types may differ as 1 and 1.0 do."""
    pyarrow = needs("pyarrow")
    schema = batches[0].schema
    if all(own.schema == schema for own in batches):
        return pyarrow.Table.from_batches(batches).combine_chunks()
    tables = [pyarrow.Table.from_batches([own]) for own in batches]
    return pyarrow.concat_tables(tables, promote_options="permissive").combine_chunks()
