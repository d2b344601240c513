"""
A stream that changes its mind
==============================

Rows arrive in chunks and are never all kept. Half-way the labels change their meaning.
The model notices, begins again from the latest rows, and recovers.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np

from bayesieve import SelectiveNB

rng = np.random.default_rng(0)


def chunk(rows, changed):
    """Ten columns; the first two decide, and after the change the next two."""
    X = rng.normal(size=(rows, 10))
    decisive = X[:, 2:4] if changed else X[:, :2]
    chance = 1 / (1 + np.exp(-3 * decisive.sum(axis=1)))
    return X, (rng.random(rows) < chance).astype(int)


# %%
# Test, then train: every chunk is predicted before the model learns from it.
model = SelectiveNB(window=5000, random_state=0)
losses, used = [], []
for step in range(60):
    X, y = chunk(500, changed=step >= 30)
    if step:
        own = model.predict_proba(X)[np.arange(500), y]
        losses.append(-np.log(own).mean())
    model.partial_fit(X, y, classes=[0, 1])
    used.append(np.flatnonzero(model.weights_))

# %%
# The loss jumps at the change and is back within few chunks.
fig, ax = plt.subplots()
ax.plot(500 * np.arange(1, 60), losses, color="black")
ax.axvline(15_000, color="tab:gray", linestyle="--", label="the change")
ax.set(xlabel="rows seen", ylabel="log loss of the next chunk, nats")
ax.legend()
print("columns in use before the change:", used[29])
print("columns in use at the end:       ", used[-1])
