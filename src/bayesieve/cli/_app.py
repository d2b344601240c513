"""The program ``bayesieve``: finds the command and turns errors into exit codes."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

from bayesieve.cli._alternatives import ALTERNATIVES
from bayesieve.cli._command import (
    EXIT_ERROR,
    EXIT_INTERRUPTED,
    EXIT_OK,
    Command,
    CommandError,
)
from bayesieve.cli._compare import COMPARE
from bayesieve.cli._completion import COMPLETION
from bayesieve.cli._counts import COUNTS
from bayesieve.cli._demo import DEMO
from bayesieve.cli._explain import EXPLAIN
from bayesieve.cli._export import EXPORT
from bayesieve.cli._inspect import INSPECT
from bayesieve.cli._interrupts import InterruptWatch
from bayesieve.cli._path import PATH
from bayesieve.cli._predict import PREDICT
from bayesieve.cli._report import REPORT
from bayesieve.cli._select import SELECT
from bayesieve.cli._told import complain, forget_told, shortened, tell

__all__ = ["COMMANDS", "build_parser", "main"]

COMMANDS: tuple[Command, ...] = (
    DEMO,
    INSPECT,
    SELECT,
    PATH,
    PREDICT,
    EXPLAIN,
    ALTERNATIVES,
    COMPARE,
    COUNTS,
    REPORT,
    EXPORT,
    COMPLETION,
)


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line, as every other error here."""

    def error(self, message: str) -> NoReturn:
        complain(f"{message} (see '{self.prog} --help')")
        raise SystemExit(EXIT_ERROR)


class _Version(argparse.Action):
    """Print the installed version; looked up only when asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import version

        print(f"bayesieve {version('bayesieve')}")
        raise SystemExit(EXIT_OK)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        The arguments, without the program's name. None takes those of the process.

    Returns
    -------
    code : int
        0, or 2 after a usage or data error (one line on stderr), or 130 after Ctrl-C.

    Examples
    --------
    >>> from bayesieve.cli import main
    >>> main(["demo", "-k", "0"])
    2
    """
    # Closed by the caller; libraries may write to it all the same.
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    try:
        code = _run(argv)
        if sys.stdout is not None:  # None when the caller closed it
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        complain("interrupted")
        return EXIT_INTERRUPTED
    except OSError as error:  # from writing to stdout
        # Python flushes stdout once more on its way out, which must not fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if _is_broken_pipe(error):  # the reader, such as `head`, has seen enough
            return EXIT_OK
        complain(f"cannot write the output: {error}")
        return EXIT_ERROR


def _obeyed(arguments: argparse.Namespace) -> Any:
    """Run the command; an error after Ctrl-C is the interruption itself.

    A library that is interrupted while it is imported may raise an error of its own.
    """
    watch = InterruptWatch()
    try:
        with watch:
            return arguments.command.run(arguments)
    except Exception:
        if watch.interrupted:
            raise KeyboardInterrupt from None
        raise


def _run(argv: Sequence[str] | None) -> int:
    """Parse the arguments and run the command they name."""
    parser = build_parser()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:  # argparse's way to end after --help or an error
        return int(stop.code or EXIT_OK)
    if arguments.command is None:
        parser.print_help()
        return EXIT_OK
    given = sys.argv[1:] if argv is None else list(argv)
    arguments.command_line = ["bayesieve", *given]
    arguments.parser = parser
    forget_told()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            # Warnings for those who write programs say nothing to those who run this.
            warnings.simplefilter("ignore", DeprecationWarning)
            warnings.simplefilter("ignore", FutureWarning)
            warnings.showwarning = _show_warning
            return _obeyed(arguments) or EXIT_OK
    except (CommandError, ValueError, ImportError) as error:
        from bayesieve.cli._error_wording import in_options

        # Shortened first: looking for words in megabytes of a file takes its time.
        complain(in_options(shortened(str(error))))
        return EXIT_ERROR
    except MemoryError:
        complain("the data needs more memory than there is")
        return EXIT_ERROR
    except RecursionError:
        complain("a file is nested too deeply to be read")
        return EXIT_ERROR
    except OSError as error:
        if _is_broken_pipe(error) or (
            error.errno == errno.ENOSPC and error.filename is None
        ):
            raise
        complain(_told(error))
        return EXIT_ERROR
    except Exception as error:
        # Nobody who runs a program can do anything with where it stopped.
        if os.environ.get("BAYESIEVE_TRACEBACK"):
            raise
        complain(
            f"unexpected {type(error).__name__}: {error} (a fault of bayesieve; "
            "BAYESIEVE_TRACEBACK=1 shows where)"
        )
        return EXIT_ERROR


def _told(error: OSError) -> str:
    """Return an error of the system without its number."""
    if error.strerror is None or error.filename is None:
        from bayesieve.cli._error_wording import in_options

        return in_options(shortened(str(error)))
    return f"{error.filename!r}: {error.strerror.lower()}"


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every command in it."""
    parser = _Parser(
        prog="bayesieve",
        description="Find the few features that matter, with a proof: "
        "certified sparse naive Bayes.",
        epilog="Start with: bayesieve demo",
    )
    parser.add_argument(
        "--version", action=_Version, nargs=0, help="print the version and exit"
    )
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        subparser = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.description,
            epilog=_examples(command),
            formatter_class=_Help,
        )
        command.add_arguments(subparser)
        subparser.set_defaults(command=command)
    return parser


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help whose examples keep their lines, and whose description is filled."""

    def _format_text(self, text: str) -> str:
        if text.startswith("examples:"):
            return text + "\n"
        return (
            argparse.HelpFormatter._fill_text(
                self, text, self._width - self._current_indent, ""
            )
            + "\n\n"
        )


def _examples(command: Command) -> str | None:
    if not command.examples:
        return None
    return "\n".join(["examples:", *(f"  {line}" for line in command.examples)])


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Show a warning as one line, without the source line it came from."""
    tell(f"warning: {message}")


def _is_broken_pipe(error: OSError) -> bool:
    """Tell whether stdout's reader is gone (Windows reports it as EINVAL)."""
    return isinstance(error, BrokenPipeError) or (
        sys.platform == "win32" and error.errno == errno.EINVAL
    )
