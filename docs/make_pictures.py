"""Make the pictures of the documentation: every display, and the report in a browser.

Run from anywhere, in an environment with the test extra; the report needs a Chromium:

    python docs/make_pictures.py

Most data are the built-in messages or made from a fixed seed, so that a picture changes
only when the library does. Shapes and pairs are those of real tables, `NAME.parquet` in
the folder that BAYESIEVE_DATA names; their pictures stay as they are without it. Each
file stays below 150 KB.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from PIL import Image
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import train_test_split

import bayesieve
from bayesieve.datasets import load_sms_spam

FOLDER = Path(__file__).resolve().parent / "pictures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LARGEST = 150_000  # bytes


def main() -> None:
    """Make every picture and say how large it is."""
    FOLDER.mkdir(exist_ok=True)
    messages, labels = load_sms_spam(return_X_y=True)
    parts = train_test_split(messages, labels, stratify=labels, random_state=0)
    draw_displays(*parts)
    draw_shapes()
    draw_reports(*parts)
    for path in sorted(FOLDER.glob("*.png")):
        size = path.stat().st_size
        print(f"{path.name:28}{size / 1000:7.0f} KB")
        if size > LARGEST:
            raise SystemExit(f"{path.name} has {size:,} bytes, more than {LARGEST:,}.")


def people() -> tuple[pd.DataFrame, np.ndarray]:
    """A small table of numbers and categories, the one of the README grown up."""
    rng = np.random.default_rng(0)
    n = 4000
    age = rng.integers(18, 80, size=n)
    town = rng.choice(["Oslo", "Rome", "Lima", "Cairo", "Quito", "Bern"], size=n)
    income = rng.lognormal(10.2, 0.5, size=n).round(-2)
    chance = (
        0.15
        + 0.45 * ((age > 28) & (age <= 61))
        + 0.2 * np.isin(town, ["Rome", "Lima"])
        + 0.15 * (income > 30_000)
    )
    frame = pd.DataFrame(
        {
            "age": age,
            "town": town,
            "income": np.where(rng.random(n) < 0.05, np.nan, income),
            "height": rng.normal(170, 10, n).round(),
        }
    )
    return frame, np.where(rng.random(n) < chance, "bought", "left")


def save(display: Any, name: str) -> None:
    """Write a display in few colours, which keeps letters sharp and files small."""
    path = FOLDER / f"{name}.png"
    display.figure_.savefig(path, dpi=110, bbox_inches="tight", pad_inches=0.15)
    plt.close(display.figure_)
    shrink(path)


def shrink(path: Path) -> None:
    """Write a picture again with a palette."""
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def draw_displays(train: Any, test: Any, y_train: Any, y_test: Any) -> None:
    """Draw each display once."""
    vectorizer = CountVectorizer()
    X_train = vectorizer.fit_transform(train)
    names = vectorizer.get_feature_names_out()

    chosen = bayesieve.SparseMultinomialNBCV(keep_counts=True, choice="1se")
    chosen.fit(X_train, y_train)
    save(bayesieve.SparsityPathDisplay.from_estimator(chosen), "sparsity_path")

    selector = bayesieve.NaiveFeatureSelector(k=10)
    save(
        bayesieve.StabilityDisplay.from_estimator(
            selector, X_train, y_train, feature_names=names, random_state=0
        ),
        "stability",
    )

    model = bayesieve.SparseTextNB(k=20).fit(train, y_train)
    save(bayesieve.FeatureWeightsDisplay.from_estimator(model), "feature_weights")
    save(
        bayesieve.ReliabilityDisplay.from_estimator(model, test, y_test), "reliability"
    )

    frame, bought = people()
    table = bayesieve.SelectiveNB(optimizer="vns", random_state=0).fit(frame, bought)
    save(bayesieve.PartitionDisplay.from_estimator(table, "age"), "partition")
    save(bayesieve.WeightHistoryDisplay.from_estimator(table), "weight_history")

    weighted = weighted_model(X_train, y_train, names)
    save(bayesieve.WeightPathDisplay.from_estimator(weighted), "weight_path")
    save(bayesieve.DiscountDisplay.from_estimator(weighted), "discounts")


def draw_shapes() -> None:
    """Draw shapes, pairs and a row of real tables."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("BAYESIEVE_DATA", default))
    if not (folder / "uci_adult.parquet").is_file():
        print(f"Shapes are not drawn: there is no uci_adult.parquet in {folder}")
        return
    adult = pd.read_parquet(folder / "uci_adult.parquet")
    X, y = adult.drop(columns="label"), adult["label"]
    model = bayesieve.SelectiveNB().fit(X, y)
    for column, name in (("age", "shape_number"), ("education", "shape_category")):
        save(bayesieve.ShapeDisplay.from_estimator(model, column), name)
    pair = ("age", "education_num")
    save(bayesieve.PairDisplay.from_estimator(model, pair), "pair")
    row = bayesieve.ExplanationDisplay.from_estimator(model, X.iloc[[7]], max_terms=8)
    save(row, "explanation")
    board = pd.read_parquet(folder / "uci_tictactoe.parquet")
    model = bayesieve.SelectiveNB().fit(board.drop(columns="label"), board["label"])
    weights = zip(model.pair_weights_, model.pairs_, strict=True)
    line = max((w, own) for w, own in weights if len(own) == 3)[1]
    save(bayesieve.PairDisplay.from_estimator(model, line), "triple")


