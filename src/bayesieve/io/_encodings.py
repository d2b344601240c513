"""The encoding of a text file: found in its bytes, told, and turned into UTF-8.

What is valid UTF-8 is UTF-8: other texts are so by chance only if they are very short.
Other encodings are weighed by the words that they make of the bytes beyond ASCII
(`_alphabets`), each word once, and a close second is told. charset-normalizer, which
knows many more encodings, took short texts in French for cp1250 and in Hebrew for
cp1251 (benchmarks/encodings.py).
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from bayesieve.io._alphabets import is_of_signs, likelihood

__all__ = [
    "Decoding",
    "LineKinds",
    "NewEncodingError",
    "found_encoding",
    "looks_like_utf8",
    "utf8_blocks",
]

# UTF-32 first: its mark begins with that of UTF-16.
_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
#: (encoding, alphabet, what it is called, how rare it is in nats)
_KNOWN = (
    ("cp1252", "western", "Windows-1252 (Western European)", 0.0),
    ("gb18030", "simplified", "GB18030 (Chinese)", 0.0),
    ("big5hkscs", "traditional", "Big5 (Chinese)", 0.0),
    ("cp932", "japanese", "Shift-JIS (Japanese)", 0.0),
    ("euc_jp", "japanese", "EUC-JP (Japanese)", 0.0),
    ("cp949", "korean", "EUC-KR (Korean)", 0.0),
    ("cp1251", "cyrillic", "Windows-1251 (Cyrillic)", 0.0),
    ("cp1250", "central", "Windows-1250 (Central European)", 1.0),
    ("koi8_r", "cyrillic", "KOI8-R (Cyrillic)", 2.0),
    ("cp1253", "greek", "Windows-1253 (Greek)", 1.0),
    ("cp1254", "turkish", "Windows-1254 (Turkish)", 1.0),
    ("cp1255", "hebrew", "Windows-1255 (Hebrew)", 1.0),
    ("cp1256", "arabic", "Windows-1256 (Arabic)", 1.0),
    ("cp1257", "baltic", "Windows-1257 (Baltic)", 2.0),
    ("cp874", "thai", "Windows-874 (Thai)", 1.0),
    ("iso8859_2", "central", "ISO-8859-2 (Central European)", 3.0),
    ("iso8859_5", "cyrillic", "ISO-8859-5 (Cyrillic)", 8.0),
    ("iso8859_7", "greek", "ISO-8859-7 (Greek)", 3.0),
    ("iso8859_6", "arabic", "ISO-8859-6 (Arabic)", 4.0),
    ("cp866", "cyrillic", "IBM866 (Cyrillic, DOS)", 8.0),
    ("mac_roman", "western", "Mac Roman (Western European)", 8.0),
    ("cp850", "western", "IBM850 (Western European, DOS)", 8.0),
)
_NAMES = {name: told for name, _, told, _ in _KNOWN} | {
    "iso2022_jp_ext": "ISO-2022-JP (Japanese)"
}
_SAMPLE = 1 << 14
_SURE = 6.0  # nats between the best and the next: 400 to 1
_NO_TEXT = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_MOST_UNKNOWN = 0.01
_MOST_PAIRS = 0.8
_MOST_MIXED = 0.05  # share of lines of a foreign text that look like UTF-8 by chance
_BEGINNING, _PARTS, _PART = 1 << 18, 16, 1 << 15
_BLOCK = 1 << 20
_CONTINUING = bytes(range(0x80, 0xC0))
#: Words: neither letters nor second bytes of letters are below "@", but for digits.
_WORD = re.compile(rb"[0-9@-\xff]*[\x80-\xff][0-9@-\xff]*")
_DIGITS = re.compile(rb"[0-9]+")
_FIELD = re.compile(rb'[^\x00-\x20",;]*[\x80-\xff][^\x00-\x20",;]*')
_MOST_SHOWN = 20
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BAD_BYTE = "bayesieve-bad-byte"


def _bad_byte(error: UnicodeError) -> tuple[str, int]:
    """Stand for bytes without a character by one that is no UTF-8 either."""
    assert isinstance(error, UnicodeDecodeError)
    return "\udcff", error.end


codecs.register_error(_BAD_BYTE, _bad_byte)


class NewEncodingError(Exception):
    """A file that was taken for UTF-8 is of another encoding, and must be read anew."""


@dataclass(frozen=True)
class Decoding:
    """An encoding: its name in Python, and another that may be meant.

    `example` is a word as the one and as the other reads it.
    """

    encoding: str
    other: str | None = None
    example: tuple[str, str] = ("", "")

    @property
    def is_utf8(self) -> bool:
        """Whether files can be read as they are, but for a mark."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig", "ascii")

    @property
    def told(self) -> str:
        """What it is called in messages."""
        return _name_of(self.encoding)

    @property
    def doubt(self) -> str:
        """What else it may be, or nothing."""
        if self.other is None:
            return ""
        word, instead = self.example
        return (
            f", which may be wrong: it may be {_name_of(self.other)}, "
            f"where {word!r} is {instead!r}"
        )


