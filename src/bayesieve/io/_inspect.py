"""What is in a table: the role, kind and examples of each column, and what is odd."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.io import _row_bounds
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._column_format import Marks, ReadColumn
from bayesieve.io._column_kinds import read_columns
from bayesieve.io._duckdb import needs
from bayesieve.io._files import DataFile, find_files, open_files
from bayesieve.io._frames import as_arrow, check_same_types, one_table
from bayesieve.io._labels import is_missing, label_problem
from bayesieve.io._near_names import check_column
from bayesieve.io._read_options import KINDS, ReadOptions
from bayesieve.io._roles import (
    SAMPLE_ROWS,
    guess_roles,
    is_called_label,
    left_out,
    n_distinct,
    n_missing,
)
from bayesieve.io._suspicions import gives_label_away, odd_labels, repeated_rows
from bayesieve.utils._scripts import script_of

__all__ = ["ColumnFacts", "Inspection", "column_facts", "inspect", "inspect_table"]

#: Roles of columns that say nothing, by the reason.
ROLES = {"identifier": "id", "constant": "constant", "nested": "ignored"}
_EXAMPLES = 3
_LONGEST_EXAMPLE = 40


@dataclass(frozen=True)
class ColumnFacts:
    """What is known of a column.

    Attributes
    ----------
    name : str
    role : {"label", "text", "number", "category", "date", "id", "constant", "ignored"}
        What the column is used for. Of the last three `select` makes no use.
    type : str
        What its values are: "integer", "decimal", "date", "string", ...
    missing : int
        Rows without a value.
    distinct : int
        Different values.
    examples : list of str
    notes : list of str
        What was guessed about the column, and what is suspicious.
    """

    name: str
    role: str
    type: str
    missing: int
    distinct: int
    examples: list[str]
    notes: list[str]


@dataclass(frozen=True)
class Inspection:
    """What is in a table.

    Attributes
    ----------
    name : str
    n_rows : int
        Rows that were looked at.
    columns : list of ColumnFacts
        In the order of the table.
    notes : list of str
        What is to be said about all of it, such as its encoding or repeated rows.
    """

    name: str
    n_rows: int
    columns: list[ColumnFacts]
    notes: list[str]

    @property
    def label(self) -> str | None:
        """The column of labels, as said or guessed."""
        found = [own.name for own in self.columns if own.role == "label"]
        return found[0] if found else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as ``bayesieve inspect --json`` prints them."""
        return asdict(self)

    def __str__(self) -> str:
        rows = [("column", "role", "type", "missing", "distinct", "examples")]
        for own in self.columns:
            shown = ", ".join(own.examples)
            counts = f"{own.missing:,}", f"{own.distinct:,}"
            rows.append((own.name, own.role, own.type, *counts, shown))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True))
            for row in rows
        ]
        told = [f"{own.name}: {note}" for own in self.columns for note in own.notes]
        head = f"{self.name}: {self.n_rows:,} rows, {len(self.columns):,} columns"
        return "\n".join([head, *map(str.rstrip, lines), *self.notes, *told])


