"""Word counts with informative, redundant and idle words."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def word_counts(seed=0, n_rows=600, n_features=200, n_classes=2, informative=12):
    """Sparse counts and labels; the first columns tell, every third one twice."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n_rows) % n_classes)
    rates = np.tile(rng.gamma(0.3, 0.4, size=n_features), (n_classes, 1))
    rates[:, :informative] *= rng.gamma(0.5, 2.0, size=(n_classes, informative))
    X = rng.poisson(rates[y])
    X[:, 2:informative:3] = X[:, 1 : informative - 1 : 3]
    return sparse.csr_array(X), y
