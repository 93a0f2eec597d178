"""Functions of tvm-ffi under jax.jit, on the CPU."""

import numpy as np
import pytest

import baton.tvm_ffi

from test_tvm_ffi import PROGRAM, simulated, write_bundle  # noqa: F401

jax = pytest.importorskip("jax", reason="JAX is not installed")
jax_tvm_ffi = pytest.importorskip("jax_tvm_ffi", reason="jax-tvm-ffi is not installed")


@pytest.fixture(scope="module")
def six(tmp_path_factory):
    module = baton.tvm_ffi.load(write_bundle(tmp_path_factory.mktemp("jax"), PROGRAM, "six.baton"))
    jax_tvm_ffi.register_ffi_target("six.main", module.main, arg_spec=["args", "rets"], platform="cpu")
    jax_tvm_ffi.register_ffi_target("six.scale", module["scale"], platform="cpu",
                                    arg_spec=["rets", "args", "attrs.a", "attrs.n", "attrs.grid", "attrs.block"])
    return module


def like(x):
    return jax.ShapeDtypeStruct(x.shape, x.dtype)


def test_a_program(six):
    call = jax.jit(lambda x: jax.ffi.ffi_call("six.main", like(x))(x) + 1)
    for n in (10, 33, 10):
        assert np.array_equal(call(jax.numpy.arange(n, dtype="float32")), 6 * np.arange(n, dtype="f4") + 1)


def test_a_kernel(six):
    x = jax.numpy.arange(10, dtype="float32")
    y = jax.ffi.ffi_call("six.scale", like(x))(x, a=2.5, n=10, grid=1, block=32)
    assert np.array_equal(y, np.float32(2.5) * np.arange(10, dtype="f4"))


def test_an_error(six):
    x = jax.numpy.arange(10, dtype="int32")
    with pytest.raises(Exception, match="has elements of i32, the buffer of f32"):
        jax.ffi.ffi_call("six.main", like(x))(x).block_until_ready()