def inspect(
    source: Any,
    *,
    label: str | None = None,
    text: str | Sequence[str] | None = None,
    types: Mapping[str, str] | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    sep: str | None = None,
    header: bool = True,
    sheet: str | int | None = None,
) -> Inspection:
    """Look at a table: what each column is, and what is suspicious about it.

    The same is done when ``bayesieve select`` reads a file, so this shows what a model
    will see before there is one.

    Parameters
    ----------
    source : path, list of paths, or table
        Files of any kind that can be read (globs too), or a table of pandas, polars or
        Arrow.
    label : str, optional
        The column of labels; guessed from names and values unless given.
    text : str or sequence of str, optional
        Columns of texts; guessed unless given.
    types : dict of str to str, optional
        What columns are: "number", "category", "text", "date" (or with its format, as
        "date:%d.%m.%Y") or "ignore".
    decimal, thousands : str, optional
        Marks of numbers in files of text; found out by column unless given.
    encoding, sep, header, sheet
        How files are read; found out unless given. `header` says whether the first row
        has the names of the columns, `sheet` is that of a workbook.

    Returns
    -------
    found : Inspection
        Has `columns`, each with `role`, `type`, `missing`, `distinct`, `examples` and
        `notes`; `notes` on the whole; `to_dict()`.

    Notes
    -----
    Rows are held in memory; of files that take more than a quarter of it, the first
    rows that fit are looked at, which is noted.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayesieve.io import inspect
    >>> frame = pd.DataFrame({
    ...     "customer": [f"c{i:03}" for i in range(40)],
    ...     "income": ["25,000", "1,250"] * 20,
    ...     "bought": ["yes", "no"] * 20,
    ... })
    >>> found = inspect(frame)
    >>> [(own.name, own.role) for own in found.columns]
    [('customer', 'id'), ('income', 'number'), ('bought', 'label')]
    """
    options = ReadOptions(encoding, sep, header, sheet)
    label = None if label is None else str(label)  # frames may number their columns
    texts = [text] if isinstance(text, str) else list(map(str, text or ()))
    kinds = {str(own): kind for own, kind in (types or {}).items()}
    marks = Marks(decimal, thousands)
    if isinstance(source, str | os.PathLike):
        source = [source]
    if isinstance(source, list | tuple) and all(
        isinstance(item, str | os.PathLike) for item in source
    ):
        paths = find_files([os.fspath(item) for item in source])
        files = open_files(paths, options=options)
        for file in files:
            if file.format.is_matrix:
                raise ValueError(
                    f"{file.path!r} holds a matrix, whose columns have no names and "
                    "are all numbers: there is nothing to find out."
                )
        table, notes, _ = read_whole(files)
        name = os.path.basename(paths[0])
        names = list(files[0].columns)
        return inspect_table(
            table,
            names,
            name=name,
            label=label,
            texts=texts,
            kinds=kinds,
            marks=marks,
            notes=notes,
        )
    table = as_arrow(source)
    return inspect_table(
        table,
        table.column_names,
        name=type(source).__name__,
        label=label,
        texts=texts,
        kinds=kinds,
        marks=marks,
        notes=[],
    )


def read_whole(files: Sequence[DataFile]) -> tuple[Any, list[str], int]:
    """Read all columns of files, as many rows as a quarter of the memory holds.

    Rows that cannot be read are noted and counted: the last value.
    """
    names = files[0].columns
    if not names:
        raise ValueError(f"{files[0].path!r} is empty: it has no columns and no rows.")
    bad_rows, most = BadRows(True), _row_bounds.physical_memory() // 4
    batches, n_bytes, notes, first = [], 0, [], None
    for file in files:
        for batch in file.batches(names, bad_rows):
            if file.format.leaves_gaps:
                batch = _without_gaps(batch, bad_rows, file)
            first = first or (file.path, batch.schema)
            check_same_types(names, first, (file.path, batch.schema))
            batches.append(batch)
            n_bytes += batch.nbytes
            if n_bytes > most:
                n_rows = sum(own.num_rows for own in batches)
                notes.append(f"Only the first {n_rows:,} rows were looked at.")
                break
        else:
            continue
        break
    if not sum(batch.num_rows for batch in batches):
        raise ValueError(f"{files[0].path!r} has no rows.")
    table = one_table(batches)
    found = [note for file in files for note in file.notes]
    if bad_rows.skipped:
        rows = "1 row" if bad_rows.skipped == 1 else f"{bad_rows.skipped:,} rows"
        notes.append(f"{rows} cannot be read. The first: {bad_rows.first}")
    return table, [*dict.fromkeys(found), *notes], bad_rows.skipped


