"""What rounding leaves in sums, and where it is taken for zero."""

from __future__ import annotations

import numpy as np

from bayesieve.utils._arrays import Array

# What is left of a sum of fractions after most of it is taken away is rounding below
# this share of the sum. A sum of n weighted rows is off by n u of itself at most, with
# u = 1.1e-16: for both operands this share is reached at four million rows in one cell.
# A row that is truly left is a share of about 1/n, 250 times as much even then.
RELATIVE_RESIDUE = 1e-9


def flush_rounding(squares: Array, class_count: Array, mean: Array) -> Array:
    """Set centred squares at the level of rounding to zero, in place.

    A column constant within a class has variance exactly 0 then, however its mean was
    rounded: `S <= 4 n (eps * mean)^2` is less than one unit in the last place per row.
    """
    eps = np.finfo(np.float64).eps
    np.maximum(squares, 0.0, out=squares)
    with np.errstate(over="ignore"):  # an infinite level: means above 1e170
        level = np.square(eps * mean)  # K * m * 8 bytes
        level *= 4.0 * class_count[:, None]
    squares[squares <= level] = 0.0
    return squares


def rest_of(whole: Array, part: Array) -> Array:
    """Return `whole - part`, without what rounding leaves of sums of fractions.

    A rest above zero is zero when it is at the level of rounding (`RELATIVE_RESIDUE`)
    and one of the two is a fraction: integers are summed and subtracted exactly. Rests
    below zero are left to the caller, who knows whether they can be.
    """
    rest = np.asarray(whole - part)
    if not rest.size:
        return rest
    largest = RELATIVE_RESIDUE * float(np.max(whole))  # few cells are looked at twice
    near = np.nonzero((rest > 0) & (rest <= largest))
    if near[0].size:
        one, other = (np.broadcast_to(of, rest.shape)[near] for of in (whole, part))
        residue = (rest[near] <= RELATIVE_RESIDUE * one) & ~(
            (one == np.rint(one)) & (other == np.rint(other))
        )
        rest[tuple(axis[residue] for axis in near)] = 0.0
    return rest
