"""The public names of the reader; `__init__.py` imports them by this list."""

from ._inspect import ColumnFacts as ColumnFacts
from ._inspect import Inspection as Inspection
from ._inspect import inspect as inspect

__all__ = ["ColumnFacts", "Inspection", "inspect"]
