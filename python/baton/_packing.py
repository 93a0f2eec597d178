"""Numbers for parameters whose type an image does not tell, and grids, of kernels of other compilers."""

from __future__ import annotations

import struct
from operator import index

from ._errors import ArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._values import Parameter


def ints(given: Any) -> list[int] | None:
    """The extents that an int, or a sequence of ints, gives. None for anything else."""
    try:
        return [index(extent) for extent in given] if hasattr(given, "__iter__") else [index(given)]
    except TypeError:
        return None


def grid_extents(kernel: str, grid: Any) -> list[int]:
    """The three extents of a grid that is an int, or a sequence of one to three. `kernel` is for messages."""
    extents = ints(grid)
    if extents is None:
        raise ArgumentError(f"{kernel}: the grid {grid!r} is neither an int nor a sequence of ints")
    if not 1 <= len(extents) <= 3:
        raise ArgumentError(f"{kernel}: the grid has {len(extents)} extents, it takes 1 to 3")
    return extents + [1] * (3 - len(extents))


def _packed(format: str, value: float) -> bytes:
    try:
        return struct.pack(format, value)
    except OverflowError:
        raise ArgumentError(f"{value!r} is beyond the range of a float of {struct.calcsize(format)} bytes") from None


def bits(parameter: Parameter, value: Any) -> Any:
    """A compiler drops the type of a parameter that the kernel does not use: it gets the bits of a
    number. Other values stay as they are."""
    if parameter.kind != "unknown" or not isinstance(value, (int, float)):
        return value
    if isinstance(value, float):
        return _packed("<d" if parameter.size == 8 else "<f", value)
    return (value & ((1 << 8 * parameter.size) - 1)).to_bytes(parameter.size, "little")


def float_bytes(dtype: str, value: float) -> bytes:
    """The bytes of a float in one of Baton's dtypes, rounded to nearest."""
    if dtype != "bf16":
        return _packed({"f16": "<e", "f32": "<f", "f64": "<d"}[dtype], value)
    single: int = struct.unpack("<I", _packed("<f", value))[0]
    if value != value:
        return struct.pack("<H", (single >> 16) | 0x40)
    return struct.pack("<H", ((single + 0x7FFF + ((single >> 16) & 1)) >> 16) & 0xFFFF)
