"""Who sees launches while a function is captured. Empty otherwise."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._record import Recorder

# The recorder of the capture that runs, if any. A process has one at a time.
recorder: Recorder | None = None
