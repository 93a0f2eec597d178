"""One program of the records of all calls of a captured function."""

from __future__ import annotations

import hashlib
import math
import os
import re
import tempfile
from dataclasses import dataclass

from . import _core
from ._builder import Expression, ProgramBuilder
from ._errors import ArgumentError, Error, UnsupportedError
from ._packing import float_bytes
from ._record import Copy, Fields, Fill, Launch, MapOf, Memory, Number, Place, Scratch, restored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    from ._call import Call
    from ._sizes import Sizes


def plain_name(text: str) -> str:
    """A word that a program file takes as a name."""
    cleaned = re.sub(r"\W", "_", text)
    return cleaned if cleaned and not cleaned[0].isdigit() else f"_{cleaned}"


@dataclass(frozen=True)
class CapturedBuffer:
    """A buffer of a captured program: where its memory came from, and when it is used.

    name: its name in the program.
    role: its role in the program.
    dtype: the type of its elements, such as "f32".
    shape: expressions over symbols, in elements.
    origin: "argument", "allocation", "outside", or "scratch" of a launch.
    allocated: the step before which the function allocated it.
    first: the first step that uses it, from 0; None if no step does.
    last: the last step that uses it. Between both it is alive.
    """

    name: str
    role: str
    dtype: str
    shape: tuple[str, ...]
    origin: str
    allocated: int
    first: int | None
    last: int | None


