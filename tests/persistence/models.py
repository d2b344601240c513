"""One or more fitted examples of every class that can be saved, with rows to try."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
from scipy import sparse

import bayesieve as bs
from bayesieve.weights import VNS

RNG = np.random.default_rng(7)
N = 300
Y = RNG.integers(3, size=N)
YES_NO = np.where(Y > 0, "yes", "no")
COUNTS = RNG.poisson(1.0, size=(N, 12))
COUNTS[:, :3] += RNG.poisson(2.0 * Y[:, None], size=(N, 3))
BINARY = (COUNTS > 1).astype(np.int8)
CODES = np.minimum(COUNTS, 4)
TEXTS = [
    " ".join(RNG.choice(["one", "two", "three", "für", "日本"], size=6))
    + (" good" if label == "yes" else " bad")
    for label in YES_NO
]
BASES = [
    ("ACGTACG" if label == "yes" else "CCTTAGA") + "ACCA"[: 1 + i % 4]
    for i, label in enumerate(YES_NO)
]
NOISE = RNG.random(N)
TABLE = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, N) + 12 * (Y > 0),
        "town": RNG.choice(["Oslo", "Rome", "Lima"], size=N),
        "size": np.where(RNG.random(N) < 0.2, np.nan, RNG.normal(size=N) + Y),
        "code": pd.Series(RNG.choice([1, 2, 3], size=N)).astype("category"),
        "member": RNG.random(N) < 0.3 + 0.2 * Y,
        "day": pd.Timestamp("2024-01-01")
        + pd.to_timedelta(30 * Y + RNG.random(N), "D"),
        "mood": np.where(RNG.random(N) < 0.3, None, np.where(Y > 1, "up", "down")),
    }
)
#: Categories, codes among them.
WORDS = TABLE[["town", "code", "member", "mood"]].assign(number=CODES[:, 0])
#: With a column of texts that differ.
NOTED = TABLE.assign(note=[f"{text} nr{row}" for row, text in enumerate(TEXTS)])


def _paired():
    """A model with a pair, a triple among its candidates, and its rows."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        {
            "left": rng.normal(size=400),
            "right": rng.normal(size=400),
            "town": rng.choice(["a", "b", "c"], size=400),
        }
    )
    y = (table["left"] > 0) ^ (table["right"] > 0) ^ (rng.random(400) < 0.1)
    table.loc[:9, "left"] = np.nan
    model = bs.SelectiveNB().fit(table, np.where(y, "yes", "no"))
    assert model.pairs_
    return model, table


def _streamed(partitions):
    model = bs.SelectiveNB(window=100, partitions=partitions)
    for start in range(0, N, 60):
        part = slice(start, start + 60)
        model.partial_fit(TABLE.iloc[part], YES_NO[part], classes=["no", "yes"])
    return model


def _in_chunks(model, X):
    for start in range(0, N, 100):
        part = slice(start, start + 100)
        model.partial_fit(X[part], Y[part], classes=[0, 1, 2])
    return model


