"""What other benchmarks and studies have measured already, read from their files.

Each reader returns rows (job, ours, theirs, which peer, how many times) or None when
its file is not there. Nothing is measured here.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent / "studies"))

import table_classifiers_tables as table_classifiers
from ledger import read_parts
from streams import PEERS, scores

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
STUDIES = HERE / "studies" / "results"
Row = tuple[str, str, str, str]


def stored(path: Path) -> Any:
    """Return the content of a file, None when it is not there."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def seconds(value: float) -> str:
    """Return seconds as people write them."""
    if value < 0.1:
        return f"{value * 1e3:.3g} ms"
    return f"{value:.2f} s" if value < 10 else f"{value:.0f} s"


def times(ours: float, theirs: float) -> str:
    """Return how many times as long theirs takes."""
    ratio = theirs / ours
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def megabytes(value: float) -> str:
    """Return bytes in millions."""
    return f"{value / 1e6:,.0f} MB"


def fit_sparse() -> list[Row] | None:
    """Plain naive Bayes with and without selection."""
    content = stored(RESULTS / "fit_sparse.json")
    if content is None:
        return None
    rows, best = [], content["best"]
    for ours, theirs in (
        ("SparseMultinomialNB", "MultinomialNB"),
        ("SparseBernoulliNB", "BernoulliNB"),
    ):
        a, b = best[ours], best[theirs]
        rows.append(
            (
                f"fit 1.6 million rows x 12 million columns, `{theirs}`",
                f"{seconds(a['seconds'])}, {megabytes(a['extra_bytes'])}",
                f"{seconds(b['seconds'])}, {megabytes(b['extra_bytes'])}",
                times(a["seconds"], b["seconds"]),
            )
        )
    return rows


def cross_validation() -> list[Row] | None:
    """Cross-validation of alpha and k."""
    content = stored(RESULTS / "cross_validation.json")
    if content is None:
        return None
    one = next(s for s in content["studies"] if s["model"] == "multinomial")
    best = one["best_seconds"]
    ours = min(one["seconds"]["ours, whole grid"])
    scaled = best.get("grid search, scaled", 100 * best["grid search, part"])
    return [
        (
            "ten folds of 1,000 pairs (alpha, k), IMDB, `GridSearchCV` (scaled)",
            seconds(ours),
            seconds(scaled),
            times(ours, scaled),
        )
    ]


def screening_speed() -> list[Row] | None:
    """Screening of yes/no columns."""
    content = stored(RESULTS / "screening_speed.json")
    if content is None:
        return None
    ours = content["best"]["L0Screener"]["seconds"]
    chi2 = content["best"]["chi2"]["seconds"]
    few = content["information"]
    quick = min(few["ours_seconds"])
    return [
        (
            "screen 2,000 rows x 10 million yes/no columns, `chi2`",
            seconds(ours),
            seconds(chi2),
            times(ours, chi2),
        ),
        (
            "mutual information of 20,000 of them, `mutual_info_classif`",
            seconds(quick),
            seconds(few["theirs_seconds"]),
            times(quick, few["theirs_seconds"]),
        ),
    ]


def texts() -> list[Row] | None:
    """Counting and classifying raw texts."""
    counting = stored(RESULTS / "text_counting.json")
    prediction = stored(RESULTS / "text_prediction.json")
    rows: list[Row] = []
    if counting is not None:
        a, b = counting["best"]["two threads"], counting["best"]["sklearn"]
        rows.append(
            (
                "count (1, 2)-grams of 1.6 million texts by class, `CountVectorizer`",
                f"{seconds(a['seconds'])}, {megabytes(a['peak_bytes'])}",
                f"{seconds(b['seconds'])}, {megabytes(b['peak_bytes'])}",
                times(a["seconds"], b["seconds"]),
            )
        )
    if prediction is not None:
        best, accuracy = prediction["best"], prediction["accuracy"]
        peer = "CountVectorizer + MultinomialNB"
        a, b = best["SparseTextNB"], best[peer]
        right = [f"{100 * accuracy[n]:.1f} %" for n in ("SparseTextNB", peer)]
        rows.append(
            (
                "classify 25,000 raw reviews, `CountVectorizer` + `MultinomialNB`",
                f"{seconds(a)}, {right[0]} right",
                f"{seconds(b)}, {right[1]} right",
                times(a, b),
            )
        )
    return rows or None


