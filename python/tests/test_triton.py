"""Kernels of Triton: from its cache without Triton, and Triton's own programs on the simulated GPU."""

import pathlib

import numpy as np
import pytest

import baton as baton_package
import baton.triton

DATA = pathlib.Path(__file__).parent / "testdata" / "triton"


def test_a_kernel_of_the_cache(baton):
    kernel = baton_package.triton.load(DATA, baton.target)
    assert kernel.name == "scale_rows" and kernel.block == 128
    x = np.random.default_rng(0).random((5, 100), np.float32)
    out = np.zeros_like(x)
    kernel[5](x, out, 100, 100, 2.5)
    assert np.allclose(out, 2.5 * x)
    kernel.launch(x, out, 100, 100, 3.0, grid=(2, 1))
    assert np.allclose(out[:2], 3 * x[:2]) and np.allclose(out[2:], 2.5 * x[2:])
    kernel[0](x, out, 100, 100, 1.0)


def test_all_kernels_of_a_folder(baton):
    kernels = baton_package.triton.load_all(DATA.parent, baton.target)
    assert list(kernels) == ["scale_rows"]


def test_wrong_arguments(baton):
    kernel = baton_package.triton.load(DATA / "scale_rows.json", baton.target)
    x = np.zeros(128, np.float32)
    with pytest.raises(baton_package.ArgumentError, match="takes 5 arguments.*4 were given"):
        kernel[1](x, x, 128, 128)
    with pytest.raises(baton_package.ArgumentError, match="argument 0"):
        kernel[1](3, x, 128, 128, 1.0)
    with pytest.raises(baton_package.ArgumentError, match="argument 2"):
        kernel[1](x, x, 2**40, 128, 1.0)


@pytest.mark.parametrize("grid", [np.int64(5), [np.int32(5), 1], (5,), np.array([5, 1, 1])])
def test_grids(baton, grid):
    kernel = baton_package.triton.load(DATA, baton.target)
    x = np.ones((5, 100), np.float32)
    out = np.zeros_like(x)
    kernel[grid](x, out, 100, 100, 2.0)
    assert (out == 2).all()


@pytest.mark.parametrize("grid, message", [((1, 1, 1, 2), "has 4 extents, it takes 1 to 3"), ((), "has 0 extents"),
                                           (1.5, "the grid 1.5 is neither an int"), (("a",), "neither an int"),
                                           (lambda meta: (1,), "neither an int")])
def test_wrong_grids(baton, grid, message):
    kernel = baton_package.triton.load(DATA, baton.target)
    x = np.ones(128, np.float32)
    with pytest.raises(baton_package.ArgumentError, match=f"kernel scale_rows: .*{message}"):
        kernel[grid](x, x, 128, 128, 1.0)


def test_capture_keeps_all_kernels_of_one_name(baton, monkeypatch):
    """Triton calls the hook for each kernel that it loads, with the files of its cache."""
    import sys
    import types
    hooks = []
    hook = types.SimpleNamespace(add=hooks.append, remove=hooks.remove)
    knobs = types.SimpleNamespace(runtime=types.SimpleNamespace(kernel_load_end_hook=hook))
    monkeypatch.setitem(sys.modules, "triton", types.SimpleNamespace(knobs=knobs))
    loaded = []
    monkeypatch.setattr(baton_package.triton, "load", lambda path, device: loaded.append(path) or path)
    with baton_package.triton.capture(baton.target) as kernels:
        for folder in ("A", "A", "B", "C"):
            hooks[0](None, None, "add", {"add.json": f"/cache/{folder}/add.json", "__grp__add.json": "x"}, "")
        hooks[0](None, None, "mul", {"mul.json": "/cache/D/mul.json"}, "")
    assert not hooks
    assert kernels == {name: f"/cache/{folder}/{file}.json" for name, folder, file in
                       [("add@A", "A", "add"), ("add@B", "B", "add"), ("add@C", "C", "add"), ("mul", "D", "mul")]}


