"""The short way of launches on a GPU, without one: a driver whose launches hand over their arguments, and arrays that
say that they are a GPU's."""

import os
import pathlib
import subprocess
import sys
import textwrap

import pytest

import baton as baton_package

DRIVER = os.environ.get("BATON_NULL_DRIVER", "")

PREAMBLE = """
import ctypes, os, struct
import baton

class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]

STREAM = 0x5150
views = []

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))
def to_view(address, out):
    array = next(array for array in views if id(array) == address)
    if array.fails:
        return -1
    out[0] = array.tensor
    return 0

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))
def current_stream(device_type, device_id, out):
    out[0] = STREAM
    return 0

class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
                ("allocate", ctypes.c_void_p), ("to_managed", ctypes.c_void_p), ("from_managed", ctypes.c_void_p),
                ("to_view", ctypes.c_void_p), ("current_stream", ctypes.c_void_p)]

table = Table(1, 3, None, None, None, None, ctypes.cast(to_view, ctypes.c_void_p),
              ctypes.cast(current_stream, ctypes.c_void_p))
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

class View:
    __dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(table), b"dlpack_exchange_api", None)

    def __init__(self, data=0x1000, shape=(4, 8), strides=None, dtype=(2, 32, 1), device=(2, 0), byte_offset=0,
                 fails=False):
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        self.strides = (ctypes.c_int64 * len(shape))(*strides) if strides else None
        self.tensor = Tensor(data, *device, len(shape), *dtype, self.shape, self.strides, byte_offset)
        self.fails = fails
        views.append(self)

library = ctypes.CDLL(os.environ["BATON_CUDA_DRIVER"])
launched = []

@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
def watch(stream, arguments):  # of kernels with four parameters
    launched.append((stream, [ctypes.c_uint64.from_address(arguments[i]).value for i in range(4)]))

library.baton_watch_launches(watch)
kernel = baton.compile(text="__global__ void k(float* y, const void* x, float a, int n) {}", device="cuda:0")["k"]
bound = kernel[1, 32]

def bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]

def refused(*arguments):
    try:
        bound(*arguments)
    except baton.Error as error:
        print(type(error).__name__, str(error).partition("argument ")[2].partition(";")[0])
"""


def run(code):
    if not DRIVER:
        pytest.skip("BATON_NULL_DRIVER does not name the driver of the benchmarks")
    path = str(pathlib.Path(baton_package.__file__).parents[1])
    result = subprocess.run([sys.executable, "-c", PREAMBLE + textwrap.dedent(code)], capture_output=True, text=True,
                            timeout=120, env={**os.environ, "PYTHONPATH": path, "BATON_CUDA_DRIVER": DRIVER})
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_values_arrive():
    run("""
        mask = (1 << 32) - 1
        bound(View(byte_offset=16), View(data=0x2008, dtype=(0, 64, 1)), 1.5, -3)
        stream, values = launched.pop()
        assert stream == STREAM
        assert values[:2] == [0x1010, 0x2008]
        assert values[2] & mask == bits(1.5) and values[3] & mask == (-3) & mask
        # Extents of 1 have any stride, and an empty array is legal.
        bound(View(shape=(1, 8), strides=(3, 1)), None, 0.0, 2**31 - 1)
        bound(View(shape=(0, 8), strides=(5, 3)), None, 0.0, 0)
        assert [values[1] for _, values in launched] == [0, 0]
        # Another stream than the framework's own.
        bound(View(), None, 0.0, 0, stream=0x77)
        assert launched[-1][0] == 0x77
        """)


def test_what_does_not_fit_is_refused():
    printed = run("""
        good = View()
        refused(View(device=(2, 1)), good, 1.0, 1)
        refused(View(device=(1, 0)), good, 1.0, 1)
        refused(View(dtype=(2, 64, 1)), good, 1.0, 1)
        refused(View(dtype=(2, 32, 4)), good, 1.0, 1)
        refused(View(strides=(16, 1)), good, 1.0, 1)
        refused(View(data=0x1002), good, 1.0, 1)
        refused(good, View(data=0x1004, dtype=(2, 64, 1)), 1.0, 1)
        refused(good, View(dtype=(5, 64, 1)), 1.0, 1)
        refused(View(fails=True), good, 1.0, 1)
        refused(View(data=0), good, 1.0, 1)
        refused(good, good, 1e39, 1)
        refused(good, good, 1.0, 2**31)
        refused(good, good, 1.0, 1.0)
        refused(3, good, 1.0, 1)
        assert not launched
        """)
    wanted = ["0 is in memory of another device (DLPack's type 2, id 1)", "0 is in host memory", "0 is an array of f64",
              "0 is an array of", "0 is not contiguous", "0 is at the address 0x1002", "1 is at the address 0x1004",
              "1 is an array of complex", "0 is a View that gives no view", "0 has 128 bytes, and no memory",
              "2 is 1e+39", "3 is 2147483648",
              "3 is the float 1", "0 is the int 3"]
    lines = printed.splitlines()
    assert len(lines) == len(wanted)
    for line, text in zip(lines, wanted):
        assert line.startswith(f"ArgumentError {text}"), line


def test_arrays_are_exported_as_dlpack_says():
    run("""
        array = baton.empty(4, "f32", "cuda:0")
        def raised(**keywords):
            try:
                array.__dlpack__(**keywords)
            except Exception as error:
                return type(error)
        assert raised() is raised(stream=None) is raised(stream=1) is raised(stream=-1) is raised(dl_device=(2, 0)) is None
        assert raised(dl_device=(1, 0)) is raised(dl_device=(2, 1)) is raised(copy=True) is BufferError
        assert raised(stream=0) is raised(stream=-2) is ValueError
        assert raised(dl_device=3) is raised(stream="1") is TypeError
        """)


def test_launchers_of_one_kernel():
    """`k[grid, block]` uses the memory of one that is gone, and never of one that is kept."""
    run("""
        import gc
        first = kernel[1, 32]
        second = kernel[2, 64]
        assert first is not second
        del second
        for grid in range(1, 300):
            kernel[grid, 32](None, None, 0.0, grid)
        assert [values[3] & 0xFFFFFFFF for _, values in launched] == list(range(1, 300))
        first(None, None, 0.0, 7)
        kept = [kernel[1, 32] for _ in range(100)]
        assert len({id(one) for one in kept}) == 100
        # The last launcher keeps its kernel, and then frees it.
        one = baton.compile(text="__global__ void k(int* a, int* b, float c, int n) {}", device="cuda:0")["k"][1, 32]
        one(None, None, 0.0, 9)
        assert launched[-1][1][3] & 0xFFFFFFFF == 9
        del one, kept
        gc.collect()
        """)


def test_launches_are_observed():
    run("""
        from baton import _core
        seen = []
        _core.observe_launches(lambda kernel, settings, arguments: seen.append((kernel.name, arguments)))
        view = View()
        bound(view, None, 2.0, 3)
        plan = kernel.plan(view, None, 2.0, 4, grid=1, block=32)
        plan()
        _core.observe_launches(None)
        bound(view, None, 2.0, 5)
        assert seen == [(kernel.name, (view, None, 2.0, 3)), (kernel.name, (view, None, 2.0, 4))]
        assert len(launched) == 3
        """)
