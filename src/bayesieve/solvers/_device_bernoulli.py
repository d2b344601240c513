"""Bernoulli counts on a device: the columns of largest gain, and what the others add.

One pass finds out which columns could be among the largest; the compiled core computes
their gains on the host, so that they are those of any table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayesieve.solvers._additive import AdditiveProblem
from bayesieve.solvers._columns import ROUNDING
from bayesieve.solvers._device_table import DeviceTable
from bayesieve.solvers._logs import Floats
from bayesieve.solvers._topk import top_k

__all__ = ["leading_columns", "null_value"]
