"""Plain stand-ins for what others give a report: evaluation, verdict, documents."""

from __future__ import annotations

import re

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    confusion_matrix,
    precision_recall_curve,
    precision_recall_fscore_support,
    roc_auc_score,
    roc_curve,
)

from bayesieve.inspection import calibration

VERDICT = {
    "lines": [
        "20 of 8,713 words tell spam from ham: 96.4 % of new messages are right.",
        "All words together reach 98.1 %, always saying ham 86.6 %.",
        "The choice is proven: no other 20 words explain the labels better.",
    ],
    "remarks": [
        {
            "code": "imbalanced",
            "text": "Only 13 % of the rows are spam.",
        },
        {"code": "duplicates", "text": "403 texts are there more than once."},
    ],
    "next": [
        {
            "command": "bayesieve select sms_spam.csv -k 200",
            "meaning": "more words, closer to all of them",
        },
        {"command": "bayesieve predict m.model new.csv", "meaning": "use the model"},
    ],
}


def thinned(*columns, most=201):
    points = np.column_stack(columns)
    if len(points) > most:
        points = points[np.linspace(0, len(points) - 1, most).round().astype(int)]
    return points.tolist()


def evaluation_of(proba, y, classes, *, contenders=True, costs=(1.0, 5.0)):
    """Everything a report may say of probabilities of held-out rows."""
    y, classes = np.asarray(y), np.asarray(classes)
    predicted = classes[proba.argmax(axis=1)]
    accuracy = float((predicted == y).mean())
    error = 1.96 * np.sqrt(accuracy * (1 - accuracy) / len(y))
    names, sizes = np.unique(y, return_counts=True)
    largest = names[sizes.argmax()]
    majority = float((y == largest).mean())
    shown = [str(c) for c in classes[:40]]
    matrix = confusion_matrix(y, predicted, labels=classes)
    if len(classes) > 40:
        shown.append("others")
        folded = np.zeros((41, 41))
        at = np.minimum(np.arange(len(classes)), 40)
        np.add.at(folded, (at[:, None], at[None]), matrix)
        matrix = folded
    # Not scikit-learn's log_loss, which in its older versions warns of many classes.
    true = proba[np.arange(len(y)), np.searchsorted(classes, y)]
    scores = precision_recall_fscore_support(
        y, predicted, labels=classes, zero_division=np.nan
    )
    found = {
        "rows": len(y),
        "splits": 1,
        "accuracy": accuracy,
        "accuracy_low": max(accuracy - error, 0.0),
        "accuracy_high": min(accuracy + error, 1.0),
        "balanced_accuracy": float(balanced_accuracy_score(y, predicted)),
        "log_loss": float(-np.log(np.maximum(true, np.finfo(float).eps)).mean()),
        "all_features_accuracy": min(accuracy + 0.01, 1.0),
        "all_features_log_loss": 0.1,
        "majority_accuracy": majority,
        "majority": str(largest),
        "prior_log_loss": 0.39,
        "calibration": calibration(proba, y, classes).as_dict(),
        "confusion": {"names": shown, "counts": matrix},
        "per_class": [
            {
                "name": str(name),
                "rows": int((y == name).sum()),
                "predicted": int((predicted == name).sum()),
                "precision": p,
                "recall": r,
                "f1": f,
            }
            for name, p, r, f, _ in zip(classes, *scores, strict=True)
        ],
        "two_classes": None,
    }
    if contenders:
        found["contenders"] = [
            {
                "name": name,
                "features": size,
                "accuracy": right,
                "log_loss": loss,
                "chosen": name == "this model",
            }
            for name, size, right, loss in (
                ("this model", 20, accuracy, found["log_loss"]),
                ("the proven selection", 20, max(accuracy - 0.004, 0), 0.15),
                ("all features", 8713, min(accuracy + 0.01, 1.0), 0.1),
                ("l1 logistic regression", 241, min(accuracy + 0.012, 1.0), 0.09),
                ("always the largest class", 0, majority, None),
            )
        ]
    if len(classes) == 2:
        found["two_classes"] = two_classes(proba[:, 1], y == classes[1], classes, costs)
    return found


