"""The command line: argument parsing and printing over the public names."""

from __future__ import annotations

from bayesieve.cli._app import main

__all__ = ["main"]
