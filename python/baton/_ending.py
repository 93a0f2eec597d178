"""The end of a process. Importing this module registers what is done then."""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]  # what `signal` adds takes longer to import than this package
import atexit

from ._core import await_compilers, note_end


@atexit.register
def _end() -> None:
    """Tells the extension, and gives SIGINT its default action again where it has Python's own handler.

    Objects of a device wait for the device's work when the interpreter drops them at its end. Python runs no handler of
    signals in such a wait, and the work may have no end: Ctrl-C then ends the process. The same is true of the wait for
    compilers that run on after Ctrl-C.
    """
    note_end()
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        try:
            _signal.signal(_signal.SIGINT, _signal.SIG_DFL)
        except ValueError:
            pass  # not the main thread
    await_compilers()
