"""Arrays of NumPy from memory of a device. NumPy is imported at the first use."""

from __future__ import annotations

from ._core import Array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The names of NumPy and, where it lacks them, of ml_dtypes.
_NUMPY = {
    "f16": "float16", "f32": "float32", "f64": "float64", "bool": "bool",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
}
_ML_DTYPES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}
_RAW = {"bf16": "V2", "f8e4m3": "V1", "f8e5m2": "V1"}


def numpy_dtype(dtype: str) -> Any:
    """NumPy's dtype for one of Baton's. Raw elements where neither NumPy nor ml_dtypes has it."""
    import numpy
    if dtype in _NUMPY:
        return numpy.dtype(_NUMPY[dtype])
    try:
        import ml_dtypes
    except ImportError:
        return numpy.dtype(_RAW[dtype])
    return numpy.dtype(getattr(ml_dtypes, _ML_DTYPES[dtype]))


def from_bytes(data: bytes, dtype: str, shape: tuple[int, ...]) -> Any:
    """A NumPy array of its own memory with these bytes."""
    import numpy
    return numpy.frombuffer(bytearray(data), dtype=numpy_dtype(dtype)).reshape(shape)


def to_numpy(array: Array) -> Any:
    """A copy of a device array."""
    return from_bytes(array.tobytes(), array.dtype, array.shape)


def as_array(array: Array, dtype: Any = None, copy: bool | None = None) -> Any:
    """`__array__` of a device array."""
    if copy is False:
        raise ValueError("a baton.Array is in device memory: NumPy can only have a copy")
    values = to_numpy(array)
    return values if dtype is None else values.astype(dtype)
