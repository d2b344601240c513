"""What the displays share: matplotlib on demand, and shades that print well."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve.utils._feature_view import feature_names
from bayesieve.utils._path_picture import (
    ACCENT,
    SECOND,
    axes_of,
    count_axis,
    give_room,
    mark,
    pyplot,
)

__all__ = [
    "ACCENT",
    "SECOND",
    "axes_of",
    "bar_styles",
    "class_shades",
    "clipped",
    "count_axis",
    "line_styles",
    "mark",
    "names_of",
    "no_formulas",
    "panels",
    "require_fitted",
    "short_name",
    "spread_labels",
]

_HATCHES = ("", "//", "..", "\\\\", "xx", "oo", "--", "++")
_LONGEST_NAME = 32
_DASHES = ("-", "--", "-.")


def class_shades(n_classes: int) -> list[dict[str, Any]]:
    """Fill of each class: a colour of its own lightness, and a hatch after eight."""
    from matplotlib import colormaps

    shades = colormaps["viridis"](np.linspace(0.12, 0.92, max(n_classes, 2)))
    return [
        {
            "facecolor": shades[c],
            "hatch": _HATCHES[(c // 8) % len(_HATCHES)],
            "edgecolor": "white",
            "linewidth": 0.8,
        }
        for c in range(n_classes)
    ]


def bar_styles(positive: np.ndarray) -> list[dict[str, Any]]:
    """Dark bars for one sign, light hatched ones for the other."""
    dark = {"facecolor": ACCENT, "edgecolor": ACCENT}
    light = {"facecolor": "#f2d5c4", "edgecolor": SECOND, "hatch": "////"}
    return [dark if sign else light for sign in positive.tolist()]


def line_styles(n_lines: int) -> list[dict[str, Any]]:
    """A lightness and a dash for each line, so that neighbours differ in both."""
    from matplotlib import colormaps

    shades = colormaps["viridis"](np.linspace(0.0, 0.85, max(n_lines, 2)))
    return [
        {"color": shades[i], "linestyle": _DASHES[i % len(_DASHES)]}
        for i in range(n_lines)
    ]


def panels(heights: list[float], *, width: float) -> list[Any]:
    """Axes of one figure below each other, with a common x."""
    plt = pyplot()
    figure, axes = plt.subplots(
        len(heights),
        1,
        sharex=True,
        figsize=(width, sum(heights)),
        height_ratios=heights,
        layout="constrained",
        squeeze=False,
    )
    give_room(figure)
    return list(axes[:, 0])


def require_fitted(estimator: Any, attribute: str, *, display: str, draws: str) -> None:
    """Refuse an estimator that is not fitted, or that has nothing to draw here."""
    check_is_fitted(estimator)
    if not hasattr(estimator, attribute):
        raise TypeError(
            f"{display} draws {draws}. "
            f"Got {type(estimator).__name__}, which has no {attribute}."
        )


def short_name(name: str) -> str:
    """A feature's name in one short line."""
    name = " ".join(name.split()) or repr(name)
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"


def no_formulas(texts: Any) -> None:
    """Names are text: a dollar sign in one must not begin a formula."""
    for text in texts:
        text.set_parse_math(False)


def clipped(values: np.ndarray) -> np.ndarray:
    """Infinite weights drawn a little longer than the longest finite one."""
    finite = np.isfinite(values)
    if finite.all():
        return values
    longest = float(np.abs(values[finite]).max(initial=0.0)) or 1.0
    return np.where(finite, values, np.sign(values) * 1.25 * longest)


def spread_labels(wanted: np.ndarray, gap: float, low: float, high: float) -> Any:
    """Places for labels near the wanted ones, at least a gap apart, within limits.

    Groups of labels that would touch are spread around their common middle.
    """
    order = np.argsort(wanted, kind="stable")
    groups: list[list[float]] = []  # sum of wanted - offset, size
    for value in wanted[order]:
        groups.append([float(value), 1.0])
        while len(groups) > 1 and _start(groups[-1], gap) < _end(groups[-2], gap) + gap:
            total, size = groups.pop()
            groups[-1][0] += total
            groups[-1][1] += size
    placed = np.concatenate(
        [_start(g, gap) + gap * np.arange(int(g[1])) for g in groups] or [np.empty(0)]
    )
    # Whatever is left over at the top is pushed down, and at the bottom up again.
    steps = gap * np.arange(placed.shape[0])
    placed = np.minimum(placed, high - steps[::-1])
    placed = np.maximum(placed, low + steps)
    result = np.empty_like(placed)
    result[order] = placed
    return result


def _start(group: list[float], gap: float) -> float:
    return group[0] / group[1] - gap * (group[1] - 1) / 2


def _end(group: list[float], gap: float) -> float:
    return group[0] / group[1] + gap * (group[1] - 1) / 2


def names_of(estimator: Any, columns: Any, given: Any) -> list[str]:
    """Names of some columns: those given for all features, else the estimator's."""
    if given is None:
        return feature_names(estimator, columns)
    if len(given) != estimator.n_features_in_:
        raise ValueError(
            f"feature_names must name each of the {estimator.n_features_in_:,} "
            f"features. Got {len(given):,} names."
        )
    return [str(given[i]) for i in columns.tolist()]
