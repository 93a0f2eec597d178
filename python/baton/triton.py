"""Kernels of Triton: taken from its cache or its compile results, and launched without it.

    add = baton.triton.load("~/.triton/cache/QIJZ.../add_kernel.json")
    add[baton.ceildiv(n, 1024)](x, y, out, n)

With `baton.triton.on("sim:h200")` Triton programs themselves run on a device of Baton: kernels of
`@triton.jit` are compiled by Triton and launched by Baton, on CPU tensors of torch where the device
is the simulated GPU. Triton is imported only there.
"""

from __future__ import annotations

import json
import os
import pathlib
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, ContextManager, Iterator, Mapping, Sequence

from . import _core, _observe
from ._core import Array, Device, Kernel
from ._copies import Copies
from ._descriptors import TensorDescriptor as TensorDescriptor, parameters_of, slots_of
from ._errors import ArgumentError, Error, NotFoundError, with_article
from ._packing import bits, float_bytes, grid_extents

if TYPE_CHECKING:
    from ._record import Recorder

# The scratch memories of a launch, in the order of their parameters, which follow the kernel's own.
_SCRATCH = ("global_scratch", "profile_scratch")
_NO_COPIES: ContextManager[None] = nullcontext()
# Triton's floats that are passed by value, and Baton's names of them.
_FLOATS = {"fp32": "f32", "f32": "f32", "fp64": "f64", "fp16": "f16", "bf16": "bf16"}


