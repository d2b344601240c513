"""A column's parts: how many rows each holds, and of which classes."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import numpy as np

from bayesieve._description import describe
from bayesieve.inspection._plotting import axes_of, class_shades
from bayesieve.inspection._shape_data import column_number
from bayesieve.partition._column import ColumnPartition

__all__ = ["PartitionDisplay"]

_LABEL_WIDTH = 34  # characters of a line


class PartitionDisplay:
    """Picture of one partition: a bar for each part, cut by class.

    Parameters
    ----------
    partition : ColumnPartition

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    MODLEncoder, SelectiveNB : Estimators with partitions.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import MODLEncoder, PartitionDisplay
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(500, 1))
    >>> y = (np.abs(x[:, 0]) > 1).astype(int)
    >>> display = PartitionDisplay.from_estimator(MODLEncoder().fit(x, y), "x0")
    >>> len(display.ax_.get_yticklabels())
    3
    """

    def __init__(self, partition: ColumnPartition) -> None:
        self.partition = partition

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        feature: int | str,
        *,
        feature_names: Any = None,
        ax: Any = None,
        max_parts: int = 40,
    ) -> PartitionDisplay:
        """Draw the partition of one column of a fitted encoder or classifier.

        Parameters
        ----------
        estimator : MODLEncoder, SelectiveNB or AveragedNB
            Alone, in a Pipeline, or as ``(steps, model)``.
        feature : int or str
            Number or name of the column.
        feature_names : array-like of str of shape (n_features_in_,), optional
            Names of the columns that reach the model, where neither it nor the steps
            before it know them.
        ax : matplotlib Axes, optional
        max_parts : int, default=40
            Most parts to draw, the largest ones.
        """
        found = describe(estimator, feature_names)
        if found.table is None:
            raise TypeError(
                "PartitionDisplay draws a column of an estimator with partitions_. "
                f"Got {found.owner}."
            )
        partitions = found.table.partitions
        feature = column_number([own.name for own in partitions], feature)
        return cls(partitions[feature]).plot(ax=ax, max_parts=max_parts)

    def plot(self, *, ax: Any = None, max_parts: int = 40) -> PartitionDisplay:
        """Draw the parts from top to bottom, their height by the rows they hold."""
        partition = self.partition
        counts = partition.counts
        rows = counts.sum(axis=1)
        shown = np.sort(np.argsort(-rows, kind="stable")[:max_parts])
        counts, rows = counts[shown], rows[shown]
        labels = ["\n".join(wrap(partition.labels[i], _LABEL_WIDTH)) for i in shown]
        lines = sum(max(label.count("\n") + 1, 2) for label in labels)
        ax = axes_of(ax, width=7.2, height=1.7 + 0.19 * lines)
        shares = counts / np.maximum(rows, np.finfo(float).tiny)[:, None]
        # Heights between a thin bar and a full row, so that small parts stay visible.
        heights = 0.25 + 0.65 * rows / max(float(rows.max()), 1e-300)
        left = np.zeros(len(labels))
        places = np.arange(len(labels))
        shades = class_shades(counts.shape[1])
        for c, name in enumerate(partition.classes.tolist()):
            ax.barh(
                places, shares[:, c], heights, left=left, label=str(name), **shades[c]
            )
            left += shares[:, c]
        for place, n in enumerate(rows):
            ax.text(1.01, place, f"{n:,.6g}", va="center", fontsize="small")
        ax.set_yticks(places, labels, fontsize="small", parse_math=False)
        ax.invert_yaxis()
        ax.set_xlim(0, 1)
        ax.set_xlabel("share of each class in the part; rows at the right")
        title = f"{partition.name}: {partition.parts_told}"
        if len(labels) < partition.n_parts:
            title += f", the largest {len(labels)} shown"
        title = f"{title} (level {partition.level:.3f})"
        ax.set_title(title, loc="left", parse_math=False)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        if counts.shape[1] <= 40:
            legend = ax.legend(
                loc="upper left",
                bbox_to_anchor=(0, -0.9 / (1 + 0.19 * lines)),
                ncols=min(counts.shape[1], 4),
                fontsize="small",
                frameon=False,
            )
            for text in legend.get_texts():
                text.set_parse_math(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
