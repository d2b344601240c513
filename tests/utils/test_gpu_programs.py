"""CUDA compiled when it is needed: where it cannot be, there is none, and no error."""

from __future__ import annotations

import numpy as np
import pytest
from tests.array_libraries import on_cupy, on_strict_device, on_torch, on_torch_gpu

from bayesieve.utils import _gpu_programs

SOURCE = """
extern "C" __global__ void add(const COUNT* a, long long n, double more, double* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + more;
}
"""


@pytest.mark.parametrize("elsewhere", [np.asarray, on_strict_device, on_torch])
def test_there_is_none_without_a_gpu(elsewhere):
    table = elsewhere(np.ones((2, 3)))
    assert _gpu_programs.gpu_program(SOURCE, {}, table) is None


@pytest.mark.parametrize("elsewhere", [on_torch_gpu, on_cupy])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int32, np.uint8, bool])
def test_a_program_runs_after_what_was_asked_before(elsewhere, dtype):
    table = elsewhere(np.arange(600).reshape(2, 300).astype(dtype))
    out = elsewhere(np.zeros(300))
    program = _gpu_programs.gpu_program(SOURCE, {}, table)
    assert program is _gpu_programs.gpu_program(SOURCE, {}, table)
    program.launch("add", table, 2, 256, (table, 300, 0.5, out))
    expected = np.arange(600).reshape(2, 300).astype(dtype)[0] + 0.5
    found = out.get() if hasattr(out, "get") else out.cpu().numpy()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("elsewhere", [on_torch_gpu, on_cupy])
def test_what_does_not_compile_or_lies_otherwise_has_no_program(elsewhere):
    table = elsewhere(np.ones((2, 300)))
    assert _gpu_programs.gpu_program("no CUDA", {}, table) is None
    assert _gpu_programs.gpu_program(SOURCE, {}, table[:, ::2]) is None
    assert _gpu_programs.gpu_program(SOURCE, {}, table.T) is None
    assert _gpu_programs.row_step(table) == 300
