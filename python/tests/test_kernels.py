"""Kernels: compile, load, launch, plan, on host arrays and on the device's own."""

import ctypes
import re
import struct

import numpy as np
import pytest

import baton as baton_package

SAXPY = """
template <typename T>
__global__ void saxpy_of(T* y, const T* x, T a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
template __global__ void saxpy_of<float>(float*, const float*, float, int);

extern "C" __global__ void fill(int* out, int value, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

struct Pair { int first; float second; };
__global__ void take_pair(float* out, Pair pair) { *out = pair.first + pair.second; }

__global__ void shift(const int* from, int* to, int n) {
  const int i = threadIdx.x;
  if (i < n) to[i] = from[i] + 1;
}
"""


@pytest.fixture
def module(baton):
    return baton.compile(text=SAXPY, name="kernels.cu", entries=["saxpy_of<float>"])


@pytest.fixture
def saxpy(module):
    return module["saxpy_of<float>"]


def test_host_arrays_are_memory_while_the_call_lasts(baton, saxpy):
    n = 1000
    x = np.random.default_rng(1).random(n, np.float32)
    y = np.ones(n, np.float32)
    saxpy[baton.ceildiv(n, 256), 256](y, x, 2.0, n)
    assert np.allclose(y, 2 * x + 1)


def test_facts(saxpy):
    assert [p.kind for p in saxpy.params] == ["pointer", "pointer", "scalar", "scalar"]
    assert [p.dtype for p in saxpy.params] == ["f32", "f32", "f32", "i32"]
    assert [p.read_only for p in saxpy.params] == [False, True, False, False]
    assert saxpy.registers > 0 and saxpy.shared == 0
    assert saxpy.waits is False and saxpy.polls is False
    assert "saxpy_of" in saxpy.demangled


def test_device_arrays_and_views(baton, saxpy):
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    device_x = baton.array(x)
    device_y = baton.zeros((8, 8), "f32")
    assert device_x.shape == (8, 8) and device_x.dtype == "f32" and len(device_x) == 8
    saxpy.launch(device_y[2:4], device_x[1:3], 3.0, 16, grid=1, block=16)
    want = np.zeros((8, 8), np.float32)
    want[2:4] = 3 * x[1:3]
    assert (device_y.numpy() == want).all()
    assert (np.asarray(device_y[3]) == want[3]).all()
    assert device_y.reshape((64,)).shape == (64,)
    with pytest.raises(baton_package.ArgumentError, match="63 elements"):
        device_y.reshape(63)


def test_overlapping_host_arrays_share_memory(module):
    values = np.arange(10, dtype=np.int32)
    module["shift"][1, 1](values[:1], values[9:], 1)
    assert values[9] == 1
    module["shift"][1, 4](values[0:5], values[5:9], 4)
    assert (values[5:9] == [1, 2, 3, 4]).all()


def test_plan_patches(baton, saxpy):
    x = baton.array(np.ones(32, np.float32))
    y = baton.zeros(32, "f32")
    plan = saxpy.plan(y, x, 2.0, 32, grid=1, block=32)
    plan()
    plan[2] = 0.5
    plan[3] = 16
    plan()
    assert (y.numpy() == [2.5] * 16 + [2.0] * 16).all()
    assert plan[2] == 0.5 and len(plan) == 4
    other = baton.zeros(32, "f32")
    plan[0] = other
    plan.grid = (1, 1, 1)
    plan()
    assert (other.numpy()[:16] == 0.5).all()
    with pytest.raises(IndexError):
        plan[4] = 1
    with pytest.raises(baton_package.ArgumentError, match="argument 3"):
        plan[3] = 1.5
    assert plan[3] == 16, "a refused value changes nothing"


def test_a_plan_of_host_arrays(module):
    out = np.zeros(4, np.int32)
    plan = module["fill"].plan(out, 7, 4, grid=1, block=4)
    plan()
    assert (out == 7).all()
    plan[1] = 8
    plan()
    assert (out == 8).all()


def test_struct_by_value(module):
    class Pair(ctypes.Structure):
        _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_float)]
    out = np.zeros(1, np.float32)
    module["take_pair"][1, 1](out, Pair(3, 0.5))
    assert out[0] == 3.5
    module["take_pair"][1, 1](out, struct.pack("<if", 4, 0.25))
    assert out[0] == 4.25
    with pytest.raises(baton_package.ArgumentError, match="has 4 bytes, the parameter 8"):
        module["take_pair"][1, 1](out, b"1234")


def test_numpy_scalars(module):
    out = np.zeros(4, np.int32)
    module["fill"][1, 4](out, np.int64(5), np.uint8(4))
    assert (out == 5).all()


EXTERN_C = 'extern "C" __global__ void twice(float* y, const float* x) { y[threadIdx.x] = 2 * x[threadIdx.x]; }'


