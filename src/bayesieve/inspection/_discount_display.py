"""How much of its naive Bayes weight each feature keeps."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve._description import describe
from bayesieve.inspection._plotting import ACCENT, axes_of, clipped, short_name

__all__ = ["DiscountDisplay"]


class DiscountDisplay:
    """Picture of the discounts: the weight of each feature against its strength.

    Naive Bayes counts features that say the same twice. A feature that stands alone
    keeps a weight near 1; one whose news others bring as well is discounted. The
    strongest after discount are named.

    Parameters
    ----------
    strength : ndarray of shape (n_features,)
        Spread of the naive Bayes log-parameters over the classes, in nats.
    weights : ndarray of shape (n_features,)
        Discount of each feature in [0, 1].
    names : sequence of str of length n_features

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from bayesieve import DiscountDisplay
    >>> display = DiscountDisplay([3.0, 1.0], [0.5, 0.9], ["free", "my"]).plot()
    >>> display.ax_.get_ylabel()
    'weight kept'
    """

    def __init__(self, strength: Any, weights: Any, names: Any) -> None:
        self.strength = np.asarray(strength, dtype=np.float64)
        self.weights = np.asarray(weights, dtype=np.float64)
        self.names = names
        if not self.strength.shape == self.weights.shape == (len(names),):
            raise ValueError(
                "strength, weights and names must be equally long. Got "
                f"{self.strength.shape}, {self.weights.shape} and {len(names)} names."
            )

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_labels: int = 15,
        feature_names: Any = None,
        ax: Any = None,
    ) -> DiscountDisplay:
        """Draw the features of a fitted selective classifier.

        Parameters
        ----------
        estimator : SelectiveMultinomialNB or SelectiveBernoulliNB
            Alone, at the end of a Pipeline, or as ``(vectorizer, model)``.
        max_labels : int, default=15
            Most features to name.
        feature_names : array-like of str of shape (n_features_in_,), optional
            Names of the columns that reach the model, where neither it nor the steps
            before it know them.
        ax : matplotlib Axes, optional
        """
        found = describe(estimator, feature_names)
        if found.discounts is None:
            raise TypeError(
                "DiscountDisplay draws the weights of a selective classifier against "
                f"those of naive Bayes. Got {found.owner}, which does not "
                "have both."
            )
        display = cls(found.strength, found.discounts, found.names)
        return display.plot(max_labels=max_labels, ax=ax)

    def plot(self, *, max_labels: int = 15, ax: Any = None) -> DiscountDisplay:
        """Draw a point for each feature and name the strongest."""
        if not self.strength.shape[0]:
            raise ValueError("There is nothing to draw: no feature has a weight.")
        ax = axes_of(ax, width=6.4, height=4.2)
        strength = clipped(self.strength)
        ax.plot(
            strength,
            self.weights,
            "o",
            color=ACCENT,
            markersize=5,
            alpha=0.75 if len(self.names) > 60 else 1.0,
            markeredgecolor="white",
            markeredgewidth=0.5,
        )
        ax.axhline(1, color="0.6", linestyle=":", linewidth=1)
        ax.set_xlim(0, 1.12 * (float(strength.max()) or 1.0))
        ax.set_ylim(0, max(1.06, 1.06 * float(self.weights.max())))
        ax.set_xlabel("naive Bayes weight (nats between the classes)")
        ax.set_ylabel("weight kept")
        ax.spines[["top", "right"]].set_visible(False)
        self._name_strongest(ax, strength, max_labels)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _name_strongest(self, ax: Any, strength: np.ndarray, limit: int) -> None:
        """Name points by falling strength; no label covers another, or other points."""
        figure = ax.figure
        figure.draw_without_rendering()  # settles the layout that labels are fitted in
        taken: list[Any] = []
        places = ax.transData.transform(np.column_stack([strength, self.weights]))
        order = np.argsort(-strength, kind="stable")
        for j in order[: 10 * limit].tolist():
            if len(taken) >= limit:
                break
            for shift, side in (((6, 0), "left"), ((-6, 0), "right")):
                text = ax.annotate(
                    short_name(self.names[j]),
                    (strength[j], self.weights[j]),
                    xytext=shift,
                    textcoords="offset points",
                    ha=side,
                    va="center",
                    fontsize="small",
                    parse_math=False,
                )
                box = text.get_window_extent()
                inside = ax.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
                free = not any(box.overlaps(other) for other in taken)
                if inside and free and _points_within(box, places) == 0:
                    taken.append(box)
                    break
                text.remove()


def _points_within(box: Any, places: np.ndarray) -> int:
    """Points that a label would cover; its own lies beside it."""
    x, y = places.T
    across = (box.x0 <= x) & (x <= box.x1)
    return int(np.count_nonzero(across & (box.y0 <= y) & (y <= box.y1)))
