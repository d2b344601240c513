"""How long a test waits for another process."""

from __future__ import annotations

__all__ = ["HANGS"]

#: Seconds after which a process is taken to hang. Nothing is measured by it: a machine
#: with much else to do may take minutes for what takes a second.
HANGS = 1_800
