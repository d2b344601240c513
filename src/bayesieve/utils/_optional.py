"""Packages that bayesieve uses where they are installed and does without elsewhere."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__all__ = ["EXTRAS", "install_hint", "optional_module"]

#: Packages of each extra that a user may be asked for, as pyproject.toml has them.
EXTRAS = {
    "text": ("duckdb", "pyarrow"),
    "excel": ("python-calamine",),
    "plot": ("matplotlib",),
    "cli": ("duckdb", "pyarrow", "pandas", "python-calamine", "shtab"),
    "arrays": ("array-api-compat",),
    "dask": ("dask", "distributed"),
    "anndata": ("anndata", "h5py"),
    "onnx": ("onnx", "skl2onnx"),
}


def install_hint(extra: str) -> str:
    """How to get an extra; packages by name, as that holds however this one came."""
    return f"Hint: pip install {' '.join(EXTRAS[extra])}"


def optional_module(name: str, *, purpose: str, extra: str) -> Any:
    """Import a package of an extra, or say what needs it and how to get it."""
    try:
        return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ModuleNotFoundError(
            f"{purpose} needs {package}, which is not installed. {install_hint(extra)}"
        ) from error
