"""Kernels of CuTe DSL (nvidia-cutlass-dsl), from the PTX or machine code that it keeps. CuTe DSL is
not needed to load or launch them.

    compiled = cute.compile(add, a, b, c, options="--keep-ptx --keep-cubin")
    kernels = baton.cute.load(compiled)             # or the path of a .ptx or .cubin that it dumped
    kernels["add_kernel"].launch(a, b, c, n, grid=baton.ceildiv(n, 128))

The grid, dynamic shared memory and clusters stand only in the host code that CuTe DSL compiles, so
the caller gives them. The block is the image's own.
"""

from __future__ import annotations

import os
import re
import struct
from dataclasses import dataclass

from . import _core, _observe
from ._copies import Copies
from ._errors import ArgumentError, Error, NotFoundError
from ._packing import bits, grid_extents, ints

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    from ._core import Device, Kernel
    from ._record import Recorder

_PREFIX = "kernel_cutlass_"


@dataclass(frozen=True)
class Tensor:
    """A tensor with a layout of which a part is dynamic: the extents and strides, in elements, that
    the kernel was not compiled for, in the order of its modes.

    A plain array serves for a tensor whose layout is static, and for one with all extents dynamic
    and all strides but a last one of 1, as `mark_layout_dynamic()` makes it.
    """

    base: Any
    shapes: Sequence[int] = ()
    strides: Sequence[int] = ()

    @property
    def bytes(self) -> int:
        """Of the kernel's parameter: the address, 32-bit extents, 64-bit strides."""
        return 8 + 8 * -(-len(self.shapes) // 2) + 8 * len(self.strides)


class CuteKernel:
    """A kernel that CuTe DSL compiled. Any thread may use it. kernel: the baton.Kernel."""

    def __init__(self, name: str, kernel: Kernel):
        self.name = name
        self.kernel = kernel

    def __repr__(self) -> str:
        return f"<baton.cute.CuteKernel {self.name} on {self.kernel.device.spec}>"

    def launch(self, *arguments: Any, grid: int | Sequence[int], shared: int = 0,
               stream: Any = None, **settings: Any) -> None:
        """Checks and enqueues one launch; `settings` are those of Kernel.launch. Arrays are passed
        as CuTe DSL passes tensors, with the parts of their layouts that are dynamic."""
        params = self.kernel.params
        if len(arguments) != len(params):
            raise ArgumentError(f"the CuTe kernel {self.name} takes {len(params)} arguments, "
                                f"{len(arguments)} were given")
        tensors = [self._tensor(index, argument) for index, argument in enumerate(arguments)]
        recorder = _observe.recorder
        if recorder is not None:
            self._record(recorder, tensors, arguments, grid, shared, settings)
        with Copies(self.kernel.device) as copies:
            values = [bits(params[index], argument) if tensor is None
                      else _bytes(tensor, self._address(index, tensor, argument, copies))
                      for index, (tensor, argument) in enumerate(zip(tensors, arguments))]
            bases = [argument if tensor is None else tensor.base
                     for tensor, argument in zip(tensors, arguments)]
            with _observe.paused():
                self.kernel.launch(*values, grid=grid, shared=shared, stream=copies.stream(stream, bases),
                                   **settings)

    def _address(self, index: int, tensor: Tensor, argument: Any, copies: Copies) -> int:
        # Who names the layout answers for it; that of a plain array is counted in C order.
        return copies.address(tensor.base, f"the CuTe kernel {self.name}: argument {index}",
                              dense=tensor is not argument)

    def _tensor(self, index: int, argument: Any) -> Tensor | None:
        """The argument as a tensor, or None for a number or a struct of the caller's."""
        size = self.kernel.params[index].size
        if isinstance(argument, Tensor):
            tensor = argument
        elif argument is None or isinstance(argument, (int, float, bytes, bytearray)) \
                or not hasattr(argument, "shape"):
            return None
        else:
            _, shape = _core.view(argument)
            tensor = Tensor(argument)
            if size != tensor.bytes:
                tensor = Tensor(argument, shape, _outer_strides(argument, shape))
        for name, numbers, width in (("extents", tensor.shapes, 32), ("strides", tensor.strides, 64)):
            known = ints(numbers) if hasattr(numbers, "__iter__") else None
            if known is None or any(not -1 << width - 1 <= number < 1 << width - 1 for number in known):
                raise ArgumentError(f"the CuTe kernel {self.name}: argument {index} has the {name} {numbers!r}; they "
                                    f"are a sequence of ints of {width} bits")
        if size != tensor.bytes:
            raise ArgumentError(
                f"the CuTe kernel {self.name}: argument {index} makes {tensor.bytes} bytes (an "
                f"address, {len(tensor.shapes)} extents and {len(tensor.strides)} strides), the "
                f"parameter has {size}; name the dynamic ones by baton.cute.Tensor")
        return tensor

    def _record(self, recorder: Recorder, tensors: Sequence[Tensor | None],
                arguments: Sequence[Any], grid: int | Sequence[int], shared: int,
                settings: dict[str, Any]) -> None:
        """Tells a capture about the launch, with addresses as places."""
        from ._record import Fields, Number
        block = self.kernel.required_block
        if settings or block is None:
            return recorder.add_hole(f"kernel {self.name}", "a capture takes CuTe's kernels with "
                                     "their own block and without further settings")
        values: list[Any] = []
        for parameter, tensor, argument in zip(self.kernel.params, tensors, arguments):
            if tensor is None:
                values.append(Number(argument, parameter.dtype)
                              if isinstance(argument, (int, float)) else argument)
                continue
            place = recorder.place_of(tensor.base)
            if place is None:
                return recorder.add_hole(f"kernel {self.name}", "it gets a "
                                         f"{type(tensor.base).__name__}, whose memory is not known")
            values.append(Fields((place, *(Number(extent, "i32") for extent in tensor.shapes),
                                  *(Number(stride, "i64") for stride in tensor.strides))))
        recorder.add_launch(self.kernel, grid_extents(f"the CuTe kernel {self.name}", grid), block, shared, {},
                            values)


def load(compiled: Any, device: Device | str | None = None) -> dict[str, CuteKernel]:
    """Loads the kernels that CuTe DSL compiled, by their names in Python; kernels of one name keep
    their symbols.

    compiled: what cute.compile returned, or the path of a .ptx or .cubin. CuTe DSL keeps these with
    the options --keep-ptx and --keep-cubin, or with CUTE_DSL_KEEP_PTX=1 and CUTE_DSL_KEEP_CUBIN=1.
    The simulated GPU needs PTX.

    Raises NotFoundError where nothing was kept, and Error for an image without such kernels.
    """
    on = _core.open_device(device)
    if isinstance(compiled, (str, os.PathLike)):
        module = _core.load_image(compiled, on)
    else:
        kept = getattr(compiled, "artifacts", None)
        ptx, cubin = getattr(kept, "PTX", None), getattr(kept, "CUBIN", None)
        images = [image for image in (None if on.is_simulated else cubin, ptx) if image]
        if not images:
            raise NotFoundError(f"the compiled function keeps no {'PTX' if on.is_simulated else 'image'}"
                                ": compile with options=\"--keep-ptx --keep-cubin\"")
        data = [image.encode() if isinstance(image, str) else image for image in images]
        module = _core.load_image(data[0], on, "<CuTe DSL>", also=data[1] if len(data) > 1 else None)
    symbols = [symbol for symbol in module.kernels if symbol.startswith(_PREFIX)]
    if not symbols:
        raise Error(f"the image has no kernel of CuTe DSL ({_PREFIX}…): it has "
                    f"{', '.join(module.kernels) or 'none'}", code="invalid_input")
    names = [_python_name(symbol) for symbol in symbols]
    return {name if names.count(name) == 1 else symbol: CuteKernel(name, module.kernel(symbol))
            for name, symbol in zip(names, symbols)}


def _python_name(symbol: str) -> str:
    """"add_kernel" of "kernel_cutlass_add_kernel_tensorptrf32gmemo1__0": what follows says types."""
    return re.split(r"_tensorptr|_Tensor|_TiledMMA|__\d+$", symbol[len(_PREFIX):])[0]


def _bytes(tensor: Tensor, address: int) -> bytes:
    extents = struct.pack(f"<{len(tensor.shapes)}i", *tensor.shapes)
    return (struct.pack("<Q", address) + extents + b"\0" * (-len(extents) % 8)
            + struct.pack(f"<{len(tensor.strides)}q", *tensor.strides))


def _outer_strides(array: Any, shape: Sequence[int]) -> tuple[int, ...]:
    """The strides in elements of a contiguous array, but for the last."""
    strides: list[int] = []
    step = 1
    for extent in reversed(shape[1:]):
        step *= extent
        strides.insert(0, step)
    return tuple(strides)
