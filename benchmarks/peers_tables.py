"""The page peers.md, made from results/peers.json and from files of other studies."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

import peers_cited
import peers_features
from peers_contestants import of_part

TITLES = {
    "text": "Text: IMDB, 1 % of the words",
    "wide": "Wide: 200,000 generated rows x 1 million columns",
    "gene_bladder": "Genes: bladder, 3 classes",
    "gene_11tumors": "Genes: 11 tumours, 11 classes",
}
MEASURES = ("naive Bayes", "logistic regression", "own")
Runs = Sequence[dict[str, Any]]


def table(head: Sequence[str], body: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return a Markdown table; the first columns and remarks are on the left."""
    rule = [":---"] * left + ["---:" if name else ":---" for name in head[left:]]
    return "".join("| " + " | ".join(line) + " |\n" for line in (head, rule, *body))


# ---------------------------------------------------------------------- one contestant


def summary(runs: Runs) -> dict[str, Any]:
    """Return the best seconds, the least memory and the accuracy of a contestant."""
    ended = [run for run in runs if run["ended"]]
    if not ended:
        last = runs[-1]
        used = last.get("processor_seconds")
        return {"ended": False, "why": last["why"], "processor_seconds": used}
    first = ended[0]
    return {
        "ended": True,
        "seconds": min(second for run in ended for second in run["seconds"]),
        "repetitions": sum(len(run["seconds"]) for run in ended),
        "processor_seconds": min(run["processor_seconds"] for run in ended),
        "extra_bytes": min(run["extra_bytes"] for run in ended),
        "chosen": first["chosen"],
        "accuracy": first["accuracy"],
        "standard_error": first.get("standard_error"),
        "notes": ended[-1]["notes"],
    }


def number_chosen(chosen: int | Sequence[int]) -> str:
    """Return how many columns: one number, or the range over folds."""
    if isinstance(chosen, int):
        return f"{chosen:,}"
    low, high = min(chosen), max(chosen)
    return f"{low}" if low == high else f"{low} to {high}"


def percent(one: dict[str, Any], measure: str) -> str:
    """Return an accuracy in percent, with its standard error over folds if there."""
    value = one["accuracy"].get(measure)
    if value is None:
        return ""
    error = one["standard_error"]
    digits = 1 if error else 2
    text = f"{100 * value:.{digits}f}"
    return f"{text} ± {100 * error[measure]:.1f}" if error else text


def is_whole(one: dict[str, Any], k: int) -> bool:
    """Tell whether an answer has about k columns, in every fold where there are any."""
    chosen = one["chosen"] if isinstance(one["chosen"], list) else [one["chosen"]]
    return min(chosen) >= 0.95 * k


def whole_answers(content: dict[str, Any], part: str) -> dict[str, dict[str, Any]]:
    """Return who ended with about k columns: what verdicts are made of.

    A search for C that the limit has cut short, and a fit at its C, say nothing of how
    well the method chooses k columns.
    """
    k = content["parts"][part]["data"]["k"]
    runs = of_runs(content, part)
    return {n: one for n, one in runs.items() if one["ended"] and is_whole(one, k)}


def remarks(one: dict[str, Any], k: int) -> str:
    """Return what is special about a contestant's answer."""
    notes, parts = one["notes"], []
    if notes.get("is_optimal"):
        parts.append("proven best")
    elif "relative_gap" in notes:
        parts.append(f"gap at most {100 * notes['relative_gap']:.2g} %")
    if notes.get("fits", 1) > 1:
        parts.append(f"{notes['fits']} fits")
        if notes.get("C") is not None:  # a search; elimination has no single last fit
            parts.append(f"the one kept {peers_cited.seconds(notes['fit_seconds'])}")
        if notes.get("C") is not None and not is_whole(one, k):  # the limit, or 30 fits
            parts.append("search for C ended before k: not in the verdicts")
    if notes.get("fits") == 1 and notes.get("C") is not None:
        parts.append(f"one fit at a known C, {notes['nonzero']:,} columns")
    if notes.get("converged") is False:
        parts.append("not converged")
    return ", ".join(parts)


# ---------------------------------------------------------------------------- one part


