"""Reports to look at: texts, tables, many classes, weights, and hostile names."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve import (
    ClassCounts,
    SelectiveMultinomialNBCV,
    SelectiveNB,
    SparseMultinomialNB,
    SparseTextNB,
)
from bayesieve.datasets import load_sms_spam
from bayesieve.inspection import calibration, collect_report

HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    '"><svg onload=alert(4)>',
    "{data}{script}${alert(5)}`'",
    "<!--<script>",
    "line\u2028and\u2029ends \x00\x07",
    "lone \ud800 surrogate",
    "\u202eright to left\u202c",
    "a" * 500,
]


def text_report(k=20, **more):
    """The words that tell spam from ham, evaluated on the last thousand messages."""
    messages, labels = load_sms_spam(return_X_y=True)
    model = SparseTextNB(k=k, keep_counts=True).fit(messages[:-1000], labels[:-1000])
    proba = model.predict_proba(messages[-1000:])
    truth = labels[-1000:]
    evaluation = {
        "rows": 1000,
        "accuracy": float((model.classes_[proba.argmax(axis=1)] == truth).mean()),
        "majority_accuracy": float((truth == "ham").mean()),
        "log_loss": 0.2,
        "calibration": calibration(proba, truth, model.classes_).as_dict(),
    }
    cv = [{"k": k, "mean": 0.9 + 0.001 * k, "se": 0.01} for k in (2, 5, 10, 20, 50)]
    given = {
        "data_name": "sms_spam.csv",
        "evaluation": evaluation,
        "seconds": {"count": 0.2, "select": 0.05},
        "command": "bayesieve select sms_spam.csv -k 20",
        "parameters": {"label": "label"},
        "cv": cv,
    }
    return collect_report(model, **{**given, **more})


def hostile_counts():
    """Counts whose names and classes try to get out of their place."""
    rng = np.random.default_rng(0)
    table = rng.poisson(3.0, size=(2, len(HOSTILE))).astype(float)
    table[0] += 9 * (np.arange(len(HOSTILE)) % 2)
    return ClassCounts(
        classes=np.array(["<b>spam</b>", "<script>alert(6)</script>"]),
        class_count=[50.0, 50.0],
        feature_count=table,
        feature_names=np.array(HOSTILE, dtype=object),
    )


def hostile_report():
    counts = hostile_counts()
    model = SparseMultinomialNB(k=8).fit_counts(counts)
    bins = [{"predicted": 0.5, "observed": 0.4, "rows": 10}]
    return collect_report(
        model,
        data_name=HOSTILE[0],
        counts=counts,
        evaluation={"calibration": {"label": HOSTILE[2], "bins": bins}},
        seconds={HOSTILE[0]: 1.0},
        parameters={HOSTILE[0]: HOSTILE[1], "text": HOSTILE[2]},
        command=f"bayesieve select '{HOSTILE[1]}'",
    )


def table_report():
    rng = np.random.default_rng(0)
    n = 900
    y = rng.integers(3, size=n)
    names = np.array(["<i>red</i>", "green", "a rather long name of a colour, blue"])
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) + y,
            HOSTILE[0]: np.where(rng.random(n) < 0.7, names[y], "grey"),
            "noise": rng.normal(size=n),
        }
    )
    labels = np.array(["<em>low</em>", "middle", "high"])[y]
    return collect_report(SelectiveNB().fit(frame, labels), data_name="measurements")


@cache
def pair_model():
    """A model with a pair and a triple, dates, missing values and hostile names."""
    rng = np.random.default_rng(1)
    n = 2500
    a, b = rng.normal(size=n), rng.choice(["<i>u</i>", "v", "w"], size=n)
    c, d, e = (rng.choice(["x", "o", "-"], size=n) for _ in range(3))
    day = pd.Timestamp("2021-03-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    odd = (a > 0.4) ^ (b == "v")
    line = ((c == d) & (d == e) & (e != "-")).astype(float)
    late = day > pd.Timestamp("2022-06-01")
    score = 3.5 * odd + 7.0 * line - 3.0 + 2.0 * late
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes <em>!</em>", "no")
    a[rng.random(n) < 0.2] = np.nan
    X = pd.DataFrame({HOSTILE[0]: a, "b": b, "c": c, "d": d, "e": e, "day": day})
    return SelectiveNB().fit(X, y)


def pair_report():
    return collect_report(pair_model(), data_name="pairs")


def class_report(n_classes=12):
    """Many classes, each with words of its own."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=1500)
    X = rng.poisson(0.4, size=(1500, 80))
    X[np.arange(1500), 3 * y] += rng.poisson(2.0, size=1500)
    model = SparseMultinomialNB(k=15, keep_counts=True)
    model.fit(X, np.array([f"class {c}" for c in range(n_classes)])[y])
    return collect_report(model, data_name="many classes")


@cache
def weighted_words():
    """Fit weights of a few words, once; also returns the rows and labels."""
    messages, labels = load_sms_spam(return_X_y=True)
    messages, labels = messages[:1500], labels[:1500]
    vectorizer = CountVectorizer(max_features=500)
    table = vectorizer.fit_transform(messages).toarray()
    X = pd.DataFrame(table, columns=vectorizer.get_feature_names_out())
    fitted = SelectiveMultinomialNBCV(cv=3, choice="1se")
    return fitted.fit(X, labels), X, labels


def weight_report():
    fitted, X, labels = weighted_words()
    proba = fitted.predict_proba(X)
    found = calibration(proba, labels, fitted.classes_).as_dict()
    return collect_report(
        fitted, data_name="weights", evaluation={"calibration": found}
    )
