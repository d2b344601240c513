"""The verdict of `select` in twenty situations, and its rules one by one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.verdicts.make_situations import SITUATIONS

from bayesieve.cli import main
from bayesieve.inspection._evaluation import RowScores, evaluation_of
from bayesieve.inspection._verdict import verdict_of
from bayesieve.inspection._verdict_facts import VerdictFacts

pytest.importorskip("duckdb", reason="reading files needs duckdb")
pytest.importorskip("pandas", reason="reading tables needs pandas")


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda own: own.name)
def test_the_verdict_notices_what_there_is(situation, tmp_path, capsys):
    path = situation.write(tmp_path)
    assert (
        main(["select", str(path), "--label", "label", "--json", *situation.options])
        == 0
    )
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    codes = [remark["code"] for remark in verdict["remarks"]]
    told = f"{situation.name}: {verdict['lines']} {codes}"
    assert verdict["lines"][0].startswith(situation.headline), told
    assert 1 <= len(verdict["lines"]) <= 3
    for code in situation.must:
        assert code in codes, told
    for code in situation.never:
        assert code not in codes, told
    assert verdict["next"]
    for step in verdict["next"]:
        assert step["command"].startswith("bayesieve ")


def rows_of(codes, chance):
    """Two classes with the given probability of the right one."""
    logs = np.log(np.where(np.eye(2)[codes] > 0, chance[:, None], 1 - chance[:, None]))
    return RowScores.of(logs, codes)


@pytest.mark.parametrize(
    ("name", "code", "action", "words"),
    [
        ("more", "more features", "more", "More terms would pay: 300 with weights are"),
        ("presence", "other model", "presence", "Whether a term is there says more"),
        ("counts", "other model", "counts", "How often a term is there says more"),
        ("pairs", "pairs", "ngrams", "Pairs of words would pay"),
    ],
)
def test_a_rival_that_is_surely_ahead_is_told(name, code, action, words):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, size=2000)
    own = rng.uniform(0.3, 0.9, size=2000)
    better = np.clip(own + 0.1, 0.0, 0.99)
    for chance, told in ((better, True), (own, False)):
        facts = VerdictFacts(
            "terms",
            100,
            5000,
            weighted=True,
            evaluation=evaluation_of([rows_of(codes, own)], ["a", "b"]),
            rivals={name: rows_of(codes, chance)},
            sizes={name: 300},
        )
        found = [own for own in verdict_of(facts).remarks if own.code == code]
        assert bool(found) == told
        if told:
            assert found[0].action == action
            assert found[0].text.startswith(words)


@pytest.mark.parametrize(
    ("right", "told"),
    [(12, "100.0 % may as well be 7"), (9, "75.0 % may as well be 4")],
)
def test_few_rows_are_told_with_what_else_it_may_be(right, told):
    codes = np.arange(12) % 2
    chance = np.where(np.arange(12) < right, 0.9, 0.1)
    facts = VerdictFacts(
        "k-mers",
        1,
        80,
        evaluation=evaluation_of([rows_of(codes, chance)], ["a", "b"]),
    )
    (text,) = [own.text for own in verdict_of(facts).remarks if own.code == "tiny"]
    assert told in text
    assert text.count("%") == (2 if right == 12 else 3)
