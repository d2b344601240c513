"""Texts and columns in one model, against either alone and logistic regression.

Two sets with both: Amazon reviews (text, domain; the label is the sentiment) and the
index of Debian's packages (description; priority, installed size, dependencies,
domain of the maintainer; the label is the section). In two more of Debian the columns,
or the descriptions, are shuffled among the packages, so that they say nothing. All
sides see the same rows of the same folds and have their usual settings. Seconds are
those of all processors together, which other work on the machine hardly changes.

`together`, `text` and `columns` are `SelectiveNB()` on all columns or some;
`wide text` is `CountVectorizer` and `SelectiveMultinomialNB()`; `logistic` is
scikit-learn's `ColumnTransformer` (`TfidfVectorizer`, `OneHotEncoder`, scaled numbers)
with `LogisticRegression`, and `logistic text` the same without the columns.

    python benchmarks/studies/texts_and_columns.py --quick    # few rows, a minute
    python benchmarks/studies/texts_and_columns.py            # half an hour
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from debian_packages import debian_packages
from ledger import Ledger, markdown, progress, read_data, read_parts, run_script
from probability_scores import all_classes, row_losses, stratified_folds
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from study_run import names_of, run_study, study_parser, surroundings_line

from bayesieve import SelectiveMultinomialNB, SelectiveNB

STUDY = "texts_and_columns"
SEED = 16
FOLDS = 5
ROWS = 8_000  # of Debian's packages, drawn by section
COLUMNS = ["accuracy", "loss", "seconds", "terms"]
SETS = {
    "amazon": "Amazon reviews",
    "debian": "Debian packages",
    "noise columns": "Debian packages, columns shuffled",
    "noise text": "Debian packages, descriptions shuffled",
}
METHODS = {
    "together": "SelectiveNB, text and columns",
    "text": "SelectiveNB, text",
    "columns": "SelectiveNB, columns",
    "wide text": "SelectiveMultinomialNB, text",
    "logistic": "LogisticRegression, text and columns",
    "logistic text": "LogisticRegression, text",
}
OURS = ["together", "text", "columns"]  # on the sets with noise


def read(name: str, rows: int) -> tuple[Any, np.ndarray, str] | None:
    """Return columns, labels and the name of the text; None where it is not there."""
    if name == "amazon":
        frame = read_data("amazon_mds")
        if frame is None:
            return None
        return frame[["text", "domain"]], frame["label"].to_numpy(), "text"
    found = debian_packages()
    if found is None:
        return None
    frame, section = found
    rng = np.random.default_rng(SEED)
    chosen = np.sort(rng.permutation(len(frame))[:rows])
    frame, section = frame.iloc[chosen].reset_index(drop=True), section[chosen]
    order = rng.permutation(len(frame))
    if name == "noise text":
        frame["description"] = frame["description"].to_numpy()[order]
    if name == "noise columns":
        for column in frame.columns[1:]:
            frame[column] = frame[column].to_numpy()[order]
    return frame, section, "description"


class WideText:
    """Counts of words, then weights: the text alone, as a matrix."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.vectorizer = CountVectorizer()
        self.model = SelectiveMultinomialNB()

    def fit(self, X: Any, y: Any) -> WideText:
        """Fit the text column."""
        self.model.fit(self.vectorizer.fit_transform(X[self.text]), y)
        self.classes_ = self.model.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the text column."""
        return self.model.predict_proba(self.vectorizer.transform(X[self.text]))


def logistic(frame: Any, text: str) -> Any:
    """Return scikit-learn's usual way to use both kinds of columns."""
    numbers = [n for n in frame if n != text and frame[n].dtype.kind == "f"]
    others = [n for n in frame if n != text and n not in numbers]
    steps: list[Any] = [("text", TfidfVectorizer(), text)]
    if others:
        steps.append(("other", OneHotEncoder(handle_unknown="ignore"), others))
    if numbers:
        scaled = make_pipeline(SimpleImputer(), StandardScaler())
        steps.append(("number", scaled, numbers))
    return make_pipeline(ColumnTransformer(steps), LogisticRegression(max_iter=1000))


