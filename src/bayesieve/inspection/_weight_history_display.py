"""How the criterion of the weights fell during the search."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve._pipeline import open_model
from bayesieve.inspection._plotting import axes_of

__all__ = ["WeightHistoryDisplay"]


class WeightHistoryDisplay:
    """Criterion against iterations or seconds, here and best so far.

    Parameters
    ----------
    history : ndarray of shape (n_points, 4)
        Iteration, seconds, criterion, best criterion so far.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SelectiveNB, WeightHistoryDisplay
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 4))
    >>> model = SelectiveNB(optimizer="gradient").fit(X, X[:, 0] + X[:, 1] > 0)
    >>> display = WeightHistoryDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel()
    'iteration'
    """

    def __init__(self, history: np.ndarray) -> None:
        self.history = np.asarray(history, dtype=np.float64).reshape(-1, 4)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, against: str = "iteration", ax: Any = None
    ) -> WeightHistoryDisplay:
        """Draw the history of a fitted `SelectiveNB`.

        Parameters
        ----------
        estimator : SelectiveNB
            Alone, or at the end of a Pipeline.
        against : {"iteration", "seconds"}, default="iteration"
        ax : matplotlib Axes, optional
        """
        model = open_model(estimator).model
        if not hasattr(model, "history_"):
            raise TypeError(
                "WeightHistoryDisplay draws the search of a SelectiveNB. "
                f"Got {type(model).__name__}, which keeps no history."
            )
        return cls(model.history_).plot(against=against, ax=ax)

    def plot(
        self, *, against: str = "iteration", ax: Any = None
    ) -> WeightHistoryDisplay:
        """Draw both lines."""
        if against not in ("iteration", "seconds"):
            raise ValueError(
                f"against must be 'iteration' or 'seconds'. Got {against!r}."
            )
        ax = axes_of(ax, width=6.4, height=3.6)
        x = self.history[:, 0 if against == "iteration" else 1]
        ax.plot(x, self.history[:, 2], color="0.6", linewidth=1, label="criterion")
        ax.plot(
            x, self.history[:, 3], color="#1b3a6b", linewidth=2, label="best so far"
        )
        ax.set_xlabel(against)
        ax.set_ylabel("criterion (nats)")
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
