"""What a report may hold: each field's type and size, checked before anything is used.

A report can come from a file that somebody else wrote. Every check says in one sentence
where the text departs from what is allowed, and lengths are bounded, so that a page
made from it stays a page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from bayesieve.inspection._report_checks import (
    Check,
    flag,
    lines,
    many,
    number,
    one_of,
    optional,
    passage,
    record,
    text,
    tuple_of,
    whole,
)

__all__ = ["LIMITS", "SECTIONS", "check_report"]

#: Most of each thing that a report shows.
LIMITS = {
    "features": 400,  # rows of the feature table
    "steps": 120,  # positions of a slider
    "moves": 40,  # features named as entering or leaving at a position
    "top": 40,  # features with weights at a position
    "lines": 25,  # lines of the picture of weights
    "points": 400,  # points of the picture of discounts
    "columns": 60,  # partitions
    "parts": 40,  # parts of a partition
    "bins": 2000,  # of the shape of a column
    "pairs": 40,
    "cells": 4096,  # of a pair
    "classes": 200,
    "parameters": 80,
    "names": 20_000,
    "confused": 41,  # classes of a confusion matrix, and one for the others
    "curve": 201,  # points of a curve
    "documents": 30,
    "pieces": 400,  # of a document
    "letters": 4000,  # of a document
    "contexts": 3,  # of a feature
    "context": 120,  # letters before, in and after a match
}

_name = whole(LIMITS["names"])
_moves = many(_name, LIMITS["moves"])
_positive, _share = number(0), number(0, 1)
_some_number, _some_positive, _some_share, _some_size = map(
    optional, (number(), _positive, _share, whole())
)
_score = optional(record(mean=number(), error=_positive))
_of_classes, _counts = (many(n, LIMITS["classes"]) for n in (number(), _positive))
_entered_and_left = {
    "entered": _moves,
    "n_entered": whole(),
    "left": _moves,
    "n_left": whole(),
}

_certificate = record(
    k=whole(),
    gain=number(),
    bound=number(),
    gap=_positive,
    relative_gap=_positive,
    is_optimal=flag,
    nodes=whole(),
)
_data = record(
    rows=_some_positive,
    features=whole(),
    selected=whole(),
    classes=many(record(name=text(), rows=_some_positive), LIMITS["classes"]),
    n_classes=whole(),
)
_odds = record(of=whole(LIMITS["classes"]), value=number(), low=number(), high=number())
_context = tuple_of(*[text(LIMITS["context"])] * 3)
_feature = record(
    name=_name,
    score=number(),
    weights=optional(_of_classes),
    discount=_some_share,
    counts=optional(_counts),
    documents=optional(_counts),
    odds=optional(_odds),
    means=optional(_of_classes),
    deviations=optional(_counts),
    contexts=optional(many(_context, LIMITS["contexts"])),
)
_features = record(
    total=whole(),
    score_name=text(),
    weight_name=text(),
    signed=flag,
    counted=optional(text(40)),
    rows=many(_feature, LIMITS["features"]),
)
_size = record(
    k=whole(),
    gain=_some_number,
    bound=_some_number,
    gap=_some_positive,
    score=_score,
    **_entered_and_left,
    top=many(record(name=_name, weights=_of_classes), LIMITS["top"]),
)
_path = record(
    score_name=text(),
    weight_name=text(),
    signed=flag,
    note=optional(text(400)),
    largest_advised=_some_size,
    chosen=_some_size,
    elbow=_some_size,
    bic=_some_size,
    best=_some_size,
    one_se=_some_size,
    steps=many(_size, LIMITS["steps"]),
)
_penalty = record(
    penalty=_positive,
    features=whole(),
    loss=_some_number,
    dual_gap=_some_number,
    score=_score,
    **_entered_and_left,
)
_line = record(name=_name, weights=many(_share, LIMITS["steps"]))
_weight_path = record(
    chosen=_some_positive,
    best=_some_positive,
    one_se=_some_positive,
    steps=many(_penalty, LIMITS["steps"]),
    lines=many(_line, LIMITS["lines"]),
)
_discount = record(name=_name, strength=_positive, weight=_share)
_column = record(
    name=text(),
    kind=text(40),
    level=number(),
    weight=_some_number,
    n_parts=whole(),
    exact=flag,
    parts=many(record(label=text(300), counts=_counts), LIMITS["parts"]),
)
_columns = record(
    total=whole(), informative=whole(), items=many(_column, LIMITS["columns"])
)
_bin = record(
    label=text(300),
    rows=_positive,
    values=_of_classes,
    low=_of_classes,
    high=_of_classes,
)
_shape = record(
    name=text(),
    weight=number(),
    evidence=number(),
    edges=optional(many(number(), LIMITS["bins"] + 1)),
    ticks=optional(many(record(at=number(), text=text(40)), 12)),
    bins=many(_bin, LIMITS["bins"]),
    n_bins=whole(),
    missing=optional(_bin),
)
_axis = record(
    name=text(), labels=many(text(60), 256), bounds=optional(many(text(40), 256))
)
_pair = record(
    axes=many(_axis, 3),
    weight=number(),
    evidence=number(),
    values=many(many(number(), LIMITS["cells"]), LIMITS["classes"]),
    rows=many(_positive, LIMITS["cells"]),
)
_shapes = record(
    odds=flag,
    columns=many(_shape, LIMITS["columns"]),
    n_columns=whole(),
    pairs=many(_pair, LIMITS["pairs"]),
    n_pairs=whole(),
)
_calibration = record(
    label=optional(text()),
    log_loss=_some_positive,
    bins=many(record(predicted=_share, observed=_share, rows=whole()), 100),
)
_contender = record(
    name=text(),
    features=_some_size,
    accuracy=_share,
    log_loss=_some_number,
    chosen=flag,
)
_confusion = record(
    names=many(text(), LIMITS["confused"]),
    counts=many(many(_positive, LIMITS["confused"]), LIMITS["confused"]),
)
_per_class = record(
    name=text(),
    rows=_positive,
    predicted=_positive,
    precision=_some_share,
    recall=_some_share,
    f1=_some_share,
)
_curve = many(tuple_of(_share, _share), LIMITS["curve"])
_threshold = record(
    threshold=_share,
    precision=_some_share,
    recall=_some_share,
    flagged=_share,
    cost=_some_number,
)
_two_classes = record(
    label=text(),
    auc=_some_share,
    average_precision=_some_share,
    roc=_curve,
    precision_recall=_curve,
    lift=_curve,
    thresholds=many(_threshold, LIMITS["curve"]),
    chosen_threshold=_some_share,
    costs=optional(tuple_of(_positive, _positive)),
)
_weighed = record(
    usual=_positive, weighed=_positive, dearest=text(), recall=_some_share
)
_evaluation = record(
    rows=_some_size,
    splits=_some_size,
    scored_rows=_some_size,
    accuracy=_some_share,
    accuracy_low=_some_share,
    accuracy_high=_some_share,
    balanced_accuracy=_some_share,
    log_loss=_some_positive,
    all_features_accuracy=_some_share,
    all_features_log_loss=_some_positive,
    majority_accuracy=_some_share,
    majority=optional(text()),
    prior_log_loss=_some_positive,
    calibration=optional(_calibration),
    contenders=optional(many(_contender, 20)),
    confusion=optional(_confusion),
    per_class=optional(many(_per_class, LIMITS["classes"])),
    two_classes=optional(_two_classes),
    costs=optional(_weighed),
)
_verdict = record(
    lines=many(text(600), 4),
    remarks=many(record(code=text(60), text=text(1000)), 40),
    next=many(record(command=lines(2000), meaning=text(400)), 12),
)
_piece = record(
    text=passage(LIMITS["letters"]), nats=_some_number, name=optional(_name)
)
_document = record(
    kind=one_of("certain", "wrong", "edge"),
    row=whole(),
    name=optional(text()),
    label=optional(text()),
    predicted=text(),
    probability=_share,
    pieces=many(_piece, LIMITS["pieces"]),
    terms=many(record(name=text(), value=text(300), nats=number()), 40),
    flip=optional(text(600)),
    note=optional(text(600)),
)
_read_column = record(
    column=text(),
    role=text(40),
    type=text(40),
    missing=whole(),
    distinct=whole(),
    examples=text(300),
)
_reading = record(
    notes=many(text(1000), 100), columns=many(_read_column, LIMITS["columns"])
)
_alternative = record(
    name=_name,
    lost=optional(_positive),
    entered=many(_name, 40),
)
_alternatives = record(
    within=_share,
    complete=flag,
    under_rules=flag,
    n_listed=whole(),
    n_at_most=_positive,
    n_core=whole(),
    n_possible=whole(),
    items=many(_alternative, LIMITS["features"]),
)
_parameter = record(name=text(), value=text(1000), changed=flag)

#: The sections of a report. Features are named by their place in ``names``.
SECTIONS: dict[str, Check] = {
    "data_name": text(),
    "model": text(),
    "verdict": optional(_verdict),
    "sentence": text(400),
    "detail": text(400),
    "noun": text(40),
    "versions": many(record(name=text(40), version=text(40)), 20),
    "names": many(text(), LIMITS["names"]),
    "certificate": optional(_certificate),
    "data": _data,
    "features": _features,
    "path": optional(_path),
    "weight_path": optional(_weight_path),
    "discounts": optional(many(_discount, LIMITS["points"])),
    "columns": optional(_columns),
    "shapes": optional(_shapes),
    "alternatives": optional(_alternatives),
    "evaluation": optional(_evaluation),
    "documents": optional(many(_document, LIMITS["documents"])),
    "reading": optional(_reading),
    "seconds": many(record(step=text(), seconds=_positive), 40),
    "parameters": many(_parameter, LIMITS["parameters"]),
    "command": optional(lines(10_000)),
    "python": lines(20_000),
}


def check_report(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Every section checked by itself, then that features are named by real places."""
    checked = {name: check(sections[name], name) for name, check in SECTIONS.items()}
    n_names, n_steps = len(checked["names"]), None
    if checked["weight_path"] is not None:
        n_steps = len(checked["weight_path"]["steps"])
    for place in _places(checked):
        if place >= n_names:
            raise ValueError(
                f"A report's features must be places in its list of {n_names:,} names. "
                f"Got {place}."
            )
    for line in (checked["weight_path"] or {}).get("lines", ()):
        if len(line["weights"]) != n_steps:
            raise ValueError(
                f"A report's weight_path.lines must have a weight for each of its "
                f"{n_steps} steps. Got {len(line['weights'])}."
            )
    n_classes = len(checked["data"]["classes"])
    if checked["shapes"] is not None:
        _check_shapes(checked["shapes"], n_classes)
    _check_features(checked["features"]["rows"], n_classes)
    _check_results(checked)
    return checked


