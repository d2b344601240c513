"""A wide CSV file, 102 rows by 12,600 columns: `select` against pandas and the fit.

The rows are made up, of the size of a gene set. The command reads the file, holds rows
out, fits and evaluates; the other side is `pandas.read_csv` and the same fit.
"""

from __future__ import annotations

import io
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pandas as pd

from bayesieve import SelectiveNB, SparseGaussianNB
from bayesieve.cli import main as command
from measurement import interleaved, option_parser, report, target

SEED = 0
MODELS = {"gaussian": SparseGaussianNB(k=20), "auto": SelectiveNB(k=20)}


def select(path: Path, model: str) -> None:
    """Run the command as a user does, its page thrown away."""
    arguments = ["select", str(path), "--label", "label", "--model", model, "-k", "20"]
    with redirect_stdout(io.StringIO()):
        command(arguments)


def read_and_fit(path: Path, model: str) -> None:
    """The same by hand."""
    frame = pd.read_csv(path)
    MODELS[model].fit(frame.drop(columns="label"), frame["label"])


def main() -> None:
    """Measure, print and store."""
    options = option_parser("wide_csv", __doc__).parse_args()
    rows, columns = (102, 600) if options.quick else (102, 12_600)
    values = np.random.default_rng(SEED).normal(size=(rows, columns)).round(4)
    frame = pd.DataFrame(values).add_prefix("g")
    frame.insert(0, "label", np.where(np.arange(rows) % 2, "tumour", "normal"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "genes.csv"
        frame.to_csv(path, index=False)
        sides = {"pandas.read_csv": lambda: pd.read_csv(path)}
        for model in MODELS:
            sides[f"select {model}"] = lambda model=model: select(path, model)
            sides[f"by hand {model}"] = lambda model=model: read_and_fit(path, model)
        seconds = interleaved(sides, 2 if options.quick else 5)
    best = {name: min(spent) for name, spent in seconds.items()}
    for name, spent in best.items():
        print(f"{name:18} {spent:6.2f} s")
    targets = [
        target(
            f"select / (read_csv and fit), {model}",
            best[f"select {model}"] / best[f"by hand {model}"],
            most=2,
        )
        for model in MODELS
    ]
    results = {"rows": rows, "columns": columns, "seconds": seconds, "targets": targets}
    report("wide_csv", options, SEED, results)


if __name__ == "__main__":
    main()
