"""Functions of TileLang. Its compiler generates CUDA source and the launch; Baton compiles the source
and launches the kernel. No nvcc is needed.

    kernel = baton.tilelang.compile(gemm(1024, 1024, 1024), "sim:h200")
    kernel(a, b, c)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import _core, _observe
from ._copies import Copies
from ._errors import ArgumentError, UnsupportedError
from ._packing import bits
from ._record import region_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

    from ._core import Device, Kernel
    from ._record import Recorder

# TVM's names of types, and Baton's.
_DTYPES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "i8",
           "uint8": "u8", "int32": "i32", "int64": "i64", "bool": "bool", "float8_e4m3fn": "f8e4m3",
           "float8_e5m2": "f8e5m2"}
# By the numbers of cuTensorMapEncodeTiled, whose arguments TileLang's descriptors are.
_MAP_TYPES = ("u8", "u16", "u32", "i32", "u64", "i64", "f16", "f32", "f64", "bf16", "f32_ftz", "tf32",
              "tf32_ftz")
_SWIZZLES = ("none", "32b", "64b", "128b")
_PROMOTIONS = ("none", "64b", "128b", "256b")
_TILED = "__tvm_tensormap_create_tiled"
_AXES = ("x", "y", "z")
# What a launch may need beside its extents; "tir." and "tirx." mean the same.
_SHARED, _PDL, _COOPERATIVE = ("use_dyn_shared_memory", "use_programtic_dependent_launch",
                               "use_cooperative_launch")


@dataclass(frozen=True)
class Parameter:
    """A parameter of the function: a tensor with its shape, or a number without one."""

    name: str
    dtype: str
    shape: tuple[int, ...] | None


@dataclass(frozen=True)
class _Map:
    """A tensor map as the host code of TileLang makes it; the innermost dimension is the last."""

    tensor: str
    settings: Mapping[str, Any]


class TileLangKernel:
    """A function that TileLang compiled. Any thread may call it.

    kernel: the baton.Kernel. source: its CUDA source. parameters: those of the function.
    grid, block: the extents of each launch. shared: bytes of its dynamic shared memory.
    """

    def __init__(self, kernel: Kernel, source: str, parameters: Sequence[Parameter],
                 arguments: Sequence[str | _Map], launch: Mapping[str, Any]):
        self.kernel = kernel
        self.source = source
        self.parameters = tuple(parameters)
        self.grid: tuple[int, ...] = launch["grid"]
        self.block: tuple[int, ...] = launch["block"]
        self.shared: int = launch["shared"]
        self._arguments = tuple(arguments)
        self._settings = {key: launch[key] for key in ("pdl", "cooperative")}

    def __repr__(self) -> str:
        return f"<baton.tilelang.TileLangKernel {self.kernel.name} on {self.kernel.device.spec}>"

    def __call__(self, *arguments: Any, stream: Any = None) -> None:
        """Checks and enqueues one launch, with the function's own arguments. Host arrays are copied
        in and out on the simulated GPU. Raises ArgumentError for a wrong type or shape, and what
        Kernel.launch raises."""
        if len(arguments) != len(self.parameters):
            raise ArgumentError(f"the TileLang function takes {len(self.parameters)} arguments "
                                f"({', '.join(p.name for p in self.parameters)}), {len(arguments)} "
                                "were given")
        by_name = {}
        for parameter, argument in zip(self.parameters, arguments):
            _check(parameter, argument)
            by_name[parameter.name] = argument
        tensors = {p.name for p in self.parameters if p.shape is not None}
        if _observe.recorder is not None:
            self._record(_observe.recorder, by_name, tensors)
        params = self.kernel.params
        with Copies(self.kernel.device) as copies:
            values: list[Any] = []
            for index, each in enumerate(self._arguments):
                if isinstance(each, _Map):
                    values.append(_core.tensor_map(
                        self.kernel.device, copies.address(by_name[each.tensor], _subject(each.tensor)),
                        **each.settings))
                elif each in tensors:
                    values.append(copies.of(by_name[each], _subject(each)))
                else:
                    values.append(bits(params[index], by_name[each]))
            with _observe.paused():
                self.kernel.launch(*values, grid=self.grid, block=self.block, shared=self.shared,
                                   stream=copies.stream(stream, arguments), **self._settings)

    def _record(self, recorder: Recorder, by_name: Mapping[str, Any], tensors: set[str]) -> None:
        """Tells a capture about the launch, with places in place of addresses."""
        from ._record import MapOf, Number
        values: list[Any] = []
        for each in self._arguments:
            name = each.tensor if isinstance(each, _Map) else each
            if name not in tensors:
                values.append(Number(by_name[name]))
                continue
            place = recorder.place_of(by_name[name])
            assert place is not None  # _check has seen its memory
            if isinstance(each, _Map):
                settings = {key: list(value) if isinstance(value, tuple) else value
                            for key, value in each.settings.items()}
                shape, strides = settings.pop("shape"), settings.pop("strides")
                values.append(MapOf(place, tuple(settings.items()), tuple(shape), tuple(strides)))
            else:
                values.append(place)
        recorder.add_launch(self.kernel, self.grid, self.block, self.shared,
                            {"cooperative": True} if self._settings["cooperative"] else {}, values)


def compile(function: Any, device: Device | str | None = None,
            options: Sequence[str] = ()) -> TileLangKernel:
    """Compiles a function of TileLang (`@T.prim_func`) for a device.

    options: more options for NVRTC. Only this call needs TileLang. The shapes of the function must
    be numbers, and it must be one kernel.

    Raises UnsupportedError for what Baton does not launch, by its name, and CompileError.
    """
    import tilelang.env
    from tilelang import tvm
    from tilelang.engine.lower import lower

    on = _core.open_device(device)
    arch = f"sm_{on.architecture}{'a' if on.architecture >= 90 else ''}"
    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    with target:
        lowered = lower(function, target=target)
    kernels = list(lowered.device_mod.functions.values())
    if len(kernels) != 1:
        raise UnsupportedError(f"the TileLang function is {len(kernels)} kernels, and Baton launches "
                               "functions of one", code="unsupported")
    parameters = _parameters(function)
    maps: dict[str, _Map] = {}
    for host in lowered.host_mod.functions.values():
        for handle, values in dict(host.attrs.get("tma_descriptor_args") or {}).items():
            maps[handle.name] = _map([_plain(value) for value in values])
    known = {parameter.name for parameter in parameters}
    arguments: list[str | _Map] = []
    for parameter in kernels[0].params:
        if parameter.name not in maps and parameter.name not in known:
            raise UnsupportedError(f"the kernel takes {parameter.name}, which is not a parameter of the "
                                   "TileLang function", code="unsupported")
        arguments.append(maps.get(parameter.name, parameter.name))
    module = _core.compile(
        text=lowered.kernel_source, name=f"{kernels[0].attrs['global_symbol']}.cu", device=on,
        include=[tilelang.env.TILELANG_TEMPLATE_PATH, tilelang.env.CUTLASS_INCLUDE_DIR],
        options=options, param_names=False)
    kernel = module.kernel(str(kernels[0].attrs["global_symbol"]))
    return TileLangKernel(kernel, lowered.kernel_source, parameters, arguments,
                          _launch(kernels[0].attrs, kernel))


def _parameters(function: Any) -> list[Parameter]:
    found = []
    for variable in function.params:
        buffer = function.buffer_map[variable] if variable in function.buffer_map else None
        if buffer is None:
            found.append(Parameter(variable.name, str(variable.dtype), None))
        else:
            shape = tuple(_number(extent, f"an extent of {buffer.name}") for extent in buffer.shape)
            found.append(Parameter(buffer.name, str(buffer.dtype), shape))
    return found


def _number(value: Any, what: str) -> int:
    value = getattr(value, "value", value)
    if not isinstance(value, int):
        raise UnsupportedError(f"{what} is {value}, which is not a number: compile the function for one "
                               "shape", code="unsupported")
    return value


def _plain(value: Any) -> Any:
    """A number, a text, or the name of a variable."""
    return getattr(value, "value", getattr(value, "name", value))


def _launch(attributes: Any, kernel: Kernel) -> dict[str, Any]:
    extents = {str(axis): _number(extent, f"the extent {axis}")
               for axis, extent in dict(attributes["thread_extent"]).items()}
    wanted = {re.sub(r"^tirx?\.", "", str(tag)) for tag in attributes["tirx.kernel_launch_params"]}
    known = {f"{kind}.{axis}" for kind in ("blockIdx", "threadIdx") for axis in _AXES}
    for tag in sorted((wanted | set(extents)) - known - {_SHARED, _PDL, _COOPERATIVE}):
        raise UnsupportedError(f"the TileLang kernel is launched with {tag}, which Baton does not "
                               "know", code="unsupported")
    return {
        "grid": tuple(extents.get(f"blockIdx.{axis}", 1) for axis in _AXES),
        "block": tuple(extents.get(f"threadIdx.{axis}", 1) for axis in _AXES),
        "shared": _number(attributes.get("dyn_shared_memory_buf") or 0, "dynamic shared memory")
        if _SHARED in wanted else 0,
        "pdl": _PDL in wanted and kernel.waits is not False,
        "cooperative": _COOPERATIVE in wanted,
    }


def _map(values: Sequence[Any]) -> _Map:
    """Of the arguments of TVM's function: type, rank, address, and lists with the innermost
    dimension first: extents, strides in bytes, box, element strides; then interleaving, swizzle,
    L2 promotion, fill."""
    name, handle, kind, rank, tensor, *rest = values
    if name != _TILED:
        raise UnsupportedError(f"the tensor map {handle} is made by {name}, which Baton does not support",
                               code="unsupported")
    numbers = [_number(value, f"a number of the tensor map {handle}") for value in rest]
    lists = [numbers[at:at + rank][::-1] for at in range(0, 4 * rank, rank)]
    extents, strides, box, steps = lists
    interleaving, swizzle, promotion, fill = numbers[4 * rank:]
    if interleaving != 0 or any(step != 1 for step in steps):
        raise UnsupportedError(f"the tensor map {handle} has interleaving or strides between "
                               "elements, which Baton does not support here", code="unsupported")
    size = strides[-1]
    settings = {"type": _MAP_TYPES[kind], "shape": tuple(extents),
                "strides": tuple(stride // size for stride in strides), "box": tuple(box),
                "swizzle": _SWIZZLES[swizzle], "l2_promotion": _PROMOTIONS[promotion]}
    if fill != 0:
        settings["oob_fill"] = "nan"
    return _Map(str(tensor), settings)


def _subject(parameter: str) -> str:
    return f"the TileLang function's {parameter}"


def _check(parameter: Parameter, argument: Any) -> None:
    if parameter.shape is None:
        return
    region = region_of(argument)
    if region is None:
        raise ArgumentError(f"the TileLang function's {parameter.name} is a "
                            f"{type(argument).__name__}; give an array of {parameter.dtype} "
                            f"{list(parameter.shape)}")
    wanted = _DTYPES.get(parameter.dtype, parameter.dtype)
    # NumPy has no bf16 and fp8: raw elements of their size stand for them.
    is_raw = wanted in ("bf16", "f8e4m3", "f8e5m2") and region.dtype not in _DTYPES.values()
    if tuple(region.shape) != parameter.shape or (region.dtype != wanted and not is_raw):
        raise ArgumentError(f"the TileLang function's {parameter.name} is an array of "
                            f"{region.dtype} {list(region.shape)}; the function was compiled for "
                            f"{wanted} {list(parameter.shape)}")
    if not region.is_dense:
        raise ArgumentError(f"the TileLang function's {parameter.name} is not contiguous")
