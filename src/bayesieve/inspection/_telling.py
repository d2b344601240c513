"""The one feature that tells most by itself: maybe more than it should know."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayesieve._description import Description
from bayesieve.counts._selection import documents_with

__all__ = ["telling_feature"]


def telling_feature(found: Description, counts: Any = None) -> tuple[str, float] | None:
    """The selected feature that alone has most training rows right, and their share.

    Of a table by the parts of each column, of counts by presence and absence; None
    where neither is known.
    """
    if found.table is not None:
        shares = [_share_of_parts(own.counts) for own in found.table.partitions]
        if not shares:
            return None
        best = int(np.argmax(shares))
        return found.table.partitions[best].name, shares[best]
    if counts is None or counts.n_features != found.n_features:
        return None
    present = documents_with(counts)
    if present is None or not found.indices.size:
        return None
    there = present[:, found.indices]
    there = there if isinstance(there, np.ndarray) else there.toarray()
    absent = counts.class_count[:, None] - there
    right = there.max(axis=0) + absent.max(axis=0)
    best = int(np.argmax(right))
    share = float(right[best] / counts.class_count.sum())
    return found.names_of(found.indices[[best]])[0], min(share, 1.0)


def _share_of_parts(counts: np.ndarray) -> float:
    """Share of rows right when each part says its largest class."""
    return float(counts.max(axis=1).sum() / max(counts.sum(), 1.0))
