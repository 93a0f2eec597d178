"""Who sees launches while a function is captured. Empty otherwise."""

from __future__ import annotations

from contextlib import nullcontext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ContextManager

    from ._record import Recorder

# The recorder of the capture that runs, if any. A process has one at a time.
recorder: Recorder | None = None
_NOTHING: ContextManager[None] = nullcontext()


def paused() -> ContextManager[None]:
    """Inside, launches are parts of one that the recorder was told about."""
    return _NOTHING if recorder is None else recorder.paused()
