"""Rules for the selected features: what must be in or out, groups, costs."""

from __future__ import annotations

import argparse
import fnmatch
from collections.abc import Iterable
from typing import Any

from bayesieve.cli._command import CommandError
from bayesieve.cli._options import at_least_one, at_least_zero

__all__ = ["add_rule_arguments", "has_rules", "rules_from"]


def add_rule_arguments(parser: argparse.ArgumentParser) -> None:
    """Add which features may be selected together."""
    rules = parser.add_argument_group("rules")
    for name, told in (
        ("include", "that must be selected"),
        ("exclude", "that must not be selected"),
    ):
        rules.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="NAME",
            help=f"feature {told}: a name or a pattern such as 'x*'; may be repeated",
        )
    rules.add_argument(
        "--groups",
        action="append",
        default=[],
        metavar="PATTERN",
        help="features that are selected together or not at all, such as 'city_*'; "
        "may be repeated, and -k counts groups",
    )
    rules.add_argument(
        "--max-per-group",
        type=at_least_one,
        metavar="N",
        help="select at most N features of each of --groups instead",
    )
    rules.add_argument(
        "--cost",
        action="append",
        default=[],
        type=_cost,
        metavar="NAME=C",
        help="what a feature costs, or each that fits a pattern; may be repeated "
        "(others cost nothing)",
    )
    rules.add_argument(
        "--budget",
        type=at_least_zero,
        metavar="B",
        help="what the selected features may cost together",
    )


def _cost(text: str) -> tuple[str, float]:
    name, found, cost = text.rpartition("=")
    if not found or not name:
        raise argparse.ArgumentTypeError(f"must be NAME=COST. Got {text!r}.")
    return name, at_least_zero(cost)


def has_rules(arguments: argparse.Namespace) -> bool:
    """Whether any rule was given."""
    given = (
        *(arguments.include, arguments.exclude, arguments.groups, arguments.cost),
        *(arguments.budget, arguments.max_per_group),
    )
    return any(one not in (None, []) for one in given)


def rules_from(
    arguments: argparse.Namespace,
    names: Iterable[str] | None,
    n_features: int,
    *,
    numbered: bool = False,
) -> dict[str, Any]:
    """The rules as estimators take them, by name, or by numbers of columns.

    Columns of svmlight files have no names: there their numbers are.
    """
    if not has_rules(arguments):
        return {}
    known = [*map(str, range(n_features) if names is None else names)]
    by_name = names is not None and not numbered
    place = {own: i for i, own in enumerate(known)}
    index_of = getattr(names, "index_of", None)

    def columns(wanted: str, option: str) -> list[Any]:
        found = [place[wanted]] if wanted in place else []
        if not found and index_of is not None:  # columns may have more names
            found = [i for i in index_of([wanted]).tolist() if i >= 0]
        if not found:
            found = [place[own] for own in fnmatch.filter(known, wanted)]
        if not found:
            raise CommandError(
                f"{option} must name features. Got {wanted!r}, which none of "
                f"{len(known):,} is called."
            )
        return [known[i] if by_name else i for i in found]

    rules: dict[str, Any] = {}
    for option in ("include", "exclude"):
        wanted = getattr(arguments, option)
        if wanted:
            named = [columns(own, f"--{option}") for own in wanted]
            rules[option] = sorted({i for own in named for i in own})
    if arguments.groups:
        rules["groups"] = [columns(own, "--groups") for own in arguments.groups]
    if arguments.max_per_group is not None:
        rules["max_per_group"] = arguments.max_per_group
    if arguments.cost:
        priced = [(columns(own, "--cost"), cost) for own, cost in arguments.cost]
        rules["feature_cost"] = {i: cost for own, cost in priced for i in own}
    if arguments.budget is not None:
        rules["budget"] = arguments.budget
    return rules
