"""Programs of kernels: checked, bound and called."""

from __future__ import annotations

import os

from . import _core
from ._bound_program import BoundProgram, words_of
from ._core import Device, Kernel
from ._errors import ArgumentError, with_article

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Mapping, Sequence, Union

    from ._core import Allocator
    from ._values import CheckReport, ProgramBuffer

    Path = Union[str, "os.PathLike[str]"]


class Program:
    """A program of kernels, buffers, symbols and steps. Immutable; any thread may use it.

    Program("layer.toml") reads a program file or a bundle; Program.from_text takes TOML. Raises
    Error with the place in the file for a program that is wrong.

    keys: files of public keys. The file has to be a bundle that is signed with one of them.
        Without any, those of BATON_TRUSTED_KEYS.
    verify: of a bundle. "index" checks a part when it is first used, "all" checks the digests of
        all parts now, "once" does that unless it was done since the file changed.
    """

    def __init__(self, path: Path, *, keys: Sequence[Path] | None = None, verify: str = "index"):
        _require_keys(keys)
        self._program = _core.Program.from_file(path, keys=keys, verify=verify)
        self._loaded: dict[tuple[object, ...], _core.LoadedProgram] = {}

    @classmethod
    def from_text(cls, text: str, *, name: str | None = None,
                  directory: Path | None = None) -> Program:
        """A program from TOML. Relative paths in it start from `directory`."""
        program = cls.__new__(cls)
        program._program = _core.Program.from_text(text, name=name, directory=directory)
        program._loaded = {}
        return program

    @classmethod
    def _from_bundle(cls, contents: bytes, name: str, keys: Sequence[Path] | None,
                     verify: str) -> Program:
        _require_keys(keys)
        program = cls.__new__(cls)
        program._program = _core.Program.from_bundle(contents, name, keys=keys, verify=verify)
        program._loaded = {}
        return program

    @property
    def name(self) -> str:
        """The program's own name, as its file gives it."""
        return self._program.name

    @property
    def text(self) -> str:
        """The program file's text."""
        return self._program.text

    @property
    def symbols(self) -> dict[str, int]:
        """Symbols and their defaults."""
        return self._program.symbols

    @property
    def buffers(self) -> dict[str, ProgramBuffer]:
        """Buffers by name, in the program's order."""
        return {buffer.name: buffer for buffer in self._program.buffers}

    @property
    def kernels(self) -> tuple[str, ...]:
        """The program's names for its kernels."""
        return self._program.kernels

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about kernels, buffers and symbols that nothing uses."""
        return self._program.warnings

    def __repr__(self) -> str:
        return f"<baton.Program {self.name}: {', '.join(self.kernels)}>"

    def _load(self, device: Device | str | None, pdl: str, rewrite: str, cache: bool,
              tuned: str | None = None, instrument: bool = False) -> _core.LoadedProgram:
        on = _open(device)
        _require_words(pdl=pdl, rewrite=rewrite)
        key = (on.spec, pdl, rewrite, bool(cache), tuned, bool(instrument), os.environ.get("BATON_PDL"))
        if key not in self._loaded:
            self._loaded[key] = self._program.load(on, pdl=pdl, rewrite=rewrite, cache=cache,
                                                   tuned=tuned, instrument=instrument)
        return self._loaded[key]

    def _find_tuned(self, device: Device | str | None, pdl: str, rewrite: str, cache: bool,
                    symbols: Mapping[str, int], collectives: str) -> tuple[str, str] | None:
        """The record that holds for these sizes. A size that a later call decides has none."""
        later = {word for buffer in self.buffers.values() for extent in buffer.shape
                 for word in words_of(extent) if word in self.symbols}
        if later - set(symbols):
            return None
        return self._program.find_tuned(_open(device), pdl=pdl, rewrite=rewrite, cache=cache,
                                        symbols=dict(symbols), collectives=collectives)

    def kernel(self, name: str, device: Device | str | None = None) -> Kernel:
        """A kernel of the program, by the program's name for it."""
        return self._load(device, "auto", "off", True).kernel(name)

    def bind(self, *, device: Device | str | None = None, executor: str | None = None,
             pdl: str = "auto", rewrite: str = "off", seed: int = 0, cache: bool = True,
             allocator: Allocator | None = None, tuned: bool = True, collectives: str = "auto",
             instrument: bool = False, symbols: Mapping[str, int] | None = None,
             **values: int) -> BoundProgram:
        """Loads the program for a device and gives symbols their values.

        device: a baton.Device or its name; the default is that of `baton.device()`.
        executor: "stream" enqueues each step, "graph" makes one CUDA graph of all. The default is
            "stream", and "graph" for a program with `if` or `while` steps, which needs it.
        pdl: "auto", "on" or "off", for steps that say auto.
        rewrite: adds programmatic dependent launch to kernels: "off", "auto", "wait", "loads".
        seed: for init = "random".
        allocator: gives the memory of the program's own buffers, and of the outputs of calls.
            allocate(device, bytes) returns an address, a multiple of 256, or None if there is none
            left. free(device, address, bytes) takes it back when the device's work is done. Any
            thread may call them. What `allocate` raises comes out of the call that needs memory.
            The default is the driver.
        tuned: whether a record of `baton.tune` for this device and these sizes is used. Every
            symbol that a buffer's shape depends on must get its value here. BATON_TUNE=off
            leaves records out.
        collectives: what exchanges contents between the ranks of a program with a world: "nccl",
            "peer", "host", or "auto". "auto" is NCCL where all ranks have GPUs of their own and
            find it, else kernels between peers on GPUs of one process, if they have all steps,
            else the host. A record that chooses it for steps is used with "auto" alone.
        instrument: whether kernels are instrumented for `run(trace=True)`. A GPU has no timeline
            without; the simulated GPU has one of its own.
        symbols: values by name; keywords mean the same: bind(N=4096).

        Symbols that get no value here come from the shapes of a call's arrays, then from the
        program. Raises CompileError, NotFoundError for an unknown symbol, LimitError.
        """
        given = {**(symbols or {}), **values}
        _require_words(executor=executor)
        _core.require_settings(given, seed=seed, allocator=allocator, collectives=collectives)
        found = (self._find_tuned(device, pdl, rewrite, cache, given, collectives) if tuned
                 else None)
        # A record was measured with one executor, and says nothing of the other.
        record, measured = found if found and executor in (None, found[1]) else (None, executor)
        loaded = self._load(device, pdl, rewrite, cache, record, instrument)
        executor = measured
        if executor is None:
            executor = "graph" if self._program.has_tests else "stream"
        return BoundProgram(self, loaded.instance(executor), given, seed, allocator, collectives)

    def check(self, *, device: Device | str | None = None, pdl: str = "auto",
              rewrite: str = "off", symbols: Mapping[str, int] | None = None,
              **values: int) -> CheckReport:
        """Checks the whole program for these values, and judges every edge. Runs nothing."""
        given = {**(symbols or {}), **values}
        return self._load(device, pdl, rewrite, True).check(given)

    def bundle(self, path: Path, archs: str | Sequence[str] = (), *, sources: bool = True,
               weights: bool = False, key: Path | None = None) -> tuple[str, ...]:
        """Compiles the kernels for every architecture and writes a bundle: see baton.bundle."""
        wanted = [archs] if isinstance(archs, str) else list(archs)
        return self._program.write_bundle(path, wanted, sources=sources, weights=weights,
                                          key=key)


def _require_keys(keys: Sequence[Path] | None) -> None:
    """No key at all would accept every bundle: what was meant is another thing."""
    if keys is not None and not keys:
        raise ArgumentError("keys is empty: give the files of public keys, or leave it out")
    if isinstance(keys, (str, bytes, os.PathLike)):
        raise ArgumentError(f"keys is one path, {keys!r}: give a list of paths")


def _require_words(**given: object) -> None:
    """Settings that are words, by their names. None stands for the default."""
    for name, value in given.items():
        if value is not None and not isinstance(value, str):
            raise ArgumentError(f"{name} is a str, not {with_article(value)}")


def _open(device: Device | str | None) -> Device:
    return device if isinstance(device, Device) else _core.open_device(device)
