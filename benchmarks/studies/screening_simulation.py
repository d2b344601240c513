"""Rerun Tables 1 and 2 of Guan, Shan and Guo: screening simulated binary data.

Three equal classes; n rows, p binary columns, the first d0 of them depend on the class.
theta ~ U[0.1, 0.9] is drawn once for each d0 and kept over replications, n and p: the
paper's small standard errors, and errors of naive Bayes that hardly change with p, say
that it was so there. That draw is not published, and PIZ and AMR depend on it, so the
study repeats all of it for further draws of theta and states their spread.

PCZ: share of the irrelevant columns left out. PIZ: share of the relevant columns left
out. AMR: misclassification of naive Bayes on the selected columns, 1,000 test rows. All
in percent; in brackets the standard deviation over replications (the paper's "SE").
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from comparators import as_floats, comparators, count_errors, naive_bayes
from joblib import Parallel, delayed
from ledger import Ledger, blocks, markdown, progress, read_parts, run_script
from study_run import run_study, study_parser

import bayesieve

STUDY = "screening_simulation"
SEED = 20170104
N_CLASSES = 3
N_TEST = 1_000
WIDEST = 1_000
BOOSTS = 200
SPACE = "\N{NO-BREAK SPACE}"  # so that "99.8 (0.2)" is never broken
SCREENERS = ("PC-SIS", "L1NB", "L0NB")
SLOW = ("KNN", "AdaB", "RF", "SVM")
SCREENING_COLUMNS = [
    *(f"{name} {what}" for name in SCREENERS for what in ("kept", "missed", "errors")),
    "NB errors",
]


@dataclass(frozen=True, order=True)
class Setting:
    """One line of the paper's tables."""

    p: int
    d0: int
    n: int

    @property
    def name(self) -> str:
        return f"p{self.p}_d{self.d0}_n{self.n}"


SETTINGS = [
    Setting(p, d0, n)
    for p in (500, 1000)
    for d0 in (20, 30, 50)
    for n in (500, 1000, 2000)
]

