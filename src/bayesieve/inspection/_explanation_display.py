"""Why one row is scored as it is: from the base to its score, term by term."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve.inspection._explain import explain
from bayesieve.inspection._plotting import (
    axes_of,
    bar_styles,
    no_formulas,
    short_name,
)
from bayesieve.naive_bayes import Explanation

__all__ = ["ExplanationDisplay"]


class ExplanationDisplay:
    """Picture of one row: bars that lead from the base to the score of a class.

    Of two classes the score is the log-odds, of more how far the class lies above the
    mean of the others, in nats. The largest terms come first; dark bars speak for the
    class, hatched ones against it.

    Parameters
    ----------
    explanation : Explanation
        Of one row.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    Explanation : The numbers, of many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import ExplanationDisplay, SelectiveNB
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    >>> model = SelectiveNB(pairs=0).fit(X, y)
    >>> display = ExplanationDisplay.from_estimator(model, X[:1])
    >>> len(display.ax_.get_yticks())
    4
    """

    def __init__(self, explanation: Explanation) -> None:
        self.explanation = explanation

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        label: Any = None,
        by_column: bool = False,
        max_terms: int = 12,
        feature_names: Any = None,
        ax: Any = None,
    ) -> ExplanationDisplay:
        """Explain one row by a fitted model, and draw it.

        Parameters
        ----------
        estimator : a fitted classifier
            Alone, at the end of a Pipeline, or as ``(vectorizer, model)``.
        X : DataFrame, array-like, sparse matrix or texts
            One row, as the first of the steps takes it.
        label : object, optional
            The class whose score is drawn; by default the one that is predicted.
        by_column : bool, default=False
            Whether pairs and triples are shared among their columns.
        max_terms : int, default=12
            Most terms with a bar of their own.
        feature_names : array-like of str of shape (n_features_in_,), optional
            Names of the columns that reach the model, where neither it nor the steps
            before it know them.
        ax : matplotlib Axes, optional
        """
        found = explain(estimator, X, feature_names)
        found = found.by_column() if by_column else found
        return cls(found).plot(label=label, max_terms=max_terms, ax=ax)

    def plot(
        self, *, label: Any = None, max_terms: int = 12, ax: Any = None
    ) -> ExplanationDisplay:
        """Draw the bars."""
        found = self.explanation
        if len(found) != 1:
            raise ValueError(
                f"An ExplanationDisplay draws one row. Got {len(found):,} rows. "
                "Hint: explanation[3] is the explanation of one."
            )
        if max_terms < 1:
            raise ValueError(f"max_terms must be an int >= 1. Got {max_terms!r}.")
        label = found.predicted.tolist()[0] if label is None else label
        lines = found.lines(max_terms, label)
        names = [
            short_name(name) + (f" = {short_name(value)}" if value else "")
            for name, value, _ in lines
        ]
        told = [own for *_, own in lines]
        nats = _drawable(np.array(told))
        ax = axes_of(ax, width=8.2, height=1.3 + 0.29 * len(lines))
        # Every term begins where the last one ended, the first one at the base.
        ends = np.cumsum(nats[:-1])
        last = len(lines) - 1
        for place, style in enumerate(bar_styles(nats >= 0)):
            start = end = float(nats[place])
            if place in (0, last):
                ax.plot([end], [place], "D", color="0.35", markersize=6)
            else:
                start, end = float(ends[place - 1]), float(ends[place])
                ax.barh(
                    place, end - start, left=start, height=0.7, linewidth=0.6, **style
                )
            ax.annotate(
                f"{told[place]:+.2f}",
                (max(start, end), place),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontsize="x-small",
                color="0.2",
            )
        for place, end in enumerate(ends):
            ax.plot([end, end], [place, place + 1], color="0.55", linewidth=0.8)
        ax.set_yticks(range(len(names)), names, fontsize="small", parse_math=False)
        ax.set_ylim(len(names) - 0.5, -0.5)
        low, high = float(ends.min()), float(ends.max())
        room = 0.06 * (high - low or 1.0)
        ax.set_xlim(low - room, high + 2.2 * room)
        if low < 0.0 < high:
            ax.axvline(0, color="0.3", linewidth=0.8)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.9", linewidth=0.8)
        ax.set_axisbelow(True)
        two = found.classes.shape[0] == 2
        what = "log-odds of" if two else "nats above the mean of the others:"
        ax.set_xlabel(f"{what} {short_name(str(label))}")
        chance = found.probabilities[0, found.classes.tolist().index(label)]
        title = f"{short_name(str(label))}: probability {chance:.3f}"
        ax.set_title(title, loc="left", parse_math=False)
        no_formulas([ax.xaxis.label])
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _drawable(nats: np.ndarray) -> np.ndarray:
    """Finite lengths: what is impossible outweighs all the rest twice over."""
    finite = np.isfinite(nats)
    longest = 2.0 * np.abs(nats[finite]).sum() + 1.0
    found = np.where(finite, nats, np.copysign(longest, nats))
    if not finite[-1]:  # the score is where the last bar ends
        found[-1] = found[:-1].sum()
    return found
