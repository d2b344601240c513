"""Scores of pairs and triples equal those made with plain sums."""

from __future__ import annotations

import numpy as np
import pytest

from bayesieve import _core


def problem(seed, n=300, classes=3, weighted=False):
    rng = np.random.default_rng(seed)
    levels = np.array([2, 1, 3])
    cells = np.stack([rng.integers(0, 2**k, size=n) for k in levels]).astype(np.uint8)
    codes = (cells[0] + cells[2] + rng.integers(0, 2, size=n)) % classes
    codes = codes.astype(np.int32)
    share = np.bincount(codes, minlength=classes) / n
    posterior = rng.dirichlet(np.ones(classes), size=n)
    sizes = [6, 4, 8]
    parts = np.stack([rng.integers(0, s, size=n) for s in sizes]).astype(np.uint16)
    table = rng.normal(size=(sum(sizes), classes - 1))
    offset = np.concatenate([[0], np.cumsum(sizes)])
    weight = rng.integers(1, 4, size=n).astype(float) if weighted else None
    row_weight = rng.random(n) if weighted else None
    return {
        "cells": cells,
        "levels": levels,
        "codes": codes,
        "weight": weight,
        "row_weight": row_weight,
        "alpha": 2.0 * share,
        "log_prior": np.log(share),
        "posterior": np.ascontiguousarray(posterior[:, 1:]),
        "parts": parts,
        "table": table,
        "offset": offset,
    }


def plain(own, columns, most_levels):
    """The same with the tables of `average_boxes` and loops over whole arrays."""
    classes = own["alpha"].size
    levels = [min(int(own["levels"][k]), most_levels) for k in columns]
    place = np.zeros(own["codes"].size, dtype=np.int64)
    for k, level in zip(columns, levels, strict=True):
        place = (place << level) | (own["cells"][k] >> (own["levels"][k] - level))
    lines = place * classes + own["codes"]
    size = classes * 2 ** sum(levels)
    counts = np.bincount(lines, own["weight"], size).reshape(-1, classes)
    evidence, _, _, without = _core.average_boxes(
        [counts.astype(float)], own["alpha"], [levels], True
    )[0]
    lifts = np.log(without) - own["log_prior"]
    says = (lifts[:, 1:] - lifts[:, :1])[lines]
    for k in columns:
        says = says - own["table"][own["offset"][k] + own["parts"][k].astype(int)]
    p = own["posterior"]
    mean = (p * says).sum(axis=1)
    padded = np.column_stack([np.zeros(len(says)), says])
    d = padded[np.arange(len(says)), own["codes"]] - mean
    w = np.ones(len(says)) if own["row_weight"] is None else own["row_weight"]
    spread = (p * says**2).sum(axis=1) - mean**2
    return np.array([w @ d, w @ d**2, w @ spread, evidence])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("most_levels", [1, 3])
def test_scores_are_those_of_plain_sums(classes, weighted, most_levels):
    own = problem(classes, classes=classes, weighted=weighted)
    sets = np.array([[0, 1, -1], [0, 2, -1], [1, 2, -1], [0, 1, 2]])
    chosen = {"sets": sets, "most_levels": most_levels}
    found = _core.score_pairs(**chosen, **own, least=0.0)
    for line, columns in zip(found, ([0, 1], [0, 2], [1, 2], [0, 1, 2]), strict=True):
        wanted = plain(own, columns, most_levels)
        np.testing.assert_allclose(line, wanted, rtol=1e-9, atol=1e-9)
    # Boxes that hardly matter may be left out.
    near = _core.score_pairs(**chosen, **own, least=1e-4)
    np.testing.assert_allclose(near, found, rtol=2e-2)


def test_an_interplay_has_a_slope_and_noise_has_none():
    rng = np.random.default_rng(0)
    n = 4000
    cells = rng.integers(0, 4, size=(3, n)).astype(np.uint8)
    codes = ((cells[0] > 1) ^ (cells[1] > 1)).astype(np.int32)
    own = {
        "cells": cells,
        "levels": np.full(3, 2),
        "codes": codes,
        "weight": None,
        "row_weight": None,
        "alpha": np.ones(2),
        "log_prior": np.log([0.5, 0.5]),
        "posterior": np.full((n, 1), 0.5),
        "parts": np.zeros((3, n), np.uint8),
        "table": np.zeros((3, 1)),
        "offset": np.arange(4),
    }
    sets = np.array([[0, 1], [0, 2], [1, 2]])
    found = _core.score_pairs(sets=sets, most_levels=4, **own, least=1e-4)
    z = found[:, 0] / np.sqrt(found[:, 1])
    assert z[0] > 50
    assert (z[1:] < 3).all()
    assert found[0, 3] > found[1, 3] + 1000


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("codes", np.full(300, 9, np.int32)),
        ("cells", np.full((3, 300), 200, np.uint8)),
        ("parts", np.full((3, 300), 60, np.uint16)),
        ("levels", np.array([2, 1])),
        ("posterior", np.zeros((300, 5))),
        ("sets", np.array([[0, 7]])),
    ],
)
def test_what_does_not_fit_is_refused(name, value):
    own = (
        {"sets": np.array([[0, 1]]), "most_levels": 4, "least": 0.0}
        | problem(0)
        | {name: value}
    )
    with pytest.raises(ValueError):
        _core.score_pairs(**own)
