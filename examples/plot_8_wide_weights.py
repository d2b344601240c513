"""
Weights on wide data: believed when it says 90 %
================================================

Naive Bayes counts redundant words again and again, so its probabilities are too extreme.
One weight in [0, 1] for each word repairs that, and most weights end at zero.
"""

from __future__ import annotations

import matplotlib.pyplot as plt
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB

from bayesieve import FeatureWeightsDisplay, ReliabilityDisplay, SelectiveMultinomialNB
from bayesieve.datasets import load_sms_spam

messages, labels = load_sms_spam(return_X_y=True)
train, test, y_train, y_test = train_test_split(
    messages, labels, stratify=labels, random_state=0
)
# Pairs of words repeat what the words have said: naive Bayes takes it for new evidence.
vectorizer = CountVectorizer(ngram_range=(1, 2))
X_train, X_test = vectorizer.fit_transform(train), vectorizer.transform(test)

# %%
# Naive Bayes on every term, and weights on at most 300 of them.
plain = MultinomialNB().fit(X_train, y_train)
weighted = SelectiveMultinomialNB(k=300).fit(X_train, y_train)
for name, model in (("naive Bayes", plain), ("weights", weighted)):
    loss = log_loss(y_test, model.predict_proba(X_test))
    print(f"{name:12} accuracy {model.score(X_test, y_test):.4f}  log loss {loss:.4f}")
print("terms in use:", weighted.k_, "of", X_train.shape[1])
print(f"proven: within {weighted.dual_gap_:.2g} nats of the best weights")

# %%
# Reliability: of the messages said to be spam with 90 %, are 90 % spam?
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5))
ReliabilityDisplay.from_estimator(plain, X_test, y_test, ax=left)
ReliabilityDisplay.from_estimator(weighted, X_test, y_test, ax=right)
left.set_title("naive Bayes, all terms")
right.set_title("weights, few terms")

# %%
# The terms that move the odds most, after their discounts:
FeatureWeightsDisplay.from_estimator(
    weighted, feature_names=vectorizer.get_feature_names_out(), max_features=25
)
