"""Captures what a Python function launches, as a program of kernels."""

from __future__ import annotations

import os
import shutil

from . import _core
from ._call import Call
from ._core import Device
from ._errors import ArgumentError, Error, UnsupportedError, with_article
from ._examples import Example, differences, made_example
from ._merge import CapturedBuffer, Merge, plain_name
from ._program import Program
from ._record import Hole
from ._sizes import Sizes
from ._symbols import constants_of, grown_size, symbols_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import tempfile
    from typing import Any, Callable, Mapping, Sequence

# Examples that a capture makes by itself to tell expressions apart.
_MOST_PROBES = 6


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

    @classmethod
    def _of(cls, merge: Merge) -> CapturedProgram:
        if merge.holes:
            program = cls.__new__(cls)
            program._program = _Unfinished(merge)  # type: ignore[assignment]
            program._loaded = {}
        else:
            made = cls.from_text(merge.builder.toml, name=f"<{merge.builder.name}>",
                                 directory=merge.folder.name)
            assert isinstance(made, cls)
            program = made
        program.holes = merge.holes
        program.allocations = merge.buffers
        program.examples = merge.examples
        program._folder = merge.folder
        return program

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
    themselves are not seen; `verify` finds that their results are missing.

    Raises ArgumentError for arguments that no buffer can be, Error with the code "invalid_input"
    where examples differ in more than sizes, and with "mismatch" where verification fails.
    """
    if not examples:
        raise ArgumentError("capture needs the arguments of a call: baton.capture(f, (x, y))")
    if isinstance(weights, str):
        raise ArgumentError(f"weights is one str, {weights!r}: give a list of names of arguments")
    if sizes is not None and not isinstance(sizes, dict):
        raise ArgumentError(f"sizes is {with_article(sizes)}: give a dict of an argument's name to the "
                            'names of its extents, such as {"x": ("N", None)}')
    on = device if isinstance(device, Device) else _core.open_device(device)
    label = plain_name(name or str(getattr(function, "__name__", "captured")))
    named = [Example(function, arguments) for arguments in examples]
    declared = {key: tuple(value) for key, value in (sizes or {}).items()}
    symbols = symbols_of(named, declared)
    if len(named) == 1 and symbols:
        for round in (1, 2):
            made = {symbol: grown_size(values[0], round, number)
                    for number, (symbol, values) in enumerate(symbols.items())}
            named.append(made_example(named[0], named, symbols, made, declared))
        symbols = symbols_of(named, declared)
    calls = [Call(function, example, on) for example in named]
    for _ in range(_MOST_PROBES):
        expressions = Sizes(symbols, constants_of(named))
        merge = Merge(label, calls, expressions, weights, share_scratch)
        if expressions.probe is None or merge.holes:
            break
        example = made_example(named[-1], named, symbols, expressions.probe, declared)
        calls.append(_made_call(function, example, on, expressions.probe))
        named.append(example)
        symbols = symbols_of(named, declared)
    program = CapturedProgram._of(merge)
    if verify and not program.holes:
        for call, values in zip(calls, program.examples):
            _verify(program, call, values, on)
    return program


class _Unfinished:
    """In place of a program with holes: what is known of it."""

    def __init__(self, merge: Merge):
        builder = merge.builder
        self.name = builder.name
        self.text = builder.toml
        self.symbols = dict(builder._symbols)
        self.kernels = tuple(builder._kernels)
        self.buffers = ()
        self.warnings = ()
        self.architectures = None
        self.signed_by = None


def _made_call(function: Callable[..., Any], example: Example, device: Device,
               sizes: Mapping[str, int]) -> Call:
    """A call with an example that capture made, which the function may not take."""
    try:
        return Call(function, example, device)
    except Exception as failure:
        told = ", ".join(f"{name} = {value}" for name, value in sizes.items())
        raise Error(f"the examples do not tell the program's expressions apart, and the function "
                    f"fails for one with {told} that repeats their contents: add an example of "
                    "about that size", code="invalid_input") from failure


def _verify(program: CapturedProgram, call: Call, symbols: Mapping[str, int],
            device: Device) -> None:
    """Runs the program on an example's arguments, and compares with what the function made."""
    names = {buffer.name: buffer for buffer in program.allocations}
    bound = program.bind(device=device, tuned=False, symbols=symbols)
    inputs = {key: call.example.copy(value) for key, value in call.before.items()
              if plain_name(key) in names}
    out = bound(**{plain_name(key): value for key, value in inputs.items()})
    bound.wait()
    wanted = {plain_name(key): value for key, value in call.after.items() if plain_name(key) in names}
    wanted.update({plain_name(key): value for key, value in call.results.items() if plain_name(key) in out})
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
