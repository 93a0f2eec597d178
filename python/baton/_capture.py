"""Captures what a Python function launches, as a program of kernels."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass

from . import _core
from ._builder import Expression, ProgramBuilder
from ._core import Device
from ._errors import ArgumentError, Error, UnsupportedError
from ._examples import Example, arrays_of, differences, made_example, results_of
from ._program import Program
from ._record import Copy, Fields, Fill, Hole, Launch, MapOf, Memory, Number, Place, Record, Recorder, Scratch
from ._sizes import Sizes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping, Sequence

    Size = "Expression | int"

# Examples that a capture makes by itself to tell expressions apart.
_MOST_PROBES = 6


@dataclass(frozen=True)
class CapturedBuffer:
    """A buffer of a captured program: where its memory came from, and when it is used.

    first, last: the numbers of the steps, from 0; None where no step uses it. Between them it is
    alive. allocated: the step before which the function allocated it.
    """

    name: str
    role: str
    dtype: str
    shape: tuple[str, ...]
    origin: str  # "argument", "allocation", "outside", or "scratch" of a launch
    allocated: int
    first: int | None
    last: int | None


class CapturedProgram(Program):
    """A program that `baton.capture` recorded. Everything that takes a Program takes it.

    holes: what the function did and a program cannot do, as baton.Hole. With a hole the program
    is not whole: check, bind and bundle raise UnsupportedError, which lists them.
    allocations: the buffers, as baton.CapturedBuffer, in the order of their first use.
    examples: the values of the symbols in each example.
    """

    holes: tuple[Hole, ...]
    allocations: tuple[CapturedBuffer, ...]
    examples: tuple[dict[str, int], ...]
    _folder: tempfile.TemporaryDirectory[str]

    def save(self, folder: str | os.PathLike[str]) -> str:
        """Writes the program file, its images and its weights into a folder, and returns the path
        of the program file. Raises UnsupportedError for a program with holes."""
        self._require_whole()
        shutil.copytree(self._folder.name, folder, dirs_exist_ok=True)
        path = os.path.join(os.fspath(folder), f"{self.name}.toml")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)
        return path

    def _load(self, *arguments: Any, **named: Any) -> Any:
        self._require_whole()
        return super()._load(*arguments, **named)

    def _find_tuned(self, *arguments: Any, **named: Any) -> Any:
        self._require_whole()
        return super()._find_tuned(*arguments, **named)

    def bundle(self, path: str | os.PathLike[str], archs: Sequence[str] = (),
               **named: Any) -> tuple[str, ...]:
        """Writes a bundle: see baton.bundle. Kernels go in as they were captured."""
        self._require_whole()
        return super().bundle(path, archs, **named)

    def _require_whole(self) -> None:
        if self.holes:
            raise UnsupportedError(
                f"the captured program {self.name} has {len(self.holes)} "
                f"hole{'s' if len(self.holes) > 1 else ''}: it lacks what the function did beside "
                "launching known kernels. Replace each by a kernel, or move it out of the function",
                notes=[f"{hole.where}: {hole.name}: {hole.reason}" for hole in self.holes])


def capture(function: Callable[..., Any], *examples: Sequence[Any], name: str | None = None,
            device: Device | str | None = None, sizes: Mapping[str, Sequence[Any]] | None = None,
            weights: Sequence[str] = (), share_scratch: bool = False,
            verify: bool = True) -> CapturedProgram:
    """Records what a function launches, as a program with symbols for the sizes that vary.

        program = baton.capture(step, (x, w), (longer_x, w), weights=["w"])
        baton.check(program).edges[0].verdict
        baton.bundle(program, "step.baton")

    function: launches kernels of Baton and of Triton on arrays of torch, NumPy or Baton. It is
        called once for each example, and perhaps more often with made ones.
    examples: tuples of its arguments. Extents and ints that differ between them become symbols.
        Give the smallest and the largest sizes: the program takes those and the ones between.
    name: the program's, by default the function's.
    device: where it runs; the default is that of `baton.device()`. On the simulated GPU tensors are
        on the CPU.
    sizes: names for extents: {"x": ("N", None)}. With one example, capture makes two more with
        larger named extents, whose contents repeat those of the example.
    weights: arguments that no launch writes, and that are ready before the first one: launches may
        read them early.
    share_scratch: whether allocations with disjoint lifetimes share a buffer.
    verify: whether the program is run with every example, and its results are compared.

    Allocations, fills and contiguous copies of torch become buffers and steps. Everything else that
    is no kernel of a known image is a hole. Launches of other libraries that call the driver
    themselves are seen by nobody; `verify` finds that their results are missing.

    Raises ArgumentError for arguments that no buffer can be, Error with the code "invalid_input"
    where examples differ in more than sizes, and with "mismatch" where verification fails.
    """
    if not examples:
        raise ArgumentError("capture needs the arguments of a call: baton.capture(f, (x, y))")
    on = device if isinstance(device, Device) else _core.open_device(device)
    label = _name(name or getattr(function, "__name__", "captured"))
    named = [Example(function, arguments) for arguments in examples]
    declared = {key: tuple(value) for key, value in (sizes or {}).items()}
    symbols = _symbols(named, declared)
    if len(named) == 1 and symbols:
        for round in (1, 2):
            made = {symbol: _grown(values[0], round, number)
                    for number, (symbol, values) in enumerate(symbols.items())}
            named.append(made_example(named[0], named, symbols, made, declared))
        symbols = _symbols(named, declared)
    calls = [_Call(function, example, on) for example in named]
    for _ in range(_MOST_PROBES):
        merge = _Merge(label, on, calls, Sizes(symbols, _constants(named)), weights, share_scratch)
        program = merge.program()
        if merge.sizes.probe is None or program.holes:
            break
        example = made_example(named[-1], named, symbols, merge.sizes.probe, declared)
        calls.append(_made_call(function, example, on, merge.sizes.probe))
        named.append(example)
        symbols = _symbols(named, declared)
    if verify and not program.holes:
        for call, values in zip(calls, program.examples):
            _verify(program, call, values, on)
    return program


def _made_call(function: Callable[..., Any], example: Example, device: Device,
               sizes: Mapping[str, int]) -> _Call:
    """A call with an example that capture made, which the function may not take."""
    try:
        return _Call(function, example, device)
    except Exception as failure:
        told = ", ".join(f"{name} = {value}" for name, value in sizes.items())
        raise Error(f"the examples do not tell the program's expressions apart, and the function "
                    f"fails for one with {told} that repeats their contents: add an example of "
                    "about that size", code="invalid_input") from failure


class _Call:
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
            self.record.results.append((key, (place, _result_region(value))))
        self.after = {key: example.copy(value) for key, value in arrays_of(example)}
        self.results = {key: example.copy(value) for key, value in results_of(returned)}
        self.changed = {key for key, value in self.before.items()
                        if differences(value, self.after[key], exact=True)}


def _result_region(value: Any) -> Any:
    from ._record import region_of
    region = region_of(value)
    assert region is not None
    if not region.is_dense:
        raise ArgumentError("the function returned an array that is not contiguous: return "
                            "its .contiguous(), or the whole array")
    return region


def _device(device: Device) -> Any:
    """Triton's programs go to the device too, where Triton is loaded."""
    import sys
    if "triton" in sys.modules and "torch" in sys.modules:
        from .triton import on
        return on(device)
    return _core.on(device)


