"""One call of a function that is captured."""

from __future__ import annotations

import sys
from contextlib import ExitStack

from . import _core
from ._core import Device
from ._errors import ArgumentError
from ._examples import Example, arrays_of, differences, results_of
from ._record import Record, Recorder, Region, region_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable


class Call:
    """One call of the function, recorded. Its arguments are copies, which the call may change."""

    def __init__(self, function: Callable[..., Any], example: Example, device: Device):
        self.example = example
        self.before = {key: example.copy(value) for key, value in arrays_of(example)}
        recorder = Recorder(device)
        for key, value in arrays_of(example):
            recorder.add_argument(key, value)
        with ExitStack() as stack:
            stack.enter_context(_device(device))
            with recorder.recording():
                returned = function(*example.arguments)
            if not device.is_simulated:
                device.synchronize()
        self.record: Record = recorder.record
        for key, value in results_of(returned):
            place = recorder.place_of(value)
            if place is None:
                raise ArgumentError(f"the function returned a {type(value).__name__}: it may return "
                                    "arrays, and tuples, lists and dicts of them")
            self.record.results.append((key, (place, _dense_region(value))))
        self.after = {key: example.copy(value) for key, value in arrays_of(example)}
        self.results = {key: example.copy(value) for key, value in results_of(returned)}
        self.changed = {key for key, value in self.before.items()
                        if differences(value, self.after[key], exact=True)}


def _dense_region(value: Any) -> Region:
    region = region_of(value)
    assert region is not None
    if not region.is_dense:
        raise ArgumentError("the function returned an array that is not contiguous: return "
                            "its .contiguous(), or the whole array")
    return region


def _device(device: Device) -> Any:
    """Triton's programs go to the device too, where Triton is loaded."""
    if "triton" in sys.modules and "torch" in sys.modules:
        from .triton import on
        return on(device)
    return _core.on(device)