def weighted_model(X: Any, y: Any, names: np.ndarray) -> Any:
    """The classifier with weights, on a frame so that its features have names."""
    frame = pd.DataFrame.sparse.from_spmatrix(X, columns=names)
    model = bayesieve.SelectiveMultinomialNBCV(regularization=40, choice="1se")
    with warnings.catch_warnings():
        # scikit-learn says that pandas' sparse columns are made one matrix.
        warnings.simplefilter("ignore")
        return model.fit(frame, y)


def draw_reports() -> None:
    """Open reports of words and of a table in a browser and take their pictures."""
    browser = os.environ.get("BAYESIEVE_CHROMIUM") or next(
        filter(None, map(shutil.which, BROWSERS)), None
    )
    if browser is None:
        raise SystemExit("The report needs a browser: none of " + ", ".join(BROWSERS))
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "report.html"  # of the demo
        table = Path(folder) / "table.html"
        frame, bought = people()
        rows = np.arange(len(bought)) % 4 > 0
        model = bayesieve.SelectiveNB().fit(frame[rows], bought[rows])
        bayesieve.report(
            model, frame[~rows], bought[~rows], table, data_name="people.csv"
        )
        opened = driver.chromium.launch(executable_path=browser)
        draw_terminal(opened, Path(folder))
        for page, name, width, height, scheme in (
            (path, "report_light", 1000, 1240, "light"),
            (path, "report_dark", 1000, 1240, "dark"),
            (path, "report_narrow", 390, 1500, "light"),
            (table, "report_table", 1000, 1240, "light"),
        ):
            view = opened.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            view.goto(page.as_uri())
            view.screenshot(path=str(FOLDER / f"{name}.png"))
            if name == "report_light":
                view.locator("#path").scroll_into_view_if_needed()
                view.locator("#path").screenshot(path=str(FOLDER / "report_slider.png"))
                shrink(FOLDER / "report_slider.png")
            view.close()
            shrink(FOLDER / f"{name}.png")
        opened.close()


def draw_terminal(browser: Any, folder: Path) -> None:
    """What ``bayesieve demo`` prints, as it looks in a terminal."""
    done = subprocess.run(
        [sys.executable, "-m", "bayesieve.cli", "demo"],
        cwd=folder,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"},
    )
    shown = done.stdout.split("The whole picture")[0].rstrip()
    page = folder / "terminal.html"
    page.write_text(
        '<meta charset="utf-8"><style>body{margin:0;background:#16181d}'
        "pre{margin:0;padding:18px 22px;color:#dfe3ea;display:inline-block;"
        "font:14px/1.32 'DejaVu Sans Mono',monospace}b{color:#8fb6ff}</style>"
        f"<pre><b>$ bayesieve demo</b>\n{escape(shown)}</pre>",
        encoding="utf-8",
    )
    view = browser.new_page(viewport={"width": 900, "height": 800})
    view.goto(page.as_uri())
    view.locator("pre").screenshot(path=str(FOLDER / "terminal.png"))
    view.close()
    shrink(FOLDER / "terminal.png")


if __name__ == "__main__":
    main()
