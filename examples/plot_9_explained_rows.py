"""
Shapes, pairs, and why a row is scored as it is
===============================================

``SelectiveNB`` is a sum of terms that can all be drawn: what a column adds over its
values, what two columns add together, and what each of them adds for one row.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from bayesieve import ExplanationDisplay, PairDisplay, SelectiveNB, ShapeDisplay

rng = np.random.default_rng(0)
n = 5000
rides = pd.DataFrame(
    {
        "hour": rng.uniform(0, 24, n).round(1),
        "weekend": rng.random(n) < 2 / 7,
        "rain": np.where(rng.random(n) < 0.1, np.nan, rng.exponential(2, n).round(1)),
        "bus line": rng.choice(list("ABCDEF"), size=n),
    }
)
# Weekdays are late at eight and at five o'clock, weekends at midnight.
rush = np.where(
    rides["weekend"],
    np.exp(-(np.minimum(rides["hour"], 24 - rides["hour"]) ** 2) / 4),
    np.exp(-((rides["hour"] - 8) ** 2) / 2) + np.exp(-((rides["hour"] - 17) ** 2) / 4),
)
odds = -2 + 3 * rush + 0.5 * rides["rain"].fillna(0) + 0.8 * (rides["bus line"] == "C")
late = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "late", "on time")
model = SelectiveNB().fit(rides, late)
print("pairs:", [tuple(rides.columns[list(own)]) for own in model.pairs_])

# %%
# Rain makes buses late, and more rain more so. The band says how sure that is; rides
# without a measurement stand apart.
ShapeDisplay.from_estimator(model, "rain", label="late")

# %%
# The hour means one thing on weekdays and another on weekends.
PairDisplay.from_estimator(model, ("hour", "weekend"), label="late")

# %%
# One ride: from the mean of all rides to its own score.
ride = rides.iloc[[2]]
ExplanationDisplay.from_estimator(model, ride)
print(model.explain(ride))
