"""
A table of numbers and categories
=================================

Ages, towns, incomes with holes: ``SelectiveNB`` takes the table as it is, finds where
to cut each column, and gives few columns a weight.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from bayesieve import PartitionDisplay, SelectiveNB

rng = np.random.default_rng(0)
n = 4000
age = rng.integers(18, 80, size=n)
town = rng.choice(["Oslo", "Rome", "Lima", "Cairo", "Quito", "Bern"], size=n)
income = rng.lognormal(10.2, 0.5, size=n).round(-2)
chance = (
    0.15
    + 0.45 * ((age > 28) & (age <= 61))
    + 0.2 * np.isin(town, ["Rome", "Lima"])
    + 0.15 * (income > 30_000)
)
people = pd.DataFrame(
    {
        "age": age,
        "born": 2025 - age,  # says the same as age
        "town": town,
        "income": np.where(rng.random(n) < 0.05, np.nan, income),
        "height": rng.normal(170, 10, n).round(),
    }
)
bought = np.where(rng.random(n) < chance, "bought", "left")
train, test, y_train, y_test = train_test_split(people, bought, random_state=0)

# %%
# ``age`` and ``born`` say the same, so one of them is enough. ``height`` says nothing.
model = SelectiveNB().fit(train, y_train)
for name, weight in zip(people.columns, model.weights_, strict=True):
    print(f"{name:8} {weight:.2f}")

# %%
# The cuts of age were found at 28 and 61, where the data were made to change.
PartitionDisplay.from_estimator(model, "age")
print(model.partitions_[0].table())

# %%
# Measured on rows that were not used:
proba = model.predict_proba(test)
print(f"AUC {roc_auc_score(y_test == 'left', proba[:, 1]):.3f}")
print(f"log loss {log_loss(y_test, proba):.3f} nats")
