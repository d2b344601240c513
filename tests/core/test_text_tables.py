"""Characters mean to the core what they mean to `re` and `str`, every one of them."""

from __future__ import annotations

import re
import sys
import unicodedata

import numpy as np
import pytest
from sklearn.feature_extraction.text import (
    strip_accents_ascii,
    strip_accents_unicode,
)
from tests.oracle.text_oracle import count_text

from bayesieve import _core
from bayesieve.text._characters import (
    SPACE,
    WORD,
    character_flags,
    table_arrays,
    without_accents,
)
from bayesieve.text._options import TextOptions

EVERY = [chr(code) for code in range(sys.maxunicode + 1)]


def test_word_and_space_flags_are_those_of_re_and_str():
    flags = character_flags()
    word, space = re.compile(r"\w").match, re.compile(r"\s").match
    for code, character in enumerate(EVERY):
        assert bool(flags[code] & WORD) == (word(character) is not None)
        assert bool(flags[code] & SPACE) == (space(character) is not None)
    alnum = np.fromiter((c.isalnum() or c == "_" for c in EVERY), bool)
    np.testing.assert_array_equal(flags & WORD != 0, alnum)


@pytest.mark.parametrize("accents", [None, "unicode", "ascii"])
@pytest.mark.parametrize("lowercase", [True, False])
def test_every_character_becomes_what_python_makes_of_it(lowercase, accents):
    strip = {None: str, "unicode": strip_accents_unicode, "ascii": strip_accents_ascii}
    _, mapping, start, data, _, _ = table_arrays(lowercase, accents)
    blob = data.tobytes()
    for code in range(128, len(EVERY)):
        expected = EVERY[code].lower() if lowercase else EVERY[code]
        expected = strip[accents](expected)
        entry = mapping[code]
        text = EVERY[code]
        if entry:
            text = blob[start[entry] : start[entry + 1]].decode(
                "utf-8", "surrogatepass"
            )
        assert text == expected, hex(code)


@pytest.mark.parametrize("place", ["aΣ{}", "aΣ{}b", "a{}Σ", "{}Σ", "a{}Σb", "aΣ{}."])
def test_a_sigma_looks_at_its_neighbours_as_python_does(place):
    """Every assigned character beside a sigma; characters are terms of their own."""
    beside = [c for c in EVERY if unicodedata.category(c) != "Cn"]
    texts = ["\x00" + place.format(c) for c in beside]
    options = TextOptions(analyzer="char", ngram_range=(1, 1))
    counts = count_text(texts, np.zeros(len(texts), dtype=int), 1, options, n_jobs=1)
    lowered = "".join(re.sub(r"\s\s+", " ", text.lower()) for text in texts)
    for sigma in "σς":
        at = counts.feature_names.index_of([sigma])[0]
        assert (counts.feature_count[0, at] if at >= 0 else 0) == lowered.count(sigma)


def test_accents_of_whole_strings():
    for text in ("plain", "é\u0301\u0327e", "각\u11a8", "ﬁ½ Å", "\ud800é"):
        assert without_accents(text, "unicode") == strip_accents_unicode(text)
        assert without_accents(text, "ascii") == strip_accents_ascii(text)
        assert without_accents(text, None) == text


def test_tables_that_point_outside_are_refused():
    flags, mapping, start, data, lower, final = table_arrays(True, None)
    broken = mapping.copy()
    broken[300] = start.size
    with pytest.raises(ValueError, match="replacement is missing"):
        _core.text_tables(flags, broken, start, data, lower, final)
    with pytest.raises(ValueError, match="each code point"):
        _core.text_tables(flags[:-1], mapping, start, data, lower, final)
    with pytest.raises(ValueError, match="do not fit"):
        _core.text_tables(flags, mapping, start, data[:-1], lower, final)