def of_runs(content: dict[str, Any], part: str) -> dict[str, dict[str, Any]]:
    """Return the summaries of a part in the order of the list of contestants."""
    runs = content["parts"][part]["runs"]
    return {o.name: summary(runs[o.name]) for o in of_part(part) if runs.get(o.name)}


def part_table(content: dict[str, Any], part: str) -> str:
    """Return who took part, what it cost and how well it did."""
    k = content["parts"][part]["data"]["k"]
    owners = {one.name: one.owner for one in of_part(part)}
    head = ["", "package", "columns", "seconds", "processor", "extra memory"]
    head += ["naive Bayes", "logistic", "own model", ""]
    body = []
    for name, one in of_runs(content, part).items():
        title = f"**{name}**" if owners[name] == "bayesieve" else name
        line = [title, owners[name]]
        if one["ended"]:
            line += [
                number_chosen(one["chosen"]),
                peers_cited.seconds(one["seconds"]),
                peers_cited.seconds(one["processor_seconds"]),
                peers_cited.megabytes(one["extra_bytes"]),
                *(percent(one, measure) for measure in MEASURES),
                remarks(one, k),
            ]
        else:
            used = one["processor_seconds"]
            told = peers_cited.seconds(used) if used else ""
            line += ["", "—", told, "", "", "", "", one["why"]]
        body.append(line)
    return table(head, body, left=2)


def error_of(one: dict[str, Any], measure: str, test_rows: int | None) -> float:
    """Return the standard error of an accuracy, over folds or over test rows."""
    if one["standard_error"]:
        return one["standard_error"][measure]
    value = one["accuracy"][measure]
    return math.sqrt(value * (1 - value) / test_rows)


def ahead(content: dict[str, Any], part: str) -> list[str]:
    """Return sentences on where a peer is ahead of all of ours, and where none is."""
    data = content["parts"][part]["data"]
    owners = {one.name: one.owner for one in of_part(part)}
    ended = whole_answers(content, part)
    ours = {n: one for n, one in ended.items() if owners[n] == "bayesieve"}
    peers = {n: one for n, one in ended.items() if owners[n] != "bayesieve"}
    if not ours or not peers:
        return []
    said = []
    for measure, what, shown in (
        ("seconds", "Speed", peers_cited.seconds),
        ("extra_bytes", "Memory", peers_cited.megabytes),
    ):
        best = min(ours, key=lambda n: ours[n][measure])
        value = ours[best][measure]
        better = sorted(
            (n for n in peers if peers[n][measure] < value),
            key=lambda n: peers[n][measure],
        )
        next_one = min(peers, key=lambda n: peers[n][measure])
        if better:
            names = ", ".join(f"{n} ({shown(peers[n][measure])})" for n in better)
            said.append(f"{what}: **ahead of ours** ({best}, {shown(value)}): {names}.")
        else:
            ratio = peers[next_one][measure] / max(value, 1)
            if measure == "seconds":
                ratio = peers[next_one][measure] / value
            said.append(
                f"{what}: ours is ahead ({best}, {shown(value)}); next is {next_one}, "
                f"{shown(peers[next_one][measure])}, {ratio:.1f} times as much."
            )
    for measure in MEASURES:
        mine = {
            n: o["accuracy"][measure]
            for n, o in ours.items()
            if measure in o["accuracy"]
        }
        theirs = {
            n: o["accuracy"][measure]
            for n, o in peers.items()
            if measure in o["accuracy"]
        }
        if not mine or not theirs:
            continue
        best = max(mine, key=mine.__getitem__)
        error = error_of(ours[best], measure, data.get("test_rows"))
        better = sorted(
            (n for n, v in theirs.items() if v > mine[best]), key=lambda n: -theirs[n]
        )
        what = "the method itself" if measure == "own" else f"{measure} on the columns"
        told = f"{best} {100 * mine[best]:.1f} %, standard error {100 * error:.1f}"
        beyond = [n for n in better if theirs[n] - mine[best] > error]
        level = [n for n in better if n not in beyond]
        names = [
            ", ".join(f"{n} {100 * theirs[n]:.1f} %" for n in some)
            for some in (beyond, level)
        ]
        if beyond:
            sentence = f"**ahead of our best** ({told}): {names[0]}"
        elif level:
            sentence = f"a draw ({told})"
        else:
            second = max(theirs, key=theirs.__getitem__)
            lead = "ours is ahead" if mine[best] - theirs[second] > error else "a draw"
            sentence = f"{lead} ({told}); next is {second}"
            sentence += f" {100 * theirs[second]:.1f} %"
        if level:
            sentence += f"; higher by less than that error: {names[1]}"
        said.append(f"Accuracy of {what}: {sentence}.")
    said += behind_default(ours, peers, data.get("test_rows"))
    silent = [n for n, one in of_runs(content, part).items() if not one["ended"]]
    if silent:
        said.append(f"Without an answer: {', '.join(silent)}.")
    return said


