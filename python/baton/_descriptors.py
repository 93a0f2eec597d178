"""Tensor descriptors that Triton's kernels take as arguments."""

from __future__ import annotations

import re
from dataclasses import dataclass

from . import _core
from ._errors import ArgumentError, UnsupportedError
from ._record import MapOf, Number, region_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

    from ._copies import Copies
    from ._record import Recorder
    from ._values import Parameter

# Triton numbers types and swizzles as its compiler does; these are the names of program files.
_TYPES = {0: "u8", 1: "u16", 2: "u32", 3: "i32", 4: "u64", 5: "i64", 6: "f16", 7: "f32",
          8: "f32_ftz", 9: "f64", 10: "bf16", 11: "tf32"}
_TYPES_BY_DTYPE = {"f16": 6, "f32": 7, "f64": 9, "bf16": 10}
_SWIZZLES = ("none", "32b", "64b", "128b")
_MAP_BYTES = 128


@dataclass(frozen=True)
class TensorDescriptor:
    """A tensor in memory, for a kernel that takes a tensor descriptor. It needs no Triton.

    base: the array. shape, strides: in elements; those of the array by default. block_shape: the
    block that the kernel moves, which is checked where the kernel's signature is known.
    """

    base: Any
    shape: Sequence[int] = ()
    strides: Sequence[int] = ()
    block_shape: Sequence[int] = ()
    padding: str = "zero"
    round_f32_to_tf32: bool = False


@dataclass(frozen=True)
class DescriptorType:
    """What a kernel was compiled for: the rank, and how its tensor map is made."""

    rank: int
    text: str  # "tensordesc<fp16[64, 64]>", or "" if it is not known
    block: tuple[int, ...] | None  # of the signature
    meta: Mapping[str, Any] | None  # None: passed as address, extents and strides

    @property
    def parameters(self) -> int:
        return (1 if self.meta is not None else 2 * self.rank + 3) + 2 * self.rank

    def check(self, kernel: str, index: int, given: Any) -> TensorDescriptor:
        """The descriptor with its shape and strides. Raises ArgumentError."""
        def wrong(why: str) -> ArgumentError:
            return ArgumentError(f"the Triton kernel {kernel}: argument {index} {why}")
        base = getattr(given, "base", None) if hasattr(given, "block_shape") else given
        region = region_of(base)
        if region is None:
            raise wrong(f"is a {type(given).__name__}; the parameter is a tensor descriptor: give "
                        "baton.triton.TensorDescriptor, Triton's own, or an array")
        shape = tuple(int(extent) for extent in getattr(given, "shape", ()) or region.shape)
        strides = tuple(int(stride) for stride in getattr(given, "strides", ()) or ()) \
            if base is not given else ()
        strides = strides or _strides(base, shape)
        if len(shape) != self.rank or len(strides) != self.rank:
            raise wrong(f"has {len(shape)} dimensions, the kernel's descriptor {self.rank}")
        if strides[-1] != 1:
            raise wrong(f"has strides {strides}: the last one has to be 1")
        block = tuple(getattr(given, "block_shape", ()) or ()) if base is not given else ()
        if block and self.block is not None and block != self.block:
            raise wrong(f"is for blocks of {list(block)}, the kernel was compiled for "
                        f"{list(self.block)}")
        if self.meta is not None:
            size = _core.element_size(region.dtype)
            if size != int(self.meta["elem_size"]):
                raise wrong(f"has elements of {size} bytes ({region.dtype}), the kernel was compiled "
                            f"for {self.meta['elem_size']} bytes")
            wanted = int(self.meta["elem_type"])
            if _TYPES_BY_DTYPE.get(region.dtype, wanted) != wanted:
                raise wrong(f"has elements of {region.dtype}, the kernel was compiled for "
                            f"{_TYPES.get(wanted, wanted)}")
            if self.meta.get("is_im2col"):
                raise UnsupportedError(f"the Triton kernel {kernel}: argument {index} is an im2col "
                                       "descriptor, which Baton does not make")
        return TensorDescriptor(base, shape, strides, block,
                                getattr(given, "padding", "zero"),
                                bool(getattr(given, "round_f32_to_tf32", False)))

    def settings(self, given: TensorDescriptor) -> dict[str, Any]:
        """The tensor map's keys in a program file, beside buffer, shape and strides."""
        assert self.meta is not None
        if self.meta.get("fp4_padded"):
            raise UnsupportedError("descriptors of padded fp4 are not made by Baton")
        kind = 11 if given.round_f32_to_tf32 else int(self.meta["elem_type"])
        settings: dict[str, Any] = {
            "type": _TYPES[kind], "box": [int(extent) for extent in self.meta["block_size"]],
            "swizzle": _SWIZZLES[int(self.meta["swizzle"])], "l2_promotion": "128b"}
        if given.padding == "nan":
            settings["oob_fill"] = "nan"
        return settings

    def values(self, given: TensorDescriptor, first: Sequence[Any]) -> list[Any]:
        """The parameters: the map, or the address and what describes it, and then the extents."""
        if self.meta is not None:
            return [*first, *given.shape, *given.strides]
        return [*first, *given.shape, *given.strides, given.padding == "nan",
                given.round_f32_to_tf32, *given.shape, *given.strides]

    def recorded(self, recorder: Recorder, given: TensorDescriptor) -> list[Any]:
        """The same for a capture."""
        place = recorder.place_of(given.base)
        assert place is not None
        first: Any = place
        if self.meta is not None:
            first = MapOf(place, tuple((key, tuple(value) if isinstance(value, list) else value)
                                       for key, value in self.settings(given).items()),
                          tuple(given.shape), tuple(given.strides))
        return [value if value is first else Number(int(value))
                for value in self.values(given, [first])]


