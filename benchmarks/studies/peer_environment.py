"""The selectors of other people: their packages, and a process that knows the rows.

`PeerWorker` starts peer_worker.py in the peers' environment with the training rows of
one split. A question is a selector and its options, the answer its columns and seconds.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import sklearn
from own_environment import Worker, environment_python
from scipy import sparse

HERE = Path(__file__).resolve().parent
DEFAULT = Path(tempfile.gettempdir()) / "bayesieve_peers"
PEERS = {
    "naive-feature-selection": "0.0.1",  # the published code of the paper
    "mrmr-selection": "0.2.8",
    "abess": "0.4.11",
    "celer": "0.7.4",
}


def requirements() -> list[str]:
    """Return what the environment holds: the peers, and our own scikit-learn."""
    ours = f"scikit-learn=={sklearn.__version__}"
    return [*(f"{name}=={version}" for name, version in PEERS.items()), ours]


def peer_python(folder: Path = DEFAULT) -> Path:
    """Return the interpreter of the environment, made when it is not there."""
    return environment_python(folder, requirements())


class PeerWorker(Worker):
    """A process of the peers' environment that knows the rows of one split."""

    def __init__(self, X: Any, y: np.ndarray, environment: Path = DEFAULT) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="peers_")
        rows = Path(self._folder.name) / "rows.npz"
        labels = Path(self._folder.name) / "labels.npy"
        sparse.save_npz(rows, sparse.csr_matrix(X), compressed=False)
        np.save(labels, y)
        program = [str(peer_python(environment)), str(HERE / "peer_worker.py")]
        super().__init__([*program, str(rows), str(labels)])

    def close(self) -> None:
        """End the process and remove its files."""
        super().close()
        self._folder.cleanup()

    def ask(self, selector: str, *, limit: float, **options: Any) -> dict[str, Any]:
        """Return the answer of a selector; `ended` is False when there is none.

        With an end there are `seconds` and `support` (columns) or, for selectors of
        several sizes at once, `supports`; peer_worker.py says what else. Without one
        `why` says what was in the way: the limit (seconds), memory, the peer's error.
        """
        question = {"selector": selector, "limit": limit, **options}
        return self.answer(question, limit)
