"""Predict raw texts, against CountVectorizer + MultinomialNB, on IMDB.

25,000 train and 25,000 test reviews, raw strings in, labels out. `SparseTextNB` with
k = 1,000 words (all processors, and one) against scikit-learn's pipeline twice: with
the whole vocabulary, and with the vocabulary fixed to the words that ours selected, so
at the same k. Predictions take turns; the best of each is compared. Accuracy is that of
the same calls. Fitting is timed once for each side, on the same strings. Beside the
seconds on the wall, those of all processors together are noted.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from measurement import interleaved, option_parser, read_data, report, target, timed

K = 1_000
OURS, ONE = "SparseTextNB", "SparseTextNB, 1 thread"
FULL, SAME_K = "CountVectorizer + MultinomialNB", "the same, vocabulary of k words"


def models(texts: list[str], y: np.ndarray) -> tuple[dict[str, Any], dict[str, float]]:
    """Every model fitted, and the seconds that took."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    from bayesieve import SparseTextNB

    fitted: dict[str, Any] = {}
    seconds: dict[str, float] = {}
    SparseTextNB(2).fit(["warm up", "the tables"], [0, 1])
    for name, n_jobs in ((OURS, -1), (ONE, 1)):
        model = SparseTextNB(K, n_jobs=n_jobs)
        seconds[name], fitted[name] = timed(partial(model.fit, texts, y))
    words = fitted[OURS].support_terms_
    for name, vocabulary in ((FULL, None), (SAME_K, words)):
        model = make_pipeline(CountVectorizer(vocabulary=vocabulary), MultinomialNB())
        seconds[name], fitted[name] = timed(partial(model.fit, texts, y))
    return fitted, seconds


def main() -> None:
    options = option_parser("text_prediction", __doc__).parse_args()
    frame = read_data("imdb")
    step, repeats = (10, 1) if options.quick else (1, 5)
    parts = {name: frame[frame["split"] == name][::step] for name in ("train", "test")}
    train, test = (parts[name]["text"].tolist() for name in ("train", "test"))
    y, y_test = (parts[name]["label"].to_numpy() for name in ("train", "test"))
    fitted, fit_seconds = models(train, y)
    predicted = {name: model.predict(test) for name, model in fitted.items()}
    accuracy = {name: float((p == y_test).mean()) for name, p in predicted.items()}
    spent: dict[str, list[float]] = {name: [] for name in fitted}

    def predict(name: str) -> None:
        begin = time.process_time()
        fitted[name].predict(test)
        spent[name].append(time.process_time() - begin)

    runs = interleaved({name: partial(predict, name) for name in fitted}, repeats)
    processor = {name: min(seconds) for name, seconds in spent.items()}
    best = {name: min(seconds) for name, seconds in runs.items()}
    for name in fitted:
        print(
            f"{name}: {best[name]:.3f} s ({processor[name]:.3f} of processors), "
            f"{len(test) / best[name]:,.0f} texts/s, "
            f"accuracy {accuracy[name]:.4f}, fitted in {fit_seconds[name]:.2f} s"
        )
    ratios = {
        ours: {theirs: best[theirs] / best[ours] for theirs in (FULL, SAME_K)}
        for ours in (OURS, ONE)
    }
    for ours, others in ratios.items():
        for theirs, ratio in others.items():
            print(f"{ours}: {ratio:.1f} times faster than {theirs}")
    targets = [
        target(f"{FULL} / {OURS}, seconds of prediction", ratios[OURS][FULL], least=10),
        target(
            "accuracy, ours less that of scikit-learn at the same k",
            accuracy[OURS] - accuracy[SAME_K],
            least=-0.001,
        ),
    ]
    results = {
        "data": {"name": "imdb", "train": len(train), "test": len(test)},
        "characters": {"train": sum(map(len, train)), "test": sum(map(len, test))},
        "k": K,
        "vocabulary": int(fitted[OURS].n_features_in_),
        "is_optimal": fitted[OURS].certificate_.is_optimal,
        "accuracy": accuracy,
        "labels_as_at_the_same_k": float((predicted[OURS] == predicted[SAME_K]).mean()),
        "fit_seconds": fit_seconds,
        "best": best,
        "processor_seconds": processor,
        "ratios": ratios,
        "processor_ratio": processor[FULL] / processor[ONE],
        "targets": targets,
        "runs": runs,
    }
    report("text_prediction", options, None, results)


if __name__ == "__main__":
    main()
