"""The labels of rows that are files, or records of files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Set, ValuesView
from contextlib import suppress
from difflib import get_close_matches
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np

from bayesieve.io._labels import LabelCodes, is_missing, sort_order
from bayesieve.sequences._reading import Piece
from bayesieve.utils._arrays import Array

__all__ = [
    "FileLabels",
    "FileNames",
    "RecordLabels",
    "folder_of_file",
    "names_of_file",
    "refuse_many_classes",
    "whole_path",
    "written_name",
]

#: Classes that the compiled core has room for.
MOST_CLASSES = 16_384


class FileLabels:
    """The label of each file."""

    are_records = False

    def __init__(self, paths: list[str], labels: Any, classes: Any, owner: str) -> None:
        self._values = list(_file_labels(paths, labels, owner))
        missing = [is_missing(value) for value in self._values]
        present = [v for v, gone in zip(self._values, missing, strict=True) if not gone]
        if not present:
            raise ValueError("There must be at least one row to count. Got none.")
        self.codes = LabelCodes(classes)
        codes = self.codes.encode(present)
        # Sorted from the start, so that codes are the same in every run.
        if classes is None:
            self.codes = LabelCodes(sort_order(self.codes.labels)[0])
            codes = self.codes.encode(present)
        _refuse_fractions(self.codes.labels, owner)
        refuse_many_classes(len(self.codes.labels), owner)
        self._codes = np.full(len(self._values), -1, dtype=np.int32)
        self._codes[~np.array(missing)] = codes

    def codes_of(self, number: int, piece: Piece) -> Array:
        """Return the codes of the rows that begin in a piece of a file."""
        begin = piece.starts.size - (1 if piece.goes_on else 0)
        return np.full(begin, self._codes[number], dtype=np.int32)

    def is_left_out(self, number: int) -> bool:
        """Whether a file has no label, and need not be read."""
        return bool(self._codes[number] < 0)

    def refuse_others(self) -> None:
        """Refuse labels that no row has taken: there are none."""

    def told(self, number: int) -> str:
        """The label of a file, for the checkpoint that counts it."""
        return "" if self.is_left_out(number) else str(self._values[number])

    def fixed(self) -> dict[str, Any]:
        """What must be the same in all runs of one checkpoint."""
        return {"classes": self.codes.labels}


class RecordLabels:
    """The label of each record, by its header or in order."""

    are_records = True

    def __init__(self, labels: Any, classes: Any, owner: str) -> None:
        if labels is None:
            raise ValueError(
                f"The 'labels' parameter of {owner} must be given with records=True: "
                "an array, a mapping or a function of headers. Got None."
            )
        self._owner = owner
        self._label_of: Callable[[str], Any] | None = None
        self._in_order: Iterator[Any] | None = None
        known, table = classes, None
        self._could_be: dict[str, Any] = {}  # by name, of labels in order
        if callable(labels):
            self._label_of = labels
        elif _is_mapping(labels):
            table = _by_written_name(labels)
            self._label_of = lambda header: _looked_up(
                table, _names_of_record(header), owner
            )
            values = [value for value in table.values() if not is_missing(value)]
            known = _distinct(values) if classes is None else classes
        else:
            if _is_numbered(labels):
                self._could_be = _by_written_name(labels)
            values = _label_list(labels, owner)
            self._n_labels = len(values)
            self._in_order = iter(values)
            present = [value for value in values if not is_missing(value)]
            known = _distinct(present) if classes is None else classes
        self._known = known is not None
        self.codes = LabelCodes(known)
        _refuse_fractions(self.codes.labels, owner)
        refuse_many_classes(len(self.codes.labels), owner)
        self._print = ""
        if table is not None:
            told = sorted(f"{header!r}: {value!r}" for header, value in table.items())
            digest = hashlib.sha256("\n".join(told).encode("utf-8", "surrogatepass"))
            self._print = f"of records, {digest.hexdigest()[:16]}"
        self._seen = 0

    def codes_of(self, number: int, piece: Piece) -> Array:
        """Return the codes of the rows that begin in a piece of a file."""
        if not piece.names:
            return np.empty(0, dtype=np.int32)
        if self._label_of is not None:
            values = [self._label_of(name) for name in piece.names]
        else:
            assert self._in_order is not None
            values = list(islice(self._in_order, len(piece.names)))
            self._seen += len(piece.names)
            if len(values) < len(piece.names):
                raise ValueError(
                    "There must be one label for each record. Got "
                    f"{self._n_labels:,} labels and at least {self._seen:,} records."
                )
            self._refuse_other_labels(piece.names, values)
        codes = self.codes.encode(values).astype(np.int32)
        if not self._known:
            _refuse_fractions(self.codes.labels, self._owner)
            refuse_many_classes(len(self.codes.labels), self._owner)
        return codes

    def _refuse_other_labels(self, headers: list[str], values: list[Any]) -> None:
        """Refuse labels in order whose numbers are names of records, and of others."""
        if not self._could_be:
            return
        for header, value in zip(headers, values, strict=True):
            for name in _names_of_record(header):
                if name in self._could_be:
                    _refuse_doubt(name, self._could_be[name], value, self._owner)

    def is_left_out(self, number: int) -> bool:
        """Whether a file need not be read: nobody knows what its records are."""
        return False

    def refuse_others(self) -> None:
        """Refuse labels that no record has taken."""
        if self._in_order is not None and self._seen < self._n_labels:
            raise ValueError(
                "There must be one label for each record. Got "
                f"{self._n_labels:,} labels and {self._seen:,} records."
            )

    def told(self, number: int) -> str:
        """What the labels are, for the checkpoint that counts a file."""
        return self._print

    def fixed(self) -> dict[str, Any]:
        """What must be the same in all runs of one checkpoint."""
        if not self._known or self._in_order is not None:
            raise ValueError(
                "A checkpoint of records needs labels by header, and 'classes' with a "
                "function: what a file counts must not depend on the files before."
            )
        return {"classes": self.codes.labels}


def _distinct(values: list[Any]) -> Array:
    codes = LabelCodes()
    codes.encode(values)
    return sort_order(codes.labels)[0]


def _refuse_fractions(labels: list[Any], owner: str) -> None:
    """Measurements are no classes, though each could be one of its own."""
    numbers = (v for v in labels if isinstance(v, float))
    fraction = next((v for v in numbers if not v.is_integer()), None)
    if fraction is not None:
        raise ValueError(
            f"The 'labels' of {owner} must be classes. Got numbers with fractions, "
            f"such as {fraction!r}. Hint: cut measurements into classes first."
        )


def refuse_many_classes(n_classes: int, owner: str) -> None:
    """Refuse more classes than can be counted, before anything is."""
    if n_classes > MOST_CLASSES:
        raise ValueError(
            f"The labels of {owner} must be at most {MOST_CLASSES:,} different ones. "
            f"Got {n_classes:,}."
        )


def _is_mapping(labels: Any) -> bool:
    """Whether labels go by name: a dict, or a Series that is not just numbered."""
    if isinstance(labels, Mapping):
        return True
    if not (hasattr(labels, "items") and hasattr(labels, "index")):
        return False
    return not _is_numbered(labels)


def _is_numbered(labels: Any) -> bool:
    """Whether this is a Series with whole numbers for an index that has no name.

    Rows of tables are numbered so, in order or as a selection leaves them; an index
    that was chosen to name rows has the name of its column.
    """
    index = getattr(labels, "index", None)
    if isinstance(labels, Mapping) or getattr(index, "inferred_type", "") != "integer":
        return False
    return getattr(index, "name", None) is None


def _counts_up(labels: Any) -> bool:
    """Whether the numbers of a Series are those of its rows, which say nothing."""
    return bool(np.array_equal(labels.index, np.arange(len(labels))))


def written_name(key: Any) -> Any:
    """A name as it is written: numbers of a table's column of names are names, too."""
    if isinstance(key, os.PathLike):
        return os.fspath(key)
    if isinstance(key, Integral) and not isinstance(key, bool):
        return str(int(key))
    if isinstance(key, float | np.floating) and np.isfinite(key):
        # A column with a missing value has floats.
        return str(int(key)) if float(key).is_integer() else str(key)
    return key


