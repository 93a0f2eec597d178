"""Libraries with launch metadata: what Apache TVM exported, launched by it."""

import pathlib

import numpy as np
import pytest

import baton as baton_package

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests" / "golden" / "metadata"


@pytest.fixture
def functions(baton):
    return baton_package.load_library(DATA / "tvm_0_27_ptx.so", baton.target)


def test_functions(functions):
    assert sorted(functions) == ["map_kernel", "rows_kernel", "whole_kernel"]
    rows = functions["rows_kernel"]
    assert rows.launch_values == ("grid.x", "cluster.x", "block.x", "dynamic_smem_bytes")
    assert rows.flags == ("programmatic_stream_serialization",)
    assert [p.kind for p in rows.kernel.params] == ["pointer", "pointer", "scalar", "scalar"]


def test_packed_calls(functions):
    x = np.arange(512, dtype=np.float32)
    out = np.zeros_like(x)
    functions["rows_kernel"](out, x, 500, 2.0, 4, 2, 128, 512)
    assert (out[:500] == 2 * x[:500]).all() and (out[500:] == 0).all()
    cells = np.zeros(8, np.int64)
    functions["whole_kernel"](cells, 7, 4, 2, 1, 2, 1)
    assert (cells == 7 + np.arange(8)).all()
    bytes_out = np.zeros(128, np.uint8)
    functions["map_kernel"](bytes_out, bytes(range(128)), 1, 128)
    assert (bytes_out == np.arange(128)).all()


def test_wrong_calls(functions):
    x = np.zeros(512, np.float32)
    rows = functions["rows_kernel"]
    with pytest.raises(TypeError, match="takes 4 arguments and then 4 launch values.*7 values"):
        rows(x, x, 500, 2.0, 4, 2, 128)
    with pytest.raises(TypeError, match="launch value grid.x is a str"):
        rows(x, x, 500, 2.0, "4", 2, 128, 512)
    with pytest.raises(baton_package.Error, match="argument 2"):
        rows(x, x, 2**40, 2.0, 4, 2, 128, 512)
    with pytest.raises(baton_package.Error):
        rows(x, x, 500, 2.0, 4, 2, 4096, 512)
    with pytest.raises(baton_package.NotFoundError):
        baton_package.load_library(DATA / "no.so")
    with pytest.raises(baton_package.Error):
        baton_package.load_library(DATA / "kernels.cu")


def test_a_source_is_compiled_with_options(baton):
    library = DATA / "tvm_0_27_source.so"
    assert list(baton_package.load_library(library, baton.target, options=["--std=c++20"])) == [
        "scale_kernel"]
    with pytest.raises(baton_package.CompileError):
        baton_package.load_library(library, baton.target, options=["-Dfloat=3"])


def test_a_library_that_was_not_compiled(baton):
    """TileLang writes "ptx" in place of code with enable_device_compile=False."""
    text = ('{"baton_metadata": 1, "code": {"base64": "cHR4", "label": "cubin"}, "functions": '
            '[{"symbol": "main_kernel", "parameters": ["handle"], "operands": ["grid.x"], "flags": [], '
            '"rules": "tags", "kernel_attributes": {}}]}')
    with pytest.raises(baton_package.Error, match="enable_device_compile=True"):
        baton_package.load_library(text.encode(), baton.target)
