"""Which rows files of sequences have, files or records, and the label of each."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.cli._columns import Columns, choose_columns
from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._labelled_rows import LabelledRows, Labels, as_labels
from bayesieve.cli._progress import Progress
from bayesieve.cli._told import listed, tell
from bayesieve.counts._row_labels import folder_of_file, names_of_file
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._labels import LabelCodes, label_problem
from bayesieve.io._near_names import check_column
from bayesieve.sequences._reading import read_headers

__all__ = ["SequenceRows", "known_labels", "refuse_standard_input"]

Codes = NDArray[np.int64]


def refuse_standard_input(files: DataFiles) -> None:
    """Stop at standard input: which row it is cannot be told."""
    if "-" in files.paths:
        raise CommandError(
            "sequences must be in files, whose names tell one row from another. "
            "Got -, standard input."
        )


def names_of_record(header: str) -> list[str]:
    """What a record may be called: its header, or the first word of it."""
    return list(dict.fromkeys([header, *header.split()[:1]]))


class _LabelTable:
    """A table that names rows and says their labels.

    Attributes
    ----------
    files : DataFiles
    names : str
        The column that names the rows.
    columns : Columns
        Its label, said, or `usual`, or guessed.
    """

    def __init__(
        self,
        arguments: argparse.Namespace,
        rows: list[list[str]],
        noun: str,
        usual: str | None = None,
    ) -> None:
        given = vars(arguments) | {"data": [arguments.labels]}
        self.files = DataFiles.of(argparse.Namespace(**given))
        if self.files.is_saved or self.files.is_matrix or self.files.is_sequences:
            raise CommandError(
                f"--labels must be a table of names and labels. Got {self._shown}."
            )
        self.names = self._column_of_names(arguments.label, rows, noun)
        self.columns = self._label(arguments, usual)
        how = " (guessed; --label COL is another)" if self.columns.guessed else ""
        tell(
            f"the labels of {self._shown} are in column {self.columns.label!r}{how}, "
            f"the names in {self.names!r}"
        )

    @property
    def _shown(self) -> str:
        return repr(self.files.paths[0])

    def _column_of_names(
        self, label: str | None, rows: list[list[str]], noun: str
    ) -> str:
        """The column that names most of the rows."""
        wanted = {name: i for i, own in enumerate(rows) for name in reversed(own)}
        named: dict[str, set[int]] = {own: set() for own in self.files.columns}
        for _, _, batch in self.files.rows(self.files.columns):
            for name, values in zip(self.files.columns, batch.columns, strict=True):
                for value in values.to_pylist():
                    place = wanted.get(_written(value))
                    if place is not None:
                        named[name].add(place)
        named.pop(label or "", None)
        best = max(named, key=lambda own: len(named[own]), default="")
        if not named or not named[best]:
            raise CommandError(
                f"no column of {self._shown} names the {noun}: {rows[0][0]!r} is in "
                f"none of {listed(list(named))}."
            )
        return best

    def _label(self, arguments: argparse.Namespace, usual: str | None) -> Columns:
        """The column of labels: said, usual, the only one left, or guessed."""
        free = [own for own in self.files.columns if own != self.names]
        if arguments.label is not None:
            check_column(arguments.label, self.files.columns, self._shown)
            return Columns(arguments.label, [], [], {})
        if not free:
            raise CommandError(
                f"{self._shown} has no column besides the names {self.names!r}."
            )
        if usual in free:
            return Columns(usual, [], [], {})
        if len(free) == 1:
            return Columns(free[0], [], [], {"--label": free[0]})
        drop = [*arguments.drop, self.names]
        given = vars(arguments) | {"drop": drop, "no_text": True}
        return choose_columns(self.files, argparse.Namespace(**given))

    def read(self) -> tuple[Labels, dict[str, int]]:
        """Return the classes, and the class number of each name."""
        label = self.columns.label
        assert label is not None
        rows = LabelledRows(self.files, [self.names], label)
        found: dict[str, int] = {}
        for codes, batch in rows.batches("Reading"):
            names = map(_written, batch.column(0).to_pylist())
            for name, code in zip(names, codes.tolist(), strict=True):
                before = found.setdefault(name, code)
                if before != code:
                    a, b = rows.labels.classes[[before, code]].tolist()
                    raise CommandError(
                        f"{self._shown} names {name!r} more than once, with the labels "
                        f"{a!r} and {b!r}."
                    )
        return rows.labels, found

    def values(self) -> dict[str, Any]:
        """Return the label of each name as it is written, whatever there is."""
        label = self.columns.label
        assert label is not None
        found: dict[str, Any] = {}
        for _, _, batch in self.files.rows([self.names, label]):
            names = map(_written, batch.column(0).to_pylist())
            for name, own in zip(names, batch.column(1).to_pylist(), strict=True):
                text = own.strip() or None if isinstance(own, str) else own
                found.setdefault(name, text)
        return found


def _written(value: Any) -> str:
    """A name as it is written; workbooks have whole numbers as floats."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def known_labels(
    paths: list[str], records: bool, arguments: argparse.Namespace, usual: str | None
) -> Callable[[str], Any]:
    """Return the label of a path or header in the table of --labels, or None."""
    noun = "files"
    names_of: Callable[[str], list[str]] = names_of_file
    named = paths
    if records:
        noun, names_of = "records", names_of_record
        named = [header for own in headers_of(paths) for header in own]
    table = _LabelTable(arguments, [*map(names_of, named)], noun, usual)
    values = table.values()

    def label_of(name: str) -> Any:
        return next((values[own] for own in names_of(name) if own in values), None)

    return label_of


