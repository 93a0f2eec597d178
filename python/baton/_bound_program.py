"""A program that is bound to a device: set, called and enqueued."""

from __future__ import annotations

import sys
from _thread import RLock

from . import _core
from ._arrays import from_bytes
from ._core import Array, Device
from ._errors import ArgumentError, with_article
from ._one_thread import one_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping, NoReturn, Sequence

    from ._core import Allocator
    from ._program import Program
    from ._values import CheckReport, CompletedStep, ExpectedOutput, RunReport, ScheduleRun

# Roles of buffers that have contents before the first step: needs_contents in src/program/buffer_roles.cc.
_NEED_CONTENTS = frozenset({"input", "weight", "inout"})


class BoundProgram:
    """A program on a device, with values and buffers of its own. One thread at a time.

    Calling it enqueues the program:

        out = p(x=x)        # a dict of the outputs, by name

    Keywords are buffers or symbols. An array in the device's memory serves as the buffer itself, an
    array in host memory is copied into it. With host arrays, the call waits and the outputs are
    NumPy arrays; otherwise it waits for nothing, and the outputs are arrays of the first array's
    library (torch, CuPy) or baton.Array. The outputs of a call stay as they are while they are
    referred to. Buffers that get no array keep what they have from call to call.
    """

    def __init__(self, program: Program, executable: _core.Executable,
                 symbols: Mapping[str, int], seed: int, allocator: Allocator | None,
                 collectives: str = "auto"):
        self.program = program
        self._executable = executable
        self._device = executable.device
        self._fixed = dict(symbols)
        self._seed = seed
        self._allocator = allocator
        self._collectives = collectives
        self._buffers = program.buffers
        self._kept: dict[str, Any] = {}  # the caller's arrays that serve as buffers
        self._pool: dict[str, list[Array]] = {}  # memory of outputs
        self._serving: dict[str, int] = {}  # the address of the one that is the buffer now
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._is_bound = False
        self._is_initialised = False
        self._users = RLock()
        if self._names_unknown() or len(self._fixed) == len(program.symbols):
            self._bind_unless_arrays_come()

    @property
    def device(self) -> Device:
        """The device that the program is loaded for."""
        return self._device

    @property
    @one_thread
    def symbols(self) -> dict[str, int]:
        """The values of all symbols."""
        self._require_bound()
        return self._executable.symbols

    @one_thread
    def shape(self, buffer: str) -> tuple[int, ...]:
        """The extents of a buffer."""
        self._require_bound()
        return self._executable.shape(buffer)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self._fixed.items())
        return f"<baton.BoundProgram {self.program.name}({values}) on {self.device.spec}>"

    def __reduce__(self) -> NoReturn:
        """Refuses copy and pickle: two objects would use one binding, each with its own record of it."""
        raise TypeError("a bound program cannot be copied or pickled: it has memory of a device; "
                        "bind the program again")

    def _bind(self, arrays: Mapping[str, Any]) -> None:
        """Binds anew. Arrays of earlier calls that still have the right shape are given again."""
        self._executable.bind(self._fixed, {**self._kept, **arrays}, seed=self._seed,
                                allocator=self._allocator, collectives=self._collectives)
        self._is_bound = True
        self._is_initialised = False
        self._pool.clear()
        self._serving.clear()
        self._shapes = {name: self._executable.shape(name) for name in self._buffers}

    def _require_bound(self) -> None:
        if not self._is_bound:
            self._bind({})

    def _names_unknown(self) -> bool:
        return any(name not in self.program.symbols for name in self._fixed)

    def _bind_unless_arrays_come(self) -> None:
        """Binds anew, unless a buffer gets its contents with the next call: that one binds."""
        lacks_array = any(buffer.role in _NEED_CONTENTS and buffer.init == "none"
                          and name not in self._kept for name, buffer in self._buffers.items())
        if lacks_array and not self._names_unknown():
            _core.require_settings(self._fixed)
            self._is_bound = False
        else:
            self._bind({})

    @one_thread
    def set(self, symbols: Mapping[str, int] | None = None, **values: int) -> None:
        """Gives symbols other values for later calls. Memory and contents of buffers stay where
        their shapes stay; otherwise the program is bound anew."""
        given = {**(symbols or {}), **values}
        before, kept = self._fixed, self._kept
        self._fixed = {**before, **given}
        try:
            reshaped = self._reshaped_by(given)
            if self._is_bound and not reshaped:
                return self._executable.set(given)
            self._kept = {name: value for name, value in kept.items() if name not in reshaped}
            self._bind_unless_arrays_come()
        except BaseException:
            self._fixed, self._kept = before, kept
            raise

    def _reshaped_by(self, given: Mapping[str, int]) -> frozenset[str]:
        """The buffers whose shape has one of these symbols whose value changes."""
        if not given:
            return frozenset()
        values = self._executable.symbols if self._is_bound else {}
        changed = {name for name, value in given.items() if values.get(name) != value}
        return frozenset(name for name, buffer in self._buffers.items()
                         if any(word in changed for extent in buffer.shape for word in words_of(extent)))

    @one_thread
    def __call__(self, *, stream: Any = None, **given: Any) -> dict[str, Any]:
        arrays = {name: value for name, value in given.items() if name not in self.program.symbols}
        symbols = {name: value for name, value in given.items() if name in self.program.symbols}
        views = {name: _view(name, value) for name, value in arrays.items()}
        host = {name: value for name, value in arrays.items() if views[name][0]}
        device = {name: value for name, value in arrays.items() if name not in host}
        chosen = _core.choose_stream(tuple(device.values()), stream, self._device)
        before, kept = self._fixed, self._kept
        self._fixed = {**before, **symbols}
        try:
            reshaped = self._reshaped_by(symbols)
            if (not self._is_bound or reshaped
                    or any(self._shapes.get(name) != shape for name, (_, shape) in views.items())):
                self._kept = {name: value for name, value in kept.items()
                              if name not in arrays and name not in reshaped}
                self._bind(arrays)
            else:
                # An array that is refused must not change the symbols, so they are set last.
                for name, value in device.items():
                    self._executable.set_memory(name, value)
                    self._kept[name] = value
                    self._serving.pop(name, None)
                if symbols:
                    self._executable.set(symbols)
        except BaseException:
            self._fixed, self._kept = before, kept
            raise
        self._kept.update(device)
        if host:  # a copy from host memory would wait, deaf to Ctrl-C
            self._executable.wait(chosen, None)
        outputs = self._take_outputs(arrays)
        if not self._is_initialised:
            self._executable.initialise(chosen)
            self._is_initialised = True
        for name, value in host.items():
            if self._buffers[name].role != "output":
                self._executable.upload(name, value, chosen)
        self._executable.enqueue(chosen)
        for name in self._results():
            if name not in outputs and name not in device:
                outputs[name] = self._executable.copy_out(name, chosen)
        if host:
            return self._host_results(host, device, outputs, chosen)
        library = _library(next(iter(device.values()), None))
        return {name: device[name] if name in device else library(outputs[name])
                for name in self._results()}

    def _results(self) -> list[str]:
        return [name for name, buffer in self._buffers.items()
                if buffer.role in ("output", "inout")]

    def _take_outputs(self, arrays: Mapping[str, Any]) -> dict[str, Array]:
        """Memory for the outputs that the caller gives no array for.

        An array that has no references any more serves again. Outputs with first contents of their
        own are copied instead.
        """
        taken: dict[str, Array] = {}
        for name, buffer in self._buffers.items():
            if buffer.role != "output" or buffer.init != "none" or name in arrays:
                continue
            pool = self._pool.setdefault(name, [])
            # The caller gets an array that shares the memory, as slices and exported tensors do.
            # References to Python objects say nothing: interpreters leave some out.
            free = next((array for array in pool if array.references == 1), None)
            if free is None:
                free = self._executable.new_output(name)
                pool.append(free)
            if self._serving.get(name) != free.address:
                self._executable.set_memory(name, free)
                self._kept.pop(name, None)
                self._serving[name] = free.address
            taken[name] = free.reshape(free.shape)
        return taken

    def _host_results(self, host: Mapping[str, Any], device: Mapping[str, Any],
                      outputs: Mapping[str, Array], stream: int) -> dict[str, Any]:
        self._executable.wait(stream, None)
        results: dict[str, Any] = {}
        for name in self._results():
            if name in device:
                results[name] = device[name]
            elif name in host:
                outputs.get(name, self._executable.array(name)).copy_to(host[name])
                results[name] = host[name]
            else:
                results[name] = outputs[name].numpy()
        return results

    @one_thread
    def run(self, *, repeat: int = 1, timeout: float | None = None, schedule: str | None = None,
            races: bool | str = "usual", trace: bool = False, find_nan: bool = False,
            count_accesses: bool = False, keep: Sequence[str] = (),
            after_step: Callable[[CompletedStep], object] | None = None) -> RunReport:
        """Initialises the buffers, runs the steps, waits and downloads: for tools and tests.

        repeat: runs; the first one initialises. timeout: seconds for all runs.
        schedule: the order of the simulated GPU's work.
        races: "global" (or True) also looks for races in global memory within one grid, "model"
            also for what only the memory model calls a race.
        trace: whether a timeline is recorded; a GPU needs bind(instrument=True) for it.
        find_nan: whether to end at the first step that makes NaN or infinity of finite values.
        count_accesses: whether the simulated GPU counts accesses of memory.
        keep: more buffers that `result` has after the run.
        after_step: called with each completed step of the first run. If it returns False, the run
            ends there. What it raises, the run raises.

        find_nan and after_step need the stream executor; steps do not overlap then. `result` has
        the outputs after the run. Raises FindingError or FaultError, TimeoutError,
        KeyboardInterrupt, and Error with the code "mismatch" for what find_nan found.
        """
        self._release_memory()
        return self._executable.run(repeat=repeat, timeout=timeout, schedule=schedule, races=races,
                                    trace=trace, find_nan=find_nan, count_accesses=count_accesses,
                                    keep=keep, after_step=after_step)

    @one_thread
    def compare_expected(self) -> tuple[ExpectedOutput, ...]:
        """Compares the outputs of the last `run` with the files that the program expects."""
        return self._executable.compare_expected()

    @one_thread
    def compare_schedules(self, schedules: Sequence[str], *, timeout: float | None = None,
                          races: bool | str = "usual") -> tuple[ScheduleRun, ...]:
        """Runs once more under each schedule, and compares the outputs bit by bit with those of
        the last `run`. A difference is a race, or a sum whose order is not fixed.

        schedules: "serial", "late", "early", "reverse" or "random:SEED". timeout: seconds for each.
        races: as of `run`.
        """
        return self._executable.compare_schedules(schedules, timeout=timeout, races=races)

    def _release_memory(self) -> None:
        """Gives outputs the program's own memory again."""
        if self._serving or not self._is_bound:
            self._bind({})

    @one_thread
    def result(self, name: str) -> Any:
        """An output, inout or state buffer after `run`, as a NumPy array."""
        dtype, shape, data = self._executable.result(name)
        return from_bytes(data, dtype, shape)

    @one_thread
    def enqueue(self, stream: Any = None) -> None:
        """Enqueues the steps and returns. Buffers keep their contents; the first call after a bind
        gives them their first ones. While a CUDA graph is captured from the stream, the steps
        become nodes of it."""
        self._require_bound()
        self._executable.enqueue(_core.choose_stream((), stream, self._device))
        self._is_initialised = True

    @one_thread
    def prepare(self, stream: Any = None) -> None:
        """Does what the first `enqueue` does once: makes the graph."""
        self._require_bound()
        self._executable.prepare(_core.choose_stream((), stream, self._device))

    @one_thread
    def reset(self, state: str, stream: Any = None) -> None:
        """Enqueues the first contents of a state buffer again."""
        self._executable.reset(state, _core.choose_stream((), stream, self._device))

    @one_thread
    def wait(self, stream: Any = None, timeout: float | None = None) -> None:
        """Waits for the stream's work. Its error names the launch of this program."""
        self._executable.wait(_core.choose_stream((), stream, self._device), timeout)

    @one_thread
    def array(self, buffer: str) -> Array:
        """The memory of a buffer, until the program is bound anew."""
        self._require_bound()
        return self._executable.array(buffer)

    @one_thread
    def check(self) -> CheckReport:
        """Checks the program for its symbols' values."""
        self._require_bound()
        return self.program.check(device=self.device, symbols=self._executable.symbols)


def _view(name: str, value: Any) -> tuple[bool, tuple[int, ...]]:
    """Returns whether the array is in host memory, and its shape."""
    try:
        return _core.view(value)
    except ArgumentError as error:
        raise ArgumentError(f"{name}: {error}") from None


def _library(array: Any) -> Any:
    """Returns a function that makes an array of `array`'s library from a baton.Array."""
    if array is None or isinstance(array, Array):
        return lambda result: result
    module = sys.modules.get(type(array).__module__.split(".")[0])
    return getattr(module, "from_dlpack", lambda result: result)


def words_of(expression: str) -> set[str]:
    """Returns the names and numbers in an expression."""
    return set("".join(c if c.isalnum() or c == "_" else " " for c in expression).split())
