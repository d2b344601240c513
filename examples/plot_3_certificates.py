"""
Certificates: proven, bounded, and how the bounds are ordered
=============================================================

A certificate brackets the best value that any k features can reach. Here are some that
a short search closes, and one that a limit leaves open.
"""

from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import numpy as np

from bayesieve import solve_multinomial
from bayesieve.exceptions import GapWarning

# %%
# Two classes and 2,000 columns of counts. The search closes the gap in a few nodes.
rng = np.random.default_rng(0)
totals = 1000 / np.arange(1, 2001)
tilt = np.exp(rng.normal(0, 0.5, size=2000))
table = rng.poisson([totals, totals * tilt])
for k in (2, 5, 50):
    proof = solve_multinomial(table, k).certificate
    print(f"{proof}; {proof.nodes} node(s)")

# %%
# The bounds of the theory, seen from the inside: psi(k-4), the published lower bound,
# psi(k-1), the sharper one, the optimum itself, and psi(k) above it.
sizes = np.arange(6, 41)
proofs = [solve_multinomial(table, int(k)).certificate for k in sizes]
best = np.array([p.objective for p in proofs])
for name, style in [
    ("relaxation_bound", "-"),
    ("sharp_bound", "--"),
    ("published_bound", ":"),
]:
    difference = np.array([getattr(p, name) for p in proofs]) - best
    plt.plot(sizes, difference, style, color="black", label=name)
plt.axhline(0, color="tab:blue", label="optimum")
plt.xlabel("k")
plt.ylabel("nats above the optimum")
plt.legend()

# %%
# Many classes with words of their own are hard. A limit ends the search; the gap that
# is left is told, and a warning says so. Nothing is claimed that was not proven.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", GapWarning)
    own_words = np.repeat(np.eye(12), 2, axis=1) * 50
    noise = np.random.default_rng(0).integers(0, 10, own_words.shape)
    hard = solve_multinomial(own_words + noise, 6, node_limit=30)
print(hard.certificate)
print("optimal:", hard.certificate.is_optimal)
