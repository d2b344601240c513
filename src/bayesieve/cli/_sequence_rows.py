"""Which rows files of sequences have, files or records, and the label of each."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
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
from bayesieve.counts._row_labels import folder_of_file, names_of_file, whole_path
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._labels import LabelCodes, label_problem
from bayesieve.io._near_names import check_column
from bayesieve.sequences._reading import read_headers, read_pieces
from bayesieve.sequences._spelling import Spelling

__all__ = [
    "SequenceRows",
    "known_labels",
    "left_out_where_unreadable",
    "refuse_standard_input",
]

Codes = NDArray[np.int64]


def refuse_standard_input(paths: list[str]) -> None:
    """Stop at standard input: which row it is cannot be told."""
    if "-" in paths:
        raise CommandError(
            "sequences must be in files, whose names tell one row from another. "
            "Got -, standard input. Hint: packed files are read as they are."
        )


def left_out_where_unreadable(path: str, files: DataFiles, bad_rows: BadRows) -> bool:
    """Read a file to its end, and take note of one where that fails.

    Its k-mers cannot be taken out again of counts that they have entered.
    """
    single = Spelling(is_dna=files.is_dna, length=1)
    try:
        with closing(read_pieces(path, single)) as pieces:
            for _ in pieces:
                pass
    except (ValueError, OSError) as error:
        files.unreadable[path] = str(error)
        bad_rows.found(1, str(error))
        return True
    return False


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
        paths: list[str],
        usual: str | None = None,
    ) -> None:
        given = vars(arguments) | {"data": [arguments.labels]}
        self.files = DataFiles.of(argparse.Namespace(**given))
        if self.files.is_saved or self.files.is_matrix or self.files.is_sequences:
            raise CommandError(
                f"--labels must be a table of names and labels. Got {self._shown}."
            )
        self.names = self._column_of_names(arguments.label, rows, noun, paths)
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
        self, label: str | None, rows: list[list[str]], noun: str, paths: list[str]
    ) -> str:
        """The column that names most of the rows."""
        wanted = {name: i for i, own in enumerate(rows) for name in reversed(own)}
        self._are_files = noun == "files"
        named: dict[str, set[int]] = {own: set() for own in self.files.columns}
        for _, _, batch in self.files.rows(self.files.columns):
            for name, values in zip(self.files.columns, batch.columns, strict=True):
                for value in values.to_pylist():
                    place = wanted.get(self._whole(_written(value)))
                    if place is not None:
                        named[name].add(place)
        of_label = named.pop(label or "", set())
        best = max(named, key=lambda own: len(named[own]), default="")
        if named and named[best]:
            return best
        if of_label:
            hint = f" Hint: its other columns are {listed(list(named))}." * bool(named)
            raise CommandError(
                f"--label must name the column of labels of {self._shown}. Got "
                f"{label!r}, which names the {noun}.{hint}"
            )
        hint = ""
        if self._are_files and self._names_records(paths):
            hint = " Hint: its names are those of records: --records makes them rows."
        raise CommandError(
            f"no column of {self._shown} names the {noun}: {rows[0][0]!r} is in "
            f"none of {listed(list(named))}.{hint}"
        )

    def _whole(self, name: str) -> str:
        return whole_path(name) if self._are_files else name

    def _names_records(self, paths: list[str]) -> bool:
        """Whether it names a record at the beginning of the first file."""
        single = Spelling(is_dna=True, length=1)
        with (
            suppress(ValueError, OSError),
            closing(read_pieces(paths[0], single, records=True)) as pieces,
        ):
            headers = next(pieces).names
            wanted = {name for own in headers for name in names_of_record(own)}
            for _, _, batch in self.files.rows(self.files.columns):
                for values in batch.columns:
                    if any(_written(own) in wanted for own in values.to_pylist()):
                        return True
        return False

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
        """Return the classes, and the class number of each name.

        Paths are whole: a file has one name, however it is spelt.
        """
        label = self.columns.label
        assert label is not None
        rows = LabelledRows(self.files, [self.names], label)
        found: dict[str, int] = {}
        for codes, batch in rows.batches("Reading"):
            names = map(_written, batch.column(0).to_pylist())
            for name, code in zip(names, codes.tolist(), strict=True):
                before = found.setdefault(self._whole(name), code)
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
                found.setdefault(self._whole(name), text)
        return found


def _written(value: Any) -> str:
    """A name as it is written; workbooks have whole numbers as floats."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return "" if value is None else str(value).strip()


