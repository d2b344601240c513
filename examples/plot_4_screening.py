"""
Screening 100,000 columns
=========================

Two thousand rows, a hundred thousand yes/no columns, forty of them informative. Which
columns say anything at all, without choosing a number beforehand?
"""

from __future__ import annotations

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from bayesieve import FDRScreener, L0Screener, PearsonScreener

rng = np.random.default_rng(0)
n, p, informative = 2000, 100_000, 40
y = rng.integers(3, size=n)

# %%
# Sparse data from the start: a row has about two hundred columns set.
noise = sparse.random_array((n, p - informative), density=0.002, rng=rng)
chance = rng.uniform(0.02, 0.4, size=(3, informative))
signal = sparse.csr_array(rng.random((n, informative)) < chance[y])
X = sparse.hstack([signal, noise != 0], format="csr")

# %%
# ``L0Screener`` keeps the columns that lower BIC, ``FDRScreener`` bounds the share of
# false ones among those kept. ``PearsonScreener`` cuts where its score drops most,
# which may be anywhere: it is here for comparison.
for screener in (L0Screener(), FDRScreener(q=0.05), PearsonScreener()):
    start = perf_counter()
    screener.fit(X, y)
    seconds = perf_counter() - start
    right = int(screener.support_[:informative].sum())
    wrong = int(screener.support_.sum()) - right
    print(
        f"{type(screener).__name__:16} {right:3} right, {wrong:3} wrong, "
        f"{1000 * seconds:.0f} ms"
    )

# %%
# The informative columns stand clear of the noise; the line is the threshold of BIC.
screener = L0Screener().fit(X, y)
order = np.argsort(-screener.scores_)[:400]
colours = np.where(order < informative, "tab:blue", "tab:gray")
plt.scatter(np.arange(1, 401), screener.scores_[order], c=colours, s=10)
plt.axhline(2 * np.log(n) / (2 * n), color="black", linestyle="--")
plt.xlabel("rank of the column")
plt.ylabel("mutual information, nats")
plt.yscale("log")
