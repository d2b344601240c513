"""Selected terms as a fitted scikit-learn vectorizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import Pipeline

from bayesieve._pipeline import OpenedModel, open_model
from bayesieve.counts import ClassCounts
from bayesieve.counts._selection import document_frequency, documents_with
from bayesieve.text._options import DEFAULT_PATTERN

__all__ = ["to_vectorizer"]

_CLASSES = {"count": CountVectorizer, "tfidf": TfidfVectorizer}


@dataclass(frozen=True)
class _Terms:
    """Selected terms, and how many of how many documents have each, where known."""

    names: list[str]
    document_count: Any = None
    n_documents: float | None = None
    options: dict[str, Any] | None = None


def to_vectorizer(
    selection: Any,
    kind: str = "count",
    *,
    feature_names: Any = None,
    document_count: Any = None,
    n_documents: Any = None,
    **parameters: Any,
) -> CountVectorizer | TfidfVectorizer:
    """Return a fitted vectorizer whose vocabulary is the selected terms.

    Its columns are the selected terms in the order of the selection, so what was
    selected can be used by any estimator of scikit-learn. The same as fitting it with
    ``vocabulary=terms`` on the texts the selection was made from, without reading them
    again.

    Parameters
    ----------
    selection : fitted estimator, Pipeline, ClassCounts or sequence of str
        A fitted `SparseTextNB`; a selector or classifier fitted with feature names, or
        behind a vectorizer in a Pipeline or a tuple; the counts of the selected terms,
        with names; or the terms themselves.
    kind : {"count", "tfidf"}, default="count"
        A `CountVectorizer` or a `TfidfVectorizer`.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that an estimator was fitted on, where it does not know
        them.
    document_count : array-like of shape (n_terms,), default=None
        Number of documents with each selected term, for the idf; taken from the
        selection where it knows.
    n_documents : int, default=None
        Number of all documents, likewise.
    **parameters
        Arguments of the vectorizer. A `SparseTextNB` brings how it cut texts into
        terms, and so does a vectorizer in a Pipeline; for anything else
        give what differs from CountVectorizer's defaults, such as `ngram_range`.

    Returns
    -------
    vectorizer : CountVectorizer or TfidfVectorizer
        Fitted; `transform` has one column for each selected term.

    Notes
    -----
    With ``norm="l2"``, scikit-learn's default, tf-idf rows are normed over the selected
    terms.

    Examples
    --------
    >>> from bayesieve import SparseTextNB, to_vectorizer
    >>> texts = ["good good film", "a good plot", "a bad film", "bad bad plot"]
    >>> model = SparseTextNB(k=2).fit(texts, [1, 1, 0, 0])
    >>> vectorizer = to_vectorizer(model)
    >>> vectorizer.get_feature_names_out()
    array(['bad', 'good'], dtype=object)
    >>> vectorizer.transform(["good and bad and good"]).toarray()
    array([[1, 2]])
    """
    if kind not in _CLASSES:
        raise ValueError(
            "The 'kind' parameter of to_vectorizer must be 'count' or 'tfidf'. "
            f"Got {kind!r}."
        )
    if "vocabulary" in parameters:
        raise ValueError(
            "to_vectorizer takes the vocabulary from the selection. Got vocabulary=."
        )
    terms = _selected(selection, feature_names)
    if not terms.names:
        raise ValueError("to_vectorizer needs at least one selected term. Got none.")
    if len(set(terms.names)) != len(terms.names):
        raise ValueError("to_vectorizer needs distinct terms. Got one twice.")
    arguments = {**(terms.options or {}), **parameters}
    vectorizer = _CLASSES[kind](vocabulary=terms.names, **arguments)
    if terms.options is None:
        _check_reachable(vectorizer, terms.names)
    with np.errstate(divide="ignore"):  # terms in no document, not smoothed
        vectorizer.fit([""])  # sets the vocabulary; an idf from it is not used
        if kind == "tfidf" and vectorizer.use_idf:
            documents, total = _documents(terms, document_count, n_documents)
            smooth = float(vectorizer.smooth_idf)
            vectorizer.idf_ = np.log((total + smooth) / (documents + smooth)) + 1.0
    return vectorizer


def _selected(selection: Any, feature_names: Any) -> _Terms:
    """The terms of whatever was selected."""
    if isinstance(selection, ClassCounts):
        return _of_counts(selection, np.arange(selection.n_features))
    if feature_names is not None or _holds_steps(selection):
        opened = open_model(selection, feature_names)
        if opened.names is not None:
            return _of_opened(opened)
        selection = opened.model
    if hasattr(selection, "get_params"):
        return _of_estimator(selection)
    if isinstance(selection, str) or not hasattr(selection, "__iter__"):
        raise TypeError(
            "to_vectorizer needs a fitted estimator, a ClassCounts or a sequence of "
            f"terms. Got {type(selection).__name__}."
        )
    names = list(selection)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise TypeError(
            f"to_vectorizer needs terms that are str. Got {type(wrong[0]).__name__} "
            f"{wrong[0]!r:.40}."
        )
    return _Terms([str(name) for name in names])


def _of_counts(counts: ClassCounts, columns: np.ndarray) -> _Terms:
    if counts.feature_names is None:
        raise ValueError(
            "to_vectorizer needs counts with feature names, the terms. Got counts "
            "without names."
        )
    names = list(counts.feature_names[columns])
    documents = None
    if documents_with(counts) is not None:
        documents = document_frequency(counts.select(columns))
    return _Terms(names, documents, float(counts.class_count.sum()))


def _holds_steps(selection: Any) -> bool:
    """Whether a model is behind other steps; a sequence may be terms as well."""
    if isinstance(selection, tuple | list):
        return bool(selection) and hasattr(selection[-1], "get_params")
    return isinstance(selection, Pipeline) or hasattr(selection, "best_estimator_")


def _of_opened(opened: OpenedModel) -> _Terms:
    """The terms of a model whose columns have got names by the steps before it."""
    columns = getattr(opened.model, "support_indices_", None)
    if columns is None:
        columns = opened.model.get_support(indices=True)
    assert opened.names is not None
    options = None
    first = opened.steps[0] if opened.steps else None
    if isinstance(first, CountVectorizer):
        own = first.get_params(deep=False)
        left_out = {"vocabulary", "max_df", "min_df", "max_features", "dtype"}
        shared = CountVectorizer().get_params(deep=False).keys() - left_out
        options = {name: own[name] for name in sorted(shared)}
    return _Terms(opened.names.of(columns), options=options)


def _of_estimator(estimator: Any) -> _Terms:
    name = type(estimator).__name__
    if hasattr(estimator, "support_terms_"):  # made from texts: knows everything
        return _Terms(
            list(estimator.support_terms_),
            estimator.document_frequency_,
            float(estimator.class_count_.sum()),
            dict(estimator.text_options_),
        )
    columns = getattr(estimator, "support_indices_", None)
    if columns is None and hasattr(estimator, "get_support"):
        columns = estimator.get_support(indices=True)
    if columns is None:
        raise NotFittedError(
            f"to_vectorizer needs a fitted selection. Got a {name} without support_."
        )
    counts = getattr(estimator, "counts_", None)
    if counts is not None and counts.feature_names is not None:
        return _of_counts(counts, columns)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        raise ValueError(
            f"to_vectorizer needs feature names, the terms. Got a {name} fitted "
            "without names. Hint: pass feature_names=, or the Pipeline it is in."
        )
    return _Terms(list(names[columns]))  # an array, or terms that stay packed


def _documents(
    terms: _Terms, document_count: Any, n_documents: Any
) -> tuple[np.ndarray, float]:
    documents = terms.document_count if document_count is None else document_count
    total = terms.n_documents if n_documents is None else n_documents
    if documents is None or total is None:
        missing = "document_count" if documents is None else "n_documents"
        raise ValueError(
            f"to_vectorizer needs {missing} for the idf, and the selection does not "
            f"know it. Hint: pass {missing}=, or use_idf=False."
        )
    documents = np.asarray(documents, dtype=np.float64)
    if documents.shape != (len(terms.names),):
        raise ValueError(
            "document_count must hold one number for each of the "
            f"{len(terms.names)} selected terms. Got shape {documents.shape}."
        )
    total = float(total)
    if not (documents >= 0).all() or not (documents <= total).all():
        raise ValueError(
            "document_count must be between 0 and n_documents. "
            f"Got {documents.min():g} to {documents.max():g} of {total:g}."
        )
    return documents, total


def _check_reachable(vectorizer: Any, names: list[str]) -> None:
    """Refuse terms that the vectorizer cannot find, such as bigrams among words."""
    # What others' patterns and functions can find is not ours to say.
    plain = vectorizer.preprocessor is None and vectorizer.tokenizer is None
    plain = plain and vectorizer.token_pattern == DEFAULT_PATTERN
    if not plain or callable(vectorizer.analyzer) or callable(vectorizer.strip_accents):
        return
    analyze = vectorizer.build_analyzer()
    for name in names:
        if name not in analyze(name):
            raise ValueError(
                f"The term {name!r} cannot be found by a vectorizer with "
                f"analyzer={vectorizer.analyzer!r}, "
                f"ngram_range={vectorizer.ngram_range!r}, "
                f"lowercase={vectorizer.lowercase!r}. Hint: pass the arguments of the "
                "vectorizer that gave the terms to to_vectorizer."
            )
