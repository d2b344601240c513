"""When has a stream changed? Each chunk's loss against that of the chunks before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["DriftWatch"]


@dataclass
class DriftWatch:
    """Compares the mean loss of new rows, met before learning, with the recent past.

    The past is an exponential average over about `memory` rows. A chunk whose loss is
    ``alarm`` standard errors higher raises an alarm; two in a row, or one that is
    ``sure`` standard errors higher, are a drift. **Heuristic**.

    Attributes
    ----------
    alarms : int
        Chunks in a row whose loss was too high, the last one included.
    """

    memory: float = 20_000.0
    alarm: float = 4.0
    sure: float = 8.0
    mean: float = 0.0
    square: float = 0.0
    rows: float = 0.0
    alarms: int = 0

    def reset(self) -> None:
        """Forget the past."""
        self.mean = self.square = self.rows = 0.0
        self.alarms = 0

    def sees(self, losses: np.ndarray) -> bool:
        """Take the losses of a chunk; tell whether the stream has changed."""
        n = losses.shape[0]
        if n == 0:
            return False
        mean = float(losses.mean())
        if self.rows >= 200 and n >= 30:
            spread = max(self.square - self.mean**2, float(losses.var()), 1e-12)
            error = np.sqrt(spread * (1.0 / n + 1.0 / self.rows))
            score = (mean - self.mean) / error
            if score > self.alarm:
                self.alarms += 1
                # A suspect chunk is kept out of what it is compared with.
                return bool(score > self.sure or self.alarms >= 2)
        self.alarms = 0
        kept = self.rows * np.exp(-n / self.memory)
        total = kept + n
        self.mean = (kept * self.mean + n * mean) / total
        self.square = (kept * self.square + n * float((losses**2).mean())) / total
        self.rows = min(total, self.memory)
        return False
