"""What a fitted estimator adds to scikit-learn's diagram in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from bayesieve.utils._feature_view import FeatureView, feature_view, model_sentence

__all__ = ["NotebookMixin", "summary_html"]

_SHOWN = 10
_LONGEST_NAME = 60
_CELL = 'style="text-align:right;font-variant-numeric:tabular-nums"'


class NotebookMixin:
    """Show the certificate and the top features below scikit-learn's own diagram."""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        # A property, as in scikit-learn: it is not there when diagrams are off.
        diagram = super()._repr_html_  # type: ignore[misc]
        return lambda: diagram() + summary_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += summary_html(self)
        return bundle


def summary_html(model: Any) -> str:
    """Sentence and table of a fitted model, nothing before; all text is escaped."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return ""
    view = feature_view(model, _SHOWN)
    rest = view.total - len(view.names)
    more = f"<div>and {rest:,} more</div>" if rest > 0 else ""
    return (
        '<div style="margin-top:.6em;font-family:system-ui,sans-serif">'
        f"<strong>{escape(model_sentence(model))}</strong>"
        f"{_table(view)}{more}</div>"
    )


def _table(view: FeatureView) -> str:
    if not view.names:
        return ""
    several = view.weights is not None and view.signed and len(view.classes) > 2
    titles = ["feature", view.score_name]
    if several:
        titles.append("speaks for")
    elif view.weights is not None:
        titles.append(view.weight_name)
    lines = []
    for j, name in enumerate(view.names):
        cells = [f'<td style="text-align:left">{escape(_short(name))}</td>']
        cells.append(f"<td {_CELL}>{view.score[j]:,.4g}</td>")
        if several:
            best = view.classes[int(np.argmax(view.weights[:, j]))]
            cells.append(f'<td style="text-align:left">{escape(_short(best))}</td>')
        elif view.weights is not None:
            sign = "+" if view.signed else ""
            cells.append(f"<td {_CELL}>{view.weights[0, j]:{sign}.2f}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    head = "".join(
        f'<th style="text-align:{"left" if i == 0 else "right"}">{escape(title)}</th>'
        for i, title in enumerate(titles)
    )
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
