"""Kernels of Warp, from what it compiles ahead of time."""

import pathlib
import struct

import numpy as np
import pytest

import baton as package
import baton.warp

DATA = pathlib.Path(__file__).parent / "testdata" / "warp"


@pytest.fixture
def kernels(baton):
    return package.warp.load(DATA, baton.target)


def test_launches(kernels):
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, np.float32)
    kernels["saxpy"][1000](x, y, 2.0)
    assert np.array_equal(y, 2 * x + 1)
    kernels["saxpy"].launch(x, y, 1, dim=500, block_dim=64)
    assert np.array_equal(y[:500], 3 * x[:500] + 1) and np.array_equal(y[500:], 2 * x[500:] + 1)
    kernels["saxpy"][0](x, y, 1.0)


def test_vectors_and_structs(kernels):
    x = np.zeros((5, 7, 3), np.float32)
    kernels["shift"].launch(x, struct.pack("<3fi", 1, 2, 3, 4), dim=(5, 7))
    assert (x == np.array([4, 8, 12])).all()
    kernels["shift"].launch(x, struct.pack("<3fi", 1, 1, 1, 1), dim=5)     # as Warp: (5, 1)
    assert (x[:, 0] == np.array([5, 9, 13])).all() and (x[:, 1:] == np.array([4, 8, 12])).all()


def test_backward(kernels):
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    adj_x, adj_y = np.zeros(100, np.float32), np.ones(100, np.float32)
    kernels["saxpy"].backward(x, y, 2.0, adj_x, adj_y, 0.0, dim=100)
    assert (adj_x == 2).all()


def test_arrays_of_the_device(baton, kernels):
    x = package.array(np.arange(64, dtype=np.float32), baton.target)
    y = package.zeros(64, "f32", baton.target)
    kernels["saxpy"][64](x, y, 3.0)
    assert np.array_equal(y.numpy(), 3 * np.arange(64))


def test_wrong_arguments(kernels):
    x = np.zeros(64, np.float32)
    for launch, message in (
            (lambda: kernels["saxpy"][64](x, x.copy()), "takes 3 arguments .*2 were given"),
            (lambda: kernels["saxpy"][64](x.astype(np.float64), x, 1.0), "argument 0 is an array of f64"),
            (lambda: kernels["saxpy"][8, 8](x, x.copy(), 1.0), "has 1 indices, dim is"),
            (lambda: kernels["saxpy"][-1](x, x.copy(), 1.0), "dim is -1"),
            (lambda: kernels["saxpy"].backward(x, x.copy(), 1.0, dim=64), "arguments and adjoints"),
            (lambda: kernels["shift"].launch(np.zeros((5, 7), np.float32), b"\0" * 16, dim=(5, 7)),
             r"last extents have to be \[3\]"),
            (lambda: kernels["shift"].launch(np.zeros((5, 7, 3), np.float32), b"\0" * 15, dim=(5, 7)),
             "argument 2")):
        with pytest.raises(package.ArgumentError, match=message):
            launch()


def test_missing_files(baton, tmp_path):
    with pytest.raises(package.NotFoundError, match="no file or folder"):
        package.warp.load(tmp_path / "no", baton.target)
    with pytest.raises(package.NotFoundError, match="use_ptx=True"):
        package.warp.load(tmp_path, baton.target)
    (tmp_path / "wp_x.sm90.ptx").write_bytes((DATA / "wp_warp_kernels.sm90.ptx").read_bytes())
    with pytest.raises(package.NotFoundError, match="wp_x.cu is missing"):
        package.warp.load(tmp_path, baton.target)
    (tmp_path / "wp_x.cu").write_text("")
    (tmp_path / "wp_x.meta").write_text("{}")
    with pytest.raises(package.Error, match="has no kernel shift_cuda_kernel_forward"):
        package.warp.load(tmp_path, baton.target)


def test_a_capture_with_structs(baton, kernels):
    """The addresses inside of Warp's arrays become buffers of the program."""
    def step(x, y, n):
        kernels["saxpy"][n](x, y, 2.0)
        kernels["saxpy"][n](y, x, 1.0)

    def example(n):
        return np.ones(n, np.float32), np.ones(n, np.float32), n
    program = package.capture(step, example(64), example(1000), device=baton.target)
    edge, = package.check(program, device=baton.target, rewrite="auto").edges
    assert edge.verdict == "proven"
    out = program.bind(device=baton.target)(x=np.full(500, 2, np.float32), y=np.ones(500, np.float32))
    assert (out["y"] == 5).all() and (out["x"] == 7).all()


def test_what_the_installed_warp_writes(baton, tmp_path, monkeypatch):
    warp = pytest.importorskip("warp", reason="Warp is not installed")
    monkeypatch.setattr(warp.config, "kernel_cache_dir", str(tmp_path / "cache"))
    import warp_kernels
    try:
        warp.compile_aot_module(warp_kernels, arch=90, module_dir=str(tmp_path / "aot"), use_ptx=True)
    except RuntimeError as failure:
        pytest.skip(f"this Warp compiles nothing here: {failure}")
    kernels = package.warp.load(tmp_path / "aot", baton.target)
    x, y = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    kernels["saxpy"][100](x, y, 2.0)
    assert np.array_equal(y, 2 * x)
