"""A graph of ONNX operators as it grows: nodes, constants, and names that stay apart.

Only operators whose meaning has not changed since opset 13 (ai.onnx.ml: 3) are used, so
that the same nodes can stand in a model of any later opset.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from bayesieve.utils._optional import optional_module

__all__ = ["IR_VERSION", "ML", "ML_OPSET", "OPSET", "Graph", "onnx_module"]

ML = "ai.onnx.ml"
#: As of ONNX 1.11: the oldest with trees that compare doubles.
OPSET, ML_OPSET, IR_VERSION = 16, 3, 8


def onnx_module() -> Any:
    """The onnx package."""
    return optional_module("onnx", purpose="to_onnx", extra="onnx")


def check_text(given: str, what: str, where: str = "") -> None:
    """Refuse strings that no file of ONNX can hold."""
    try:
        given.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{what} must be text that UTF-8 can write in ONNX, not half a surrogate "
            f"pair. Got {given!r:.80}{where}."
        ) from None


class Graph:
    """Nodes and constants of a graph; values are names of what a node gives.

    Parameters
    ----------
    taken : collection of str
        Names that are in use already, such as those of inputs and outputs.
    unique : callable, optional
        Makes a name that nobody else has from one; for graphs of others.
    """

    def __init__(
        self, taken: Collection[str], unique: Callable[[str], str] | None = None
    ) -> None:
        self._onnx = onnx_module()
        self._taken = set(taken)
        self._unique = unique
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def name(self, wanted: str) -> str:
        """A name for something new."""
        if self._unique is not None:
            return self._unique(wanted)
        found, number = wanted, 1
        while found in self._taken:
            number += 1
            found = f"{wanted}_{number}"
        self._taken.add(found)
        return found

    def constant(self, values: Any, wanted: str = "constant") -> str:
        """An array as a value."""
        name = self.name(wanted)
        tensor = self._onnx.numpy_helper.from_array(np.asarray(values), name)
        self.constants.append(tensor)
        return name

    def attribute(self, values: np.ndarray, name: str) -> Any:
        """An array as an attribute of a node."""
        return self._onnx.numpy_helper.from_array(values, name)

    def add(
        self,
        operator: str,
        *inputs: str,
        domain: str = "",
        output: str | None = None,
        **attributes: Any,
    ) -> str:
        """Add a node; what it gives."""
        found = self.name(operator.lower()) if output is None else output
        node = self._onnx.helper.make_node(
            operator, [*inputs], [found], domain=domain, **attributes
        )
        self.nodes.append(node)
        return found

    def cast(self, value: str, dtype: type, output: str | None = None) -> str:
        """A value as another type."""
        to = self._onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", value, to=int(to), output=output)

    def compared(self, operator: str, value: str, other: Any) -> str:
        """Whether doubles are ``Equal`` to a constant, ``Greater`` and so on."""
        return self.add(operator, value, self.constant(np.float64(other)))
