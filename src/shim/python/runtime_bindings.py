"""The CUDA runtime inside of cuda.bindings, for the simulated GPU.

`cuda.bindings` has NVIDIA's runtime linked in and stripped, and that starts with NVIDIA's driver alone.
Other modules of the package call it by the functions that Cython lists in `__pyx_capi__`. This puts
those of `libcudart.so.13` there, before anybody has looked. Functions of other major versions have
other signatures, so these packages are left alone.
"""

import ctypes
import importlib.metadata

VARIANTS = ("_ptsz", "_ptds")
# The second one had the package before the first one was there.
DISTRIBUTIONS = ("cuda-bindings", "cuda-python")


def version_of_package():
    for name in DISTRIBUTIONS:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return "of an unknown version"


def take_over(module, own_default_stream, notices):
    version = version_of_package()
    if not version.startswith("13."):
        notices.tell(f"cuda.bindings {version} has a CUDA runtime inside, which is replaced in versions 13 "
                     "alone; install cuda-bindings 13")
        return
    try:
        runtime = ctypes.CDLL("libcudart.so.13")
    except OSError:
        return
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype = ctypes.c_void_p
    name_of.argtypes = [ctypes.py_object]
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    functions = module.__pyx_capi__
    kept = []  # the names of capsules belong to the old ones
    for name, capsule in list(functions.items()):
        if not name.startswith("_cuda"):
            continue
        function = find(runtime, name[1:], own_default_stream)
        if function is None:
            continue
        kept.append(capsule)
        functions[name] = new(ctypes.cast(function, ctypes.c_void_p), name_of(capsule), None)
    module._baton_kept = kept


def find(runtime, name, own_default_stream):
    for variant in (*VARIANTS, "") if own_default_stream else ("",):
        try:
            return getattr(runtime, name + variant)
        except AttributeError:
            continue
    return None
