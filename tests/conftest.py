from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]
collect_ignore = ["studies"]  # unless asked for: `dev.py studies` runs them

# How long an example takes says how busy the machine is, not whether it is right.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# A shell that starts the tests in the background has SIGINT ignored, and children keep
# that. The tests of interruption raise it and mean what it does in a terminal.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def data_folder() -> Path:
    """Return where the real data sets are looked for."""
    named = os.environ.get("BAYESIEVE_DATA")
    return Path(named) if named else ROOT.parent / "shared" / "data"


@cache
def _read(path: Path) -> Any:
    import pandas as pd

    return pd.read_parquet(path)


def load_real_data(name: str) -> Any:
    """Return the data set ``name`` as a pandas DataFrame, or skip the test."""
    folder = data_folder()
    path = folder / f"{name}.parquet"
    if not path.is_file():
        pytest.skip(f"data set {name} is not here (looked in {folder})")
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    return _read(path).copy()


@pytest.fixture(autouse=True)
def figures_are_closed():
    """Close what a test drew: pyplot keeps it, and warns of more than twenty."""
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Any]:
    """``real_data(name)``: a real data set as a DataFrame; skips when it is absent."""
    return load_real_data
