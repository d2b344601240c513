"""The one type of arrays in annotations."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

__all__ = ["Array"]

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
