"""Whether a column of strings is texts to be cut into words, or names of categories."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from bayesieve.utils._scripts import is_spaced_word, sample_of, words_of_characters

__all__ = ["reads_like_text"]

_DISTINCT = 0.5  # more than this share of the texts are met once only or first
_WORDS = 3.0  # on average, at least


def reads_like_text(values: Sequence[str | None]) -> bool:
    """Whether the values are mostly distinct and have several words.

    More than half of the values are distinct, and they have three words or more on
    average. A word is a run without spaces that has a letter, so that dates, numbers,
    codes, addresses of pages and single names are no texts; in scripts without spaces
    (Chinese, Japanese, Thai, ...) the characters of a word are counted.

    Parameters
    ----------
    values : sequence of str or None
        All values of the column, or many: in a sample of few rows everything is
        distinct. Missing and empty values do not count.
    """
    texts = [value for value in values if value is not None and value.strip()]
    if not texts or len(set(texts)) <= _DISTINCT * len(texts):
        return False
    sample = sample_of(texts)
    return _words(sample) >= _WORDS * len(sample)


def _words(texts: Sequence[str]) -> float:
    """About how many words the texts have, all together."""
    spaced = sum(map(is_spaced_word, chain.from_iterable(map(str.split, texts))))
    return spaced + words_of_characters(texts)
