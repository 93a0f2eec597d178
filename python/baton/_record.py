"""What a function does on a device, step by step: the launches, copies, fills and allocations of
one call, and the operations that are none of these."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from . import _core, _observe
from ._arrays import from_bytes
from ._core import Array, Device, Kernel
from ._errors import ArgumentError, Error, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Sequence



@dataclass(frozen=True)
class Region:
    """The memory of an array: contiguous elements, or a part of a torch storage."""

    address: int  # of the first element
    base: int  # of the allocation
    nbytes: int  # how large the allocation is
    dtype: str
    shape: tuple[int, ...]
    is_dense: bool  # contiguous, in C order
    keep: Any  # what keeps the memory alive

    @property
    def elements(self) -> int:
        count = 1
        for extent in self.shape:
            count *= extent
        return count


@dataclass
class Memory:
    """An allocation that steps use."""

    region: Region
    origin: str  # "argument", "allocation" or "outside"
    argument: str | None = None
    contents: bytes | None = None  # the first ones, of memory from outside
    allocated: int = 0  # the number of steps before it


@dataclass(frozen=True)
class Place:
    """An address as a memory and an offset in bytes."""

    memory: int
    offset: int


@dataclass(frozen=True)
class Scratch:
    """Memory of one launch: `per_program` bytes for each program."""

    name: str
    bytes: int


@dataclass(frozen=True)
class MapOf:
    """A tensor map of a place."""

    place: Place
    settings: tuple[tuple[str, object], ...]  # as Triton's metadata has them; equal in all examples
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Fields:
    """A struct by value, by its fields: places, numbers with their dtype, None for null."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Number:
    """A number, and the type that a program file has to state, if any."""

    value: int | float
    dtype: str | None = None
    multiple: int = 1  # the code relies on it being a multiple of this


@dataclass
class Launch:
    """A launch of a kernel of a known image."""

    kernel: Kernel
    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int
    attributes: dict[str, Any]
    arguments: list[Any]  # Place, Scratch, MapOf, Number, bytes, or None for a null pointer
    where: str


@dataclass
class Fill:
    place: Place
    elements: int
    value: float | int


@dataclass
class Copy:
    source: Place
    target: Place
    elements: int


@dataclass(frozen=True)
class Hole:
    """Something that a captured function did and a program cannot do.

    name: of the operation, such as "aten.mm.default".
    reason: why a program cannot do it, in words.
    where: the line of the function's code, "model.py:12".
    step: the number of steps of the program before it.
    """

    name: str
    reason: str
    where: str
    step: int


@dataclass
class Record:
    """One call of the function."""

    memories: list[Memory] = field(default_factory=list)
    steps: list[Launch | Fill | Copy] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    results: list[tuple[str, Any]] = field(default_factory=list)


