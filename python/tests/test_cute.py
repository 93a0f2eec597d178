"""Kernels of CuTe DSL, from the PTX that it keeps."""

import pathlib

import numpy as np
import pytest

import baton as package
import baton.cute

DATA = pathlib.Path(__file__).parent / "testdata" / "cute"


@pytest.fixture
def add(baton):
    kernel, = package.cute.load(DATA / "add.ptx", baton.target).values()
    assert kernel.name == "add_kernel"
    return kernel


@pytest.fixture
def scale(baton):
    return package.cute.load(DATA / "scale.ptx", baton.target)["scale_kernel"]


def test_dynamic_vectors(add):
    a, b, c = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32), np.zeros(1000, np.float32)
    add.launch(a, b, c, 1000, grid=8)
    assert np.array_equal(c, a + 1)
    add.launch(package.cute.Tensor(a, (1000,)), b, c, 10, grid=1)


def test_dynamic_and_static_layouts(scale):
    a, b = np.arange(32, dtype=np.float32).reshape(4, 8), np.zeros((4, 8), np.float32)
    scale.launch(a, b, 2.0, grid=4)
    assert np.array_equal(b, 2 * a)
    wide = np.arange(64, dtype=np.float32)     # rows of 8 in a row of 16
    scale.launch(package.cute.Tensor(wide, (4, 8), (16,)), b, 1.0, grid=4)
    assert np.array_equal(b, wide.reshape(4, 16)[:, :8])


def test_arrays_of_the_device(baton, add):
    a, b, c = (package.array(np.full(128, value, np.float32), baton.target) for value in (1, 2, 0))
    add.launch(a, b, c, 128, grid=1)
    assert (c.numpy() == 3).all()


def test_wrong_arguments(add, scale):
    x = np.zeros(128, np.float32)
    with pytest.raises(package.ArgumentError, match="takes 4 arguments, 3 were given"):
        add.launch(x, x, 128, grid=1)
    with pytest.raises(package.ArgumentError, match="argument 0 makes 32 bytes .*the parameter has 16"):
        add.launch(package.cute.Tensor(x, (128,), (1, 1)), x, x, 128, grid=1)
    with pytest.raises(package.ArgumentError, match="argument 0 makes 16 bytes .*the parameter has 24"):
        scale.launch(x, np.zeros((4, 8), np.float32), 1.0, grid=4)


def test_other_images(baton):
    with pytest.raises(package.Error, match="no kernel of CuTe DSL .*scale_rows"):
        package.cute.load(DATA.parent / "triton" / "scale_rows.ptx", baton.target)
    with pytest.raises(package.NotFoundError, match="--keep-ptx"):
        package.cute.load(object(), baton.target)


def test_a_capture(baton, add):
    def step(a, b, c):
        n = a.size
        add.launch(a, b, c, n, grid=package.ceildiv(n, 128))
        add.launch(c, b, a, n, grid=package.ceildiv(n, 128))

    def example(n):
        return tuple(np.full(n, value, np.float32) for value in (1, 2, 0))
    program = package.capture(step, example(100), example(1000), device=baton.target)
    assert package.check(program, device=baton.target, rewrite="auto").edges[0].verdict == "proven"
    out = program.bind(device=baton.target)(**dict(zip("abc", example(500))))
    assert (out["a"] == 5).all() and (out["c"] == 3).all()


def test_what_the_installed_version_keeps(baton, monkeypatch, tmp_path):
    monkeypatch.setenv("CUTE_DSL_ARCH", "sm_90a")     # read when it is imported
    pytest.importorskip("cutlass.cute", reason="CuTe DSL is not installed")
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.chdir(tmp_path)
    import cute_kernels
    kernels = package.cute.load(cute_kernels.compile_add(), baton.target)
    a, b, c = np.arange(200, dtype=np.float32), np.ones(200, np.float32), np.zeros(200, np.float32)
    kernels["add_kernel"].launch(a, b, c, 200, grid=2)
    assert np.array_equal(c, a + 1)


def test_a_matmul_by_warpgroups(baton, monkeypatch, tmp_path):
    """The tiled MMA is an argument, too: one byte, whether it accumulates."""
    monkeypatch.setenv("CUTE_DSL_ARCH", "sm_90a")
    pytest.importorskip("cutlass.cute", reason="CuTe DSL is not installed")
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.chdir(tmp_path)
    import cute_kernels
    compiled = cute_kernels.compile_matmul(128, 192, 128)
    assert "wgmma.mma_async" in compiled.artifacts.PTX
    kernel = package.cute.load(compiled, baton.target)["matmul_kernel"]
    random = np.random.default_rng(0)
    a = random.standard_normal((128, 128), np.float32).astype(np.float16)
    b = random.standard_normal((192, 128), np.float32).astype(np.float16)
    c = np.zeros((128, 192), np.float16)
    kernel.launch(bytes(1), a, b, c, grid=(2, 3), shared=2 * 64 * 64 * 2)
    want = a.astype(np.float32) @ b.astype(np.float32).T
    assert np.allclose(c.astype(np.float32), want, rtol=2e-3, atol=2e-3)
