"""When has a stream changed? Each chunk's loss against that of the chunks before."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

__all__ = ["DriftWatch"]


# Rows below which a mean says too little: shorter chunks are judged together.
_LEAST_ROWS = 30


@dataclass
class DriftWatch:
    """Compares the mean loss of new rows, met before learning, with the recent past.

    The past is an exponential average over about `memory` rows. Rows whose mean loss is
    ``alarm`` standard errors higher raise an alarm; two in a row, or one that is
    ``sure`` standard errors higher, are a drift. **Heuristic**.

    Attributes
    ----------
    suspect_rows : int
        Latest rows that may be of a changed stream.
    """

    memory: float = 20_000.0
    alarm: float = 4.0
    sure: float = 8.0
    mean: float = 0.0
    square: float = 0.0
    rows: float = 0.0
    alarms: int = 0
    suspect_rows: int = 0
    waiting: list[np.ndarray] = field(default_factory=list)

    def reset(self) -> None:
        """Forget the past."""
        self.mean = self.square = self.rows = 0.0
        self.alarms = self.suspect_rows = 0
        self.waiting = []

    def sees(self, losses: np.ndarray) -> bool:
        """Take the losses of new rows; tell whether the stream has changed."""
        self.waiting.append(losses)
        self.suspect_rows += losses.shape[0]
        if sum(part.shape[0] for part in self.waiting) < _LEAST_ROWS:
            return False
        losses = np.concatenate(self.waiting)
        self.waiting = []
        n, mean = losses.shape[0], float(losses.mean())
        if self.rows >= 200:
            spread = max(self.square - self.mean**2, float(losses.var()), 1e-12)
            error = np.sqrt(spread * (1.0 / n + 1.0 / self.rows))
            score = (mean - self.mean) / error
            if score > self.alarm:
                self.alarms += 1
                # Suspect rows are kept out of what they are compared with.
                return bool(score > self.sure or self.alarms >= 2)
        self.alarms = self.suspect_rows = 0
        kept = self.rows * np.exp(-n / self.memory)
        total = kept + n
        self.mean = (kept * self.mean + n * mean) / total
        self.square = (kept * self.square + n * float((losses**2).mean())) / total
        self.rows = min(total, self.memory)
        return False
