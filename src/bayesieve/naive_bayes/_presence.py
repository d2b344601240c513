"""Values as present or absent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["presence"]


def presence(
    part: Any,
    binarize: float | None,
    refuse: Callable[[Any, np.ndarray, str], None],
    owner: str,
) -> Any:
    """The selected columns as 0 and 1.

    Parameters
    ----------
    part : ndarray or sparse matrix
    binarize : float or None
        Values above it are present; None: they must be 0 and 1.
    refuse : callable
        ``refuse(part, wrong, needs)`` names the first wrong value.
    owner : str
        Name of the estimator.
    """
    values = part.data if sparse.issparse(part) else part
    if binarize is None:
        wrong = (values != 0) & (values != 1)
        refuse(part, wrong, "values 0 and 1 with binarize=None")
        return part
    present = (values > binarize).astype(np.float64)
    if not sparse.issparse(part):
        return present
    if binarize < 0:
        raise ValueError(
            f"The 'binarize' parameter of {owner} must be >= 0 for sparse input, "
            f"because every absent entry would count. Got {binarize!r}."
        )
    return type(part)((present, part.indices, part.indptr), shape=part.shape)
