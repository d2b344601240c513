"""Docstrings that read well in a terminal, made safe for reStructuredText.

A fitted attribute ends in an underscore, which reStructuredText takes for a reference.
The docstrings stay as people read them; here such names are escaped.
"""

from __future__ import annotations

import re
from typing import Any

_SPANS = re.compile(r"(`+[^`]*`+_*)")
_TRAILING = re.compile(r"(?<![\\\w])(\w*[A-Za-z0-9])_(?!\w)")


def escaped(text: str) -> str:
    """A text with names that end in an underscore escaped, outside of code."""
    parts = _SPANS.split(text)
    parts[::2] = [_TRAILING.sub(r"\1\\_", part) for part in parts[::2]]
    return "".join(parts)


def escape_names(
    app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Escape the names in all paragraphs that are not examples or directives."""
    paragraphs = "\n".join(lines).split("\n\n")  # code may go over a line's end
    for i, paragraph in enumerate(paragraphs):
        if not paragraph.lstrip().startswith((">>>", "..")):
            paragraphs[i] = escaped(paragraph)
    lines[:] = "\n\n".join(paragraphs).split("\n")


def setup(app: Any) -> dict[str, Any]:
    """Run after numpydoc, which has its own way with the names of parameters."""
    app.connect("autodoc-process-docstring", escape_names, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
