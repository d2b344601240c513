"""Panels of marker genes for thirteen types of single cells.

Cord blood (CITE-seq, Stoeckius et al. 2017): 8,617 cells, 500 genes, 13 types of 3,086
down to 50 cells. On 70 % of the cells, stratified, every side chooses 13, 26 and 50
genes; logistic regression on their log1p counts, standardised, is trained on the same
cells and predicts the types of the other 30 %. The measure is macro-F1: every type
weighs the same. Five seeds of the split. cell_worker.py says how each peer is used, in
an environment that this script makes.

    python benchmarks/studies/single_cells.py --quick    # one split, a minute or two
    python benchmarks/studies/single_cells.py
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ledger import Ledger, markdown, progress, read_data, read_parts, run_script, timed
from own_environment import Worker, environment_python
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from study_run import run_study, study_parser, surroundings_line
from threadpoolctl import threadpool_limits

from bayesieve import NaiveFeatureSelector, SelectiveMultinomialNB

STUDY = "single_cells"
SIZES = [13, 26, 50]
SEEDS = 5
COLUMNS = [*(f"macro-F1 of {size}" for size in SIZES), "seconds"]
PATIENCE = 3600.0
HERE = Path(__file__).resolve().parent
ENVIRONMENT = Path(tempfile.gettempdir()) / "bayesieve_cells"
REQUIREMENTS = ("scanpy==1.11.5", "cosg==1.2.0")
#: Asks for the package "sklearn", which is gone; all it needs comes with scanpy.
WITHOUT_ITS_NEEDS = "scGeneFit==1.0.2"
PEERS = {
    "t-test": "t-test for each type (scanpy)",
    "wilcoxon": "Wilcoxon for each type (scanpy)",
    "logistic": "logistic regression for each type (scanpy)",
    "cosg": "COSG",
    "scgenefit": "scGeneFit",
}
Chosen = np.ndarray


def likelihood(X: Any, y: Any, k: int) -> Chosen:
    return NaiveFeatureSelector(k).fit(X, y).support_indices_


def balanced(X: Any, y: Any, k: int) -> Chosen:
    _, code, count = np.unique(y, return_inverse=True, return_counts=True)
    weights = len(y) / (count.size * count[code])
    return NaiveFeatureSelector(k).fit(X, y, sample_weight=weights).support_indices_


def one_for_each(X: Any, y: Any, k: int) -> Chosen:
    """Take the genes that tell each type from all others, types in turns."""
    ranks = []
    for name in np.unique(y):
        own = y == name
        weights = np.where(own, 0.5 / own.sum(), 0.5 / (~own).sum()) * len(y)
        selector = NaiveFeatureSelector(k, model="bernoulli")
        scores = selector.fit(X, own, sample_weight=weights).scores_
        ranks.append(np.argsort(-scores, kind="stable")[:k])
    return np.array(list(dict.fromkeys(np.array(ranks).T.ravel().tolist()))[:k])


def refined(X: Any, y: Any, k: int) -> Chosen:
    return NaiveFeatureSelector(k, refine=True).fit(X, y).support_indices_


def refined_logs(X: Any, y: Any, k: int) -> Chosen:
    return refined(np.log1p(X), y, k)


def selective_logs(X: Any, y: Any, k: int) -> Chosen:
    return SelectiveMultinomialNB(k=k).fit(np.log1p(X), y).support_indices_


OURS: dict[str, tuple[str, Callable[[Any, Any, int], Chosen]]] = {
    "refined logs": ("weights, log counts: refine=True", refined_logs),
    "selective logs": ("weights, log counts: SelectiveMultinomialNB", selective_logs),
    "refined": ("weights, counts: refine=True", refined),
    "one for each": ("likelihood, types in turns", one_for_each),
    "balanced": ("likelihood, types weigh the same", balanced),
    "likelihood": ("likelihood", likelihood),
}


def peer_python() -> Path:
    """Return the interpreter of the peers' environment, made when it is not there."""
    python = environment_python(ENVIRONMENT, REQUIREMENTS)
    alone = [str(python), "-m", "pip", "install", "-q", "--no-deps", WITHOUT_ITS_NEEDS]
    if subprocess.run([*alone[:3], "show", "-q", "scGeneFit"], check=False).returncode:
        subprocess.run(alone, check=True)
    return python


