"""Expressions over symbols for numbers that vary between the examples of a capture.

A number is a vector: its value in each example. The simplest expression of a family that gives all
values stands for it. Where another one gives them too and differs somewhere between the examples,
`probe` is such a place: one more example there tells them apart.
"""

from __future__ import annotations

import itertools
import math

from ._builder import Expression
from ._errors import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Iterator, Sequence

    Values = tuple[int, ...]

# Group sizes that `ceildiv` is tried with: powers of two, as tiles of kernels are.
_TILES = tuple(2**power for power in range(1, 21))
# Sizes of each symbol at which expressions that agree on the examples are compared.
_PROBES = 512


class _Candidate:
    """One expression: its text, its values, and what it is multiplied of."""

    def __init__(self, text: str, of: Callable[[Sequence[int]], int], order: tuple[int, ...]):
        self.text = text
        self.of = of  # of the values of all symbols
        self.order = order  # simpler ones first


class Sizes:
    """The symbols of a capture, and the expressions over them."""

    def __init__(self, symbols: dict[str, Values], constants: Sequence[int] = ()):
        """`constants`: sizes that do not vary, which products may have as a factor."""
        self.symbols = symbols
        pairs = [a * b for a, b in itertools.combinations_with_replacement(set(constants), 2)]
        self._factors = sorted({1, *(each for each in (*constants, *pairs) if each > 1)})
        self.requirements: dict[str, str] = {}  # comparison → what it is for
        self._names = list(symbols)
        self._examples = list(zip(*symbols.values())) if symbols else []
        self.probe: dict[str, int] | None = None  # sizes for one more example
        self._known: dict[Values, Expression | int] = {}

    def require_hull(self) -> None:
        """Limits every symbol to the sizes between the smallest and the largest example."""
        for name, values in self.symbols.items():
            self.requirements[f"{name} >= {min(values)}"] = f"the smallest {name} that was captured"
            self.requirements[f"{name} <= {max(values)}"] = f"the largest {name} that was captured"

    def require_multiple(self, number: Expression | int, of: int, why: str) -> None:
        """Adds that a number stays a multiple, for code that relies on it."""
        if not isinstance(number, int):
            self.requirements[f"({number}) % {of} == 0"] = why

    def expression(self, values: Values, what: str) -> Expression | int:
        """The expression with these values; a plain int where they are equal.

        `what` names the number in the error for values without an expression.
        """
        if len(set(values)) == 1:
            return values[0]
        if values not in self._known:
            self._known[values] = self._find(values, what)
        return self._known[values]

    def _find(self, values: Values, what: str) -> Expression:
        fitting = [candidate for candidate in self._candidates(values)
                   if all(candidate.of(example) == value
                          for example, value in zip(self._examples, values))]
        if not fitting:
            raise Error(
                f"{what} is {_listed(values)} in the examples, where {self._told()}: no expression "
                "of a product, a sum with a constant or ceildiv gives these; let the function "
                "compute it from its sizes in this way, or capture fewer sizes",
                code="invalid_input")
        fitting.sort(key=lambda candidate: candidate.order)
        for other in fitting[1:]:
            if self.probe is None:
                self.probe = self._difference(fitting[0], other)
        return Expression(fitting[0].text)

    def _difference(self, a: _Candidate, b: _Candidate) -> dict[str, int] | None:
        """A place between the examples where two expressions differ."""
        axes = [_between(values) for values in self.symbols.values()]
        for number in range(_PROBES):
            place = [axis[(number * step + 7 * index) % len(axis)]
                     for index, (axis, step) in enumerate(zip(axes, itertools.cycle(
                         (1, 37, 43, 53))))]
            if a.of(place) != b.of(place):
                return dict(zip(self._names, place))
        return None

    def _candidates(self, values: Values) -> Iterator[_Candidate]:
        for count in (1, 2, 3):
            for chosen in itertools.combinations_with_replacement(range(len(self._names)), count):
                text = "*".join(self._names[index] for index in chosen)
                product = _product(chosen)
                at_first = product(self._examples[0])
                order = (len(set(chosen)) + count,)
                if values[0] % at_first == 0:
                    factor = values[0] // at_first
                    shown = text if factor == 1 else f"{factor}*{text}"
                    yield _Candidate(shown, lambda at, f=factor, p=product: f * p(at),
                                     (*order, 0, factor))
                for factor in self._factors:
                    yield from self._tiled(values, text, product, factor, order)
            if count == 1:
                for index in range(len(self._names)):
                    yield from self._lines(values, index)
            for pair in itertools.permutations(range(len(self._names)), 2) if count == 1 else ():
                yield from self._tiled_pairs(values, *pair)

    def _lines(self, values: Values, index: int) -> Iterator[_Candidate]:
        """A multiple of a symbol and a constant, through the first two different examples."""
        name, sizes = self._names[index], self.symbols[self._names[index]]
        other = next((number for number, size in enumerate(sizes) if size != sizes[0]), None)
        if other is None or (values[other] - values[0]) % (sizes[other] - sizes[0]):
            return
        slope = (values[other] - values[0]) // (sizes[other] - sizes[0])
        offset = values[0] - slope * sizes[0]
        if slope == 0 or offset == 0:
            return
        sign = "+" if offset > 0 else "-"
        yield _Candidate(f"{name if slope == 1 else f'{slope}*{name}'} {sign} {abs(offset)}",
                         lambda at, i=index, s=slope, o=offset: s * at[i] + o, (9, 2, abs(offset)))

    def _tiled(self, values: Values, text: str, product: Callable[[Sequence[int]], int],
               inside: int, order: tuple[int, ...]) -> Iterator[_Candidate]:
        """Numbers of tiles of a product, and multiples of these."""
        shown = f"ceildiv({text if inside == 1 else f'{inside}*{text}'}, "
        at_first = inside * product(self._examples[0])
        for tile in _TILES:
            groups = -(-at_first // tile)
            if values[0] % groups:
                continue
            factor = values[0] // groups
            yield _Candidate(
                f"{shown}{tile})" if factor == 1 else f"{factor}*{shown}{tile})",
                lambda at, f=factor, t=tile, p=product, i=inside: f * -(-i * p(at) // t),
                (*order, 1, factor, inside))

    def _tiled_pairs(self, values: Values, one: int, other: int) -> Iterator[_Candidate]:
        """Products of tiles of two symbols: the grid of a matrix."""
        names = self._names
        for tile in _TILES[3:9]:
            def tiled(at: Sequence[int], t: int = tile) -> int:
                return -(-at[one] // t)
            if values[0] % (tiled(self._examples[0]) * self._examples[0][other]) == 0:
                factor = values[0] // (tiled(self._examples[0]) * self._examples[0][other])
                yield _Candidate(
                    f"{factor}*ceildiv({names[one]}, {tile})*{names[other]}",
                    lambda at, f=factor, t=tiled: f * t(at) * at[other], (4, 1, factor))
            if one > other:
                continue
            for second in _TILES[3:9]:
                both = tiled(self._examples[0]) * -(-self._examples[0][other] // second)
                if values[0] % both:
                    continue
                factor = values[0] // both
                yield _Candidate(
                    f"{factor}*ceildiv({names[one]}, {tile})*ceildiv({names[other]}, {second})",
                    lambda at, f=factor, t=tiled, s=second: f * t(at) * -(-at[other] // s),
                    (5, 1, factor))

    def real(self, values: Sequence[float], what: str) -> str | float:
        """The same for floats: a constant, or the number of a size, its inverse or root."""
        if len(set(values)) == 1 or all(math.isnan(value) for value in values):
            return values[0]
        for name, sizes in self.symbols.items():
            for text, of in ((f"{name}", float), (f"1/{name}", lambda size: 1 / size),
                             (f"1/sqrt({name})", lambda size: 1 / math.sqrt(size)),
                             (f"sqrt({name})", math.sqrt)):
                if all(math.isclose(of(size), value, rel_tol=1e-15)
                       for size, value in zip(sizes, values)):
                    return text
        raise Error(f"{what} is {_listed(values)} in the examples, where {self._told()}: it is no "
                    "size, inverse or root of one; pass it to the kernel as an array, or capture "
                    "with one value", code="invalid_input")

    def _told(self) -> str:
        return " and ".join(f"{name} is {_listed(values)}" for name, values in self.symbols.items()
                            ) or "no size varies"


def _between(values: Values) -> list[int]:
    """Sizes between the smallest and the largest, at most _PROBES of them. Kernels are compiled for
    multiples of 16, or for others: these are of the kind of the examples."""
    low, high = min(values), max(values)
    if all(value % 16 == 0 for value in values):
        inside = range(low, high + 1, 16)
    else:
        inside = range(low, high + 1)
    chosen = inside[::max(1, len(inside) // _PROBES)]
    if all(value % 16 for value in values):
        return [size for size in chosen if size % 16] or [low]
    return list(chosen)


def _product(chosen: Sequence[int]) -> Callable[[Sequence[int]], int]:
    return lambda at: math.prod(at[index] for index in chosen)


def _listed(values: Sequence[object]) -> str:
    return ", ".join(str(value) for value in values)