# Guan, Shan and Guo, "Feature screening for ultrahigh dimensional binary data",
# Statistics and Its Interface, Table 1 (500 replications), in the order of SETTINGS:
# PCZ of PC-SIS, L1NB, L0NB, then PIZ of the same.
PAPER_TABLE_1 = """
27.3(44.3) 99.7(0.3)  99.8(0.2)  3.5(6.2) 9.5(3.1)  8.3(2.8)
47.6(49.8) 99.9(0.1)  99.9(0.2)  4.4(5.1) 6.7(2.5)  5.8(2.4)
62.1(48.4) 100.0(0.1) 100.0(0.1) 4.5(4.0) 4.9(1.2)  4.4(1.7)
10.0(29.4) 99.6(0.4)  99.8(0.2)  2.0(7.1) 12.1(3.8) 9.8(3.3)
25.3(43.2) 99.9(0.2)  99.9(0.2)  2.5(4.9) 7.1(2.6)  5.9(2.5)
39.2(48.7) 100.0(0.1) 100.0(0.1) 2.6(3.9) 4.0(1.6)  3.3(1.7)
4.9(20.4)  99.4(0.5)  99.8(0.2)  0.8(4.1) 15.0(3.3) 12.4(2.4)
17.0(37.1) 99.7(0.3)  99.9(0.1)  1.9(4.7) 9.3(2.3)  8.4(1.9)
25.1(43.0) 99.9(0.1)  100.0(0.1) 2.5(4.5) 6.0(1.9)  5.2(1.9)
24.7(43.0) 99.7(0.2)  99.8(0.2)  3.6(7.6) 9.9(3.3)  8.1(2.8)
47.5(49.9) 99.9(0.1)  99.9(0.1)  4.6(5.3) 7.1(2.5)  5.7(2.4)
57.5(49.4) 100.0(0.1) 100.0(0.1) 4.3(4.2) 5.1(1.0)  4.5(1.7)
9.6(29.1)  99.7(0.3)  99.8(0.1)  2.4(9.8) 13.3(3.7) 10.0(3.1)
22.5(41.7) 99.9(0.1)  99.9(0.1)  2.5(5.7) 7.6(2.7)  5.8(2.4)
36.9(48.2) 100.0(0.1) 100.0(0.1) 2.6(3.9) 4.4(1.7)  3.5(1.6)
3.8(18.6)  99.5(0.3)  99.8(0.2)  1.0(6.3) 16.5(3.5) 12.4(2.5)
12.0(32.2) 99.8(0.2)  99.9(0.1)  1.4(4.0) 10.1(2.4) 8.5(2.0)
22.4(41.5) 99.9(0.1)  100.0(0.1) 2.2(4.3) 6.4(1.9)  5.2(1.8)
"""
# Table 2 of the same: AMR on the true model of KNN, AdaB, RF, SVM and NB, then of NB on
# the columns of PC-SIS, L1NB and L0NB.
PAPER_TABLE_2 = """
11.3(2.2) 10.5(1.4) 8.9(1.0) 10.2(1.3) 6.7(0.8) 10.7(2.6) 6.9(0.8) 6.9(0.8)
10.7(2.0) 9.9(1.2)  8.4(0.9) 9.7(1.2)  6.6(0.8) 8.0(1.6)  6.6(0.8) 6.6(0.7)
10.2(1.9) 9.5(1.1)  8.0(0.9) 9.5(1.2)  6.4(0.8) 7.0(1.0)  6.5(0.8) 6.5(0.8)
8.0(2.0)  7.7(1.2)  5.8(0.8) 6.7(0.9)  3.7(0.6) 6.6(1.1)  3.9(0.6) 3.8(0.6)
7.3(1.8)  7.1(1.0)  5.4(0.8) 6.2(0.9)  3.6(0.6) 4.8(0.9)  3.7(0.6) 3.7(0.6)
6.8(1.6)  6.8(0.9)  5.2(0.7) 6.0(0.8)  3.6(0.6) 4.1(0.7)  3.6(0.6) 3.6(0.6)
2.7(1.1)  3.2(0.7)  1.9(0.4) 2.4(0.6)  0.8(0.3) 1.5(0.4)  0.9(0.3) 0.8(0.3)
2.3(1.0)  2.7(0.6)  1.7(0.4) 2.0(0.5)  0.8(0.3) 1.0(0.3)  0.8(0.3) 0.8(0.3)
2.1(0.9)  2.5(0.5)  1.7(0.4) 1.8(0.5)  0.7(0.3) 0.8(0.3)  0.7(0.3) 0.7(0.3)
11.4(2.2) 10.5(1.4) 8.9(1.0) 10.2(1.3) 6.8(0.8) 14.4(4.4) 7.0(0.8) 7.0(0.8)
10.6(1.9) 9.8(1.1)  8.4(0.9) 9.8(1.2)  6.5(0.8) 9.4(2.8)  6.6(0.8) 6.6(0.8)
10.3(1.9) 9.7(1.0)  8.2(0.9) 9.7(1.2)  6.5(0.8) 7.7(1.6)  6.5(0.8) 6.5(0.8)
7.9(2.0)  7.7(1.2)  5.8(0.8) 6.6(0.9)  3.7(0.6) 9.8(4.0)  4.0(0.7) 3.9(0.7)
7.2(1.8)  7.1(1.0)  5.3(0.8) 6.2(0.8)  3.6(0.6) 6.1(1.5)  3.7(0.6) 3.7(0.6)
6.9(1.6)  6.8(0.9)  5.1(0.7) 5.9(0.8)  3.6(0.6) 4.6(0.9)  3.6(0.6) 3.6(0.6)
2.7(1.1)  3.2(0.7)  2.0(0.5) 2.4(0.6)  0.8(0.3) 2.5(2.9)  0.9(0.3) 0.9(0.3)
2.4(1.0)  2.8(0.6)  1.8(0.4) 2.0(0.5)  0.8(0.3) 1.4(0.4)  0.8(0.3) 0.8(0.3)
2.1(0.9)  2.5(0.5)  1.7(0.4) 1.9(0.5)  0.7(0.3) 1.0(0.3)  0.7(0.3) 0.7(0.3)
"""


def paper_cells(table: str, columns: list[str]) -> list[dict[str, str]]:
    """Return the paper's cells as printed: one dictionary for each of SETTINGS."""
    lines = table.replace("(", f"{SPACE}(").strip().splitlines()
    # Split at plain spaces only: the one before a bracket belongs to its cell.
    return [
        dict(zip(columns, filter(None, line.split(" ")), strict=True)) for line in lines
    ]


PAPER = {
    setting: {**one, **two}
    for setting, one, two in zip(
        SETTINGS,
        paper_cells(
            PAPER_TABLE_1,
            [f"{what} {name}" for what in ("PCZ", "PIZ") for name in SCREENERS],
        ),
        paper_cells(
            PAPER_TABLE_2, [f"AMR {name}" for name in (*SLOW, "NB", *SCREENERS)]
        ),
        strict=True,
    )
}


