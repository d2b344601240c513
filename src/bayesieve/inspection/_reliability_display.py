"""The calibration curve, with the rows behind each of its points."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bayesieve._pipeline import predictor_of, predictor_rows
from bayesieve.inspection._calibration import Calibration, calibration
from bayesieve.inspection._plotting import ACCENT, axes_of, no_formulas, short_name

__all__ = ["ReliabilityDisplay"]

_STRIP = 0.25  # share of the height for the rows of the bins


class ReliabilityDisplay:
    """Picture of the calibration: predicted probability against observed share.

    Points on the diagonal are honest. Each point has the standard error of its share
    and below it the number of rows it stands for; the log loss is in the title.

    Parameters
    ----------
    calibration : Calibration

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import numpy as np
    >>> from bayesieve import ReliabilityDisplay, SparseGaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=400)
    >>> X = rng.normal(size=(400, 3)) + y[:, None]
    >>> model = SparseGaussianNB(k=2).fit(X[:200], y[:200])
    >>> display = ReliabilityDisplay.from_estimator(model, X[200:], y[200:])
    >>> int(display.calibration.rows.sum())
    200
    """

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        pos_label: Any = None,
        n_bins: int = 10,
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """Predict rows, best ones that were not trained on, and draw.

        Parameters
        ----------
        estimator : fitted classifier with `predict_proba`
        X, y : rows and their labels
        pos_label : class label, optional
            Class whose probability is looked at: by default the second of two, and of
            more classes the predicted one of each row.
        n_bins : int, default=10
            Bins of equal width.
        ax : matplotlib Axes, optional
        """
        model = predictor_of(estimator)
        check_is_fitted(model)
        if not hasattr(model, "predict_proba"):
            raise TypeError(
                "ReliabilityDisplay draws the probabilities of a classifier. "
                f"Got {type(model).__name__}, which has no predict_proba."
            )
        return cls.from_predictions(
            y,
            model.predict_proba(predictor_rows(estimator, X)),
            classes=model.classes_,
            pos_label=pos_label,
            n_bins=n_bins,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        proba: Any,
        *,
        classes: Any,
        pos_label: Any = None,
        n_bins: int = 10,
        ax: Any = None,
    ) -> ReliabilityDisplay:
        """Draw probabilities that are already there.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
        proba : array-like of shape (n_samples, n_classes)
        classes : array-like of shape (n_classes,)
            In the order of the columns of proba.
        pos_label, n_bins, ax
            As in `from_estimator`.
        """
        found = calibration(proba, y, classes, pos_label=pos_label, n_bins=n_bins)
        return cls(found).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> ReliabilityDisplay:
        """Draw the curve and, along the bottom, the rows of each bin."""
        found = self.calibration
        ax = axes_of(ax, width=5.2, height=5.0)
        ax.plot([0, 1], [0, 1], color="0.6", linestyle=":", linewidth=1)
        share = found.rows / found.rows.sum()
        width = found.edges[:, 1] - found.edges[:, 0]
        # The rows have a strip of their own below the curve.
        floor = -_STRIP
        ax.bar(
            found.edges[:, 0],
            (_STRIP - 0.09) * share / share.max(),
            width,
            bottom=floor + 0.05,
            align="edge",
            color="0.75",
            edgecolor="white",
        )
        for (low, high), n in zip(found.edges, found.rows, strict=True):
            ax.text(
                (low + high) / 2,
                floor + 0.04,
                f"{n:,}",
                ha="center",
                va="top",
                fontsize="x-small",
            )
        ax.text(
            0.0, -0.02, "rows", fontsize="x-small", va="top", ha="left", color="0.35"
        )
        ax.axhline(0, color="0.8", linewidth=0.8)
        error = np.sqrt(found.observed * (1 - found.observed) / found.rows)
        ax.errorbar(
            found.predicted,
            found.observed,
            yerr=error,
            color=ACCENT,
            marker="o",
            markersize=6,
            linewidth=1.5,
            elinewidth=1,
        )
        of = "the predicted class" if found.label is None else short_name(found.label)
        ax.set_xlabel(f"predicted probability of {of}")
        ax.set_ylabel("observed share")
        ax.set_xlim(0, 1)
        ax.set_ylim(-_STRIP, 1.02)
        ax.set_yticks(np.linspace(0, 1, 6))
        ax.set_aspect("equal", adjustable="box")
        ax.set_title(
            f"log loss {found.log_loss:.3f} nats over {int(found.rows.sum()):,} rows",
            loc="left",
            fontsize="medium",
        )
        ax.spines[["top", "right"]].set_visible(False)
        no_formulas([ax.xaxis.label])
        self.ax_, self.figure_ = ax, ax.figure
        return self
