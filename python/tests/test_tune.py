"""Tuned records: searched by `baton.tune`, used by `Program.bind`."""

import pytest

import baton as baton_package

PROGRAM = '''
[symbols]
N = 4096
B = 256
[tune]
B = [64, 512]
[buffers]
x = { dtype = "f32", shape = ["N"], role = "input", init = "random" }
y = { dtype = "f32", shape = ["N"], role = "output" }
[kernels.twice]
text = """
extern "C" __global__ void twice(const float* x, float* y, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i];
}
"""
[[steps]]
launch = "twice"
grid = [2]
block = ["B"]
args = ["x", "y", "N"]
'''


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.setenv("BATON_CACHE_DIR", str(tmp_path / "cache"))
    path = tmp_path / "p.toml"
    path.write_text(PROGRAM)
    return path


def test_bind_uses_the_record(program, monkeypatch):
    def bound(**given):
        return baton_package.Program(program).bind(device="sim", N=4096, **given).symbols["B"]
    assert bound() == 256
    found = baton_package.tune(program, "sim", {"N": 4096}, budget=5)
    assert found["accepted"] and found["tuned"]["parameters"] == {"B": 64}
    assert bound() == 64
    assert bound(executor="stream") == 64
    assert bound(tuned=False) == bound(executor="graph") == bound(pdl="off") == 256
    monkeypatch.setenv("BATON_TUNE", "off")
    assert bound() == 256
    monkeypatch.setenv("BATON_TUNE", "of")
    with pytest.raises(baton_package.Error, match="BATON_TUNE"):
        bound()


def test_sizes_that_come_later_have_no_record(program):
    baton_package.tune(program, "sim", budget=5)
    whole = baton_package.Program(program)
    whole.bind(device="sim", N=1024)
    assert whole.bind(device="sim", N=1024).symbols["B"] == 256  # of another size
    assert whole.bind(device="sim").symbols["B"] == 256  # the arrays of a call may change N


def test_a_bundle_brings_it(program, tmp_path, monkeypatch):
    found = baton_package.tune(program, "sim", budget=5, output=tmp_path / "p.baton")
    assert found["bundle"] == str(tmp_path / "p.baton")
    monkeypatch.setenv("BATON_CACHE_DIR", str(tmp_path / "other"))
    assert baton_package.Program(tmp_path / "p.baton").bind(device="sim", N=4096).symbols["B"] == 64


def test_bad_budget(program):
    with pytest.raises(baton_package.Error, match="budget takes a number of seconds"):
        baton_package.tune(program, "sim", budget=-1)