def model_of(method: str, frame: Any, text: str) -> tuple[Any, list[str]]:
    """Return an estimator and the columns it sees."""
    names = [*frame]
    if method.endswith("text"):
        names = [text]
    elif method == "columns":
        names = [name for name in names if name != text]
    if method == "wide text":
        return WideText(text), names
    if method.startswith("logistic"):
        return logistic(frame[names], text), names
    return SelectiveNB(), names


def terms_of(model: Any) -> int:
    """Columns and n-grams that a fitted model uses."""
    if isinstance(model, WideText):
        return int(model.model.k_)
    if isinstance(model, SelectiveNB):
        terms = sum(map(len, model.text_terms_.values()))
        return int(terms + model._used_columns().size)
    return int(np.count_nonzero(np.abs(model[-1].coef_).sum(axis=0)))


def fitted(method: str, frame: Any, text: str, y: Any, train: Any, test: Any) -> list:
    """Return one row of COLUMNS."""
    model, names = model_of(method, frame, text)
    begin = time.process_time()
    model.fit(frame.iloc[train][names], y[train])
    seconds = time.process_time() - begin
    proba = model.predict_proba(frame.iloc[test][names])
    proba = all_classes(proba, model.classes_, int(y.max()) + 1)
    return [
        round(float((proba.argmax(axis=1) == y[test]).mean()), 6),
        round(float(row_losses(y[test], proba).mean()), 6),
        round(seconds, 3),
        terms_of(model),
    ]


def run(options: argparse.Namespace) -> None:
    """Do the folds that are missing, methods in turn."""
    rows = 2000 if options.quick else ROWS
    for name in options.sets:
        found = read(name, rows)
        if found is None:
            progress(f"{name}: not on this machine")
            continue
        frame, labels, text = found
        if options.quick:
            few = np.sort(np.random.default_rng(SEED).permutation(len(frame))[:rows])
            frame, labels = frame.iloc[few].reset_index(drop=True), labels[few]
        y = np.unique(labels, return_inverse=True)[1]
        header = {"study": STUDY, "data": name, "seed": SEED, "rows_of_set": len(frame)}
        book = Ledger(options.folder, name, columns=COLUMNS, **header)
        folds = stratified_folds(y, FOLDS, SEED)[: 1 if options.quick else FOLDS]
        for at, (train, test) in enumerate(folds):
            for method in OURS if name.startswith("noise") else METHODS:
                if book.done(method) > at:
                    continue
                row = fitted(method, frame, text, y, train, test)
                book.extend(method, at, [row])
                progress(f"{name}, fold {at}, {method}: {row}")


def _cell(values: np.ndarray, digits: int) -> str:
    """Return a mean and its standard error over the folds."""
    error = values.std(ddof=1) / np.sqrt(values.size) if values.size > 1 else 0.0
    return f"{values.mean():.{digits}f} ± {error:.{digits}f}"


def document(folder: Path) -> str:
    """Return the page of tables, from what is stored."""
    lines = ["# Texts and columns in one model", ""]
    lines += ["Means over folds and their standard errors; made by", ""]
    lines += [f"    python benchmarks/studies/{STUDY}.py", ""]
    parts = read_parts(folder)
    for name, title in SETS.items():
        if name not in parts:
            continue
        part = parts[name]
        body = []
        for method, called in METHODS.items():
            rows = np.array(part["rows"].get(method, []), dtype=np.float64)
            if rows.size:
                accuracy, loss, seconds, terms = rows.T
                body.append(
                    [
                        called,
                        _cell(100 * accuracy, 2),
                        _cell(loss, 4),
                        f"{np.median(seconds):.1f}",
                        f"{terms.mean():,.0f}",
                    ]
                )
        n_folds = max(len(rows) for rows in part["rows"].values())
        lines += [f"## {title}", "", f"{part['rows_of_set']:,} rows, {n_folds} folds."]
        head = ["", "accuracy, %", "log loss, nats", "processor seconds", "terms"]
        lines += ["", markdown(head, body).rstrip(), "", surroundings_line(part), ""]
    return "\n".join(lines).rstrip() + "\n"


def main() -> None:
    """Run what is missing and write the page."""
    parser = study_parser(STUDY, __doc__, "one fold of 2,000 rows")
    parser.add_argument("--sets", type=names_of(SETS), default=list(SETS))
    options = parser.parse_args()
    run_study(STUDY, options, run, document, parts=options.sets)


if __name__ == "__main__":
    run_script(main)
