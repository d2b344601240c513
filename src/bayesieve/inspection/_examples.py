"""Rows to look at: the most certain, the most wrong, those on the edge, and why.

Of texts the terms that decided are marked where they stand, and the most telling terms
are shown in use. Of sequences, which nobody reads, the k-mers are told that decided by
being there or not.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve._description import Description
from bayesieve._pipeline import OpenedModel
from bayesieve.inspection._explain import explain
from bayesieve.inspection._rows import take_rows
from bayesieve.naive_bayes import SparseSequenceNB
from bayesieve.naive_bayes._term_values import contrast_for
from bayesieve.text._options import TextOptions
from bayesieve.text._spans import term_spans

__all__ = ["contexts_of", "examples_of", "text_marker"]

_OF_A_KIND = 8
_LONGEST_TEXT = 3_000
_MOST_PIECES = 390
_TERMS = 8  # of a row of a table
_AROUND = 40  # letters before and after a term in use
_IN_USE, _CONTEXTS, _TEXTS_LOOKED_AT = 60, 3, 1_000

#: Places of terms in a text: start, end, column of the model.
Marker = Callable[[str], list[tuple[int, int, int]]]


@dataclass(frozen=True)
class _Example:
    kind: str
    row: int


def examples_of(
    opened: OpenedModel,
    X: Any,
    codes: NDArray[np.int64],
    classes: Sequence[str],
    proba: NDArray[np.float64],
    feature_names: Any = None,
    row_names: Sequence[str] | None = None,
) -> list[dict[str, Any]]:
    """Examples of rows as a report shows them.

    Parameters
    ----------
    opened : OpenedModel
    X : rows as the user has them
    codes : ndarray of shape (n_rows,)
        Their classes, -1 where it is not known.
    classes : sequence of str
    proba : ndarray of shape (n_rows, n_classes)
    feature_names : array-like of str, optional
    row_names : sequence of str, optional
        What the rows are called; files are called by their paths.
    """
    if not opened.is_last or not hasattr(opened.model, "explain"):
        return []
    chosen = _chosen(codes, proba)
    if not chosen:
        return []
    rows = np.array([own.row for own in chosen])
    part = take_rows(X, rows)
    found = explain(opened.whole, part, feature_names)
    mark = text_marker(opened)
    texts = _as_texts(part) if mark is not None else [None] * rows.size
    is_sequence = not opened.steps and isinstance(opened.model, SparseSequenceNB)
    names: list[str | None] = [None] * rows.size
    if row_names is not None:
        names = [row_names[row] for row in rows.tolist()]
    elif is_sequence:
        names = [
            os.fspath(own) if isinstance(own, os.PathLike) else None for own in part
        ]
    examples = []
    for place, own in enumerate(chosen):
        code, row = int(codes[own.row]), found[place]
        best = int(np.argmax(proba[own.row]))
        flip = row.counterfactual()
        shown: dict[str, Any] = {
            "kind": own.kind,
            "row": own.row + 1,
            "name": names[place],
            "label": classes[code] if code >= 0 else None,
            "predicted": classes[best],
            "probability": float(proba[own.row, best]),
            "flip": None if flip is None else str(flip),
            "note": None,
        }
        text = texts[place]
        if mark is not None and text is not None:
            nats = _nats_by_column(opened, row)
            shown["pieces"] = _pieces(text, mark, nats)
        elif is_sequence:
            shown |= _of_sequence(opened.model, row)
        else:
            shown["terms"] = [
                {"name": name, "value": value, "nats": nats}
                for name, value, nats in row.lines(_TERMS)[1:-1]
                if np.isfinite(nats)
            ]
        examples.append(shown)
    return examples


def _chosen(codes: NDArray[np.int64], proba: NDArray[np.float64]) -> list[_Example]:
    """Rows of each kind, the clearest of the kind first."""
    best = np.argmax(proba, axis=1)
    top = proba.max(axis=1)
    order = np.sort(proba, axis=1)
    margin = order[:, -1] - order[:, -2] if proba.shape[1] > 1 else top
    right, wrong = best == codes, (best != codes) & (codes >= 0)
    kinds = {
        "wrong": (np.flatnonzero(wrong), -top),
        "edge": (np.flatnonzero(codes >= 0), margin),
        "certain": (np.flatnonzero(right), -top),
    }
    taken: set[int] = set()
    found = []
    for kind, (rows, worth) in kinds.items():
        picked = 0
        for row in rows[np.argsort(worth[rows], kind="stable")].tolist():
            if row not in taken:
                taken.add(row)
                found.append(_Example(kind, row))
                picked += 1
            if picked == _OF_A_KIND:
                break
    return found


# -------------------------------------------------------------------------- sequences


def _of_sequence(model: Any, row: Any) -> dict[str, Any]:
    """What each k-mer says of one row by being in it or not, the loudest first.

    Where `explain` tells of words beside an empty row, here absences are terms of their
    own: many a sequence has none of the k-mers, and is told by that.
    """
    counts = row.inputs.toarray()[0]
    place = int(np.argmax(row.probabilities[0]))
    present, absent = (contrast_for(own, place) for own in model._term_logs())
    by_presence = model.model == "bernoulli"
    nats = np.where(counts > 0, present * np.maximum(counts, 1.0), absent)
    order = np.argsort(-np.abs(nats), kind="stable")
    order = order[np.isfinite(nats[order]) & (nats[order] != 0.0)]
    terms = []
    for j in order[:_TERMS].tolist():
        value = "present" if counts[j] else "absent"
        if not by_presence:
            value = "once" if counts[j] == 1 else f"{counts[j]:,.0f} times"
        name, own = row.features[j], float(nats[j])
        terms.append({"name": name, "value": value, "nats": own})
    rest = order[_TERMS:]
    if rest.size:
        more = f"{rest.size:,} more"
        terms.append({"name": more, "value": "", "nats": float(nats[rest].sum())})
    return {"terms": terms, "note": None if counts.any() else _nothing_there(model)}


def _nothing_there(model: Any) -> str:
    """What has decided where a row has none of the k-mers."""
    several = model.k_ > 1
    one = model._noun.removesuffix("s")
    which = f"None of the {one}s is" if several else f"The {one} is not"
    if model.model != "bernoulli":
        return f"{which} in it: how common each class is decided."
    whose = "their" if several else "its"
    return f"{which} in it: {whose} absence decided, and how common each class is."


# ------------------------------------------------------------------------------ texts


def text_marker(opened: OpenedModel) -> Marker | None:
    """A function that finds the model's terms in a text; None where rows are none.

    For models of texts, and for pipelines that begin with a plain vectorizer.
    """
    model = opened.model
    if not opened.steps:
        if not hasattr(model, "_spans"):
            return None
        columns = model.support_indices_.tolist()
        return lambda text: [(a, b, columns[j]) for a, b, j in model._spans(text)]
    options = _vectorizer_options(opened.steps[0])
    if options is None or len(opened.steps) > 1:
        return None
    support = set(model.support_indices_.tolist())
    known = opened.steps[0].vocabulary_
    terms = {term: int(j) for term, j in known.items() if int(j) in support}
    return lambda text: term_spans(text, options, terms)


def _vectorizer_options(step: Any) -> TextOptions | None:
    """How a vectorizer of scikit-learn cuts texts, where it does so in a known way."""
    own = step.get_params(deep=False) if hasattr(step, "get_params") else {}
    wanted = ("analyzer", "ngram_range", "lowercase", "strip_accents", "stop_words")
    if not hasattr(step, "vocabulary_") or any(name not in own for name in wanted):
        return None
    made = [own["analyzer"], own["strip_accents"], own["stop_words"]]
    if own.get("preprocessor") or own.get("tokenizer") or any(map(callable, made)):
        return None
    given = {name: own[name] for name in wanted}
    if own.get("token_pattern"):
        given["token_pattern"] = own["token_pattern"]
    return TextOptions(**given)


def _as_texts(part: Any) -> list[str | None]:
    listed = part.to_pylist() if hasattr(part, "to_pylist") else list(part)
    return [own if isinstance(own, str) else None for own in listed]


def _nats_by_column(opened: OpenedModel, row: Any) -> dict[int, float]:
    """What each selected column adds to the predicted class against the others."""
    values, _ = row.contrast(row.predicted.tolist()[0])
    values = values.toarray() if hasattr(values, "toarray") else values
    columns = opened.model.support_indices_.tolist()
    return dict(zip(columns, values[0].tolist(), strict=True))


def _pieces(text: str, mark: Marker, nats: Mapping[int, float]) -> list[dict[str, Any]]:
    """A text cut where terms stand; of terms that overlap the strongest is marked."""
    text = text[:_LONGEST_TEXT]
    spans = [(a, b, j, nats.get(j, 0.0)) for a, b, j in mark(text)]
    spans = [own for own in spans if own[3] and np.isfinite(own[3])]
    spans.sort(key=lambda own: (-abs(own[3]), own[0]))
    counts: dict[int, int] = {}
    for own in spans:
        counts[own[2]] = counts.get(own[2], 0) + 1
    free = np.ones(len(text) + 1, dtype=bool)
    kept: list[tuple[int, int, int, float]] = []
    for start, end, column, value in spans:
        if len(kept) < _MOST_PIECES // 2 and free[start:end].all():
            free[start:end] = False
            # A term adds its nats once, however often it stands there.
            kept.append((start, end, column, value / counts[column]))
    pieces: list[dict[str, Any]] = []
    done = 0
    for start, end, column, value in sorted(kept):
        if start > done:
            pieces.append({"text": text[done:start], "nats": None, "name": None})
        pieces.append({"text": text[start:end], "nats": value, "name": column})
        done = end
    if done < len(text):
        pieces.append({"text": text[done:], "nats": None, "name": None})
    return pieces


def contexts_of(
    opened: OpenedModel, found: Description, texts: Sequence[Any]
) -> dict[str, list[list[str]]]:
    """The strongest terms in use: up to three examples of before, match and after."""
    mark = text_marker(opened)
    if mark is None:
        return {}
    shown = found.strongest(_IN_USE)
    names = dict(zip(shown.indices.tolist(), shown.names, strict=True))
    uses: dict[str, list[list[str]]] = {}
    for text in texts[:_TEXTS_LOOKED_AT]:
        if not isinstance(text, str):
            continue
        text = text[:_LONGEST_TEXT]
        met = set()
        for start, end, column in mark(text):
            name = names.get(column)
            if name is None or column in met:
                continue
            met.add(column)
            own = uses.setdefault(name, [])
            if len(own) < _CONTEXTS:
                before = text[max(0, start - _AROUND) : start]
                own.append([before, text[start:end], text[end : end + _AROUND]])
    return uses
