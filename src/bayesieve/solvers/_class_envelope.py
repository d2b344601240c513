"""A second bound for the nodes of a search, for many classes with columns of their own.

With ``B_c`` the counts of class c on a support T and B their sum, the gain of T is that
of its columns at the anchor a, plus ``B log B - sum_c B_c log(B_c / a_c)``. The
relaxation is loose where a fraction of a column takes the steep part of ``-t log t``
near zero, which no support can reach. Here the candidates of each class are split into
a few large ones and small ones; how many large ones a support has puts ``B_c`` into one
of a few intervals, and lines above ``-t log t`` on these intervals alone turn the gain
into a constant and a score of each candidate. The k largest scores are a bound; any
lines give one, the compiled core looks for good ones.

The bound is for supports that are no worse than the best one known: intervals are cut
to what these can reach.
"""

from __future__ import annotations

import math

import numpy as np

from bayesieve import _core
from bayesieve.solvers._block import Block
from bayesieve.solvers._dual import Relaxation
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._topk import top_k

__all__ = ["BoundsInUse", "class_envelope"]

#: Nodes that get the relaxation alone: real texts need no more.
_FIRST_NODES = 8
#: Larger tables of candidates take longer than their bound is worth.
_MOST_CELLS = 20_000
#: Steps towards good lines, from scratch and from those of the parent.
_FIRST_STEPS = 500
_STEPS = 100
#: How fast it is forgotten which bound was the lower one, and when one is hardly asked.
_MEMORY = 1 / 32
_RARELY = 0.1
_AT_TIMES = 32


class BoundsInUse:
    """Which bounds a node gets: the relaxation's, that of the class envelope, or both.

    After the first nodes both; one that is seldom the lower one only at times.
    """

    def __init__(self, block: Block) -> None:
        self._possible = block.n_classes > 2 and block.choice is None
        self._lower = 0.5  # share of nodes where the envelope was the lower one

    def asks_relaxation(self, nodes: int) -> bool:
        """Whether the next node gets the bound of the relaxation."""
        return self._lower < 1 - _RARELY or nodes % _AT_TIMES == 0

    def asks_envelope(self, block: Block, k: int, nodes: int) -> bool:
        """Whether a choice of k candidates gets the bound of the class envelope."""
        return (
            self._possible
            and 0 < k < len(block)
            and nodes >= _FIRST_NODES
            and block.n_classes * len(block) <= _MOST_CELLS
            and (self._lower > _RARELY or nodes % _AT_TIMES == 0)
            and int(block.living_classes().sum()) > 1
        )

    def record(self, *, envelope_is_lower: bool) -> None:
        """Remember which bound was the lower one where both were asked."""
        self._lower += _MEMORY * (envelope_is_lower - self._lower)


def class_envelope(
    block: Block, k: int, shares: Floats, level: float, lines: Floats | None = None
) -> tuple[Relaxation, Floats]:
    """Bound every support whose gain is at least ``level``, and the lines it is from.

    Parameters
    ----------
    block : Block
        Candidates, of which k are to be added to the chosen columns, ``0 < k <
        len(block)``.
    shares : ndarray of shape (n_classes,)
        Where a relaxation of the same candidates may start; handed on.
    lines : ndarray of shape (n_classes + 1, 3) or None
        Those of a node with some more candidates.

    Returns
    -------
    relaxation : Relaxation
        Its gains are the scores of the candidates; supports of at least the level are
        fixed by them as by gains. Its best support has the k largest.
    lines : ndarray of shape (n_classes + 1, 3)
    """
    counts = block.counts
    if block.alpha is not None:
        counts = counts.toarray() + block.alpha
    upper, scores, floor, following, lines = _core.class_envelope(
        np.ascontiguousarray(counts),
        block.value,
        block.chosen_sums,
        block.anchor,
        block.chosen_value,
        k,
        np.empty((0, 3)) if lines is None else lines,
        level,
        _FIRST_STEPS if lines is None else _STEPS,
    )
    if not math.isfinite(upper):  # beyond the range of floating point: no bound at all
        upper, floor, following = math.inf, 0.0, 0.0
        scores = np.zeros(len(block))
    best = top_k(scores, k)[0]
    gain, doubt = block.gain_of(best)
    relaxation = Relaxation(
        block,
        upper=upper,
        lower=gain - doubt,
        shares=shares,
        gains=scores,
        floor=floor,
        following=following,
        best_gain=gain,
        best_doubt=doubt,
        best=best,
        evaluations=1,
    )
    return relaxation, lines
