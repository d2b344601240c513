"""Modules of benchmarks/ as the tests of the studies load them: by name, from there."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
STUDIES = BENCHMARKS / "studies"


def load(name: str) -> Any:
    """Return a module of benchmarks/studies/ or of benchmarks/."""
    folders = [str(STUDIES), str(BENCHMARKS)]
    sys.path[:0] = folders
    try:
        return importlib.import_module(name)
    finally:
        for folder in folders:
            sys.path.remove(folder)


ledger = load("ledger")
read_parts, write_parts = ledger.read_parts, ledger.write_parts
