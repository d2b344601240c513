"""The study of proofs for weights: its numbers and its page on small data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from tests.studies.study_modules import STUDIES, load, read_parts, write_parts

RESULTS = STUDIES / "results" / "weight_proofs"


@pytest.fixture(scope="module")
def study():
    return load("weight_proofs")


@pytest.fixture(scope="module")
def part():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=400)
    rate = np.full((2, 60), 0.3)
    rate[:, :20] *= rng.uniform(0.3, 3.0, size=(2, 20))
    X = sparse.csr_matrix(rng.poisson(rate[y]))
    return load("wide_sets").Part(X[:300], y[:300], X[300:], y[300:])


def test_sizes_are_numbers_or_shares(study):
    assert [study.size_of(label, 1000) for label in study.SIZES] == [5, 20, 10, 50]
    assert study.size_of("1 %", 20) == 1


def test_a_unit_says_what_is_proven_and_what_it_cost(study, part, monkeypatch):
    monkeypatch.setattr(study, "SEARCH", 1.0)
    before = study.WideProof.joined
    unit = study.unit_of(part, 3)
    assert study.WideProof.joined is before
    assert 0.0 <= unit["gap"] <= unit["tolerance"]
    assert unit["joined"] >= 0
    assert min(unit[name] for name in unit if name.startswith("seconds")) > 0.0
    assert unit["fit"]["gain"] <= unit["exact"]["gain"] * (1 + 1e-7)
    for outcome in (unit["fit"], unit["exact"]):
        assert outcome["gain"] <= outcome["bound"]
        assert 0.0 <= outcome["accuracy"] <= 1.0
    assert study.relative_gap(unit["exact"]) <= study.relative_gap(unit["fit"])


def test_the_page_has_a_row_for_each_set(study, part, tmp_path, monkeypatch):
    monkeypatch.setattr(study, "SEARCH", 0.1)
    book = study.Ledger(tmp_path, "cr", study=study.STUDY, data="cr", seed=study.SEED)
    for label in study.SIZES:
        book.put(label, study.unit_of(part, study.size_of(label, 60)))
    write_parts(tmp_path, read_parts(tmp_path))
    page = study.document(tmp_path)
    assert page.count("| CR |") == 3
    assert "joined at 5, 20, 1 %, 5 %" in page


def test_stored_gaps_are_below_their_tolerances_and_the_pass_below_half_of_the_fit():
    parts = read_parts(RESULTS)
    assert len(parts) == 10
    for part in parts.values():
        assert len(part["rows"]) == 4
        for unit in part["rows"].values():
            assert unit["gap"] <= unit["tolerance"]
            assert unit["seconds_of_columns"] <= 0.5 * unit["seconds"]
            assert unit["fit"]["gain"] <= unit["exact"]["bound"] * (1 + 1e-9)
