"""How often each feature is selected when rows are resampled."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.feature_selection import stability_selection
from bayesieve.inspection._plotting import ACCENT, SECOND, axes_of, short_name
from bayesieve.model_selection import StabilitySelection

__all__ = ["StabilityDisplay"]


class StabilityDisplay:
    """Picture of selection frequencies: the most frequent features, and the cutoff.

    A dot is the share of resamples that select the feature, a line its 95 % interval.
    Filled dots reach the cutoff. Pairs tell below how many features are expected at
    most to get there by chance.

    Parameters
    ----------
    found : StabilitySelection
        What `stability_selection` returns.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import (
    ...     NaiveFeatureSelector, StabilityDisplay, stability_selection
    ... )
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.poisson(1.0, size=(400, 10))
    >>> X[:, 0] += 2 * y
    >>> X[:, 1] += 1 - y
    >>> found = stability_selection(NaiveFeatureSelector(k=2), X, y, random_state=0)
    >>> display = StabilityDisplay(found).plot()
    >>> [tick.get_text() for tick in display.ax_.get_yticklabels()][:2]
    ['x0', 'x1']
    """

    def __init__(self, found: StabilitySelection) -> None:
        if not isinstance(found, StabilitySelection):
            raise TypeError(
                "StabilityDisplay draws the result of stability_selection. Got "
                f"{type(found).__name__}."
            )
        self.found = found

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        max_features: int = 30,
        feature_names: Any = None,
        ax: Any = None,
        **options: Any,
    ) -> StabilityDisplay:
        """Resample, select and draw.

        Parameters
        ----------
        estimator, X, y
            As `stability_selection` takes them.
        max_features : int, default=30
            Most features to draw.
        feature_names : array-like of str of shape (n_features,), optional
            Names, where X has none.
        ax : matplotlib Axes, optional
        **options
            Of `stability_selection`.
        """
        found = stability_selection(estimator, X, y, **options)
        display = cls(found)
        return display.plot(
            max_features=max_features, feature_names=feature_names, ax=ax
        )

    def plot(
        self, *, max_features: int = 30, feature_names: Any = None, ax: Any = None
    ) -> StabilityDisplay:
        """Draw a dot and an interval for each of the most frequent features."""
        if max_features < 1:
            raise ValueError(f"max_features must be an int >= 1. Got {max_features!r}.")
        found = self.found
        if feature_names is not None and len(feature_names) != found.n_features:
            raise ValueError(
                f"feature_names must have one name per feature, {found.n_features} in "
                f"all. Got {len(feature_names)}."
            )
        order = np.argsort(-found.frequencies_, kind="stable")[:max_features]
        order = order[found.frequencies_[order] > 0]
        if not order.size:
            raise ValueError("There is nothing to draw: no resample selects a feature.")
        if feature_names is None:
            names = found.names(order)
        else:
            names = [str(feature_names[i]) for i in order.tolist()]
        ax = axes_of(ax, width=6.4, height=1.3 + 0.22 * order.size)
        self._draw(ax, order)
        shown = [short_name(name) for name in names]
        ax.set_yticks(range(order.size), shown, fontsize="small", parse_math=False)
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(order.size - 0.5, -0.5)
        ax.set_xlim(0, 1.02)
        ax.set_xlabel(self._caption())
        left = int(np.count_nonzero(found.frequencies_)) - order.size
        if left:
            ax.set_title(
                f"the {order.size:,} most frequent, {left:,} more not shown",
                loc="left",
                fontsize="small",
            )
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.grid(axis="x", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Any, order: np.ndarray) -> None:
        found = self.found
        shares, intervals = found.frequencies_[order], found.frequency_intervals()
        places = np.arange(order.size)
        low, high = intervals[order].T
        ax.hlines(places, low, high, color="0.55", linewidth=2)
        stable = shares >= found.cutoff
        for which, fill in ((stable, ACCENT), (~stable, "white")):
            ax.plot(
                shares[which],
                places[which],
                "o",
                color=fill,
                markeredgecolor=ACCENT,
                markersize=6,
            )
        ax.axvline(found.cutoff, color=SECOND, linestyle="--", linewidth=1)

    def _caption(self) -> str:
        found = self.found
        what = "halves of the rows" if found.method == "pairs" else "bootstraps"
        caption = f"share of {found.n_resamples:,} {what} that select the feature"
        if found.error_bound_ is None:
            return caption
        bound = f"{found.error_bound_:.2g}"
        return f"{caption}\nat most {bound} expected right of the line by chance"
