"""What a column adds to the scores over its values, with a posterior band."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.inspection._plotting import (
    ACCENT,
    axes_of,
    line_styles,
    no_formulas,
    short_name,
)
from bayesieve.inspection._shape_data import (
    ColumnCurve,
    column_curve,
    column_number,
    drawn_classes,
    has_shape,
    is_crowded,
    shapes_of,
    shown_bounds,
)
from bayesieve.utils._optional import optional_module

__all__ = ["ShapeDisplay"]

_DAY = 86_400.0
#: Share of the height that the rows of the bins take up below the curves.
_ROWS_HEIGHT = 0.14
_MOST_TICKS = 8
_MOST_BANDS = 3  # of more curves bands would hide each other


class ShapeDisplay:
    """Picture of the shape of one column of a `SelectiveNB`.

    Of two classes the log-odds that the column adds, times its weight, relative to the
    share of the class in all rows; of more the lift of each class in logarithms. The
    band is the central 95 % of the posterior of the class probability of each bin,
    taken as the Beta distribution of its mean and deviation, on the same scale. Numbers
    are steps over their values, missing ones stand apart at the left, grey bars are the
    density of the training rows; categories are bars with the band as a whisker.

    Parameters
    ----------
    curve : ColumnCurve
        What `from_estimator` takes from a model.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    PairDisplay : Two or three columns together.
    PartitionDisplay : The best partition of a column.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SelectiveNB, ShapeDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 2))
    >>> y = np.where(rng.normal(size=500) < X[:, 0], "yes", "no")
    >>> display = ShapeDisplay.from_estimator(SelectiveNB().fit(X, y), "x0")
    >>> display.ax_.get_ylabel()
    'log-odds of yes (nats)'
    """

    def __init__(self, curve: ColumnCurve) -> None:
        self.curve = curve

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        feature: int | str,
        *,
        label: Any = None,
        feature_names: Any = None,
        ax: Any = None,
    ) -> ShapeDisplay:
        """Draw the shape of one column of a fitted model.

        Parameters
        ----------
        estimator : SelectiveNB
            Fitted with ``partitions="averaged"``, alone or at the end of a Pipeline.
        feature : int or str
            Number or name of the column.
        label : object, optional
            The class to draw; by default the second of two, else all of them.
        feature_names : array-like of str of shape (n_features_in_,), optional
            Names of the columns that reach the model, where neither it nor the steps
            before it know them.
        ax : matplotlib Axes, optional
        """
        table, shapes = shapes_of(estimator, feature_names)
        names = [own.name for own in table.partitions]
        j = column_number(names, feature)
        if not has_shape(shapes.columns[j]):
            raise ValueError(
                f"There is nothing to draw: rows do not differ in column {names[j]!r}, "
                "or it holds texts. Hint: FeatureWeightsDisplay draws n-grams."
            )
        classes = drawn_classes(shapes.columns[j].bins.classes, label)
        return cls(column_curve(table, shapes, j, classes)).plot(ax=ax)

    def plot(self, *, ax: Any = None, max_values: int = 40) -> ShapeDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
        max_values : int, default=40
            Most bars of categories, those with most rows.
        """
        curve = self.curve
        if curve.edges is not None:
            ax = axes_of(ax, width=6.6, height=3.9)
            self._draw_steps(ax)
        else:
            shown = self._shown_values(max_values)
            several = len(curve.classes) > 1
            height = 1.4 + 0.28 * len(shown) * (1 + 0.3 * several)
            ax = axes_of(ax, width=6.6, height=height)
            self._draw_bars(ax, shown)
        names = curve.column.classes.tolist()
        if len(curve.classes) > 1:
            legend = ax.legend(
                loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False
            )
            no_formulas(legend.get_texts())
            words = "lift of each class (nats)"
        elif len(names) == 2:
            words = f"log-odds of {short_name(str(names[curve.classes[0]]))} (nats)"
        else:
            words = f"lift of {short_name(str(names[curve.classes[0]]))} (nats)"
        (ax.set_xlabel if curve.edges is None else ax.set_ylabel)(words)
        weight = f"weight {curve.weight:.2f}" if curve.used else "no weight by itself"
        title = f"{short_name(curve.column.name)}: {weight}, "
        title = f"{title}evidence {curve.evidence:,.1f} nats"
        ax.set_title(title, loc="left", parse_math=False)
        ax.spines[["top", "right"]].set_visible(False)
        no_formulas([ax.xaxis.label, ax.yaxis.label])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    # ----------------------------------------------------------------------- numbers

    def _draw_steps(self, ax: Any) -> None:
        curve = self.curve
        assert curve.edges is not None
        is_date = curve.column.is_time and curve.column.origin is None
        equal = is_crowded(curve.edges)
        edges = curve.edges / _DAY if is_date else curve.edges
        edges = np.arange(edges.size, dtype=np.float64) if equal else edges
        styles = self._styles()
        for k, style in enumerate(styles):
            values, low, high = (
                own[1:, k] for own in (curve.values, curve.low, curve.high)
            )
            if len(styles) <= _MOST_BANDS:
                ax.stairs(
                    high,
                    edges,
                    baseline=low,
                    fill=True,
                    color=style["color"],
                    alpha=0.2,
                    linewidth=0,
                )
            ax.stairs(values, edges, baseline=None, linewidth=1.8, **style)
        ax.axhline(0, color="0.4", linewidth=0.8, zorder=0)
        width = float(edges[-1] - edges[0]) or 1.0
        self._draw_missing(ax, edges[0] - 0.09 * width, styles)
        ax.set_xlim(edges[0] - (0.17 if curve.missing is not None else 0.02) * width)
        ax.set_xlim(right=edges[-1] + 0.02 * width)
        self._set_height(ax)
        self._draw_density(ax, edges)
        name = short_name(curve.column.name)
        if equal:
            ticks = np.unique(np.linspace(1, edges.size - 2, _MOST_TICKS).astype(int))
            labels = shown_bounds(curve.column, curve.edges[ticks])
            ax.set_xticks(ticks, labels, fontsize="small")
            name = f"{name} (bins as wide as each other)"
        elif is_date:
            dates = optional_module("matplotlib.dates", purpose="Drawing", extra="plot")
            locator = dates.AutoDateLocator()
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
        elif curve.column.origin is not None:
            from matplotlib.ticker import FuncFormatter, MaxNLocator

            shown = curve.column.shown
            ax.xaxis.set_major_locator(MaxNLocator(2))
            ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: shown(x)))
            ax.tick_params(axis="x", labelsize="small")
        ax.set_xlabel(name)

    def _styles(self) -> list[dict[str, Any]]:
        names = self.curve.column.classes.tolist()
        if len(self.curve.classes) == 1:
            return [{"color": ACCENT}]
        styles = line_styles(len(self.curve.classes))
        return [
            style | {"label": short_name(str(names[c]))}
            for style, c in zip(styles, self.curve.classes, strict=True)
        ]

    def _draw_missing(self, ax: Any, x: float, styles: list[dict[str, Any]]) -> None:
        curve = self.curve
        if curve.missing is None:
            return
        for k, style in enumerate(styles):
            value, low, high = (
                own[curve.missing, k] for own in (curve.values, curve.low, curve.high)
            )
            banded = len(styles) <= _MOST_BANDS
            band = [[value - low], [high - value]] if banded else None
            ax.errorbar(
                [x], [value], yerr=band, fmt="o", markersize=5, color=style["color"]
            )
        ax.annotate(
            f"missing\n({curve.rows[0]:,.0f} rows)",
            (x, 1.0),
            xycoords=("data", "axes fraction"),
            ha="center",
            va="top",
            fontsize="x-small",
            color="0.3",
        )

    def _set_height(self, ax: Any) -> None:
        """Room for the band, but not for where it goes to infinity."""
        curve = self.curve
        first = 0 if curve.missing is not None else 1
        values = curve.values[first:]
        band = curve.high[first:] - curve.low[first:]
        span = max(float(np.ptp(values)), float(np.median(band))) or 1.0
        low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
        if values.shape[1] <= _MOST_BANDS:
            low = min(low, max(float(curve.low[first:].min()), low - 0.8 * span))
            high = max(high, min(float(curve.high[first:].max()), high + 0.8 * span))
        room = 0.06 * (high - low)
        top = high + room * (3 if curve.missing is not None else 1)
        bottom = low - room - _ROWS_HEIGHT * (top - low) * 1.2
        ax.set_ylim(bottom, top)

    def _draw_density(self, ax: Any, edges: np.ndarray) -> None:
        density = self.curve.rows[1:] / np.maximum(np.diff(edges), 1e-300)
        # A root keeps long tails visible beside a spike.
        height = np.sqrt(density / max(float(density.max(initial=0.0)), 1e-300))
        ax.bar(
            edges[:-1],
            _ROWS_HEIGHT * height,
            np.diff(edges),
            align="edge",
            color="0.82",
            edgecolor="white",
            linewidth=0.3,
            transform=ax.get_xaxis_transform(),
            zorder=0.5,
        )

    # -------------------------------------------------------------------- categories

    def _shown_values(self, most: int) -> np.ndarray:
        curve = self.curve
        largest = np.argsort(-curve.rows[curve.bins], kind="stable")[:most]
        return np.sort(largest)

    def _draw_bars(self, ax: Any, shown: np.ndarray) -> None:
        curve = self.curve
        bins, labels = curve.bins[shown], curve.labels
        n_curves = len(curve.classes)
        height = 0.72 / n_curves
        for k, style in enumerate(self._styles()):
            values = curve.values[bins, k]
            reach = np.abs(curve.values[bins]).max(initial=0.0) * 1.8 + 0.1
            low = np.maximum(curve.low[bins, k], values - reach)
            high = np.minimum(curve.high[bins, k], values + reach)
            places = np.arange(bins.size) + (k - (n_curves - 1) / 2) * height
            ax.barh(
                places,
                values,
                height,
                color=style["color"],
                alpha=0.75,
                label=style.get("label"),
            )
            if n_curves <= _MOST_BANDS:
                ax.errorbar(
                    values,
                    places,
                    xerr=[values - low, high - values],
                    fmt="none",
                    ecolor="0.25",
                    elinewidth=1,
                    capsize=2,
                )
        names = [
            f"{short_name(labels[i])}  ({curve.rows[b]:,.6g})"
            for i, b in zip(shown.tolist(), bins.tolist(), strict=True)
        ]
        ax.set_yticks(range(len(names)), names, fontsize="small", parse_math=False)
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.axvline(0, color="0.3", linewidth=0.8)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        left = curve.bins.size - bins.size
        if left:
            ax.set_ylabel(f"{left:,} more with fewer rows", fontsize="small")