class Recorder:
    """Records what one thread launches, from `with recorder.recording():`."""

    def __init__(self, device: Device):
        self.device = device
        self.record = Record()
        self._by_base: dict[int, int] = {}
        self._thread = threading.get_ident()
        self._pause = 0

    def add_argument(self, name: str, array: Any) -> None:
        """Makes an argument's memory known. It has to be dense, and shared with no other one."""
        region = region_of(array)
        if region is None:
            raise ArgumentError(f"the argument {name} is a {type(array).__name__}, which is not an array")
        if not region.is_dense:
            raise ArgumentError(f"the argument {name} is not contiguous: pass {name}.contiguous()")
        if region.base in self._by_base:
            other = self.record.memories[self._by_base[region.base]]
            if other.region.address == region.address and other.region.shape == region.shape:
                return
            raise ArgumentError(
                f"the arguments {other.argument} and {name} share memory, which two buffers of a "
                "program do not: pass one array, and take views of it in the function")
        self._by_base[region.base] = len(self.record.memories)
        self.record.memories.append(Memory(region, "argument", name))

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Sees launches of Baton's kernels, and the operations of torch where it is loaded."""
        if _observe.recorder is not None:
            raise Error("a capture is running already: one at a time", code="invalid_input")
        _observe.recorder = self
        _core.observe_launches(self._launched)
        try:
            with ExitStack() as stack:
                if "torch" in sys.modules:
                    from ._torch_ops import Watch
                    stack.enter_context(Watch(self))
                yield
        finally:
            _core.observe_launches(None)
            _observe.recorder = None

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Launches inside are parts of one that is recorded by itself."""
        self._pause += 1
        try:
            yield
        finally:
            self._pause -= 1

    # What is seen.

    def _launched(self, kernel: Kernel, settings: dict[str, Any], values: Sequence[Any]) -> None:
        if self._pause or threading.get_ident() != self._thread:
            return
        arguments = [_typed(self._argument(value), parameter.dtype)
                     for value, parameter in zip(values, kernel.params)]
        settings = dict(settings)
        if any(argument is NotImplemented for argument in arguments):
            index = arguments.index(NotImplemented)
            return self.add_hole(f"kernel {kernel.demangled}",
                                 f"its argument {index} is a {type(values[index]).__name__}, whose "
                                 "memory is not known")
        self.add_launch(kernel, settings.pop("grid"), settings.pop("block"),
                        settings.pop("shared"), _attributes(settings), arguments)

    def add_launch(self, kernel: Kernel, grid: Sequence[int], block: Sequence[int], shared: int,
                   attributes: dict[str, Any], arguments: list[Any]) -> None:
        if kernel.module.image is None:
            return self.add_hole(f"kernel {kernel.demangled}",
                                 "it comes from a program or bundle, which keeps its image: name "
                                 "the program's kernel instead")
        unknown = next((name for name, value in attributes.items() if value is None), None)
        if unknown is not None:
            return self.add_hole(f"kernel {kernel.demangled}",
                                 f"a program has no launch attribute {unknown}")
        if any(isinstance(value, bytes) and self._holds_address(value) for value in arguments):
            return self.add_hole(f"kernel {kernel.demangled}",
                                 "a struct among its arguments holds the address of an array, which "
                                 "differs from run to run")
        self.record.steps.append(Launch(kernel, tuple(grid), tuple(block), shared, attributes,
                                        arguments, caller()))

    def _holds_address(self, data: bytes) -> bool:
        """Whether a word of a struct is an address in a memory that the capture knows."""
        words = [int.from_bytes(data[at:at + 8], "little") for at in range(0, len(data) - 7, 8)]
        return any(0 < memory.region.base <= word < memory.region.base + memory.region.nbytes
                   for memory in self.record.memories for word in words)

    def add_hole(self, name: str, reason: str) -> None:
        self.record.holes.append(Hole(name, reason, caller(), len(self.record.steps)))

    def add_allocation(self, array: Any) -> None:
        region = region_of(array)
        if region is not None and region.base not in self._by_base:
            self._add(region, "allocation")

    def place_of(self, array: Any) -> Place | None:
        """The place of an array's first element. Memory from outside gets its first contents."""
        region = region_of(array)
        if region is None:
            return None
        if region.base not in self._by_base:
            self._add(region, "outside", contents_of(array, region))
        index = self._by_base[region.base]
        start = self.record.memories[index].region
        origin = start.address if self.record.memories[index].argument else start.base
        if not origin <= region.address <= start.base + start.nbytes:
            raise UnsupportedError(
                f"a step uses memory before the argument {self.record.memories[index].argument}, "
                "which is a view of a larger array: pass the whole array")
        return Place(index, region.address - origin)

    def knows(self, array: Any) -> bool:
        region = region_of(array)
        return region is not None and region.base in self._by_base

    def _add(self, region: Region, origin: str, contents: bytes | None = None) -> None:
        self._by_base[region.base] = len(self.record.memories)
        self.record.memories.append(Memory(region, origin, None, contents, len(self.record.steps)))

    def _argument(self, value: Any) -> Any:
        if value is None or isinstance(value, (bytes, bytearray)):
            return None if value is None else bytes(value)
        if isinstance(value, bool) or type(value) in (int, float):
            return Number(int(value) if isinstance(value, bool) else value)
        place = self.place_of(value)
        if place is not None:
            return place
        if hasattr(value, "item") and getattr(value, "shape", None) == ():
            return self._argument(value.item())
        try:
            return bytes(memoryview(value).cast("B"))
        except TypeError:
            return NotImplemented


