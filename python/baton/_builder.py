"""Programs that are built in Python: the parts of a program file, by calls."""

from __future__ import annotations

import os
from contextlib import contextmanager

from ._errors import ArgumentError
from ._program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, ContextManager, Iterator, Mapping, Sequence, Union

    Extent = Union[int, str]
    Path = Union[str, "os.PathLike[str]"]


class Expression(str):
    """An integer expression over symbols, as a program file writes it. Operators build larger ones:
    `N * 4`, `(N + 255) // 256`, `N % 32`. `/` is floor division in a program file; Python's is `//`.
    """

    def _with(self, operator: str, other: object, swapped: bool = False) -> Expression:
        if not isinstance(other, (int, str)) or isinstance(other, bool):
            return NotImplemented  # type: ignore[no-any-return]
        left, right = (other, self) if swapped else (self, other)
        return Expression(f"({left} {operator} {right})")

    def __add__(self, other: object) -> Expression:
        return self._with("+", other)

    def __radd__(self, other: object) -> Expression:
        return self._with("+", other, True)

    def __sub__(self, other: object) -> Expression:
        return self._with("-", other)

    def __rsub__(self, other: object) -> Expression:
        return self._with("-", other, True)

    def __mul__(self, other: object) -> Expression:
        return self._with("*", other)

    def __rmul__(self, other: object) -> Expression:
        return self._with("*", other, True)

    def __floordiv__(self, other: object) -> Expression:
        return self._with("/", other)

    def __mod__(self, other: object) -> Expression:
        return self._with("%", other)


class Place(str):
    """A place in a buffer: `x + N` is the address N elements after the start of `x`."""

    def __add__(self, offset: object) -> Place:
        return Place(f"{self} + {offset}")