def draw_theta(setting: Setting, draw: int) -> Any:
    """Return theta (3, p): d0 columns by class, then p - d0 alike in all classes."""
    rng = np.random.default_rng([SEED, setting.d0, draw])
    relevant = rng.uniform(0.1, 0.9, (N_CLASSES, setting.d0))
    common = rng.uniform(0.1, 0.9, WIDEST)[: setting.p - setting.d0]
    return np.hstack([relevant, np.tile(common, (N_CLASSES, 1))])


def draw_rows(rng: np.random.Generator, theta: Any, n: int) -> tuple[Any, Any]:
    """Return n binary rows and their classes, rows of one class together."""
    y = np.sort(rng.integers(0, N_CLASSES, n))
    X = np.empty((n, theta.shape[1]), dtype=np.uint8)
    for code, part in enumerate(theta.astype(np.float32)):
        rows = y == code
        X[rows] = rng.random((rows.sum(), part.shape[0]), dtype=np.float32) < part
    return X, y


def replicate(setting: Setting, draw: int, replication: int) -> tuple[Any, ...]:
    """Return X, y, X_test, y_test; the seed is all they depend on, not the order."""
    rng = np.random.default_rng(
        [SEED, setting.n, setting.p, setting.d0, draw, replication]
    )
    theta = draw_theta(setting, draw)
    return *draw_rows(rng, theta, setting.n), *draw_rows(rng, theta, N_TEST)


def screeners() -> dict[str, Any]:
    return {
        "PC-SIS": bayesieve.PearsonScreener(criterion="ratio"),
        "L1NB": bayesieve.L1Screener(criterion="bic"),
        "L0NB": bayesieve.L0Screener(criterion="bic"),
    }


def screen(setting: Setting, draw: int, start: int, stop: int) -> list[list[int]]:
    """Return the rows of SCREENING_COLUMNS for some replications."""
    results = []
    for replication in range(start, stop):
        X, y, X_test, y_test = replicate(setting, draw, replication)
        row = []
        for screener in screeners().values():
            found = screener.fit(X, y).support_
            row += [
                int(found[setting.d0 :].sum()),
                int((~found[: setting.d0]).sum()),
                count_errors(naive_bayes(), X[:, found], y, X_test[:, found], y_test),
            ]
        true = slice(0, setting.d0)
        row.append(count_errors(naive_bayes(), X[:, true], y, X_test[:, true], y_test))
        results.append(row)
    return results


def classify(setting: Setting, draw: int, start: int, stop: int) -> list[list[int]]:
    """Return the errors of SLOW on the true columns for some replications."""
    results = []
    for replication in range(start, stop):
        X, y, X_test, y_test = replicate(setting, draw, replication)
        X, X_test = as_floats(X[:, : setting.d0]), as_floats(X_test[:, : setting.d0])
        models = comparators(setting.d0, boosts=BOOSTS, seed=replication)
        results.append(
            [count_errors(models[name], X, y, X_test, y_test) for name in SLOW]
        )
    return results


PARTS = {
    "screeners": (screen, SCREENING_COLUMNS),
    "classifiers": (classify, [f"{name} errors" for name in SLOW]),
}


def ledger(folder: Path, part: str, setting: Setting) -> Ledger:
    return Ledger(
        folder,
        f"{part}/{setting.name}",
        columns=PARTS[part][1],
        study=STUDY,
        part=part,
        seed=SEED,
        n=setting.n,
        p=setting.p,
        d0=setting.d0,
        test_rows=N_TEST,
    )


def open_work(
    ledgers: dict[tuple[str, Setting], Ledger], options: argparse.Namespace
) -> Iterator[tuple[str, Setting, int, int, int]]:
    """Yield what is missing: part, setting, draw, and a range of replications."""
    for (part, setting), book in ledgers.items():
        if part not in options.parts:
            continue
        wanted = {0: options.slow_replications}
        if part == "screeners":
            wanted = dict.fromkeys(range(1, options.draws + 1), options.per_draw)
            wanted[0] = options.replications
        size = 25 if part == "screeners" else 5
        for draw in sorted(wanted):
            done = book.done(f"draw {draw}")
            for start, stop in blocks(done, wanted[draw], size):
                yield part, setting, draw, start, stop


def run(options: argparse.Namespace) -> None:
    """Do what is missing, writing after every block."""
    ledgers = {
        (part, setting): ledger(options.folder, part, setting)
        for part in PARTS
        for setting in options.settings
    }
    work = list(open_work(ledgers, options))
    total = sum(stop - start for *_, start, stop in work)
    progress(f"{total} replications to do, results in {options.folder}")
    results = Parallel(n_jobs=options.jobs, return_as="generator")(
        delayed(PARTS[part][0])(*block) for part, *block in work
    )
    done = 0
    for (part, setting, draw, start, stop), rows in zip(work, results, strict=True):
        ledgers[part, setting].extend(f"draw {draw}", start, rows)
        done += stop - start
        progress(
            f"{done}/{total} {part} {setting.name} draw {draw}: {stop} replications"
        )


