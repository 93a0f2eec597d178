"""Bundles as modules of tvm-ffi, with the apache-tvm-ffi that is installed. python/tvm_ffi_matrix.py
runs these tests with many versions of it."""

import ctypes
import gc
import os
import pathlib
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

import baton
import baton.tvm_ffi

tvm_ffi = pytest.importorskip("tvm_ffi", reason="apache-tvm-ffi is not installed")
VERSION = tuple(int(part) for part in tvm_ffi.__version__.split(".")[:3])

PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n) {
  .reg .b64 %rd<6>; .reg .f32 %f<3>; .reg .b32 %r<5>; .reg .pred %p;
  ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.u32 %r2, %r2, %r3, %r4; setp.ge.u32 %p, %r2, %r1; @%p ret;
  cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r2, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd5]; mul.f32 %f2, %f2, %f1; st.global.f32 [%rd4], %f2; ret;
}
"""

# y = 6 x, by way of a scratch buffer.
PROGRAM = """name = "six"
[symbols]
N = 8
[buffers]
y = { dtype = "f32", shape = ["N"], role = "output" }
x = { dtype = "f32", shape = ["N"], role = "input", init = "ones" }
t = { dtype = "f32", shape = ["N"] }
[kernels]
scale = { ptx = "scale.ptx" }
[[steps]]
launch = "scale"
grid = ["ceildiv(N, 32)"]
block = [32]
args = ["t", "x", 2.0, "N"]
[[steps]]
launch = "scale"
grid = ["ceildiv(N, 32)"]
block = [32]
args = ["y", "t", 3.0, "N"]
"""

# s doubles with each call; the last N - M elements of y are left alone.
STATEFUL = """name = "doubling"
[symbols]
N = 4
M = 2
[buffers]
s = { dtype = "f32", shape = ["N"], role = "state", init = "ones" }
w = { dtype = "f32", shape = ["N"], role = "weight", init = "ones" }
y = { dtype = "f32", shape = ["N"], role = "inout" }
[kernels.main]
ptx = "scale.ptx"
entry = "scale"
[[steps]]
launch = "main"
grid = [1]
block = [32]
args = ["s", "s", 2.0, "N"]
[[steps]]
launch = "main"
grid = [1]
block = [32]
args = ["y", "s", 1.0, "M"]
"""


def write_bundle(folder, text, name):
    (folder / "scale.ptx").write_text(PTX)
    path = folder / name
    baton.bundle(baton.Program.from_text(text, directory=folder), path, ["sm_90a"])
    return path


@pytest.fixture(autouse=True)
def simulated(monkeypatch):
    monkeypatch.setenv("BATON_DEVICE", "sim:h100")
    baton.tvm_ffi.register()


@pytest.fixture
def six(tmp_path):
    return tvm_ffi.load_module(str(write_bundle(tmp_path, PROGRAM, "six.baton")))


@pytest.fixture
def doubling(tmp_path):
    return baton.tvm_ffi.load(write_bundle(tmp_path, STATEFUL, "doubling.baton"))


def tensor(array):
    return tvm_ffi.from_dlpack(array)


def vectors(n, dtype=np.float32):
    return np.arange(n, dtype=dtype), np.zeros(n, dtype)


def test_a_program(six):
    for n in (8, 33, 8, 8):
        x, y = vectors(n)
        assert six.main(tensor(x), tensor(y)) is None
        assert np.array_equal(y, 6 * x)
    # NumPy's arrays, the name of the program, the module itself, one CUDA graph, named values.
    for function in (six["main"], six["six"], six, six["main_graph"], six["main_graph"]):
        x, y = vectors(9)
        function(x, y)
        assert np.array_equal(y, 6 * x)
    x, y = vectors(5)
    six.main("y", tensor(y), "x", tensor(x), "N", 5)
    assert np.array_equal(y, 6 * x)
    six.main(tensor(x), tensor(y), 5)
    six.main(None, tensor(y))
    assert np.array_equal(y, np.full(5, 6, np.float32))
    six.main(x, None)


def test_a_kernel(six):
    x, y = vectors(100)
    scale = six["scale"]
    for grid, block in ((4, 32), ((4, 1), (32, 1, 1)), ([2], [64])):
        y[:] = 0
        scale(tensor(y), tensor(x), 2.5, 100, grid, block)
        assert np.array_equal(y, np.float32(2.5) * x)
    scale(y, x, 1.0, 100, 4, 32, 1024)
    assert np.array_equal(y, x)
    # One tensor for two arguments is one memory; a part of a tensor keeps its place in it.
    whole = np.ones(8, np.float32)
    scale(tensor(whole), tensor(whole), 2.0, 4, 1, 32)
    assert list(whole) == [2.0] * 4 + [1.0] * 4
    scale(tensor(whole[4:]), tensor(whole), 2.0, 2, 1, 32)
    assert list(whole) == [2.0] * 4 + [4.0] * 2 + [1.0] * 2
    scale(tensor(x[:0]), tensor(x[:0]), 1.0, 0, 1, 32)


def test_what_is_there(six, doubling):
    assert six.kind == "baton" and list(six.imports) == []
    assert six.implements_function("main") and six.implements_function("kernel.scale")
    assert not six.implements_function("scal")
    with pytest.raises(AttributeError, match="Module has no function 'scal'"):
        six.get_function("scal")
    # A kernel whose name the program's function takes.
    s = np.ones(4, np.float32)
    doubling["kernel.main"](s, s, 5.0, 4, 1, 32)
    assert list(s) == [5.0] * 4
    if VERSION >= (0, 1, 4):
        assert six.get_function_doc("main") == "main(x: f32[N], y: f32[N], N = 8)"
        assert six.get_function_doc("scale").startswith("scale(")
        assert "Tensor" in six.get_function_metadata("main")["type_schema"]
        assert six.get_function_metadata("scale") is None
        assert six.get_property_mask() == 3


def test_imports(six, doubling):
    six.import_module(doubling)
    assert len(six.imports) == 1
    y = np.zeros(4, np.float32)
    six.get_function("doubling", True)(y)
    assert list(y) == [2.0, 2.0, 0.0, 0.0]


def test_states_and_symbols(doubling):
    y = np.zeros(4, np.float32)
    doubling.main(tensor(y))
    doubling.main(tensor(y))
    assert list(y) == [4.0, 4.0, 0.0, 0.0]
    doubling.main(tensor(y), "M", 3)
    doubling.main(tensor(y), "M", 1)
    assert list(y) == [16.0, 8.0, 8.0, 0.0]
    # What a call does not give has its default again.
    y[:] = 0
    doubling.main(tensor(y))
    assert list(y) == [32.0, 32.0, 0.0, 0.0]
    # Memory of the caller's for the state.
    s = np.full(4, 10, np.float32)
    doubling.main(tensor(y), "s", tensor(s))
    assert list(s) == [20.0] * 4 and y[0] == 20.0


def refused(error, words, function, *arguments):
    with pytest.raises(error, match=words):
        function(*arguments)


def test_wrong_arguments_of_a_program(six):
    x, y = vectors(8)
    main = six.main
    refused(TypeError, r"the tensor y: f32\[N\] was not given: six\(x: f32", main, tensor(x))
    refused(TypeError, "y is an int; it takes a tensor", main, tensor(x), 3)
    refused(TypeError, "more than 3 values were given", main, tensor(x), tensor(y), 8, 9)
    refused(TypeError, "N is a float; it takes an int", main, tensor(x), tensor(y), 8.0)
    refused(TypeError, 'no buffer and no symbol "z"', main, tensor(x), tensor(y), "z", 1)
    refused(TypeError, "x was given twice", main, tensor(x), tensor(y), "x", tensor(x))
    refused(TypeError, 'the last argument is the name "N"', main, tensor(x), tensor(y), "N")
    refused(TypeError, "names and values alternate", main, tensor(x), tensor(y), "N", 8, 9, 10)
    refused(ValueError, "has elements of f64, the buffer of f32", main, tensor(x.astype("f8")), tensor(y))
    refused(ValueError, "dimension 0 of the array is 8", main, tensor(np.ones(9, np.float32)), tensor(y))
    refused(ValueError, "2 dimensions, the buffer has 1", main, tensor(x.reshape(2, 4)), tensor(y))
    refused(ValueError, "x is not contiguous: axis 0 has the stride 2", main, tensor(np.ones(16, np.float32)[::2]),
            tensor(y))
    # After every error the next call is right.
    main(tensor(x), tensor(y))
    assert np.array_equal(y, 6 * x)


def test_wrong_arguments_of_a_kernel(six):
    x, y = vectors(8)
    scale = six["scale"]
    refused(TypeError, "kernel scale takes 6 or 7 values .*grid, block, shared = 0.*; 4 were given", scale, y, x, 1.0, 8)
    refused(ValueError, "grid has the extent 0", scale, y, x, 1.0, 8, 0, 32)
    refused(ValueError, "block has the extent -1", scale, y, x, 1.0, 8, 1, -1)
    refused(TypeError, "block is a sequence of 4", scale, y, x, 1.0, 8, 1, (1, 1, 1, 1))
    refused(TypeError, "grid is a float", scale, y, x, 1.0, 8, 1.0, 32)
    refused(ValueError, "shared is -4", scale, y, x, 1.0, 8, 1, 32, -4)
    refused(ValueError, "1025|1024", scale, y, x, 1.0, 8, 1, 1025)
    refused(ValueError, "argument 2 is the float|argument 3 is the float", scale, y, x, 1.0, 8.5, 1, 32)
    refused(ValueError, "argument 3 is 4294967296", scale, y, x, 1.0, 2**32, 1, 32)
    refused(TypeError, "argument 3 is a text", scale, y, x, 1.0, "8", 1, 32)
    refused(ValueError, "argument 0 is a float|argument 0 is the float", scale, 1.0, x, 1.0, 8, 1, 32)
    scale(y, x, 2.0, 8, 1, 32)
    assert np.array_equal(y, 2 * x)


def test_a_fault_names_its_argument_and_ends(six):
    x, y = vectors(8)
    refused(RuntimeError, "(?s)scale.*argument 0", six["scale"], y[:4], x, 1.0, 8, 1, 32)
    six["scale"](y, x, 2.0, 8, 1, 32)
    assert np.array_equal(y, 2 * x)


def test_wrong_files(tmp_path):
    refused(RuntimeError, "nowhere.baton", tvm_ffi.load_module, str(tmp_path / "nowhere.baton"))
    bad = tmp_path / "bad.baton"
    bad.write_bytes(b"nothing")
    refused(ValueError, "bad.baton", tvm_ffi.load_module, str(bad))
    whole = write_bundle(tmp_path, PROGRAM, "six.baton").read_bytes()
    bad.write_bytes(whole[:-1])
    refused(ValueError, "bad.baton", tvm_ffi.load_module, str(bad))


class Elsewhere:
    """An array whose tensor claims to be in memory of another device, at another address."""

    def __init__(self, array, device_type, device_id=0, address=None):
        self.array, self.device = array, (device_type, device_id)
        self.address = array.ctypes.data if address is None else address

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **_):
        capsule = self.array.__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # DLTensor: the address, then the device's type and id.
        ctypes.memmove(pointer(capsule, b"dltensor"), struct.pack("Qii", self.address, *self.device), 16)
        return capsule


def test_devices(six):
    x, y = vectors(8)
    first, second = tensor(Elsewhere(x, 2, 600)), tensor(Elsewhere(y, 2, 601))
    refused(ValueError, "argument 0 is on the CUDA device 600, argument 1 on the CUDA device 601", six.main, first,
            second)
    refused(ValueError, "argument 1 is in host memory, argument 0 on the CUDA device 600", six.main, first, tensor(y))
    refused(ValueError, "argument 0 is a tensor of DLPack's device type 8", six.main, tensor(Elsewhere(x, 8)), tensor(y))
    # No machine has so many GPUs, and some have no driver.
    refused((ValueError, RuntimeError), "cuda:600", six.main, first, first)
    refused((ValueError, RuntimeError), "cuda:600", six["scale"], first, first, 1.0, 8, 1, 32)


def test_bytes_and_back(tmp_path):
    path = write_bundle(tmp_path, PROGRAM, "six.baton")
    load = tvm_ffi.get_global_func("ffi.Module.load_from_bytes.baton")
    module = load(path.read_bytes())
    x, y = vectors(8)
    module.main(tensor(x), tensor(y))
    assert np.array_equal(y, 6 * x)
    refused(ValueError, "<bundle>", load, b"nothing")
    refused(TypeError, "takes bytes", load, 3)


def test_a_library_of_data(tmp_path):
    bundle, library = write_bundle(tmp_path, PROGRAM, "six.baton"), tmp_path / "six.so"
    baton.tvm_ffi.write_library(bundle, library)
    module = tvm_ffi.load_module(str(library))
    x, y = vectors(8)
    module.main(tensor(x), tensor(y))
    assert module.kind == "baton" and np.array_equal(y, 6 * x)
    with pytest.raises(baton.Error, match="scale.ptx"):
        baton.tvm_ffi.write_library(tmp_path / "scale.ptx", library)


def test_functions_outlive_their_module(tmp_path):
    path = write_bundle(tmp_path, PROGRAM, "six.baton")
    module = tvm_ffi.load_module(str(path), **({"keep_module_alive": False} if VERSION >= (0, 1, 7) else {}))
    main = module.main
    scale = module.get_function("scale")
    del module
    gc.collect()
    x, y = vectors(8)
    main(tensor(x), tensor(y))
    assert np.array_equal(y, 6 * x)
    del main
    gc.collect()
    scale(tensor(y), tensor(x), 2.0, 8, 1, 32)
    assert np.array_equal(y, 2 * x)


def test_two_modules_have_states_of_their_own(tmp_path):
    path = write_bundle(tmp_path, STATEFUL, "doubling.baton")
    first, second = tvm_ffi.load_module(str(path)), tvm_ffi.load_module(str(path))
    y = np.zeros(4, np.float32)
    first.main(tensor(y))
    first.main(tensor(y))
    second.main(tensor(y))
    assert list(y) == [2.0, 2.0, 0.0, 0.0]


def test_threads(six):
    failures = []

    def work(seed):
        try:
            for n in range(seed + 1, seed + 21):
                x, y = vectors(n)
                six.main(tensor(x), tensor(y))
                assert np.array_equal(y, 6 * x), n
                six["scale"](tensor(y), tensor(x), 0.5, n, 2, 32)
                assert np.array_equal(y, 0.5 * x), n
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(10 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def run_python(code, *arguments):
    return subprocess.run([sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True,
                          check=False)


def test_the_library_alone_is_enough(tmp_path):
    """Without the Python package: loaded after tvm_ffi, and used until the process ends."""
    path = write_bundle(tmp_path, PROGRAM, "six.baton")
    done = run_python("""
