"""Texts whose script has no spaces, cut at spaces: told, and how to cut them."""

from __future__ import annotations

import warnings

import pytest

from bayesieve import ClassCounts, SparseTextNB
from bayesieve.exceptions import UnspacedTextWarning

CHINESE = ["今天天气很好我们去公园", "这家酒店非常差我很失望"] * 5
THAI = ["วันนี้อากาศดีมาก", "ร้านนี้แย่มากไม่ชอบ"] * 5
SPACED = ["the film was good", "오늘 날씨가 좋다", "погода была плохой"] * 4


@pytest.mark.parametrize("texts", [CHINESE, THAI])
def test_unspaced_texts_are_told(texts):
    y = [0, 1] * 5
    with pytest.warns(UnspacedTextWarning, match="analyzer='char'"):
        SparseTextNB(k=2).fit(texts, y)
    pytest.importorskip("duckdb")
    with pytest.warns(UnspacedTextWarning, match="analyzer='char'"):
        ClassCounts.from_text([(texts, y)])


@pytest.mark.parametrize(
    ("texts", "parameters"), [(SPACED, {}), (CHINESE, {"analyzer": "char"})]
)
def test_others_are_not(texts, parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnspacedTextWarning)
        SparseTextNB(k=2, **parameters).fit(texts, ([0, 1] * 9)[: len(texts)])
