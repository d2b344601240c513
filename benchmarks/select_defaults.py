"""`bayesieve select FILE` without options, against its own options, on sets of texts.

Each run is the command as a user types it: a quarter of the rows is held out, and the
same rows judge every option. The default must be ahead of the proven 20 terms, which
were the default before, by accuracy and by log loss; where another option is right more
often by more than a standard error of the default's accuracy, its verdict must say so.
"""

from __future__ import annotations

import io
import json
import tempfile
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from bayesieve.cli import main as command
from measurement import option_parser, read_data, report, target

SEED = 0
SETS = (
    *("sms_spam", "cr", "mr", "mpqa", "trec", "ag_news_test", "amazon_mds"),
    *("sst2_sentences", "sst2", "twitter_s140_sample", "imdb", "newsgroups20"),
    *("thucnews_titles", "chnsenticorp_htl"),
)
#: Remarks that say that selections without weights are right more often.
WITHOUT_WEIGHTS = {"all features", "no weights"}
QUICK = ("sms_spam", "cr")
BEFORE = "-k 20"
OPTIONS = {
    BEFORE: ["-k", "20"],
    "-k all": ["-k", "all"],
    "-k 1se": ["-k", "1se"],
    "-k cv": ["-k", "cv"],
    "-k bic": ["-k", "bic"],
    "-k elbow": ["-k", "elbow"],
    "--weights -k cv": ["--weights", "-k", "cv"],
    "--weights -k 1000": ["--weights", "-k", "1000"],
    "--model bernoulli": ["--model", "bernoulli"],
    "--ngrams 2": ["--ngrams", "2"],
}


def select(path: Path, options: list[str]) -> dict[str, Any]:
    """Run the command and return what it found, with its seconds."""
    out = io.StringIO()
    begin = time.perf_counter()
    columns = ["--text", "text", "--label", "label"]
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        code = command(["select", str(path), *columns, "--json", *options])
    if code:
        raise SystemExit(f"select {options} of {path} ended with {code}")
    found = json.loads(out.getvalue())
    evaluation = found["evaluation"]
    return {
        "k": found["k"],
        "accuracy": evaluation["accuracy"],
        "log_loss": evaluation["log_loss"],
        "rows": evaluation["rows"],
        "seconds": time.perf_counter() - begin,
        "lines": found["verdict"]["lines"],
        "codes": [own["code"] for own in found["verdict"]["remarks"]],
        "next": [own["command"] for own in found["verdict"]["next"]],
    }


def compared(path: Path) -> dict[str, Any]:
    """All options on one set."""
    own = {"default": select(path, [])}
    for name, options in OPTIONS.items():
        # Rivals and refits are the default's business.
        own[name] = select(path, [*options, "--quick"])
    return own


def main() -> None:
    """Run, print and store."""
    options = option_parser("select_defaults", __doc__).parse_args()
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in QUICK if options.quick else SETS:
            frame = read_data(name)
            path = Path(folder) / f"{name}.parquet"
            frame[["text", "label"]].dropna().to_parquet(path)
            results[name] = compared(path)
            show(name, results[name])
    ahead, silent = judged(results)
    targets = [
        target(
            "sets where the default is ahead of -k 20", ahead / len(results), least=1
        ),
        target("options ahead by a standard error, unsaid", silent, most=0),
    ]
    report("select_defaults", options, SEED, {"sets": results, "targets": targets})


def show(name: str, own: dict[str, Any]) -> None:
    """Print one set."""
    print(f"\n{name}: {own['default']['lines']}")
    for option, found in own.items():
        print(
            f"  {option:18} {found['k']:>7,} {100 * found['accuracy']:6.1f} % "
            f"{found['log_loss']:8.3f} {found['seconds']:7.1f} s",
            flush=True,
        )


def judged(results: dict[str, Any]) -> tuple[int, int]:
    """Sets where the default is ahead of what it was; losses that it keeps quiet."""
    ahead = silent = 0
    for name, own in results.items():
        default, before = own["default"], own[BEFORE]
        ahead += (
            default["accuracy"] > before["accuracy"]
            and default["log_loss"] < before["log_loss"]
        )
        share = default["accuracy"]
        error = np.sqrt(share * (1 - share) / default["rows"])
        for option, found in own.items():
            if found["accuracy"] <= share + error:
                continue
            weightless = option.startswith("-k")
            said = weightless and {"all features", "no weights"} & {*default["codes"]}
            said = bool(said) or (
                option == "--ngrams 2" and "pairs" in default["codes"]
            )
            said |= any(option in command for command in default["next"])
            said |= option == "--weights -k cv" and "more features" in default["codes"]
            print(f"{name}: {option} is ahead, {'said' if said else 'NOT SAID'}")
            silent += not said
    return ahead, silent


if __name__ == "__main__":
    main()
