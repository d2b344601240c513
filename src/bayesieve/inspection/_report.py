"""`report`: one call from a fitted model and test rows to a page."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from bayesieve._description import Description, describe
from bayesieve._pipeline import open_model
from bayesieve.inspection._compare_models import class_codes
from bayesieve.inspection._evaluation import RowScores, evaluation_of
from bayesieve.inspection._examples import contexts_of, examples_of
from bayesieve.inspection._report_collect import collect_report
from bayesieve.inspection._report_data import ReportData
from bayesieve.inspection._report_html import render_report
from bayesieve.inspection._rows import some_texts
from bayesieve.inspection._telling import telling_feature
from bayesieve.inspection._verdict import verdict_of
from bayesieve.inspection._verdict_facts import VerdictFacts
from bayesieve.utils._whole_files import whole_file

__all__ = ["facts_of_model", "report"]


def report(
    model: Any,
    X_test: Any,
    y_test: Any,
    path: Any,
    feature_names: Any = None,
    *,
    data_name: str | None = None,
    error_cost: Mapping[Any, float] | None = None,
) -> ReportData:
    """Write the report of a fitted model, judged by rows it was not fitted on.

    One HTML file that needs nothing else: how good the model is on the test rows and
    what that means, examples with the features that decided, the features, and what is
    proven. Numbers are **exact** for the rows given.

    Parameters
    ----------
    model : classifier, Pipeline, search or tuple of fitted steps
        A fitted classifier of this package: alone, at the end of a Pipeline, as
        ``(vectorizer, model)``, or the best of a search; also a classifier of others
        behind a selector of this package.
    X_test : DataFrame, array, sparse matrix or sequence of str
        Rows as the first step takes them.
    y_test : array-like of shape (n_samples,)
        Their labels, all of them classes of the model.
    path : str or path-like
        The file to write; nothing is there unless all went well.
    feature_names : array-like of str of shape (n_features_in_,), optional
        Names of the columns that reach the estimator, where nothing knows them.
    data_name : str, optional
        What to call the data; by default the name of the file.
    error_cost : mapping of label to float, optional
        What missing a row of a class costs; 1 for classes that are not named.

    Returns
    -------
    ReportData
        What the page shows: ``report.verdict["lines"]``, ``report.evaluation``.

    See Also
    --------
    collect_report, render_report : The two steps, for what else is known.

    Notes
    -----
    One prediction of the test rows, explanations of at most 24 of them, and the path
    over k where the model has kept its counts (``keep_counts=True``).

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from sklearn.pipeline import make_pipeline
    >>> import bayesieve
    >>> from bayesieve.datasets import load_sms_spam
    >>> messages, labels = load_sms_spam(return_X_y=True)
    >>> model = make_pipeline(CountVectorizer(), bayesieve.SparseMultinomialNB(20))
    >>> model = model.fit(messages[:4000], labels[:4000])
    >>> path = os.path.join(tempfile.mkdtemp(), "spam.html")
    >>> found = bayesieve.report(model, messages[4000:], labels[4000:], path)
    >>> round(found.evaluation["accuracy"], 2)
    0.95
    """
    opened = open_model(model, feature_names)
    classes = opened.predictor.classes_
    codes = _codes(y_test, classes)
    with np.errstate(divide="ignore"):
        proba = np.asarray(opened.predict_proba(X_test))
        if proba.shape[0] != codes.size:
            raise ValueError(
                "y_test must have one label for each row of X_test. Got "
                f"{codes.size:,} labels for {proba.shape[0]:,} rows."
            )
        scores = RowScores.of(np.log(proba), codes)
    found = describe(model, feature_names)
    evaluation = evaluation_of([scores], classes.tolist(), error_cost=error_cost)
    names = [str(label) for label in classes.tolist()]
    data = collect_report(
        model,
        data_name=os.path.basename(os.fspath(path)) if data_name is None else data_name,
        evaluation=evaluation.as_dict(),
        verdict=verdict_of(facts_of_model(found, evaluation)).as_dict(),
        documents=examples_of(opened, X_test, codes, names, proba, feature_names)
        or None,
        contexts=contexts_of(opened, found, some_texts(X_test)) or None,
        feature_names=feature_names,
    )
    with (
        whole_file(os.fspath(path)) as beside,
        open(beside, "w", encoding="utf-8") as file,
    ):
        file.write(render_report(data))
    return data


def facts_of_model(found: Description, evaluation: Any, **more: Any) -> VerdictFacts:
    """What a verdict needs to know of a model, with what else is known."""
    counts = more.pop("counts", found.counts)
    rows = found.class_count
    proof = found.certificate
    return VerdictFacts(
        **{
            "noun": found.noun,
            "k": found.n_used,
            "n_features": found.n_features,
            "train_rows": None if rows is None else int(rows.sum()),
            "evaluation": evaluation,
            "weighted": found.discounts is not None or found.table is not None,
            "proven": bool(proof is not None and proof.is_optimal),
            "class_rows": () if rows is None else rows.tolist(),
            "telling": telling_feature(found, counts),
            **more,
        }
    )


def _codes(y: Any, classes: Any) -> Any:
    """Places of the labels among the classes; others are refused."""
    if isinstance(y, str | bytes) or not (hasattr(y, "__len__") and np.ndim(y)):
        raise ValueError(
            "y_test must be a sequence of labels, one for each row. "
            f"Got {type(y).__name__} {y!r:.40}."
        )
    labels = column_or_1d(y).tolist()
    codes = class_codes(labels, classes)
    if not codes.size:
        raise ValueError("y_test must have at least one label. Got none.")
    if codes.min() < 0:
        known = ", ".join(map(repr, classes.tolist()[:10]))
        first = labels[int(np.argmin(codes))]
        raise ValueError(
            f"y_test must hold classes of the model: {known}. Got {first!r}. Hint: "
            "leave such rows out, they cannot be predicted right."
        )
    return codes