def behind_default(
    ours: dict[str, Any], peers: dict[str, Any], test_rows: int | None
) -> list[str]:
    """Return who is more accurate than our first choice, which has no second try.

    The best of several of ours is known only after the test; a user who takes the
    first one gets this.
    """
    first = next(iter(ours))
    parts = []
    for measure in MEASURES[:2]:
        value = ours[first]["accuracy"][measure]
        error = error_of(ours[first], measure, test_rows)
        better = [
            f"{n} {100 * one['accuracy'][measure]:.1f} %"
            for n, one in peers.items()
            if one["accuracy"][measure] > value + error
        ]
        if better:
            parts.append(f"{measure} ({100 * value:.1f} %): {', '.join(better)}")
    if not parts:
        return [f"No peer's columns beat {first} by more than one standard error."]
    return [
        f"Ahead of {first} alone by more than one standard error, "
        + "; ".join(parts)
        + "."
    ]


def part_section(content: dict[str, Any], part: str) -> str:
    """Return one part of the page."""
    stored = content["parts"][part]
    data = stored["data"]
    runs = [run for several in stored["runs"].values() for run in several]
    loads = [run["load"] for run in runs]
    middle = statistics.median(loads)
    size = (
        f"{data['rows']:,} rows, {data['columns']:,} columns, {data['classes']} classes"
    )
    if "folds" in data:
        how = (
            f"{data['folds']} stratified folds; seconds are of all folds together, "
            "accuracy is the mean ± standard error over folds"
        )
    else:
        how = (
            f"{data['entries']:,} entries; accuracy in percent on "
            f"{data['test_rows']:,} other rows"
        )
    lines = [
        f"## {TITLES[part]}\n",
        f"{size}, k = {data['k']:,}; {how}. Whoever took more than "
        f"{stored['limit']:g} s was ended. "
        f""
        f"{min(run['date'] for run in runs)[:10]}, load of the machine "
        f"{min(loads):.1f} to {max(loads):.1f}, median {middle:.1f}.\n",
        part_table(content, part),
        "".join(f"- {sentence}\n" for sentence in ahead(content, part)),
    ]
    return "\n".join(lines)


def glance(content: dict[str, Any]) -> str:
    """Return the best of ours beside the best peer, for every part and measure."""
    body = []
    for part in [part for part in TITLES if part in content["parts"]]:
        owners = {one.name: one.owner for one in of_part(part)}
        ended = whole_answers(content, part)
        sides = [
            {n: one for n, one in ended.items() if (owners[n] == "bayesieve") == mine}
            for mine in (True, False)
        ]
        if not all(sides):
            continue
        cells = [
            " / ".join(shown(min(one[what] for one in side.values())) for side in sides)
            for what, shown in (
                ("seconds", peers_cited.seconds),
                ("extra_bytes", peers_cited.megabytes),
            )
        ]
        for measure in MEASURES:
            values = [
                [one["accuracy"].get(measure, 0.0) for one in side.values()]
                for side in sides
            ]
            best = [f"{100 * max(side):.1f}" if any(side) else "—" for side in values]
            cells.append(" / ".join(best))
        body.append([TITLES[part], *cells])
    head = ["best of ours / best peer", "seconds", "extra memory"]
    head += ["naive Bayes", "logistic", "own model"]
    return "\n".join(
        [
            "## At a glance\n",
            "The best of ours and the best of all peers, each column by itself: no one "
            "method has them all. Accuracy in percent.\n",
            table(head, body),
        ]
    )