def known_labels(
    files: DataFiles, records: bool, arguments: argparse.Namespace, usual: str | None
) -> Callable[[str], Any]:
    """Return the label of a path or header in the table of --labels, or None."""
    noun = "files"
    names_of: Callable[[str], list[str]] = names_of_file
    named = files.paths
    if records:
        noun, names_of = "records", names_of_record
        told_later = BadRows(files.skip_bad_rows)  # when they are scored
        found = headers_of(files, told_later)
        named = [header for own in found.values() for header in own]
    rows = [*map(names_of, named)]
    table = _LabelTable(arguments, rows, noun, files.paths, usual)
    values = table.values()

    def label_of(name: str) -> Any:
        return next((values[own] for own in names_of(name) if own in values), None)

    return label_of


def headers_of(files: DataFiles, bad_rows: BadRows) -> dict[str, list[str]]:
    """Return the headers of the records of each file that can be read."""
    found: dict[str, list[str]] = {}
    with Progress("Reading", len(files.paths)) as bar:
        for number, path in enumerate(files.paths):
            try:
                found[path] = list(read_headers(path))
            except (ValueError, OSError) as error:
                if not bad_rows.skip:
                    raise
                files.unreadable[path] = str(error)
                bad_rows.found(1, str(error))
            bar.update(number + 1, "files")
    files.keep_only(list(found))
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
        refuse_standard_input(files.paths)
        self._files, self._bad_rows = files, BadRows(files.skip_bad_rows)
        for problem in files.unreadable.values():
            self._bad_rows.found(1, problem)
        self.paths = files.paths
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
            found = headers_of(files, self._bad_rows)
            self.paths, self.headers = list(found), list(found.values())
            rows = [names_of_record(own) for file in self.headers for own in file]
        else:
            rows = [names_of_file(path) for path in self.paths]
        if arguments.labels is None:
            self._by_folder()
        else:
            table = _LabelTable(arguments, rows, noun, self.paths)
            self._by_table(table, rows, noun)
        self._bad_rows.warn()

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
        self._settle("folder", codes.labels, self._kept(found))
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
        bad_rows = self._bad_rows
        for names, name in zip(rows, used, strict=True):
            if name is None:
                near = [] if bad_rows.skip else get_close_matches(names[-1], code_of, 1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                where = repr(table.files.paths[0])
                bad_rows.found(1, f"{names[0]!r} has no label in {where}.{hint}")
        self._tell_repeated([own for own in used if own is not None], noun)
        codes = np.array([-1 if own is None else code_of[own] for own in used])
        others = [own for own in code_of if own not in set(used)]
        if others:
            tell(
                f"{len(others):,} of {len(code_of):,} rows of "
                f"{table.files.paths[0]!r} name none of the {noun}: {listed(others)}"
            )
        if self.headers is None:
            codes = self._kept(codes)
        self._settle(labels.column, labels.classes.tolist(), codes)

    def _kept(self, codes: Codes) -> Codes:
        """Leave files out that have no label or, where that is asked for, are damaged.

        What is learnt from must be known before it is counted: this reads files once
        more.
        """
        kept = codes >= 0
        if self._bad_rows.skip:
            with Progress("Checking", len(self.paths)) as bar:
                for number in np.flatnonzero(kept).tolist():
                    own = self.paths[number], self._files, self._bad_rows
                    kept[number] = not left_out_where_unreadable(*own)
                    bar.update(number + 1, "files")
        self._files.keep_only([self.paths[i] for i in np.flatnonzero(kept).tolist()])
        self.paths = self._files.paths
        return codes[kept]

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
        """Take the labels that a row has, and no others, as classes."""
        present = np.unique(codes[codes >= 0])
        place = np.full(len(values) + 1, -1)  # the last one for no label
        place[present] = np.arange(present.size)
        values, codes = [values[i] for i in present.tolist()], place[codes]
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
