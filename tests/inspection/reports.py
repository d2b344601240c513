"""Reports to look at: texts, tables, many classes, weights, and hostile names."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer
from tests.inspection.report_parts import (
    VERDICT,
    contexts_of,
    documents_of,
    evaluation_of,
)

from bayesieve import (
    ClassCounts,
    SelectiveMultinomialNB,
    SelectiveMultinomialNBCV,
    SelectiveNB,
    SparseGaussianNB,
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


@cache
def full_report():
    """Everything at once: verdict, evaluation, examples, contexts."""
    messages, labels = load_sms_spam(return_X_y=True)
    labels = np.asarray(labels)
    model = SparseTextNB(k=20, keep_counts=True).fit(messages[:-1000], labels[:-1000])
    rows, truth = messages[-1000:], labels[-1000:]
    proba = model.predict_proba(rows)
    return collect_report(
        model,
        data_name="sms_spam.csv",
        evaluation=evaluation_of(proba, truth, model.classes_),
        documents=documents_of(model, rows, truth, proba),
        contexts=contexts_of(messages[:-1000], model.support_terms_),
        verdict=VERDICT,
    )


def hostile_parts():
    """Verdict, evaluation and documents whose texts try to get out of their place."""
    attack = HOSTILE[1]
    names = [HOSTILE[0], HOSTILE[2]]
    rate = {"rows": 5, "predicted": 5, "precision": None, "recall": 0.5, "f1": None}
    long_line = "\u05e9\u05dc\u05d5\u05dd \U0001f600 " + "x" * 3000
    odd = [*HOSTILE, "tab\there\nand\r\nlines", "\u2066isolate\u2069", long_line]
    pieces = [
        {"text": text, "nats": (-1.0) ** i * i, "name": i % 3}
        for i, text in enumerate(odd)
    ]
    document = {
        "row": 1,
        "label": HOSTILE[0],
        "predicted": HOSTILE[3],
        "probability": 0.9,
        "pieces": pieces,
        "terms": [{"name": attack, "value": HOSTILE[2], "nats": -1.0}],
        "flip": attack,
    }
    return {
        "verdict": {
            "lines": [HOSTILE[0], attack],
            "remarks": [{"code": '"><script>alert(7)</script>', "text": HOSTILE[2]}],
            "next": [{"command": f"rm {attack}", "meaning": HOSTILE[3]}],
        },
        "evaluation": {
            "accuracy": 0.5,
            "majority": attack,
            "calibration": {
                "label": HOSTILE[2],
                "bins": [{"predicted": 0.5, "observed": 0.4, "rows": 10}],
            },
            "contenders": [
                {"name": attack, "features": None, "accuracy": 0.5, "chosen": True}
            ],
            "confusion": {"names": names, "counts": [[3, 2], [1, 4]]},
            "per_class": [{"name": name, **rate} for name in names],
            "two_classes": {
                "label": attack,
                "roc": [[0, 0], [0.5, 0.7], [1, 1]],
                "precision_recall": [[0, 1], [1, 0.5]],
                "lift": [[0, 0], [1, 1]],
                "thresholds": [
                    {"threshold": t, "precision": 0.5, "recall": 1 - t, "flagged": 0.4}
                    for t in (0.1, 0.9)
                ],
            },
        },
        "documents": [
            {"kind": kind, **document} for kind in ("certain", "wrong", "edge")
        ],
        "contexts": {name: [HOSTILE[:3], [attack] * 3] for name in HOSTILE},
    }


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
    return collect_report(
        model,
        data_name=HOSTILE[0],
        counts=counts,
        **hostile_parts(),
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
    labels = np.array([f"class {c}" for c in range(n_classes)])[y]
    model.fit(X, labels)
    found = evaluation_of(model.predict_proba(X), labels, model.classes_)
    return collect_report(model, data_name="many classes", evaluation=found)


def gene_report():
    """Few rows of many measurements, without an evaluation."""
    rng = np.random.default_rng(0)
    y = np.repeat(["healthy", "ill"], 15)
    X = pd.DataFrame(rng.normal(size=(30, 400)))
    X.columns = [f"gene{j}" for j in range(400)]
    X.iloc[15:, :3] += 3.0
    model = SparseGaussianNB(k=5, variance="pooled", keep_counts=True)
    return collect_report(model.fit(X, y), data_name="genes")


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


def score_report():
    """Weights at a size that folds chose, without counts: scores over k alone."""
    messages, labels = load_sms_spam(return_X_y=True)
    X = CountVectorizer(max_features=300).fit_transform(messages[:1500])
    model = SelectiveMultinomialNB(k="1se").fit(X, labels[:1500])
    return collect_report(model, data_name="scores")
