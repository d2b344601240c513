"""200 bootstraps of IMDB, k = 20, from one pass, against refitting one by one.

Both sides give the same supports. `stability_selection` adds up the counts of all
resamples in one pass over the 25,000 reviews and solves each; the other side draws the
same weights and calls `fit(X, y, sample_weight=...)` 200 times, as one has to with any
other selector. The sides take turns in one process; the best of each counts.

Then the promises on generated data of known truth, 60 repeats: features selected by
chance against the bounds, and the share of 95 % intervals that cover the true gain.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from bayesieve import NaiveFeatureSelector, stability_selection
from bayesieve.counts._replicates import Resampling
from measurement import option_parser, read_data, report, target, timed

SEED = 20240301
K = 20


def imdb(n_rows: int | None) -> tuple[Any, Any]:
    """Word counts of the training reviews."""
    frame = read_data("imdb")
    frame = frame[frame["split"] == "train"]
    if n_rows is not None:
        frame = frame.sample(n_rows, random_state=SEED)
    X = CountVectorizer().fit_transform(frame["text"])
    return X, frame["label"].to_numpy()


def refitted(estimator: Any, X: Any, y: Any, n_resamples: int) -> list[Any]:
    """Supports of one weighted fit after the other."""
    seed = int(np.random.RandomState(SEED).randint(2**63 - 1, dtype=np.int64))
    resampling = Resampling(n_resamples, "bootstrap", seed)
    rows = np.arange(X.shape[0])
    supports = []
    for number in range(n_resamples):
        weights = resampling.weights(rows, number, 1)[:, 0].astype(np.float64)
        supports.append(estimator.fit(X, y, sample_weight=weights).support_indices_)
    return supports


def run_speed(X: Any, y: Any, n_resamples: int, repeats: int) -> dict[str, Any]:
    """Seconds of both sides for two models."""
    results: dict[str, Any] = {}
    for model in ("multinomial", "bernoulli"):
        estimator = NaiveFeatureSelector(K, model=model)
        one_pass, one_by_one = [], []
        for _ in range(repeats):
            seconds, found = timed(
                lambda estimator=estimator: stability_selection(
                    estimator,
                    X,
                    y,
                    n_resamples=n_resamples,
                    method="bootstrap",
                    random_state=SEED,
                )
            )
            one_pass.append(seconds)
            seconds, supports = timed(
                lambda estimator=estimator: refitted(estimator, X, y, n_resamples)
            )
            one_by_one.append(seconds)
        assert np.concatenate(supports).tolist() == found.supports_.indices.tolist()
        results[model] = {
            "one_pass_seconds": one_pass,
            "one_by_one_seconds": one_by_one,
            "stable": int(found.support_.sum()),
            "ratio": min(one_by_one) / min(one_pass),
        }
        print(
            f"{model}: one pass {min(one_pass):.2f} s, one by one "
            f"{min(one_by_one):.2f} s, {found!r}"
        )
    return results


def run_truth(repeats: int) -> dict[str, Any]:
    """Errors and coverage where ten features of two hundred matter."""
    n, m, strong, cutoff = 600, 200, 10, 0.6
    effect = np.zeros(m)
    effect[:strong] = np.linspace(0.4, 1.2, strong)

    def rows(rng: np.random.Generator, n_rows: int) -> tuple[Any, Any]:
        y = rng.integers(2, size=n_rows)
        more = effect * (y[:, None] == np.arange(m) % 2)
        return (rng.random((n_rows, m)) < 0.2 + 0.25 * more).astype(np.int8), y

    rng = np.random.default_rng(SEED)
    large = NaiveFeatureSelector(strong, model="bernoulli")
    for _ in range(20):
        large.partial_fit(*rows(rng, 40_000), classes=[0, 1])
    truth = large.scores_ * n / 800_000
    results: dict[str, Any] = {}
    for method in ("pairs", "bootstrap"):
        false, true, covered = [], [], []
        for repeat in range(repeats):
            X, y = rows(np.random.default_rng([SEED, repeat]), n)
            found = stability_selection(
                NaiveFeatureSelector(strong, model="bernoulli"),
                X,
                y,
                method=method,
                cutoff=cutoff,
                random_state=repeat,
            )
            chosen = found.selected()
            false.append(int((chosen >= strong).sum()))
            true.append(int((chosen < strong).sum()))
            low, high = found.gain_intervals().T
            columns = found.support_indices_
            inside = (low <= truth[columns]) & (truth[columns] <= high)
            covered += inside[columns < strong].tolist()
        results[method] = {
            "false": float(np.mean(false)),
            "true": float(np.mean(true)),
            "coverage": float(np.mean(covered)),
            "intervals": len(covered),
        }
        if method == "pairs":
            results["bounds"] = {
                assumption: found.error_bound(assumption=assumption)
                for assumption in ("none", "unimodal", "r-concave")
            }
    print(results)
    return results


def main() -> None:
    options = option_parser("stability_speed", __doc__).parse_args()
    n_resamples, repeats = (20, 1) if options.quick else (200, 5)
    X, y = imdb(2_000 if options.quick else None)
    data = {"shape": list(X.shape), "entries": int(X.nnz), "k": K}
    speed = run_speed(X, y, n_resamples, repeats)
    truth = run_truth(5 if options.quick else 60)
    slowest = max(min(speed[model]["one_pass_seconds"]) for model in speed)
    targets = [
        target("200 bootstraps, seconds", slowest, most=5),
        target(
            "selected by chance / smallest bound",
            truth["pairs"]["false"] / truth["bounds"]["r-concave"],
            most=1,
        ),
        target(
            "coverage of 95 % intervals",
            truth["pairs"]["coverage"],
            least=0.93,
            most=0.99,
        ),
    ]
    results = {"data": data, "speed": speed, "truth": truth, "targets": targets}
    report("stability_speed", options, SEED, results)


if __name__ == "__main__":
    main()