def two_classes(score, truth, classes, costs):
    fpr, tpr, _ = roc_curve(truth, score, drop_intermediate=True)
    precision, recall, _ = precision_recall_curve(truth, score)
    order = np.argsort(-score, kind="stable")
    found = np.concatenate([[0], np.cumsum(truth[order])]) / truth.sum()
    thresholds = []
    for t in np.linspace(0, 1, 101):
        flagged = score >= t
        hits = int((flagged & truth).sum())
        alarms, misses = int(flagged.sum()) - hits, int(truth.sum()) - hits
        thresholds.append(
            {
                "threshold": float(t),
                "precision": hits / flagged.sum() if flagged.any() else None,
                "recall": hits / truth.sum(),
                "flagged": flagged.mean(),
                "cost": costs[0] * alarms + costs[1] * misses if costs else None,
            }
        )
    return {
        "label": str(classes[1]),
        "auc": roc_auc_score(truth, score),
        "average_precision": average_precision_score(truth, score),
        "roc": thinned(fpr, tpr),
        "precision_recall": thinned(recall[::-1], precision[::-1]),
        "lift": thinned(np.arange(len(truth) + 1) / len(truth), found),
        "thresholds": thresholds,
        "chosen_threshold": 0.3,
        "costs": list(costs) if costs else None,
    }


def documents_of(model, texts, labels, proba, *, each=6):
    """Rows of each kind, with the words of the model in them (two classes or more)."""
    names = {str(t).lower(): j for j, t in enumerate(model.support_terms_)}
    logs = model.feature_log_prob_
    columns = model.support_indices_
    best = proba.argmax(axis=1)
    codes = np.searchsorted(model.classes_, labels)
    top = proba[np.arange(len(texts)), best]
    right = proba[np.arange(len(texts)), codes]
    edge = np.abs(top - np.partition(proba, -2, axis=1)[:, -2])
    kinds = {
        "certain": np.argsort(-np.where(best == codes, top, -1), kind="stable"),
        "wrong": np.argsort(right, kind="stable"),
        "edge": np.argsort(edge, kind="stable"),
    }
    pattern = re.compile("|".join(map(re.escape, sorted(names, key=len)[::-1])), re.I)
    if all(len(name) > 1 and name.isalnum() and name.isascii() for name in names):
        pattern = re.compile(r"\b\w\w+\b")
    found = []
    for kind, order in kinds.items():
        for i in order[:each].tolist():
            others = np.delete(logs, best[i], axis=0).max(axis=0)
            pieces, end, text = [], 0, texts[i][:4000]
            for match in pattern.finditer(text):
                j = names.get(match.group().lower())
                if j is None or len(pieces) > 390:
                    continue
                pieces.append(
                    {"text": text[end : match.start()], "nats": None, "name": None}
                )
                nats = float(logs[best[i], j] - others[j])
                pieces.append(
                    {"text": match.group(), "nats": nats, "name": int(columns[j])}
                )
                end = match.end()
            pieces.append({"text": text[end:], "nats": None, "name": None})
            found.append(
                {
                    "kind": kind,
                    "row": i,
                    "label": str(labels[i]),
                    "predicted": str(model.classes_[best[i]]),
                    "probability": float(top[i]),
                    "pieces": pieces,
                    "terms": [],
                    "flip": "Without 'free' it would be something else.",
                }
            )
    return found


def contexts_of(texts, names, *, most=3):
    found = {}
    for name in names:
        own = []
        for text in texts:
            at = text.lower().find(name.lower())
            if at >= 0:
                end = at + len(name)
                own.append([text[max(at - 40, 0) : at], text[at:end], text[end:][:40]])
            if len(own) == most:
                break
        found[name] = own
    return found
