"""Bundles as modules of tvm-ffi (the package apache-tvm-ffi).

    import baton.tvm_ffi
    layer = baton.tvm_ffi.load("layer.baton")     # a tvm_ffi.Module
    layer.main(x, y)                              # the program, on the current stream
    layer["norm"](y, x, n, grid, block)           # one of its kernels

docs/tvm-ffi.md has the rest. Importing this module does not import tvm_ffi.
"""

from __future__ import annotations

import ctypes
import os
import threading

from . import _core, _files
from ._errors import Error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Union

    import tvm_ffi

    Path = Union[str, "os.PathLike[str]"]

_lock = threading.Lock()
_registered = False


def library() -> str:
    """The path of libbaton_tvm_ffi.so, which programs in C++ and Rust load.

    Raises NotFoundError where this copy of the package has none.
    """
    return _files.tvm_ffi_library()


def register() -> None:
    """Lets tvm_ffi.load_module take bundles. Calls after the first do nothing; any thread may call.

    Imports tvm_ffi. Raises ImportError where it is missing, and Error where it does not fit.
    """
    global _registered
    with _lock:
        if _registered:
            return
        _import()
        adapter = ctypes.CDLL(library())
        call = adapter.baton_tvm_ffi_register
        call.restype = ctypes.c_char_p
        why = call()
        if why is not None:
            raise Error(why.decode(), code="unsupported")
        _registered = True


def load(path: Path) -> tvm_ffi.Module:
    """Loads a bundle, or a library that `write_library` or `baton build --tvm-ffi` wrote, as a module of tvm-ffi.

    Its functions are `main`, the program; `main_graph`, the program as one CUDA graph; and its
    kernels by their names. Any thread may call them. Raises what tvm_ffi.load_module raises.
    """
    register()
    module: tvm_ffi.Module = _import().load_module(os.fspath(path))
    return module


def write_library(bundle: Path, library: Path) -> None:
    """Writes a bundle as a shared library of data for this processor, which tvm-ffi loads.

    It has no code: Baton's adapter, registered before, reads the bundle in it. Raises Error.
    """
    _core.write_tvm_library(bundle, library)


def _import() -> Any:
    try:
        import tvm_ffi
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            f"{missing}; run: pip install 'apache-tvm-ffi>=0.1.6,<0.2'",
            name=missing.name) from missing
    return tvm_ffi
