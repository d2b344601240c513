"""What characters mean to this interpreter, as tables for the compiled core.

`\\w`, `\\s` and `str.lower` follow the version of Unicode that Python was built with, so
the tables are asked from Python itself, once, when texts are first counted.
"""

from __future__ import annotations

import sys
import unicodedata
from functools import cache
from typing import Any

import numpy as np

from bayesieve import _core
from bayesieve.counts._parts import Array

# Bits of a character, as in text_unicode.h.
WORD, SPACE, CASE_IGNORABLE, CASED = 1, 2, 4, 8
SIGMA, FINAL_SIGMA = "\u03a3", "\u03c2"


@cache
def characters() -> list[str]:
    """Return every code point as a string, surrogates included."""
    return [chr(code) for code in range(sys.maxunicode + 1)]


@cache
def character_flags() -> Array:
    """Return the bits of every code point."""
    every = characters()
    n = len(every)
    word = np.fromiter((c.isalnum() for c in every), bool, n)
    word[ord("_")] = True
    space = np.fromiter((c.isspace() for c in every), bool, n)
    # A capital sigma asks its neighbours for their case, past those to be ignored: how
    # it comes out tells what the neighbour is.
    after = np.fromiter((f"a{SIGMA}{c}".lower()[1] for c in every), "U1", n)
    before = np.fromiter((f"a{c}{SIGMA}".lower()[-1] for c in every), "U1", n)
    cased = after != FINAL_SIGMA
    ignorable = ~cased & (before == FINAL_SIGMA)
    flags = word * WORD | space * SPACE | ignorable * CASE_IGNORABLE | cased * CASED
    return flags.astype(np.uint8)


def without_accents(text: str, how: str | None) -> str:
    """Return the text as scikit-learn's strip_accents_{unicode, ascii} would."""
    if how is None or text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    if how == "ascii":
        return decomposed.encode("ascii", "ignore").decode("ascii")
    return "".join([c for c in decomposed if not unicodedata.combining(c)])


@cache
def text_tables(lowercase: bool, strip_accents: str | None) -> Any:
    """Return the compiled tables of one way to prepare texts.

    Decomposition looks at one character at a time but for the order of combining
    marks, which are dropped, so a table can hold it.
    """
    every = characters()
    mapping = np.zeros(len(every), dtype=np.uint16)
    entries = [b""]  # entry 0: unchanged
    numbers: dict[str, int] = {}

    def entry(text: str) -> int:
        number = numbers.get(text)
        if number is None:
            number = numbers[text] = len(entries)
            entries.append(text.encode("utf-8", "surrogatepass"))
        return number

    final_sigma = 0
    if lowercase or strip_accents is not None:
        for code, character in enumerate(every):
            if code < 128:
                continue  # the core lowers ASCII itself
            changed = character.lower() if lowercase else character
            if strip_accents is not None:
                changed = without_accents(changed, strip_accents)
            if changed != character:
                mapping[code] = entry(changed)
        if lowercase:
            final_sigma = entry(without_accents(FINAL_SIGMA, strip_accents))
    start = np.zeros(len(entries) + 1, dtype=np.uint32)
    np.cumsum([len(text) for text in entries], out=start[1:])
    data = np.frombuffer(b"".join(entries), dtype=np.uint8)
    return _core.text_tables(
        character_flags(), mapping, start, data, lowercase, final_sigma
    )
