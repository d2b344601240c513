"""Which column is the label and which ones hold texts: said, or guessed aloud."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from bayesieve.cli._command import CommandError
from bayesieve.cli._files import DataFiles
from bayesieve.cli._told import listed, tell
from bayesieve.io._near_names import check_column

if TYPE_CHECKING:
    from bayesieve.io._roles import Roles

__all__ = ["Columns", "choose_columns", "matching", "said_kinds", "say_guesses"]


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are.

    Attributes
    ----------
    label : str or None
    texts : list of str
        Columns of texts.
    features : list of str
        All others that are neither the label nor left out.
    guessed : dict
        The columns of options that were not given.
    kinds : dict of str to str
        What columns were said to be.
    labels : list of str
        Columns that look like labels, if the label was guessed.
    """

    label: str | None
    texts: list[str]
    features: list[str]
    guessed: dict[str, Any]
    kinds: dict[str, str] = field(default_factory=dict)
    labels: list[str] = field(default_factory=list)


def choose_columns(
    files: DataFiles, arguments: argparse.Namespace, *, needs_label: bool = True
) -> Columns:
    """Take what was said about the columns and guess the rest from names and values."""
    names = files.columns
    where = repr(files.paths[0])
    label, kinds = arguments.label, said_kinds(arguments.types, names, where)
    for name in (label, *arguments.text):
        if name is not None:
            check_column(name, names, where)
    said = [*arguments.text, *(own for own, kind in kinds.items() if kind == "text")]
    texts = list(dict.fromkeys(said))
    if arguments.text and arguments.no_text:
        raise CommandError("--text and --no-text cannot both be given.")
    if label is not None and label in texts:
        raise CommandError(
            f"--text and --label must name two columns. Got {label!r} twice."
        )
    free = _free(names, arguments, where, (label, *texts))
    free = [name for name in free if kinds.get(name) != "ignore"]
    guessed: dict[str, Any] = {}
    labels: list[str] = []
    guess_text = not arguments.text and not arguments.no_text
    if guess_text or (label is None and needs_label):
        found = _guess(files, free, label, kinds)
        others = [name for name in found.texts if name not in texts]
        if guess_text and others:
            texts = [*texts, *others]
            guessed["--text"] = others[0] if len(others) == 1 else others
        if label is None and needs_label:
            labels = [name for name in found.labels if name not in texts]
            if not labels:
                raise _no_label(files, names, where)
            guessed["--label"] = label = labels[0]
    features = [name for name in free if name != label and name not in texts]
    if not texts and not features:
        raise CommandError(f"{where} has no column besides the label {label!r}.")
    return Columns(label, texts, features, guessed, kinds, labels)


def _no_label(files: DataFiles, names: list[str], where: str) -> CommandError:
    """Say why there is no label to guess."""
    if len(names) == 1:
        return CommandError(
            f"{where} has one column only, {names[0]!r}, and a label must be in "
            "another. Hint: --sep says what stands between the columns."
        )
    if len(files.sample(names[:1])[names[0]]) == 1:
        return CommandError(
            f"{where} has one row only, from which nothing can be learnt. Hint: JSON "
            "must hold a list of objects, or one object a line."
            if files.format is not None and "json" in files.format.name
            else f"{where} has one row only, from which nothing can be learnt."
        )
    return CommandError(
        f"which column of {where} is the label is not clear: say --label COL. Its "
        f"columns are {listed(names)}."
    )


def matching(patterns: Sequence[str], names: Sequence[str], where: str) -> list[str]:
    """Return the columns that names and patterns (``x*``) stand for, each once."""
    known, found = set(names), dict[str, None]()
    for pattern in patterns:
        own = [pattern]
        if pattern not in known:
            own = [name for name in names if fnmatchcase(name, pattern)]
        if not own:
            check_column(pattern, names, where)  # says which may be meant
        found |= dict.fromkeys(own)
    return list(found)


def _free(
    names: list[str], arguments: argparse.Namespace, where: str, needed: Sequence[Any]
) -> list[str]:
    """Columns that are neither dropped nor outside of those to keep."""
    dropped = set(matching(arguments.drop, names, where))
    for name in needed:
        if name in dropped:
            raise CommandError(f"--drop leaves {name!r} out, which is needed.")
    free = [name for name in names if name not in dropped]
    keep = getattr(arguments, "keep", None)
    if not keep:
        return free
    kept = set(matching(keep, names, where)) | set(needed)
    return [name for name in free if name in kept]


def said_kinds(given: Sequence[str], names: list[str], where: str) -> dict[str, str]:
    """Read --types COLUMN=KIND, where COLUMN may be a pattern."""
    found: dict[str, str] = {}
    for text in given:
        column, _, kind = text.partition("=date:")
        if kind:
            kind = f"date:{kind}"
        else:
            column, _, kind = text.rpartition("=")
        for name in matching([column], names, where):
            found[name] = kind
    return found


def _guess(
    files: DataFiles, free: list[str], label: str | None, kinds: dict[str, str]
) -> Roles:
    from bayesieve.io._roles import Roles, guess_roles

    sample = files.sample(free)
    known = {name for name, kind in kinds.items() if kind != "text"}
    found = guess_roles(sample, label=label)
    return Roles(
        found.label, [own for own in found.texts if own not in known], found.labels
    )


def say_guesses(columns: Columns) -> None:
    """Tell on stderr what was guessed, and how to say otherwise."""
    if not columns.guessed:
        return
    told = []
    for option, names in columns.guessed.items():
        shown = [names] if isinstance(names, str) else names
        told.append(f"{option} {listed(shown)}")
    other = " or --no-text" if "--text" in columns.guessed else ""
    tell(f"guessed {' and '.join(told)} (say it{other} to change it)")
