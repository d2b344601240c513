"""
How many features are enough?
=============================

The path over k answers it for all sizes at once: how much likelihood the best k
features gain, what is proven about every other choice, and how well the model
classifies rows it has not seen.
"""

from __future__ import annotations

from sklearn.feature_extraction.text import CountVectorizer

from bayesieve import (
    ClassCounts,
    SparseMultinomialNBCV,
    SparsityPathDisplay,
    sparsity_path,
)
from bayesieve.datasets import load_sms_spam

messages, labels = load_sms_spam(return_X_y=True)
vectorizer = CountVectorizer()
X = vectorizer.fit_transform(messages)

# %%
# Everything is a function of one small table: how often each word occurs in each class.
# The path needs nothing else, so it takes a fraction of a second for fifty sizes.
counts = ClassCounts.from_matrix(X, labels)
path = sparsity_path(counts)
path.plot()
print(path)
print("elbow:", path.elbow, "  BIC:", path.bic)

# %%
# The gap between the gain and its bound is below the width of the line: every point of
# this path is proven, up to rounding.
gain = path.objective - path.null_objective
print(f"largest gap, as a share of the gain: {(path.gap / gain).max():.1e}")

# %%
# Elbow and BIC look at the training rows. Cross-validation looks at rows left out, and
# here it wants nearly all words. It costs little, because the counts of a fold are
# subtracted rather than counted again.
model = SparseMultinomialNBCV(keep_counts=True).fit(X, labels)
print("best k:", model.k_best_, "  one standard error:", model.k_1se_)
SparsityPathDisplay.from_estimator(model)