class TritonKernel:
    """A kernel that Triton compiled, with how it is launched. Any thread may use it.

    kernel: the baton.Kernel. metadata: what Triton wrote about it. block: threads of a block.
    signature: Triton's types of the arguments that are passed, such as "*fp32", "i32" and
    "tensordesc<fp16[64, 64]>"; None for a kernel from the cache, which does not say them.
    """

    def __init__(self, kernel: Kernel, metadata: Mapping[str, Any],
                 signature: Sequence[str] | None = None, multiples: Mapping[int, int] | None = None):
        self.kernel = kernel
        self.metadata = dict(metadata)
        self.name = str(metadata["name"])
        self.block = int(metadata["num_warps"]) * int(metadata.get("warp_size", 32))
        self.num_ctas = int(metadata.get("num_ctas", 1))
        self.shared = int(metadata.get("shared", 0))
        self.signature = None if signature is None else tuple(signature)
        # What the code relies on: the arguments that are multiples, by their numbers.
        self.multiples = dict(multiples or {})
        scratch = sum(f"{name}_size" in self.metadata for name in _SCRATCH)
        self._slots = slots_of(self.name, kernel.params, self.signature,
                               self.metadata.get("tensordesc_meta") or [], scratch, len(_SCRATCH))
        self._own = sum(slot.parameters for slot in self._slots)
        self._has_descriptors = any(slot.descriptor is not None for slot in self._slots)

    def __repr__(self) -> str:
        return f"<baton.triton.TritonKernel {self.name} on {self.kernel.device.spec}>"

    def __getitem__(self, grid: int | Sequence[int]) -> Any:
        def launch(*arguments: Any, stream: Any = None) -> None:
            self.launch(*arguments, grid=grid, stream=stream)
        return launch

    def launch(self, *arguments: Any, grid: int | Sequence[int], stream: Any = None) -> None:
        """Checks and enqueues one launch. `grid` counts programs of Triton, in up to three extents.

        Arguments are the kernel's own without its constants. A tensor descriptor is a
        baton.triton.TensorDescriptor, one of Triton's, or an array, which stands for all of it.
        Scratch memory is allocated where the kernel needs it, for the time of the launch. The
        launch is programmatic (PDL) where Triton compiled it so and the kernel waits. Raises what
        Kernel.launch raises.
        """
        extents = grid_extents(f"the Triton kernel {self.name}", grid)
        if len(arguments) != len(self._slots):
            raise ArgumentError(f"the Triton kernel {self.name} takes {len(self._slots)} arguments"
                                f"{self._types()}, {len(arguments)} were given")
        programs = extents[0] * extents[1] * extents[2]
        if programs == 0:
            return
        blocks = (extents[0] * self.num_ctas, extents[1], extents[2])
        pdl = bool(self.metadata.get("launch_pdl", False)) and self.kernel.waits is not False
        cooperative = bool(self.metadata.get("launch_cooperative_grid", False))
        if _observe.recorder is not None:
            self._record(_observe.recorder, blocks, programs, arguments, cooperative)
        with Copies(self.kernel.device) if self._has_descriptors else _NO_COPIES as copies:
            values = self._values(arguments, copies)
            if copies is not None:
                stream = copies.stream(stream, [_base(argument) for argument in arguments])
            for name in _SCRATCH[:len(self.kernel.params) - self._own]:
                values.append(self._scratch(name, programs))
            with _observe.paused():
                self.kernel.launch(
                    *values, grid=blocks, block=self.block,
                    cluster=self.num_ctas if self.num_ctas > 1 else None, shared=self.shared,
                    cooperative=cooperative, pdl=pdl, stream=stream)

    def _values(self, arguments: Sequence[Any], copies: Copies | None) -> list[Any]:
        """The values of the kernel's own parameters."""
        if copies is None:
            return [self._value(index, index, argument) for index, argument in enumerate(arguments)]
        params = self.kernel.params
        values: list[Any] = []
        for index, (slot, argument) in enumerate(zip(self._slots, arguments)):
            if slot.descriptor is None:
                values.append(self._value(index, len(values), argument))
                continue
            checked = slot.descriptor.check(self.name, index, argument)
            values += [bits(params[len(values) + place], value) for place, value
                       in enumerate(parameters_of(slot.descriptor, checked, copies,
                                          f"the Triton kernel {self.name}: argument {index}"))]
        copies.require_apart(self.name, values)
        return values

    def _types(self) -> str:
        return f" ({', '.join(self.signature)})" if self.signature else ""

    def _value(self, index: int, parameter: int, argument: Any) -> Any:
        """Floats go in the type of Triton's signature: PTX may declare them as bits."""
        if not isinstance(argument, float) or self.signature is None:
            return bits(self.kernel.params[parameter], argument)
        dtype = _FLOATS.get(self.signature[index])
        return argument if dtype is None else float_bytes(dtype, argument)

    def _scratch(self, name: str, programs: int) -> Array | None:
        size = self._scratch_size(name)
        if size == 0:
            return None
        return self.kernel.device.empty(programs * self.num_ctas * size, "u8")

    def _scratch_size(self, name: str) -> int:
        return int(self.metadata.get(f"{name}_size", 0) or 0)

    def _record(self, recorder: Recorder, blocks: Sequence[int], programs: int,
                arguments: Sequence[Any], cooperative: bool) -> None:
        """Tells a capture about the launch, with numbers and places that are not packed yet."""
        from ._record import Number, Scratch
        values: list[Any] = []
        for index, (slot, argument) in enumerate(zip(self._slots, arguments)):
            if slot.descriptor is not None:
                values += slot.descriptor.recorded(
                    recorder, slot.descriptor.check(self.name, index, argument))
            elif argument is None:
                values.append(None)
            elif isinstance(argument, float):
                kind = None if self.signature is None else _FLOATS.get(self.signature[index])
                values.append(Number(argument, kind))
            elif isinstance(argument, int):
                values.append(Number(int(argument), None, self.multiples.get(index, 1)))
            else:
                place = recorder.place_of(argument)
                if place is None:
                    return recorder.add_hole(
                        f"kernel {self.name}", f"its argument {index} is a "
                        f"{type(argument).__name__}, whose memory is not known")
                values.append(place)
        for name in _SCRATCH[:len(self.kernel.params) - self._own]:
            size = self._scratch_size(name)
            values.append(Scratch(name, programs * self.num_ctas * size) if size else None)
        attributes: dict[str, Any] = {}
        if self.num_ctas > 1:
            attributes["cluster"] = [self.num_ctas, 1, 1]
        if cooperative:
            attributes["cooperative"] = True
        recorder.add_launch(self.kernel, blocks, (self.block, 1, 1), self.shared, attributes, values)


