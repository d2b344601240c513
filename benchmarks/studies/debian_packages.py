"""The index of Debian's packages as a table, by the system's own `apt-cache`."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator

import numpy as np
import pandas as pd

COLUMNS = ["priority", "installed_size", "n_dependencies", "maintainer_domain"]
TEXT = "description"
_FEW = 20  # packages of a section that is left out


def paragraphs(lines: Iterable[str]) -> Iterator[dict[str, str]]:
    """Fields of one package after another; continued lines are left out."""
    found: dict[str, str] = {}
    for line in lines:
        if not line.strip():
            if found:
                yield found
            found = {}
        elif line[0] not in " \t":
            name, _, value = line.partition(":")
            found[name] = value.strip()
    if found:
        yield found


def table_of(packages: Iterable[dict[str, str]]) -> tuple[pd.DataFrame, np.ndarray]:
    """Description, columns and section of each package."""
    rows = [package for package in packages if package.get("Section")]
    domains = [re.search(r"@([^>\s]+)", row.get("Maintainer", "")) for row in rows]
    frame = pd.DataFrame(
        {
            TEXT: [row.get("Description", "") for row in rows],
            "priority": [row.get("Priority") for row in rows],
            "installed_size": [float(row.get("Installed-Size", "nan")) for row in rows],
            "n_dependencies": [
                float(row["Depends"].count(",") + 1) if row.get("Depends") else 0.0
                for row in rows
            ],
            "maintainer_domain": [
                None if found is None else found[1].lower() for found in domains
            ],
        }
    )
    section = np.array([row["Section"] for row in rows])
    names, counts = np.unique(section, return_counts=True)
    kept = np.isin(section, names[counts >= _FEW])
    return frame[kept].reset_index(drop=True), section[kept]


def debian_packages() -> tuple[pd.DataFrame, np.ndarray] | None:
    """The packages this system knows of; None where there is no index."""
    if shutil.which("apt-cache") is None:
        return None
    done = subprocess.run(
        ["apt-cache", "dumpavail"], check=False, capture_output=True, text=True
    )
    frame, section = table_of(paragraphs(done.stdout.splitlines()))
    return None if len(frame) < 1000 else (frame, section)