def headers_of(paths: list[str]) -> list[list[str]]:
    """Return the headers of the records of each file."""
    found: list[list[str]] = []
    with Progress("Reading", len(paths)) as bar:
        for path in paths:
            found.append(list(read_headers(path)))
            bar.update(len(found), "files")
    return found


class SequenceRows:
    """The rows of files of sequences, in order, with their labels.

    Attributes
    ----------
    paths : list of str
        Files with a labelled row.
    headers : list of list of str or None
        Of the records of each file, where they are the rows.
    codes : ndarray of shape (n_rows,)
        Class of each row; -1 for a record that has no label and is left out.
    labels : Labels
    columns : Columns
    """

    def __init__(self, files: DataFiles, arguments: argparse.Namespace) -> None:
        refuse_standard_input(files)
        self.paths, self._skips = files.paths, files.skip_bad_rows
        self.headers: list[list[str]] | None = None
        noun = "records" if arguments.records else "files"
        if arguments.labels is None and arguments.label is not None:
            raise CommandError(
                "--label names a column of the table that --labels FILE names. "
                f"Got --label {arguments.label!r} alone."
            )
        if arguments.records:
            if arguments.labels is None:
                raise CommandError(
                    "--records needs --labels FILE, a table with the label of each "
                    "record by its header."
                )
            self.headers = headers_of(self.paths)
            rows = [names_of_record(own) for file in self.headers for own in file]
        else:
            rows = [names_of_file(path) for path in self.paths]
        if arguments.labels is None:
            self._by_folder()
        else:
            self._by_table(_LabelTable(arguments, rows, noun), rows, noun)

    def _by_folder(self) -> None:
        folders = [folder_of_file(path) for path in self.paths]
        codes = LabelCodes()
        found = codes.encode(folders).astype(np.int64)
        problem = label_problem(codes.labels, len(folders))
        if problem:
            raise CommandError(
                f"the folder of each file, which is its label without --labels, "
                f"{problem}. Hint: --labels FILE is a table with the label of each "
                "file."
            )
        self._settle("folder", codes.labels, found)
        guessed = {"--labels": "the folder of each file"}
        self.columns = Columns("folder", [], [], guessed)
        sizes = zip(self.labels.classes.tolist(), self.labels.rows, strict=True)
        told = listed([f"{own!r} ({n:,})" for own, n in sizes], quote=False)
        tell(
            f"guessed --labels: the label of a file is its folder, {told}; --labels "
            "FILE is a table that says otherwise"
        )

    def _by_table(self, table: _LabelTable, rows: list[list[str]], noun: str) -> None:
        self.columns = table.columns
        labels, code_of = table.read()
        used = [next((own for own in names if own in code_of), None) for names in rows]
        bad_rows = BadRows(self._skips)
        for names, name in zip(rows, used, strict=True):
            if name is None:
                near = [] if self._skips else get_close_matches(names[-1], code_of, 1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                where = repr(table.files.paths[0])
                bad_rows.found(1, f"{names[0]!r} has no label in {where}.{hint}")
        bad_rows.warn()
        self._tell_repeated([own for own in used if own is not None], noun)
        codes = np.array([-1 if own is None else code_of[own] for own in used])
        others = [own for own in code_of if own not in set(used)]
        if others:
            tell(
                f"{len(others):,} of {len(code_of):,} rows of "
                f"{table.files.paths[0]!r} name none of the {noun}: {listed(others)}"
            )
        if self.headers is None:
            kept = codes >= 0
            self.paths = [p for p, own in zip(self.paths, kept, strict=True) if own]
            codes = codes[kept]
        # Of the table, only labels that a row has are classes.
        present = np.unique(codes[codes >= 0])
        place = np.full(labels.classes.size + 1, -1)  # the last one for no label
        place[present] = np.arange(present.size)
        values = labels.classes[present].tolist()
        self._settle(labels.column, values, place[codes])

    def _tell_repeated(self, names: list[str], noun: str) -> None:
        """Files of one sample that are rows apart help each other when held out."""
        [(name, times)] = Counter(names).most_common(1) or [("", 0)]
        if times > 1:
            tell(
                f"warning: one name may stand for several {noun}, such as {name!r} for "
                f"{times:,}: each is a row, and what is held out may be like what is "
                "learnt from"
            )

    def _settle(self, column: str, values: list[Any], codes: Codes) -> None:
        counted = np.bincount(codes[codes >= 0], minlength=len(values))
        self.labels, place = as_labels(column, values, counted)
        self.codes = np.append(place, -1)[codes]

    @property
    def label_of_each(self) -> list[Any]:
        """The label of each row, None for one that is left out."""
        return [
            None if code < 0 else self.labels.classes[code]
            for code in self.codes.tolist()
        ]

    def file_codes(self) -> Iterator[tuple[str, Codes]]:
        """Yield each file with the class numbers of its rows."""
        sizes = [1] * len(self.paths)
        if self.headers is not None:
            sizes = [len(own) for own in self.headers]
        parts = np.split(self.codes, np.cumsum(sizes)[:-1])
        yield from zip(self.paths, parts, strict=True)