def _check_features(rows: list[dict[str, Any]], n_classes: int) -> None:
    """Values by class that there are as many of as classes."""
    for i, row in enumerate(rows):
        of = 0 if row["odds"] is None else row["odds"]["of"]
        sizes = {
            len(row[key])
            for key in ("documents", "means", "deviations")
            if row[key] is not None
        }
        if of >= n_classes or sizes - {n_classes}:
            raise ValueError(
                f"A report's features.rows[{i}] must have values that fit its "
                f"{n_classes} classes. Got others."
            )


def _check_results(checked: dict[str, Any]) -> None:
    """A verdict that says something, a square of confusions, documents of a length."""
    if checked["verdict"] is not None and not checked["verdict"]["lines"]:
        raise ValueError("A report's verdict.lines must hold 1 to 4 sentences. Got 0.")
    confusion = (checked["evaluation"] or {}).get("confusion")
    if confusion is not None:
        size = len(confusion["names"])
        if {len(confusion["counts"]), *map(len, confusion["counts"])} - {size}:
            raise ValueError(
                "A report's evaluation.confusion must have a row and a column for each "
                f"of its {size} names. Got others."
            )
    for document in checked["documents"] or ():
        left = LIMITS["letters"]
        for piece in document["pieces"]:
            piece["text"] = piece["text"][:left]
            left -= len(piece["text"])


