"""A better support by exchanging one feature at a time."""

from __future__ import annotations

import math

import numpy as np

from bayesieve.solvers._dual import Relaxation
from bayesieve.solvers._logs import UNIT, divergence
from bayesieve.solvers._topk import top_k

__all__ = ["improve_by_swaps"]

#: The search itself is as quick where so few candidates are free.
_FEW_FREE = 16


def improve_by_swaps(
    relaxation: Relaxation, *, width: int = 48, rounds: int = 30
) -> None:
    """Replace the best support by better ones that differ in one feature.

    Tries the ``width`` chosen candidates of least gain against the ``width`` others of
    largest gain. A better support makes reduced-cost fixing sharper; no bound changes.
    """
    block, h, best = relaxation.block, relaxation.gains, relaxation.best
    assert h is not None
    assert best is not None
    inside, outside = relaxation.decided(relaxation.best_gain - relaxation.best_doubt)
    if int((~(inside | outside)).sum()) <= _FEW_FREE:
        return
    chosen = np.zeros(len(block), dtype=bool)
    chosen[best] = True
    others, chosen_ones = np.flatnonzero(~chosen), np.flatnonzero(chosen)
    out = others[top_k(h[others], width)[0]]
    into = chosen_ones[top_k(-h[chosen_ones], width)[0]]
    if not out.shape[0] or not into.shape[0]:
        return
    pool = np.concatenate([into, out])
    member = np.concatenate(
        [np.ones(into.shape[0], bool), np.zeros(out.shape[0], bool)]
    )
    part = block.counts[:, pool]
    counts = part if block.alpha is None else part.toarray() + block.alpha[pool]
    value, sums = block.atom(best)
    for _ in range(rounds):
        leaving, joining = np.flatnonzero(member), np.flatnonzero(~member)
        new_sums = (
            sums[:, None, None] - counts[:, leaving, None] + counts[:, None, joining]
        )
        np.maximum(new_sums, 0.0, out=new_sums)
        new_value = (
            value - block.value[pool[leaving], None] + block.value[None, pool[joining]]
        )
        expected = block.anchor[:, None, None] * new_sums.sum(axis=0)
        new_gain = new_value - divergence(new_sums, expected).sum(axis=0)
        if block.choice is not None:
            now = np.flatnonzero(chosen)
            allowed = block.choice.swaps(pool[leaving], pool[joining], now)
            new_gain[~allowed] = -math.inf
        i, j = np.unravel_index(np.argmax(new_gain), new_gain.shape)
        old_gain = block.own_gain(value, sums)
        if not new_gain[i, j] > old_gain + 16 * UNIT * abs(value):
            break
        member[leaving[i]], member[joining[j]] = False, True
        chosen[pool[leaving[i]]], chosen[pool[joining[j]]] = False, True
        positions = np.flatnonzero(chosen)
        value, sums = block.atom(positions)
        gain, doubt = block.gain_of(positions)
        if gain <= relaxation.best_gain:
            break
        relaxation.best, relaxation.best_gain = positions, gain
        relaxation.best_doubt = doubt
        relaxation.lower = max(relaxation.lower, gain - doubt)
