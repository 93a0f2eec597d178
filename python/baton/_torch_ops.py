"""The operations of torch that a capture sees: allocations, fills and copies become parts of the
program, views cost nothing, and everything else is a hole."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ._record import Copy, Fill, Recorder, region_of

# Operations that allocate, and the value that fills the new memory: a number, the position of the
# argument that has it, or None for undefined contents.
_ALLOCATIONS: dict[str, Any] = {
    "aten.empty.memory_format": None, "aten.empty_strided.default": None,
    "aten.empty_like.default": None, "aten.new_empty.default": None,
    "aten.new_empty_strided.default": None, "aten.zeros.default": 0, "aten.zeros_like.default": 0,
    "aten.new_zeros.default": 0, "aten.ones.default": 1, "aten.ones_like.default": 1,
    "aten.new_ones.default": 1, "aten.full.default": "fill_value",
    "aten.full_like.default": "fill_value", "aten.new_full.default": "fill_value",
}
# Operations that fill a tensor in place.
_FILLS: dict[str, Any] = {"aten.zero_.default": 0, "aten.fill_.Scalar": "value"}
# Operations that copy one tensor: the positions of source and target; no target: a new one.
_COPIES = {"aten.copy_.default": (1, 0), "aten.clone.default": (0, None),
           "aten._to_copy.default": (0, None)}


class Watch(TorchDispatchMode):  # type: ignore[misc,no-untyped-call,unused-ignore]
    """Tells a recorder what torch does."""

    def __init__(self, recorder: Recorder):
        super().__init__()  # type: ignore[no-untyped-call,unused-ignore]
        self._recorder = recorder

    def __torch_dispatch__(self, operation: Any, types: Any, args: Any = (),
                           kwargs: Any = None) -> Any:
        named = kwargs or {}
        name = str(operation)
        if name in _FILLS:
            self._fill(name, args[0], _value(operation, _FILLS[name], args, named))
        result = operation(*args, **named)
        if name in _ALLOCATIONS:
            self._recorder.add_allocation(result)
            value = _value(operation, _ALLOCATIONS[name], args, named)
            if value is not None:
                self._fill(name, result, value)
        elif name in _COPIES:
            source, target = _COPIES[name]
            self._copy(name, args[source], result if target is None else args[target],
                       is_new=target is None)
        elif name not in _FILLS and not _is_view(operation, args, named, result):
            self._hole(name, operation, result)
        return result

    def _fill(self, name: str, tensor: torch.Tensor, value: Any) -> None:
        if not isinstance(value, (int, float)):
            return self._recorder.add_hole(name, f"it fills with a {type(value).__name__}")
        if not tensor.is_contiguous():
            return self._recorder.add_hole(name, "it fills a tensor that is not contiguous")
        place = self._recorder.place_of(tensor)
        assert place is not None
        if tensor.numel():
            number = float(value) if tensor.dtype.is_floating_point else int(value)
            self._recorder.record.steps.append(Fill(place, tensor.numel(), number))

    def _copy(self, name: str, source: torch.Tensor, target: torch.Tensor, is_new: bool) -> None:
        from_place = self._recorder.place_of(source)
        if is_new:
            self._recorder.add_allocation(target)
        to_place = self._recorder.place_of(target)
        reason = None
        if source.dtype != target.dtype:
            reason = f"it converts {source.dtype} to {target.dtype}"
        elif source.shape != target.shape:
            reason = f"it broadcasts {tuple(source.shape)} to {tuple(target.shape)}"
        elif source.device != target.device:
            reason = f"it copies from {source.device} to {target.device}"
        elif source.stride() != target.stride() or not source.is_contiguous():
            reason = "it copies a tensor that is not contiguous"
        if reason is not None:
            return self._recorder.add_hole(name, reason)
        assert from_place is not None and to_place is not None
        if source.numel():
            self._recorder.record.steps.append(Copy(from_place, to_place, source.numel()))

    def _hole(self, name: str, operation: Any, result: Any) -> None:
        for tensor in _tensors(result):
            self._recorder.add_allocation(tensor)
        if name == "aten._local_scalar_dense.default":
            reason = "it reads a value of the device on the host, which the program could not follow"
        elif operation.namespace == "aten":
            reason = "torch computes it by kernels of its own, whose images are not known"
        else:
            reason = "it is an operation of another library, whose kernels are not known"
        self._recorder.add_hole(name, reason)


def _value(operation: Any, value: Any, args: Any, named: Any) -> Any:
    """The fill value: itself, or the argument of that name."""
    if not isinstance(value, str):
        return value
    if value in named:
        return named[value]
    names = [argument.name for argument in operation._schema.arguments]
    return args[names.index(value)]


def _is_view(operation: Any, args: Any, named: Any, result: Any) -> bool:
    """Whether it does nothing on the device: its results are views of its arguments, or no tensors
    at all come out of shapes alone."""
    if operation._schema.is_mutable:
        return False
    if operation.is_view:
        return True
    given = _bases((args, tuple(named.values())))
    made = _bases(result)
    return bool(made) and made <= given


def _bases(value: Any) -> set[int]:
    """The allocations of all tensors in a value."""
    regions = [region_of(tensor) for tensor in _tensors(value) if tensor.layout == torch.strided]
    return {region.base for region in regions if region is not None}


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, (tuple, list)):
        return [tensor for each in value for tensor in _tensors(each)]
    return []
