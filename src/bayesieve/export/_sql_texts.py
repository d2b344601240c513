r"""Texts to terms in SQL, the same as Python does it to the last character.

What a letter is and how it is lowered differ between engines, versions of Unicode and
locales. So both are written out: the class of all characters that are `\w` here, and a
table of all that `str.lower` changes, where a text is not ASCII. Two characters need
more than a table: the dotted capital I becomes two, and the capital sigma looks at its
neighbours.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from bayesieve.export._dialects import Dialect
from bayesieve.text._characters import (
    CASE_IGNORABLE,
    CASED,
    DOTTED_I,
    FINAL_SIGMA,
    SIGMA,
    WORD,
    character_flags,
    lowered_characters,
)
from bayesieve.text._options import TextOptions, least_word_length

__all__ = ["counts_of_words", "words_of_rows"]

_BEYOND_ASCII = r"[^\x{0}-\x{7f}]"


def words_of_rows(dialect: Dialect, options: TextOptions, text: str, row: str) -> str:
    """What to select of rows: their row, and an array of the words of a text.

    Parameters
    ----------
    dialect : Dialect
    options : TextOptions
    text, row : str
        Quoted names.
    """
    length = _checked(dialect, options)
    found = f"COALESCE({text}, '')"
    if options.lowercase:
        found = _lowered(dialect, found)
    pattern = dialect.text(f"[{_characters(WORD)}]{{{length},}}")
    found = f"regexp_extract_all({found}, {pattern}, 0)"
    if options.stop_words:
        listed = ", ".join(
            dialect.text(own, "A word") for own in sorted(options.stop_words)
        )
        found = dialect.kept(found, f"NOT {{}} IN ({listed})")
    return f"{row} AS bayesieve_row, {found} AS words"


def counts_of_words(dialect: Dialect, options: TextOptions, table: str) -> str:
    """A query of (bayesieve_row, term, n) from the table that has the words."""
    low, high = options.ngram_range
    grams = [dialect.grams("g.words", n) for n in range(low, high + 1)]
    terms = grams[0] if len(grams) == 1 else dialect.concatenated(grams)
    row = dialect.rows_of(terms)
    return f"SELECT g.bayesieve_row, {row} AS term, 1 AS n FROM {table} AS g"


def _checked(dialect: Dialect, options: TextOptions) -> int:
    """The least length of a word; options that no dialect could follow are refused."""
    if not dialect.has_texts:
        raise ValueError(
            f"{dialect.title} cannot cut texts as Python does. Got a model of texts. "
            "Hint: give it a table of terms, by 'row', 'term' and 'count', or use "
            "DuckDB or Spark."
        )
    length = least_word_length(options)
    allowed = None
    if options.analyzer != "word" or length is None:
        allowed = "words that are runs of letters, digits and underscores"
    elif options.strip_accents is not None:
        allowed = "letters with their accents"
    if allowed is not None or length is None:
        raise ValueError(
            f"Texts can be cut in SQL into {allowed}. Got analyzer="
            f"{options.analyzer!r}, token_pattern={options.token_pattern!r}, "
            f"strip_accents={options.strip_accents!r}. "
            "Hint: give a table of terms, by 'row', 'term' and 'count'."
        )
    return length


@cache
def _characters(flag: int) -> str:
    """The inside of a class of characters in a pattern: ranges of code points."""
    # No text in a database has surrogates.
    has = (character_flags() & flag) > 0
    has[0xD800:0xE000] = False
    edges = np.flatnonzero(np.diff(np.concatenate([[0], has.astype(np.int8), [0]])))
    return "".join(
        f"\\x{{{first:x}}}-\\x{{{last:x}}}"
        for first, last in zip(edges[::2], edges[1::2] - 1, strict=True)
    )


def _lowered(dialect: Dialect, text: str) -> str:
    """A text as `str.lower` gives it."""
    changed = {code: own for code, own in lowered_characters().items() if len(own) == 1}
    del changed[ord(SIGMA)]
    before = dialect.text("".join(map(chr, [*range(65, 91), *changed])))
    after = dialect.text("".join([*map(chr, range(97, 123)), *changed.values()]))
    dotted, two = dialect.text(DOTTED_I), dialect.text(DOTTED_I.lower())
    plain = f"replace(translate({text}, {before}, {after}), {dotted}, {two})"
    cased, ignored = _characters(CASED), _characters(CASE_IGNORABLE)
    # Not the last letter of a word: a letter follows. Twice, as the letter that follows
    # may be one whose own turn it is.
    follows = f"{SIGMA}([{ignored}]*[{cased}])"
    ends = f"([{cased}][{ignored}]*){SIGMA}"
    sigma = SIGMA.lower()
    found = plain
    for _ in range(2):
        found = dialect.replaced(found, follows, sigma, 1)
    found = dialect.replaced(found, ends, FINAL_SIGMA, -1)
    found = f"replace({found}, {dialect.text(SIGMA)}, {dialect.text(sigma)})"
    return (
        f"CASE WHEN NOT {dialect.matches(text, _BEYOND_ASCII)} THEN lower({text}) "
        f"WHEN NOT {dialect.matches(text, SIGMA)} THEN {plain} ELSE {found} END"
    )
