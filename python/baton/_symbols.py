"""The sizes that vary between the examples of a capture, and those that do not."""

from __future__ import annotations

from ._errors import ArgumentError
from ._merge import plain_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

    from ._examples import Example


def grown_size(size: int, round: int, number: int) -> int:
    """A larger size of the same kind: a multiple of 16, or none. Symbols grow differently."""
    if size % 16 == 0:
        return size * (round + 1) + 16 * (3 * number + round)
    grown = size * (round + 1) + 2 * number + round
    return grown if grown % 16 else grown + 1


def symbols_of(examples: Sequence[Example],
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
                add(plain_name(key), tuple(values))
            continue
        given = [example.shape(key) for example in examples]
        shapes = [shape for shape in given if shape is not None]
        if not shapes:
            continue
        if len(shapes) != len(given) or len({len(shape) for shape in shapes}) != 1:
            raise ArgumentError(f"the argument {key} has {given} as shapes in the examples; "
                                "the number of dimensions may not vary")
        names = declared.get(key, (None,) * len(shapes[0]))
        if len(names) != len(shapes[0]):
            raise ArgumentError(f"sizes names {len(names)} extents of {key}, which has "
                                f"{len(shapes[0])}")
        for axis, name in enumerate(names):
            extents = tuple(shape[axis] for shape in shapes)
            if name is not None:
                add(plain_name(name), extents)
            elif len(set(extents)) > 1 and extents not in found.values():
                add(f"{plain_name(key)}_{axis}", extents)
    return found


def constants_of(examples: Sequence[Example]) -> list[int]:
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
