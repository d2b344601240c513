"""Commands to try next, computed from what a run has found."""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayesieve.inspection._verdict import Verdict

__all__ = ["next_steps"]

#: Options that choose the model, and whether a value follows them.
_CHOICE = {"-k": True, "--exact": False, "--weights": False}
_OUTPUT = {"--save": True, "--report": True, "--json": False}
_LEAVES_OUT = {"columns": "--drop", "terms": "--exclude"}
_MOST = 4
#: What decides, the model that has it, and what it does.
_MODELS = {
    "presence": ("bernoulli", "by whether a term is there"),
    "counts": ("multinomial", "by how often a term is there"),
}


def next_steps(
    verdict: Verdict, data: Any, arguments: argparse.Namespace
) -> list[tuple[str, str]]:
    """Commands and what they do: what the remarks ask for, then what is usual."""
    words = arguments.command_line
    plain = _without(words, _OUTPUT)
    free = _without(plain, _CHOICE)
    if arguments.model == "gaussian":
        best = _without(free, {"--model": True})  # measurements have no weights there
    else:
        best = free
    steps: list[tuple[list[str], str]] = []
    for remark in verdict.remarks:
        if remark.action == "weights":
            steps.append((best, "what predicts best"))
        elif remark.action == "all":
            steps.append(([*free, "-k", "all"], f"all {data.unit}"))
        elif remark.action.startswith("k="):
            size = remark.action.removeprefix("k=")
            steps.append(([*free, "-k", size], "without weights"))
        elif remark.action == "ngrams":
            steps.append(([*plain, "--ngrams", "2"], "pairs of words"))
        elif remark.action == "more":
            steps.append(([*free, "--weights", "-k", "cv"], f"more {data.unit}"))
        elif remark.action in _MODELS:
            steps.append(_with_model(plain, remark.action))
        elif remark.action == "proven":
            steps.append(([*free, "--exact"], "the proven selection"))
        elif remark.action == "fewer":
            steps.append((free, "only features that help"))
        elif remark.action == "label":
            if data.files.is_sequences:
                files = [arguments.labels] if arguments.labels else []
            else:
                files = _files(arguments)
            if files:
                steps.append((["bayesieve", "inspect", *files], "what each column is"))
        elif remark.action.startswith("drop=") and data.unit in _LEAVES_OUT:
            name = remark.action.removeprefix("drop=")
            words_left = plain if data.unit == "columns" else free
            without = [*words_left, _LEAVES_OUT[data.unit], name]
            steps.append((without, "how good it is without"))
        elif remark.action.startswith("recall=") and "--error-cost" not in words:
            missed = remark.action.removeprefix("recall=")
            told = f"where it costs five times as much to miss {missed}"
            steps.append(([*plain, "--error-cost", f"{missed}=5"], told))
    if _leaves_pairs(data, arguments, verdict):
        steps.append(([*plain, "--ngrams", "2"], "pairs of words, not tried"))
    if getattr(data, "leaves_model", None):
        command, told = _with_model(plain, data.leaves_model)
        steps.append((command, f"{told}, not tried"))
    saved = arguments.save
    if saved is not None:
        steps.append((["bayesieve", "predict", saved, "DATA"], "label new rows"))
        steps.append((["bayesieve", "explain", saved, "DATA"], "why, row by row"))
        if arguments.report is None:
            steps.append((["bayesieve", "report", saved], "a page to show"))
    else:
        steps.append(([*words, "--save", "FILE"], "keep the model"))
        if arguments.report is None:
            steps.append(([*words, "--report", "FILE.html"], "a page to show"))
    found: dict[str, str] = {}
    for command, meaning in steps:
        if command != words:
            found.setdefault(shlex.join(command), meaning)
    return list(found.items())[:_MOST]


def _with_model(words: list[str], name: str) -> tuple[list[str], str]:
    """A command with the other model of counts."""
    model, told = _MODELS[name]
    return [*_without(words, {"--model": True}), "--model", model], told


def _leaves_pairs(data: Any, arguments: argparse.Namespace, verdict: Verdict) -> bool:
    """Whether nobody has asked for pairs of words, and they were too many to try."""
    if data.unit != "terms" or not hasattr(data, "tries_pairs"):
        return False
    words = arguments.analyzer in (None, "word") and "guessing" not in verdict.codes
    return words and _is_single(arguments.ngrams) and not data.tries_pairs


def _is_single(ngrams: tuple[int, int] | None) -> bool:
    return ngrams in (None, (1, 1))


def _files(arguments: argparse.Namespace) -> list[str]:
    return [own for own in arguments.data if own != "-"]


def _without(words: list[str], options: dict[str, bool]) -> list[str]:
    """A command without some options and their values."""
    kept, skip = [], False
    for word in words:
        name, joined, _ = word.partition("=")
        if skip:
            skip = False
        elif word in options:
            skip = options[word]
        elif not (joined and name in options):
            kept.append(word)
    return kept