def split(y: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return training and test cells."""
    train, test = train_test_split(
        np.arange(y.shape[0]), test_size=0.3, stratify=y, random_state=seed
    )
    return train, test


def judged(X: np.ndarray, y: np.ndarray, genes: Any, train: Any, test: Any) -> float:
    """Return macro-F1 of logistic regression on some genes."""
    logs = np.log1p(X[:, np.asarray(genes, dtype=np.int64)])
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    predicted = model.fit(logs[train], y[train]).predict(logs[test])
    return float(f1_score(y[test], predicted, average="macro"))


def chosen_by_ours(name: str, X: Any, y: Any) -> dict[str, Any]:
    """Return the genes of every size, as a peer's answer."""
    choose = OURS[name][1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a gap, or fewer genes than asked for
        seconds, genes = timed(lambda: [choose(X, y, size) for size in SIZES])
    return {"ended": True, "genes": genes, "seconds": seconds}


def run(options: argparse.Namespace) -> None:
    """Do the splits that are missing, sides in turn."""
    frame = read_data("sc_citeseq")
    y = frame["label"].to_numpy().astype(str)
    X = frame.drop(columns="label").to_numpy()
    header = {"study": STUDY, "shape": list(X.shape), "types": len(set(y))}
    peers = {"peers": [*REQUIREMENTS, WITHOUT_ITS_NEEDS]}
    book = Ledger(options.folder, STUDY, columns=COLUMNS, **header, **peers)
    command = [str(peer_python()), str(HERE / "cell_worker.py")]
    around = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with (
        tempfile.TemporaryDirectory() as folder,
        threadpool_limits(1),
        Worker(command, around) as worker,
    ):
        rows = Path(folder) / "rows.npz"
        for seed in range(1 if options.quick else SEEDS):
            train, test = split(y, seed)
            np.savez(rows, X=X[train], y=y[train])
            for name in [*OURS, *PEERS]:
                if book.done(name) > seed:
                    continue
                if name in OURS:
                    found = chosen_by_ours(name, X[train], y[train])
                else:
                    asked = {"method": name, "rows": str(rows), "sizes": SIZES}
                    found = worker.answer({**asked, "seed": seed}, PATIENCE)
                if not found["ended"]:
                    progress(f"{name}: {found['why']}")
                    continue
                scores = [judged(X, y, g, train, test) for g in found["genes"]]
                row = [*(round(s, 5) for s in scores), round(found["seconds"], 2)]
                book.extend(name, seed, [row])
                progress(f"split {seed}, {name}: {row}")


def _cell(values: np.ndarray, best: bool) -> str:
    """Return a mean and its standard error over the splits."""
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else 0.0
    text = f"{values.mean():.3f} ± {error:.3f}"
    return f"**{text}**" if best else text


def document(folder: Path) -> str:
    """Return the page of tables, from what is stored."""
    part = read_parts(folder)[STUDY]
    rows = {name: np.array(r, dtype=np.float64) for name, r in part["rows"].items()}
    best = {
        size: max(r[:, i].mean() for r in rows.values()) for i, size in enumerate(SIZES)
    }
    splits = max(len(r) for r in rows.values())
    lines = ["# Panels of marker genes", ""]
    lines += [f"Macro-F1 on held-out cells, mean and standard error over {splits} "]
    lines[-1] += "splits; made by"
    lines += ["", f"    python benchmarks/studies/{STUDY}.py", ""]
    lines += ["## Macro-F1 by genes in the panel", ""]
    body = []
    titles = {**{name: title for name, (title, _) in OURS.items()}, **PEERS}
    for name, title in titles.items():
        if name not in rows:
            continue
        own = rows[name]
        cells = [
            _cell(own[:, i], own[:, i].mean() == best[size])
            for i, size in enumerate(SIZES)
        ]
        who = "ours" if name in OURS else "peer"
        body.append([title, who, *cells, f"{np.median(own[:, -1]):.1f}"])
    head = ["", "side", *(f"{size} genes" for size in SIZES), "seconds, three panels"]
    lines += [markdown(head, body).rstrip(), ""]
    lines += [
        "Every type weighs the same in macro-F1, and each side has one thread. Seconds "
        "are medians on a busy machine; bold is the best mean of a column.",
        "",
        "## Made with",
        "",
        f"{', '.join(part['peers'])}; {surroundings_line(part)}",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run what is missing and write the page."""
    options = study_parser(STUDY, __doc__, "one split").parse_args()
    run_study(STUDY, options, run, document)


if __name__ == "__main__":
    run_script(main)