def _name(text: str) -> str:
    cleaned = re.sub(r"\W", "_", text)
    return cleaned if cleaned and not cleaned[0].isdigit() else f"_{cleaned}"


def _grown(size: int, round: int, number: int) -> int:
    """A larger size of the same kind: a multiple of 16, or none. Symbols grow differently."""
    if size % 16 == 0:
        return size * (round + 1) + 16 * (3 * number + round)
    grown = size * (round + 1) + 2 * number + round
    return grown if grown % 16 else grown + 1


def _symbols(examples: Sequence[Example],
             declared: Mapping[str, tuple[Any, ...]]) -> dict[str, tuple[int, ...]]:
    """The sizes that vary, or are declared, by name."""
    for key in declared:
        if key not in examples[0].values:
            raise ArgumentError(f"sizes names {key}, which is no argument of the function: it has "
                                f"{', '.join(examples[0].values)}")
    found: dict[str, tuple[int, ...]] = {}

    def add(name: str, values: tuple[int, ...]) -> None:
        if found.setdefault(name, values) != values:
            raise ArgumentError(f"the size {name} is {found[name]} and {values} in the examples: "
                                "give these extents different names")

    for example in examples[1:]:
        if len(example.values) != len(examples[0].values):
            raise ArgumentError("the examples have different numbers of arguments")
    for key in examples[0].values:
        values = [example.values[key] for example in examples]
        if all(type(value) is int for value in values):
            if len(set(values)) > 1 and tuple(values) not in found.values():
                add(_name(key), tuple(values))
            continue
        shapes = [example.shape(key) for example in examples]
        if shapes[0] is None:
            continue
        if any(shape is None or len(shape) != len(shapes[0]) for shape in shapes):
            raise ArgumentError(f"the argument {key} has {shapes} as shapes in the examples; "
                                "the number of dimensions may not vary")
        names = declared.get(key, (None,) * len(shapes[0]))
        if len(names) != len(shapes[0]):
            raise ArgumentError(f"sizes names {len(names)} extents of {key}, which has "
                                f"{len(shapes[0])}")
        for axis, name in enumerate(names):
            extents = tuple(shape[axis] for shape in shapes)
            if name is not None:
                add(_name(name), extents)
            elif len(set(extents)) > 1 and extents not in found.values():
                add(f"{_name(key)}_{axis}", extents)
    return found


