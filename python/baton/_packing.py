"""Numbers for parameters whose type an image does not tell."""

from __future__ import annotations

import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._values import Parameter


def bits(parameter: Parameter, value: Any) -> Any:
    """A compiler drops the type of a parameter that the kernel does not use: it gets the bits of a
    number. Other values stay as they are."""
    if parameter.kind != "unknown" or not isinstance(value, (int, float)):
        return value
    if isinstance(value, float):
        return struct.pack("<d" if parameter.size == 8 else "<f", value)
    return (value & ((1 << 8 * parameter.size) - 1)).to_bytes(parameter.size, "little")


def float_bytes(dtype: str, value: float) -> bytes:
    """The bytes of a float in one of Baton's dtypes, rounded to nearest."""
    if dtype != "bf16":
        return struct.pack({"f16": "<e", "f32": "<f", "f64": "<d"}[dtype], value)
    single: int = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return struct.pack("<H", (single >> 16) | 0x40)
    return struct.pack("<H", ((single + 0x7FFF + ((single >> 16) & 1)) >> 16) & 0xFFFF)