Contents = dict[tuple[str, Setting], dict[str, Any]]


def stored(folder: Path) -> Contents:
    """Return all that is in a folder, whichever runs it came from."""
    parts, nothing = read_parts(folder), {"columns": [], "rows": {}}
    return {
        (part, setting): parts.get(f"{part}/{setting.name}", nothing)
        for setting in SETTINGS
        if f"screeners/{setting.name}" in parts
        for part in PARTS
    }


def percentages(setting: Setting, content: dict[str, Any], key: str) -> dict[str, Any]:
    """Return PCZ, PIZ and AMR of every replication of a draw, in percent."""
    rows = np.array(content["rows"].get(key, []), float)
    by_column = dict(zip(content["columns"], rows.T, strict=False))
    result = {}
    for column, values in by_column.items():
        name, what = column.rsplit(" ", 1)
        if what == "kept":
            result[f"PCZ {name}"] = 100 * (1 - values / (setting.p - setting.d0))
        elif what == "missed":
            result[f"PIZ {name}"] = 100 * values / setting.d0
        else:
            result[f"AMR {name}"] = 100 * values / N_TEST
    return result


@dataclass(frozen=True)
class Line:
    """All figures of one setting: replications of draw 0, and means of every draw."""

    setting: Setting
    kept: dict[str, Any]  # of draw 0, column -> one value for each replication
    means: dict[str, Any]  # column -> one mean for each draw of theta

    def ours(self, column: str) -> str:
        if column not in self.kept:
            return "-"
        values = self.kept[column]
        if values.shape[0] == 1:
            return f"{values[0]:.1f}"
        return f"{values.mean():.1f}{SPACE}({values.std(ddof=1):.1f})"

    def draws(self, column: str) -> str:
        values = self.means[column]
        return f"{values.mean():.1f} [{values.min():.1f}, {values.max():.1f}]"

    def paper(self, column: str) -> str:
        return PAPER[self.setting][column]

    def paper_mean(self, column: str) -> float:
        return float(self.paper(column).split(SPACE)[0])


def summarise(contents: Contents) -> list[Line]:
    lines = []
    for setting in sorted({setting for _, setting in contents}):
        book = contents["screeners", setting]
        if "draw 0" not in book["rows"]:
            continue
        draws = [percentages(setting, book, key) for key in sorted(book["rows"])]
        slow = percentages(setting, contents["classifiers", setting], "draw 0")
        lines.append(
            Line(
                setting,
                {**percentages(setting, book, "draw 0"), **slow},
                {
                    column: np.array([draw[column].mean() for draw in draws])
                    for column in draws[0]
                },
            )
        )
    return lines


def table(lines: list[Line], columns: list[str], *, draws: bool) -> str:
    """Ours (mean and deviation), the paper's, and if asked the spread over draws."""
    head, body = ["p", "d0", "n"], []
    for column in columns:
        name = column.split(" ", 1)[1]
        head += [name, "paper", "draws"] if draws else [name, "paper"]
    for line in lines:
        row = [str(line.setting.p), str(line.setting.d0), str(line.setting.n)]
        for column in columns:
            row += [line.ours(column), line.paper(column)]
            if draws:
                row.append(line.draws(column))
        body.append(row)
    return markdown(head, body)


def claims(lines: list[Line]) -> list[tuple[str, bool, str]]:
    """Return what the study must show: the claim, whether it holds, and the figures."""
    result = []
    for name in ("L0NB", "L1NB"):
        least = min((line.kept[f"PCZ {name}"].mean(), line.setting) for line in lines)
        draws = min(line.means[f"PCZ {name}"].min() for line in lines)
        result.append(
            (
                f"PCZ of {name} at least 99.4 % in all {len(lines)} settings",
                least[0] >= 99.4,
                f"least {least[0]:.2f} at {least[1].name}; over all draws {draws:.2f}",
            )
        )
    deviations = [line.kept["PCZ PC-SIS"].std() for line in lines]
    result.append(
        (
            "PC-SIS unstable: the deviation of its PCZ exceeds 10 in every setting",
            min(deviations) > 10,
            f"standard deviations {min(deviations):.1f} to {max(deviations):.1f}",
        )
    )
    falls, steps = 0, 0
    by_setting = {line.setting: line.kept["PIZ L0NB"].mean() for line in lines}
    for setting, value in by_setting.items():
        larger = Setting(setting.p, setting.d0, 2 * setting.n)
        if larger in by_setting:
            steps += 1
            falls += by_setting[larger] < value
    result.append(
        (
            "PIZ of L0NB falls with n",
            falls == steps,
            f"{falls} of {steps} doublings of n",
        )
    )
    for column in (*(f"PIZ {name}" for name in SCREENERS), "AMR NB", "AMR L0NB"):
        inside = [
            line.means[column].min()
            <= line.paper_mean(column)
            <= line.means[column].max()
            for line in lines
        ]
        what = column.replace(" ", " of ")
        result.append(
            (
                f"The paper's {what} lies within the spread over draws of theta",
                all(inside),
                f"{sum(inside)} of {len(inside)} settings",
            )
        )
    return result