def region_of(array: Any) -> Region | None:
    """The memory of an array of torch, NumPy or Baton; None for what is none of these."""
    if isinstance(array, Array):
        # Slices share memory, which has no name of its own: the array that was seen first is it.
        return Region(array.address, array.address, array.nbytes, array.dtype, array.shape, True,
                      array)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        storage = array.untyped_storage()
        base = storage.data_ptr() or -storage._cdata  # empty storages have no address
        address = array.data_ptr() or base
        return Region(address, base, storage.nbytes(), dtype_of(array.dtype), tuple(array.shape),
                      array.is_contiguous(), array)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(array, numpy.ndarray):
        address = array.__array_interface__["data"][0]
        whole = array
        while isinstance(whole.base, numpy.ndarray):
            whole = whole.base
        return Region(address, whole.__array_interface__["data"][0], whole.nbytes,
                      dtype_of(array.dtype), array.shape, array.flags.c_contiguous, array)
    return None


def contents_of(array: Any, region: Region) -> bytes:
    """The bytes of the whole allocation that an array is in."""
    if isinstance(array, Array):
        return array.tobytes()
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        from torch.utils._python_dispatch import _disable_current_modes
        with _disable_current_modes():
            flat = torch.empty(0, dtype=torch.uint8, device=array.device)
            flat.set_(array.untyped_storage())
            return bytes(flat.cpu().numpy().tobytes())
    whole = array
    while getattr(whole, "base", None) is not None and hasattr(whole.base, "tobytes"):
        whole = whole.base
    return bytes(whole.tobytes())


# The names of torch and NumPy, where they differ from Baton's.
_DTYPES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "bool": "bool",
    "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2",
}


def dtype_of(dtype: Any) -> str:
    """Baton's name of a dtype. Raises UnsupportedError for one that it lacks."""
    name = str(dtype).rpartition(".")[2]
    if name not in _DTYPES:
        raise UnsupportedError(f"Baton has no dtype {dtype}")
    return _DTYPES[name]


def _typed(argument: Any, dtype: str | None) -> Any:
    """A number with the type of its parameter, which machine code alone does not tell."""
    if isinstance(argument, Number) and dtype is not None:
        return Number(argument.value, dtype, argument.multiple)
    return argument


def _attributes(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a launch as a program file has them; None for what it has not."""
    named: dict[str, Any] = {}
    if settings.pop("force_pdl", False):
        named["pdl"] = "force"
    for name, value in settings.items():
        if name == "programmatic_stream_serialization":
            # Left to the verdict: a captured program proves its edges.
            continue
        if name in ("cluster", "preferred_cluster"):
            named[name] = [value["x"], value["y"], value["z"]]
        elif name in ("programmatic_event", "launch_completion_event", "device_updatable_node",
                      "access_policy_window"):
            named[name] = None
        else:
            named[name] = value
    return named


# Frames of these folders are not the function's own code.
_OTHERS = (os.path.dirname(os.path.abspath(__file__)),)


def caller() -> str:
    """"model.py:12": the innermost line outside of Baton, torch and Triton."""
    for frame in reversed(traceback.extract_stack()):
        folder = os.path.dirname(os.path.abspath(frame.filename))
        if folder in _OTHERS or "site-packages" in folder or "dist-packages" in folder:
            continue
        return f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return ""


def restored(data: bytes, dtype: str, shape: tuple[int, ...]) -> Any:
    """A NumPy array of a memory's first contents."""
    return from_bytes(data, dtype, shape)


