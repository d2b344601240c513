"""How each kind of fitted attribute is written, read and checked.

Estimators declare the kind, shape and numbers of an attribute (`Saved`). A letter of a
shape is set by the first attribute that has it, and all others must agree, so that a
file whose parts do not fit together is refused when it is read and not met again inside
a compiled loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from bayesieve._description import Saved
from bayesieve.counts import ClassCounts
from bayesieve.counts._storage import (
    NUMBERS,
    pack_counts,
    pack_text,
    rises,
    unpack_counts,
)
from bayesieve.persistence._archive import ModelArchive
from bayesieve.persistence._values import (
    pack_plain,
    pack_values,
    unpack_plain,
    unpack_values,
)
from bayesieve.solvers import Certificate
from bayesieve.text._term_names import TermNames
from bayesieve.weights._weight_path import WeightPath

__all__ = ["KINDS", "Arrays", "Kind", "Plain", "Sizes", "check_domain"]

Arrays = dict[str, np.ndarray]
_LARGEST = 2**53


class Sizes(dict[str, int]):
    """The sizes met so far, by their letters."""

    def agree(self, letter: str | int, size: int, name: str) -> None:
        """Take a size, or refuse one that differs from an earlier one."""
        wanted = letter if isinstance(letter, int) else self.setdefault(letter, size)
        if size != wanted:
            raise ValueError(f"{name!r} has {size} entries where {wanted} are needed")


class Kind(ABC):
    """One kind of attribute as it was declared; `put` writes it and `get` reads it."""

    def __init__(self, declared: Saved) -> None:
        self.shape = declared.shape
        self.domain = declared.domain

    @abstractmethod
    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        """Add arrays and return what goes into the JSON, None for nothing."""

    @abstractmethod
    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        """Read and check the attribute."""


#: What the numbers of an attribute can be. Logarithms of probabilities are minus
#: infinity where there is no smoothing, gains and costs have no largest value, and
#: what only tells how a fit went may be unknown.
_DOMAINS: dict[str, Callable[[Any], Any]] = {
    "finite": np.isfinite,
    "counts": lambda values: np.isfinite(values) & (values >= 0),
    "logs": lambda values: values < np.inf,
    "known": lambda values: ~np.isnan(values),
    "any": lambda values: np.True_,
}


def check_domain(values: Any, domain: str, name: str) -> None:
    """Refuse numbers that an attribute cannot hold."""
    if not _DOMAINS[domain](values).all():
        raise ValueError(f"{name!r} holds a number that it cannot hold")


class _Number(Kind):
    """A number on its own; with a letter it is a size."""

    of: ClassVar[type] = float

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        return pack_plain(self.of(value), name, arrays)

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        value = unpack_plain(entry, name, reader)
        allowed = (int, float) if self.of is float else (self.of,)
        if type(value) not in allowed:
            raise ValueError(f"{name!r} is not a number")
        for letter in self.shape:
            if not 0 <= value < _LARGEST:
                raise ValueError(f"{name!r} is not a size")
            sizes.agree(letter, value, name)
        if self.of is float:
            check_domain(np.float64(value), self.domain or "any", name)
        elif self.of is int and not -_LARGEST < value < _LARGEST:
            raise ValueError(f"{name!r} is out of range")
        return self.of(value)


class _WholeNumber(_Number):
    """An int."""

    of = int


class _Flag(_Number):
    """A bool."""

    of = bool


class _Text(Kind):
    """A short string."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        return str(value)

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        if not isinstance(entry, str):
            raise ValueError(f"{name!r} is not a string")
        return entry


