"""Other people's packages, in an environment of their own, behind one small interface.

`PeerWorker` starts peer_worker.py there with the training rows of one split. A question
is a selector and its options, the answer its columns and seconds. Whoever does not
answer within the limit is killed, and the next question starts a new process: some
peers need hours where others need milliseconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import sklearn
from ledger import progress
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
    python, stamp = folder / "bin" / "python", folder / "complete.txt"
    wanted = "\n".join(requirements())
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        progress(f"making {folder} with {', '.join(requirements())}")
        install = [str(python), "-m", "pip", "install", "-q", *requirements()]
        try:
            make = [sys.executable, "-m", "venv", "--clear", str(folder)]
            subprocess.run(make, check=True)
            subprocess.run(install, check=True)
        except subprocess.CalledProcessError as error:
            sys.exit(
                f"The peers' environment {folder} could not be made (code "
                f"{error.returncode}, see above). Hint: it needs a package index."
            )
        stamp.write_text(wanted, encoding="utf-8")
    return python


class PeerWorker:
    """A process of the peers' environment that knows the rows of one split."""

    def __init__(self, X: Any, y: np.ndarray, environment: Path = DEFAULT) -> None:
        self._python = peer_python(environment)
        self._folder = tempfile.TemporaryDirectory(prefix="peers_")
        self._data = Path(self._folder.name) / "rows.npz"
        self._labels = Path(self._folder.name) / "labels.npy"
        sparse.save_npz(self._data, sparse.csr_matrix(X), compressed=False)
        np.save(self._labels, y)
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> PeerWorker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end()
        self._folder.cleanup()

    def _start(self) -> subprocess.Popen[str]:
        around = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        process = subprocess.Popen(
            [
                str(self._python),
                str(HERE / "peer_worker.py"),
                str(self._data),
                str(self._labels),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=around,
            start_new_session=True,
        )
        process.stdout.readline()  # imports and rows are there
        return process

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):  # its own helpers go with it
            os.killpg(self._process.pid, signal.SIGKILL)

    def _end(self) -> None:
        if self._process is not None:
            self._kill()
            self._process.wait()
            self._process.stdin.close()
            self._process.stdout.close()
            self._process = None

    def ask(self, selector: str, *, limit: float, **options: Any) -> dict[str, Any]:
        """Return the answer of a selector; `ended` is False when there is none.

        With an end there are `seconds` and `support` (columns) or, for selectors of
        several sizes at once, `supports`; peer_worker.py says what else. Without one
        `why` says what was in the way: the limit (seconds), memory, the peer's error.
        """
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = self._start()
        question = {"selector": selector, "limit": limit, **options}
        print(json.dumps(question), file=self._process.stdin, flush=True)
        late = threading.Event()
        clock = threading.Timer(limit, lambda: (late.set(), self._kill()))
        clock.start()
        try:
            line = self._process.stdout.readline()
        finally:
            clock.cancel()
        if not line:
            code = self._process.wait()
            self._end()
            why = (
                f"no end within {limit:g} s" if late.is_set() else f"died, code {code}"
            )
            return {"ended": False, "why": why}
        return json.loads(line)
