"""
The twenty words that tell spam from ham
========================================

5,574 text messages come with the package. Which twenty words tell spam from ham best,
and could any other twenty do better?
"""

from __future__ import annotations

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import MultinomialNB

from bayesieve import FeatureWeightsDisplay, SparseTextNB
from bayesieve.datasets import load_sms_spam

messages, labels = load_sms_spam(return_X_y=True)
train, test, y_train, y_test = train_test_split(
    messages, labels, stratify=labels, random_state=0
)

# %%
# ``SparseTextNB`` takes raw strings. It counts all words, chooses the twenty whose
# naive Bayes model is the likeliest, and proves the choice.
model = SparseTextNB(k=20).fit(train, y_train)
print(model.certificate_)
print("nodes of the search:", model.certificate_.nodes)

# %%
# The words, by how far each moves the odds. Phone numbers, prizes and shouting on one
# side, everyday talk on the other.
FeatureWeightsDisplay.from_estimator(model)

# %%
# The proof is about the likelihood of the training messages. Accuracy on new messages
# is another question, so it is measured: twenty words against all of them.
vectorizer = CountVectorizer()
everything = MultinomialNB().fit(vectorizer.fit_transform(train), y_train)
n_words = len(vectorizer.vocabulary_)
print(f"20 words: {model.score(test, y_test):.3f}")
print(f"{n_words:,} words: {everything.score(vectorizer.transform(test), y_test):.3f}")
