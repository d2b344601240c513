"""The verdict of `select` in twenty situations, and its rules one by one."""

from __future__ import annotations

import json

import pytest
from tests.verdicts.make_situations import SITUATIONS

from bayesieve.cli import main

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
