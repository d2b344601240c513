"""Files that are made to be read by DuckDB, and go when they are no longer needed."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Iterable

from bayesieve.utils._computed_once import computed_once

__all__ = ["TemporaryFiles"]


class TemporaryFiles:
    """A folder that is there once it is needed, and goes with its owner.

    It goes as well when the program ends, by Ctrl-C or an error too.
    """

    def __init__(self) -> None:
        name = f"bayesieve-{secrets.token_hex(8)}"
        #: Known before it is there: a database is told once what it may read.
        self.folder = os.path.join(tempfile.gettempdir(), name)
        self._number = 0

    @computed_once
    def _made(self) -> str:
        weakref.finalize(self, _remove, self.folder, os.getpid())
        os.mkdir(self.folder, 0o700)
        return self.folder

    def written(self, blocks: Iterable[bytes], told: str) -> str:
        """Write a file and return where it is; `told` is what it is made of."""
        self._number += 1
        path = os.path.join(self._made, f"{self._number}")
        try:
            with open(path, "wb") as file:
                for block in blocks:
                    file.write(block)
        except OSError as error:
            if error.filename is None and error.errno is not None:
                raise ValueError(
                    f"A copy of {told} cannot be written to {tempfile.gettempdir()!r}: "
                    f"{(error.strerror or str(error)).lower()}. Hint: TMPDIR names "
                    "another folder."
                ) from None
            raise
        except BaseException:
            os.unlink(path)
            raise
        return path


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # and not in a process that was forked meanwhile
        shutil.rmtree(folder, ignore_errors=True)
