"""Fitted classifiers as plain scikit-learn pipelines, which need no bayesieve."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import VotingClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Binarizer, LabelEncoder
from sklearn.utils import Bunch

from bayesieve._pipeline import is_own, open_model
from bayesieve._scorecard import (
    CountTerms,
    LookupTerm,
    NormalTerms,
    Scorecard,
    Slopes,
    TextTerms,
)
from bayesieve.export._sklearn_columns import (
    counting_steps,
    dense_columns,
    encoder_of,
    refuse_sklearn,
    taking,
)

__all__ = ["to_sklearn"]


def to_sklearn(model: Any) -> Pipeline:
    """Return a fitted classifier as a Pipeline of scikit-learn's own steps.

    The pipeline needs no bayesieve where it runs: pickled here, it is read wherever
    this version of scikit-learn is. Labels and probabilities are those of the model:
    **exact** up to rounding, about 1e-12. Cost O(n_parts) of the selected columns.

    Parameters
    ----------
    model : estimator, Pipeline, search or tuple of fitted steps
        A fitted classifier. Steps of others before it are kept as they are, not copied;
        selectors of bayesieve become a SelectKBest.

    Returns
    -------
    pipeline : Pipeline
        Fitted: for texts a CountVectorizer with the selected terms, for columns a
        SelectKBest that takes the selected ones (sparse rows stay sparse), then a
        MultinomialNB whose ``feature_log_prob_`` are the weights. For measurements a
        ColumnTransformer and a GaussianNB.
        Mixed tables are read by FunctionTransformer, and cut by KBinsDiscretizer and
        OneHotEncoder. Where nothing was
        selected, a DummyClassifier.

    See Also
    --------
    to_onnx : For any runtime; takes dates and pairs of columns as well.
    to_vectorizer : The selected terms alone.

    Notes
    -----
    scikit-learn has no faithful steps for dates and times, for integers that doubles
    cannot tell apart, for pairs of columns, and for probabilities of zero
    (``alpha=0``); such models are refused, as are those with categories that are
    neither all strings nor all finite numbers. Rows are checked by scikit-learn alone,
    which is less strict: counts may be negative. For `SelectiveNB` and `AveragedNB` a
    number not above -3.4e38 counts as missing, a missing text is refused, as is
    ``pandas.NA`` among numbers in a column of objects (``astype("Float64")`` helps),
    and the last step, a VotingClassifier that mixes in the last smoothing, has no
    ``predict_log_proba``.

    Examples
    --------
    >>> from bayesieve import SparseTextNB, to_sklearn
    >>> texts = ["good good film", "a good plot", "a bad film", "bad bad plot"]
    >>> model = SparseTextNB(k=2).fit(texts, ["pos", "pos", "neg", "neg"])
    >>> pipeline = to_sklearn(model)
    >>> [type(step).__name__ for step in pipeline]
    ['CountVectorizer', 'MultinomialNB']
    >>> pipeline.predict(["a good film"]).tolist()
    ['pos']
    """
    opened = open_model(model)
    opened.require_last("An export")
    card: Scorecard = opened.model._scorecard()
    before = [_without_us(step) for step in opened.steps]
    names = getattr(opened.model, "feature_names_in_", None)
    return make_pipeline(*before, *_steps_of(card, names))


def _without_us(step: Any) -> Any:
    """A step before the model, as scikit-learn has it."""
    if not is_own(step):
        return step
    if not hasattr(step, "get_support"):
        raise ValueError(
            "to_sklearn takes selectors of bayesieve before a classifier, and steps of "
            f"others. Got a {type(step).__name__}."
        )
    names = getattr(step, "feature_names_in_", None)
    return taking(step.get_support(indices=True), step.n_features_in_, names)


def _steps_of(card: Scorecard, names: Any) -> list[Any]:
    """Fitted steps that do what a scorecard does."""
    terms = [own for own in card.terms if _reads(own)]
    if not terms:
        return [_mixed(_of_start(card), card)]
    first = terms[0]
    chosen = [own.number for own in card.columns]
    if isinstance(first, NormalTerms):
        if (first.variance <= 0).any():
            raise refuse_sklearn(card, "variances of zero", "var_smoothing above 0")
        model = _of_normals(card, first)
        return [dense_columns("passthrough", chosen, card.n_columns, names), model]
    if isinstance(first, CountTerms):
        steps: list[Any] = [taking(np.array(chosen), card.n_columns, names)]
        if first.binarize is not None:
            row = np.zeros((1, len(chosen)))
            steps.append(Binarizer(threshold=first.binarize).fit(row))
        _refuse_impossible(card, first.slopes)
        return [*steps, _linear(card, first.slopes.slope, first.slopes.offset)]
    if isinstance(first, TextTerms) and card.columns[first.column].kind == "text":
        _refuse_impossible(card, first.slopes)
        model = _linear(card, first.slopes.slope, first.slopes.offset)
        return [*counting_steps(first), model]
    encoder, slope, offset = encoder_of(card, names)
    return [encoder, _mixed(_linear(card, slope, offset), card)]


def _reads(term: Any) -> bool:
    if isinstance(term, LookupTerm):
        return True
    return bool(term.terms if isinstance(term, TextTerms) else term.columns)


def _refuse_impossible(card: Scorecard, slopes: Slopes) -> None:
    if slopes.never.any() or slopes.always.any():
        raise refuse_sklearn(card, "probabilities of zero", "alpha above 0")


def _linear(card: Scorecard, slope: np.ndarray, offset: np.ndarray) -> MultinomialNB:
    """Scores that are linear; its log-probabilities keep every digit far out.

    A LogisticRegression has ``1 - p`` for the first of two classes.
    """
    found = MultinomialNB()
    found.classes_ = card.labels
    found.class_log_prior_ = card.start + offset.sum(axis=0)
    found.feature_log_prob_ = np.ascontiguousarray(slope.T)
    found.n_features_in_ = slope.shape[0]
    return found


def _of_normals(card: Scorecard, terms: NormalTerms) -> GaussianNB:
    found = GaussianNB()
    found.classes_ = card.labels
    found.class_prior_ = np.exp(card.start)
    found.theta_ = np.ascontiguousarray(terms.mean.T)
    found.var_ = np.ascontiguousarray(terms.variance.T)
    found.epsilon_ = 0.0  # in the variances already
    found.n_features_in_ = len(terms.columns)
    return found


def _of_start(card: Scorecard) -> DummyClassifier:
    """A classifier that looks at nothing."""
    share = np.exp(card.start - card.start.max())
    found = DummyClassifier(strategy="prior")
    return found.fit(np.zeros((share.size, 1)), card.labels, sample_weight=share)


def _mixed(model: Any, card: Scorecard) -> Any:
    """Probabilities with a share spread over the classes."""
    if not card.spread:
        return model
    uniform = DummyClassifier(strategy="uniform")
    uniform.fit(np.zeros((card.n_classes, 1)), card.labels)
    members = [("model", model), ("uniform", uniform)]
    found = VotingClassifier(members, voting="soft", weights=[1.0, card.spread])
    found.estimators_ = [model, uniform]
    found.named_estimators_ = Bunch(**dict(members))
    found.le_ = LabelEncoder().fit(card.labels)
    found.classes_ = found.le_.classes_
    return found
