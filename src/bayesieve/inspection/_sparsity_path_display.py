"""How much k features explain, what is proven of it, and how well they predict."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve._description import CrossValidation, describe
from bayesieve.inspection._model_path import path_of_model
from bayesieve.inspection._plotting import (
    ACCENT,
    SECOND,
    axes_of,
    count_axis,
    mark,
    panels,
)
from bayesieve.solvers import SparsityPath

__all__ = ["SparsityPathDisplay", "draw_path"]


def draw_path(path: SparsityPath, ax: Any = None) -> Any:
    """Draw gain and bound against k with elbow and BIC marked; returns the axes.

    The chord that the elbow is highest above is bent, because k has a logarithmic axis.
    """
    ax = axes_of(ax, width=6.4, height=4.0)
    k, elbow = path.k, path.elbow
    gain = path.objective - path.null_objective
    bound = path.upper_bound - path.null_objective
    if (bound - gain).max() > 1e-6 * gain.max():  # else there is nothing to see
        ax.fill_between(k, gain, bound, color="0.85", label="what is not proven")
        ax.plot(k, bound, color="0.45", linestyle="--", label="bound")
    ax.plot(k, gain, color=ACCENT, linewidth=2, label="best support found")
    run = max(int(k[-1] - k[0]), 1)
    chord = gain[0] + (gain[-1] - gain[0]) * (k - k[0]) / run
    ax.plot(k, chord, color="0.6", linestyle=":", linewidth=1, label="chord")
    at = int(np.searchsorted(k, elbow))
    ax.vlines(k[at], chord[at], gain[at], color=SECOND, linewidth=1)
    mark(ax, elbow, gain[at], "o", f"elbow, k = {elbow:,}")
    if not np.isnan(path.bic_values).all():
        bic = path.bic
        mark(ax, bic, gain[np.searchsorted(k, bic)], "s", f"least BIC, k = {bic:,}")
    count_axis(ax, float(k[-1]), float(k[0]))
    ax.set_ylim(bottom=0)
    if gain.max() >= 10:
        ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("number of features k")
    ax.set_ylabel("gain in log-likelihood (nats)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left", fontsize="small")
    return ax


class SparsityPathDisplay:
    """Picture of the path over k: gain and bound, the gap, cross-validated scores.

    Elbow and least BIC are marked on the path, the best and the one-standard-error size
    on the scores, and the size of the fitted model by a line. The gap has a panel of
    its own only where there is one.

    Parameters
    ----------
    path : SparsityPath, optional
    cross_validation : CrossValidation, optional
        Mean and standard error of a score over sizes; one of the two must be there.
    k : int, optional
        Size of the fitted model.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The first panel.
    axes_ : list of matplotlib Axes
        All panels, from top to bottom.
    figure_ : matplotlib Figure

    See Also
    --------
    sparsity_path : The path alone; its ``plot()`` is the first panel.

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import SparseMultinomialNB, SparsityPathDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> X = rng.poisson(1.0, size=(200, 30))
    >>> X[:, :3] += rng.poisson(3.0 * y[:, None], size=(200, 3))
    >>> model = SparseMultinomialNB(k=3, keep_counts=True).fit(X, y)
    >>> display = SparsityPathDisplay.from_estimator(model)
    >>> display.ax_.get_ylabel()
    'gain in log-likelihood (nats)'
    """

    def __init__(
        self,
        path: SparsityPath | None = None,
        *,
        cross_validation: CrossValidation | None = None,
        k: int | None = None,
    ) -> None:
        self.path = path
        self.cross_validation = cross_validation
        self.k = k

    @classmethod
    def from_path(cls, path: SparsityPath, *, ax: Any = None) -> SparsityPathDisplay:
        """Draw a path that is already there.

        Parameters
        ----------
        path : SparsityPath
        ax : matplotlib Axes, optional
        """
        if not isinstance(path, SparsityPath):
            raise TypeError(
                "SparsityPathDisplay.from_path draws a SparsityPath. "
                f"Got {type(path).__name__}. Hint: for an estimator use from_estimator."
            )
        return cls(path).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, counts: Any = None, ax: Any = None
    ) -> SparsityPathDisplay:
        """Draw the path of a fitted classifier or selector.

        Parameters
        ----------
        estimator : fitted sparse classifier, its CV version, or NaiveFeatureSelector
            Alone, in a Pipeline, or as ``(vectorizer, model)``.
        counts : ClassCounts, optional
            What it was fitted on; by default its ``counts_``. Without counts only a CV
            classifier has something to draw, its scores.
        ax : matplotlib Axes, optional
            For one panel: the path, or the scores where there is no path.
        """
        found = describe(estimator)
        counts = found.counts if counts is None else counts
        scores, path = found.sizes, None
        if counts is not None:
            solved = path_of_model(found, counts)
            path = None if solved is None else solved.path
        if path is None and scores is None:
            raise ValueError(
                "SparsityPathDisplay needs the counts of "
                f"{found.owner} or its cross-validation. Got neither. "
                "Hint: pass counts=, or fit with keep_counts=True."
            )
        return cls(path, cross_validation=scores, k=found.total).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> SparsityPathDisplay:
        """Draw the panels there is something to show in; one if ``ax`` is given."""
        path, scores = self.path, self.cross_validation
        if path is None and scores is None:
            raise ValueError(
                "SparsityPathDisplay needs a path or a cross-validation. Got neither."
            )
        parts = []
        if path is not None:
            parts.append((self._draw_path, 3.4))
            if path.gap.max() > 1e-9 * max(self._gain().max(), 1e-300):
                parts.append((self._draw_gap, 1.4))
        if scores is not None:
            parts.append((self._draw_scores, 2.2))
        if ax is not None or len(parts) == 1:
            parts = parts[:1]
            axes = [axes_of(ax, width=6.4, height=parts[0][1] + 0.6)]
        else:
            axes = panels([height for _, height in parts], width=6.4)
        for (draw, _), panel in zip(parts, axes, strict=True):
            draw(panel)
            panel.spines[["top", "right"]].set_visible(False)
            if panel is not axes[-1]:
                panel.set_xlabel("")
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        return self

    def _gain(self) -> np.ndarray:
        assert self.path is not None
        return self.path.objective - self.path.null_objective

    def _draw_path(self, ax: Any) -> None:
        assert self.path is not None
        draw_path(self.path, ax)
        if self.k is not None:
            self._draw_chosen(ax)
            ax.legend(frameon=False, loc="upper left", fontsize="small")

    def _draw_gap(self, ax: Any) -> None:
        """Relative gap; where it is closed there is no bar."""
        assert self.path is not None
        share = 100 * self.path.gap / np.maximum(self._gain(), 1e-300)
        ax.vlines(self.path.k, 0, share, color=ACCENT, linewidth=2)
        ax.set_ylim(bottom=0)
        ax.set_ylabel("gap (%)")
        ax.set_xlabel("number of features k")

    def _draw_scores(self, ax: Any) -> None:
        scores = self.cross_validation
        assert scores is not None
        low, high = scores.mean - scores.error, scores.mean + scores.error
        ax.fill_between(
            scores.values, low, high, color="0.88", label="± 1 standard error"
        )
        ax.plot(
            scores.values, scores.mean, color=ACCENT, linewidth=2, label="mean score"
        )
        at = dict(zip(scores.values.tolist(), scores.mean.tolist(), strict=True))
        best, one_se = scores.best, scores.one_se
        mark(ax, best, at[best], "D", f"best, k = {best:,}")
        label = f"one standard error, k = {one_se:,}"
        mark(ax, one_se, at[one_se], "o", label)
        if self.path is None and self.k is not None:
            self._draw_chosen(ax)
        count_axis(ax, float(scores.values[-1]), float(scores.values[0]))
        ax.set_xlabel("number of features k")
        ax.set_ylabel("cross-validated score")
        ax.legend(frameon=False, loc="lower right", fontsize="small")

    def _draw_chosen(self, ax: Any) -> None:
        ax.axvline(
            self.k,
            color="0.3",
            linewidth=1,
            linestyle=(0, (1, 2)),
            label=f"fitted, k = {self.k:,}",
        )
