"""Kinds of fitted attributes that scikit-learn's steps have and ours have not."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from bayesieve.counts._storage import pack_text, rises
from bayesieve.persistence._archive import ModelArchive
from bayesieve.persistence._kinds import KINDS, Arrays, Kind, Sizes
from bayesieve.persistence._values import pack_values, unpack_values

__all__ = ["STEP_KINDS", "is_nan", "packed_terms", "read_terms", "vocabulary_of"]

_NUMBERS = "float32 float64 int32 int64"
_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"),
    *("uint64", "float16", "float32", "float64", "object"),
)


def is_nan(value: Any) -> bool:
    """Whether a value is not a number."""
    return isinstance(value, float) and value != value


class _Numbers(Kind):
    """Numbers of a shape in letters, in the dtype that they have.

    A step that was fitted on float32 computes in it.
    """

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        arrays[name] = np.asarray(value)

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        array = reader.array(name, _NUMBERS, len(self.shape))
        for letter, size in zip(self.shape, array.shape, strict=True):
            sizes.agree(letter, size, name)
        return array


class _NumberOrNumbers(_Numbers):
    """One number, or one for each of what the letter counts."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        super().put(name, value, arrays)
        return arrays[name].ndim

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        if entry == 1:
            return super().get(name, entry, reader, sizes)
        if entry != 0:
            raise ValueError(f"{name!r} is neither a number nor one for each column")
        return reader.array(name, _NUMBERS, 0)[()]


class _Dtype(Kind):
    """The dtype of an array that was seen, by its name."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        found = np.dtype(value).name
        if found not in _DTYPES:
            raise TypeError(f"dtype {found}")
        return found

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        if entry not in _DTYPES:
            raise ValueError(f"{name!r} is not the name of a dtype")
        return np.dtype(entry)


class _Vocabulary(Kind):
    """Terms in the order of their columns."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        packed_terms(name, value, arrays)

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        found = vocabulary_of(read_terms(name, reader), name)
        sizes.agree(self.shape[0], len(found), name)
        return found


def packed_terms(name: str, value: Any, arrays: Arrays) -> None:
    """Add the terms of a vocabulary, which must be strings."""
    terms = np.empty(len(value), dtype=object)
    if isinstance(value, dict):
        for term, place in value.items():
            terms[int(place)] = term
    else:
        terms[:] = list(value)
    for term in terms.tolist():
        if not isinstance(term, str):
            raise TypeError(f"a term that is {type(term).__name__}")
    pack_text(arrays, name, terms)


def read_terms(name: str, reader: ModelArchive) -> list[str]:
    """Read the terms of a vocabulary."""
    return reader.texts(name)


def vocabulary_of(terms: list[str], name: str) -> dict[str, int]:
    """Return the column of each of some distinct terms."""
    found = {term: place for place, term in enumerate(terms)}
    if len(found) != len(terms) or not terms:
        raise ValueError(f"{name!r} has a term twice, or none")
    return found


class _Values(Kind):
    """One value for each column: numbers, or any values as categories have them."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        if value.dtype.kind in "biuf":
            arrays[name] = value
            return "numbers"
        pack_values(arrays, name, value.tolist(), name)
        return "objects"

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        if entry == "numbers":
            found = reader.array(name, _NUMBERS)
        elif entry == "objects":
            values = unpack_values(reader, name)
            found = np.empty(len(values), dtype=object)
            found[:] = values
        else:
            raise ValueError(f"{name!r} does not hold values")
        sizes.agree(self.shape[0], found.shape[0], name)
        return found


class _Categories(Kind):
    """Distinct values of each column; numbers rise, and what is missing comes last."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        flat = [item for own in value for item in own.tolist()]
        pack_values(arrays, name, flat, name)
        arrays[f"{name}_lengths"] = np.array([len(own) for own in value], np.int64)
        return ["str" if own.dtype.kind == "U" else own.dtype.name for own in value]

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        values = unpack_values(reader, name)
        lengths = reader.integers(f"{name}_lengths").tolist()
        if not isinstance(entry, list) or len(entry) != len(lengths):
            raise ValueError(f"{name!r} has columns without values")
        if any(n < 1 for n in lengths) or sum(lengths) != len(values):
            raise ValueError(f"{name!r} has columns without values")
        sizes.agree(self.shape[0], len(lengths), name)
        ends = np.cumsum([0, *lengths]).tolist()
        parts = (values[first:last] for first, last in pairwise(ends))
        return [
            _column(own, kind, name, reader)
            for own, kind in zip(parts, entry, strict=True)
        ]


def _column(values: list[Any], kind: Any, name: str, reader: ModelArchive) -> Any:
    """The categories of one column as an array."""
    if len({"nan" if is_nan(own) else own for own in values}) != len(values):
        raise ValueError(f"{name!r} has a value twice")
    if kind == "str":
        return reader.string_array(values, name)
    if kind == "object":
        found = np.empty(len(values), dtype=object)
        found[:] = values
        return found
    if kind not in _DTYPES or not all(type(v) in (bool, int, float) for v in values):
        raise ValueError(f"{name!r} does not hold the values of a column")
    found = np.array(values, dtype=kind)
    known = found[:-1] if is_nan(values[-1]) else found
    if not rises(known, strictly=True) or np.isnan(known.astype(np.float64)).any():
        raise ValueError(f"{name!r} has values that do not rise")
    return found


class _Edges(Kind):
    """Rising bounds of the bins of each column."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        arrays[name] = np.concatenate([np.asarray(own, np.float64) for own in value])
        arrays[f"{name}_lengths"] = np.array([len(own) for own in value], np.int64)

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        flat = reader.floats(name)
        lengths = reader.integers(f"{name}_lengths").tolist()
        if any(n < 2 for n in lengths) or sum(lengths) != flat.size:
            raise ValueError(f"{name!r} has a column without bins")
        sizes.agree(self.shape[0], len(lengths), name)
        found = np.empty(len(lengths), dtype=object)
        ends = np.cumsum([0, *lengths]).tolist()
        for j, (first, last) in enumerate(pairwise(ends)):
            found[j] = flat[first:last]
            if np.isnan(found[j]).any() or not rises(found[j]):
                raise ValueError(f"{name!r} has bounds that do not rise")
        return found


#: Kinds of the attributes of scikit-learn's steps.
STEP_KINDS: dict[str, type[Kind]] = {
    **KINDS,
    "categories": _Categories,
    "dtype": _Dtype,
    "edges": _Edges,
    "number or numbers": _NumberOrNumbers,
    "numbers": _Numbers,
    "values": _Values,
    "vocabulary": _Vocabulary,
}