def load(compiled: Any, device: Device | str | None = None) -> TritonKernel:
    """Loads a kernel that Triton compiled.

    compiled: a triton.compiler.CompiledKernel; or a path in Triton's cache: the kernel's .json, or
    the folder that holds it. On the simulated GPU its PTX is loaded, on a GPU its machine code.

    Raises NotFoundError for a missing file, and Error for a kernel of another backend.
    """
    on = _core.open_device(device)
    if isinstance(compiled, (str, os.PathLike)):
        path = _metadata_file(pathlib.Path(compiled).expanduser())
        metadata = _read_metadata(path)
        _require_cuda(metadata.get("target"), path)
        image = path.with_suffix(".ptx" if on.is_simulated else ".cubin")
        if not image.exists():
            raise NotFoundError(f"{image} is missing, which {path.name} is about")
        for key in ("name", "num_warps"):
            if key not in metadata:
                raise Error(f"{path} is not what Triton writes about a kernel: it has no {key}", code="invalid_input")
        module = _core.load_image(image, on, also=_ptx_beside(image))
        return TritonKernel(module.kernel(metadata["name"]), metadata)
    if not hasattr(compiled, "metadata") or not hasattr(compiled, "asm"):
        raise ArgumentError(f"{with_article(compiled)} was given: baton.triton.load takes what triton.compile returned, "
                            "or the path of a kernel's .json in Triton's cache")
    metadata = compiled.metadata._asdict()
    _require_cuda(metadata.get("target"), compiled.name)
    image_bytes = compiled.asm["ptx"].encode() if on.is_simulated else compiled.asm["cubin"]
    module = _core.load_image(image_bytes, on, f"{compiled.name} (Triton)",
                              also=None if on.is_simulated else compiled.asm["ptx"].encode())
    signature = getattr(compiled.src, "signature", None)
    kernel = module.kernel(compiled.name)
    if signature is None:
        return TritonKernel(kernel, metadata)
    types = tuple(signature.values())
    return TritonKernel(kernel, metadata, _passed(types), _multiples(types, compiled.src))


def load_all(folder: str | os.PathLike[str],
             device: Device | str | None = None) -> dict[str, TritonKernel]:
    """Loads every kernel below a folder of Triton's cache, by "NAME" or, where several have one
    name, "NAME@FOLDER"."""
    paths = [path for path in sorted(pathlib.Path(folder).expanduser().rglob("*.json"))
             if not path.name.startswith("__grp__") and path.with_suffix(".ptx").exists()]
    names = [path.stem for path in paths]
    return {name if names.count(name) == 1 else f"{name}@{path.parent.name}": load(path, device)
            for name, path in zip(names, paths)}


def _ptx_beside(image: pathlib.Path) -> pathlib.Path | None:
    """The PTX that machine code was made from: it tells types, and verdicts need it."""
    path = image.with_suffix(".ptx")
    return path if path != image and path.exists() else None


def _base(argument: Any) -> Any:
    """The array of a descriptor, or the argument itself."""
    return argument.base if hasattr(argument, "block_shape") else argument


def _read_metadata(path: pathlib.Path) -> dict[str, Any]:
    try:
        metadata = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as failure:
        raise Error(f"{path} is no JSON: {failure}", code="invalid_input") from failure
    if not isinstance(metadata, dict):
        raise Error(f"{path} is not what Triton writes about a kernel, an object with its name", code="invalid_input")
    return metadata


def _metadata_file(path: pathlib.Path) -> pathlib.Path:
    if path.is_file():
        return path if path.suffix == ".json" else _metadata_file_of(path.with_suffix(".json"))
    if not path.is_dir():
        raise NotFoundError(f"there is no file or folder {path}")
    found = [each for each in path.glob("*.json") if not each.name.startswith("__grp__")]
    if len(found) != 1:
        raise NotFoundError(f"{path} has {len(found)} kernels of Triton, one was expected; give "
                            "the path of one kernel's .json")
    return found[0]


