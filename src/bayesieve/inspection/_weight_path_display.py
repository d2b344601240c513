"""How the weights of the features grow as the penalty falls."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bayesieve._description import describe
from bayesieve.inspection._plotting import (
    SECOND,
    axes_of,
    line_styles,
    short_name,
    spread_labels,
)

__all__ = ["WeightPathDisplay", "earliest_features"]

_LINE = 0.17  # inches between labels


def earliest_features(weights: Any, limit: int) -> np.ndarray:
    """Columns of a path in the order they enter, ties by their largest weight."""
    table = sparse.csc_array(weights, copy=True)
    table.eliminate_zeros()  # a stored zero has not entered
    used = np.flatnonzero(np.diff(table.indptr))
    if not used.shape[0]:
        return used
    starts = table.indptr[used]
    entered = np.minimum.reduceat(table.indices, starts)
    largest = np.maximum.reduceat(table.data, starts)
    order = np.lexsort((used, -largest, entered))
    return used[order[:limit]]


class WeightPathDisplay:
    """Picture of a path of weights: one line for each feature, named at the right.

    The penalty falls from left to right on a logarithmic axis, so features enter from
    left to right. The fitted penalty is marked, and with it the best and the
    one-standard-error choice where they are known.

    Parameters
    ----------
    lambdas : ndarray of shape (n_penalties,)
        Penalties, decreasing.
    weights : ndarray or sparse array of shape (n_penalties, n_features)
        Weights in [0, 1] at each penalty.
    names : sequence of str of length n_features
    marked : dict of str to float, optional
        Penalties to mark, by what they are called.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import WeightPathDisplay
    >>> weights = np.array([[0.0, 0.0], [0.4, 0.0], [0.8, 0.3]])
    >>> display = WeightPathDisplay([100.0, 10.0, 1.0], weights, ["free", "my"])
    >>> [text.get_text() for text in display.plot().ax_.texts]
    ['free', 'my']
    """

    def __init__(
        self,
        lambdas: Any,
        weights: Any,
        names: Any,
        *,
        marked: dict[str, float] | None = None,
    ) -> None:
        self.lambdas = np.asarray(lambdas, dtype=np.float64)
        self.weights = sparse.csc_array(weights)
        self.names = names
        self.marked = {} if marked is None else marked
        if self.weights.shape != (self.lambdas.shape[0], len(names)):
            raise ValueError(
                "weights must have a row for each penalty and a column for each name. "
                f"Got shape {self.weights.shape} for {self.lambdas.shape[0]} penalties "
                f"and {len(names)} names."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_features: int = 20,
        feature_names: Any = None,
        ax: Any = None,
    ) -> WeightPathDisplay:
        """Draw the path of a fitted `SelectiveMultinomialNB` or `SelectiveBernoulliNB`.

        Parameters
        ----------
        estimator : fitted classifier with a path_
            Alone, at the end of a Pipeline, or as ``(vectorizer, model)``.
        max_features : int, default=20
            Most features to draw, those that enter first.
        feature_names : array-like of str of shape (n_features_in_,), optional
            Names of the columns that reach the model, where neither it nor the steps
            before it know them.
        ax : matplotlib Axes, optional
        """
        found = describe(estimator, feature_names)
        path = found.weight_path
        if path is None or found.penalty is None:
            raise TypeError(
                "WeightPathDisplay draws the weights of a selective classifier against "
                f"its penalty. Got {found.owner}, which has no path_."
            )
        columns = earliest_features(path.weights, max_features)
        part = sparse.csc_array(path.weights)[:, columns]
        marked = {"fitted": found.penalty}
        if found.penalties is not None:
            marked["best"] = found.penalties.best
            marked["one standard error"] = found.penalties.one_se
        names = found.names_of(columns)
        display = cls(path.lambdas, part, names, marked=marked)
        return display.plot(max_features=max_features, ax=ax)

    def plot(self, *, max_features: int = 20, ax: Any = None) -> WeightPathDisplay:
        """Draw the features that enter first."""
        there = self.lambdas > 0  # a penalty of zero has no place on this axis
        lambdas = self.lambdas[there]
        columns = earliest_features(self.weights, max_features)
        if not columns.shape[0] or not lambdas.shape[0]:
            raise ValueError("There is nothing to draw: every weight is zero.")
        lines = self.weights[:, columns].toarray()[there]
        height = max(3.4, 1.0 + _LINE * columns.shape[0])
        ax = axes_of(ax, width=7.2, height=height)
        styles = line_styles(columns.shape[0])
        for j, style in enumerate(styles):
            ax.plot(lambdas, lines[:, j], linewidth=1.5, **style)
        ax.set_xscale("log")
        left, right = float(lambdas.max()), float(lambdas.min())
        if left == right:  # one penalty alone: a point with some room
            left, right = 2.0 * left, 0.5 * right
        ax.set_xlim(left, right)
        top = max(1.02 * float(lines.max()), 1e-3)
        ax.set_ylim(0, top)
        self._name_lines(ax, columns, lines[-1], styles, top / (height - 1.0))
        marks: dict[float, list[str]] = {}
        for label, value in self.marked.items():
            if value > 0:
                marks.setdefault(value, []).append(label)
        for number, (value, labels) in enumerate(marks.items()):
            dots = (0, (1, 1 + 2 * number))
            ax.axvline(value, color=SECOND, linestyle=dots, label=", ".join(labels))
        if marks:
            ax.legend(
                frameon=False,
                loc="lower left",
                bbox_to_anchor=(0.0, 1.0),  # above: weights begin and end in corners
                ncols=2,
                fontsize="small",
            )
        ax.set_xlabel("penalty λ, falling to the right")
        ax.set_ylabel("weight")
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _name_lines(
        self, ax: Any, columns: Any, ends: Any, styles: Any, inch: float
    ) -> None:
        """Write each name beside the end of its line, with a thread to it."""
        places = spread_labels(ends, _LINE * inch, 0.0, float(ax.get_ylim()[1]))
        right = ax.get_yaxis_transform()
        for j, (end, place) in enumerate(zip(ends, places, strict=True)):
            ax.plot(
                [1.0, 1.03],
                [end, place],
                color=styles[j]["color"],
                linewidth=0.6,
                transform=right,
                clip_on=False,
            )
            ax.text(
                1.04,
                place,
                short_name(self.names[columns[j]]),
                transform=right,
                va="center",
                fontsize="small",
                parse_math=False,
            )
