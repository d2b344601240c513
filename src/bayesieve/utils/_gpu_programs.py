"""CUDA source that is compiled when it is first needed, for PyTorch and for CuPy.

No library is asked for beyond the one whose array is passed: CuPy compiles by itself,
for PyTorch its own copy of NVRTC is called. Where that is not to be had, or fails,
there is no program, and whoever asked does the same by the array API.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["GpuProgram", "gpu_program"]

#: C names of the types of counts.
_C_NAMES = {
    "bool": "unsigned char",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
}
#: By source, macros and device; None is one that failed, which is not tried again.
_PROGRAMS: dict[tuple[str, tuple[str, ...], str], GpuProgram | None] = {}


class GpuProgram:
    """The kernels of a source, compiled for one device."""

    def launch(
        self, name: str, like: Any, blocks: int, threads: int, arguments: Sequence[Any]
    ) -> None:
        """Run a kernel after what its library has asked of this device so far.

        Arguments are arrays on the device, whole numbers (64 bits) or numbers.
        """
        raise NotImplementedError


def gpu_program(source: str, macros: dict[str, int], counts: Any) -> Any:
    """The program for counts (K, m), their type being ``COUNT``; None if there is none.

    Their columns must be neighbours in memory.
    """
    library = type(counts).__module__.partition(".")[0]
    make = {"torch": _TorchProgram, "cupy": _CupyProgram}.get(library)
    c_name = _C_NAMES.get(str(counts.dtype).removeprefix("torch."))
    if make is None or c_name is None or column_step(counts) != 1:
        return None
    given = {"COUNT": c_name} | {name: str(value) for name, value in macros.items()}
    options = tuple(f"-D{name}={value}" for name, value in given.items())
    key = source, options, f"{library} {counts.device}"
    if key not in _PROGRAMS:
        try:
            _PROGRAMS[key] = make(source, options, counts)
        except (AttributeError, ImportError, OSError, RuntimeError):
            _PROGRAMS[key] = None
    return _PROGRAMS[key]


def column_step(counts: Any) -> int:
    """How many places lie between neighbouring columns."""
    return _steps(counts)[1]


def row_step(counts: Any) -> int:
    """How many places lie between neighbouring rows."""
    return _steps(counts)[0]


def _steps(counts: Any) -> tuple[int, int]:
    if callable(getattr(counts, "stride", None)):
        steps = counts.stride()
    else:
        steps = [step // counts.itemsize for step in counts.strides]
    return int(steps[0]), int(steps[1])


class _CupyProgram(GpuProgram):
    def __init__(self, source: str, options: tuple[str, ...], like: Any) -> None:
        cupy = sys.modules["cupy"]
        with like.device:
            self._module = cupy.RawModule(code=source, options=("-std=c++17", *options))
            try:
                self._module.compile()
            except cupy.cuda.compiler.CompileException as error:
                raise RuntimeError(str(error)) from error

    def launch(
        self, name: str, like: Any, blocks: int, threads: int, arguments: Sequence[Any]
    ) -> None:
        given = tuple(
            np.int64(one) if isinstance(one, int) else one for one in arguments
        )
        with like.device:
            self._module.get_function(name)((blocks,), (threads,), given)


class _TorchProgram(GpuProgram):
    """By NVRTC and the driver, through ctypes: PyTorch has no public way to them."""

    def __init__(self, source: str, options: tuple[str, ...], like: Any) -> None:
        torch = sys.modules["torch"]
        if like.device.type != "cuda" or torch.version.cuda is None:
            raise RuntimeError("no CUDA")
        self._torch = torch
        major, minor = torch.cuda.get_device_capability(like.device)
        architecture = f"--gpu-architecture=sm_{major}{minor}"
        image = _compiled(
            _nvrtc(torch.version.cuda), source, ("-std=c++17", architecture, *options)
        )
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._module = ctypes.c_void_p()
        self._kernels: dict[str, ctypes.c_void_p] = {}
        with torch.cuda.device(like.device):
            torch.cuda.current_stream().synchronize()  # the device has its context now
            _check(self._driver.cuModuleLoadData(ctypes.byref(self._module), image))

    def launch(
        self, name: str, like: Any, blocks: int, threads: int, arguments: Sequence[Any]
    ) -> None:
        values = [_c_value(one) for one in arguments]
        places = [ctypes.cast(ctypes.byref(one), ctypes.c_void_p) for one in values]
        with self._torch.cuda.device(like.device):
            if name not in self._kernels:
                kernel = ctypes.c_void_p()
                found = self._driver.cuModuleGetFunction(
                    ctypes.byref(kernel), self._module, name.encode()
                )
                _check(found)
                self._kernels[name] = kernel
            stream = ctypes.c_void_p(self._torch.cuda.current_stream().cuda_stream)
            launched = self._driver.cuLaunchKernel(
                self._kernels[name],
                *(blocks, 1, 1),
                *(threads, 1, 1),
                *(0, stream),
                (ctypes.c_void_p * len(places))(*places),
                None,
            )
            _check(launched)


def _c_value(value: Any) -> Any:
    if isinstance(value, int):
        return ctypes.c_longlong(value)
    if isinstance(value, float):
        return ctypes.c_double(value)
    return ctypes.c_void_p(value.data_ptr())


def _check(code: int) -> None:
    if code:
        raise RuntimeError(f"error {code} of the CUDA driver")


def _nvrtc(version: str) -> ctypes.CDLL:
    """The compiler that PyTorch was built with, which it loads or has beside it."""
    major, minor = version.split(".")[:2]
    names = [f"libnvrtc.so.{major}", f"libnvrtc.so.{major}.{minor}", "libnvrtc.so"]
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise OSError("no NVRTC")


def _compiled(nvrtc: ctypes.CDLL, source: str, options: tuple[str, ...]) -> Any:
    """A source compiled for one kind of device, as the driver loads it."""

    def call(name: str, *arguments: Any) -> None:
        if getattr(nvrtc, name)(*arguments):
            raise RuntimeError(f"{name} of NVRTC failed")

    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    text = source.encode()
    call("nvrtcCreateProgram", ctypes.byref(program), text, b"passes.cu", 0, None, None)
    try:
        given = (ctypes.c_char_p * len(options))(*(one.encode() for one in options))
        call("nvrtcCompileProgram", program, len(options), given)
        call("nvrtcGetCUBINSize", program, ctypes.byref(size))
        image = ctypes.create_string_buffer(size.value)
        call("nvrtcGetCUBIN", program, image)
    finally:
        nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return image