def test_missing_files(baton, tmp_path):
    with pytest.raises(baton_package.NotFoundError):
        baton_package.triton.load(tmp_path / "no", baton.target)
    with pytest.raises(baton_package.NotFoundError, match="0 kernels"):
        baton_package.triton.load(tmp_path, baton.target)
    (tmp_path / "k.json").write_text('{"name": "k", "target": {"backend": "hip"}}')
    with pytest.raises(baton_package.Error, match="backend hip"):
        baton_package.triton.load(tmp_path, baton.target)
    (tmp_path / "k.json").write_text('{"name": "k", "target": {"backend": "cuda"}}')
    with pytest.raises(baton_package.NotFoundError, match="k.ptx is missing"):
        baton_package.triton.load(tmp_path, baton.target)
    (tmp_path / "k.ptx").write_bytes((DATA / "scale_rows.ptx").read_bytes())
    for text, message in (('{"name"', "k.json is no JSON"), ("[]", "not what Triton writes"),
                          ('{"name": "k", "target": {"backend": "cuda"}}', "it has no num_warps")):
        (tmp_path / "k.json").write_text(text)
        with pytest.raises(baton_package.Error, match=message):
            baton_package.triton.load(tmp_path, baton.target)


@pytest.fixture
def kernels():
    pytest.importorskip("triton", reason="Triton is not installed")
    pytest.importorskip("torch", reason="torch, which Triton's launches need, is not installed")
    import triton_kernels
    return triton_kernels


def test_triton_programs_run(kernels, monkeypatch, tmp_path):
    import torch
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    x = torch.randn(17, 300)
    out = torch.empty_like(x)
    with baton_package.triton.on("sim:h200"), baton_package.triton.capture("sim:h200") as captured:
        kernels.softmax[(17,)](out, x, x.stride(0), 300, BLOCK=512)
        assert torch.allclose(out, torch.softmax(x, 1), atol=1e-6)
        total = torch.empty(1000)
        parts = (torch.ones(1000), torch.full((1000,), 2.0))
        kernels.add_twice[(8,)](torch.zeros(1000), parts, total, 1000, BLOCK=128)
        assert (total == 3).all()
        counts = torch.zeros(16, dtype=torch.int32)
        values = torch.randint(0, 16, (2000,), dtype=torch.int32)
        kernels.histogram[(4,)](values, counts, 2000, BLOCK=512)
        assert torch.equal(counts, torch.bincount(values, minlength=16).int())
    assert sorted(captured) == ["add_twice", "histogram", "softmax"]
    out.zero_()
    captured["softmax"][17](out, x, 300, 300)
    assert torch.allclose(out, torch.softmax(x, 1), atol=1e-6)


def test_triton_keeps_loaded_kernels_by_device(kernels):
    """Triton's own driver keeps what it loaded under the device's number."""
    from triton.runtime import driver
    keys = set()
    for spec in ("sim:h200", "sim:h100"):
        with baton_package.triton.on(spec):
            keys.add(driver.active.get_current_device())
    assert len(keys) == 2 and not any(isinstance(key, int) for key in keys)


def test_findings_have_triton_lines(kernels, monkeypatch, tmp_path):
    import torch
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    x = torch.ones(100)
    with pytest.raises(baton_package.FaultError) as caught:
        with baton_package.triton.on("sim:h200"):
            kernels.scale_rows[(2,)](x, torch.empty(128), 100, 100, 2.0, BLOCK=128)
    assert "triton_kernels.py:" in caught.value.where


def test_a_compiled_kernel(baton, kernels, monkeypatch, tmp_path):
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    source = ASTSource(fn=kernels.scale_rows, constexprs={"BLOCK": 128}, signature={
        "x_ptr": "*fp32", "out_ptr": "*fp32", "stride": "i32", "n": "i32", "factor": "fp32",
        "BLOCK": "constexpr"})
    kernel = baton_package.triton.load(triton.compile(source, target=GPUTarget("cuda", 90, 32)),
                                       baton.target)
    assert kernel.signature == ("*fp32", "*fp32", "i32", "i32", "fp32")
    out = np.zeros(128, np.float32)
    kernel[1](np.ones(128, np.float32), out, 128, 128, 2.0)
    assert (out == 2).all()


def test_a_dot_is_right(kernels, monkeypatch, tmp_path):
    """Triton uses wgmma for 64-wide tiles on sm_90; smaller ones are mma.sync."""
    import torch
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    a, b = torch.randn(32, 64).half(), torch.randn(64, 32).half()
    c = torch.empty(32, 32)
    with baton_package.triton.on("sim:h200"):
        kernels.dot[(1,)](a, b, c, 64, BLOCK=32)
    assert torch.allclose(c, a.float() @ b.float(), atol=1e-2)
