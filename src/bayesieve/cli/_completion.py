"""``bayesieve completion``: the script that completes commands and options in a shell.

Made by shtab from the parser itself, so that it cannot lag behind.
"""

from __future__ import annotations

import argparse

from bayesieve.cli._command import Command
from bayesieve.utils._optional import optional_module

__all__ = ["COMPLETION"]

_SHELLS = ("bash", "zsh", "fish")
#: Arguments that name files.
_FILES = ("data", "model", "other", "save", "report", "out", "findings", "labels")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, help="which shell")


def _run(arguments: argparse.Namespace) -> None:
    shtab = optional_module("shtab", purpose="Shell completion", extra="cli")
    for parser in _parsers(arguments.parser):
        for action in parser._actions:
            if action.dest in _FILES and action.choices is None:
                action.complete = shtab.FILE  # type: ignore[attr-defined]
    print(shtab.complete(arguments.parser, shell=arguments.shell))


def _parsers(parser: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """The parser of each command."""
    [commands] = [
        action
        for action in parser._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    return list(commands.choices.values())


COMPLETION = Command(
    name="completion",
    summary="print a script that completes commands and options in a shell",
    description="Print a script that completes commands and options in your shell.",
    add_arguments=_add_arguments,
    run=_run,
    examples=(
        'eval "$(bayesieve completion bash)"     # now, in bash',
        "bayesieve completion fish | source      # now, in fish",
    ),
)
