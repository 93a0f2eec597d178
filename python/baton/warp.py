"""Kernels of NVIDIA Warp, from what `warp.compile_aot_module` writes. Warp is not needed to load or
launch them.

    warp.compile_aot_module(module, arch=90, module_dir="aot", use_ptx=True)

    kernels = baton.warp.load("aot")
    kernels["saxpy"][n](x, y, 2.0)                  # the dim of wp.launch
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import struct
from dataclasses import dataclass

from . import _core, _observe
from ._copies import Copies
from ._errors import ArgumentError, Error, NotFoundError, UnsupportedError
from ._packing import ints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    from ._core import Device, Kernel
    from ._record import Recorder

    Dim = int | Sequence[int]

# Warp's kernels get their bounds first, and arrays as structs of this size: address, gradient's
# address, four extents, four strides in bytes, the number of dimensions and flags.
_ARRAY_BYTES = 56
_MOST_DIMENSIONS = 4
_SCALARS = {
    "wp::float16": "f16", "wp::bfloat16": "bf16", "wp::float32": "f32", "wp::float64": "f64",
    "wp::int8": "i8", "wp::int16": "i16", "wp::int32": "i32", "wp::int64": "i64",
    "wp::uint8": "u8", "wp::uint16": "u16", "wp::uint32": "u32", "wp::uint64": "u64",
    "bool": "bool",
}
_PACKED = {"f16": "<e", "f32": "<f", "f64": "<d", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q",
           "u8": "<B", "u16": "<H", "u32": "<I", "u64": "<Q", "bool": "<?"}


@dataclass(frozen=True)
class WarpType:
    """The type of one argument, as Warp's source has it."""

    text: str  # "wp::array_t<wp::vec_t<3, wp::float32>>"
    is_array: bool
    dtype: str | None  # of a number, or of an array's scalars; None for a struct
    inner: tuple[int, ...] = ()  # the extents of one element: (3,) of a vec3