def wide_weights() -> list[Row] | None:
    """Weights at a wanted k beside one l1 fit at a known C."""
    content = stored(RESULTS / "wide_weights_speed.json")
    if content is None:
        return None
    rows = []
    for name, title in (("imdb", "IMDB"), ("newsgroups20", "20 newsgroups")):
        for size in content[name]["sizes"]:
            a = size["best"]["SelectiveMultinomialNB"]
            b = size["best"]["l1 logistic regression"]
            job = f"{size['k']:,} words of {title}, one l1 fit at a known C (liblinear)"
            rows.append((job, seconds(a), seconds(b), times(a, b)))
    return rows


def tables() -> list[Row] | None:
    """Classifiers of mixed tables."""
    folder = STUDIES / "table_classifiers"
    found, taken = table_classifiers.stored(folder), table_classifiers.fastest(folder)
    rows = []
    for peer, label in table_classifiers.LABELS.items():
        one = table_classifiers.compared(found, "SelectiveNB", peer)
        if not one["sets"]:
            continue
        ratios = table_classifiers.times_faster(taken, "SelectiveNB", peer).values()
        told = [
            f"AUC {one['AUC'][side]:.4f}, log loss {one['log loss'][side]:.4f}"
            for side in ("ours", "peer")
        ]
        times_told = f"{statistics.median(ratios):.1f} (median)" if ratios else ""
        rows.append((f"mixed tables, {one['sets']} sets, {label}", *told, times_told))
    wide = read_parts(folder).get("wide_rows", {"sides": {}})["sides"]
    for peer, label in table_classifiers.LABELS.items():
        if "SelectiveNB" in wide and peer in wide:
            a, b = wide["SelectiveNB"]["seconds"], wide[peer]["seconds"]
            job = f"a million rows x 50 columns, {label}"
            rows.append((job, seconds(a), seconds(b), times(a, b)))
    return rows or None


def stream_peers() -> list[Row] | None:
    """Streams, test then train; rows per second of the processors."""
    summary = scores(STUDIES / "streams")
    if not summary:
        return None
    ours = "SelectiveNB"
    names = [name for name in PEERS if all(name in s for s in summary.values())]
    streams = list(summary.values())
    loss = {
        n: statistics.fmean(s[n]["log loss"] for s in streams) for n in [ours, *names]
    }
    rows_of = sum(s[ours]["tested rows"] for s in streams)
    rate = {
        n: rows_of / sum(s[n]["tested rows"] / s[n]["rows per second"] for s in streams)
        for n in loss
    }
    return [
        (
            f"{len(streams)} streams, test then train, {name}",
            f"log loss {loss[ours]:.3f}, {rate[ours]:,.0f} rows/s",
            f"log loss {loss[name]:.3f}, {rate[name]:,.0f} rows/s",
            times(1.0 / rate[ours], 1.0 / rate[name]),
        )
        for name in names
    ]


def streams_lost() -> list[str]:
    """Return the streams on which one of the peers has the lower log loss."""
    return [
        name
        for name, sides in scores(STUDIES / "streams").items()
        if min(sides[peer]["log loss"] for peer in PEERS if peer in sides)
        < sides["SelectiveNB"]["log loss"]
    ]


