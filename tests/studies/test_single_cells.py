"""The study of single cells: its sides, its measure, and its page."""

from __future__ import annotations

import numpy as np
import pytest
from tests.studies.study_modules import load, write_parts


@pytest.fixture(scope="module")
def study():
    return load("single_cells")


@pytest.fixture(scope="module")
def cells():
    """Three types, each with two genes of its own, the last one rare."""
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[np.repeat([0, 1, 2], [200, 150, 30])]
    X = rng.poisson(0.5, size=(380, 60))
    for i, name in enumerate("abc"):
        own = np.flatnonzero(y == name)
        X[np.ix_(own, [2 * i, 2 * i + 1])] += rng.poisson(6, size=(own.size, 2))
    return X, y


def test_every_side_of_ours_finds_the_genes_that_tell(study, cells):
    X, y = cells
    for name, (_, choose) in study.OURS.items():
        genes = choose(X, y, 6)
        assert len(set(genes.tolist())) == len(genes) <= 6, name
        assert np.mean(genes < 6) > 0.8, name
    # One gene for each type, whatever its size.
    assert sorted(study.one_for_each(X, y, 3) // 2) == [0, 1, 2]


def test_the_measure_counts_types_alike(study, cells):
    X, y = cells
    train, test = study.split(y, 0)
    assert set(train) | set(test) == set(range(380))
    assert study.judged(X, y, range(6), train, test) > 0.95
    # With genes of the first type alone the rare one is lost, a third of the measure.
    assert study.judged(X, y, range(2), train, test) < 0.7


def test_the_page_marks_the_best_of_each_size(study, tmp_path):
    rows = {"refined logs": [[0.8, 0.9, 0.9, 1.0]], "t-test": [[0.7, 0.95, 0.8, 2.0]]}
    facts = {"peers": ["x==1"], "packages": {"bayesieve": "1"}, "python": "3"}
    around = {"processor": "p", "processors": 2, "date": "2024-01-01T00"}
    write_parts(tmp_path, {study.STUDY: {**facts, **around, "rows": rows}})
    page = study.document(tmp_path)
    assert "ours | **0.800 ± 0.000** | 0.900 ± 0.000 | **0.900 ± 0.000**" in page
    assert "peer | 0.700 ± 0.000 | **0.950 ± 0.000** | 0.800 ± 0.000" in page
