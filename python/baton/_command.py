"""The program `baton` of the wheel: becomes the command line, with its signals and exit status."""

from __future__ import annotations

import os
import signal
import sys

from . import _files
from ._errors import Error


def main() -> None:
    """Replaces this process by the command line."""
    # Python ignores these, and a new program would inherit it.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        path = _files.command_line()
        os.execve(path, ["baton", *sys.argv[1:]], _files.environment())
    except OSError as error:
        sys.exit(f"error: {path} cannot be run ({error.strerror}); install Baton's wheel again")
    except Error as error:
        sys.exit(f"error: {error}")
