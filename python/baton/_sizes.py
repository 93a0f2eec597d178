"""Expressions over symbols for numbers that vary between the examples of a capture.

A number is a vector: its value in each example. The simplest expression of a family that gives all
values stands for it. Where another one gives them too and differs somewhere between the examples,
`probe` is such a place: one more example there tells them apart.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from ._builder import Expression
from ._errors import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, Sequence

    Values = tuple[int, ...]

# Group sizes that `ceildiv` is tried with: powers of two, as tiles of kernels are.
_TILES = tuple(2**power for power in range(1, 21))
# The same for products of two: the grid of a matrix.
_FEW_TILES = _TILES[3:9]
# Sizes of each symbol at which expressions that agree on the examples are compared.
_PROBES = 512


@dataclass(frozen=True)
class _Term:
    """A product of symbols, or the tiles that cover it."""

    chosen: tuple[int, ...]  # the symbols, by their numbers
    inside: int = 1  # a factor
    tile: int = 1

    def at(self, place: Sequence[int]) -> int:
        product = self.inside * math.prod(place[index] for index in self.chosen)
        return -(-product // self.tile)

    def text(self, names: Sequence[str]) -> str:
        product = "*".join([*([str(self.inside)] if self.inside != 1 else []),
                            *(names[index] for index in self.chosen)])
        return product if self.tile == 1 else f"ceildiv({product}, {self.tile})"


@dataclass(frozen=True)
class _Candidate:
    """A multiple of a product of terms, and a constant."""

    terms: tuple[_Term, ...]
    factor: int = 1
    offset: int = 0

    def at(self, place: Sequence[int]) -> int:
        return self.factor * math.prod(term.at(place) for term in self.terms) + self.offset

    def text(self, names: Sequence[str]) -> str:
        text = "*".join([*([str(self.factor)] if self.factor != 1 else []),
                         *(term.text(names) for term in self.terms)])
        if self.offset == 0:
            return text
        return f"{text} {'+' if self.offset > 0 else '-'} {abs(self.offset)}"

    @property
    def order(self) -> tuple[int, ...]:
        """Simpler ones first."""
        symbols = sum(len(term.chosen) for term in self.terms)
        tiles = sum(term.tile != 1 for term in self.terms)
        return (symbols + (self.offset != 0), tiles, self.factor, abs(self.offset),
                sum(term.inside for term in self.terms))


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
                   if all(candidate.at(example) == value
                          for example, value in zip(self._examples, values))]
        if not fitting:
            raise Error(
                f"{what} is {_listed(values)} in the examples, where {self._told()}: no expression "
                "of a product, a line or ceildiv gives these; let the function compute it from its "
                "sizes in this way, or capture fewer sizes", code="invalid_input")
        fitting.sort(key=lambda candidate: candidate.order)
        for other in fitting[1:]:
            if self.probe is None:
                self.probe = self._difference(fitting[0], other)
        return Expression(fitting[0].text(self._names))

    def _difference(self, a: _Candidate, b: _Candidate) -> dict[str, int] | None:
        """A place between the examples where two expressions differ."""
        axes = [_between(values) for values in self.symbols.values()]
        for number in range(_PROBES):
            place = [axis[(number * step + 7 * index) % len(axis)]
                     for index, (axis, step) in enumerate(zip(axes, itertools.cycle(
                         (1, 37, 43, 53))))]
            if a.at(place) != b.at(place):
                return dict(zip(self._names, place))
        return None

    def _candidates(self, values: Values) -> Iterator[_Candidate]:
        numbers = range(len(self._names))
        for count in (1, 2, 3):
            for chosen in itertools.combinations_with_replacement(numbers, count):
                yield from self._multiples(values, _Term(chosen))
                for inside, tile in itertools.product(self._factors, _TILES):
                    yield from self._multiples(values, _Term(chosen, inside, tile))
        for index in numbers:
            yield from self._lines(values, index)
        for one, other in itertools.permutations(numbers, 2):
            for tile, second in itertools.product(_FEW_TILES, (1, *_FEW_TILES)):
                yield from self._multiples(values, _Term((one,), 1, tile),
                                           _Term((other,), 1, second))

    def _multiples(self, values: Values, *terms: _Term) -> Iterator[_Candidate]:
        """The multiple of a product of terms that fits the first example."""
        factor, rest = divmod(values[0], _Candidate(terms).at(self._examples[0]))
        if rest == 0 and factor != 0:
            yield _Candidate(terms, factor)

    def _lines(self, values: Values, index: int) -> Iterator[_Candidate]:
        """A multiple of a symbol and a constant, through the first two different examples."""
        sizes = self.symbols[self._names[index]]
        other = next((number for number, size in enumerate(sizes) if size != sizes[0]), None)
        if other is None or (values[other] - values[0]) % (sizes[other] - sizes[0]):
            return
        slope = (values[other] - values[0]) // (sizes[other] - sizes[0])
        offset = values[0] - slope * sizes[0]
        if slope != 0 and offset != 0:
            yield _Candidate((_Term((index,)),), slope, offset)

    def real(self, values: Sequence[float], what: str) -> str | float:
        """The same for floats: a constant, or the number of a size, its inverse or root."""
        if len(set(values)) == 1 or all(math.isnan(value) for value in values):
            return values[0]
        for name, sizes in self.symbols.items():
            for text, power in ((name, 1.0), (f"1/{name}", -1.0), (f"1/sqrt({name})", -0.5),
                                (f"sqrt({name})", 0.5)):
                if all(math.isclose(size ** power, value, rel_tol=1e-14)
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


def _listed(values: Sequence[object]) -> str:
    return ", ".join(str(value) for value in values)