def _metadata_file_of(path: pathlib.Path) -> pathlib.Path:
    if not path.exists():
        raise NotFoundError(f"{path} is missing, which says how the kernel is launched")
    return path


def _require_cuda(target: Any, what: object) -> None:
    backend = target.get("backend") if isinstance(target, Mapping) else getattr(target, "backend", None)
    if backend != "cuda":
        raise Error(f"{what} was compiled for the backend {backend}, not for CUDA",
                    code="invalid_input")


def _passed(types: Any) -> list[str]:
    """The types of the arguments that are passed: constants are left out, tuples are flat."""
    return [kind for _, kind in _paths(types)]


def _paths(types: Any, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], str]]:
    """The places of these types in Triton's nested signature, and the types."""
    for index, kind in enumerate(types):
        if isinstance(kind, tuple):
            yield from _paths(kind, (*path, index))
        elif kind != "constexpr":
            yield (*path, index), str(kind)


def _multiples(types: Any, source: Any) -> dict[int, int]:
    """The arguments that the code takes for multiples, by their numbers, and of what."""
    attributes = getattr(source, "attrs", None) or {}
    found: dict[int, int] = {}
    for number, (path, _) in enumerate(_paths(types)):
        for name, value in attributes.get(path, ()):
            if name == "tt.divisibility":
                found[number] = int(value)
    return found


def _arguments(types: Any, values: Any) -> list[Any]:
    """The values that belong to `_passed(types)`."""
    flat: list[Any] = []
    for kind, value in zip(types, values):
        if isinstance(kind, tuple):
            flat += _arguments(kind, value)
        elif kind != "constexpr":
            flat.append(value)
    return flat


@contextmanager
def on(device: Device | str | None = None, schedule: str | None = None,
       races: bool | str = "usual") -> Iterator[Device]:
    """Runs Triton programs on a device of Baton, inside of `baton.on`.

        with baton.triton.on("sim:h200"):
            add_kernel[(4,)](x, y, out, n, BLOCK=1024)

    On the simulated GPU, tensors are on the CPU, and a call waits. What the simulated GPU finds
    raises baton.FindingError. Not for use from several threads at once: Triton's driver belongs to
    the process.
    """
    from triton.runtime import driver

    from ._triton_driver import BatonDriver
    before = driver._active
    with _core.on(device, schedule, races) as opened:
        driver.set_active(BatonDriver(opened))
        try:
            yield opened
        finally:
            driver._active = before


@contextmanager
def capture(device: Device | str | None = None) -> Iterator[dict[str, TritonKernel]]:
    """Collects the kernels that Triton loads inside of the block, for a device of Baton: by "NAME" or, where several
    have one name, such as for two values of a constant, "NAME@FOLDER" of Triton's cache.

        with baton.triton.capture() as kernels:
            model(x)
        kernels["add_kernel"][4](x, y, out, n)
    """
    from triton import knobs
    kernels: dict[str, TritonKernel] = {}
    folders: dict[str, list[str]] = {}  # by the kernel's name
    opened = _core.open_device(device)

    def loaded(module: Any, function: Any, name: str, group: Mapping[str, Any], hash: str) -> None:
        path = next(path for file, path in group.items()
                    if file.endswith(".json") and not file.startswith("__grp__"))
        folder = pathlib.Path(path).parent.name
        known = folders.setdefault(name, [])
        if folder in known:
            return
        known.append(folder)
        if len(known) == 2:
            kernels[f"{name}@{known[0]}"] = kernels.pop(name)
        kernels[name if len(known) == 1 else f"{name}@{folder}"] = load(str(path), opened)

    hook = knobs.runtime.kernel_load_end_hook
    hook.add(loaded)
    try:
        yield kernels
    finally:
        hook.remove(loaded)
