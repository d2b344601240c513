"""Why rows are scored as they are, in the words of the pipeline they went through."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bayesieve._description import Description, describe
from bayesieve._pipeline import open_model
from bayesieve.naive_bayes import Explanation

__all__ = ["explain"]


def explain(model: Any, X: Any, feature_names: Any = None) -> Explanation:
    """Explain rows by a model that may stand in a pipeline. **Exact**.

    The rows go through the steps before the model, its own ``explain`` is asked, and
    the terms get the names that the steps give to its columns.

    Parameters
    ----------
    model : classifier, Pipeline, search or tuple of fitted steps
        A fitted classifier of this package that has ``explain``: alone, at the end of a
        Pipeline, as ``(vectorizer, model)``, or the best of a search.
    X : DataFrame, array, sparse matrix or sequence of str
        Rows as the first step takes them.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that reach the classifier, where nothing knows them.

    Returns
    -------
    Explanation

    Notes
    -----
    Takes the time of the steps and of ``explain``; memory O(n_samples n_terms
    n_classes).

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.impute import SimpleImputer
    >>> from sklearn.pipeline import make_pipeline
    >>> from bayesieve import SelectiveNB
    >>> from bayesieve.inspection import explain
    >>> table = pd.DataFrame({"age": [20.0, 30.0, None, 60.0] * 20})
    >>> old = [False, False, True, True] * 20
    >>> model = make_pipeline(SimpleImputer(), SelectiveNB()).fit(table, old)
    >>> explain(model, table[:2]).features
    ['age']
    """
    opened = open_model(model, feature_names)
    opened.require_last("explain")
    own = opened.model
    if not hasattr(own, "explain"):
        raise TypeError(
            "explain needs a classifier that has explain(X). "
            f"Got {type(own).__name__}, which has none."
        )
    found: Explanation = own.explain(opened.rows(X))
    if found.index is None and opened.steps and hasattr(X, "iloc"):
        found = _indexed(found, X.index)
    if opened.names is None:
        return found
    return _renamed(found, describe(own), describe(opened))


def _indexed(found: Explanation, index: Any) -> Explanation:
    """Under the row names that the rows had before the steps."""
    columns = found._of_columns
    columns = None if columns is None else replace(columns, index=index)
    return replace(found, index=index, _of_columns=columns)


def _renamed(found: Explanation, ours: Description, theirs: Description) -> Explanation:
    """The same with other names for the columns, n-grams and pairs of columns."""
    if found.features == ours.names:  # one term for each feature in use
        features = theirs.names
    else:
        places = _places(ours)
        pairs = zip(ours.names_of(places), theirs.names_of(places), strict=True)
        known = dict(pairs)
        features = [known.get(name, name) for name in found.features]
    columns = found._of_columns
    if columns is not None:
        columns = _renamed(columns, ours, theirs)
    return replace(found, features=features, _of_columns=columns)


def _places(described: Description) -> np.ndarray:
    """Everything that has a name: columns, and behind them n-grams and pairs."""
    if described.table is None:
        return described.indices
    last = max(len(described.table.partitions), described.indices.max(initial=-1) + 1)
    return np.arange(last)
