"""What the tests of SQL share: a model, its rows, a database; all three agree."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve import to_sql


def as_frame(X):
    """Rows as a frame whose columns are called as a model without names calls them."""
    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, list):
        return pd.DataFrame({"text": X})
    dense = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    return pd.DataFrame(dense, columns=[f"x{j}" for j in range(dense.shape[1])])


def compare(found, wanted_labels, wanted_proba, labels):
    """Labels and probabilities of rows that are in order."""
    proba = np.array([row[-len(labels) :] for row in found], dtype=np.float64)
    np.testing.assert_allclose(proba, wanted_proba, rtol=0, atol=1e-9)
    given = [row[-len(labels) - 1] for row in found]
    top = np.sort(wanted_proba, axis=1)
    for own, wanted, clear in zip(
        given, wanted_labels.tolist(), top[:, -1] - top[:, -2] > 1e-9, strict=True
    ):
        assert own == wanted or not clear


def check_rows(engine, model, X, *, frame=None, **options):
    """The query gives every row what the model does, and all its columns."""
    frame = as_frame(X) if frame is None else frame
    frame = frame.assign(position=np.arange(len(frame)))
    # Names of columns that the model of an array does not know are not in its way.
    sql = to_sql(model, "rows", engine.dialect, order_by="position", **options)
    names, found = engine.query(sql, frame)
    assert list(names[: frame.shape[1]]) == list(frame.columns)
    classes = model.classes_
    assert names[frame.shape[1]] == "prediction"
    assert names[frame.shape[1] + 1 :] == [f"probability_{c}" for c in classes.tolist()]
    assert [row[frame.shape[1] - 1] for row in found] == list(range(len(frame)))
    compare(found, model.predict(X), model.predict_proba(X), classes)
    if engine.dialect != "sqlite":  # which has no booleans
        assert type(found[0][frame.shape[1]]) is type(classes.tolist()[0])
    return found


def term_table(texts, options, *, merged=True):
    """A row for each text and term, with its count; a text without any has one too."""
    analyze = CountVectorizer(**options).build_analyzer()
    rows = []
    for place, text in enumerate(texts):
        terms = analyze(text) or ["*"]
        if merged:
            rows += [(place, term, terms.count(term)) for term in sorted(set(terms))]
        else:
            rows += [(place, term, 1) for term in terms]
    return pd.DataFrame(rows, columns=["doc", "term", "n"])


def in_rows(frame):
    """Counts in columns as a row for each of them."""
    k = frame.shape[1]  # by hand: to pandas a term "n" would be in the way
    return pd.DataFrame(
        {
            "doc": np.tile(frame.index, k),
            "term": np.repeat(np.array(frame.columns, dtype=object), len(frame)),
            "n": frame.to_numpy().T.ravel(),
        }
    )


def check_terms(engine, model, X, long, count="n"):
    """The query gives every document of a table of terms what the model does."""
    sql = to_sql(model, "rows", engine.dialect, row="doc", term="term", count=count)
    names, found = engine.query(sql, long)
    assert names[:2] == ["doc", "prediction"]
    compare(found, model.predict(X), model.predict_proba(X), model.classes_)
    return found
