"""What two or three columns add to the scores together: heat maps."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.inspection._plotting import (
    axes_of,
    grid_of_panels,
    no_formulas,
    short_name,
)
from bayesieve.inspection._shape_data import (
    CellAxis,
    PairMap,
    drawn_classes,
    pair_map,
    pair_number,
    shapes_of,
)

__all__ = ["PairDisplay"]

_MOST_TICKS = 8
_LONGEST_TICK = 18
_ACROSS = 4  # maps of a triple side by side


class PairDisplay:
    """Heat map of a pair of columns of a `SelectiveNB`; of a triple several maps.

    The colour is what the pair adds to the log-odds of a class of two, or to the lift
    of one of more in logarithms, times its weight. Cells hold about as many rows each
    along a side; what is written between them are values of the column. Hatched cells
    had no training row.

    Parameters
    ----------
    pair : PairMap
        What `from_estimator` takes from a model.
    class_names : list of str

    Attributes
    ----------
    ax_ : matplotlib Axes
    axes_ : list of matplotlib Axes
        One for each cell of the third column of a triple.
    figure_ : matplotlib Figure

    See Also
    --------
    ShapeDisplay : One column by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import PairDisplay, SelectiveNB
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(800, 3))
    >>> y = (X[:, 0] > 0.3) ^ (X[:, 1] > 0.3)
    >>> model = SelectiveNB(pairs=1).fit(X, y)
    >>> model.pairs_
    [(0, 1)]
    >>> PairDisplay.from_estimator(model, ("x0", "x1")).ax_.get_xlabel()
    'x0'
    """

    def __init__(self, pair: PairMap, class_names: list[str]) -> None:
        self.pair, self.class_names = pair, class_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: Any,
        *,
        label: Any = None,
        feature_names: Any = None,
        ax: Any = None,
    ) -> PairDisplay:
        """Draw one pair or triple of a fitted model.

        Parameters
        ----------
        estimator : SelectiveNB
            Fitted with ``partitions="averaged"``; its ``pairs_`` are those to draw.
        features : tuple of int or str
            Numbers or names of the two or three columns, in any order.
        label : object, optional
            The class to draw; by default the second of two, or the one of more whose
            lift differs most between the cells.
        feature_names : array-like of str of shape (n_features_in_,), optional
            Names of the columns that reach the model, where neither it nor the steps
            before it know them.
        ax : matplotlib Axes, optional
            For a pair; a triple has a figure of its own.
        """
        table, shapes = shapes_of(estimator, feature_names)
        names = [own.name for own in table.partitions]
        q = pair_number(names, shapes.pairs, features)
        classes = shapes.columns[0].bins.classes
        found = pair_map(shapes, q, drawn_classes(classes, label))
        if len(found.classes) > 1:
            rows = found.rows.reshape(-1)
            spread = np.abs(found.values.reshape(rows.size, -1)) * rows[:, None]
            best = found.classes[int(np.argmax(spread.sum(axis=0)))]
            found = pair_map(shapes, q, [best])
        return cls(found, [str(own) for own in classes.tolist()]).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> PairDisplay:
        """Draw the map, or those of a triple."""
        pair = self.pair
        values, rows, axes = pair.values[..., 0], pair.rows, list(pair.axes)
        limit = float(np.abs(values[rows > 0]).max(initial=0.0)) or 1.0
        if len(axes) == 2:
            tall = max(3.6, 0.24 * rows.shape[1] + 1.4)
            drawn = [axes_of(ax, width=6.6, height=tall)]
            image = self._draw(drawn[0], axes, values, rows, limit)
        else:
            if ax is not None:
                raise ValueError(
                    "ax must be None for three columns, which have a figure of their "
                    f"own. Got {type(ax).__name__}."
                )
            third = int(np.argmin(rows.shape))  # the fewest maps
            split = axes.pop(third)
            drawn = grid_of_panels(rows.shape[third], across=_ACROSS, side=2.6)
            for cell, own in enumerate(drawn):
                image = self._draw(
                    own,
                    axes,
                    np.take(values, cell, axis=third),
                    np.take(rows, cell, axis=third),
                    limit,
                    few=True,
                )
                title = f"{split.name}: {split.labels[cell]}"
                own.set_title(_cut(title, 34), fontsize="small", parse_math=False)
                if cell + _ACROSS < len(drawn):
                    own.set_xlabel("")
                    own.set_xticklabels([])
                if cell % _ACROSS:
                    own.set_ylabel("")
                    own.set_yticklabels([])
        figure = drawn[0].figure
        bar = figure.colorbar(image, ax=drawn, fraction=0.05, pad=0.02)
        bar.outline.set_visible(False)
        name = short_name(self.class_names[pair.classes[0]])
        what = "log-odds" if len(self.class_names) == 2 else "lift"
        bar.set_label(f"{what} of {name} (nats)", parse_math=False)
        title = f"weight {pair.weight:.2f}, evidence {pair.evidence:,.1f} nats"
        if len(axes) == len(pair.axes):
            drawn[0].set_title(title, loc="left")
        else:
            figure.suptitle(title, x=0.02, ha="left")
        self.axes_, self.ax_, self.figure_ = drawn, drawn[0], figure
        return self

    def _draw(
        self,
        ax: Any,
        axes: list[CellAxis],
        values: np.ndarray,
        rows: np.ndarray,
        limit: float,
        few: bool = False,
    ) -> Any:
        ax.patch.set(hatch="////", facecolor="0.94", edgecolor="0.78")
        shown = np.ma.masked_where(rows <= 0, values).T
        # White is no say.
        image = ax.pcolormesh(
            shown, cmap="PuOr", vmin=-limit, vmax=limit, rasterized=True
        )
        most = 4 if few else _MOST_TICKS
        _ticks(ax.xaxis, axes[0], most, horizontal=True)
        _ticks(ax.yaxis, axes[1], most, horizontal=False)
        ax.set_xlabel(short_name(axes[0].name))
        ax.set_ylabel(short_name(axes[1].name))
        ax.spines[:].set_visible(False)
        no_formulas(
            [
                *ax.get_xticklabels(),
                *ax.get_yticklabels(),
                ax.xaxis.label,
                ax.yaxis.label,
            ]
        )
        return image


def _ticks(axis: Any, side: CellAxis, most: int, *, horizontal: bool) -> None:
    """Bounds between cells of numbers, names in the middle of those of categories."""
    n_cells = len(side.labels)
    if side.bounds is None:
        places = np.arange(n_cells) + 0.5
        labels = [_cut(own, _LONGEST_TICK) for own in side.labels]
        step = 1 if n_cells <= 2 * most else 2
    else:
        places = np.arange(1.0, n_cells)
        labels = list(side.bounds)
        if labels and not labels[0]:  # missing numbers have a cell of their own
            places[0], labels[0] = 0.5, "missing"
        step = -(-len(labels) // most)
    axis.set_ticks(places[::step], labels[::step], fontsize="small")
    if horizontal and max(map(len, labels[::step]), default=0) > 5:
        for text in axis.get_ticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")
    if side.bounds is None:
        axis.set_tick_params(length=0)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"