def _by_written_name(labels: Any) -> dict[Any, Any]:
    found: dict[Any, Any] = {}
    for key, value in labels.items():
        found.setdefault(written_name(key), value)
    return found


def _refuse_doubt(name: str, by_name: Any, in_order: Any, owner: str) -> None:
    """Refuse a numbered Series where a row would have another label by its name."""
    missing = is_missing(by_name), is_missing(in_order)
    if all(missing) or (not any(missing) and by_name == in_order):
        return
    raise ValueError(
        f"The 'labels' of {owner} must be by name or in order. Got a Series that is "
        f"numbered as rows are called: {name!r} has the label {by_name!r} by name and "
        f"{in_order!r} in order. Hint: labels.to_numpy() is in order, "
        "labels.to_dict() is by name."
    )


def _label_list(labels: Any, owner: str) -> list[Any]:
    values = None
    # A set has no order. Views of a dict have one that is seldom that of the files.
    has_order = not isinstance(labels, str | bytes | Set | ValuesView)
    if has_order and getattr(labels, "ndim", 1) == 1:
        with suppress(TypeError):
            values = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    if values is None:
        hint = ""
        if hasattr(labels, "columns"):
            hint = " Hint: table.set_index('name')['label'] names files and labels."
        elif not has_order and not isinstance(labels, str | bytes):
            hint = " Hint: list(...) says in which order."
        raise TypeError(
            f"The 'labels' parameter of {owner} must be an array, a mapping or a "
            f"function. Got {type(labels).__name__}.{hint}"
        )
    return list(values)