def test_types_of_extern_c_kernels_are_known(baton):
    """The symbol of such a kernel has no types. One more compile tells them, unless it is not wanted."""
    x, y = np.ones(8), np.zeros(8)
    unchecked = baton.compile(text=EXTERN_C, param_names=False)
    unchecked["twice"][1, 4](y, x)  # nothing tells that float64 is wrong
    for asked in (None, True):
        module = baton.compile(text=EXTERN_C, param_names=asked)
        twice = module["twice"]
        assert [(p.type, p.name, p.dtype, p.read_only) for p in twice.params] == [
            ("float*", "y", "f32", False), ("float const*", "x", "f32", True)]
        with pytest.raises(baton_package.ArgumentError, match=r"argument 0 is an array of f64 \[8\].*float\* y"):
            twice[1, 4](y, x)
        own = np.zeros(8, np.float32)
        twice[1, 8](own, np.ones(8, np.float32))
        assert (own == 2).all()
        assert module.image == unchecked.image  # the code is the same


def test_only_a_name_without_types_costs_a_compile(baton):
    """Names of parameters show whether debug information was read."""
    mangled = EXTERN_C.replace('extern "C"', "")
    assert [p.name for p in baton.compile(text=mangled)["twice"].params] == ["", ""]
    assert [p.name for p in baton.compile(text=mangled, param_names=True)["twice"].params] == ["y", "x"]
    numbers = 'extern "C" __global__ void none() {}'
    assert baton.compile(text=numbers)["none"].params == ()


def test_a_source_without_debug_information_compiles(baton):
    """Where it does not compile for debuggers, nothing is checked."""
    source = "#ifdef __CUDACC_DEBUG__\n#error no\n#endif\n" + EXTERN_C
    baton.compile(text=source)["twice"][1, 4](np.zeros(8), np.ones(8))


F32 = np.zeros(8, np.float32)
WRONG = [
    ("too few", (F32, F32, 1.0), "takes 4 arguments .*, 3 were given"),
    ("too many", (F32, F32, 1.0, 8, 8), "takes 4 arguments .*, 5 were given"),
    ("another dtype", (F32.astype(np.float64), F32, 1.0, 8), r"argument 0 is an array of f64 \[8\]"),
    ("strided", (np.zeros(16, np.float32)[::2], F32, 1.0, 8), "argument 0 is not contiguous"),
    ("a float for an int", (F32, F32, 1.0, 8.0), "argument 3 is the float 8, for an integer"),
    ("an int out of range", (F32, F32, 1.0, 2**31), "argument 3 is 2147483648, which i32"),
    ("a huge int", (F32, F32, 1.0, 2**70), "64 bits do not hold"),
    ("an int for a pointer", (4096, F32, 1.0, 8), "argument 0 is the int 4096, for a pointer"),
    ("a str", ("y", F32, 1.0, 8), "argument 0 is a str, which is not an array"),
    ("an int that f32 lacks", (F32, F32, 2**24 + 1, 8), "f32 does not hold exactly"),
    ("too large for f32", (F32, F32, 1e300, 8), "beyond the range of f32"),
    ("an array for a number", (F32, F32, 1.0, F32), "argument 3 is an? ndarray, for a number"),
    ("complex", (np.zeros(8, np.complex64), F32, 1.0, 8), "complex|Zf"),
]


@pytest.mark.parametrize("values, message", [w[1:] for w in WRONG], ids=[w[0] for w in WRONG])
def test_wrong_arguments(saxpy, values, message):
    with pytest.raises(TypeError, match=message) as caught:
        saxpy[1, 8](*values)
    assert isinstance(caught.value, baton_package.ArgumentError)
    assert caught.value.code == "invalid_input"


def test_read_only_arrays(saxpy):
    fixed = np.ones(8, np.float32)
    fixed.flags.writeable = False
    y = np.zeros(8, np.float32)
    saxpy[1, 8](y, fixed, 2.0, 8)
    assert (y == 2).all()
    with pytest.raises(baton_package.ArgumentError, match="argument 0 is read-only"):
        saxpy[1, 8](fixed, y, 2.0, 8)


def test_an_empty_array_is_legal(module):
    module["fill"][1, 4](np.zeros(0, np.int32), 7, 0)


def test_none_is_a_null_pointer(module):
    module["fill"][1, 4](None, 7, 0)


def test_unknown_names(baton, module, saxpy):
    with pytest.raises(baton_package.NotFoundError, match='no kernel "fil".*did you mean "fill"'):
        module["fil"]
    with pytest.raises(baton_package.ArgumentError, match='did you mean "cluster"'):
        saxpy.launch(F32, F32, 1.0, 8, grid=1, block=8, clustr=2)
    with pytest.raises(baton_package.NotFoundError):
        baton.load("/no/such/file.cubin")
    with pytest.raises(baton_package.Error, match='did you mean "sim"'):
        baton.device("simm")


def test_limits(saxpy):
    with pytest.raises(ValueError, match="2048") as caught:
        saxpy[1, 2048](F32, F32, 1.0, 8)
    assert isinstance(caught.value, baton_package.LimitError)
    with pytest.raises(baton_package.LimitError):
        saxpy[-1, 8](F32, F32, 1.0, 8)
    with pytest.raises(baton_package.ArgumentError, match="1 to 3"):
        saxpy[(1, 1, 1, 1), 8](F32, F32, 1.0, 8)


