"""Known terms in a source of texts, row by row: a second reading after counting."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bayesieve.counts._from_text import labels_read_as
from bayesieve.counts._parts import Array
from bayesieve.io._bad_rows import BadRows
from bayesieve.io._labels import LabelCodes
from bayesieve.io._same_rows import SameRows
from bayesieve.text._batch_counter import coded
from bayesieve.text._matching import TermMatcher
from bayesieve.text._packing import sized

__all__ = ["term_rows"]


def term_rows(
    pieces: list[Any],
    matcher: TermMatcher,
    classes: Array,
    *,
    skip: bool,
    threads: int | None,
    same_rows: SameRows,
    decode_error: str = "strict",
) -> Iterator[tuple[Any, Array]]:
    """Counts of the matcher's terms and class codes, a batch of rows at a time.

    Parameters
    ----------
    pieces : list
        Of `text_pieces`.
    matcher : TermMatcher
    classes : ndarray
        Those that counting found.
    skip : bool
        Whether bad rows are left out, as they were from the counts.
    same_rows : SameRows
        What counting has read, and is to be read again.
    threads, decode_error
        As in `TermMatcher.rows`.
    """
    label_codes = LabelCodes(classes, labels_read_as(pieces, classes))
    bad_rows = BadRows(skip)
    for piece in pieces:
        for texts, labels in same_rows.pairs(piece, bad_rows):
            texts = sized(texts)
            codes = coded(label_codes, texts, labels, bad_rows)
            rows = matcher.rows(texts, threads=threads, decode_error=decode_error)
            kept = np.flatnonzero(codes >= 0)
            if kept.size < codes.size:
                rows, codes = rows[kept], codes[kept]
            yield rows, codes
