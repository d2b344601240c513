"""Plain values as JSON, and the values of categorical columns as arrays.

JSON knows neither tuples nor sets nor infinities, so these are objects with one name
that begins with a dollar sign. Nothing else is ever built from a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from datetime import date, datetime
from typing import Any

import numpy as np

from bayesieve.counts._mixed import MISSING
from bayesieve.counts._storage import NUMBERS, MemberReader, pack_text
from bayesieve.weights import OPTIMIZERS

__all__ = ["pack_plain", "pack_values", "unpack_plain", "unpack_values"]

_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_COLLECTIONS = {"$tuple": tuple, "$set": set, "$frozenset": frozenset}
_DEEPEST = 20


# ------------------------------------------------------------------------ plain values


def pack_plain(value: Any, name: str, arrays: dict[str, np.ndarray]) -> Any:
    """Return a value as JSON; arrays in it become members that begin with `name`."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        arrays[name] = value
        return {"$array": value.ndim}
    if isinstance(value, np.ndarray) and value.ndim == 1:
        items = [
            pack_plain(v, f"{name}.{i}", arrays) for i, v in enumerate(value.tolist())
        ]
        return {"$object": items} if value.dtype == object else {"$texts": items}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        packed = {
            k: pack_plain(v, f"{name}.{i}", arrays) for i, (k, v) in _items(value)
        }
        return {"$dict": packed} if any(k.startswith("$") for k in value) else packed
    if isinstance(value, dict) and all(_is_label(key) for key in value):
        pairs = [[*pair] for pair in value.items()]
        return {"$pairs": pack_plain(pairs, name, arrays)}
    for tag, collection in (("", list), *_COLLECTIONS.items()):
        if type(value) is collection:
            ordered = _in_order(value)
            items = [
                pack_plain(v, f"{name}.{i}", arrays) for i, v in enumerate(ordered)
            ]
            return {tag: items} if tag else items
    if type(value) in OPTIMIZERS.values():
        name = next(n for n, kind in OPTIMIZERS.items() if kind is type(value))
        settings = pack_plain(value.settings(), f"{name}.settings", arrays)
        return {"$optimizer": {"name": name, "settings": settings}}
    raise TypeError(type(value).__name__)


def _items(value: dict[str, Any]) -> Iterable[tuple[int, tuple[str, Any]]]:
    return enumerate(value.items())


def _is_label(key: Any) -> bool:
    return isinstance(key, bool | int | float | str | np.generic)


def _in_order(values: Iterable[Any]) -> Iterable[Any]:
    # Sets of strings have another order in every process; files should not.
    return sorted(values, key=repr) if isinstance(values, set | frozenset) else values


def unpack_plain(value: Any, name: str, reader: MemberReader, depth: int = 0) -> Any:
    """Undo `pack_plain`."""
    if depth > _DEEPEST:
        raise ValueError(f"{name!r} is nested too deeply")
    if not isinstance(value, dict | list):
        return value

    def below(items: Any) -> list[Any]:
        if not isinstance(items, list):
            raise ValueError(f"{name!r} is not a list")
        return [
            unpack_plain(v, f"{name}.{i}", reader, depth + 1)
            for i, v in enumerate(items)
        ]

    if isinstance(value, list):
        return below(value)
    tag = next(iter(value), "")
    if not tag.startswith("$"):
        return _unpack_dict(value, name, reader, depth)
    if len(value) != 1:
        raise ValueError(f"{name!r} is not a value")
    content = value[tag]
    if tag == "$float":
        return _FLOATS[content]
    if tag == "$array":
        if not isinstance(content, int) or not 0 <= content <= 4:
            raise ValueError(f"{name!r} is not an array")
        return reader.array(name, NUMBERS, content)
    if tag == "$dict":
        if not isinstance(content, dict):
            raise ValueError(f"{name!r} is not a mapping")
        return _unpack_dict(content, name, reader, depth)
    if tag == "$pairs":
        pairs = below(content)
        if not all(
            isinstance(p, list) and len(p) == 2 and _is_label(p[0]) for p in pairs
        ):
            raise ValueError(f"{name!r} is not a mapping")
        return dict(pairs)
    if tag == "$optimizer":
        own = _unpack_dict(content, name, reader, depth)
        return OPTIMIZERS[own["name"]](**own["settings"])
    if tag == "$texts":
        return reader.string_array(below(content), name)
    if tag == "$object":
        items = below(content)
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array
    return _COLLECTIONS[tag](below(content))


def _unpack_dict(
    value: dict[str, Any], name: str, reader: MemberReader, depth: int
) -> dict[str, Any]:
    return {
        k: unpack_plain(v, f"{name}.{i}", reader, depth + 1)
        for i, (k, v) in _items(value)
    }


# ----------------------------------------------------------------- values of categories

_NONE, _STR, _INT, _FLOAT, _BOOL, _MISSING, _DATE, _DATETIME = range(8)


def pack_values(
    arrays: dict[str, np.ndarray], name: str, values: Sequence[Hashable], where: str
) -> None:
    """Add the values of a categorical column: what each is, and how it is written."""
    kinds = np.empty(len(values), dtype=np.uint8)
    texts = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        kinds[i], texts[i] = _written(value, where)
    arrays[f"{name}_kinds"] = kinds
    pack_text(arrays, name, texts)


def _written(value: Any, where: str) -> tuple[int, str]:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None:
        return _NONE, ""
    if value is MISSING:
        return _MISSING, ""
    if isinstance(value, bool):
        return _BOOL, "1" if value else ""
    for kind, code in ((str, _STR), (int, _INT), (float, _FLOAT)):
        if type(value) is kind:
            return code, str(value)
    if isinstance(value, datetime):
        again = datetime.fromisoformat(value.isoformat())
        if again == value:  # a pandas Timestamp may have nanoseconds
            return _DATETIME, again.isoformat()
    elif isinstance(value, date):
        return _DATE, value.isoformat()
    raise ValueError(
        "Values of a categorical column can be saved when they are strings, numbers, "
        f"booleans or dates. Got {type(value).__name__} {value!r:.40} in {where}."
    )


_READ: dict[int, Callable[[str], Hashable]] = {
    _NONE: lambda text: None,
    _STR: str,
    _INT: int,
    _FLOAT: float,
    _BOOL: bool,
    _MISSING: lambda text: MISSING,
    _DATE: date.fromisoformat,
    _DATETIME: datetime.fromisoformat,
}


def unpack_values(reader: MemberReader, name: str) -> list[Hashable]:
    """Undo `pack_values`."""
    texts = reader.texts(name)
    kinds = reader.array(f"{name}_kinds", "uint8").tolist()
    return [_READ[kind](text) for kind, text in zip(kinds, texts, strict=True)]