def _without_gaps(batch: Any, bad_rows: BadRows, file: DataFile) -> Any:
    """Leave out rows without any value, which may be lines that cannot be read."""
    empty = np.ones(batch.num_rows, dtype=bool)
    for column in batch.columns:
        empty &= column.is_null().to_numpy(zero_copy_only=False)
    if not empty.any():
        return batch
    told = f"A line of {file.path!r} has no values, or cannot be read."
    bad_rows.found(int(empty.sum()), told)
    return batch.filter(needs("pyarrow").array(~empty))


def inspect_table(
    table: Any,
    names: Sequence[str],
    *,
    name: str,
    label: str | None,
    texts: Sequence[str],
    kinds: Mapping[str, str],
    marks: Marks,
    notes: Iterable[str],
    guess_texts: bool = True,
) -> Inspection:
    """Say what the columns of an Arrow table are; those of roles not given guessed."""
    for own in (label, *texts, *kinds):
        if own is not None:
            check_column(own, names, repr(name))
    for own, kind in kinds.items():
        if kind not in KINDS and not kind.startswith("date:"):
            raise ValueError(
                f"Kinds of columns must be among {', '.join(KINDS)}. Got {kind!r} for "
                f"{own!r}."
            )
    ignored = [own for own, kind in kinds.items() if kind == "ignore"]
    sample = {
        own: table.column(i)[:SAMPLE_ROWS].to_pylist()
        for i, own in enumerate(names)
        if own not in ignored
    }
    roles = guess_roles(sample, label=label)
    if not texts and guess_texts:
        texts = [own for own in roles.texts if own not in kinds]
    said = {own: kind for own, kind in kinds.items() if kind != "ignore"}
    said |= dict.fromkeys(texts, "text")
    guessed, label = label is None, label or roles.label
    if label is not None:
        said[label] = "category"
    read = read_columns(table, names, kinds=said, marks=marks)
    codes, n_classes = _codes(read, names, label)
    every = [*notes]
    if len(names) == 1:
        every.append(f"{names[0]!r} is the only column: a label must be in another.")
    elif label is None:
        every.append("Which column is the label is not clear: --label COL says it.")
    unclear = guessed and not (label and is_called_label(label))
    facts = []
    for column in read:
        role = _role(column, label, ignored, said)
        found = [f"read {column.guessed}"] if column.guessed else []
        found += [column.doubt] if column.doubt else []
        if role == "label" and guessed:
            others = [repr(own) for own in roles.labels if own != label][:4]
            others = [] if is_called_label(column.name) else others
            other = f"; it could be {' or '.join(others)}" if others else ""
            found.append(f"guessed to be the label{other}")
        if codes is not None and role in ("number", "category", "date"):
            share = gives_label_away(column, codes, n_classes)
            if share is not None:
                found.append(
                    f"tells the label in {100 * share:.4g} % of the rows; a column "
                    "that is known only once the label is must be left out"
                )
        if unclear and is_called_label(column.name):
            found.append(_why_no_label(column))
        if column.kind == "nested":
            found.append("holds lists or objects, and not one value a row: not used")
        of_role = _label_facts if role == "label" else column_facts
        facts.append(of_role(column, role, found))
    repeated = repeated_rows(read, np.zeros(table.num_rows, dtype=np.int64))
    if repeated:
        rows = "1 row repeats" if repeated == 1 else f"{repeated:,} rows repeat"
        every.append(f"{rows} an earlier one in every column.")
    return Inspection(name, table.num_rows, facts, every)


def _codes(
    read: Sequence[ReadColumn], names: Sequence[str], label: str | None
) -> tuple[NDArray[np.int64] | None, int]:
    if label is None:
        return None, 0
    values, codes = _coded(read[list(names).index(label)])
    found = {value: n for n, value in enumerate(dict.fromkeys(values))}
    return np.array([found[value] for value in values])[codes], len(found)


def _why_no_label(own: ReadColumn) -> str:
    """Say why a column was not taken for the label that its name says it is."""
    classes, rows = _classes(own)
    problem = label_problem(classes, sum(rows))
    if problem:
        return f"is called as labels are, and {problem}"
    return (
        f"is called as labels are, and has many different values ({len(classes):,}): "
        f"--label '{own.name}' takes it"
    )