# --------------------------------------------------------------------- the other parts


def cited_section() -> str:
    """Return what other benchmarks measured, with the file of each."""
    body = []
    for source, reader in peers_cited.SOURCES:
        for job, ours, theirs, times in reader() or ():
            body.append([job, ours, theirs, times, source])
    parts = [
        "## Measured elsewhere\n",
        "Read from the files named, not measured again; settings in "
        "[README.md](README.md) and [studies/README.md](studies/README.md).\n",
        table(["job, peer", "ours", "theirs", "times faster", "file"], body),
    ]
    lost = peers_cited.streams_lost()
    if lost:
        parts.append(
            f"One of the peers has the lower log loss on {len(lost)} streams: "
            f"{', '.join(lost)}.\n"
        )
    return "\n".join(parts)


def experiments_section() -> str:
    """Return the paper's experiments as far as their results are here."""
    parts = ["## The paper's experiments\n"]
    body = peers_cited.two_stage()
    if body:
        parts.append(
            "5 % of the words, count vectors: points of accuracy over our selection by "
            "likelihood alone, for three models of stage 2, mean over the sets where "
            "the selector ended "
            "([all tables](studies/results/two_stage/tables.md)).\n"
        )
        head = ["selector", "logistic", "SVM", "naive Bayes", "sets"]
        parts.append(table(head, body))
    sentence = peers_cited.unlimited_features()
    if sentence:
        parts.append(sentence + "\n")
    links = [
        f"[{name}](studies/results/{name}/tables.md)" for name in peers_cited.further()
    ]
    parts.append(
        f"Tables: {', '.join(links)}.\n"
        if links
        else "Their results are not here yet; this part is filled when they are.\n"
    )
    return "\n".join(parts)


def features_section() -> str:
    """Return the matrix of features, then the notes, then where to look."""
    peers_features.check()
    packages = peers_features.PACKAGES
    body = [
        [feature, *(mark for mark, _ in cells)]
        for feature, cells in peers_features.FEATURES.items()
    ]
    notes = []
    for feature, cells in peers_features.FEATURES.items():
        told = [
            f"{package}: {note}"
            for package, (_, note) in zip(packages, cells, strict=True)
            if note
        ]
        notes.append(f"- *{feature}*: {'; '.join(told)}.\n")
    references = [f"- {name}: {link}\n" for name, link in peers_features.REFERENCES]
    return "\n".join(
        [
            "## Features\n",
            table(["", *packages], body),
            "".join(notes),
            'Where it was looked up ("tried": done with these versions on a small '
            "table):\n",
            "".join(references),
        ]
    )


OPENING = """# Peers

What a user would pick instead of bayesieve: speed, memory, accuracy and features,
ours and theirs, wins and losses alike. Made by `python benchmarks/peers.py`; every
figure is in [results/peers.json](results/peers.json) or in the file named beside it.

Each contestant chose its columns in a process of its own, those of other packages in
an environment of their own; quick ones were repeated in turns, and the best
repetition counts. **Seconds** are of the selection, on the wall; **processor** is the
time of all processors together (the one to compare when the machine is busy); **extra
memory** is the peak over the process with packages and rows loaded. The l1 models
have no k, so C is searched until they keep k columns, as a user would have to; the
time of the fit that was kept stands at the end of the line. saga and celer are one
fit at the C that liblinear was found to need, the k largest coefficients of it.
**naive Bayes** and **logistic** are the accuracies of scikit-learn's models (default
settings) on the chosen columns, **own model** that of the method itself where it is a
classifier.
"""


def page(content: dict[str, Any]) -> str:
    """Return the whole page."""
    packages = ", ".join(f"{n} {v}" for n, v in content["packages"].items())
    machine = (
        f"Python {content['python']}, {packages}; Khiops, River as in their studies. "
        f"{content['processor']}, {content['processors']} processors, "
        f"{content['memory_gb']:g} GB, {content['system'].split('-')[0]}.\n"
    )
    parts = [part_section(content, part) for part in TITLES if part in content["parts"]]
    sections = [cited_section(), experiments_section(), features_section()]
    return "\n".join([OPENING, machine, glance(content), *parts, *sections])
