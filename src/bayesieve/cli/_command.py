"""What one command of the command line consists of."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

__all__ = [
    "EXIT_ERROR",
    "EXIT_INTERRUPTED",
    "EXIT_OK",
    "Command",
    "CommandError",
    "refuse_options",
]

EXIT_OK = 0
EXIT_ERROR = 2
EXIT_INTERRUPTED = 130


class CommandError(ValueError):
    """A usage or data error: one clear line for the user, exit code 2."""


@dataclass(frozen=True)
class Command:
    """One command: its name, its help, its arguments and what it does.

    A command lives in a module of its own, which imports NumPy, scikit-learn and the
    estimators inside ``run`` only, so that ``--help`` answers at once. ``run`` returns
    an exit code, or None for 0.
    """

    name: str
    summary: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int | None]
    examples: tuple[str, ...] = ()


def refuse_options(
    arguments: argparse.Namespace, options: tuple[str, ...], takes: str, data: str
) -> None:
    """Stop at an option that would do nothing."""
    for option in options:
        if getattr(arguments, option, None):
            shown = f"--{option.replace('_', '-')}"
            raise CommandError(f"{shown} is for {takes}. Got {data}.")
