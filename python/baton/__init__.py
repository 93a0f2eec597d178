"""Baton: loads GPU kernels, checks every launch, and runs programs of kernels.

    import baton
    m = baton.compile("saxpy.cu")
    m["saxpy"][baton.ceildiv(n, 256), 256](y, x, 2.0, n)

The same runs on an NVIDIA GPU and on the simulated GPU, on a machine with none. docs/python.md has
the whole of it. Importing this module imports no array library.
"""

from __future__ import annotations

from . import _ending
from ._core import (Array, Device, Event, Kernel, LibraryFunction, Module, Plan, Pointer, Stream, __version__,
                    array, devices, on, open_device)
from ._errors import (ArgumentError, CompileError, DeviceError, Error, FaultError, FindingError,
                      FindingWarning, LimitError, NotFoundError, OutOfMemoryError, TimeoutError,
                      UnsupportedError)
from ._files import cmake_prefix, search_packages
from ._load import compile, load, load_library
from ._bound_program import BoundProgram
from ._bundle import Bundle, bundle, check, sign
from ._program import Program

search_packages()

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import (cute as cute, numba as numba, tilelang as tilelang, triton as triton,
                   tvm_ffi as tvm_ffi,
                   warp as warp)
    from ._capture import CapturedProgram, capture
    from ._merge import CapturedBuffer
    from ._record import Hole
    from ._builder import Expression, ProgramBuilder, ceildiv_of
    from ._tools import bench, doctor, inspect, tune
    from ._values import (AccessCounts, CheckedLaunch, CheckReport, Comparison, CompletedStep, Edge,
                          EdgeAdvice, ExpectedOutput, Finding, Occupancy, Parameter, ProgramBuffer, RunReport,
                          ScheduleDifference, ScheduleRun, StepReport, TracedEdge, TraceReport)

# Imported at their first use: they take longer than all of the rest.
_LAZY = {
    "_capture": ("CapturedProgram", "capture"),
    "_merge": ("CapturedBuffer",),
    "_record": ("Hole",),
    "_builder": ("Expression", "ProgramBuilder", "ceildiv_of"),
    "_tools": ("bench", "doctor", "inspect", "tune"),
    "_values": ("AccessCounts", "CheckedLaunch", "CheckReport", "Comparison", "CompletedStep", "Edge",
                "EdgeAdvice", "ExpectedOutput", "Finding", "Occupancy", "Parameter", "ProgramBuffer", "RunReport",
                "ScheduleDifference", "ScheduleRun", "StepReport", "TracedEdge", "TraceReport"),
}


# Modules of the package that no other one needs.
_MODULES = ("cute", "numba", "tilelang", "triton", "tvm_ffi", "warp")


def __getattr__(name: str) -> object:
    if name in _MODULES:
        from importlib import import_module
        return import_module(f".{name}", __name__)
    for module, names in _LAZY.items():
        if name in names:
            from importlib import import_module
            value = getattr(import_module(f".{module}", __name__), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'baton' has no attribute {name!r}")


def __dir__() -> list[str]:
    special = (name for name in globals() if name.startswith("__"))
    return sorted({*special, *__all__, *_MODULES})


def device(spec: str | None = None) -> Device:
    """Opens a device: "sim", "sim:h200", "cuda", "cuda:1".

    Without a name it is that of `with baton.on(...)`, otherwise the one that the command line
    chooses: BATON_DEVICE, the first GPU, or the simulated GPU.

    Raises Error for an unknown name, and DeviceError where there is no such device.
    """
    return open_device(spec)


def stream(given: object = None, device: Device | str | None = None) -> Stream:
    """A stream for `with baton.stream(s):`, which makes it the stream of this thread's calls.

    `given` is a baton.Stream, a stream of another library, or the address of a CUstream. Without
    it a new stream of the device is made.

    Raises ArgumentError for what is no stream.
    """
    if given is None:
        return Stream(device)
    return given if isinstance(given, Stream) else Stream.adopt(given, device)


def empty(shape: int | tuple[int, ...], dtype: str, device: Device | str | None = None, *,
          stream: Stream | None = None) -> Array:
    """An array in memory of the device, with undefined contents.

    shape: an int, or a tuple of extents in elements; () is one element.
    dtype: "f32", "bf16", "i64" and so on, or a dtype of NumPy or torch.
    stream: allocates and frees in the order of that stream, without a wait.

    Raises ArgumentError, LimitError for an extent that is negative, and OutOfMemoryError.
    """
    if device is None and isinstance(stream, Stream):
        device = stream.device
    return _device(device).empty(shape, dtype, stream=stream)


def zeros(shape: int | tuple[int, ...], dtype: str, device: Device | str | None = None) -> Array:
    """An array of zeros in memory of the device; see `baton.empty`. Waits for all work on the device."""
    return empty(shape, dtype, device).zero()


def ceildiv(count: int, size: int) -> int:
    """The number of groups of `size` that cover `count`: the quotient, rounded up."""
    return -(-count // size)


def _device(given: Device | str | None) -> Device:
    return given if isinstance(given, Device) else device(given)


__all__ = [
    "AccessCounts", "ArgumentError", "Array", "BoundProgram", "Bundle", "CapturedBuffer",
    "CapturedProgram", "CheckReport",
    "CheckedLaunch", "Comparison", "CompileError", "CompletedStep", "Device", "DeviceError", "Edge",
    "EdgeAdvice", "Error", "Event", "ExpectedOutput", "Expression", "FaultError", "Finding", "FindingError",
    "FindingWarning", "Hole", "Kernel", "LibraryFunction", "LimitError", "Module", "NotFoundError",
    "Occupancy", "OutOfMemoryError", "Parameter", "Plan", "Pointer", "Program", "ProgramBuffer",
    "ProgramBuilder", "RunReport", "ScheduleDifference", "ScheduleRun", "StepReport", "Stream",
    "TimeoutError", "TraceReport", "TracedEdge", "UnsupportedError", "__version__", "array", "bench", "bundle", "capture", "ceildiv",
    "ceildiv_of", "check", "cmake_prefix", "compile", "device", "devices", "doctor", "empty",
    "inspect", "load", "load_library", "on", "sign", "stream", "tune", "zeros",
]
