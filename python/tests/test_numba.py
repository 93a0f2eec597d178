"""Kernels of Numba, as its compiler gives them. Skips without numba-cuda."""

import numpy as np
import pytest

import baton as baton_package
import baton.numba

cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
numba = pytest.importorskip("numba")


def saxpy(y, x, a):
    i = cuda.grid(1)
    if i < y.size:
        y[i] = a * x[i] + y[i]


def transpose(out, x, unused):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[j, i] = x[i, j]


def compiled(function, *types):
    ptx, _ = cuda.compile(function, numba.void(*types), device=False, output="ptx", cc=(9, 0),
                          abi="numba")
    return ptx


def test_arrays(baton):
    vector = numba.float32[::1]
    kernel = baton_package.numba.load(compiled(saxpy, vector, vector, numba.float32), baton.target)
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    kernel[1, 128](y, x, 2.0)
    assert np.allclose(y, 2 * x + 1)
    device_y = baton.array(np.zeros(100, np.float32))
    kernel[1, 128](device_y, baton.array(x), 3.0)
    assert np.allclose(device_y.numpy(), 3 * x)


def test_two_dimensions_and_an_unused_number(baton):
    matrix = numba.int64[:, ::1]
    kernel = baton_package.numba.load(compiled(transpose, matrix, matrix, numba.int32), baton.target)
    x = np.arange(12).reshape(3, 4)
    out = np.zeros((4, 3), np.int64)
    kernel[1, (4, 4)](out, x, 7)
    assert (out == x.T).all()


def test_wrong_arguments(baton):
    vector = numba.float32[::1]
    kernel = baton_package.numba.load(compiled(saxpy, vector, vector, numba.float32), baton.target)
    y = np.zeros(8, np.float32)
    with pytest.raises(baton_package.ArgumentError, match="15 parameters, and the 2 arguments make 14"):
        kernel[1, 8](y, y)
    with pytest.raises(baton_package.ArgumentError, match="make 17"):
        kernel[1, 8](y.reshape(2, 4), y, 2.0)
    for config in (1, (1, 8, 0), "12"):
        with pytest.raises(baton_package.ArgumentError, match=r"launched as kernel\[grid, block\]"):
            kernel[config](y, y, 2.0)
