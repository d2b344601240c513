"""JSON from files that anybody may have written."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["read_json"]


def read_json(data: bytes | str) -> Any:
    """Read strict JSON: no NaN, no name twice, no depth; else a ValueError.

    Lone surrogates are let pass, as names of features may hold them.
    """
    if isinstance(data, bytes):
        data = data.decode("utf-8", "surrogatepass")
    try:
        return json.loads(data, parse_constant=_refuse, object_pairs_hook=_members)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _refuse(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name is there twice")
    return found
