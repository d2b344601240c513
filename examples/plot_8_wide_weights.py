"""
Weights on wide data: believed when it says 90 %
================================================

Words come in company. Naive Bayes takes each of them for new evidence, so its
probabilities are too extreme. One weight in [0, 1] for each word repairs that.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB

from bayesieve import ReliabilityDisplay, SelectiveMultinomialNB, WeightPathDisplay

# %%
# Texts of two classes with 40 themes, a little more or less common in one of them. A
# theme brings up to eight words at once. Four thousand other words are noise.
rng = np.random.default_rng(0)
n, themes = 4000, 40
y = rng.integers(2, size=n)
lean = rng.normal(0, 0.5, size=themes)
present = rng.random((n, themes)) < 1 / (1 + np.exp(1.5 - np.outer(2 * y - 1, lean)))
words = rng.poisson(0.8 * np.repeat(present, 8, axis=1))
noise = rng.poisson(0.02, size=(n, 4000))
X = sparse.csr_array(np.hstack([words, noise]))
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# Naive Bayes on every word, and weights on as many as the data ask for. Labels are a
# little less often right here; what gains is how far probabilities can be believed.
plain = MultinomialNB().fit(X_train, y_train)
weighted = SelectiveMultinomialNB().fit(X_train, y_train)
for name, model in (("naive Bayes", plain), ("weights", weighted)):
    loss = log_loss(y_test, model.predict_proba(X_test))
    print(f"{name:12} accuracy {model.score(X_test, y_test):.3f}  log loss {loss:.3f}")
print(f"words in use: {weighted.k_} of {X.shape[1]}")
print(f"proven: within {weighted.dual_gap_:.2g} nats of the best weights")

# %%
# Reliability: where a model says 90 %, is it right in 90 %? Naive Bayes is not; with
# weights the points lie near the diagonal.
fig, (left, right) = plt.subplots(1, 2, figsize=(11, 5))
ReliabilityDisplay.from_estimator(plain, X_test, y_test, ax=left)
ReliabilityDisplay.from_estimator(weighted, X_test, y_test, ax=right)
for ax, name in ((left, "naive Bayes, all words"), (right, "weights, few words")):
    ax.text(0.5, 1.1, name, transform=ax.transAxes, ha="center", fontsize=13)

# %%
# The weights as the penalty falls, from left to right:
WeightPathDisplay.from_estimator(weighted)
