"""The files that came with this package: command line, library, headers, CMake package."""

from __future__ import annotations

import os
import sys

from . import _core


def site_packages() -> list[str]:
    """The folders of this Python in which NVIDIA's wheels may be installed."""
    return [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]


def search_packages() -> None:
    """Lets the extension find NVRTC and headers in this Python's packages."""
    _core.search_packages(site_packages())


def environment() -> dict[str, str]:
    """The environment for the command line, which then searches this Python's packages too."""
    return {"BATON_SITE_PACKAGES": os.pathsep.join(site_packages()), **os.environ}


def prefix() -> str:
    """The folder with bin, lib and include of this package."""
    return os.path.dirname(os.path.abspath(__file__))


def cmake_prefix() -> str:
    """The folder for CMAKE_PREFIX_PATH for `find_package(baton)`.

    Raises NotFoundError where the package has no library, as in a build folder.
    """
    return _require("lib/cmake/baton/baton-config.cmake", prefix())


def cmake_dir() -> str:
    """The folder for baton_DIR for `find_package(baton)`."""
    return os.path.join(cmake_prefix(), "lib", "cmake", "baton")


def include_dir() -> str:
    """The folder of baton.h."""
    return _require("include/baton.h", os.path.join(prefix(), "include"))


def command_line() -> str:
    """The command line of this package."""
    return _require("bin/baton", os.path.join(prefix(), "bin", "baton"))


def tvm_ffi_library() -> str:
    """The adapter for tvm-ffi."""
    return _require("lib/libbaton_tvm_ffi.so", os.path.join(prefix(), "lib", "libbaton_tvm_ffi.so"))


def _require(file: str, result: str) -> str:
    if os.path.exists(os.path.join(prefix(), file)):
        return result
    from ._errors import NotFoundError
    raise NotFoundError(f"this copy of the package, {prefix()}, has no {file}: install Baton's wheel")
