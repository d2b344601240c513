r"""What characters mean to this interpreter, as tables for the compiled core.

`\w`, `\s` and `str.lower` follow the version of Unicode that Python was built with,
so the tables are asked from Python itself, once, when texts are first counted.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import Any

import numpy as np

from bayesieve import _core
from bayesieve.utils._arrays import Array

# Bits of a character, as in text_unicode.h.
WORD, SPACE, CASE_IGNORABLE, CASED = 1, 2, 4, 8
SIGMA, FINAL_SIGMA = "\u03a3", "\u03c2"
DOTTED_I = "\u0130"


def _text_of(codes: Array) -> str:
    """Return the string of code points, surrogates included."""
    return codes.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def _codes_of(text: str) -> Array:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


def _every_code() -> Array:
    return np.arange(sys.maxunicode + 1, dtype=np.uint32)


@cache
def character_flags() -> Array:
    """Return the bits of every code point."""
    every = _every_code()
    flags = np.zeros(every.size, dtype=np.uint8)
    whole = _text_of(every)
    flags[_codes_of(re.sub(r"\W+", "", whole))] |= WORD
    flags[_codes_of(re.sub(r"\S+", "", whole))] |= SPACE
    # A capital sigma asks its neighbours for their case, past those to be ignored: how
    # it comes out tells what the neighbour is. The dotted capital I, which becomes two
    # characters, is a letter like another.
    probe = every.copy()
    probe[ord(DOTTED_I)] = ord("I")
    a, sigma, stop = (np.full_like(every, ord(c)) for c in f"a{SIGMA}\n")
    after = _text_of(np.stack([a, sigma, probe, stop], axis=1)).lower()
    before = _text_of(np.stack([a, probe, sigma, stop], axis=1)).lower()
    final = ord(FINAL_SIGMA)
    cased = _codes_of(after)[1::4] != final
    ignorable = ~cased & (_codes_of(before)[2::4] == final)
    flags[cased] |= CASED
    flags[ignorable] |= CASE_IGNORABLE
    return flags


@cache
def lowered_characters() -> dict[int, str]:
    """Return the code points that `str.lower` changes, on their own."""
    every = _every_code()
    every[ord(DOTTED_I)] = 0  # becomes two characters
    changed = np.flatnonzero(_codes_of(_text_of(every).lower()) != every)
    codes = [*changed.tolist(), ord(DOTTED_I)]
    return {code: chr(code).lower() for code in codes if code >= 128}


@cache
def _unaccented(how: str) -> dict[int, str]:
    """Return the code points beyond ASCII that stripping accents changes."""
    # A line feed keeps neighbours from being put in order: each is decomposed alone.
    whole = _text_of(_every_code()[128:])
    pieces = unicodedata.normalize("NFKD", "\n".join(whole)).split("\n")
    if how == "ascii":
        keep = [piece.encode("ascii", "ignore").decode() for piece in pieces]
        return dict(enumerate(keep, 128))
    changed = {
        code: piece
        for code, (piece, c) in enumerate(zip(pieces, whole, strict=True), 128)
        if piece != c or unicodedata.combining(c)
    }
    return {code: without_accents(piece, how) for code, piece in changed.items()}


def without_accents(text: str, how: str | None) -> str:
    """Return the text as scikit-learn's strip_accents_{unicode, ascii} would."""
    if how is None or text.isascii():
        return text
    decomposed = unicodedata.normalize("NFKD", text)
    if how == "ascii":
        return decomposed.encode("ascii", "ignore").decode("ascii")
    return "".join([c for c in decomposed if not unicodedata.combining(c)])


def table_arrays(
    lowercase: bool, strip_accents: str | None
) -> tuple[Array, Array, Array, Array, bool, int]:
    """Return flags, and what every character becomes: entries, starts, bytes.

    Then whether ASCII is lowered, and the entry of a final sigma.

    Decomposition looks at one character at a time but for the order of combining
    marks, which are dropped, so a table can hold it.
    """
    mapping = np.zeros(sys.maxunicode + 1, dtype=np.uint16)
    entries = [b""]  # entry 0: unchanged
    numbers: dict[str, int] = {}

    def entry(text: str) -> int:
        number = numbers.get(text)
        if number is None:
            number = numbers[text] = len(entries)
            entries.append(text.encode("utf-8", "surrogatepass"))
        return number

    # ASCII is lowered by the core itself and has no accents.
    if strip_accents is not None:
        changes = _unaccented(strip_accents)
        mapping[list(changes)] = [entry(text) for text in changes.values()]
    final_sigma = 0
    if lowercase:
        for code, text in lowered_characters().items():
            mapping[code] = entry(without_accents(text, strip_accents))
        final_sigma = entry(without_accents(FINAL_SIGMA, strip_accents))
    start = np.zeros(len(entries) + 1, dtype=np.uint32)
    np.cumsum([len(text) for text in entries], out=start[1:])
    data = np.frombuffer(b"".join(entries), dtype=np.uint8)
    return character_flags(), mapping, start, data, lowercase, final_sigma


@cache
def text_tables(lowercase: bool, strip_accents: str | None) -> Any:
    """Return the compiled tables of one way to prepare texts."""
    return _core.text_tables(*table_arrays(lowercase, strip_accents))