@cache
def examples():
    """Name to (fitted model, rows to predict or transform)."""
    frame = pd.DataFrame(COUNTS, columns=[f"c {i} é" for i in range(12)])
    logs = bs.MODLEncoder(output="log_likelihood").fit(COUNTS, Y)
    ready = logs.transform(COUNTS)
    found = {
        "multinomial": (bs.SparseMultinomialNB(4).fit(COUNTS, YES_NO), COUNTS),
        "multinomial frame": (bs.SparseMultinomialNB(4).fit(frame, Y), frame),
        "multinomial sparse": (
            bs.SparseMultinomialNB(0.5, alpha=0.0).fit(sparse.csr_array(COUNTS), Y),
            sparse.csr_array(COUNTS),
        ),
        "multinomial chunks": (_in_chunks(bs.SparseMultinomialNB(5), COUNTS), COUNTS),
        "multinomial alpha": (
            bs.SparseMultinomialNB("all", alpha=np.linspace(0.1, 1, 12)).fit(COUNTS, Y),
            COUNTS,
        ),
        "bernoulli": (bs.SparseBernoulliNB("bic").fit(COUNTS, Y == 1), COUNTS),
        "bernoulli truncated": (
            bs.SparseBernoulliNB(3, smoothing="truncated", keep_counts=True).fit(
                BINARY, Y * 2.0
            ),
            BINARY,
        ),
        "multinomial cv": (
            bs.SparseMultinomialNBCV([2, 4], choice="1se").fit(COUNTS, Y),
            COUNTS,
        ),
        "bernoulli cv": (bs.SparseBernoulliNBCV([2, 4], cv=3).fit(COUNTS, Y), COUNTS),
        "gaussian": (bs.SparseGaussianNB(3).fit(COUNTS + 0.5, Y), COUNTS),
        "gaussian chunks": (_in_chunks(bs.SparseGaussianNB(3), COUNTS / 3), COUNTS),
        "categorical": (bs.SparseCategoricalNB(3).fit(CODES, Y), CODES),
        "categorical all": (
            bs.SparseCategoricalNB("all", min_categories=6).fit(CODES, YES_NO),
            CODES,
        ),
        "categorical table": (
            bs.SparseCategoricalNB("all", keep_counts=True).fit(WORDS, YES_NO),
            WORDS,
        ),
        "text": (bs.SparseTextNB(4).fit(TEXTS, YES_NO), TEXTS),
        "text bernoulli": (
            bs.SparseTextNB(
                3,
                model="bernoulli",
                ngram_range=(1, 2),
                stop_words={"one", "two"},
                min_df=2,
                keep_counts=True,
            ).fit(TEXTS, Y),
            TEXTS,
        ),
        "text weights": (
            bs.SparseTextNB(4, weights=True, ngram_range=(1, 2)).fit(TEXTS, YES_NO),
            TEXTS,
        ),
        "text char": (
            bs.SparseTextNB(
                5, analyzer="char_wb", ngram_range=(2, 3), stop_words="english"
            ).fit(TEXTS, YES_NO),
            TEXTS,
        ),
        "text pattern": (
            bs.SparseTextNB(3, token_pattern=r"[a-z]{3,}", max_df=0.9).fit(TEXTS, Y),
            TEXTS,
        ),
        "sequences": (
            bs.SparseSequenceNB(3, length=2).fit(BASES, YES_NO),
            BASES,
        ),
        "bytes": (
            bs.SparseSequenceNB(
                3, alphabet="bytes", length=2, weights=True, merge_copies=False
            ).fit([own.encode() for own in BASES], YES_NO),
            [own.encode() for own in BASES],
        ),
        "wide": (bs.SelectiveMultinomialNB(k=3).fit(COUNTS, YES_NO), COUNTS),
        "wide frame": (
            bs.SelectiveBernoulliNB(regularization=3.0, refit_intercept=False).fit(
                frame, Y
            ),
            frame,
        ),
        "wide cv": (
            bs.SelectiveMultinomialNBCV(regularization=5, cv=3).fit(COUNTS, Y),
            COUNTS,
        ),
        "wide bernoulli cv": (
            bs.SelectiveBernoulliNBCV(regularization=5, cv=3, choice="1se").fit(
                COUNTS, Y
            ),
            sparse.csr_array(COUNTS),
        ),
        "selector refined": (
            bs.NaiveFeatureSelector(3, refine=True).fit(COUNTS, Y),
            COUNTS,
        ),
        "selector": (bs.NaiveFeatureSelector(3).fit(COUNTS, Y), COUNTS),
        "selector counts": (
            bs.NaiveFeatureSelector(3, model="gaussian", keep_counts=True).fit(
                frame, Y
            ),
            frame,
        ),
        "L0": (bs.L0Screener().fit(BINARY, Y), BINARY),
        "L0 counts": (_in_chunks(bs.L0Screener(3), BINARY), BINARY),
        "L1": (bs.L1Screener(regularization=20.0).fit(BINARY, Y), BINARY),
        "L1 cv": (bs.L1Screener(criterion="cv", cv=3).fit(BINARY, Y), BINARY),
        "Pearson": (bs.PearsonScreener(k=2).fit(BINARY, YES_NO), BINARY),
        "FDR": (bs.FDRScreener(binarize=1.0).fit(COUNTS, Y), COUNTS),
        "mixed": (bs.MixedScreener().fit(TABLE.drop(columns="day"), Y), TABLE),
        "selective": (bs.SelectiveNB(partitions="best").fit(TABLE, YES_NO), TABLE),
        "selective array": (
            bs.SelectiveNB(k=2, partitions="best").fit(COUNTS, Y),
            COUNTS,
        ),
        "selective shapes": (bs.SelectiveNB().fit(TABLE, Y), TABLE),
        "selective pairs": _paired(),
        "selective search": (
            bs.SelectiveNB(
                optimizer=VNS(start=[0.4] * 7, effort=1), random_state=0
            ).fit(TABLE, Y),
            TABLE,
        ),
        "selective costs": (
            bs.SelectiveNB(feature_cost={"age": 9.0}, partitions="best").fit(TABLE, Y),
            TABLE,
        ),
        "selective texts": (
            bs.SelectiveNB(text_options={"ngram_range": (1, 2)}).fit(NOTED, YES_NO),
            NOTED,
        ),
        "selective stream": (_streamed("best"), TABLE),
        "selective stream shapes": (_streamed("averaged"), TABLE),
        "selective ready-made": (
            bs.SelectiveNB(input="log_likelihood").fit(ready, Y),
            ready,
        ),
        "averaged": (bs.AveragedNB(random_state=0).fit(TABLE, Y), TABLE),
        "encoder": (bs.MODLEncoder(output="log_likelihood").fit(TABLE, Y), TABLE),
        "encoder parts": (bs.MODLEncoder().fit(COUNTS, YES_NO), COUNTS),
    }
    return found


def answers(model, rows):
    """Everything a fitted model says about rows, as a list of arrays."""
    if hasattr(model, "predict"):
        return [model.predict(rows), model.predict_proba(rows)]
    if isinstance(model, bs.MixedScreener):
        rows = rows.drop(columns="day")
        return [np.asarray(model.transform(rows), dtype=object).astype(str)]
    found = model.transform(rows)
    return [np.asarray(found)]
