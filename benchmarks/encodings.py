"""How often the encoding of a few lines is found, against charset-normalizer.

The lines are translated messages of the programs of this machine (gettext catalogues),
in the encodings in which such files are met. Right is what gives the same text; a wrong
answer without a word on a second candidate is counted as silent.

Not a neutral contest: the tables of letters were corrected by looking at mistakes on
these messages, and only encodings that this package knows are tried, while
charset-normalizer chooses among many more.
"""

from __future__ import annotations

import gettext
import random
from importlib.metadata import version
from pathlib import Path

import charset_normalizer

from bayesieve.io._encodings import _likeliest
from measurement import option_parser, report

SEED = 0
LOCALES = Path("/usr/share/locale")
PAIRS = {
    **dict.fromkeys(("fr", "de", "es", "it", "sv", "pt_BR", "da", "fi"), ("cp1252",)),
    **dict.fromkeys(("hu", "sk", "hr", "sl", "ro"), ("cp1250",)),
    **dict.fromkeys(("pl", "cs"), ("cp1250", "iso8859_2")),
    **dict.fromkeys(("uk", "bg"), ("cp1251",)),
    **dict.fromkeys(("lt", "lv"), ("cp1257",)),
    **{"nl": ("cp1252",), "ru": ("cp1251", "koi8_r", "cp866"), "zh_CN": ("gb18030",)},
    **{"zh_TW": ("big5hkscs",), "ja": ("cp932", "euc_jp"), "ko": ("cp949",)},
    **{"el": ("cp1253",), "tr": ("cp1254",), "he": ("cp1255",), "ar": ("cp1256",)},
    "th": ("cp874",),
}


def messages(language: str, encoding: str) -> list[str]:
    """Messages with characters beyond ASCII that the encoding has."""
    found = set()
    for path in sorted(LOCALES.glob(f"{language}/LC_MESSAGES/*.mo")):
        try:
            with path.open("rb") as file:
                catalogue = gettext.GNUTranslations(file)._catalog
        except (OSError, UnicodeError, ValueError):
            continue
        texts = (text for key, text in catalogue.items() if key)
        found |= {t.replace("\n", " ") for t in texts if isinstance(t, str)}
    good = []
    for text in sorted(found):
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            continue
        if not text.isascii():
            good.append(text)
    return good


def main() -> None:
    """Measure, print and store."""
    options = option_parser("encodings", __doc__).parse_args()
    repeats = 2 if options.quick else 40
    rng = random.Random(SEED)
    results = []
    for language, encodings in PAIRS.items():
        for encoding in encodings:
            texts = messages(language, encoding)
            for n_lines in (1, 3, 20) if len(texts) >= 20 else ():
                right = silent = theirs = 0
                for _ in range(repeats):
                    text = "\n".join(rng.sample(texts, n_lines))
                    data = text.encode(encoding)
                    own = _likeliest(data)
                    same = data.decode(own.encoding, "replace") == text
                    right += same
                    silent += not same and own.other is None
                    best = charset_normalizer.from_bytes(data).best()
                    theirs += best is not None and str(best) == text
                results.append(
                    {
                        **{"language": language, "encoding": encoding},
                        **{"lines": n_lines, "messages": len(texts)},
                        "right": right / repeats,
                        "silently wrong": silent / repeats,
                        "charset-normalizer": theirs / repeats,
                    }
                )
    for n_lines in (1, 3, 20):
        own = [one for one in results if one["lines"] == n_lines]
        for key in ("right", "silently wrong", "charset-normalizer") if own else ():
            mean = sum(one[key] for one in own) / len(own)
            print(f"{n_lines:2} lines, {key:20} {mean:.3f}")
    theirs_version = version("charset-normalizer")
    report(
        "encodings",
        options,
        SEED,
        {"charset-normalizer": theirs_version, "results": results},
    )


if __name__ == "__main__":
    main()