@dataclass(frozen=True)
class LineKinds:
    """How many lines with characters beyond ASCII are UTF-8, and how many are not.

    `others` is what the latter may be.
    """

    valid: int
    invalid: int
    first_invalid: int
    others: Decoding

    @property
    def is_mixed(self) -> bool:
        """Whether the file holds lines of several encodings, UTF-8 among them."""
        return self.valid > _MOST_MIXED * self.invalid


def _name_of(encoding: str) -> str:
    """Return how an encoding is called."""
    own = encoding.lower().replace("-", "_")
    return _NAMES.get(own, encoding.upper().replace("_", "-"))


# ----------------------------------------------------------------------------- finding


def looks_like_utf8(opened: Callable[[], Any], size: int, packed: bool) -> bool:
    """Whether the beginning of a file, and some blocks of the rest, are UTF-8.

    All of a file is looked at only when a reading stops at what is not. A file that is
    packed can be looked at from its beginning only.
    """
    with opened() as stream:
        block = stream.read(4 * _BEGINNING if packed else _BEGINNING)
        marked = any(block.startswith(mark) for mark in _MARKS)
        if marked or _without_mark(block) is not None or not _is_utf8(block):
            return False
        for number in range(_PARTS if not packed and size > len(block) else 0):
            stream.seek(number * (size // _PARTS))
            # Without what is left of a character that begins before.
            if not _is_utf8(stream.read(_PART).lstrip(_CONTINUING)):
                return False
    return True


def found_encoding(opened: Callable[[], Any]) -> tuple[Decoding, LineKinds | None]:
    """Find the encoding of a file: by its mark, zeros, escapes, or by all its lines."""
    with opened() as stream:
        block = stream.read(_BEGINNING)
    for mark, encoding in _MARKS.items():
        if block.startswith(mark):
            return Decoding(encoding), None
    unmarked = _without_mark(block)
    if unmarked is not None:
        return Decoding(unmarked), None
    with opened() as stream:
        kinds = _line_kinds(stream)
    if not kinds.invalid:
        return Decoding("utf-8"), None
    return (Decoding("utf-8") if kinds.is_mixed else kinds.others), kinds


def _is_utf8(block: bytes) -> bool:
    """Whether bytes are UTF-8 but for a character that does not end."""
    if block.isascii():  # as quick as memory
        return True
    try:
        codecs.getincrementaldecoder("utf-8")().decode(block)
    except UnicodeDecodeError:
        return False
    return True


def _without_mark(block: bytes) -> str | None:
    """UTF-16 and UTF-32 without a mark, by their zeros; ISO-2022-JP by its escapes."""
    if block.isascii() and b"\x1b$" in block:
        return "iso2022_jp_ext" if _text_of(block, "iso2022_jp_ext") else None
    if b"\0" not in block:
        return None
    for encoding in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        if _text_of(block, encoding):
            return encoding
    return None


def _text_of(block: bytes, encoding: str) -> str:
    """Decode bytes that make lines of characters that there are, or return nothing.

    Two letters of ASCII make one of UTF-16 that there is, in Chinese: a text of such
    pairs is no UTF-16.
    """
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(block)
    except UnicodeDecodeError:
        return ""
    if _NO_TEXT.search(text) or not re.search(r"[\r\n]", text):
        return ""
    times = Counter(text)
    unknown = sum(n for own, n in times.items() if category(own) in ("Cn", "Co"))
    if unknown > _MOST_UNKNOWN * len(text):
        return ""
    if encoding.startswith("utf-16") and _n_pairs(block) > _MOST_PAIRS * len(text):
        return ""
    return text


def _n_pairs(block: bytes) -> int:
    """How many pairs of bytes are two printable characters of ASCII."""
    return sum(
        32 <= first < 127 and 32 <= second < 127
        for first, second in zip(block[::2], block[1::2], strict=False)
    )


def _line_kinds(stream: Any) -> LineKinds:
    """Count the lines beyond ASCII by whether they are UTF-8, and weigh the others."""
    valid = invalid = first = number = n_sampled = 0
    sample: list[bytes] = []
    rest = b""
    while block := stream.read(_BLOCK):
        *lines, rest = _LINE_END.split(rest + block)
        for line in lines:
            number += 1
            if line.isascii():
                continue
            if _decodes(line):
                valid += 1
                continue
            invalid += 1
            first = first or number
            if n_sampled < _SAMPLE:
                sample.append(line[: _SAMPLE // 4])
                n_sampled += len(sample[-1])
    if not rest.isascii():
        if _decodes(rest):
            valid += 1
        else:
            invalid, first = invalid + 1, first or number + 1
            sample.append(rest[: _SAMPLE // 4])
    return LineKinds(valid, invalid, first, _likeliest(b"\n".join(sample)))


def _decodes(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _likeliest(sample: bytes) -> Decoding:
    """Return the encoding that makes the likeliest words of some lines.

    A word counts once, however often a column repeats it, and numbers are all the same
    word. Where there are signs and no letters, it is Windows-1252 and never sure.
    """
    words = b"\n".join({_DIGITS.sub(b"0", own): None for own in _WORD.findall(sample)})
    found: list[tuple[float, str, str]] = []
    for encoding, alphabet, _, rarity in _KNOWN:
        text = words.decode(encoding, errors="replace")
        found.append((likelihood(alphabet, text.split("\n")) - rarity, encoding, text))
    signs = is_of_signs(found[0][2].split("\n"))
    default = found.pop(0) if signs else None
    found.sort(reverse=True)
    best, encoding, text = default or found.pop(0)
    for chance, other, own in found:
        if own != text:
            if signs or best - chance < _SURE:
                return Decoding(encoding, other, _example(sample, encoding, other))
            break
    return Decoding(encoding)


def _example(sample: bytes, *encodings: str) -> tuple[str, str]:
    """Return the first word that two encodings read otherwise, in both."""
    for field in _FIELD.findall(sample):
        one, other = (field.decode(own, errors="replace") for own in encodings)
        if one != other:
            return one[:_MOST_SHOWN], other[:_MOST_SHOWN]
    return "", ""


# -------------------------------------------------------------------------- rewriting


def utf8_blocks(stream: Any, encoding: str) -> Iterator[bytes]:
    """Yield a file as UTF-8, without a mark; what cannot be decoded is no UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)(_BAD_BYTE)
    first = True
    while block := stream.read(1 << 20):
        text = decoder.decode(block)
        if first and text:
            text, first = text.removeprefix("\ufeff"), False
        yield text.encode("utf-8", "surrogateescape")
    yield decoder.decode(b"", final=True).encode("utf-8", "surrogateescape")
