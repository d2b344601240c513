"""Which script texts are written in, and how texts of that script are cut into terms.

Chinese, Japanese, Thai, Lao, Khmer and Burmese have no spaces between words; in the
scripts of India the vowel signs are no part of a word to a regular expression. Both are
cut into characters.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

__all__ = [
    "default_analyzer",
    "is_spaced_word",
    "sample_of",
    "script_of",
    "words_of_characters",
]

_SAMPLE = 1000  # texts that are looked at, evenly spaced
#: First word of a character's name in Unicode -> script. Others: that word in lower
#: case, such as "latin", "cyrillic" or "arabic".
_SCRIPTS = {
    "CJK": "chinese",
    "IDEOGRAPHIC": "chinese",
    "BOPOMOFO": "chinese",
    "HIRAGANA": "japanese",
    "KATAKANA": "japanese",
    "HANGUL": "korean",
    "MYANMAR": "burmese",
}
_WIDTHS = ("FULLWIDTH", "HALFWIDTH")
#: Characters of a word on average, of the scripts that do not space words apart.
_CHARACTERS = {
    "chinese": 1.6,
    "japanese": 2.0,
    "thai": 4.0,
    "lao": 4.0,
    "khmer": 5.0,
    "burmese": 5.0,
}
_LETTERS = 5.0  # of a word, in the scripts that do
#: Spaced apart, but with vowel signs at which `\w` ends a word.
_SIGNED = (
    "devanagari",
    "bengali",
    "gurmukhi",
    "gujarati",
    "oriya",
    "tamil",
    "telugu",
    "kannada",
    "malayalam",
    "sinhala",
)
#: Kana among kana and Chinese characters, from which a text is Japanese. Japanese is
#: about half kana, Chinese has hardly any.
_KANA_SHARE = 0.05


def sample_of(values: Sequence[str | None]) -> list[str]:
    """Some of the texts, evenly spaced; missing and empty ones are left out."""
    texts = [value for value in values if value is not None and value.strip()]
    return texts[:: max(1, -(-len(texts) // _SAMPLE))]


@cache
def _script(character: str) -> str | None:
    """The script of a letter or mark; None for digits, spaces, punctuation."""
    if unicodedata.category(character)[0] not in "LM":
        return None
    words = unicodedata.name(character, "OTHER").replace("-", " ").split()
    first = words[1] if words[0] in _WIDTHS and len(words) > 1 else words[0]
    return None if first == "COMBINING" else _SCRIPTS.get(first, first.lower())


def _letters(texts: Sequence[str]) -> Counter[str]:
    """Letters and marks of each script."""
    found: Counter[str] = Counter()
    for character, times in Counter("".join(texts)).items():
        script = _script(character)
        if script is not None:
            found[script] += times
    return found


def words_of_characters(texts: Sequence[str]) -> float:
    """About how many words the texts have in scripts without spaces, all together."""
    letters = _letters(texts)
    return sum(letters[script] / length for script, length in _CHARACTERS.items())


def is_spaced_word(run: str) -> bool:
    """Whether a run without spaces has a letter of a script that spaces words apart."""
    if run.isascii():
        return any(map(str.isalpha, run))
    scripts = {_script(character) for character in run}
    return not scripts <= {None, *_CHARACTERS}


def script_of(values: Sequence[str | None]) -> str:
    """The script most words of some texts are written in.

    Returns
    -------
    script : str
        "latin", "cyrillic", "chinese", "japanese", "korean", "thai", ...: in lower case
        the name Unicode has for it, or the language where that is better known. "none"
        where there are no letters.
    """
    letters = _letters(sample_of(values))
    kana, han = letters["japanese"], letters["chinese"]
    if kana and kana >= _KANA_SHARE * (kana + han):
        letters["japanese"] += letters.pop("chinese", 0)
    words = {
        script: times / _CHARACTERS.get(script, _LETTERS)
        for script, times in letters.items()
        if times
    }
    return max(words, key=lambda script: (words[script], script), default="none")


def default_analyzer(values: Sequence[str | None]) -> tuple[str, tuple[int, int]]:
    """`analyzer` and `ngram_range` for texts whose user has not said any."""
    script = script_of(values)
    if script in ("chinese", "japanese"):
        return "char", (1, 2)
    if script in _CHARACTERS:
        return "char", (2, 4)
    if script in _SIGNED:
        return "char_wb", (2, 4)
    return "word", (1, 1)
