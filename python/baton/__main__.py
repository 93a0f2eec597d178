"""`python -m baton`: the command line, and where the package's files are."""

import sys

from . import _files
from ._command import main
from ._errors import Error

_PLACES = {
    "--prefix": _files.prefix,
    "--cmakedir": _files.cmake_dir,
    "--includedir": _files.include_dir,
    "--tvm-ffi-library": _files.tvm_ffi_library,
}

if sys.argv[1:] and sys.argv[1] in _PLACES:
    try:
        print(_PLACES[sys.argv[1]]())
    except Error as missing:
        sys.exit(f"error: {missing}")
else:
    main()