class Plain(Kind):
    """Values that JSON can hold, with tuples, sets and arrays of numbers."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        return pack_plain(value, name, arrays)

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        return unpack_plain(entry, name, reader)


class _Array(Kind):
    """An array of numbers whose shape is given in letters."""

    dtype = "float64"

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        arrays[name] = np.asarray(value, dtype=self.dtype)

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        # The order in memory stays: it can change the last digit of a product.
        array = reader.array(name, self.dtype, len(self.shape))
        for letter, size in zip(self.shape, array.shape, strict=True):
            sizes.agree(letter, size, name)
        return array


class _Floats(_Array):
    """Numbers of some domain."""

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        found = super().get(name, entry, reader, sizes)
        check_domain(found, self.domain or "finite", name)
        return found


class _Integers(_Array):
    """Whole numbers."""

    dtype = "int64"


class _Booleans(_Array):
    """Truth values."""

    dtype = "bool"


class _Indices(_Integers):
    """Distinct positions in rising order; the shape is their number and their bound."""

    def __init__(self, declared: Saved) -> None:
        super().__init__(declared)
        letter, self.below = declared.shape
        self.shape = (letter,)

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        found = super().get(name, entry, reader, sizes)
        inside = not found.size or (
            found[0] >= 0 and found[-1] < sizes[str(self.below)]
        )
        if not inside or not rises(found, strictly=True):
            raise ValueError(f"{name!r} does not hold rising positions")
        return found


class _Labels(Kind):
    """Class labels: numbers, strings or truth values, distinct and sorted."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        kind = value.dtype.kind
        if kind in "biuf":
            arrays[name] = value
            return "numbers"
        pack_values(arrays, name, value.tolist(), name)
        return "strings" if kind == "U" else "objects"

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        if entry == "numbers":
            labels = reader.array(name, NUMBERS)
        elif entry not in ("strings", "objects"):
            raise ValueError(f"{name!r} does not hold labels")
        else:
            values = unpack_values(reader, name)
            if entry == "strings":
                labels = reader.string_array(values, name)
            else:
                labels = np.empty(len(values), dtype=object)
                labels[:] = values
        sizes.agree(self.shape[0], labels.shape[0], name)
        seen = labels.tolist()
        if len(seen) < 2 or not all(a < b for a, b in pairwise(seen)):
            raise ValueError(f"{name!r} does not hold two or more sorted labels")
        return labels


class _Names(Kind):
    """Strings: an object array, or packed where there are very many."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        if isinstance(value, TermNames):
            first, last = value.offsets[0], value.offsets[-1]
            arrays[f"{name}_bytes"] = value.data[first:last]
            arrays[f"{name}_offsets"] = value.offsets - first
            return "packed"
        pack_text(arrays, name, np.asarray(value, dtype=object))
        return "strings"

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        names: Any
        if entry == "packed":
            names = reader.packed(name)
        elif entry != "strings":
            raise ValueError(f"{name!r} does not hold strings")
        else:
            texts = reader.texts(name)
            names = np.empty(len(texts), dtype=object)
            names[:] = texts
        sizes.agree(self.shape[0], len(names), name)
        return names


class _Certificate(Kind):
    """The certificate of a selection."""

    _NUMBERS = (
        "objective",
        "null_objective",
        "upper_bound",
        "relaxation_bound",
        "gap",
        "relative_gap",
        "published_bound",
        "sharp_bound",
        "rounding",
    )
    _MAY_BE_NAN = ("published_bound", "sharp_bound")

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        fields = {n: pack_plain(float(getattr(value, n)), n, {}) for n in self._NUMBERS}
        arrays[f"{name}.class_shares"] = np.asarray(value.class_shares, np.float64)
        return fields | {
            "is_optimal": bool(value.is_optimal),
            "nodes": int(value.nodes),
            "k": int(value.k),
            "under_rules": bool(value.under_rules),
        }

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        if not isinstance(entry, dict):
            raise ValueError(f"{name!r} is not a certificate")
        fields = {key: unpack_plain(v, name, reader) for key, v in entry.items()}
        fields.setdefault("rounding", 0.0)  # files from before these were stated
        fields.setdefault("under_rules", False)
        whole = {"is_optimal": bool, "nodes": int, "k": int, "under_rules": bool}
        for key, value in fields.items():
            if type(value) not in ((whole[key],) if key in whole else (int, float)):
                raise ValueError(f"{key!r} of {name!r} has a wrong type")
        if fields.keys() != {*self._NUMBERS, *whole}:
            raise ValueError(f"{name!r} is not a certificate")
        numbers = {key: float(fields[key]) for key in self._NUMBERS}
        for key, value in numbers.items():
            if key not in self._MAY_BE_NAN:
                check_domain(np.float64(value), "known", f"{name}.{key}")
        if not (0 <= fields["k"] < _LARGEST and 0 <= fields["nodes"] < _LARGEST):
            raise ValueError(f"{name!r} is not a certificate")
        shares = reader.array(f"{name}.class_shares", "float64")
        sizes.agree("C", shares.shape[0], name)
        check_domain(shares, "counts", name)
        return Certificate(**{**fields, **numbers}, class_shares=shares)


class _Counts(Kind):
    """Class counts, in the members that `ClassCounts.save` writes."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        for part, array in pack_counts(value).items():
            arrays[f"{name}.{part}"] = array

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        counts = unpack_counts(ClassCounts, reader.below(f"{name}."))
        sizes.agree("C", counts.n_classes, name)
        for letter in self.shape:
            sizes.agree(letter, counts.n_features, name)
        return counts


