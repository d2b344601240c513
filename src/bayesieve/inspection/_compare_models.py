"""How two fitted models differ: settings, features, proof, and what they predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest

from bayesieve._description import Description, describe
from bayesieve._pipeline import open_model
from bayesieve.solvers import Certificate

__all__ = [
    "ComparedFeature",
    "ComparedModel",
    "ModelComparison",
    "PredictionComparison",
    "PredictionTally",
    "class_codes",
    "compare_models",
]

#: Class codes of labels that are not there, and of those that a model cannot say.
NO_LABEL, FOREIGN = -2, -1
_MOST_EXAMPLES = 5
#: A class that cannot be (alpha = 0) would cost infinitely much; as `select` counts it.
_WORST_LOG = -700.0


@dataclass(frozen=True)
class ComparedModel:
    """What one of two models says of itself.

    Attributes
    ----------
    kind : str
        Name of its class.
    classes : list
    n_selected, n_features : int
        Features in use, and those there were to choose among.
    unit : str
        What features are called: "features", "terms", "columns", "k-mers" or "n-grams".
    weight_name, score_name : str
        What the weights and the scores of its features are.
    sentence, detail : str
        What is proven of it, in words and in numbers.
    certificate : Certificate or None
    dual_gap : float or None
    """

    kind: str
    classes: list[Any]
    n_selected: int
    n_features: int
    unit: str
    weight_name: str
    score_name: str
    sentence: str
    detail: str
    certificate: Certificate | None
    dual_gap: float | None

    @classmethod
    def of(cls, found: Description) -> ComparedModel:
        """Take it from a description."""
        return cls(
            found.owner,
            found.labels.tolist(),
            found.n_used,
            found.n_features,
            found.noun,
            found.weight_name,
            found.score_name,
            found.sentence,
            found.detail,
            found.certificate,
            found.dual_gap,
        )


@dataclass(frozen=True)
class ComparedFeature:
    """One feature in two models; what a model does not use is None.

    Attributes
    ----------
    name : str
    weights, scores : tuple of two
        Weight, and gain or importance, in each model.
    towards : tuple of two
        The class the feature speaks for in each model, where a weight has a sign.
    """

    name: str
    weights: tuple[float | None, float | None]
    scores: tuple[float | None, float | None]
    towards: tuple[Any, Any]

    @property
    def place(self) -> str:
        """Where it is used: "both", "first" or "second"."""
        if None not in self.scores:
            return "both"
        return "second" if self.scores[0] is None else "first"


@dataclass(frozen=True)
class PredictionComparison:
    """What two models predict for the same rows.

    Attributes
    ----------
    n_rows, n_agree : int
        Rows, and those with the same prediction.
    n_labelled : int
        Rows with a label; those below are of these alone.
    n_right : tuple of two int
        Rows that each model has right.
    n_only_right : tuple of two int
        Rows that this model has right and the other has not.
    log_loss : tuple of two float
        Mean over the rows whose label both models know, in nats; NaN without any.
    p_value : float
        Of McNemar's exact test: chance of `n_only_right` at least as uneven if both are
        right equally often; NaN without labels.
    examples : list of tuple
        ``(row, prediction, prediction of the other, label or None)`` of the first rows
        where they differ, counted from 0.
    """

    n_rows: int
    n_agree: int
    n_labelled: int
    n_right: tuple[int, int]
    n_only_right: tuple[int, int]
    log_loss: tuple[float, float]
    p_value: float
    examples: list[tuple[int, Any, Any, Any]]

    @property
    def accuracy(self) -> tuple[float, float]:
        """Share of the labelled rows that each model has right, NaN without any."""
        if not self.n_labelled:
            return np.nan, np.nan
        first, second = self.n_right
        return first / self.n_labelled, second / self.n_labelled


@dataclass(frozen=True)
class ModelComparison:
    """How two models differ.

    Attributes
    ----------
    models : tuple of two ComparedModel
    settings : dict of str to tuple
        Parameters that both kinds of model have, and that differ.
    features : list of ComparedFeature
        Those of both models, strongest first: by the larger of the two shares that a
        feature has of the scores of its model.
    predictions : PredictionComparison or None
    """

    models: tuple[ComparedModel, ComparedModel]
    settings: dict[str, tuple[Any, Any]]
    features: list[ComparedFeature]
    predictions: PredictionComparison | None = None

    def only(self, place: str) -> list[ComparedFeature]:
        """The features of "both", of the "first" or of the "second" model alone."""
        return [feature for feature in self.features if feature.place == place]


def compare_models(
    model: Any, other: Any, X: Any = None, y: Any = None, *, feature_names: Any = None
) -> ModelComparison:
    """Compare two fitted models, and what they predict where rows are given.

    Parameters
    ----------
    model, other : classifiers, selectors or encoders
        Two fitted models of the package, of one kind or of two; each alone, in a
        Pipeline, or as ``(vectorizer, model)``.
    X : DataFrame, array, sparse matrix or sequence of str, optional
        Rows that both models can read.
    y : array-like of shape (n_samples,), optional
        Their labels.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns of both models, where they do not know them.

    Returns
    -------
    ModelComparison
        Features are matched by name (``x7`` where columns have none), ranked by the
        share they have of all scores of their model; the test of accuracies is
        **exact**.

    Examples
    --------
    >>> from bayesieve import SparseTextNB
    >>> from bayesieve.inspection import compare_models
    >>> texts = ["good good film", "a good plot", "a bad film", "bad bad plot"]
    >>> one = SparseTextNB(k=2).fit(texts, [1, 1, 0, 0])
    >>> all_terms = SparseTextNB(k="all").fit(texts, [1, 1, 0, 0])
    >>> found = compare_models(one, all_terms, texts, [1, 1, 0, 0])
    >>> [feature.name for feature in found.only("both")]
    ['bad', 'good']
    >>> found.settings
    {'k': (2, 'all')}
    >>> found.predictions.n_agree
    4
    """
    ours, theirs = (open_model(own, feature_names) for own in (model, other))
    pair = describe(ours), describe(theirs)
    found = None
    if X is not None:
        tally = PredictionTally(ours.predictor.classes_, theirs.predictor.classes_)
        labels = None if y is None else np.asarray(y).tolist()
        tally.add(ours.predict_proba(X), theirs.predict_proba(X), labels)
        found = tally.result()
    return ModelComparison(
        (ComparedModel.of(pair[0]), ComparedModel.of(pair[1])),
        _settings(ours.model, theirs.model),
        _features(pair),
        found,
    )


def _settings(model: Any, other: Any) -> dict[str, tuple[Any, Any]]:
    """Parameters that both have, and whose values differ as they are written."""
    ours, theirs = (own.get_params(deep=False) for own in (model, other))
    return {
        name: (value, theirs[name])
        for name, value in ours.items()
        if name in theirs and repr(value) != repr(theirs[name])
    }


def _features(pair: tuple[Description, Description]) -> list[ComparedFeature]:
    known = [_by_name(found) for found in pair]
    names = dict.fromkeys([*known[0], *known[1]])
    rows = []
    for name in names:
        a, b = (own.get(name, (None, None, None, 0.0)) for own in known)
        feature = ComparedFeature(name, (a[0], b[0]), (a[1], b[1]), (a[2], b[2]))
        rows.append((max(a[3], b[3]), feature))
    rows.sort(key=lambda row: (-row[0], row[1].name))
    return [feature for _, feature in rows]


def _by_name(found: Description) -> dict[str, tuple[float | None, float, Any, float]]:
    """Weight, score, class and share of all scores of each feature."""
    weights, towards = found.weight_of_each()
    score = np.nan_to_num(found.score, nan=0.0)
    share = score / max(float(score.sum()), np.finfo(float).tiny)
    columns = (weights, score.tolist(), towards, share.tolist())
    rows = zip(*columns, strict=True)
    return dict(zip(found.names, rows, strict=True))


# ------------------------------------------------------------------------- predictions


def class_codes(labels: Sequence[Any], classes: Any) -> np.ndarray:
    """Place of each label among the classes: `NO_LABEL` or `FOREIGN` where it has none.

    Labels of a text file are strings, whatever the classes are, so labels and classes
    are compared as they are written; 1.0 is 1.
    """
    listed = classes.tolist()
    values = {label: place for place, label in enumerate(listed)}
    written = {str(label): place for place, label in enumerate(listed)}
    codes = np.empty(len(labels), dtype=np.int64)
    for row, label in enumerate(labels):
        if label is None or label == "" or label != label:
            codes[row] = NO_LABEL
        elif isinstance(label, int | float) and label in values:
            codes[row] = values[label]
        else:
            codes[row] = written.get(str(label), FOREIGN)
    return codes


class PredictionTally:
    """Counts what two models predict, batch by batch, in constant memory."""

    def __init__(self, classes: Any, other_classes: Any) -> None:
        self._classes = classes, other_classes
        written = {str(label): place for place, label in enumerate(classes.tolist())}
        # The class of the first model that each one of the second is; -3 for none.
        self._same = np.array([written.get(str(c), -3) for c in other_classes.tolist()])
        self._rows = self._agree = self._labelled = self._known = 0
        self._right, self._only, self._loss = np.zeros((3, 2))
        self.examples: list[tuple[int, Any, Any, Any]] = []

    def add(
        self, proba: np.ndarray, other_proba: np.ndarray, labels: list[Any] | None
    ) -> None:
        """Take the class probabilities of rows, and their labels if there are any."""
        chances = proba, other_proba
        best = [np.argmax(own, axis=1) for own in chances]
        shown = [own.tolist() for own in self._classes]
        agree = best[0] == self._same[best[1]]
        self._agree += int(np.count_nonzero(agree))
        for row in np.flatnonzero(~agree)[: _MOST_EXAMPLES - len(self.examples)]:
            said = shown[0][best[0][row]], shown[1][best[1][row]]
            label = None if labels is None else labels[row]
            self.examples.append((self._rows + int(row), *said, label))
        self._rows += proba.shape[0]
        if labels is None:
            return
        codes = [class_codes(labels, own) for own in self._classes]
        there = codes[0] != NO_LABEL
        self._labelled += int(np.count_nonzero(there))
        right = np.array([b == c for b, c in zip(best, codes, strict=True)])
        self._right += right.sum(axis=1)
        self._only += (right & ~right[::-1]).sum(axis=1)
        known = np.flatnonzero((codes[0] >= 0) & (codes[1] >= 0))
        self._known += known.shape[0]
        for place, (own, code) in enumerate(zip(chances, codes, strict=True)):
            with np.errstate(divide="ignore"):
                logs = np.log(own[known, code[known]])
            self._loss[place] -= np.maximum(logs, _WORST_LOG).sum()

    def result(self) -> PredictionComparison:
        """What was counted so far."""
        only = int(self._only[0]), int(self._only[1])
        p_value, loss = np.nan, (np.nan, np.nan)
        if self._labelled:
            differ = sum(only)
            p_value = float(binomtest(only[0], differ).pvalue) if differ else 1.0
        if self._known:
            loss = tuple((self._loss / self._known).tolist())
        return PredictionComparison(
            self._rows,
            self._agree,
            self._labelled,
            (int(self._right[0]), int(self._right[1])),
            only,
            loss,
            p_value,
            self.examples,
        )
