"""The encoding of a text file: found in its bytes, told, and turned into UTF-8.

What is valid UTF-8 is UTF-8: other texts are so by chance only if they are very short.
Other encodings are weighed by the texts that they make of the lines with bytes beyond
ASCII (`_alphabets`), and a close second is told. charset-normalizer, which knows many
more encodings, took short texts in French for cp1250 and in Hebrew for cp1251
(benchmarks/encodings.py).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bayesieve.io._alphabets import likelihood

__all__ = [
    "Decoding",
    "LineKinds",
    "NewEncodingError",
    "found_encoding",
    "looks_like_utf8",
    "name_of",
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
    ("iso8859_2", "central", "ISO-8859-2 (Central European)", 2.0),
    ("iso8859_5", "cyrillic", "ISO-8859-5 (Cyrillic)", 5.0),
    ("iso8859_7", "greek", "ISO-8859-7 (Greek)", 3.0),
    ("iso8859_6", "arabic", "ISO-8859-6 (Arabic)", 4.0),
    ("cp866", "cyrillic", "IBM866 (Cyrillic, DOS)", 4.0),
    ("mac_roman", "western", "Mac Roman (Western European)", 4.0),
    ("cp850", "western", "IBM850 (Western European, DOS)", 4.0),
)
_NAMES = {name: told for name, _, told, _ in _KNOWN}
_SAMPLE = 1 << 14
_SURE = 6.0  # nats between the best and the next: 400 to 1
_MOST_MIXED = 0.05  # share of lines of a foreign text that look like UTF-8 by chance
_BEGINNING, _PARTS, _PART = 1 << 18, 16, 1 << 15
_BLOCK = 1 << 20
_CONTINUING = bytes(range(0x80, 0xC0))
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
    """An encoding: its name in Python, and another that may be meant."""

    encoding: str
    other: str | None = None

    @property
    def is_utf8(self) -> bool:
        """Whether files can be read as they are, but for a mark."""
        return codecs.lookup(self.encoding).name in ("utf-8", "utf-8-sig", "ascii")

    @property
    def told(self) -> str:
        """What it is called in messages."""
        return name_of(self.encoding)


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


def name_of(encoding: str) -> str:
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
        wide = any(block.startswith(mark) for mark in _MARKS)
        if wide or _without_mark(block) is not None or not _is_utf8(block):
            return False
        for number in range(_PARTS if not packed and size > len(block) else 0):
            stream.seek(number * (size // _PARTS))
            # Without what is left of a character that begins before.
            if not _is_utf8(stream.read(_PART).lstrip(_CONTINUING)):
                return False
    return True


def found_encoding(opened: Callable[[], Any]) -> tuple[Decoding, LineKinds | None]:
    """Find the encoding of a file: by its mark, by its zeros, or by all its lines."""
    with opened() as stream:
        block = stream.read(_BEGINNING)
    for mark, encoding in _MARKS.items():
        if block.startswith(mark):
            return Decoding(encoding), None
    wide = _without_mark(block)
    if wide is not None:
        return Decoding(wide), None
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
    """UTF-16 and UTF-32 without a mark: zeros at every second or fourth place."""
    for encoding, width, places in (
        ("utf-32-le", 4, (2, 3)),
        ("utf-32-be", 4, (0, 1)),
        ("utf-16-le", 2, (1,)),
        ("utf-16-be", 2, (0,)),
    ):
        whole = block[: len(block) // width * width]
        if len(whole) < 2 * width or b"\0" not in whole:
            continue
        parts = [whole[i::width] for i in range(width)]
        zeros = [part.count(0) for part in parts]
        least = 0.9 * len(parts[0]) if width == 4 else 0.02 * len(parts[0])
        others = sum(own for i, own in enumerate(zeros) if i not in places)
        if width == 2 and others > 0.1 * min(zeros[i] for i in places):
            continue
        if width == 4 and min(part.count(0) for part in parts) == len(parts[0]):
            continue
        if all(zeros[i] >= max(least, 1) for i in places):
            try:
                text = codecs.getincrementaldecoder(encoding)().decode(whole)
            except UnicodeDecodeError:
                continue
            if "\0" not in text and ("\n" in text or "\r" in text):
                return encoding
    return None


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
    """Return the encoding that makes the likeliest text of some lines."""
    found: list[tuple[float, str, str]] = []
    for encoding, alphabet, _, rarity in _KNOWN:
        text = sample.decode(encoding, errors="replace")
        chance = likelihood(alphabet, text) - rarity
        found.append((chance, encoding, text))
    found.sort(reverse=True)
    best, encoding, text = found[0]
    for chance, other, own in found[1:]:
        if own != text:
            return Decoding(encoding, other if best - chance < _SURE else None)
    return Decoding(encoding)


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
