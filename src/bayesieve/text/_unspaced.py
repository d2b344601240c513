"""Words that are none: terms of texts whose script has no spaces between words."""

from __future__ import annotations

from typing import Any

from bayesieve.exceptions import UnspacedTextWarning
from bayesieve.text._options import TextOptions
from bayesieve.utils._scripts import default_analyzer, script_of
from bayesieve.utils._warnings import warn_user

__all__ = ["warn_if_unspaced"]

_LOOKED_AT = 300  # terms, evenly spaced


def warn_if_unspaced(terms: Any, options: TextOptions) -> None:
    """Say that texts were cut at spaces that their script does not have.

    `terms` are the names of what was counted.
    """
    if options.analyzer != "word" or terms is None or not len(terms):
        return
    step = max(1, len(terms) // _LOOKED_AT)
    some = [str(terms[place]) for place in range(0, len(terms), step)]
    analyzer, ngrams = default_analyzer(some)
    if analyzer != "word":
        warn_user(
            f"The texts are {script_of(some).title()}, whose words are not found by "
            f"analyzer='word'. Hint: analyzer={analyzer!r}, ngram_range={ngrams}.",
            UnspacedTextWarning,
        )
