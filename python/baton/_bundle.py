"""Bundles: written, signed and opened."""

from __future__ import annotations

import os

from . import _core
from ._bound_program import BoundProgram
from ._core import Device, Kernel
from ._errors import ArgumentError
from ._program import Program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, Mapping, Sequence

    from ._program import Path
    from ._values import CheckReport


class Bundle:
    """One file that holds a program and its kernels. Loading it needs no compiler.

    `path` may also be the file's contents, as bytes. keys, verify: as for baton.Program.
    """

    def __init__(self, path: Path | bytes, device: Device | str | None = None, *,
                 keys: Sequence[Path] | None = None, verify: str = "index",
                 name: str | None = None):
        if isinstance(path, bytes):
            self.path = "<bytes>" if name is None else name
            self.program = Program._from_bundle(path, self.path, keys, verify)
            self._device = device
            return
        self.program = Program(path, keys=keys, verify=verify)
        self.path = os.fspath(path)
        self._device = device
        if self.program._program.architectures is None:
            raise ArgumentError(f"{self.path} is a program file, not a bundle: use baton.Program")

    @staticmethod
    def is_bundle(path: Path) -> bool:
        """Whether the file's first bytes are those of a bundle."""
        return _core.is_bundle(path)

    @property
    def architectures(self) -> tuple[str, ...]:
        """The architectures that its sources were compiled for."""
        return self.program._program.architectures or ()

    @property
    def signed_by(self) -> str | None:
        """The id of the key that the bundle is signed with. Raises Error for a wrong signature."""
        return self.program._program.signed_by

    @property
    def kernels(self) -> tuple[str, ...]:
        """The program's names for its kernels."""
        return self.program.kernels

    def __iter__(self) -> Iterator[str]:
        return iter(self.kernels)

    def __len__(self) -> int:
        return len(self.kernels)

    def __getitem__(self, kernel: str) -> Kernel:
        return self.program.kernel(kernel, self._device)

    def __repr__(self) -> str:
        return f"<baton.Bundle {self.path}: {', '.join(self.kernels)}>"


def check(program: Program | Path, *, device: Device | str | None = None, pdl: str = "auto",
          rewrite: str = "off", symbols: Mapping[str, int] | None = None,
          **values: int) -> CheckReport:
    """Checks a program for these symbols, and judges every edge between its launches.

    check("layer.toml").edges[0].verdict is "proven", "unsafe" or "unknown". Runs nothing.

    Raises NotFoundError for a missing file, CompileError, and Error for what is wrong with the program.
    """
    subject = program if isinstance(program, Program) else Program(program)
    return subject.check(device=device, pdl=pdl, rewrite=rewrite, symbols=symbols, **values)


def bundle(program: Program | BoundProgram | Path, path: Path, archs: str | Sequence[str] = (), *,
           sources: bool = True, weights: bool = False,
           key: Path | None = None) -> tuple[str, ...]:
    """Compiles a program's kernels for every architecture and writes one file.

    archs: "sm_90a" gives machine code and PTX, "compute_90" PTX alone; several in a sequence. Without
        any it is the architecture of the default device.
    sources, weights: whether the file has the kernels' sources, and the files of buffers.
    key: the file of an Ed25519 key to sign the bundle with.

    Returns remarks: files that the bundle needs beside it. Raises CompileError and Error.
    """
    if isinstance(program, BoundProgram):
        subject = program.program
    else:
        subject = program if isinstance(program, Program) else Program(program)
    return subject.bundle(path, archs, sources=sources, weights=weights, key=key)


def sign(bundle: Path, key: Path, output: Path | None = None) -> str:
    """Signs a bundle with an Ed25519 key, in place or into another file. Returns the key's id."""
    return _core.sign_bundle(bundle, key, bundle if output is None else output)
