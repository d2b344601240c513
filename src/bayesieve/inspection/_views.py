"""What notebooks and ``plot`` methods show of objects that cannot draw themselves.

Called by name (`bayesieve.utils._drawing`); all names and labels are somebody else's
text and escaped.
"""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from bayesieve._description import Description, describe
from bayesieve.inspection._sparsity_path_display import draw_path
from bayesieve.naive_bayes._explanation import Explanation
from bayesieve.partition._column import PartitionTable

__all__ = [
    "described",
    "draw_path",
    "explanation",
    "notebook_summary",
    "partition_table",
]

_SHOWN = 10
_LONGEST_NAME = 60
_NUMBER = "text-align:right;font-variant-numeric:tabular-nums"


def notebook_summary(model: Any) -> str:
    """Sentence and strongest features of a fitted model, nothing before it is."""
    try:
        found = describe(model)
    except NotFittedError:
        return ""
    return described(found)


def described(found: Description) -> str:
    """Sentence and strongest features of a model."""
    shown = found.strongest(_SHOWN)
    rest = shown.total - shown.indices.shape[0]
    more = f"<div>and {rest:,} more</div>" if rest > 0 else ""
    return (
        '<div style="margin-top:.6em;font-family:system-ui,sans-serif">'
        f"<strong>{escape(shown.sentence)}</strong>{_features(shown)}{more}</div>"
    )


def _features(shown: Description) -> str:
    names, weights = shown.names, shown.weights
    if not names:
        return ""
    titles = ["feature", shown.score_name]
    several = weights is not None and shown.signed and len(shown.classes) > 2
    if several:
        titles.append("speaks for")
    elif weights is not None:
        titles.append(shown.weight_name)
    if shown.towards is not None:
        titles.append("speaks for")
    lines = []
    for j, name in enumerate(names):
        cells = [("text-align:left", name), (_NUMBER, f"{shown.score[j]:,.4g}")]
        if weights is not None and several:
            best = shown.classes[int(np.argmax(weights[:, j]))]
            cells.append(("text-align:left", best))
        elif weights is not None:
            sign = "+" if shown.signed else ""
            cells.append((_NUMBER, f"{weights[0, j]:{sign}.2f}"))
        if shown.towards is not None:
            towards = shown.towards[j]
            cells.append(("text-align:left", "" if towards is None else str(towards)))
        lines.append(
            "".join(f'<td style="{s}">{escape(_short(t))}</td>' for s, t in cells)
        )
    head = "".join(
        f'<th style="text-align:{"left" if i == 0 else "right"}">{escape(title)}</th>'
        for i, title in enumerate(titles)
    )
    return _table(head, lines)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"


def partition_table(table: PartitionTable) -> str:
    """The parts of a column."""
    head, *body = ([escape(cell) for cell in line] for line in table.as_text())
    lines = ["".join(f"<td>{cell}</td>" for cell in line) for line in body]
    titles = "".join(f"<th>{cell}</th>" for cell in head)
    return _table(titles, lines, caption=table.title)


def explanation(found: Explanation) -> str:
    """What speaks for the class that is predicted for one row, or how many rows."""
    if len(found) != 1:
        return f"<div>{escape(str(found))}</div>"
    head, *body = found.as_text()
    styles = ["text-align:left", "text-align:left", _NUMBER, _NUMBER]

    def cells(tag: str, line: list[str]) -> str:
        styled = zip(styles, line, strict=True)
        return "".join(f'<{tag} style="{s}">{escape(t)}</{tag}>' for s, t in styled)

    titles, lines = cells("th", head), [cells("td", line) for line in body]
    other = found.counterfactual()
    told = "" if other is None else f"<div>{escape(str(other))}</div>"
    return _table(titles, lines, caption=found.title()) + told


def _table(head: str, lines: list[str], caption: str = "") -> str:
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
