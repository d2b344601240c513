"""Pictures and HTML of things that know nothing of either.

Everything that is drawn is drawn by `bayesieve.inspection`, which lies above whatever
it draws. An object with a ``plot`` or a notebook view of its own asks for it by name,
as pandas asks for its plotting backend.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["drawn"]


def drawn(function: str, *arguments: Any, **options: Any) -> Any:
    """Call a function of `bayesieve.inspection` that is loaded now."""
    module = import_module("bayesieve.inspection._views")
    return getattr(module, function)(*arguments, **options)
