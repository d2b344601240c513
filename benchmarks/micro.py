"""Run the asv suite of micro-benchmarks and keep its figures as one small JSON file.

`asv` (the `bench` extra) runs benchmarks/asv with the installed package. Its own result
file has the same figures and one for each machine and commit; this one goes with the
repository, and the tables of README.md are made from it (`--tables-only`).
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measurement import HERE, option_parser, report

SUITE = HERE / "asv"
README = HERE / "README.md"
SHOWN = (  # in the readme; the JSON has all
    "counts.FromMatrix.time_counts",
    "counts.Arithmetic.time_merge",
    "solve.Multinomial.time_solve",
    "solve.Bernoulli.time_solve",
    "path.Path.time_path",
    "weights.Wide.time_fit",
    "screen.Screeners.time_fit",
    "text.Counting.time_count",
    "predict.Rows.time_predict_proba",
    "predict.Texts.time_predict_proba",
)
BEGIN, END = "<!-- micro: made by micro.py -->\n", "<!-- end of micro -->\n"


# ------------------------------------------------------------------------- running asv


def run_asv(folder: Path, *, quick: bool, bench: str | None) -> None:
    """Run the suite; asv writes to the folder and to nothing else."""
    text = (SUITE / "asv.conf.json").read_text(encoding="utf-8")
    places = {"results_dir": folder / "results", "env_dir": folder / "env"}
    settings = json.loads("\n".join(_without_comments(text)))
    settings |= {name: str(path) for name, path in places.items()}
    settings |= {"benchmark_dir": str(SUITE / "micro"), "repo": str(HERE.parent)}
    config = folder / "asv.conf.json"
    config.write_text(json.dumps(settings), encoding="utf-8")
    asv = [sys.executable, "-m", "asv"]
    around = {**os.environ, "HOME": str(folder)}  # where asv keeps the machine's name
    subprocess.run(
        [*asv, "machine", "--yes", "--machine", "here", "--config", str(config)],
        check=True,
        env=around,
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"],
        check=True,
        cwd=HERE,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.strip()
    command = [*asv, "run", "--python", "same", "--machine", "here"]
    command += ["--config", str(config), "--set-commit-hash", commit]
    if quick:  # `asv run --quick` keeps nothing: one repetition of each instead
        command += ["-a", "repeat=1", "-a", "warmup_time=0"]
    if bench:
        command += ["--bench", bench]
    subprocess.run(command, check=True, env=around, cwd=folder)


def _without_comments(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.lstrip().startswith("//")]


def read_results(folder: Path) -> dict[str, Any]:
    """Return what asv wrote: parameters, medians and quartiles of every benchmark."""
    about = json.loads((folder / "results" / "benchmarks.json").read_text("utf-8"))
    (file,) = (folder / "results" / "here").glob("*-existing-*.json")
    return converted(json.loads(file.read_text("utf-8")), about)


def converted(stored: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """Return asv's result file in words, with one list for all combinations."""
    names = stored["result_columns"]
    result = {}
    for name, row in sorted(stored["results"].items()):
        fields = dict(zip(names, row, strict=False))
        if fields["result"] is None:
            continue
        result[name] = {
            "unit": about[name]["unit"],
            "param_names": about[name]["param_names"],
            "params": fields["params"],
            "median": [_rounded(value) for value in fields["result"]],
        }
        if fields.get("stats_repeat"):
            result[name] |= {
                "quartile_1": [_rounded(v) for v in fields["stats_q_25"]],
                "quartile_3": [_rounded(v) for v in fields["stats_q_75"]],
                "repeats": fields["stats_repeat"],
            }
    return result


def _rounded(value: float | None) -> float | None:
    return None if value is None or value != value else float(f"{value:.4g}")


# -------------------------------------------------------------------------- the tables


def shown(value: float | None, unit: str) -> str:
    """Return a figure with its unit, two or three digits of it."""
    if value is None:
        return "failed"
    if unit == "bytes":
        return f"{value / 1e6:.0f} MB"
    for factor, name in ((1, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if value >= factor:
            scaled = value / factor
            digits = 0 if scaled >= 100 else 1 if scaled >= 10 else 2
            return f"{scaled:.{digits}f} {name}"
    return f"{value / 1e-9:.0f} ns"


def plain(value: str) -> str:
    """Return a parameter as people write it."""
    value = value.strip("'\"")
    return f"{int(value):,}" if value.isdigit() else value


def table(one: dict[str, Any]) -> str:
    """Return a benchmark as Markdown: the last parameter across, the others down."""
    *down, across = one["params"]
    *down_names, across_name = one["param_names"]
    heads = [f"{across_name} {plain(value)}" for value in across]
    lines = [[*down_names, *heads]]
    lines.append([*[":---"] * len(down), *["---:"] * len(across)])
    medians = iter(one["median"])
    for combination in itertools.product(*down):
        figures = [shown(next(medians), one["unit"]) for _ in across]
        lines.append([*map(plain, combination), *figures])
    if not down:
        lines = [["", *lines[0]], [":---", *lines[1]], ["median", *lines[2]]]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def tables(content: dict[str, Any], names: Sequence[str] = SHOWN) -> str:
    """Return benchmarks as Markdown, with what they depend on at the top."""
    packages = ", ".join(f"{n} {v}" for n, v in content["packages"].items())
    load = content["load_average"][0]
    parts = [
        f"Medians of {content['date'][:10]}, {packages}, Python {content['python']}, "
        f"{content['processor']}, {content['processors']} processors, load {load:g}.\n"
    ]
    kept = [name for name in names if name in content["benchmarks"]]
    for name in kept:
        parts.append(f"\n`{name}`\n\n{table(content['benchmarks'][name])}")
    return "".join(parts)


def with_tables(readme: str, content: dict[str, Any]) -> str:
    """Return the readme with its part of micro-benchmarks made anew."""
    head, _, rest = readme.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{tables(content)}\n{END}{tail}"


# --------------------------------------------------------------------------------- all


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = option_parser("micro", __doc__)
    parser.add_argument("--bench", help="a regular expression: which benchmarks")
    parser.add_argument(
        "--tables-only", action="store_true", help="write the tables of README.md anew"
    )
    return parser.parse_args(arguments)


def main() -> None:
    options = parse()
    if not options.tables_only:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            bench = options.bench
            if options.quick:
                bench = bench or "Arithmetic|Selector|Texts"
                options.output = Path(tempfile.mkdtemp()) / "micro.json"
            run_asv(place, quick=options.quick, bench=bench)
            report("micro", options, None, {"benchmarks": read_results(place)})
    content = json.loads(options.output.read_text(encoding="utf-8"))
    if options.quick:
        print(tables(content, list(content["benchmarks"])))
        return
    text = README.read_text(encoding="utf-8")
    README.write_text(with_tables(text, content), encoding="utf-8")
    print(f"written: {README}")


if __name__ == "__main__":
    main()