def _file_labels(paths: list[str], labels: Any, owner: str) -> list[Any]:
    if labels is None:
        return [folder_of_file(path) for path in paths]
    if callable(labels):
        return [labels(path) for path in paths]
    if _is_mapping(labels):
        return _labels_by_name(paths, labels, owner)
    if _is_numbered(labels):
        table = _by_written_name(labels)
        names = FileNames(table)
        keys = [names.key_of(path) for path in paths]
        if any(key is not None for key in keys):
            if not _counts_up(labels):
                return _labels_by_name(paths, labels, owner)
            for key, in_order in zip(keys, labels.tolist(), strict=False):
                if key is not None:
                    _refuse_doubt(key, table[key], in_order, owner)
    values = _label_list(labels, owner)
    if len(values) != len(paths):
        raise ValueError(
            f"There must be one label for each file. Got {len(values):,} labels and "
            f"{len(paths):,} files."
        )
    return values


def folder_of_file(path: str) -> str:
    """The name of the folder a file is in, which is its label without others."""
    # Not that of what a link leads to: folders of links are how samples are sorted.
    return os.path.basename(os.path.dirname(os.path.abspath(path)))


def names_of_file(path: str) -> list[str]:
    """What a file may be called, the surest first.

    Its path, its name and that with fewer endings, each with its folder and alone, and
    its folder.
    """
    whole = os.path.abspath(path)
    folder, name = os.path.basename(os.path.dirname(whole)), os.path.basename(whole)
    shorter = [name]
    while "." in name.strip("."):
        name = os.path.splitext(name)[0]
        shorter.append(name)
    return [path, whole, *(f"{folder}/{own}" for own in shorter), *shorter, folder]


def whole_path(name: str) -> str:
    """A path from the root, however it is spelled; a mere name as it is."""
    return os.path.abspath(os.path.expanduser(name)) if os.path.dirname(name) else name


class FileNames:
    """Which of some names is that of a file, in whatever way its path is spelled.

    Parameters
    ----------
    keys : iterable
        Names of files as in `names_of_file`: strings, paths or whole numbers.

    Examples
    --------
    >>> from bayesieve.counts._row_labels import FileNames
    >>> names = FileNames(["in/../in/a.fasta", "b", 3])
    >>> [names.key_of(f"in/{own}.fasta") for own in "ab3c"]
    ['in/../in/a.fasta', 'b', 3, None]
    """

    def __init__(self, keys: Iterable[Any]) -> None:
        self._key: dict[Any, Any] = {}
        for key in keys:
            self._key.setdefault(written_name(key), key)
        for name, key in list(self._key.items()):
            if isinstance(name, str):
                self._key.setdefault(whole_path(name), key)

    def key_of(self, path: str) -> Any:
        """Return the surest name that is there, as it was given; None if none is."""
        for name in names_of_file(path):
            if name in self._key:
                return self._key[name]
        return None


def _labels_by_name(paths: list[str], labels: Any, owner: str) -> list[Any]:
    table = _by_written_name(labels)
    known = FileNames(table)
    found: list[Any] = []
    taken: dict[Any, str] = {}
    for path in paths:
        names, key = names_of_file(path), known.key_of(path)
        if key is None:
            called = f"by path, as {names[-2]!r} or by the folder {names[-1]!r}"
            raise _no_label(table, names, owner, f"files are called {called}")
        other = taken.setdefault(key, path)
        if other != path and key != names[-1]:
            raise ValueError(
                f"The 'labels' of {owner} must tell files apart. Got {key!r} for both "
                f"{other!r} and {path!r}. Hint: name them by path or folder."
            )
        found.append(table[key])
    return found


def _names_of_record(header: str) -> list[str]:
    return [header, *(header.split() or [""])[:1]]


def _looked_up(table: dict[Any, Any], names: list[str], owner: str) -> Any:
    for name in names:
        if name in table:
            return table[name]
    raise _no_label(table, names, owner, "records are called by their headers")


def _no_label(
    table: dict[Any, Any], names: list[str], owner: str, called: str
) -> ValueError:
    known = [key for key in islice(table, 10_000) if isinstance(key, str)]
    near = get_close_matches(names[-2], known, n=1)
    told = f"did you mean {near[0]!r}?" if near else called
    if not near and table:
        told += f", and labels are of {next(iter(table))!r} ..."
    return ValueError(
        f"The 'labels' of {owner} must name every row. Got none for {names[0]!r}. "
        f"Hint: {told}"
    )