SOURCES: tuple[tuple[str, Callable[[], list[Row] | None]], ...] = (
    ("results/fit_sparse.json", fit_sparse),
    ("results/cross_validation.json", cross_validation),
    ("results/screening_speed.json", screening_speed),
    ("results/text_counting.json, results/text_prediction.json", texts),
    ("results/wide_weights_speed.json", wide_weights),
    ("studies/results/table_classifiers", tables),
    ("studies/results/streams", stream_peers),
)


# ------------------------------------------------------------- the paper's experiments

SELECTORS = {  # the names of the two-stage study
    "likelihood": "ours, likelihood alone",
    "refined": "ours, refined by weights",
    "published": "published code",
    "tmnb": "thresholded naive Bayes",
    "odds_ratio": "odds ratio",
    "chi2": "chi2",
    "mutual_information": "mutual information",
    "l1_logistic": "l1 logistic, liblinear",
    "l1_saga": "l1 logistic, saga",
    "l1_svm": "l1 SVM",
    "lasso": "LASSO",
    "rfe_logistic": "logistic + RFE",
    "rfe_svm": "SVM + RFE",
    "abess": "abess",
    "mrmr": "mRMR",
}
MODELS = ("logistic", "svm", "mnb")


def two_stage(folder: Path = STUDIES / "two_stage") -> list[list[str]] | None:
    """Return accuracy at 5 % of the words of every selector less that of ours.

    Paired: the mean over the sets (count vectors) where the selector ended; points of
    accuracy for each model of stage 2.
    """
    difference: dict[str, dict[str, list[float]]] = {}
    for name, content in sorted(read_parts(folder).items()):
        if not name.endswith("_count"):
            continue
        at = {name: place for place, name in enumerate(content["columns"])}
        means: dict[str, dict[str, float]] = {}
        for key, rows in content["rows"].items():
            selector, _, share = key.rpartition(" ")
            ended = [row for row in rows if row[at["features"]]]
            if share == "5" and ended:
                means[selector] = {
                    m: statistics.fmean(row[at[m]] for row in ended) for m in MODELS
                }
        for selector, values in means.items():
            for model in MODELS if "likelihood" in means else ():
                less = 100 * (values[model] - means["likelihood"][model])
                difference.setdefault(selector, {}).setdefault(model, []).append(less)
    if not difference:
        return None
    return [
        [
            SELECTORS.get(selector, selector),
            *(f"{statistics.fmean(values[model]):+.1f}" for model in MODELS),
            str(len(values["logistic"])),
        ]
        for selector, values in difference.items()
    ]


def unlimited_features(folder: Path = STUDIES / "unlimited_features") -> str | None:
    """Return a sentence on all features: seconds and accuracy of every setting."""
    rows: list[dict[str, float]] = []
    for content in read_parts(folder).values():
        for values in content["rows"].values():
            rows += [dict(zip(content["columns"], r, strict=True)) for r in values]
    if not rows:
        return None

    def middle(top: str, below: str) -> float:
        return statistics.median(row[top] / row[below] for row in rows)

    gain = statistics.fmean(
        100 * (row["ours_accuracy"] - row["thresholded_accuracy"]) for row in rows
    )
    odds = statistics.fmean(
        100 * (row["ours_accuracy"] - row["odds_accuracy"]) for row in rows
    )
    return (
        f"All features, 0.01 to 1 % kept ({len(rows)} settings): a selection takes "
        f"{middle('ours_seconds', 'mnb_seconds'):.1f} times as long as a fit of plain "
        f"`MultinomialNB` and the published code "
        f"{middle('published_seconds', 'ours_seconds'):.1f} times as long as ours "
        f"(medians); naive Bayes on the words is {gain:+.1f} points beside thresholded "
        f"naive Bayes and {odds:+.1f} beside the odds ratio (means)."
    )


def further(folder: Path = STUDIES) -> list[str]:
    """Return the studies of the paper's experiments that are there, as links."""
    names = ("two_stage", "unlimited_features", "run_time_growth")
    return [n for n in names if (folder / n / "tables.md").is_file()]
