"""Other people's packages in an environment of their own, and a process in it to ask.

A question is one line of JSON, the answer another. Whoever does not answer within the
limit is killed, and the next question starts a new process: some peers need hours where
others need milliseconds.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ledger import progress


def environment_python(folder: Path, requirements: Sequence[str]) -> Path:
    """Return the interpreter of an environment, made when it is not as required."""
    python, stamp = folder / "bin" / "python", folder / "complete.txt"
    wanted = "\n".join(requirements)
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        progress(f"making {folder} with {', '.join(requirements)}")
        install = [str(python), "-m", "pip", "install", "-q", *requirements]
        try:
            make = [sys.executable, "-m", "venv", "--clear", str(folder)]
            subprocess.run(make, check=True)
            subprocess.run(install, check=True)
        except subprocess.CalledProcessError as error:
            sys.exit(
                f"The environment {folder} could not be made (code "
                f"{error.returncode}, see above). Hint: it needs a package index."
            )
        stamp.write_text(wanted, encoding="utf-8")
    return python


class Worker:
    """A process that answers lines of JSON; started when asked, and after a kill."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> None:
        self._command = list(command)
        around = os.environ if environment is None else environment
        self._around = {k: v for k, v in around.items() if k != "PYTHONPATH"}
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=self._around,
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

    def close(self) -> None:
        """End the process."""
        self._end()

    def answer(self, question: Mapping[str, Any], limit: float) -> dict[str, Any]:
        """Return the answer to a question, or `ended` False and `why`.

        Without an answer `why` says what was in the way: the limit (seconds) or the
        code that the process died with.
        """
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = self._start()
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