class _Table(Kind):
    """Named columns of numbers, all of one length: results of a cross-validation.

    The list of parameters of a grid is made again from its columns.
    """

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        columns = [key for key in value if key != "params"]
        for i, key in enumerate(columns):
            arrays[f"{name}.{i}"] = np.asarray(value[key])
        return {"columns": columns, "params": "params" in value}

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        columns = entry["columns"]
        named = isinstance(columns, list) and all(isinstance(c, str) for c in columns)
        if not named or len(set(columns)) != len(columns):
            raise ValueError(f"{name!r} has columns without names of their own")
        found: dict[str, Any] = {}
        for i, key in enumerate(columns):
            found[key] = reader.array(f"{name}.{i}", "int32 int64 float64")
            sizes.agree(f"rows of {name}", found[key].shape[0], f"{name}.{i}")
        if entry["params"]:
            given = [key for key in columns if key.startswith("param_")]
            rows = zip(*(found[key].tolist() for key in given), strict=True)
            short = [key.removeprefix("param_") for key in given]
            found["params"] = [dict(zip(short, row, strict=True)) for row in rows]
        return found


class _WeightPath(Kind):
    """Weights for decreasing penalties; sparse, one row for each penalty."""

    def put(self, name: str, value: Any, arrays: Arrays) -> Any:
        weights = value.weights.tocsr()
        weights.sort_indices()
        for part in ("data", "indices", "indptr"):
            arrays[f"{name}.weights_{part}"] = getattr(weights, part)
        for part in ("lambdas", "intercepts", "nll", "dual_gap"):
            arrays[f"{name}.{part}"] = np.asarray(getattr(value, part), np.float64)

    def get(self, name: str, entry: Any, reader: ModelArchive, sizes: Sizes) -> Any:
        own = reader.below(f"{name}.")
        lambdas = own.floats("lambdas")
        n_points = lambdas.shape[0]
        # By rows is by columns of the transposed table.
        table = own.table("weights", [sizes["m"], n_points])
        found = {part: own.floats(part) for part in ("nll", "dual_gap")}
        found["intercepts"] = own.floats("intercepts", 2)
        sizes.agree("C", found["intercepts"].shape[1], name)
        for part, array in found.items():
            Sizes(points=n_points).agree("points", array.shape[0], f"{name}.{part}")
            domain = "any" if part == "dual_gap" else "known"
            check_domain(array, domain, f"{name}.{part}")
        check_domain(lambdas, "known", name)
        check_domain(table.data, "counts", name)
        return WeightPath(lambdas=lambdas, weights=table.T, **found)


#: The kinds of `Saved`; those of tables of mixed columns have files of their own.
KINDS: dict[str, type[Kind]] = {
    "bool": _Flag,
    "booleans": _Booleans,
    "certificate": _Certificate,
    "counts": _Counts,
    "float": _Number,
    "floats": _Floats,
    "indices": _Indices,
    "int": _WholeNumber,
    "integers": _Integers,
    "labels": _Labels,
    "names": _Names,
    "plain": Plain,
    "table": _Table,
    "text": _Text,
    "weight path": _WeightPath,
}
