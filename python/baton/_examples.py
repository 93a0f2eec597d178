"""The arguments that a function is captured with, and the arrays that it gives back."""

from __future__ import annotations

import inspect
import sys

from ._arrays import from_bytes
from ._core import Array
from ._errors import ArgumentError, with_article
from ._record import region_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator, Mapping, Sequence

# Differences of results that another order of sums explains, by the dtype: relative, absolute.
_TOLERANCES = {"f64": (1e-7, 1e-7), "f32": (1e-4, 1e-5), "f16": (2e-3, 1e-3), "bf16": (1.6e-2, 1e-2),
               "f8e4m3": (0.125, 0.03125), "f8e5m2": (0.25, 0.0625)}


class Example:
    """The arguments of one call, by the names of the function's parameters."""

    def __init__(self, function: Callable[..., Any], arguments: Sequence[Any]):
        if not isinstance(arguments, (tuple, list)):
            raise ArgumentError(f"an example is the tuple of a call's arguments, not "
                                f"{with_article(arguments)}: baton.capture(f, (x, y))")
        self.function = function
        self.arguments = tuple(arguments)
        self.values = dict(zip(_names(function, self.arguments), self.arguments))

    def shape(self, key: str) -> tuple[int, ...] | None:
        region = region_of(self.values[key])
        return None if region is None else region.shape

    @staticmethod
    def copy(array: Any) -> Any:
        """A copy in memory of the same kind."""
        if isinstance(array, Array):
            return array.device.empty(array.shape, array.dtype).copy_from(array.numpy())
        if hasattr(array, "detach"):
            return array.detach().clone()
        return array.copy()

    def told(self) -> str:
        """For messages: "x of (17, 300), n = 4"."""
        return ", ".join(f"{key} of {self.shape(key)}" if self.shape(key) is not None
                         else f"{key} = {value!r}" for key, value in self.values.items())


def _names(function: Callable[..., Any], arguments: Sequence[Any]) -> list[str]:
    try:
        parameters = list(inspect.signature(function).bind(*arguments).arguments.items())
    except TypeError as wrong:
        raise ArgumentError(f"the function does not take this example's arguments: {wrong}") from None
    except ValueError:
        return [f"argument_{index}" for index in range(len(arguments))]
    names: list[str] = []
    for name, value in parameters:
        variadic = inspect.signature(function).parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        names += [f"{name}_{index}" for index in range(len(value))] if variadic else [name]
    return names


def arrays_of(example: Example) -> Iterator[tuple[str, Any]]:
    """The arrays among the arguments. Other values are part of the program as they are."""
    for key, value in example.values.items():
        if region_of(value) is not None:
            yield key, value
        elif isinstance(value, (tuple, list, dict)):
            raise ArgumentError(f"the argument {key} is a {type(value).__name__}: pass its arrays as "
                                "arguments of their own")


def results_of(returned: Any, name: str = "out") -> Iterator[tuple[str, Any]]:
    """The arrays that a function returned, with names: "out", "out_0", or the keys of a dict."""
    if returned is None:
        return
    if isinstance(returned, dict):
        for key, value in returned.items():
            yield from results_of(value, str(key))
    elif isinstance(returned, (tuple, list)):
        for index, value in enumerate(returned):
            yield from results_of(value, f"{name}_{index}")
    else:
        yield name, returned


def made_example(like: Example, examples: Sequence[Example],
                 symbols: Mapping[str, Sequence[int]], sizes: Mapping[str, int],
                 declared: Mapping[str, Sequence[Any]]) -> Example:
    """An example with other sizes, whose arrays repeat the contents of `like`'s: indices stay in
    their range."""
    by_values = {tuple(values): name for name, values in symbols.items()}
    arguments = []
    for key, value in like.values.items():
        shape = like.shape(key)
        if shape is None:
            values = tuple(example.values[key] for example in examples)
            is_size = type(value) is int and values in by_values
            arguments.append(sizes[by_values[values]] if is_size else value)
            continue
        names = declared.get(key, (None,) * len(shape))
        target = []
        for axis, extent in enumerate(shape):
            extents = tuple((example.shape(key) or ())[axis] for example in examples)
            name = names[axis] or (by_values.get(extents) if len(set(extents)) > 1 else None)
            target.append(sizes[name] if name is not None else extent)
        arguments.append(_resized(value, target))
    return Example(like.function, arguments)


def _resized(array: Any, shape: Sequence[int]) -> Any:
    if isinstance(array, Array):
        import numpy
        return array.device.empty(tuple(shape), array.dtype).copy_from(
            numpy.ascontiguousarray(_resized(array.numpy(), shape)))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        for axis, extent in enumerate(shape):
            index = torch.arange(extent, device=array.device) % max(array.shape[axis], 1)
            array = array.index_select(axis, index)
        return array.contiguous()
    import numpy
    for axis, extent in enumerate(shape):
        array = numpy.take(array, numpy.arange(extent) % max(array.shape[axis], 1), axis=axis)
    return numpy.ascontiguousarray(array)


def differences(want: Any, got: Any, exact: bool) -> str | None:
    """How two arrays differ, or None. With `exact`, in any bit."""
    import numpy
    region = region_of(want)
    assert region is not None
    one, other = _on_host(want, region.dtype), _on_host(got, region.dtype)
    if one.size != other.size:
        return f"{other.size} elements in place of {one.size}"
    one, other = one.reshape(-1), other.reshape(-1)
    if exact:
        return None if one.tobytes() == other.tobytes() else "other bytes"
    if region.dtype not in _TOLERANCES:
        wrong = numpy.nonzero(one != other)[0]
    else:
        relative, absolute = _TOLERANCES[region.dtype]
        a, b = _floats(one, region.dtype), _floats(other, region.dtype)
        wrong = numpy.nonzero(~numpy.isclose(b, a, rtol=relative, atol=absolute, equal_nan=True))[0]
        one, other = a, b
    if not len(wrong):
        return None
    return (f"{len(wrong)} of {one.size} elements differ, the first at {wrong[0]}: "
            f"{other[wrong[0]]} in place of {one[wrong[0]]}")


def _on_host(array: Any, dtype: str) -> Any:
    """A flat NumPy array."""
    if isinstance(array, Array):
        return array.numpy().reshape(-1)
    if hasattr(array, "detach"):
        torch = sys.modules["torch"]
        data = array.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        return from_bytes(data, dtype, (array.numel(),))
    return array.reshape(-1)


def _floats(array: Any, dtype: str) -> Any:
    """Wide floats; raw elements, where NumPy lacks the type, by torch."""
    import numpy
    if array.dtype.kind == "f" or array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return array.astype(numpy.float64)
    torch = sys.modules["torch"]
    kind = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}[dtype]
    raw = torch.frombuffer(bytearray(array.tobytes()), dtype=getattr(torch, kind))
    return raw.double().numpy()
