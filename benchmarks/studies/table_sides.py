"""The sides of table_classifiers: ours here, each peer in a process of its own.

A side knows the rows and folds of one set. `fit` returns what is to be said of one fit
and the probabilities of the fold's test rows.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from candidates import fitted, kept, make
from own_environment import Worker, environment_python
from table_worker import PEERS
from uci_sets import DataSet, is_text

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = Path(tempfile.gettempdir()) / "bayesieve_tables"
FEW_ROWS = 200
PATIENCE = 7200.0  # seconds to wait at most, however busy the machine is
Answer = tuple[dict[str, Any], Any]


class Package(NamedTuple):
    """Where a peer comes from: its environment, what is installed, what is told."""

    folder: str
    requirements: tuple[str, ...]
    versions: tuple[str, ...]


KHIOPS = Package(
    "khiops",
    ("khiops==11.0.1.1",),  # brings khiops-core, the program, and openmpi
    ("khiops", "khiops-core"),
)
INTERPRET = Package(
    "interpret", ("interpret-core==0.7.8", "pandas"), ("interpret-core",)
)
PACKAGES = {"khiops": KHIOPS, "khiops_no_trees": KHIOPS, "ebm": INTERPRET}


def python_of(peer: str, environments: Path) -> Path:
    """Return the interpreter of a peer; scikit-learn's are run by our own."""
    package = PACKAGES.get(peer)
    if package is None:
        return Path(sys.executable)
    return environment_python(environments / package.folder, package.requirements)


def versions_of(peer: str, environments: Path) -> dict[str, str]:
    """Return versions of what our own surroundings do not name."""
    package = PACKAGES.get(peer)
    if package is None:
        return {}
    ask = (
        "import json, sys; from importlib.metadata import version as v; "
        f"print(json.dumps({{n: v(n) for n in {package.versions!r}}} "
        "| {'python': sys.version.split()[0]}))"
    )
    command = [str(python_of(peer, environments)), "-c", ask]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


class PeerSide(Worker):
    """One peer on one set: a process of table_worker.py."""

    def __init__(
        self, peer: str, environments: Path, data: DataSet, y: Any, folds: Any
    ) -> None:
        python = python_of(peer, environments)
        self._folder = tempfile.TemporaryDirectory(prefix="tables_")
        path = Path(self._folder.name) / "data.pickle"
        # Plain arrays: the environments may have different versions of pandas.
        columns = [
            (
                str(name),
                np.asarray(data.X[name], object if is_text(data.X[name]) else None),
            )
            for name in data.X
        ]
        stored = {"columns": columns, "y": y, "folds": folds}
        path.write_bytes(pickle.dumps(stored, protocol=5))
        around = {
            **os.environ,
            "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
            "KHIOPS_PROC_NUMBER": "1",  # the serial program; 2 would choose it as well
            # One process needs no transport; looking for one costs a second a call.
            "OMPI_MCA_btl": "self",
            "OMPI_MCA_pml": "ob1",
        }
        program = str(HERE / "table_worker.py")
        super().__init__([str(python), program, peer, str(path)], around)

    def fit(self, fold: int, *, limit: float, predict: bool = True) -> Answer:
        """Return what the worker says of one fit, and the test probabilities.

        The limit is of processor seconds.
        """
        path = Path(self._folder.name) / "proba.npy"
        asked = {"fold": fold, "proba": str(path) if predict else None, "limit": limit}
        facts = self.answer(asked, PATIENCE)
        if facts.get("why") == f"died, code {-signal.SIGPROF}":
            facts["why"] = f"no end within {limit:g} s"
        return facts, np.load(path) if predict and facts["ended"] else None

    def close(self) -> None:
        """End the process and remove its files."""
        super().close()
        self._folder.cleanup()


class OwnSide:
    """One of our estimators on one set."""

    def __init__(self, words: list[str], data: DataSet, y: Any, folds: Any) -> None:
        self._words, self._data, self._y, self._folds = words, data, y, folds
        # Once on few rows, so that imports are not measured; the workers do so too.
        few = np.random.default_rng(0).permutation(y.shape[0])[:FEW_ROWS]
        make(words).fit(data.X.iloc[few], y[few])

    def fit(self, fold: int, *, limit: float, predict: bool = True) -> Answer:
        """Return the same facts that a worker gives, and the test probabilities."""
        train, test = self._folds[fold]
        X, y = self._data.X, self._y
        model, seconds = fitted(self._words, X.iloc[train], y[train])
        facts = {
            "ended": True,
            "seconds": seconds,
            "kept": kept(model),
            "classes": [int(c) for c in model.classes_],
        }
        return facts, model.predict_proba(X.iloc[test]) if predict else None

    def close(self) -> None:
        """There is nothing to end."""


def side_of(
    name: str, words: dict[str, list[str]], environments: Path, *rows: Any
) -> PeerSide | OwnSide:
    """Return a peer by its name, or one of ours by its key in `words`."""
    if name in PEERS:
        return PeerSide(name, environments, *rows)
    return OwnSide(words[name], *rows)
