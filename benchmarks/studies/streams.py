"""Test, then train: SelectiveNB.partial_fit beside River and CapyMOA on streams.

Five synthetic streams of River, each without drift and with an abrupt one at half, and
the classification sets that River's wheel carries. Ours predicts a chunk of rows, then
learns it, and so does River's GaussianNB with `learn_many`; the others predict and
learn row by row. All have their default settings, but for ten trees in place of a
hundred in CapyMOA's adaptive random forest. All are scored on the same rows, from the
second chunk on. Log loss is in nats a row and probabilities below 1e-6 are raised to it
(a tree often answers 0). The stream is made beforehand; rows per second are of
predicting and learning alone, by the Python interface of each. The seconds are those of
the processors, all threads together: other work on the machine does not matter.

The peers have an environment of their own, which must also see bayesieve and
matplotlib; CapyMOA needs Java:

    python -m venv stream-env
    stream-env/bin/pip install river capymoa matplotlib pandas .
    stream-env/bin/python benchmarks/studies/streams.py    # --quick: short streams
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from candidates import add_option, kept, key_of, make
from ledger import Ledger, markdown, progress, read_parts, run_script
from probability_scores import row_losses
from study_run import names_of, run_study, study_parser

STUDY = "streams"
SEED = 20240601
CLIP = 1e-6
PEERS = (
    "River GaussianNB",
    "River GaussianNB.learn_many",
    "River HoeffdingTree",
    "River HoeffdingAdaptiveTree",
    "CapyMOA NaiveBayes",
    "CapyMOA HoeffdingTree",
    "CapyMOA HoeffdingAdaptiveTree",
    "CapyMOA AdaptiveRandomForest",
)
OURS = ([], ["pairs=0"], ["partitions=best"])
PACKAGES = ("river", "capymoa")
FOREST_SIZE = 10  # a hundred trees, its default, learn 300 rows a second
SYNTHETIC = ("agrawal", "led", "sea", "waveform", "mixed")
BUNDLED = ("phishing", "segments", "bananas", "shuttle")
STREAMS = (
    *(f"{name}{end}" for name in SYNTHETIC for end in ("", "_drift")),
    *BUNDLED,
)
COLUMNS = ["rows", "log loss", "errors", "seconds", "kept"]
ROWS, LOSS, ERRORS, TOOK, KEPT = range(len(COLUMNS))
Pair = tuple[dict[Any, Any], Any]


class Stream(NamedTuple):
    """A materialised stream: rows for River, a table for us, codes of the classes."""

    name: str
    dicts: list[dict[str, float]]
    frame: Any
    y: np.ndarray
    classes: list[Any]


# --------------------------------------------------------------------------- streams


def concept(name: str, changed: bool) -> Iterator[Pair]:
    """Return the endless stream of one concept, before or after the drift."""
    from river.datasets import synth

    seed = SEED + changed
    if name == "agrawal":
        function = 2 if changed else 0
        return iter(synth.Agrawal(classification_function=function, seed=seed))
    if name == "led":
        # Drift: the seven segments trade places with irrelevant bits. (River inverts a
        # bit with 0.01 less than it is told, so with probability 0.09.)
        drifting = 7 if changed else 0
        bits = {"noise_percentage": 0.1, "irrelevant_features": True}
        return iter(synth.LEDDrift(seed=seed, n_drift_features=drifting, **bits))
    if name == "sea":
        return iter(synth.SEA(variant=3 if changed else 0, noise=0.1, seed=seed))
    if name == "mixed":
        return iter(synth.Mixed(classification_function=int(changed), seed=seed))
    rows = iter(synth.Waveform(seed=seed, has_noise=True))
    # River's waveform knows one concept: the other has its columns moved by ten.
    return ((rotated(x, 10), y) for x, y in rows) if changed else rows


def rotated(x: dict[Any, Any], by: int) -> dict[Any, Any]:
    """Return the same keys with every value moved by some places."""
    values = list(x.values())
    return dict(zip(x, values[-by:] + values[:-by], strict=True))


def pairs_of(name: str, rows: int) -> Iterator[Pair]:
    """Return the rows of a stream, in order.

    River's ConceptDriftStream cannot be abrupt this late (its logistic weight overflows
    for a width of 1), so the two concepts are put one after the other.
    """
    from river import datasets

    if name in BUNDLED:
        source = {
            "phishing": datasets.Phishing,
            "segments": datasets.ImageSegments,
            "bananas": datasets.Bananas,
            "shuttle": datasets.Shuttle,
        }[name]()
        return itertools.islice(source, rows)
    base, drift, _ = name.partition("_drift")
    first = rows // 2 if drift else rows
    return itertools.chain(
        itertools.islice(concept(base, False), first),
        itertools.islice(concept(base, True), rows - first),
    )


def materialise(name: str, rows: int) -> Stream:
    """Return a stream as a whole, in the form of either side."""
    import pandas as pd

    xs, ys = [], []
    for x, y in pairs_of(name, rows):
        xs.append({str(key): float(value) for key, value in x.items()})
        ys.append(y)
    classes = sorted(set(ys))
    code = {label: at for at, label in enumerate(classes)}
    y = np.array([code[label] for label in ys])
    return Stream(name, xs, pd.DataFrame(xs), y, classes)


def chunk_size(name: str, options: argparse.Namespace) -> int:
    """Return the rows of a chunk: the small bundled sets would have but one or two."""
    return options.chunk if name not in BUNDLED[:3] else max(1, options.chunk // 10)


# ---------------------------------------------------------------------------- models


def river_model(name: str) -> Any:
    """Return a new model of River at its default settings."""
    from river import naive_bayes, tree

    if name.startswith("River GaussianNB"):
        return naive_bayes.GaussianNB()
    if name == "River HoeffdingTree":
        return tree.HoeffdingTreeClassifier()
    return tree.HoeffdingAdaptiveTreeClassifier(seed=SEED)


def capymoa_model(name: str, schema: Any) -> Any:
    """Return a new model of CapyMOA, the forest with fewer trees than by default."""
    from capymoa import classifier

    if name == "CapyMOA AdaptiveRandomForest":
        return classifier.AdaptiveRandomForestClassifier(
            schema, ensemble_size=FOREST_SIZE
        )
    return getattr(classifier, name.removeprefix("CapyMOA "))(schema)


def peer_step(name: str, stream: Stream) -> Callable[[slice], tuple[Any, float, float]]:
    """Return a function that tests and trains a peer on a chunk."""
    if name.startswith("CapyMOA"):
        return by_instance(name, stream)
    model = river_model(name)
    return by_many(model, stream) if "many" in name else by_row(model, stream)


def by_row(model: Any, stream: Stream) -> Callable[[slice], tuple[Any, float, float]]:
    """Return a function that tests and trains a River model on a chunk."""
    labels = stream.y.tolist()

    def step(rows: slice) -> tuple[Any, float, float]:
        answers = []
        begin = time.process_time()
        for x, y in zip(stream.dicts[rows], labels[rows], strict=True):
            answers.append(model.predict_proba_one(x))
            model.learn_one(x, y)
        seconds = time.process_time() - begin
        proba = np.zeros((len(answers), len(stream.classes)))
        for at, answer in enumerate(answers):
            for label, value in answer.items():
                proba[at, label] = value
        # Constant columns can make River's Gaussian answer NaN: as unlikely as may be.
        return np.nan_to_num(proba, nan=0.0), seconds, float("nan")

    return step


def by_many(model: Any, stream: Stream) -> Callable[[slice], tuple[Any, float, float]]:
    """Return a function that tests and trains a River model on a chunk at once."""
    import pandas as pd

    y = pd.Series(stream.y)

    def step(rows: slice) -> tuple[Any, float, float]:
        X = stream.frame.iloc[rows]
        begin = time.process_time()
        answer = model.predict_proba_many(X)
        model.learn_many(X, y.iloc[rows])
        seconds = time.process_time() - begin
        proba = np.zeros((X.shape[0], len(stream.classes)))
        for label in answer:
            proba[:, label] = answer[label]
        return np.nan_to_num(proba, nan=0.0), seconds, float("nan")

    return step


def by_instance(
    name: str, stream: Stream
) -> Callable[[slice], tuple[Any, float, float]]:
    """Return a function that tests and trains a CapyMOA model on a chunk."""
    from capymoa.stream import NumpyStream

    n_classes = len(stream.classes)
    source = NumpyStream(stream.frame.to_numpy(np.float64), stream.y)
    model = capymoa_model(name, source.get_schema())
    equal = np.full(n_classes, 1.0 / n_classes)

    def step(rows: slice) -> tuple[Any, float, float]:
        answers = []
        begin = time.process_time()
        for _ in range(rows.start, rows.stop):
            instance = source.next_instance()
            answers.append(model.predict_proba(instance))
            model.train(instance)
        seconds = time.process_time() - begin
        proba = np.zeros((len(answers), n_classes))
        for at, answer in enumerate(answers):
            # No answer before the first rows; no class beyond those met so far.
            known = equal if answer is None else answer
            proba[at, : len(known)] = known
        total = proba.sum(axis=1, keepdims=True)
        proba = np.where(total > 0, proba / np.where(total > 0, total, 1.0), equal)
        return np.nan_to_num(proba, nan=0.0), seconds, float("nan")

    return step


def by_chunk(model: Any, stream: Stream) -> Callable[[slice], tuple[Any, float, float]]:
    """Return a function that tests and trains one of ours on a chunk."""
    classes = np.arange(len(stream.classes))
    started = False

    def step(rows: slice) -> tuple[Any, float, float]:
        nonlocal started
        X, y = stream.frame.iloc[rows], stream.y[rows]
        proba = np.full((X.shape[0], classes.shape[0]), 1.0 / classes.shape[0])
        begin = time.process_time()
        if started:
            proba = model.predict_proba(X)
        model.partial_fit(X, y, classes=classes)
        seconds = time.process_time() - begin
        started = True
        return proba, seconds, float(kept(model))

    return step


def run_model(step: Callable, stream: Stream, chunk: int) -> list[list[float]]:
    """Return one row of COLUMNS for each chunk."""
    result = []
    for start in range(0, stream.y.shape[0], chunk):
        rows = slice(start, min(start + chunk, stream.y.shape[0]))
        proba, seconds, kept_now = step(rows)
        y = stream.y[rows]
        loss = float(row_losses(y, proba, CLIP).sum())
        errors = int((proba.argmax(axis=1) != y).sum())
        kept_now = None if np.isnan(kept_now) else kept_now
        result.append([y.shape[0], loss, errors, round(seconds, 6), kept_now])
    return result


def run(options: argparse.Namespace) -> None:
    """Run the models that are missing; a model's rows are written when it has ended."""
    for name in options.streams:
        chunk = chunk_size(name, options)
        rows = options.rows if name not in BUNDLED else options.bundled_rows
        stream = None
        book = Ledger(
            options.folder,
            name,
            columns=COLUMNS,
            study=STUDY,
            stream=name,
            seed=SEED,
            most_rows=rows,
            chunk=chunk,
            clip=CLIP,
            **{package: version(package) for package in PACKAGES},
        )
        models = [] if options.ours_only else options.peers
        ours = {} if options.peers_only else {key_of(w): w for w in options.ours}
        for model in [*models, *ours]:
            if options.again:
                book.rows.pop(model, None)
            if book.done(model):
                continue
            stream = stream or materialise(name, rows)
            if model in ours:
                step = by_chunk(make(ours[model]), stream)
            else:
                step = peer_step(model, stream)
            book.extend(model, 0, run_model(step, stream, chunk))
            facts = summary_of(book.rows[model])
            progress(
                f"{name} {model}: log loss {facts['log loss']:.4f}, accuracy "
                f"{facts['accuracy']:.4f}, {facts['rows per second']:,.0f} rows/s"
            )