class Merge:
    """Makes one program of the records of all calls."""

    def __init__(self, name: str, calls: Sequence[Call], sizes: Sizes, weights: Sequence[str],
                 share_scratch: bool):
        self.folder = tempfile.TemporaryDirectory(prefix="baton-capture-")
        self.builder = ProgramBuilder(name, directory=self.folder.name)
        self.sizes = sizes
        self._calls = calls
        self._records = [call.record for call in calls]
        self._weights = weights
        self._names: dict[int, str] = {}  # of buffers, by the numbers of their memories
        self._kernels: dict[tuple[str, str], str] = {}
        self._extra: list[CapturedBuffer] = []
        unknown = [key for key in weights if key not in calls[0].before]
        if unknown:
            raise ArgumentError(f"weights names {unknown[0]}, which is not an array among the arguments")
        self.holes = next((tuple(record.holes) for record in self._records if record.holes), ())
        if not self.holes and not self._records[0].steps:
            raise Error(f"{name} launched nothing that a capture sees: no kernel of Baton or Triton "
                        "on this thread", code="invalid_input")
        self._require_one_structure()
        for symbol, values in sizes.symbols.items():
            self.builder.symbol(symbol, values[0])
        self._uses = self._find_uses()
        self._outputs = self._find_outputs()
        self._shared = self._find_shared() if share_scratch else {}
        made = [self._add_buffer(number) for number in range(len(self._records[0].memories))]
        for number in range(len(self._records[0].steps)):
            self._add_step(number)
        self._add_output_copies()
        sizes.require_hull()
        for comparison, why in sizes.requirements.items():
            self.builder.require(comparison, why)
        self.buffers = tuple(each for each in made if each is not None) + tuple(self._extra)
        self.examples = tuple({symbol: values[number] for symbol, values in sizes.symbols.items()}
                              for number in range(len(calls)))

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
            for one, other in zip(first.memories, record.memories):
                if one.origin == other.origin == "outside" and one.contents != other.contents:
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
        if not uses and number not in self._outputs:
            return None
        if number in self._shared:
            self._names[number] = self._names[self._shared[number]]
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
        self.builder.buffer(name, first.region.dtype, shape, role=role, **keys)
        self._names[number] = name
        return CapturedBuffer(name, role, first.region.dtype, tuple(map(str, shape)), first.origin,
                              first.allocated, uses[0] if uses else None,
                              uses[-1] if uses else None)

    def _buffer_name(self, number: int, memory: Memory) -> str:
        if memory.argument is not None:
            name = plain_name(memory.argument)
        elif number in self._outputs:
            name = plain_name(self._outputs[number])
        else:
            name = f"{'weight' if memory.origin == 'outside' else 'temporary'}_{number}"
        return self._unused(name)

    def _unused(self, name: str) -> str:
        taken = {*self._names.values(), *self.sizes.symbols, *(e.name for e in self._extra)}
        while name in taken:
            name += "_"
        return name

    def _may_write(self, number: int) -> bool:
        """Whether a step may write that memory. Its contents may be equal before and after."""
        for step in self._records[0].steps:
            if isinstance(step, (Fill, Copy)):
                if (step.place if isinstance(step, Fill) else step.target).memory == number:
                    return True
                continue
            written = step.kernel.writes
            if written is not None and any(
                    may and any(place.memory == number for place in _places_of(value))
                    for may, value in zip(written, step.arguments)):
                return True
        return False

    def _role(self, number: int, memory: Memory, name: str) -> tuple[str, dict[str, Any]]:
        if memory.argument is not None:
            changed = any(memory.argument in call.changed for call in self._calls)
            if memory.argument in self._weights:
                if changed:
                    raise ArgumentError(f"the argument {memory.argument} is given as a weight, and "
                                        "the function writes it")
                return "weight", {"init": "random" if _is_random(memory) else "zeros"}
            return ("inout" if changed or self._may_write(number) else "input"), {
                "init": "random" if _is_random(memory) else "zeros"}
        if memory.origin == "outside":
            import numpy
            path = f"{name}.npy"
            size = _core.element_size(memory.region.dtype)
            shape = memory.region.shape
            if _bytes(memory.region.dtype, shape) != memory.region.nbytes:
                shape = (memory.region.nbytes // size,)
            numpy.save(os.path.join(self.folder.name, path),
                       restored(memory.contents or b"", memory.region.dtype, shape))
            return "state", {"file": path}
        return ("output" if number in self._outputs else "scratch"), {}

    # Steps.

    def _add_step(self, number: int) -> None:
        steps = [record.steps[number] for record in self._records]
        first = steps[0]
        if isinstance(first, Launch):
            return self._add_launch(number, steps)  # type: ignore[arg-type]
        if isinstance(first, Fill):
            return self._add_fill(number, steps)  # type: ignore[arg-type]
        self._add_copy(number, steps)  # type: ignore[arg-type]

    def _add_fill(self, number: int, fills: Sequence[Fill]) -> None:
        for fill, record in zip(fills, self._records):
            region = record.memories[fill.place.memory].region
            if fill.place.offset or _bytes(region.dtype, (fill.elements,)) != region.nbytes:
                raise UnsupportedError(f"step {number} fills a part of an allocation of "
                                       f"{region.nbytes} bytes: fill a whole one")
        self.builder.fill(self._names[fills[0].place.memory], fills[0].value)

    def _add_copy(self, number: int, copies: Sequence[Copy]) -> None:
        count = self.sizes.expression(tuple(copy.elements for copy in copies),
                                      f"the number of elements of step {number}")
        self.builder.copy(self._at([copy.source for copy in copies], number),
                          self._at([copy.target for copy in copies], number), count)

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
            name = self._unused(plain_name(key))
            self.builder.buffer(name, region.dtype, shape, role="output")
            step = len(self._records[0].steps)
            self._extra.append(CapturedBuffer(name, "output", region.dtype, tuple(map(str, shape)),
                                              "allocation", step, step, step))
            places = [record.results[index][1][0] for record in self._records]
            count = self.sizes.expression(tuple(each.elements for each in regions),
                                          f"the elements of the result {key}")
            self.builder.copy(self._at(places, step), name, count)

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
        self.builder.launch(kernel, arguments, grid=grid, block=list(first.block), **settings)

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
            self.builder.buffer(name, "u8", [sizes])
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
            real = self.sizes.real([float(value.value) for value in values], what)
            if isinstance(real, float) and not math.isfinite(real):
                return {"bytes": float_bytes(first.dtype or "f32", real).hex()}
            return real if first.dtype is None else {first.dtype: real}
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
        name = self._names[places[0].memory]
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
            kind, image = _image(launch)
            base = plain_name(launch.kernel.demangled.partition("(")[0].partition("<")[0] or "kernel")
            name, number = base, 2
            while name in self._kernels.values() or name in self._names.values():
                name, number = f"{base}_{number}", number + 1
            file = f"{name}.{kind}"
            with open(os.path.join(self.folder.name, file), "wb") as out:
                out.write(image)
            self.builder.kernel(name, **{kind: file}, entry=launch.kernel.name)
            self._kernels[digest] = name
        return self._kernels[digest]


def _digest(launch: Launch) -> tuple[str, str]:
    return hashlib.sha256(_image(launch)[1]).hexdigest(), launch.kernel.name


def _image(launch: Launch) -> tuple[str, bytes]:
    """The recorder takes no launch of a kernel without one."""
    image = launch.kernel.module.image
    assert image is not None
    return image


def _places_of(value: Any) -> list[Place]:
    """The places that an argument of a launch leads to."""
    if isinstance(value, Fields):
        return [place for each in value.values for place in _places_of(each)]
    if isinstance(value, MapOf):
        return [value.place]
    return [value] if isinstance(value, Place) else []


def _places(step: Launch | Fill | Copy) -> list[Place]:
    if isinstance(step, Fill):
        return [step.place]
    if isinstance(step, Copy):
        return [step.source, step.target]
    return [place for value in step.arguments for place in _places_of(value)]


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
