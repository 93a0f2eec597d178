"""Modules from sources and images."""

from __future__ import annotations

import os

from . import _core
from ._core import Device, LibraryFunction, Module
from ._errors import ArgumentError
from ._bundle import Bundle

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Sequence, Union

    Path = Union[str, "os.PathLike[str]"]


def compile(path: Path | None = None, *, text: str | None = None,
            device: Device | str | None = None, arch: str | None = None,
            entries: Sequence[str] = (), include: Sequence[Path] = (),
            options: Sequence[str] = (), prelude: str | None = None, name: str | None = None,
            directory: Path | None = None, cache: bool = True,
            param_names: bool | None = None) -> Module:
    """Compiles CUDA C++ with NVRTC and loads the result.

    path: the source file; or text= for a source as text, whose name in messages is `name` and
        whose quoted includes start at `directory`.
    device: a baton.Device or its name; the default is that of `baton.device()`.
    arch: "sm_90a", "compute_90"; the default is the device's.
    entries: name expressions to instantiate, such as "rmsnorm<float>".
    include: folders, searched before Baton's own.
    options: for NVRTC, as written. C++17 unless --std says otherwise.
    prelude: text before the source, with line numbers of its own.
    cache: whether the compile cache is used.
    param_names: whether `Kernel.params` and messages have the names of parameters. They come from
        one more compile, with debug information, which is cached too. None: only a source with an
        extern "C" kernel, whose name tells no types, is compiled once more. False: calls of such a
        kernel are not checked against the element types of its pointers.

    Ctrl-C ends the wait for the compiler, which goes on. The process ends after it.

    Raises CompileError with the compiler's messages in `notes`, and NotFoundError for a missing
    file, for a missing NVRTC and for missing headers.
    """
    return _core.compile(path, text=text, name=name, directory=directory, device=device, arch=arch,
                         entries=entries, include=include, options=options, prelude=prelude,
                         cache=cache, param_names=param_names)


def load(image: Path | bytes, device: Device | str | None = None,
         name: str | None = None, *, keys: Sequence[Path] | None = None,
         verify: str = "index") -> Module | Bundle:
    """Loads PTX, a cubin or a fatbin, or opens a bundle; from a file or from bytes.

    The contents decide the kind, not the file's name. `name` is the name of bytes in messages. A
    bundle's kernels are found as those of a module: `load("x.baton")["saxpy"]`. `keys` and
    `verify` are for bundles, as for baton.Program; with keys an image is refused.

    Raises NotFoundError for a missing file, and Error for what is no image, or none for the device.
    """
    if isinstance(image, bytes):
        if _core.holds_bundle(image):
            return Bundle(image, device=device, keys=keys, verify=verify, name=name)
    else:
        path = os.fspath(image)
        if Bundle.is_bundle(path):
            return Bundle(path, device=device, keys=keys, verify=verify)
        if path.endswith((".cu", ".cuh", ".cpp")):
            raise ArgumentError(f"{path} is a source, not an image: use baton.compile")
        if path.endswith(".toml"):
            raise ArgumentError(f"{path} is a program, not an image: use baton.Program")
    if keys is not None:
        raise ArgumentError("an image has no signature, and keys are given: name a bundle, or leave "
                            "the keys out")
    return _core.load_image(image, device, name)


def load_library(library: Path | bytes, device: Device | str | None = None, *,
                 include: Sequence[Path] = (),
                 options: Sequence[str] = ()) -> dict[str, LibraryFunction]:
    """Loads the kernels of a file with launch metadata: what TVM, TileLang and tvm-ffi export.

    Returns the functions by symbol. A call passes the kernel's arguments, and then the launch
    values that `launch_values` names, in order:

        rows = baton.load_library("kernels.so")["rows_kernel"]
        rows(out, x, 500, 2.0, 4, 2, 128, 512)      # then grid.x, cluster.x, block.x, ...

    include, options: for a library that holds CUDA source, as for baton.compile.

    Raises NotFoundError for a missing file and for a library without metadata, and Error.
    """
    return _core.load_library(library, device, include=include, options=options)
