"""The pages of tables in benchmarks/ are what the stored results say."""

from __future__ import annotations

import json

import pytest
from tests.studies.study_modules import BENCHMARKS, STUDIES, load

RESULTS = STUDIES / "results"
STORED = sorted(path.parent.name for path in RESULTS.glob("*/results.json.xz"))


@pytest.mark.parametrize("name", STORED)
def test_the_page_of_a_study_is_what_its_results_say(name):
    page = (RESULTS / name / "tables.md").read_text(encoding="utf-8")
    told = f"run benchmarks/studies/{name}.py --tables-only"
    assert load(name).document(RESULTS / name) == page, told


def test_the_page_of_the_peers_is_what_the_results_say():
    stored = BENCHMARKS / "results" / "peers.json"
    if not stored.is_file():
        pytest.skip("no results of the benchmarks (they are not part of the sdist)")
    content = json.loads(stored.read_text(encoding="utf-8"))
    page = (BENCHMARKS / "peers.md").read_text(encoding="utf-8")
    told = "run benchmarks/peers.py --tables-only"
    assert load("peers_tables").page(content) == page, told
    assert not content["quick"]