def _constants(examples: Sequence[Example]) -> list[int]:
    """Extents and ints that are one number in all examples."""
    found: set[int] = set()
    for key, value in examples[0].values.items():
        shapes = [example.shape(key) for example in examples]
        for numbers in zip(*(shape for shape in shapes if shape is not None)):
            if len(set(numbers)) == 1:
                found.add(numbers[0])
        if type(value) is int and all(example.values[key] == value for example in examples):
            found.add(value)
    return sorted(found)


class _Merge:
    """Makes one program of the records of all calls."""

    def __init__(self, name: str, device: Device, calls: Sequence[_Call], sizes: Sizes,
                 weights: Sequence[str], share_scratch: bool):
        self.sizes = sizes
        self._calls = calls
        self._records = [call.record for call in calls]
        self._folder = tempfile.TemporaryDirectory(prefix="baton-capture-")
        self._builder = ProgramBuilder(name, directory=self._folder.name)
        self._device = device
        self._weights = weights
        self._share = share_scratch
        self._buffers: dict[int, str] = {}  # by the number of the memory
        self._kernels: dict[tuple[str, str], str] = {}
        self._extra: list[CapturedBuffer] = []
        unknown = [key for key in weights if key not in calls[0].before]
        if unknown:
            raise ArgumentError(f"weights names {unknown[0]}, which is no array among the arguments")

    def program(self) -> CapturedProgram:
        self._require_one_structure()
        for symbol, values in self.sizes.symbols.items():
            self._builder.symbol(symbol, values[0])
        self._uses = self._find_uses()
        self._outputs = self._find_outputs()
        self._shared = self._find_shared() if self._share else {}
        captured = [self._add_buffer(number) for number in range(len(self._records[0].memories))]
        for number in range(len(self._records[0].steps)):
            self._add_step(number)
        self._add_output_copies()
        self.sizes.require_hull()
        for comparison, why in self.sizes.requirements.items():
            self._builder.require(comparison, why)
        holes = tuple(self._records[0].holes)
        if not holes and not self._records[0].steps:
            raise Error(f"{self._builder.name} launched nothing that a capture sees: no kernel of "
                        "Baton or Triton on this thread", code="invalid_input")
        program = CapturedProgram.from_text(
            self._builder.toml, name=f"<{self._builder.name}>",
            directory=self._folder.name) if not holes else CapturedProgram.__new__(CapturedProgram)
        assert isinstance(program, CapturedProgram)
        if holes:
            program._program = _Unfinished(self._builder)  # type: ignore[assignment]
            program._loaded = {}
        program.holes = holes
        program.allocations = tuple(each for each in captured if each is not None) + tuple(self._extra)
        program.examples = tuple(
            {symbol: values[number] for symbol, values in self.sizes.symbols.items()}
            for number in range(len(self._records)))
        program._folder = self._folder
        return program

    # Structure.

    def _require_one_structure(self) -> None:
        first = self._records[0]
        for number, record in enumerate(self._records[1:], 1):
            for index, (a, b) in enumerate(zip(first.steps, record.steps)):
                self._require_same(index, number, a, b)
            if len(first.steps) != len(record.steps):
                raise Error(f"example 0 makes {len(first.steps)} steps, example {number} "
                            f"{len(record.steps)}: a program has one sequence of steps; capture "
                            "sizes that take the same path", code="invalid_input")
            if len(first.memories) != len(record.memories):
                raise Error(f"example 0 uses {len(first.memories)} allocations, example {number} "
                            f"{len(record.memories)}", code="invalid_input")
            for a, b in zip(first.memories, record.memories):
                if a.origin == b.origin == "outside" and a.contents != b.contents:
                    raise Error("an array that is no argument has other contents in example "
                                f"{number} than in example 0: make it an argument",
                                code="invalid_input")

    def _require_same(self, index: int, number: int, a: Any, b: Any) -> None:
        def differs(what: str, hint: str) -> Error:
            return Error(f"step {index} ({a.where if isinstance(a, Launch) else type(a).__name__}) "
                         f"is {what} in example {number} than in example 0: {hint}",
                         code="invalid_input")
        if type(a) is not type(b):
            raise differs("another operation", "capture sizes that take the same path")
        if not isinstance(a, Launch):
            return
        if _digest(a) != _digest(b):
            raise differs(
                f"another kernel ({b.kernel.demangled})",
                "a compiler specialises kernels for sizes, as Triton does for multiples of 16, for 1 "
                "and for constants; capture sizes of one kind together")
        if (a.block, a.shared, a.attributes) != (b.block, b.shared, b.attributes):
            raise differs("a launch with another block, shared memory or attribute",
                          "these may not vary")
        kinds = [type(value) for value in a.arguments]
        if kinds != [type(value) for value in b.arguments]:
            raise differs("a launch with other kinds of arguments", "pass the same ones")

    def _find_uses(self) -> dict[int, list[int]]:
        """The steps that use each memory."""
        uses: dict[int, list[int]] = {}
        for number, step in enumerate(self._records[0].steps):
            for place in _places(step):
                uses.setdefault(place.memory, []).append(number)
        return uses

    def _find_outputs(self) -> dict[int, str]:
        """The memories that are results as a whole, and their names."""
        outputs: dict[int, str] = {}
        for key, (place, region) in self._records[0].results:
            memory = self._records[0].memories[place.memory]
            if memory.origin == "allocation" and place.offset == 0 and place.memory not in outputs \
                    and region.elements * _core.element_size(region.dtype) == memory.region.nbytes:
                outputs[place.memory] = key
        return outputs

    def _find_shared(self) -> dict[int, int]:
        """For allocations that are dead before another one begins: the memory that they share."""
        free: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        shared: dict[int, int] = {}
        for number in sorted(self._uses, key=lambda memory: self._uses[memory][0]):
            memory = self._records[0].memories[number]
            if memory.origin != "allocation" or number in self._outputs:
                continue
            first, last = self._uses[number][0], self._uses[number][-1]
            key = (memory.region.dtype, tuple(record.memories[number].region.nbytes
                                              for record in self._records))
            pool = free.setdefault(key, [])
            owner = next((index for index, (_, end) in enumerate(pool) if end < first), None)
            if owner is None:
                pool.append((number, last))
            else:
                shared[number] = pool[owner][0]
                pool[owner] = (pool[owner][0], last)
        return shared

    # Buffers.

    def _add_buffer(self, number: int) -> CapturedBuffer | None:
        memories = [record.memories[number] for record in self._records]
        first = memories[0]
        uses = self._uses.get(number, [])
        if not uses and number not in self._outputs and first.origin != "argument":
            return None
        if not uses and first.origin == "argument":
            return None
        if number in self._shared:
            self._buffers[number] = self._buffers[self._shared[number]]
            return None
        name = self._buffer_name(number, first)
        what = f"an extent of {name}"
        if number in self._outputs:
            shapes = [next(region.shape for _, (place, region) in record.results
                           if place.memory == number) for record in self._records]
        else:
            shapes = [memory.region.shape for memory in memories]
        if any(_bytes(memory.region.dtype, shape) != memory.region.nbytes
               for memory, shape in zip(memories, shapes)) and first.argument is None:
            # A view was seen first: the buffer is the whole allocation.
            size = _core.element_size(first.region.dtype)
            shapes = [(memory.region.nbytes // size,) for memory in memories]
        shape = [self.sizes.expression(tuple(extents), what) for extents in zip(*shapes)]
        role, keys = self._role(number, first, name)
        self._builder.buffer(name, first.region.dtype, shape, role=role, **keys)
        self._buffers[number] = name
        return CapturedBuffer(name, role, first.region.dtype, tuple(map(str, shape)), first.origin,
                              first.allocated, uses[0] if uses else None,
                              uses[-1] if uses else None)

    def _buffer_name(self, number: int, memory: Memory) -> str:
        if memory.argument is not None:
            name = _name(memory.argument)
        elif number in self._outputs:
            name = _name(self._outputs[number])
        else:
            name = f"{'weight' if memory.origin == 'outside' else 'temporary'}_{number}"
        return self._unused(name)

    def _unused(self, name: str) -> str:
        taken = {*self._buffers.values(), *self.sizes.symbols, *(e.name for e in self._extra)}
        while name in taken:
            name += "_"
        return name

    def _role(self, number: int, memory: Memory, name: str) -> tuple[str, dict[str, Any]]:
        if memory.argument is not None:
            changed = any(memory.argument in call.changed for call in self._calls)
            if memory.argument in self._weights:
                if changed:
                    raise ArgumentError(f"the argument {memory.argument} is given as a weight, and "
                                        "the function writes it")
                return "weight", {"init": "random" if _is_random(memory) else "zeros"}
            return ("inout" if changed else "input"), {
                "init": "random" if _is_random(memory) else "zeros"}
        if memory.origin == "outside":
            import numpy
            from ._record import restored
            path = f"{name}.npy"
            size = _core.element_size(memory.region.dtype)
            shape = memory.region.shape
            if _bytes(memory.region.dtype, shape) != memory.region.nbytes:
                shape = (memory.region.nbytes // size,)
            numpy.save(os.path.join(self._folder.name, path),
                       restored(memory.contents or b"", memory.region.dtype, shape))
            return "state", {"file": path}
        return ("output" if number in self._outputs else "scratch"), {}

    # Steps.

    def _add_step(self, number: int) -> None:
        steps = [record.steps[number] for record in self._records]
        first = steps[0]
        if isinstance(first, Launch):
            return self._add_launch(number, steps)
        elements = self.sizes.expression(tuple(step.elements for step in steps),
                                         f"the number of elements of step {number}")
        if isinstance(first, Fill):
            memory = self._records[0].memories[first.place.memory].region
            if any(step.place.offset or _bytes(
                    record.memories[step.place.memory].region.dtype, (step.elements,))
                    != record.memories[step.place.memory].region.nbytes
                    for step, record in zip(steps, self._records)):
                raise UnsupportedError(f"step {number} fills a part of an allocation of "
                                       f"{memory.shape}: fill a whole one")
            return self._builder.fill(self._buffers[first.place.memory], first.value)
        assert isinstance(first, Copy)
        self._builder.copy(self._at([step.source for step in steps], number),
                           self._at([step.target for step in steps], number), elements)

    def _add_output_copies(self) -> None:
        """Results that are parts of an allocation, or arguments' memory, are copied out."""
        for index, (key, (place, region)) in enumerate(self._records[0].results):
            if self._outputs.get(place.memory) == key:
                continue
            if self._records[0].memories[place.memory].argument is not None and place.offset == 0:
                continue  # the argument itself has it
            regions = [record.results[index][1][1] for record in self._records]
            shape = [self.sizes.expression(tuple(extents), f"an extent of the result {key}")
                     for extents in zip(*(each.shape for each in regions))]
            name = self._unused(_name(key))
            self._builder.buffer(name, region.dtype, shape, role="output")
            step = len(self._records[0].steps)
            self._extra.append(CapturedBuffer(name, "output", region.dtype, tuple(map(str, shape)),
                                              "allocation", step, step, step))
            places = [record.results[index][1][0] for record in self._records]
            count = self.sizes.expression(tuple(each.elements for each in regions),
                                          f"the elements of the result {key}")
            self._builder.copy(self._at(places, step), name, count)

    def _add_launch(self, number: int, steps: Sequence[Launch]) -> None:
        first = steps[0]
        kernel = self._kernel(first)
        grid = [self.sizes.expression(tuple(extents), f"an extent of the grid of step {number} "
                                      f"({kernel}, at {first.where})")
                for extents in zip(*(step.grid for step in steps))]
        while len(grid) > 1 and grid[-1] == 1:
            grid.pop()
        arguments = [self._argument(number, index, kernel, [step.arguments[index] for step in steps])
                     for index in range(len(first.arguments))]
        settings: dict[str, Any] = dict(first.attributes)
        if first.shared:
            settings["shared"] = first.shared
        self._builder.launch(kernel, arguments, grid=grid, block=list(first.block), **settings)

    def _argument(self, number: int, index: int, kernel: str, values: Sequence[Any]) -> Any:
        first = values[0]
        what = f"argument {index} of step {number} ({kernel})"
        if first is None:
            return {"u64": 0}
        if isinstance(first, Place):
            return self._at(values, number, multiple=16 if _is_aligned(values) else 1)
        if isinstance(first, bytes):
            if any(value != first for value in values):
                raise Error(f"{what} is a struct whose bytes differ between the examples: pass its "
                            "fields as arguments of their own", code="invalid_input")
            return {"bytes": first.hex()}
        if isinstance(first, Number):
            return self._number(what, values)
        if isinstance(first, Fields):
            return {"struct": [self._argument(number, index, kernel, fields)
                               for fields in zip(*(value.values for value in values))]}
        if isinstance(first, Scratch):
            sizes = self.sizes.expression(tuple(value.bytes for value in values), what)
            name = self._unused(f"{first.name}_{number}")
            self._builder.buffer(name, "u8", [sizes])
            self._extra.append(CapturedBuffer(name, "scratch", "u8", (str(sizes),), "scratch",
                                              number, number, number))
            return name
        assert isinstance(first, MapOf)
        return self._tensor_map(number, what, values)

    def _number(self, what: str, values: Sequence[Number]) -> Any:
        first = values[0]
        if all(isinstance(value.value, int) for value in values):
            number = self.sizes.expression(tuple(int(value.value) for value in values), what)
            if first.multiple > 1:
                self.sizes.require_multiple(number, first.multiple,
                                            f"{what} was compiled as a multiple")
        else:
            number = self.sizes.real([float(value.value) for value in values], what)
            if isinstance(number, float) and number - number != 0:
                import struct
                formats = {"f32": "<f", "f64": "<d", "f16": "<e", None: "<f"}
                return {"bytes": struct.pack(formats.get(first.dtype, "<f"), number).hex()}
        return number if first.dtype is None else {first.dtype: number}

    def _tensor_map(self, number: int, what: str, values: Sequence[MapOf]) -> Any:
        first = values[0]
        if any(value.settings != first.settings for value in values):
            raise Error(f"{what} is a tensor descriptor whose block differs between the examples",
                        code="invalid_input")
        settings = dict(first.settings)
        extents = {
            key: [self.sizes.expression(tuple(each), f"an extent of {what}")
                  for each in zip(*(getattr(value, key) for value in values))]
            for key in ("shape", "strides")}
        return {"tensor_map": {
            "buffer": self._at([value.place for value in values], number), **extents, **settings}}

    def _at(self, places: Sequence[Place], number: int, multiple: int = 1) -> str:
        """The buffer of a place, and the offset in its elements."""
        memory = self._records[0].memories[places[0].memory].region
        name = self._buffers[places[0].memory]
        size = _core.element_size(memory.dtype)
        what = f"an offset into {name} in step {number}"
        if any(place.memory != places[0].memory for place in places):
            raise Error(f"step {number} uses other buffers in other examples: capture sizes that "
                        "take the same path", code="invalid_input")
        if any(place.offset % size for place in places):
            raise UnsupportedError(f"{what} is {places[0].offset} bytes, no multiple of its "
                                   f"elements ({memory.dtype})")
        offset = self.sizes.expression(tuple(place.offset // size for place in places), what)
        if multiple > size:
            self.sizes.require_multiple(offset, multiple // size, f"{what} was aligned")
        return name if offset == 0 else f"{name} + {offset}"

    def _kernel(self, launch: Launch) -> str:
        digest = _digest(launch)
        if digest not in self._kernels:
            kind, image = launch.kernel.module.image
            base = _name(launch.kernel.demangled.partition("(")[0].partition("<")[0] or "kernel")
            name, number = base, 2
            while name in self._kernels.values() or name in self._buffers.values():
                name, number = f"{base}_{number}", number + 1
            file = f"{name}.{kind}"
            with open(os.path.join(self._folder.name, file), "wb") as out:
                out.write(image)
            self._builder.kernel(name, **{kind: file}, entry=launch.kernel.name)
            self._kernels[digest] = name
        return self._kernels[digest]


class _Unfinished:
    """In place of a program with holes: what is known of it."""

    def __init__(self, builder: ProgramBuilder):
        self.name = builder.name
        self.text = builder.toml
        self.symbols = dict(builder._symbols)
        self.kernels = tuple(builder._kernels)
        self.buffers = ()
        self.warnings = ()
        self.architectures = None
        self.signed_by = None


def _digest(launch: Launch) -> tuple[str, str]:
    _, image = launch.kernel.module.image
    return hashlib.sha256(image).hexdigest(), launch.kernel.name


def _places(step: Launch | Fill | Copy) -> list[Place]:
    if isinstance(step, Fill):
        return [step.place]
    if isinstance(step, Copy):
        return [step.source, step.target]
    fields = [field for value in step.arguments if isinstance(value, Fields)
              for field in value.values]
    return [value.place if isinstance(value, MapOf) else value
            for value in [*step.arguments, *fields] if isinstance(value, (Place, MapOf))]


def _bytes(dtype: str, shape: Sequence[int]) -> int:
    count = _core.element_size(dtype)
    for extent in shape:
        count *= extent
    return count


def _is_aligned(places: Sequence[Place]) -> bool:
    """Whether code may rely on 16-byte alignment, as vectorised and Triton's code does."""
    return all(place.offset % 16 == 0 for place in places)


def _is_random(memory: Memory) -> bool:
    """Whether random contents are harmless: floats are, indices are not."""
    return memory.region.dtype.startswith(("f", "bf"))


def _verify(program: CapturedProgram, call: _Call, symbols: Mapping[str, int],
            device: Device) -> None:
    """Runs the program on an example's arguments, and compares with what the function made."""
    names = {buffer.name: buffer for buffer in program.allocations}
    bound = program.bind(device=device, tuned=False, symbols=symbols)
    inputs = {key: call.example.copy(value) for key, value in call.before.items()
              if _name(key) in names}
    out = bound(**{_name(key): value for key, value in inputs.items()})
    bound.wait()
    wanted = {_name(key): value for key, value in call.after.items() if _name(key) in names}
    wanted.update({_name(key): value for key, value in call.results.items() if _name(key) in out})
    for key, want in wanted.items():
        got = out[key] if key in out else inputs.get(key)
        if got is None:
            continue
        difference = differences(want, got, exact=False)
        if difference:
            raise Error(
                f"the captured program {program.name} gives another {key} than the function for "
                f"{call.example.told()}: {difference}. Something that the function did was not "
                "seen, such as a launch by another library", code="mismatch")