# ---------------------------------------------------------------------------- tables


def summary_of(rows: list[list[Any]]) -> dict[str, Any]:
    """Return the scores of one model on one stream, first chunk left out."""
    scored = rows[1:]
    tested = sum(row[ROWS] for row in scored)
    return {
        "tested rows": tested,
        "log loss": sum(row[LOSS] for row in scored) / tested,
        "accuracy": 1.0 - sum(row[ERRORS] for row in scored) / tested,
        "rows per second": sum(row[ROWS] for row in rows)
        / sum(row[TOOK] for row in rows),
        "kept at the end": rows[-1][KEPT],
    }


def stored(folder: Path) -> dict[str, dict[str, Any]]:
    """Return all streams that are in a folder."""
    parts = read_parts(folder)
    return {name: parts[name] for name in STREAMS if name in parts}


def scores(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Return stream -> model -> its scores."""
    return {
        name: {model: summary_of(rows) for model, rows in study["rows"].items()}
        for name, study in stored(folder).items()
    }


def overall(
    facts: dict[str, dict[str, dict[str, Any]]],
) -> tuple[list[str], list[list[str]]]:
    """Return head and body of the table of models that ran on every stream."""
    streams = list(facts.values())
    body = []
    for model in [m for m in streams[0] if all(m in found for found in streams)]:
        own = [found[model] for found in streams]
        tested = sum(values["tested rows"] for values in own)
        seconds = sum(v["tested rows"] / v["rows per second"] for v in own)
        lowest = sum(
            found[model]["log loss"] == min(v["log loss"] for v in found.values())
            for found in streams
        )
        loss = sum(values["log loss"] for values in own) / len(own)
        accuracy = sum(values["accuracy"] for values in own) / len(own)
        rate = tested / seconds
        body.append(
            [model, f"{loss:.4f}", f"{accuracy:.4f}", str(lowest), f"{rate:,.0f}"]
        )
    head = ["", "mean log loss", "mean accuracy", "lowest loss on", "rows per second"]
    return head, sorted(body, key=lambda line: float(line[1]))


def document(folder: Path) -> str:
    """Return the page of tables."""
    studies, facts = stored(folder), scores(folder)
    models = list(dict.fromkeys(model for found in facts.values() for model in found))
    parts = [
        "# Streams: test, then train\n",
        "Written by `streams.py`. All models are scored on the same rows, from the",
        "second chunk on; the best is bold. `_drift`: the concept changes at half.\n",
    ]
    parts += ["## All streams\n", markdown(*overall(facts))]
    for title, key, form, best in (
        (
            f"Log loss, nats a row, probabilities at least {CLIP:g}",
            "log loss",
            ".4f",
            min,
        ),
        ("Accuracy", "accuracy", ".4f", max),
        (
            "Rows per processor second, testing and training",
            "rows per second",
            ",.0f",
            max,
        ),
    ):
        body = []
        for name, found in facts.items():
            values = [found.get(model, {}).get(key) for model in models]
            top = best(value for value in values if value is not None)
            cells = ["" if value is None else f"{value:{form}}" for value in values]
            for at, value in enumerate(values):
                if value == top:
                    cells[at] = f"**{cells[at]}**"
            rows = next(iter(found.values()))["tested rows"]
            body.append([name, f"{rows:,}", str(studies[name]["chunk"]), *cells])
        head = ["", "rows tested", "chunk", *models]
        parts += [f"## {title}\n", markdown(head, body)]
    body = [
        [name, model, f"{values['kept at the end']:.0f}"]
        for name, found in facts.items()
        for model, values in found.items()
        if values["kept at the end"] is not None
    ]
    if body:
        parts += [
            "## Variables kept at the end\n",
            markdown(["", "model", "kept"], body),
        ]
    return "\n".join(parts)


def draw(folder: Path) -> None:
    """Draw a figure for each stream."""
    for name, study in stored(folder).items():
        plot(name, study, folder / f"{name}.png")


def plot(name: str, study: dict[str, Any], path: Path) -> None:
    """Draw the log loss of every chunk over the rows of one stream."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(8, 4), layout="constrained")
    for model, rows in study["rows"].items():
        values = np.array([row[: TOOK + 1] for row in rows], dtype=np.float64)
        end = np.cumsum(values[:, ROWS])
        axes.plot(end[1:], (values[:, LOSS] / values[:, ROWS])[1:], label=model, lw=1)
    if name.endswith("_drift"):
        axes.axvline(end[-1] / 2, color="grey", lw=0.8, ls=":")
    axes.set(
        title=name,
        xlabel="rows seen",
        ylabel=f"log loss of a chunk of {study['chunk']} rows (nats a row)",
    )
    axes.legend(frameon=False)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = study_parser(STUDY, __doc__, "3,000 rows a stream")
    add = parser.add_argument
    add("--streams", type=names_of(STREAMS), default=STREAMS, help="(all)")
    add("--rows", type=int, help="rows of a synthetic stream (50,000)")
    add("--chunk", type=int, help="rows of a chunk (1,000; small real sets a tenth)")
    add("--peers", type=names_of(PEERS), default=PEERS, help="their models (all)")
    add("--peers-only", action="store_true")
    add("--ours-only", action="store_true")
    add_option(parser)
    options = parser.parse_args(arguments)
    options.ours = options.ours or OURS
    options.rows = options.rows or (3_000 if options.quick else 50_000)
    options.chunk = options.chunk or (500 if options.quick else 1_000)
    options.bundled_rows = 2_000 if options.quick else 1_000_000
    return options


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    missing = [package for package in PACKAGES if not find_spec(package)]
    if missing and not options.tables_only:
        how = "\n".join(__doc__.splitlines()[-5:]).rstrip()
        names = " and ".join(missing)
        sys.exit(f"Not installed here: {names}. Hint:\n\n{how}")
    whole = list(options.peers) == list(PEERS) and not (
        options.peers_only or options.ours_only
    )
    run_study(
        STUDY, options, run, document, draw, parts=options.streams if whole else ()
    )


if __name__ == "__main__":
    run_script(main)
