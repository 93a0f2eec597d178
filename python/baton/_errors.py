"""The exceptions of Baton, and how the extension makes them."""

from __future__ import annotations

import builtins
import warnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Sequence

    from ._values import Finding


class Error(Exception):
    """The base of Baton's exceptions. Its text is one sentence, with the place in front.

    code: a stable name, such as "invalid_input".
    where: the place in the user's text, "file:line:column", or "".
    notes: further lines, such as a compiler's log.
    findings: what the simulated GPU found, if that is what the error is about.
    driver_result: the driver's own number (CUresult), or 0.
    """

    code = "internal"

    def __init__(self, message: str, *, code: str | None = None, where: str = "",
                 notes: Sequence[str] = (), findings: Sequence[Finding] = (),
                 driver_result: int = 0):
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        self.where = where
        self.notes = list(notes)
        self.findings = list(findings)
        self.driver_result = driver_result

    def __str__(self) -> str:
        first = f"{self.where}: {self.message}" if self.where else self.message
        return "\n".join([first, *self.notes])


class ArgumentError(Error, TypeError):
    """An argument of a call is wrong: its type, dtype, shape, device or value."""

    code = "invalid_input"


class CompileError(Error):
    """The CUDA or PTX compiler rejected a source. `notes` has its messages."""

    code = "compile"


class LimitError(Error, ValueError):
    """A launch exceeds a limit of the kernel or the device."""

    code = "limit"


class NotFoundError(Error, LookupError):
    """A file, kernel, buffer or option that was named does not exist."""

    code = "not_found"


class FaultError(Error):
    """A kernel faulted, trapped or accessed memory wrongly."""

    code = "fault"


class FindingError(FaultError):
    """The simulated GPU found errors. `findings` has them, and warnings beside them."""


class DeviceError(Error):
    """There is no such device, its driver does not start, or the driver rejected a call."""

    code = "driver"


class UnsupportedError(Error):
    """The device or its driver lacks an instruction or a feature."""

    code = "unsupported"


class OutOfMemoryError(Error, MemoryError):
    """Memory of the device, page-locked memory or host memory ran out."""

    code = "out_of_memory"


class TimeoutError(Error, builtins.TimeoutError):
    """Work exceeded its time limit."""

    code = "timeout"


class FindingWarning(RuntimeWarning):
    """The simulated GPU found something in work that was waited for outside of `baton.on`."""


# Tracebacks name the public module.
for _class in (Error, ArgumentError, CompileError, LimitError, NotFoundError, FaultError,
               FindingError, DeviceError, UnsupportedError, OutOfMemoryError, TimeoutError,
               FindingWarning):
    _class.__module__ = "baton"

# Every code of the library, and its class. Of arguments, "invalid_input" is an ArgumentError.
_CLASSES: dict[str, type[Error]] = {
    "invalid_input": Error,
    "not_found": NotFoundError,
    "compile": CompileError,
    "limit": LimitError,
    "mismatch": Error,
    "fault": FaultError,
    "timeout": TimeoutError,
    "damaged": Error,
    "no_device": DeviceError,
    "out_of_memory": OutOfMemoryError,
    "driver": DeviceError,
    "unsupported": UnsupportedError,
    "interrupted": Error,
    "internal": Error,
}


def class_of(code: str) -> type[Error]:
    """The class of an error with this code that is not about arguments."""
    return _CLASSES.get(code, Error)


def make(code: str, of_arguments: bool, message: str, file: str, line: int, column: int,
         notes: list[str], driver_result: int, findings: list[Finding]) -> BaseException:
    """Makes the exception for an error of the library."""
    if code == "interrupted":
        return KeyboardInterrupt(message)
    kind = ArgumentError if of_arguments and code == "invalid_input" else _CLASSES[code]
    if kind is FaultError and any(finding.is_error for finding in findings):
        kind = FindingError
    where = ":".join([file, *(str(number) for number in (line, column) if number)]) if file else ""
    error = kind(message, code=code, where=where, notes=notes, driver_result=driver_result,
                 findings=findings)
    return _located(error, file, line) if file and line else error


def _located(error: Error, file: str, line: int) -> Error:
    """Gives the exception a traceback frame at a line of the user's file, as if it ran there."""
    code = compile("\n" * (line - 1) + "raise error", file, "exec").replace(co_name="program")
    try:
        exec(code, {"error": error, "__name__": "baton program"})
    except Error as raised:
        traceback = raised.__traceback__
        raised.__traceback__ = traceback.tb_next if traceback else None
        raised.__context__ = None
    return error


def with_article(value: object) -> str:
    """"an int", "a list": the type of a value, for messages."""
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _text(finding: Finding) -> str:
    where = f"{finding.where}: " if finding.where else ""
    kernel = f"kernel {finding.readable}, " if finding.kernel else ""
    return (f"{where}{kernel}block {finding.block}, thread {finding.thread}: "
            f"{finding.kind}: {finding.message}")


def of_findings(findings: list[Finding]) -> FindingError:
    """The exception for findings of which at least one is an error."""
    first = next(finding for finding in findings if finding.is_error)
    others = [_text(finding) for finding in findings if finding is not first]
    kernel = f"kernel {first.readable}, " if first.kernel else ""
    count = f" ({first.count} times)" if first.count > 1 else ""
    message = f"{kernel}block {first.block}, thread {first.thread}: {first.message}{count}"
    return FindingError(message, where=first.where, notes=others, findings=findings)


def warn(findings: list[Finding]) -> None:
    """Warns of findings that no exception tells."""
    for finding in findings:
        warnings.warn(_text(finding), FindingWarning, stacklevel=2)
