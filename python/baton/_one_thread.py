"""Objects that one thread may use at a time."""

from __future__ import annotations

from ._errors import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, TypeVar

    Method = TypeVar("Method", bound=Callable[..., Any])


def one_thread(method: Method) -> Method:
    """A method of an object with an RLock in `_users`. While one thread is inside, another one gets
    an Error instead of a mixture of both calls. The thread itself may enter again."""
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not self._users.acquire(False):
            raise Error("the bound program is in use by another thread; it takes one thread at a "
                        "time: bind one for each thread, or lock it", code="invalid_input")
        try:
            return method(self, *args, **kwargs)
        finally:
            self._users.release()

    # As functools.wraps does, whose import takes longer than the rest of the package.
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(call, name, getattr(method, name))
    call.__wrapped__ = method  # type: ignore[attr-defined]
    return call  # type: ignore[return-value]
