"""Formulas as MathML, made when the pages are built.

Sphinx's own renderer asks a server for MathJax whenever a page is opened. These pages
are read from a disk too, so formulas are translated once, by docutils, and browsers
draw them without any script.
"""

from __future__ import annotations

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

_SPACE = '<mspace width="0.1667em"></mspace>'
_BRACKET = r"(?:<mrow>\s*)?<mo[^>]*>[(\[{]"
_AFTER = re.compile(rf"(<mo>&ApplyFunction;</mo>\s*)(?!\s|{_BRACKET})")
_BEFORE = re.compile(
    r"(</(?:mi|mn|msub|msup|msubsup|mfrac|mrow)>\s*|\)</mo>\s*)"
    r"(<mi>\w+</mi>\s*<mo>&ApplyFunction;</mo>)"
)


_BARS = (  # bars of the height of a letter, without space inside
    ("<mo>‖</mo>", '<mo stretchy="false">‖</mo>'),
    ('<mo class="mathopen">|</mo>', '<mo form="prefix" stretchy="false">|</mo>'),
    ("<mo>|</mo>", '<mo form="postfix" stretchy="false">|</mo>'),
)
_LIMITS = re.compile(rf'<mo movablelimits="true">(max|min)</mo>(?=\s*{_BRACKET})')


def spaced(formula: str) -> str:
    """A formula with the thin spaces around "log" and "max" that TeX would set."""
    for written, meant in _BARS:
        formula = formula.replace(written, meant)
    formula = _LIMITS.sub(r'<mo movablelimits="true" rspace="0">\1</mo>', formula)
    return _BEFORE.sub(rf"\1{_SPACE}\2", _AFTER.sub(rf"\1{_SPACE}", formula))


def translated(self: Any, node: nodes.Element, *, display: bool) -> str:
    """The formula of a node as MathML; a warning and its source if that fails."""
    source = node.astext().strip()
    try:
        return spaced(tex2mathml(source, as_block=display))
    except MathError as error:
        logger.warning("formula %r: %s", source, error, location=node)
        return f"<code>{escape(source)}</code>"


def visit_math(self: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    self.body.append(translated(self, node, display=False))
    after = node.next_node(descend=False, siblings=True)
    if isinstance(after, nodes.Text) and after.astext()[0] in ".,;:?!)-":
        self.body.append("&#8288;")  # no line begins with a comma
    raise nodes.SkipNode


def visit_math_block(self: Any, node: nodes.math_block) -> None:
    """Write a formula of its own."""
    self.body.append(self.starttag(node, "div", CLASS="math-block"))
    self.body.append(translated(self, node, display=True))
    self.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Tell Sphinx of the renderer."""
    app.add_html_math_renderer("offline", (visit_math, None), (visit_math_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