@dataclass(frozen=True)
class Slot:
    """One argument of a kernel: a plain parameter, or a descriptor, which is several."""

    descriptor: DescriptorType | None = None

    @property
    def parameters(self) -> int:
        return 1 if self.descriptor is None else self.descriptor.parameters


def slots_of(name: str, parameters: Sequence[Parameter], signature: Sequence[str] | None,
             metas: Sequence[Mapping[str, Any]], scratch: int, most_scratch: int) -> list[Slot]:
    """The arguments of a kernel, from its signature, or else from its parameters: a tensor map is
    the one of 128 bytes. Raises ArgumentError where they disagree."""
    total = len(parameters)
    remaining = list(metas)
    slots: list[Slot] = []
    if signature is not None:
        for kind in signature:
            slots.append(Slot(_descriptor(kind, remaining, bool(metas)))
                         if kind.startswith("tensordesc") else Slot())
        used = sum(slot.parameters for slot in slots)
        if not 0 <= total - used <= most_scratch:
            raise ArgumentError(f"the Triton kernel {name} has {total} parameters, its signature has "
                                f"{len(signature)} arguments, which are {used}")
        return slots
    index = 0
    # Triton 3.5 and later pass both scratch memories, 3.3 and 3.4 the first, others none.
    while index < total - scratch:
        if remaining and parameters[index].size == _MAP_BYTES:
            meta = remaining.pop(0)
            slots.append(Slot(DescriptorType(len(meta["block_size"]), "", None, meta)))
        else:
            slots.append(Slot())
        index += slots[-1].parameters
    if remaining or index != total - scratch:
        raise ArgumentError(f"the Triton kernel {name} has {total} parameters, which do not fit the "
                            f"{len(metas)} tensor descriptors of its metadata")
    return slots


def _descriptor(kind: str, remaining: list[Mapping[str, Any]], has_meta: bool) -> DescriptorType:
    match = re.match(r"tensordesc(?:_im2col)?<[^\[>]*\[([^\]]*)\]", kind)
    if match is None:
        raise UnsupportedError(f"Baton does not know the type {kind} of Triton")
    block = tuple(int(extent) for extent in match.group(1).split(","))
    rank = re.search(r",input_rank=(\d+)", kind)
    return DescriptorType(int(rank.group(1)) if rank else len(block), kind, block,
                          remaining.pop(0) if has_meta else None)


def parameters_of(kind: DescriptorType, given: TensorDescriptor, copies: Copies,
                  what: str) -> list[Any]:
    """The values of a descriptor's parameters. `what` names the argument in messages."""
    base = copies.of(_flat(given), what, dense=False)
    if kind.meta is None:
        return kind.values(given, [base])
    settings = kind.settings(given)
    return kind.values(given, [_core.tensor_map(
        copies.device, copies.address(base, what, dense=False), type=settings["type"], shape=tuple(given.shape),
        strides=tuple(given.strides), box=tuple(settings["box"]), swizzle=settings["swizzle"],
        l2_promotion=settings["l2_promotion"], oob_fill=settings.get("oob_fill"))])


def _strides(base: Any, shape: Sequence[int]) -> tuple[int, ...]:
    """In elements; those of the array, or contiguous ones."""
    if hasattr(base, "stride"):
        return tuple(base.stride())
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    if hasattr(base, "strides") and base.strides is not None:
        return tuple(stride // base.itemsize for stride in base.strides)
    return tuple(strides)


def _flat(given: TensorDescriptor) -> Any:
    """The memory that a descriptor reaches, as a contiguous array."""
    base = given.base
    if not hasattr(base, "as_strided"):
        return base
    reach = 1 + sum((extent - 1) * stride for extent, stride in zip(given.shape, given.strides))
    flat = base.as_strided((reach,), (1,))
    return flat.detach() if hasattr(flat, "detach") else flat