import ctypes, sys
import numpy as np, tvm_ffi
ctypes.CDLL(sys.argv[1])
module = tvm_ffi.load_module(sys.argv[2])
x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
module.main(tvm_ffi.from_dlpack(x), tvm_ffi.from_dlpack(y))
print(list(map(int, y)), "baton" in sys.modules)
""", baton.tvm_ffi.library(), path)
    assert done.stdout == "[6, 6, 6, 6, 6, 6, 6, 6] False\n", done.stderr
    assert (done.returncode, done.stderr) == (0, "")


def test_without_tvm_ffi():
    """The adapter loads before tvm-ffi, says what is missing, and registers later."""
    done = run_python("""
import ctypes, sys
register = ctypes.CDLL(sys.argv[1]).baton_tvm_ffi_register
register.restype = ctypes.c_char_p
print(register().decode())
import tvm_ffi
print(register(), register())
print(tvm_ffi.get_global_func("ffi.Module.load_from_file.baton") is not None)
""", baton.tvm_ffi.library())
    assert done.stdout == ("the process has not loaded libtvm_ffi.so; import tvm_ffi, or link it, before\n"
                           "None None\nTrue\n"), done.stderr


@pytest.mark.skipif("BATON" not in os.environ, reason="BATON names no command line")
def test_cuda_tensors_on_the_simulated_driver():
    """The tests of a GPU: streams, captured graphs, threads."""
    here = pathlib.Path(__file__).parent
    done = subprocess.run([os.environ["BATON"], "exec", "--device", "sim:h200", "--", sys.executable, "-B", "-m", "pytest",
                           "-q", "-rs", "-p", "no:cacheprovider", str(here / "test_tvm_ffi_gpu.py")],
                          capture_output=True, text=True, check=False, cwd=here)
    if "driver library of the simulated GPU is not installed" in done.stderr:
        pytest.skip("this build of Baton has no exec")
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr
    skipped = [line for line in done.stdout.splitlines() if line.startswith("SKIPPED")]
    assert all("torch" in line for line in skipped), done.stdout  # one needs torch, too


def test_importing_the_package_does_not_import_tvm_ffi():
    done = run_python("import sys, baton\nbaton.tvm_ffi\nprint('tvm_ffi' in sys.modules)")
    assert done.stdout == "False\n", done.stderr


def test_the_library_links_no_tvm_ffi():
    bytes_of_library = pathlib.Path(baton.tvm_ffi.library()).read_bytes()
    assert b"libtvm_ffi.so\0" in bytes_of_library    # the name that it looks for
    done = subprocess.run(["readelf", "-d", baton.tvm_ffi.library()], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        assert "tvm_ffi.so" not in "".join(line for line in done.stdout.splitlines() if "NEEDED" in line)
