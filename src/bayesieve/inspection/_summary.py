"""A fitted model in a few lines, for notebooks and terminals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayesieve._description import Description, describe
from bayesieve.inspection._views import described

__all__ = ["ModelSummary", "summary"]

_SHOWN = 10
_LONGEST_NAME = 40


@dataclass(frozen=True)
class ModelSummary:
    """What is proven of a model, and its strongest features.

    Attributes
    ----------
    description : Description
        What the fitted model says of itself.
    """

    description: Description

    @property
    def sentence(self) -> str:
        """What is proven, in plain words."""
        return self.description.sentence

    @property
    def features(self) -> list[str]:
        """Names of the features in use, the strongest first."""
        return self.description.strongest().names

    def __str__(self) -> str:
        shown = self.description.strongest(_SHOWN)
        weights, towards = shown.weight_of_each()
        lines = [f"{shown.owner}: {shown.sentence}"]
        names = [_short(name) for name in shown.names]
        width = max((len(name) for name in names), default=0)
        rows = zip(names, shown.score.tolist(), weights, towards, strict=False)
        for name, score, weight, label in rows:
            told = "" if weight is None else f"  weight {weight:+.2f}"
            told += "" if label is None else f"  for {label}"
            lines.append(f"  {name:<{width}}  {score:.4g} {shown.score_name}{told}")
        rest = shown.total - shown.indices.shape[0]
        if rest > 0:
            lines.append(f"  and {rest:,} more")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return described(self.description)


def summary(model: Any, feature_names: Any = None) -> ModelSummary:
    """Show a fitted model in a few lines, with the names of the pipeline it is in.

    Parameters
    ----------
    model : estimator, Pipeline, search or tuple of fitted steps
        A fitted classifier, selector or encoder of this package, alone or behind other
        steps, such as ``make_pipeline(CountVectorizer(), model)`` or ``(vectorizer,
        model)``.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that reach the estimator, where nothing knows them.

    Returns
    -------
    ModelSummary
        A table in a notebook, a few lines where it is printed.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> from bayesieve import SparseMultinomialNB
    >>> from bayesieve.inspection import summary
    >>> texts = ["good good film", "a good plot", "a bad film", "bad bad plot"]
    >>> model = make_pipeline(CountVectorizer(), SparseMultinomialNB(k=2))
    >>> summary(model.fit(texts, [1, 1, 0, 0])).features
    ['bad', 'good']
    """
    return ModelSummary(describe(model, feature_names))


def _short(name: str) -> str:
    name = " ".join(name.split())
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
