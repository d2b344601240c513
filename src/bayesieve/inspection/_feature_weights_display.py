"""Which features speak for which class, and how loudly."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve._description import Description, describe
from bayesieve.inspection._plotting import (
    axes_of,
    bar_styles,
    clipped,
    no_formulas,
    short_name,
)

__all__ = ["FeatureWeightsDisplay"]


class FeatureWeightsDisplay:
    """Picture of the weights of the selected features.

    Two classes: one signed bar for each feature. More classes: a heat map, features by
    classes, features ordered by the class they speak for. Models whose features have no
    sign (weights of columns, gains of categories) get plain bars.

    Parameters
    ----------
    description : Description
        What a fitted estimator says of its features.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import FeatureWeightsDisplay, SparseMultinomialNB
    >>> X = np.array([[3, 0, 1, 0], [4, 1, 0, 0], [0, 3, 1, 1], [0, 5, 0, 1]])
    >>> model = SparseMultinomialNB(k=3).fit(X, ["ham", "ham", "spam", "spam"])
    >>> display = FeatureWeightsDisplay.from_estimator(model)
    >>> [tick.get_text() for tick in display.ax_.get_yticklabels()]
    ['x1', 'x3', 'x0']
    """

    def __init__(self, description: Description) -> None:
        self.description = description

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Any = None,
        max_features: int = 40,
        ax: Any = None,
    ) -> FeatureWeightsDisplay:
        """Draw the weights of a fitted classifier, selector or encoder.

        Parameters
        ----------
        estimator : estimator, Pipeline or tuple of fitted steps
            A fitted estimator of this package, alone or behind other steps.
        feature_names : array-like of str of shape (n_features_in_,), optional
            Names of the columns that reach the model, where neither it nor the steps
            before it know them.
        max_features : int, default=40
            Most features to draw, those of largest gain.
        ax : matplotlib Axes, optional
        """
        found = describe(estimator, feature_names)
        return cls(found).plot(max_features=max_features, ax=ax)

    def plot(self, *, max_features: int = 40, ax: Any = None) -> FeatureWeightsDisplay:
        """Draw bars, or the heat map."""
        if max_features < 1:
            raise ValueError(f"max_features must be an int >= 1. Got {max_features!r}.")
        view = self.description.strongest(max_features)
        n_shown = view.indices.shape[0]
        if not n_shown:
            raise ValueError(
                "There is nothing to draw: the model has not selected any feature."
            )
        several = view.weights is not None and view.weights.shape[0] > 1
        width = 3.0 + 0.62 * len(view.classes) if several else 6.4
        ax = axes_of(ax, width=max(min(width, 14.0), 4.2), height=1.1 + 0.22 * n_shown)
        if several:
            self._draw_map(ax, view)
        else:
            self._draw_bars(ax, view)
        left = view.total - n_shown
        if left:
            ax.set_title(
                f"the {n_shown:,} of largest {view.score_name}, {left:,} more "
                "not shown",
                loc="left",
                fontsize="small",
            )
        ax.tick_params(axis="y", length=0)
        no_formulas([*ax.get_yticklabels(), *ax.get_xticklabels(), ax.xaxis.label])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bars(self, ax: Any, view: Description) -> None:
        given = view.score if view.weights is None else view.weights[0]
        order = np.argsort(-given, kind="stable")
        values = clipped(given)[order]
        styles = bar_styles(values >= 0)
        for place, (value, style) in enumerate(zip(values, styles, strict=True)):
            ax.barh(place, value, height=0.72, linewidth=0.6, **style)
        names = [short_name(name) for name in view.names_of(view.indices[order])]
        ax.set_yticks(range(len(names)), names, fontsize="small", parse_math=False)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.axvline(0, color="0.3", linewidth=0.8)
        label = view.score_name if view.weights is None else view.weight_name
        if view.weights is not None and view.signed:
            first, second = (short_name(name) for name in view.classes)
            label = f"← {first}    {label}    {second} →"
        ax.set_xlabel(label)
        ax.grid(axis="x", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)

    def _draw_map(self, ax: Any, view: Description) -> None:
        assert view.weights is not None
        weights = clipped(view.weights)
        spoken_for = np.argmax(weights, axis=0)
        order = np.lexsort((-weights.max(axis=0), spoken_for))
        table = weights[:, order].T
        limit = float(np.abs(table).max()) or 1.0
        # White is no say; the sign is written by a dot, which survives a copier.
        image = ax.imshow(
            table, cmap="PuOr", vmin=-limit, vmax=limit, aspect="auto", rasterized=True
        )
        rows, columns = np.nonzero(table > 0.25 * limit)
        ax.plot(columns, rows, "o", color="white", markeredgecolor="0.2", markersize=4)
        names = [short_name(name) for name in view.names_of(view.indices[order])]
        ax.set_yticks(range(len(names)), names, fontsize="small", parse_math=False)
        ax.set_xticks(
            range(len(view.classes)),
            [short_name(name) for name in view.classes],
            rotation=45 if max(map(len, view.classes)) > 6 else 0,
            ha="right" if max(map(len, view.classes)) > 6 else "center",
            fontsize="small",
            parse_math=False,
        )
        ax.spines[:].set_visible(False)
        ax.tick_params(axis="x", length=0)
        bar = ax.figure.colorbar(image, ax=ax, fraction=0.05, pad=0.02)
        bar.set_label(f"{view.weight_name} (dots: for the class)", fontsize="small")
        bar.outline.set_visible(False)