class WarpKernel:
    """A kernel that Warp compiled, with its backward kernel. Any thread may use it.

    kernel, backward_kernel: baton.Kernel; the latter may be None. types: of the arguments.
    dimensions: the number of indices of `wp.tid()`.
    """

    def __init__(self, name: str, forward: Kernel, backward: Kernel | None, dimensions: int,
                 types: Sequence[WarpType], shared: int, backward_shared: int):
        self.name = name
        self.kernel = forward
        self.backward_kernel = backward
        self.dimensions = dimensions
        self.types = tuple(types)
        self._shared = (shared, backward_shared)

    def __repr__(self) -> str:
        return f"<baton.warp.WarpKernel {self.name} on {self.kernel.device.spec}>"

    def __getitem__(self, dim: Dim) -> Any:
        def launch(*arguments: Any, stream: Any = None) -> None:
            self.launch(*arguments, dim=dim, stream=stream)
        return launch

    def launch(self, *arguments: Any, dim: Dim, block_dim: int = 256, stream: Any = None) -> None:
        """Checks and enqueues one launch, as wp.launch does: `dim` counts threads along each index.

        Arrays are those of any library that Baton takes. An array of vectors or matrices has their
        extents as its last ones. A struct is its bytes, or a ctypes struct.
        """
        self._launch(self.kernel, self._shared[0], arguments, dim, block_dim, stream, "arguments")

    def backward(self, *arguments: Any, dim: Dim, block_dim: int = 256, stream: Any = None) -> None:
        """Launches the adjoint: the kernel's arguments, and then the adjoint of each."""
        if self.backward_kernel is None:
            raise ArgumentError(f"the Warp kernel {self.name} was compiled without a backward kernel")
        self._launch(self.backward_kernel, self._shared[1], arguments, dim, block_dim, stream,
                     "arguments and adjoints")

    def _launch(self, kernel: Kernel, shared: int, arguments: Sequence[Any], dim: Dim,
                block_dim: int, stream: Any, what: str) -> None:
        types = self.types if kernel is self.kernel else self.types * 2
        if len(arguments) != len(types):
            raise ArgumentError(f"the Warp kernel {self.name} takes {len(types)} {what} "
                                f"({', '.join(kind.text for kind in types)}), {len(arguments)} were "
                                "given")
        extents = ints(dim)
        if (extents is None or not 1 <= len(extents) <= self.dimensions
                or any(not 0 <= extent < 1 << 32 for extent in extents)):
            raise ArgumentError(f"the Warp kernel {self.name} has {self.dimensions} indices, dim is "
                                f"{dim}")
        threads = ints(block_dim)
        if threads is None or len(threads) != 1 or threads[0] < 1:
            raise ArgumentError(f"the Warp kernel {self.name}: block_dim is {block_dim!r}, it takes a number of "
                                "threads from 1 on")
        block_dim = threads[0]
        extents += [1] * (self.dimensions - len(extents))
        total = 1
        for extent in extents:
            total *= extent
        if total == 0:
            return
        bounds = struct.pack(f"<{self.dimensions}I", *extents)
        bounds += b"\0" * (-len(bounds) % 8) + struct.pack("<QQ", total, 1)
        grid = -(-total // block_dim)
        recorder = _observe.recorder
        if recorder is not None:
            self._record(recorder, kernel, grid, block_dim, shared, extents, total, types, arguments)
        with Copies(kernel.device) as copies:
            values = [bounds] + [self._value(index, kind, argument, copies)
                                 for index, (kind, argument) in enumerate(zip(types, arguments))]
            with _observe.paused():
                kernel.launch(*values, grid=grid, block=block_dim, shared=shared,
                              stream=copies.stream(stream, arguments))

    def _value(self, index: int, kind: WarpType, argument: Any, copies: Copies) -> Any:
        if kind.is_array:
            if argument is None:
                return b"\0" * _ARRAY_BYTES
            shape, strides = self._array(index, kind, argument)
            if max(*shape, *strides) >= 1 << 31:
                raise self._wrong(index, kind, f"has the extents {shape} and the strides {strides} in bytes; "
                                  "Warp has 31 bits for each")
            address = copies.address(argument, f"the Warp kernel {self.name}: argument {index}")
            return struct.pack("<QQ4i4iHH4x", address, 0, *_padded(shape), *_padded(strides), len(shape), 0)
        if kind.dtype is not None and isinstance(argument, (int, float)):
            if kind.dtype in ("f16", "f32", "f64"):
                try:
                    return struct.pack(_PACKED[kind.dtype], argument)
                except (OverflowError, struct.error):
                    raise self._wrong(index, kind, f"is a number beyond the range of {kind.dtype}") from None
            if isinstance(argument, float):
                raise self._wrong(index, kind, f"is the float {argument}")
        return argument

    def _array(self, index: int, kind: WarpType, array: Any) -> tuple[list[int], list[int]]:
        """The extents, and the strides in bytes, of the elements that Warp counts."""
        _, shape = _core.view(array)
        if kind.dtype is not None:
            given = getattr(array, "dtype", None)
            from ._record import dtype_of
            name = given if isinstance(given, str) else dtype_of(given)
            if name != kind.dtype:
                raise self._wrong(index, kind, f"is an array of {name} {list(shape)}")
        inner = len(kind.inner)
        if inner and tuple(shape[-inner:]) != kind.inner:
            raise self._wrong(index, kind, f"is an array of {list(shape)}; its last extents have to "
                              f"be {list(kind.inner)}")
        size = _core.element_size(getattr(array, "dtype"))
        steps = [size]
        for extent in reversed(shape[1:]):
            steps.insert(0, steps[0] * extent)
        outer = list(shape[:len(shape) - inner])
        if not 1 <= len(outer) <= _MOST_DIMENSIONS:
            raise self._wrong(index, kind, f"has {len(outer)} dimensions; Warp has 1 to 4")
        return outer, steps[:len(outer)]

    def _wrong(self, index: int, kind: WarpType, why: str) -> ArgumentError:
        return ArgumentError(f"the Warp kernel {self.name}: argument {index} {why}; the parameter is "
                             f"{kind.text}")

    def _record(self, recorder: Recorder, kernel: Kernel, grid: int, block: int, shared: int,
                extents: Sequence[int], total: int, types: Sequence[WarpType],
                arguments: Sequence[Any]) -> None:
        """Tells a capture about the launch, with the addresses inside of structs as places."""
        from ._record import Fields, Number
        values: list[Any] = [Fields((*(Number(extent, "u32") for extent in extents),
                                     Number(total, "u64"), Number(1, "u64")))]
        for index, (kind, argument) in enumerate(zip(types, arguments)):
            if kind.is_array and argument is not None:
                shape, strides = self._array(index, kind, argument)
                place = recorder.place_of(argument)
                if place is None:
                    return recorder.add_hole(f"kernel {self.name}", f"its argument {index} is a "
                                             f"{type(argument).__name__}, whose memory is not known")
                values.append(Fields((
                    place, None, *(Number(extent, "i32") for extent in _padded(shape)),
                    *(Number(step, "i32") for step in _padded(strides)),
                    Number(len(shape), "u16"), Number(0, "u16"))))
            elif kind.is_array:
                values.append(b"\0" * _ARRAY_BYTES)
            elif isinstance(argument, (int, float)):
                values.append(Number(argument, kind.dtype))
            else:
                values.append(bytes(memoryview(argument).cast("B")))
        recorder.add_launch(kernel, (grid, 1, 1), (block, 1, 1), shared, {}, values)


def load(path: str | os.PathLike[str],
         device: Device | str | None = None) -> dict[str, WarpKernel]:
    """Loads the kernels of one module that Warp compiled ahead of time, by their names in Python.

    path: the folder of `compile_aot_module`, or the .ptx or .cubin in it. Beside it are the module's
    source (.cu), which tells the types of arguments, and its .meta, which tells shared memory.
    Kernels of one name in Python, such as overloads, keep Warp's hash: "scale_416eb462".

    Raises NotFoundError for missing files, and Error for a source of another form.
    """
    on = _core.open_device(device)
    image = _image(pathlib.Path(path).expanduser(), on)
    stem = image.name.partition(".")[0]
    source, meta = image.parent / f"{stem}.cu", image.parent / f"{stem}.meta"
    for file in (source, meta):
        if not file.exists():
            raise NotFoundError(f"{file} is missing, which Warp writes beside {image.name}")
    shared = json.loads(meta.read_text(encoding="utf-8"))
    module = _core.load_image(image, on)
    signatures = _signatures(source.read_text(encoding="utf-8"), source)
    forward = [symbol for symbol in module.kernels if symbol.endswith("_cuda_kernel_forward")]
    if not forward:
        raise Error(f"{image} has no kernel of Warp (…_cuda_kernel_forward)", code="invalid_input")
    names = [_python_name(symbol) for symbol in forward]
    kernels: dict[str, WarpKernel] = {}
    for symbol, name in zip(forward, names):
        base = symbol[:-len("_cuda_kernel_forward")]
        backward = f"{base}_cuda_kernel_backward"
        if symbol not in signatures:
            raise Error(f"{source} has no kernel {symbol}, which is in {image.name}",
                        code="invalid_input")
        dimensions, types = signatures[symbol]
        kernels[name if names.count(name) == 1 else base] = WarpKernel(
            name, module.kernel(symbol),
            module.kernel(backward) if backward in module.kernels else None, dimensions, types,
            int(shared.get(f"{symbol}_smem_bytes", 0)), int(shared.get(f"{backward}_smem_bytes", 0)))
    return kernels


def _image(path: pathlib.Path, device: Device) -> pathlib.Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise NotFoundError(f"there is no file or folder {path}")
    order = (".ptx",) if device.is_simulated else (".cubin", ".ptx")
    for suffix in order:
        found = sorted(path.glob(f"*{suffix}"))
        if len(found) > 1:
            raise NotFoundError(f"{path} has {len(found)} images of Warp ({found[0].name}, …): give "
                                "the path of one")
        if found:
            return found[0]
    hint = "; compile with use_ptx=True for the simulated GPU" if device.is_simulated else ""
    raise NotFoundError(f"{path} has no {' or '.join(order)} of Warp{hint}")


def _signatures(source: str, path: pathlib.Path) -> dict[str, tuple[int, list[WarpType]]]:
    """The indices and types of each kernel in the source that Warp wrote."""
    found: dict[str, tuple[int, list[WarpType]]] = {}
    for symbol, parameters in re.findall(
            r'extern "C" __global__ void(?:\s+__launch_bounds__\([^)]*\))?\s+(\w+)\((.*?)\)\s*\{',
            source, re.DOTALL):
        parts = _split(parameters)
        bounds = re.match(r"(?:const\s+)?wp::launch_bounds_t<(\d)>", parts[0])
        if bounds is None:
            raise Error(f"{path}: the first parameter of {symbol} is {parts[0]!r}, not Warp's launch "
                        "bounds: this version of Warp is not known", code="invalid_input")
        types = [_type(part.rpartition(" ")[0].strip()) for part in parts[1:]]
        if symbol.endswith("_backward"):
            types = types[:len(types) // 2]
        found[symbol] = (int(bounds.group(1)), types)
    return found


def _split(text: str) -> list[str]:
    """The parts between commas that are in no angle brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [" ".join(part.split()) for part in parts]


def _type(text: str) -> WarpType:
    array = re.fullmatch(r"wp::array_t<(.*)>", text)
    if array is None:
        if re.match(r"wp::(indexed|fabric)\w*array_t<", text):
            raise UnsupportedError(f"Baton does not pass Warp's {text}")
        return WarpType(text, False, _SCALARS.get(text))
    element = array.group(1)
    vector = re.fullmatch(r"wp::(?:vec_t|quat_t|transform_t)<(?:(\d+), ?)?(wp::\w+)>", element)
    matrix = re.fullmatch(r"wp::mat_t<(\d+), ?(\d+), ?(wp::\w+)>", element)
    if matrix is not None:
        return WarpType(text, True, _SCALARS.get(matrix.group(3)),
                        (int(matrix.group(1)), int(matrix.group(2))))
    if vector is not None:
        extent = int(vector.group(1) or (4 if "quat" in element else 7))
        return WarpType(text, True, _SCALARS.get(vector.group(2)), (extent,))
    return WarpType(text, True, _SCALARS.get(element))


def _python_name(symbol: str) -> str:
    """"saxpy" of "saxpy_416eb462_cuda_kernel_forward"; without a hash the whole name."""
    match = re.fullmatch(r"(.*?)(?:_[0-9a-f]{8})?_cuda_kernel_forward", symbol)
    assert match is not None
    return match.group(1)


def _padded(values: Sequence[int]) -> list[int]:
    return [*values, *[0] * (_MOST_DIMENSIONS - len(values))]