class ProgramBuilder:
    """Builds a program, through the same checks as a program file. Not thread-safe.

        b = baton.ProgramBuilder("saxpy")
        N = b.symbol("N", 1 << 20)
        x = b.buffer("x", "f32", [N], role="input", init="random")
        y = b.buffer("y", "f32", [N], role="inout", init="random")
        b.kernel("saxpy", source="saxpy.cu")
        b.launch("saxpy", [y, x, 2.0, N], grid=baton.ceildiv_of(N, 256), block=256)
        program = b.build()

    Keywords are the keys of a program file (docs/program-file.md). `toml` is the text.
    """

    def __init__(self, name: str, *, directory: Path | None = None):
        self.name = name
        self._directory = directory
        self._world: dict[str, Any] | None = None
        self._symbols: dict[str, int] = {}
        self._requirements: list[str | dict[str, str]] = []
        self._included: list[str] = []
        self._buffers: dict[str, dict[str, Any]] = {}
        self._kernels: dict[str, dict[str, Any]] = {}
        self._steps: list[dict[str, Any]] = []
        self._setup: list[dict[str, Any]] = []
        self._open: list[list[dict[str, Any]]] = [self._steps]

    def symbol(self, name: str, value: int) -> Expression:
        """Adds a symbol with its default, and returns its name for expressions."""
        self._new(self._symbols, name, "symbol")
        self._symbols[name] = value
        return Expression(name)

    def buffer(self, name: str, dtype: str, shape: Extent | Sequence[Extent], *,
               role: str = "scratch", **keys: Any) -> Place:
        """Adds a buffer, and returns its name for arguments.

        `keys`: init ("random", {"normal": 0.02}, {"uniform": [-1, 1]}, …), file, tensor, expect.
        """
        self._new(self._buffers, name, "buffer")
        extents = [shape] if isinstance(shape, (int, str)) else list(shape)
        self._buffers[name] = {"dtype": dtype, "shape": extents, "role": role, **keys}
        return Place(name)

    def world(self, ranks: int | None = None, *,
              groups: Mapping[str, Extent] | None = None) -> tuple[Expression, Expression]:
        """Makes the program one for several ranks, for that number or for any. Returns the symbols
        `rank` and `ranks`.

        `groups`: the sizes of groups of ranks by name, the last of consecutive ranks. Expressions
        know the symbols "NAME_rank" and "NAME_ranks" of each.
        """
        self._world = {} if ranks is None else {"ranks": ranks}
        if groups:
            self._world["groups"] = dict(groups)
        return Expression("rank"), Expression("ranks")

    def require(self, comparison: str, name: str | None = None) -> None:
        """Adds a comparison that must hold when the program is bound: "N % 8 == 0".

        `name` says in messages what it is for.
        """
        self._requirements.append(comparison if name is None else {_string(name): comparison})

    def include(self, path: str | os.PathLike[str]) -> None:
        """Puts the parts of another program file before those of the builder."""
        self._included.append(os.fspath(path))

    def kernel(self, name: str, **keys: Any) -> str:
        """Adds a kernel. `keys`: source, text, ptx, cubin, fatbin, link, entry, options, include,
        prelude, rewrite, launch."""
        self._new(self._kernels, name, "kernel")
        self._kernels[name] = keys
        return name

    def launch(self, kernel: str, args: Sequence[Any], *, grid: Extent | Sequence[Extent],
               block: Extent | Sequence[Extent] | None = None, **attributes: Any) -> None:
        """Adds a launch. `args` in the kernel's own order; `attributes`: shared, cluster, pdl, …"""
        step: dict[str, Any] = {"launch": kernel, "grid": _extents(grid)}
        if block is not None:
            step["block"] = _extents(block)
        self._open[-1].append({**step, "args": list(args), **attributes})

    def copy(self, source: str, target: str, count: Extent | None = None) -> None:
        """Adds a copy of `count` elements, or of all."""
        copy: dict[str, Any] = {"from": source, "to": target}
        if count is not None:
            copy["count"] = count
        self._open[-1].append({"copy": copy})

    def collective(self, kind: str, **keys: Any) -> None:
        """Adds a step that exchanges contents between ranks. `kind`: all_reduce, all_gather,
        reduce_scatter, broadcast, send or receive. `keys`: buffer, op, root, to, count, group, and
        add and rms_norm={"weight": "w", "epsilon": 1e-5, "to": "h"} of an all_reduce; `from_` stands
        for from."""
        self._open[-1].append({kind: {key.rstrip("_"): value for key, value in keys.items()}})

    def fill(self, buffer: str, value: float | int | str) -> None:
        """Adds a fill of a buffer with one value."""
        self._open[-1].append({"fill": {"buffer": buffer, "value": value}})

    @contextmanager
    def repeat(self, count: Extent, index: str | None = None) -> Iterator[Expression | None]:
        """Repeats the steps of the block. `index` is known inside of it, and is what `with` gives."""
        with self._group({"repeat": count, **({"index": index} if index else {})}):
            yield Expression(index) if index else None

    @contextmanager
    def while_(self, buffer: str, at_most: Extent, unroll: Extent | None = None) -> Iterator[None]:
        """Repeats the steps of the block while the buffer's first element is not 0."""
        test: dict[str, Any] = {"buffer": buffer, "at_most": at_most}
        if unroll is not None:
            test["unroll"] = unroll
        with self._group({"while": test}):
            yield

    @contextmanager
    def if_(self, buffer: str) -> Iterator[None]:
        """Executes the steps of the block if the buffer's first element is not 0."""
        with self._group({"if": {"buffer": buffer}}):
            yield

    @contextmanager
    def parallel(self) -> Iterator[Callable[[], ContextManager[None]]]:
        """Branches that run side by side. `with` gives a function that begins each of them:

            with b.parallel() as branch:
                with branch():
                    b.launch(...)
                with branch():
                    b.launch(...)
        """
        branches: list[list[dict[str, Any]]] = []

        @contextmanager
        def branch() -> Iterator[None]:
            steps: list[dict[str, Any]] = []
            self._open.append(steps)
            try:
                yield
            finally:
                self._open.pop()
            branches.append(steps)

        around = self._open[-1]
        steps: list[dict[str, Any]] = []
        self._open.append(steps)
        try:
            yield branch
        finally:
            self._open.pop()
        if steps:
            raise ArgumentError("a step of b.parallel() is in no branch: add it in `with branch():`",
                                code="invalid_input")
        around.append({"parallel": branches})

    @contextmanager
    def setup(self) -> Iterator[None]:
        """The steps of the block run once when the program is bound."""
        self._open.append(self._setup)
        try:
            yield
        finally:
            self._open.pop()

    @contextmanager
    def _group(self, step: dict[str, Any]) -> Iterator[None]:
        steps: list[dict[str, Any]] = []
        self._open.append(steps)
        try:
            yield
        finally:
            self._open.pop()
        self._open[-1].append({**step, "steps": steps})

    def _new(self, known: Mapping[str, Any], name: str, what: str) -> None:
        if name in known:
            raise ArgumentError(f"the program {self.name} has two {what}s named {name}")

    @property
    def toml(self) -> str:
        """The program as a program file."""
        parts = [f"name = {_value(self.name)}"]
        parts += [f"{key} = {_value(values)}" for key, values in
                  (("include", self._included), ("require", self._requirements)) if values]
        for title, tables in (("world", {} if self._world is None else {"": self._world}),
                              ("symbols", {"": self._symbols} if self._symbols else {}),
                              ("buffers", self._buffers), ("kernels", self._kernels)):
            for name, table in tables.items():
                parts.append(f"\n[{title}{'.' + name if name else ''}]")
                parts += [f"{key} = {_value(value)}" for key, value in table.items()]
        for title, steps in (("setup", self._setup), ("steps", self._steps)):
            for step in steps:
                parts.append(f"\n[[{title}]]")
                parts += [f"{key} = {_value(value)}" for key, value in step.items()]
        return "\n".join(parts) + "\n"

    def build(self) -> Program:
        """Checks the parts and returns the program. The builder can still be added to."""
        return Program.from_text(self.toml, name=f"<{self.name}>", directory=self._directory)


def ceildiv_of(count: Extent, size: Extent) -> Expression:
    """The expression of the number of groups of `size` that cover `count`."""
    return Expression(f"ceildiv({count}, {size})")


def _extents(given: Extent | Sequence[Extent]) -> list[Extent]:
    return [given] if isinstance(given, (int, str)) else list(given)


def _value(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        text = repr(value)
        return text if any(c in text for c in ".en") else text + ".0"
    if isinstance(value, (str, os.PathLike)):
        return _string(os.fspath(value))
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_value(each)}" for key, each in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_value(each) for each in value) + "]"
    raise ArgumentError(f"a program file has no value for a {type(value).__name__}: {value!r}")


def _string(text: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c, c) if ord(c) >= 32 or c in escapes else f"\\u{ord(c):04x}"
                         for c in text) + '"'
