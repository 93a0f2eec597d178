"""Addresses of arrays for values that hold them: tensor maps and structs."""

from __future__ import annotations

from . import _core
from ._errors import UnsupportedError
from ._record import region_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    from ._core import Array, Device


class Copies:
    """The arrays of one launch whose addresses are inside of other values. Host arrays are copied
    to the simulated GPU, and back at the end of the `with` block, as a launch does with its own."""

    def __init__(self, device: Device):
        self.device = device
        self._copies: dict[tuple[int, int], tuple[Array, Any]] = {}
        self._bases: set[int] = set()

    def __enter__(self) -> Copies:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if kind is None:
            for copy, host in self._copies.values():
                copy.copy_to(host)

    def of(self, array: Any) -> Any:
        """The array in memory of the device: itself, or its copy."""
        if not _core.view(array)[0]:
            return array
        region = region_of(array)
        if region is None:
            raise UnsupportedError(f"a {type(array).__name__} has no address that Baton knows: give "
                                   "an array of NumPy, torch or Baton")
        key = (region.address, region.elements)
        if key not in self._copies:
            self._copies[key] = (_core.array(array, self.device), array)
            self._bases.add(region.base)
        return self._copies[key][0]

    def address(self, array: Any) -> int:
        region = region_of(self.of(array))
        if region is not None:
            return region.address
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is None:
            raise UnsupportedError(f"a {type(array).__name__} has no address that Baton knows: give "
                                   "an array of NumPy, torch, Baton or CuPy")
        return int(interface["data"][0])

    def require_apart(self, kernel: str, values: Sequence[Any]) -> None:
        """Raises UnsupportedError for host memory that is passed by its address, too: the kernel
        would see two copies of it."""
        for value in values if self._bases else ():
            region = region_of(value)
            if region is not None and region.base in self._bases:
                raise UnsupportedError(
                    f"the kernel {kernel} gets one host array both as an argument and inside of a "
                    "descriptor or struct: put it into memory of the device by baton.array")
