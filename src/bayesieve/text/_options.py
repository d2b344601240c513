"""How texts become terms: the options of scikit-learn's CountVectorizer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from bayesieve import _core
from bayesieve.text._characters import text_tables, without_accents
from bayesieve.text._term_names import pack
from bayesieve.utils._arrays import Array
from bayesieve.utils._computed_once import computed_once

_REGEX_ROWS = 1 << 13
DEFAULT_PATTERN = r"(?u)\b\w\w+\b"
# Patterns that the compiled core knows, with the least length of their words. For str
# patterns (?u) changes nothing, and runs of \w have boundaries at both ends anyway.
_KNOWN = {
    prefix + pattern: length
    for prefix in ("(?u)", "")
    for pattern, length in (
        (r"\b\w\w+\b", 2),
        (r"\w\w+", 2),
        (r"\b\w+\b", 1),
        (r"\w+", 1),
    )
}


def _refuse(name: str, allowed: str, got: object) -> None:
    raise ValueError(
        f"The {name!r} parameter of TextOptions must be {allowed}. Got {got!r}."
    )


def least_word_length(options: TextOptions) -> int | None:
    r"""The least length of words that are runs of `\\w`; None for other patterns."""
    return _KNOWN.get(options.token_pattern)


@dataclass(frozen=True)
class TextOptions:
    r"""How a text is cut into terms; names, defaults and meanings of CountVectorizer.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"}, default="word"
        Terms are n-grams of words, of characters, or of characters within words.
    ngram_range : tuple of int (min_n, max_n), default=(1, 1)
        Lengths of the n-grams.
    lowercase : bool, default=True
        Whether texts are lowered first, as `str.lower` does.
    strip_accents : {"ascii", "unicode"} or None, default=None
        Whether and how accents are removed.
    token_pattern : str, default=r"(?u)\\b\\w\\w+\\b"
        What a word is. Runs of `\\w` of at least one or two characters are found by
        the compiled core; any other pattern goes through `re`, with the same results
        as CountVectorizer at about its speed.
    stop_words : {"english"}, collection of str or None, default=None
        Words to leave out before n-grams are made; "english" is scikit-learn's list.
    binary : bool, default=False
        Whether a term counts once for each document that has it.
    """

    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    lowercase: bool = True
    strip_accents: str | None = None
    token_pattern: str = DEFAULT_PATTERN
    stop_words: Any = None
    binary: bool = False

    def __post_init__(self) -> None:
        if self.analyzer not in ("word", "char", "char_wb"):
            _refuse("analyzer", "'word', 'char' or 'char_wb'", self.analyzer)
        if self.strip_accents not in (None, "ascii", "unicode"):
            _refuse("strip_accents", "None, 'ascii' or 'unicode'", self.strip_accents)
        for name in ("lowercase", "binary"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                _refuse(name, "a bool", getattr(self, name))
            object.__setattr__(self, name, bool(getattr(self, name)))
        self._check_range()
        if not isinstance(self.token_pattern, str):
            _refuse("token_pattern", "a str", self.token_pattern)
        try:
            groups = re.compile(self.token_pattern).groups
        except re.error as error:
            raise ValueError(
                "The 'token_pattern' parameter of TextOptions must be a regular "
                f"expression. Got {self.token_pattern!r}: {error}."
            ) from None
        if groups > 1:
            _refuse("token_pattern", "without more than one group", self.token_pattern)
        words = ENGLISH_STOP_WORDS if self.stop_words == "english" else self.stop_words
        if words is not None:
            if isinstance(words, str) or not all(isinstance(w, str) for w in words):
                _refuse("stop_words", "'english', a set of str or None", words)
            object.__setattr__(self, "stop_words", frozenset(words))

    def _check_range(self) -> None:
        allowed = "two integers (min_n, max_n) with 1 <= min_n <= max_n"
        try:
            low, high = self.ngram_range
        except (TypeError, ValueError):
            _refuse("ngram_range", allowed, self.ngram_range)
        whole = isinstance(low, Integral) and isinstance(high, Integral)
        if not whole or not 1 <= low <= high:
            _refuse("ngram_range", allowed, self.ngram_range)
        object.__setattr__(self, "ngram_range", (int(low), int(high)))

    def vectorizer(self, **more: Any) -> dict[str, Any]:
        """Return the arguments of the equivalent CountVectorizer, and `more`.

        Plain values: this is also what checkpoints and models keep of the options.
        """
        stop = None if self.stop_words is None else sorted(self.stop_words)
        return {
            "analyzer": self.analyzer,
            "ngram_range": self.ngram_range,
            "lowercase": self.lowercase,
            "strip_accents": self.strip_accents,
            "token_pattern": self.token_pattern,
            "stop_words": stop,
            "binary": self.binary,
            **more,
        }

    @property
    def is_compiled(self) -> bool:
        """Whether the compiled core finds the words itself."""
        return self.analyzer != "word" or self.token_pattern in _KNOWN

    @computed_once
    def plan(self) -> Any:
        """The options as the compiled core takes them."""
        # As CountVectorizer, which has no use for stop words within characters.
        stop = self.stop_words if self.analyzer == "word" and self.is_compiled else None
        # Words of other patterns may hold spaces: their n-grams are told apart by the
        # joined string only.
        return _core.text_plan(
            text_tables(self.lowercase, self.strip_accents),
            self.analyzer,
            *self.ngram_range,
            _KNOWN.get(self.token_pattern, 2),
            not self.is_compiled,
            *pack(stop or ()),
        )

    def prepared(self, text: str) -> str:
        """The text in which terms are looked for: lowered and without accents."""
        if self.lowercase:
            text = text.lower()
        return without_accents(text, self.strip_accents)

    @computed_once
    def words_of(self) -> Callable[[str], list[str]]:
        """The slower path: a function from a text to its words, through `re`."""
        find = re.compile(self.token_pattern).findall
        stop = self.stop_words

        def words(text: str) -> list[str]:
            found: list[str] = find(self.prepared(text))
            if stop is not None:
                found = [word for word in found if word not in stop]
            return found

        return words

    def cut_words(
        self, data: Array, offsets: Array, codes: Array | None
    ) -> Iterator[tuple[Array, Array, Array, slice]]:
        """Give the words that `re` finds, packed, for successive rows."""
        ends = offsets.tolist()
        for first in range(0, len(ends) - 1, _REGEX_ROWS):
            rows = slice(first, min(first + _REGEX_ROWS, len(ends) - 1))
            found = [
                []
                if codes is not None and codes[i] < 0
                else self.words_of(
                    data[ends[i] : ends[i + 1]]
                    .tobytes()
                    .decode("utf-8", "surrogatepass")
                )
                for i in range(rows.start, rows.stop)
            ]
            starts = np.zeros(len(found) + 1, dtype=np.int64)
            np.cumsum([len(words) for words in found], out=starts[1:])
            yield *pack(chain.from_iterable(found)), starts, rows

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made again when it is needed."""
        state = self.__dict__.copy()
        for name in ("plan", "words_of"):
            state.pop(name, None)
        return state