def test_pdl_needs_a_wait(saxpy):
    with pytest.raises(baton_package.ArgumentError, match="never does"):
        saxpy.launch(F32, F32, 1.0, 8, grid=1, block=8, pdl=True)
    with pytest.raises(baton_package.ArgumentError, match="pdl=on is neither"):
        saxpy.launch(F32, F32, 1.0, 8, grid=1, block=8, pdl="on")
    y = np.ones(8, "f4")
    saxpy.launch(y, np.ones(8, "f4"), 1.0, 8, grid=1, block=8, pdl="force")
    assert list(y) == [2.0] * 8


def test_compile_errors_have_the_compilers_messages(baton):
    with pytest.raises(baton_package.CompileError) as caught:
        baton.compile(text="__global__ void k(int* p) { *p = q; }", name="k.cu")
    assert caught.value.where == "k.cu:1:34"
    assert any("identifier \"q\" is undefined" in note for note in caught.value.notes)
    with pytest.raises(baton_package.Error, match="text="):
        baton.compile()


def test_attributes_by_name(module):
    out = np.zeros(8, np.int32)
    module["fill"].launch(out, 3, 8, grid=2, block=4, cluster=2, priority=0)
    assert (out == 3).all()
    with pytest.raises(baton_package.Error):
        module["fill"].launch(out, 3, 8, grid=2, block=4, priority="high")


def test_variables(baton):
    module = baton.compile(text="__device__ int table[4];\n"
                                "__global__ void read(int* out) { *out = table[2]; }")
    table = module.variable("table")
    assert table.nbytes == 16
    table.copy_from(np.arange(4, dtype=np.int32).view(np.uint8))
    out = np.zeros(1, np.int32)
    module["read"][1, 1](out)
    assert out[0] == 2


def test_bf16_as_raw_elements(baton):
    module = baton.compile(text="#include <cuda_bf16.h>\n"
                                "__global__ void twice(__nv_bfloat16* x) {\n"
                                "  x[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x]; }")
    raw = (np.arange(8, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)
    values = raw.copy().view("V2")
    module["twice"][1, 8](values)
    got = (values.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    assert (got == 2 * np.arange(8)).all()


@pytest.mark.parametrize("type_, raw, torch", [("__nv_bfloat16", "V2", "bfloat16"),
                                              ("__nv_fp8_e4m3", "V1", "float8_e4m3fn"),
                                              ("__nv_fp8_e5m2", "V1", "float8_e5m2")])
def test_integers_for_a_type_that_numpy_lacks(baton, type_, raw, torch):
    module = baton.compile(text="#include <cuda_bf16.h>\n#include <cuda_fp8.h>\n"
                                f"__global__ void keep({type_}* x) {{ x[threadIdx.x] = x[threadIdx.x]; }}")
    bits = np.arange(8, dtype=f"u{raw[1]}")
    with pytest.raises(TypeError) as caught:
        module["keep"][1, 8](bits)
    hint = re.search(r'pass (x\.view\("V\d"\)) of a NumPy array, or x\.view\(torch\.(\w+)\)', str(caught.value))
    assert hint[2] == torch
    module["keep"][1, 8](eval(hint[1], {"x": bits}))  # the hint is executed
    with pytest.raises(TypeError, match=r"f32 \[8\]; the parameter is \w+\*$"):
        module["keep"][1, 8](np.zeros(8, np.float32))


def test_other_buffers(module):
    out = bytearray(16)
    module["fill"][1, 4](memoryview(out).cast("i"), 9, 4)
    assert struct.unpack("<4i", out) == (9, 9, 9, 9)


def test_arrays_of_another_device(baton, saxpy):
    tiny = baton.Device("sim:tiny")
    y = tiny.empty(8, "f32")
    with pytest.raises(baton_package.ArgumentError, match="memory of sim:tiny"):
        saxpy[1, 8](y, F32, 1.0, 8)


def test_loaded_ptx(baton):
    ptx = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 out, .param .u32 value) {
  .reg .u64 %rd<2>; .reg .u32 %r<2>;
  ld.param.u64 %rd1, [out];
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
"""
    module = baton.load(ptx.encode(), name="store.ptx")
    assert list(module) == ["store"] and len(module) == 1
    out = np.zeros(1, np.uint32)
    module.kernel()[1, 1](out, -1)
    assert out[0] == 0xFFFFFFFF
    with pytest.raises(baton_package.Error, match="not an image|no image|is not"):
        baton.load(b"hello")


def test_keeps_what_it_needs(baton):
    """Objects may go in any order: a kernel keeps its module, an array its memory."""
    import gc
    kernel = baton.compile(text=SAXPY)["fill"]
    device_out = baton.zeros(4, "i32")
    part = device_out[1:3]
    del device_out
    gc.collect()
    kernel[1, 2](part, 4, 2)
    assert (part.numpy() == 4).all()
