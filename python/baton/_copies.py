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
    to the simulated GPU, and back at the end of the `with` block, as a launch does with its own.

    `what` names an array in messages: "the Warp kernel saxpy: argument 0". `dense`: the kernel counts
    on C order. Raises ArgumentError for arrays that the device cannot reach, and read-only ones.
    """

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

    def of(self, array: Any, what: str, dense: bool = True) -> Any:
        """The array in memory of the device: itself, or its copy."""
        if _core.inner_address(array, self.device, what, dense) is not None:
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

    def address(self, array: Any, what: str, dense: bool = True) -> int:
        found = _core.inner_address(self.of(array, what, dense), self.device, what, dense)
        assert found is not None
        return found

    def stream(self, given: Any, arrays: Sequence[Any]) -> int:
        """The stream of a launch that gets these arrays: their addresses alone name no library."""
        return _core.choose_stream(tuple(arrays), given, self.device)

    def require_apart(self, kernel: str, values: Sequence[Any]) -> None:
        """Raises UnsupportedError for host memory that is passed by its address, too: the kernel
        would see two copies of it."""
        for value in values if self._bases else ():
            region = region_of(value)
            if region is not None and region.base in self._bases:
                raise UnsupportedError(
                    f"the kernel {kernel} gets one host array both as an argument and inside of a "
                    "descriptor or struct: put it into memory of the device by baton.array")