def _label_facts(own: ReadColumn, role: str, notes: list[str]) -> ColumnFacts:
    """What is known of labels, of which "None" is one and no missing value."""
    classes, rows = _classes(own)
    missing = len(own.values) - sum(rows)
    problem = label_problem(classes, sum(rows))
    notes = [*notes, *([problem] if problem else ())]
    if missing and classes:
        has = "1 row" if missing == 1 else f"{missing:,} rows"
        notes.append(
            f"has no value in {has}: select stops there, and --skip-bad-rows leaves "
            "them out"
        )
    return replace(
        column_facts(own, role, [*notes, *odd_labels(own.name, classes, rows)]),
        missing=missing,
        distinct=len(classes),
        examples=_examples(np.array([*classes, None], dtype=object)),
    )


def _classes(own: ReadColumn) -> tuple[list[Any], list[int]]:
    """Labels as they are written, and how many rows each has."""
    values, codes = _coded(own)
    there: Counter[Any] = Counter()
    for value, rows in zip(values, np.bincount(codes).tolist(), strict=False):
        if value is not None and rows:
            there[value] += rows
    return list(there), list(there.values())


def _coded(own: ReadColumn) -> tuple[list[Any], NDArray[np.int64]]:
    """Labels as they are written, None where there is none, and that of each row."""
    if own.strings is not None:
        values, codes = [*own.strings.values.to_pylist(), ""], own.strings.codes
    else:
        found: dict[Any, int] = {}
        rows = [found.setdefault(value, len(found)) for value in list(own.values)]
        values, codes = list(found), np.array(rows, dtype=np.int64)
    labels = [None if own == "" or is_missing(own) else own for own in values]
    return labels, np.asarray(codes, dtype=np.int64)


def _role(
    own: ReadColumn, label: str | None, ignored: Sequence[str], said: Mapping[str, Any]
) -> str:
    if own.name == label:
        return "label"
    if own.name in ignored:
        return "ignored"
    why = "" if own.name in said else left_out(own)
    return ROLES.get(why, own.kind)


def column_facts(own: ReadColumn, role: str, notes: list[str]) -> ColumnFacts:
    """What is known of a column with a role."""
    values = np.asarray(own.values)
    if own.kind == "number" and values.dtype == object:  # decimal numbers
        values = values.astype(np.float64)
    missing, distinct = n_missing(own), n_distinct(own)
    kind = "string"
    if values.dtype.kind in "iuf":
        there = values[values == values]
        kind = "integer" if (there == np.floor(there)).all() else "decimal"
    elif own.kind in ("date", "nested"):
        kind = own.kind
    elif role == "text":
        kind = f"text ({script_of([str(value or '') for value in values[:1000]])})"
    if kind == "string" and distinct == 2:
        some = own.strings.values.to_pylist() if own.strings else values.tolist()
        lower = {str(value).lower() for value in some if value not in (None, "")}
        kind = "boolean" if lower == {"true", "false"} else kind
    return ColumnFacts(
        own.name, role, kind, missing, distinct, _examples(values), notes
    )


def _examples(values: NDArray[Any]) -> list[str]:
    """Some different values, each as it would be written."""
    found: dict[str, None] = {}
    for value in values[:1000].tolist() if values.dtype.kind != "M" else values[:1000]:
        if value is None or value != value:
            continue
        if isinstance(value, float):
            shown = f"{value:.6g}"
        elif isinstance(value, np.datetime64):
            shown = str(np.datetime_as_string(value, unit="s")).replace("T00:00:00", "")
        else:
            shown = str(value)
        if len(shown) > _LONGEST_EXAMPLE:
            shown = shown[: _LONGEST_EXAMPLE - 1] + "\u2026"
        found[shown] = None
        if len(found) == _EXAMPLES:
            break
    return list(found)
