"""What a report may hold: each field's type and size, checked before anything is used.

A report can come from a file that somebody else wrote. Every check says in one sentence
where the text departs from what is allowed, and lengths are bounded, so that a page
made from it stays a page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["LIMITS", "SECTIONS", "check_report", "clean_text"]

#: A check takes a value and its place, and returns the value or raises ValueError.
Check = Callable[[Any, str], Any]

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
}

#: Control characters break lines and tables, those that turn the direction of text make
#: a command read unlike what it does, and lone surrogates cannot be written at all.
_VISIBLE = {code: 0x2400 + code for code in range(32)} | {127: 0x2421}
_VISIBLE |= dict.fromkeys(range(128, 160), 0xFFFD)
_VISIBLE |= dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
_VISIBLE |= dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD)
_VISIBLE |= {0x2028: 0x2424, 0x2029: 0x2424}


def clean_text(text: str, longest: int = 200) -> str:
    """A name or label as one line of bounded length that any file can hold."""
    text = text[: longest + 1].translate(_VISIBLE)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _refuse(where: str, wanted: str, value: Any) -> ValueError:
    got = type(value).__name__
    if isinstance(value, bool | int | float) or value is None:
        got = repr(value)[:40]
    elif isinstance(value, str | list):
        got = f"{got} of length {len(value)}"
    return ValueError(f"A report's {where} must be {wanted}. Got {got}.")


def text(longest: int = 200) -> Check:
    """A string; made clean and cut if too long."""

    def check(value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise _refuse(where, "text", value)
        return clean_text(value, longest)

    return check


def lines(longest: int) -> Check:
    """Text of several lines, refused if too long: it is there to be copied."""

    def check(value: Any, where: str) -> str:
        if not isinstance(value, str) or len(value) > longest:
            raise _refuse(where, f"text of at most {longest:,} characters", value)
        return "\n".join(clean_text(line, longest) for line in value.split("\n"))

    return check


def number(low: float = -math.inf, high: float = math.inf) -> Check:
    """A number; "inf" and "-inf" stand for what JSON cannot say."""

    def check(value: Any, where: str) -> float:
        wanted = "a number"
        if low > -math.inf or high < math.inf:
            wanted = f"a number from {low:g} to {high:g}"
        if value in ("inf", "-inf") and isinstance(value, str):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _refuse(where, wanted, value)
        try:
            found = float(value)
        except OverflowError:
            found = math.nan
        if not low <= found <= high:  # NaN as well
            raise _refuse(where, wanted, value if found == found else math.inf)
        return found

    return check


def whole(high: int = 2**53) -> Check:
    """A whole number from 0 on, one that JavaScript can hold."""

    def check(value: Any, where: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise _refuse(where, "a whole number", value)
        if not 0 <= value <= high:
            raise _refuse(where, f"a whole number from 0 to {high:,}", value)
        return value

    return check


def flag(value: Any, where: str) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise _refuse(where, "true or false", value)
    return value


def optional(check: Check) -> Check:
    """Something, or null."""
    return lambda value, where: None if value is None else check(value, where)


def many(check: Check, most: int) -> Check:
    """A list of at most so many."""

    def check_all(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list | tuple) or len(value) > most:
            raise _refuse(where, f"a list of at most {most:,}", value)
        return [check(item, f"{where}[{i}]") for i, item in enumerate(value)]

    return check_all


def record(**fields: Check) -> Check:
    """An object with these fields and no others; a missing one is null."""

    def check(value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise _refuse(where, "an object", value)
        for name in value:
            if name not in fields:
                known = ", ".join(fields)
                raise ValueError(
                    f"A report's {where} must have no fields but {known}. "
                    f"Got {clean_text(str(name), 40)!r}."
                )
        return {
            name: field(value.get(name), f"{where}.{name}")
            for name, field in fields.items()
        }

    return check


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
_feature = record(
    name=_name,
    score=number(),
    weights=optional(_of_classes),
    discount=_some_share,
    counts=optional(_counts),
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
_evaluation = record(
    rows=_some_size,
    accuracy=_some_share,
    balanced_accuracy=_some_share,
    log_loss=_some_positive,
    all_features_accuracy=_some_share,
    all_features_log_loss=_some_positive,
    majority_accuracy=_some_share,
    calibration=optional(_calibration),
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
    if checked["shapes"] is not None:
        _check_shapes(checked["shapes"], len(checked["data"]["classes"]))
    return checked


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