def _check_shapes(shapes: dict[str, Any], n_classes: int) -> None:
    """Curves and maps that fit their bins, cells and classes."""
    n_curves = 1 if shapes["odds"] else n_classes
    for i, item in enumerate(shapes["columns"]):
        parts = item["bins"] + ([] if item["missing"] is None else [item["missing"]])
        fits = all(
            len(part[key]) == n_curves
            for part in parts
            for key in ("values", "low", "high")
        )
        edges = item["edges"]
        if edges is not None:
            fits = (
                fits and len(edges) == len(item["bins"]) + 1 and edges == sorted(edges)
            )
        if not fits or not item["bins"]:
            raise ValueError(
                f"A report's shapes.columns[{i}] must have edges and curves that fit "
                "its bins. Got others."
            )
    for i, item in enumerate(shapes["pairs"]):
        sizes = [len(axis["labels"]) for axis in item["axes"]]
        n_cells = math.prod(sizes)
        fits = all(
            axis["bounds"] is None or len(axis["bounds"]) == len(axis["labels"]) - 1
            for axis in item["axes"]
        )
        fits = fits and len(item["values"]) == n_curves and len(sizes) >= 2
        maps = [item["rows"], *item["values"]]
        if not fits or not n_cells or any(len(own) != n_cells for own in maps):
            raise ValueError(
                f"A report's shapes.pairs[{i}] must have maps that fit its axes. Got "
                "others."
            )


def _places(value: Any) -> Any:
    """Every number that stands for a name, wherever it is."""
    if isinstance(value, list):
        for item in value:
            yield from _places(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key == "name" and isinstance(item, int):
                yield item
            elif key in ("entered", "left"):
                yield from item
            else:
                yield from _places(item)
