"""Commands that this package has no call for: the JSON of the command line, as dicts."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path as _Path
from typing import Any, Mapping, Sequence

from . import _files
from ._core import Device
from ._errors import ArgumentError, Error, NotFoundError, class_of


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


def _words(name: str, program: str | os.PathLike[str], device: Device | str | None,
           symbols: Mapping[str, int] | None) -> list[str]:
    """The words of a command about a program."""
    if not isinstance(program, (str, os.PathLike)):
        raise ArgumentError(f"{name}() takes the path of a program file or a bundle, a "
                            f"{type(program).__name__} was given")
    words = [name, os.fspath(program)]
    if device is not None:
        words += ["--device", device.spec if isinstance(device, Device) else device]
    for symbol, value in (symbols or {}).items():
        words += ["--set", f"{symbol}={value}"]
    return words


def _json(arguments: Sequence[str], statuses: Sequence[int] = (0,)) -> dict[str, Any]:
    result = subprocess.run([command(), *arguments, "--json"], capture_output=True, text=True,
                            env=_files.environment(), check=False)
    try:
        report: dict[str, Any] = json.loads(result.stdout)
    except json.JSONDecodeError:
        raise Error(result.stderr.strip() or f"baton ended with status {result.returncode}") from None
    if result.returncode not in statuses:
        error = report.get("error") or {}
        code = error.get("code", "internal")
        raise class_of(code)(_in_python(error.get("what", result.stderr.strip())), code=code,
                             where=error.get("where") or "")
    return report


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The contents of an image, a bundle, an executable or a library: `baton inspect --json`.

    Raises NotFoundError for a missing file, and Error for one that holds none of them.
    """
    return _json(["inspect", os.fspath(path)])


def doctor() -> dict[str, Any]:
    """Devices, driver, NVRTC, headers and cache, as found on this machine."""
    return _json(["doctor"])


def tune(program: str | os.PathLike[str], device: Device | str | None = None,
         symbols: Mapping[str, int] | None = None, *, budget: float = 20,
         output: str | os.PathLike[str] | None = None,
         tune_with: str | None = None) -> dict[str, Any]:
    """Searches for a faster way to execute a program: `baton tune --json`. `Program.bind` uses the
    record that it keeps.

    budget: seconds, of all measurements. output: a bundle to build, with the record in it.
    tune_with: a shell's command that runs and measures variants in place of Baton.
    """
    words = [*_words("tune", program, device, symbols), "--budget", repr(budget)]
    if output is not None:
        words += ["-o", os.fspath(output)]
    if tune_with is not None:
        words += ["--tune-with", tune_with]
    return _json(words)


def bench(program: str | os.PathLike[str], device: Device | str | None = None,
          symbols: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Measures a program against the device's memory bandwidth: `baton bench --json`."""
    return _json(_words("bench", program, device, symbols))
