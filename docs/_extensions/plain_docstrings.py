"""Docstrings that read well in a terminal, made safe for reStructuredText.

A fitted attribute ends in an underscore, which reStructuredText takes for a reference.
The docstrings stay as people read them; here such names are escaped.
"""

from __future__ import annotations

import re
from typing import Any

_SPANS = re.compile(r"(`+[^`]*`+_*)")
_TRAILING = re.compile(r"(?<![\\\w])(\w*[A-Za-z0-9])_(?!\w)")


def escaped(line: str) -> str:
    """A line of text with names that end in an underscore escaped, outside of code."""
    parts = _SPANS.split(line)
    parts[::2] = [_TRAILING.sub(r"\1\\_", part) for part in parts[::2]]
    return "".join(parts)


def escape_names(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Escape the names in all lines that are not part of an example."""
    in_example = False
    for i, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line))
        if not in_example and not line.lstrip().startswith(".."):
            lines[i] = escaped(line)


def setup(app: Any) -> dict[str, Any]:
    """Run after numpydoc, which has its own way with the names of parameters."""
    app.connect("autodoc-process-docstring", escape_names, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