def document(folder: Path) -> str:
    """Return the Markdown page with both tables."""
    contents = stored(folder)
    lines = summarise(contents)
    if not lines:
        return "No table without screeners: run again with `--parts screeners`.\n"
    rows = {part: [] for part in PARTS}
    for (part, _), content in contents.items():
        rows[part].append(content["rows"])
    screened, slow = rows["screeners"], rows["classifiers"]
    replications = span([len(one.get("draw 0", [])) for one in screened])
    draws = span([len(one) for one in screened])
    further = span(
        [len(one[key]) for one in screened for key in one if key != "draw 0"]
    )
    part = [f"{what} {name}" for what in ("PCZ", "PIZ") for name in SCREENERS]
    amr = [f"AMR {name}" for name in SCREENERS]
    slow_columns = [f"AMR {name}" for name in SLOW]
    return "\n".join(
        [
            "# Tables 1 and 2 of Guan, Shan and Guo, run again\n",
            "Written by `screening_simulation.py`; all figures in percent. A method's",
            f"column is our mean over {replications} replications with one draw of",
            "theta, in brackets the standard deviation over replications (which the",
            'paper calls SE); "paper" is the same as printed there, for another,',
            'unpublished draw. "draws" is the mean [least, largest] of the means of',
            f"{draws} draws of theta ({further} replications for each further draw).\n",
            "## Table 1: relevant and irrelevant columns\n",
            "PCZ: irrelevant columns left out (100 is best).\n",
            table(lines, part[:3], draws=True),
            "PIZ: relevant columns left out (0 is best).\n",
            table(lines, part[3:], draws=True),
            "## Table 2: misclassification\n",
            "Naive Bayes on the true model and on the columns of each screener.\n",
            table(lines, ["AMR NB", *amr], draws=True),
            "The other classifiers on the true model, over "
            f"{span([len(one.get('draw 0', [])) for one in slow])} replications.\n",
            table(lines, slow_columns, draws=False),
            "## What it must show\n",
            *(
                f"- {'holds' if holds else '**does not hold**'}: {claim} ({figures})."
                for claim, holds, figures in claims(lines)
            ),
            "",
        ]
    )


def span(values: list[int]) -> str:
    """Return "500", or "20 to 50" when not all are alike."""
    if not values:
        return "no"
    least, largest = min(values), max(values)
    return str(least) if least == largest else f"{least} to {largest}"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = study_parser(STUDY, __doc__, "four settings, few replications")
    parser.add_argument("--jobs", type=int, default=2, help="processes (%(default)s)")
    parser.add_argument("--settings", nargs="+", choices=[s.name for s in SETTINGS])
    parser.add_argument("--parts", nargs="+", choices=[*PARTS], default=[*PARTS])
    parser.add_argument("--replications", type=int, help="of the screeners (500)")
    parser.add_argument("--draws", type=int, help="further draws of theta (20)")
    parser.add_argument("--per-draw", type=int, help="replications of each (20)")
    parser.add_argument("--slow-replications", type=int, help="of KNN etc. (50)")
    options = parser.parse_args(arguments)
    quick = ["p500_d20_n500", "p500_d20_n1000", "p500_d20_n2000", "p1000_d50_n500"]
    defaults = {
        "settings": quick if options.quick else [s.name for s in SETTINGS],
        "replications": 50 if options.quick else 500,
        "draws": 5 if options.quick else 20,
        "per_draw": 5 if options.quick else 20,
        "slow_replications": 3 if options.quick else 50,
    }
    for name, value in defaults.items():
        if getattr(options, name) is None:
            setattr(options, name, value)
    by_name = {setting.name: setting for setting in SETTINGS}
    options.settings = [by_name[name] for name in options.settings]
    return options


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    parts = [f"{part}/{one.name}" for part in options.parts for one in options.settings]
    run_study(STUDY, options, run, document, parts=parts)


if __name__ == "__main__":
    run_script(main)
