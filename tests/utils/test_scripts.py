"""Scripts of texts, and how texts of each are cut."""
# ruff: noqa: RUF001

from __future__ import annotations

import re

import pytest

from bayesieve.text._options import DEFAULT_PATTERN, TextOptions
from bayesieve.utils._scripts import default_analyzer, script_of

SENTENCES = {
    "latin": "The waiter was kind and the soup was hot.",
    "cyrillic": "Официант был вежлив, а суп горячий.",
    "greek": "Ο σερβιτόρος ήταν ευγενικός.",
    "arabic": "كان النادل لطيفا والحساء ساخنا.",
    "hebrew": "המלצר היה אדיב והמרק היה חם.",
    "korean": "웨이터는 친절했고 수프는 뜨거웠습니다.",
    "chinese": "服务员很热情，汤也很热，下次还会再来。",
    "japanese": "店員は親切で、スープも熱かったです。",
    "thai": "พนักงานเสิร์ฟใจดีและซุปก็ร้อน",
    "lao": "ພະນັກງານເສີບໃຈດີ ແລະ ແກງຮ້ອນ",
    "khmer": "អ្នករត់តុចិត្តល្អ ហើយស៊ុបក្តៅ",
    "burmese": "စားပွဲထိုးက ကြင်နာပြီး ဟင်းချိုပူတယ်",
    "devanagari": "वेटर दयालु था और सूप गर्म था।",
    "tamil": "பணியாளர் அன்பானவர், சூப் சூடாக இருந்தது.",
}


@pytest.mark.parametrize("script", SENTENCES)
def test_each_script_is_known_by_its_letters(script):
    assert script_of([SENTENCES[script]]) == script
    assert script_of([None, "", "42 %", SENTENCES[script]]) == script


def test_without_letters_there_is_no_script():
    assert script_of([]) == "none"
    assert script_of([None, "", "12,5 %", "2020-01-31"]) == "none"
    assert default_analyzer(["12"]) == ("word", (1, 1))


def test_foreign_names_do_not_make_a_text_foreign():
    # Five words of Chinese beside two of Latin letters, though these are fewer letters.
    assert script_of(["iPhone 手机很好用，Bluetooth 不行"]) == "chinese"
    assert (
        script_of(["The dish is called 麻婆豆腐 and I would order it again"]) == "latin"
    )


def test_chinese_characters_beside_kana_are_japanese():
    assert script_of(["東京都の天気"]) == "japanese"
    assert script_of(["東京大学", "京都大学", "きょうと"]) == "japanese"
    # Half-width katakana and full-width Latin letters.
    assert script_of(["ｱｲｳｴｵｶｷｸｹｺ"]) == "japanese"
    assert script_of(["ＡＢＣＤ"]) == "latin"


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("latin", ("word", (1, 1))),
        ("cyrillic", ("word", (1, 1))),
        ("korean", ("word", (1, 1))),
        ("chinese", ("char", (1, 2))),
        ("japanese", ("char", (1, 2))),
        ("thai", ("char", (2, 4))),
        ("khmer", ("char", (2, 4))),
        ("devanagari", ("char_wb", (2, 4))),
    ],
)
def test_the_analyzer_of_a_script(script, expected):
    analyzer, ngram_range = default_analyzer([SENTENCES[script]])
    assert (analyzer, ngram_range) == expected
    TextOptions(analyzer=analyzer, ngram_range=ngram_range)


def test_words_of_the_usual_pattern_end_at_vowel_signs():
    """Why scripts of India are not cut by the pattern: no word of this is one."""
    word = "नमस्ते"
    assert word not in re.findall(DEFAULT_PATTERN, word)


def test_many_texts_are_sampled_evenly():
    texts = [SENTENCES["latin"]] * 50_000 + [SENTENCES["chinese"] * 3] * 50_000
    assert script_of(texts) == "chinese"
    assert script_of(texts[::-1]) == "chinese"
