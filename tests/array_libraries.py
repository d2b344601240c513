"""Tables put where NumPy does not read them: on another device, real or pretended."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest

__all__ = ["on_cupy", "on_strict_device", "on_torch", "on_torch_gpu"]


def on_strict_device(table):
    """An array that NumPy cannot read, and that meets no array of another device."""
    device = array_api_strict.Device("device1")
    return array_api_strict.asarray(np.array(table), device=device)


def on_torch(table):
    """A tensor in the memory of the host."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return torch.from_numpy(np.array(table))


def on_torch_gpu(table):
    """A tensor on a GPU, where there is one."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU here")
    return torch.from_numpy(np.array(table)).cuda()


def on_cupy(table):
    """An array of CuPy, where it is installed and has a GPU."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    try:
        return cupy.asarray(table)
    except cupy.cuda.runtime.CUDARuntimeError:
        pytest.skip("CuPy has no GPU here")
