"""Kernels of Numba, from the PTX that it compiles. Numba is not needed to load or launch them.

    ptx, _ = numba.cuda.compile(saxpy, signature, device=False, output="ptx", cc=(9, 0), abi="numba")
    kernel = baton.numba.load(ptx)
    kernel[blocks, threads](y, x, 2.0)
"""

from __future__ import annotations

from . import _core
from ._core import Array
from ._errors import ArgumentError
from ._packing import bits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    from ._core import Device, Kernel

    Extents = int | Sequence[int]


class NumbaKernel:
    """A kernel that Numba compiled: arrays are passed as Numba passes them. Any thread may use it.

    Numba's PTX has 5 + 2 d parameters for an array of d dimensions: two null pointers, the elements,
    their size in bytes, the address, the extents and the strides in bytes.
    """

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def __repr__(self) -> str:
        return f"<baton.numba.NumbaKernel {self.kernel.name} on {self.kernel.device.spec}>"

    def __getitem__(self, config: tuple[Extents, Extents]) -> Any:
        if not isinstance(config, tuple) or len(config) != 2:
            raise ArgumentError("a Numba kernel is launched as kernel[grid, block](...); a stream is given as stream=, "
                                "dynamic shared memory to launch(..., shared=)")
        grid, block = config

        def launch(*arguments: Any, stream: Any = None) -> None:
            self.launch(*arguments, grid=grid, block=block, stream=stream)
        return launch

    def launch(self, *arguments: Any, grid: Extents, block: Extents, **settings: Any) -> None:
        """Checks and enqueues one launch; `settings` are those of Kernel.launch. Raises what that
        raises, and counts Numba's parameters in its messages."""
        values: list[Any] = []
        for argument in arguments:
            values += _flat(argument)
        wanted = len(self.kernel.params)
        if len(values) != wanted:
            raise ArgumentError(
                f"the Numba kernel has {wanted} parameters, and the {len(arguments)} arguments make "
                f"{len(values)}; the number of arguments or of an array's dimensions differs")
        self.kernel.launch(*map(bits, self.kernel.params, values), grid=grid, block=block,
                           **settings)


def load(ptx: str | bytes, device: Device | str | None = None,
         name: str | None = None) -> NumbaKernel:
    """Loads PTX that Numba compiled for a kernel (`device=False`, `abi="numba"`). `name` is the
    kernel's, where the PTX has several. Raises Error for other bytes."""
    image = ptx.encode() if isinstance(ptx, str) else ptx
    return NumbaKernel(_core.load_image(image, device, "<ptx of Numba>").kernel(name))


def _flat(argument: Any) -> list[Any]:
    shape = getattr(argument, "shape", None)
    if not isinstance(shape, tuple) or (shape == () and hasattr(argument, "item")):
        return [argument]
    size = _core.element_size(argument.dtype)
    strides = getattr(argument, "strides", None)
    if isinstance(argument, Array) or strides is None:
        strides, step = [], size
        for extent in reversed(shape):
            strides.insert(0, step)
            step *= extent
    elements = 1
    for extent in shape:
        elements *= extent
    return [None, None, elements, size, argument, *shape, *strides]
