"""
Texts in files, never in memory
===============================

Counts add up. Files are counted one by one, or on several machines, and merged; the
model is fitted from the counts alone. Reading files needs ``pip install
duckdb pyarrow``.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas as pd

from bayesieve import ClassCounts, FeatureWeightsDisplay, SparseTextNB, to_vectorizer
from bayesieve.counts import merge_saved
from bayesieve.datasets import load_sms_spam

# %%
# Three compressed files, as a service might write them day by day.
messages, labels = load_sms_spam(return_X_y=True)
frame = pd.DataFrame({"body": messages, "kind": labels})
folder = Path(tempfile.mkdtemp())
for day, rows in enumerate(range(0, len(frame), 2000)):
    part = frame.iloc[rows : rows + 2000]
    part.to_csv(folder / f"day{day}.csv.gz", index=False)
print(*sorted(path.name for path in folder.iterdir()))

# %%
# One call counts words and pairs of words of all files. No document-term matrix is
# made.
options = {"text": "body", "label": "kind", "ngram_range": (1, 2)}
counts = ClassCounts.from_text(str(folder / "*.csv.gz"), min_df=3, **options)
print(counts)

# %%
# The same by parts: each day is counted and saved where it is, then the files are
# merged.
saved = []
for path in sorted(folder.glob("*.csv.gz")):
    saved.append(path.with_suffix(".counts"))
    ClassCounts.from_text(str(path), **options).save(saved[-1])
merged = merge_saved(saved)
print(merged)

# %%
# A model from the counts, and its terms as an ordinary scikit-learn vectorizer.
model = SparseTextNB(k=25, ngram_range=(1, 2)).fit_counts(counts)
print(model.certificate_)
print(to_vectorizer(model).transform(messages).shape)
FeatureWeightsDisplay.from_estimator(model)
