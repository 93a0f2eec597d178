"""Commands that this package has no call for: the JSON of the command line, as dicts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path as _Path
from typing import Any, Sequence

from . import _files
from ._errors import Error, NotFoundError


def command() -> str:
    """The path of the command line: BATON, the one that came with this package, or PATH's."""
    given = os.environ.get("BATON")
    if given:
        return given
    packaged = _Path(__file__).parent / "bin" / "baton"
    if packaged.exists():
        return str(packaged)
    found = shutil.which("baton")
    if found is None:
        raise NotFoundError("the command line `baton` was not found beside this package or in PATH;"
                            " set BATON to its path")
    return found


# What the calls below name the options that they pass on.
_ARGUMENTS = {"--budget": "budget", "--device": "device", "--set": "symbols:", "-o": "output"}


def _in_python(message: str) -> str:
    """A message of the command line, with the names of this module's arguments."""
    return re.sub(r"(?<!\S)(--budget|--device|--set|-o)(?![\w-])", lambda option: _ARGUMENTS[option[1]], message)


def _json(arguments: Sequence[str], statuses: Sequence[int] = (0,)) -> dict[str, Any]:
    result = subprocess.run([command(), *arguments, "--json"], capture_output=True, text=True,
                            env=_files.environment(), check=False)
    try:
        report: dict[str, Any] = json.loads(result.stdout)
    except json.JSONDecodeError:
        raise Error(result.stderr.strip() or f"baton ended with status {result.returncode}") from None
    if result.returncode not in statuses:
        error = report.get("error") or {}
        raise Error(_in_python(error.get("what", result.stderr.strip())), code=error.get("code", "internal"),
                    where=error.get("where") or "")
    return report


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The contents of an image, a bundle, an executable or a library: `baton inspect --json`."""
    return _json(["inspect", os.fspath(path)])


def doctor() -> dict[str, Any]:
    """Devices, driver, NVRTC, headers and cache, as found on this machine."""
    return _json(["doctor"])


def tune(program: str | os.PathLike[str], device: str | None = None,
         symbols: dict[str, int] | None = None, *, budget: float = 20,
         output: str | os.PathLike[str] | None = None,
         tune_with: str | None = None) -> dict[str, Any]:
    """Searches for a faster way to execute a program: `baton tune --json`. `Program.bind` uses the
    record that it keeps.

    budget: seconds, of all measurements. output: a bundle to build, with the record in it.
    tune_with: a shell's command that runs and measures variants in place of Baton.
    """
    arguments = ["tune", os.fspath(program), "--budget", repr(budget)]
    if output is not None:
        arguments += ["-o", os.fspath(output)]
    if tune_with is not None:
        arguments += ["--tune-with", tune_with]
    if device is not None:
        arguments += ["--device", device]
    for name, value in (symbols or {}).items():
        arguments += ["--set", f"{name}={value}"]
    return _json(arguments)


def bench(program: str | os.PathLike[str], device: str | None = None,
          symbols: dict[str, int] | None = None) -> dict[str, Any]:
    """Measures a program against the device's memory bandwidth: `baton bench --json`."""
    arguments = ["bench", os.fspath(program)]
    if device is not None:
        arguments += ["--device", device]
    for name, value in (symbols or {}).items():
        arguments += ["--set", f"{name}={value}"]
    return _json(arguments)
