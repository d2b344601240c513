"""The scorecard of a model as users have it: alone, in a pipeline, beside others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve._pipeline import OpenedModel, open_model
from bayesieve._scorecard import CountTerms, InputColumn, Scorecard, TextTerms
from bayesieve.preprocessing._mixed_columns import as_numbers, columns_of
from bayesieve.text._options import TextOptions
from bayesieve.utils._exact_numbers import whole_column

__all__ = ["read_column", "read_columns", "scorecard_of"]


def scorecard_of(model: Any, feature_names: Any = None) -> Scorecard:
    """The scorecard of a fitted classifier, of the rows that users have.

    Parameters
    ----------
    model : estimator, Pipeline, search or tuple of fitted steps
        A classifier of this package, alone or behind steps that only take columns; or
        a classifier of counts behind a CountVectorizer.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that reach the classifier.
    """
    opened = open_model(model, feature_names)
    opened.require_last("An export")
    own = opened.model
    if opened.names is not None:
        own = own._under_names(opened.names)
    card: Scorecard = own._scorecard()
    return _behind(card, opened)


def _behind(card: Scorecard, opened: OpenedModel) -> Scorecard:
    """The scorecard of rows before the steps."""
    for place in range(len(opened.steps) - 1, -1, -1):
        step = opened.steps[place]
        if place == 0 and type(step) is CountVectorizer:
            return _of_texts(card, step)
        if not hasattr(step, "get_support"):
            raise ValueError(
                "A model can be exported behind a CountVectorizer and behind steps "
                "that only take some of the columns. "
                f"Got a {type(step).__name__} before the {card.owner}."
            )
        card = card.renumbered(step.get_support(indices=True), step.n_features_in_)
    return card


def _of_texts(card: Scorecard, vectorizer: CountVectorizer) -> Scorecard:
    """A scorecard of counts as one of the texts that were counted."""
    if len(card.terms) > 1 or not all(isinstance(t, CountTerms) for t in card.terms):
        raise ValueError(
            "Behind a CountVectorizer a model must take counts or presences to be "
            f"exported. Got a {card.owner}."
        )
    options = _options_of(vectorizer)
    (own,) = card.terms
    assert isinstance(own, CountTerms)
    words = {place: term for term, place in vectorizer.vocabulary_.items()}
    terms = tuple(words[card.columns[j].number] for j in own.columns)
    text = InputColumn("text", 0, "text")
    counted = TextTerms(0, terms, options, own.slopes, own.binarize)
    return replace(card, columns=(text,), terms=(counted,), n_columns=1)


def _options_of(vectorizer: CountVectorizer) -> TextOptions:
    """The options of a vectorizer, which must have no functions of its own."""
    for name in ("preprocessor", "tokenizer"):
        if getattr(vectorizer, name) is not None:
            raise ValueError(
                f"The {name!r} parameter of CountVectorizer must be None for an "
                "export: a function cannot be written in another language. "
                f"Got {getattr(vectorizer, name)!r}."
            )
    names = TextOptions().vectorizer().keys()
    given = {name: getattr(vectorizer, name) for name in names}
    for name in ("analyzer", "strip_accents"):
        if callable(given[name]):
            raise ValueError(
                f"The {name!r} parameter of CountVectorizer must be a string for an "
                "export: a function cannot be written in another language. "
                f"Got {given[name]!r}."
            )
    return TextOptions(**given)


def read_columns(card: Scorecard, X: Any) -> tuple[list[Any], int]:
    """What rows hold in the columns of a scorecard, as its `joint` takes them.

    Parameters
    ----------
    card : Scorecard
    X : DataFrame, array-like, sparse matrix, or sequence of texts
        Rows as the model takes them.

    Returns
    -------
    columns : list
    n_rows : int
    """
    if any(own.kind == "text" for own in card.columns):
        return [X], len(X)
    if sparse.issparse(X):
        table = sparse.csc_array(X)
        chosen = [own.number for own in card.columns]
        return list(table[:, chosen].toarray().T), table.shape[0]
    if not hasattr(X, "columns"):
        X = np.asarray(X)
    columns, _ = columns_of(X)
    found = [read_column(own, columns[own.number]) for own in card.columns]
    return found, len(columns[0])


def read_column(own: InputColumn, column: Any) -> Any:
    """One column as its kind says."""
    if own.kind in ("category", "text", "note"):
        return column.tolist() if hasattr(column, "tolist") else [*column]
    if own.kind in ("number", "time"):
        whole = whole_column(column)
        if whole is not None:
            return whole.numbers(own.origin)
    values = as_numbers(column)
    if values is None:  # booleans, or nothing but missing values
        values = np.asarray(column, dtype=np.float64)
    return values if own.origin is None else own.origin.numbers(values)
