"""Where terms stand in a text: the same terms as counting finds, with their places.

Plain Python, for showing a few texts; rows of many are counted by `TermMatcher`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from bayesieve.text._options import TextOptions

__all__ = ["term_spans"]

#: Terms or their pieces with the places where they begin and end in the text.
Spans = list[tuple[str, int, int]]


def term_spans(
    text: str, options: TextOptions, vocabulary: Mapping[str, int]
) -> list[tuple[int, int, int]]:
    """Start, end and number of every place where a known term stands.

    Parameters
    ----------
    text : str
    options : TextOptions
        How texts are cut; `binary` is not looked at.
    vocabulary : mapping of str to int
        Numbers of the terms.

    Returns
    -------
    list of (start, end, number)
        In the order of the text; they overlap where terms do.

    Examples
    --------
    >>> from bayesieve.text._options import TextOptions
    >>> from bayesieve.text._spans import term_spans
    >>> options = TextOptions(ngram_range=(1, 2))
    >>> term_spans("Not good, not GOOD!", options, {"good": 0, "not good": 1})
    [(0, 8, 1), (4, 8, 0), (10, 18, 1), (14, 18, 0)]
    """
    cut = {"word": _words, "char": _characters, "char_wb": _characters_in_words}
    found = [
        (start, end, vocabulary[term])
        for term, start, end in cut[options.analyzer](text, options)
        if term in vocabulary
    ]
    return sorted(found)


def _letters(text: str, options: TextOptions) -> Spans:
    """The letters that terms are made of, each with its place in the text.

    A letter may become several, or none, when it is lowered and loses its accents. Each
    does so by itself but for the final sigma, which stays one letter.
    """
    prepared = options.prepared(text)
    if len(prepared) == len(text) and (text.isascii() or not options.strip_accents):
        return [(letter, i, i + 1) for i, letter in enumerate(prepared)]
    places = [i for i, own in enumerate(text) for _ in options.prepared(own)]
    return [(letter, i, i + 1) for letter, i in zip(prepared, places, strict=True)]


def _grams(
    pieces: Spans, options: TextOptions, between: str
) -> Iterator[tuple[str, int, int]]:
    """Runs of pieces of all lengths, joined."""
    low, high = options.ngram_range
    for n in range(low, min(high, len(pieces)) + 1):
        for first in range(len(pieces) - n + 1):
            run = pieces[first : first + n]
            yield between.join(own[0] for own in run), run[0][1], run[-1][2]


def _words(text: str, options: TextOptions) -> Iterator[tuple[str, int, int]]:
    letters = _letters(text, options)
    pattern = re.compile(options.token_pattern)
    stop = options.stop_words or ()
    words: Spans = []
    for match in pattern.finditer("".join(own[0] for own in letters)):
        # As `findall`: what the group holds, where there is one.
        word = match.group(pattern.groups) or ""
        first, last = match.span(pattern.groups if word else 0)
        if word not in stop:
            words.append((word, *_place(letters, first, last)))
    return _grams(words, options, " ")


def _place(letters: Spans, first: int, last: int) -> tuple[int, int]:
    """Where letters begin and end in the text; for none of them, an empty place."""
    if first < last:
        return letters[first][1], letters[last - 1][2]
    start = letters[first - 1][2] if first else 0
    return start, start


def _single_spaces(letters: Spans) -> Spans:
    """Letters with a space in the place of several."""
    text = "".join(own[0] for own in letters)
    found: Spans = []
    done = 0
    for match in re.finditer(r"\s\s+", text):
        first, last = match.span()
        found += letters[done:first]
        found.append((" ", *_place(letters, first, last)))
        done = last
    return found + letters[done:]


def _characters(text: str, options: TextOptions) -> Iterator[tuple[str, int, int]]:
    return _grams(_single_spaces(_letters(text, options)), options, "")


def _characters_in_words(
    text: str, options: TextOptions
) -> Iterator[tuple[str, int, int]]:
    """Runs of letters in words with a space at both ends, which has no place.

    A word that is shorter than a run is one run by itself, once.
    """
    letters = _letters(text, options)
    low, high = options.ngram_range
    for match in re.finditer(r"\S+", "".join(own[0] for own in letters)):
        word = letters[slice(*match.span())]
        start, end = word[0][1], word[-1][2]
        padded = [(" ", start, start), *word, (" ", end, end)]
        for n in range(low, high + 1):
            for first in range(max(len(padded) - n, 0) + 1):
                run = padded[first : first + n]
                yield "".join(own[0] for own in run), run[0][1], run[-1][2]
            if n >= len(padded):
                break
