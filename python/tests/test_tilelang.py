"""Functions of TileLang on the simulated GPU, compared with NumPy."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import baton as package

pytest.importorskip("tilelang", reason="TileLang is not installed")

import baton.tilelang  # noqa: E402
import tilelang_kernels as kernels  # noqa: E402


def random(*shape):
    return np.random.default_rng(len(shape)).standard_normal(shape, np.float32).astype(np.float16)


def near(got, want, tolerance):
    return np.allclose(got.astype(np.float32), want, rtol=tolerance, atol=tolerance)


def test_gemm():
    gemm = package.tilelang.compile(kernels.gemm(128, 192, 128, 64, 64, 64), "sim:h200")
    assert "wgmma" in gemm.source and "tma_load" in gemm.source
    assert gemm.grid == (3, 2, 1) and gemm.shared > 0
    a, b = random(128, 128), random(128, 192)
    c = np.zeros((128, 192), np.float16)
    with package.on("sim:h200", schedule="reverse"):
        gemm(a, b, c)
    assert near(c, a.astype(np.float32) @ b.astype(np.float32), 2e-2)


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    length, heads, dim = 128, 2, 64
    attention = package.tilelang.compile(
        kernels.attention(1, heads, length, dim, 64, 64, causal), "sim:h200")
    assert "wgmma" in attention.source
    q, k, v = (random(1, length, heads, dim) * np.float16(each) for each in (1, 0.5, 0.25))
    out = np.zeros_like(q)
    attention(q, k, v, out)
    for head in range(heads):
        scores = q[0, :, head].astype(np.float32) @ k[0, :, head].astype(np.float32).T / dim**0.5
        if causal:
            scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        want = weights / weights.sum(axis=1, keepdims=True) @ v[0, :, head].astype(np.float32)
        assert near(out[0, :, head], want, 5e-3)


def test_arrays_of_the_device():
    gemm = package.tilelang.compile(kernels.gemm(64, 64, 64, 64, 64, 64), "sim:h200")
    a, b = random(64, 64), random(64, 64)
    c = package.zeros((64, 64), "f16", "sim:h200")
    gemm(package.array(a, "sim:h200"), package.array(b, "sim:h200"), c)
    assert near(c.numpy(), a.astype(np.float32) @ b.astype(np.float32), 2e-2)


EXPORT = """
import sys
sys.path.insert(0, sys.argv[1])
import tilelang_kernels
from tilelang import tvm
from tilelang.engine.lower import lower
target = tvm.target.Target({"kind": "cuda", "arch": "sm_90a"})
with target:
    made = lower(tilelang_kernels.gemm(64, 128, 128, 64, 64, 64), target=target,
                 enable_host_codegen=True, enable_device_compile=True)
made.rt_mod.export_library("gemm.so")
"""


def test_an_exported_library_from_the_command_line(tmp_path):
    """TileLang compiles with nvcc; that of `baton toolkit` keeps the PTX."""
    tool = os.environ.get("BATON")
    if tool is None:
        pytest.skip("BATON does not name the command line")
    made = subprocess.run([tool, "toolkit", tmp_path / "toolkit"], capture_output=True, text=True)
    if made.returncode != 0 or not (tmp_path / "toolkit" / "bin" / "nvcc").exists():
        pytest.skip(f"there is no toolkit with nvcc: {made.stderr}")
    environment = {**os.environ, "CUDA_HOME": str(tmp_path / "toolkit"),
                   "TILELANG_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", EXPORT, pathlib.Path(__file__).parent], cwd=tmp_path,
                   env=environment, check=True)
    a, b = random(64, 128), random(128, 128)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    arguments = ["p0=a.npy", "p0.box=64,64", "p0.swizzle=128b", "p1=b.npy", "p1.box=64,64",
                 "p1.swizzle=128b", "p2=f16[64,128]", "grid.x=2", "grid.y=1", "block.x=256", "block.y=1",
                 "block.z=1", "dynamic_smem_bytes=32768"]
    done = subprocess.run(
        [tool, "run", "gemm.so", "--function", "main_kernel", "--device", "sim:h200", "--output",
         "p2=c.npy", *(word for argument in arguments for word in ("--arg", argument))],
        cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert near(np.load(tmp_path / "c.npy"), a.astype(np.float32) @ b.astype(np.float32), 2e-2)


def test_a_capture(tmp_path):
    """Tensor maps become those of buffers, and the program needs no TileLang."""
    gemm = package.tilelang.compile(kernels.gemm(64, 64, 64, 64, 64, 64), "sim:h200")

    def step(a, b, h, c):
        gemm(a, b, h)
        gemm(h, b, c)
    zeros = np.zeros((64, 64), np.float16)
    a, b = random(64, 64) * np.float16(0.1), random(64, 64) * np.float16(0.1)
    program = package.capture(step, (a, b, zeros, zeros.copy()), device="sim:h200")
    assert program.holes == () and "tensor_map" in program.text
    package.bundle(program, tmp_path / "gemm.baton")
    bound = package.Program(tmp_path / "gemm.baton").bind(device="sim:h200")
    out = bound(a=b, b=a, h=zeros, c=zeros)["c"]
    h = (b.astype(np.float32) @ a.astype(np.float32)).astype(np.float16)
    assert near(out, h.astype(np.float32) @ a.astype(np.float32), 1e-2)


def test_wrong_arguments():
    gemm = package.tilelang.compile(kernels.gemm(64, 64, 64, 64, 64, 64), "sim:h200")
    a, c = random(64, 64), np.zeros((64, 64), np.float16)
    with pytest.raises(package.ArgumentError, match=r"takes 3 arguments \(A, B, C\), 2 were given"):
        gemm(a, c)
    with pytest.raises(package.ArgumentError, match=r"B is an array of f32 \[64, 64\]; .* f16"):
        gemm(a, a.astype(np.float32), c)
    with pytest.raises(package.ArgumentError, match=r"B is an array of f16 \[32, 64\]"):
        gemm(a, a[:32], c)
    with pytest.raises(package.ArgumentError, match="A is a int; give an array of float16"):
        gemm(3, a, c)
    with pytest.raises(package.ArgumentError, match="C is not contiguous"):
        gemm(a, a, np.zeros((64, 128), np.float16)[:, ::2])


def test_symbolic_shapes_are_refused():
    import tilelang.language as T
    rows = T.dynamic("rows") if hasattr(T, "dynamic") else T.symbolic("rows")

    @T.prim_func
    def copy(A: T.Tensor((rows, 64), "float32"), B: T.Tensor((rows, 64), "float32")):
        with T.Kernel(rows, threads=64) as row:
            for i in T.Parallel(64):
                B[row, i] = A[row, i]

    with pytest.raises(package.UnsupportedError, match="an extent of A is rows"):
        package.tilelang.compile(copy, "sim:h200")
