"""Passes over class counts on a GPU that read every count once.

They do what the passes by the array API do, in a fraction of the time, where PyTorch or
CuPy can compile them; elsewhere there are none.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from bayesieve.solvers._device_table import DeviceTable
from bayesieve.solvers._logs import Floats
from bayesieve.utils._computed_once import computed_once
from bayesieve.utils._gpu_programs import gpu_program, row_step

__all__ = ["DevicePasses", "FoundCounts", "FoundPresences"]

#: As the source has it.
_THREADS = 256
#: So many at any size of a device, so that sums are always added in the same order.
_BLOCKS = 2048
#: Counts of a column are held in registers.
_MOST_CLASSES = 16


@dataclass(frozen=True)
class FoundCounts:
    """What a pass over counts found; columns on the device, None if too many."""

    class_sums: Floats  # of each block, (n, K)
    whole: Floats  # sum of G log G of each block
    n_filled: int
    columns: Any


@dataclass(frozen=True)
class FoundPresences:
    """What a pass over presences found; gains are rounded up."""

    null_values: Floats  # of each block
    columns: Any
    gains: Any


class DevicePasses:
    """The compiled passes for one table; each gives None where it cannot be run."""

    def __init__(self, table: DeviceTable, alpha: Floats) -> None:
        self._table, self._alpha = table, alpha

    @computed_once
    def _program(self) -> Any:
        n_classes = self._table.shape[0]
        if n_classes > _MOST_CLASSES:
            return None
        source = files("bayesieve.solvers") / "device_passes.cu"
        macros = {"CLASSES": n_classes}
        text = source.read_text(encoding="utf-8")
        return gpu_program(text, macros, self._table.counts)

    @computed_once
    def _smoothing(self) -> Any:
        return self._table.there(self._alpha)

    def counts(self, least: float, room: int) -> FoundCounts | None:
        """Sums, and the columns with a count whose smoothed total reaches this.

        None also where a cell is no count: then it must be found.
        """
        table, n_classes = self._table, self._table.shape[0]
        if self._program is None:
            return None
        sums = table.empty((_BLOCKS, n_classes + 3))
        found, n_found = table.empty(room, "int64"), table.zeros(1, "int64")
        self._launch("scan_counts", least, sums, found, n_found, room)
        fetched = table.fetched(sums)
        if fetched[:, n_classes + 2].any():
            return None
        n, columns = int(n_found[0]), None
        if n <= room:
            columns = table.xp.sort(found[:n])
        return FoundCounts(
            fetched[:, :n_classes],
            fetched[:, n_classes],
            int(fetched[:, n_classes + 1].sum()),
            columns,
        )

    def presences(self, rows: Floats, least: float, room: int) -> FoundPresences | None:
        """Null values, and the columns that vary and may have this gain.

        None also where they are too many, or a cell is no number of rows.
        """
        table = self._table
        if self._program is None:
            return None
        sums = table.empty((_BLOCKS, 2))
        found, n_found = table.empty(room, "int64"), table.zeros(1, "int64")
        gains = table.empty(room)
        self._launch(
            *("scan_presences", least, sums, found, n_found, room),
            before=(table.there(rows),),
            gains=(gains,),
        )
        fetched, n = table.fetched(sums), int(n_found[0])
        if fetched[:, 1].any() or n > room:
            return None
        return FoundPresences(fetched[:, 0], found[:n], gains[:n])

    def _launch(
        self,
        name: str,
        least: float,
        sums: Any,
        found: Any,
        n_found: Any,
        room: int,
        *,
        before: tuple[Any, ...] = (),
        gains: tuple[Any, ...] = (),
    ) -> None:
        counts, step = self._table.counts, int(self._alpha.shape[0] > 1)
        self._program.launch(
            name,
            counts,
            _BLOCKS,
            _THREADS,
            (
                *(counts, row_step(counts), self._table.shape[1], *before),
                *(self._smoothing, step, float(least), sums, found, *gains),
                *(n_found, room),
            ),
        )
