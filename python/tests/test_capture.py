"""baton.capture: what a function launches, as a program."""

import subprocess

import numpy as np
import pytest

import baton as package

SOURCE = """
extern "C" __global__ void scale(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (i < n) y[i] = a * x[i];
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
extern "C" __global__ void add(float* y, const float* x, const float* w, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float bias = w[i % 32];
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (i < n) y[i] = x[i] + bias;
}
struct Pair { float* p; float a; };
extern "C" __global__ void by_struct(Pair pair) { pair.p[threadIdx.x] = pair.a; }
"""


@pytest.fixture
def module(baton):
    return baton.compile(text=SOURCE, name="chain.cu")


def chain(module):
    def step(x, h, y, w, factor):
        n = x.size
        module["scale"][package.ceildiv(n, 128), 128](h, x, factor, n)
        module["add"].launch(y, h, w, n, grid=package.ceildiv(n, 64), block=64)
    return step


def arrays(n, seed=0):
    random = np.random.default_rng(seed)
    return (random.random(n, np.float32), np.zeros(n, np.float32), np.zeros(n, np.float32))


W = np.arange(32, dtype=np.float32)


def test_what_is_written_with_the_values_that_it_had(baton, module):
    def step(x, h, y):
        module["scale"][1, 32](h, x, 2.0, 32)
        module["scale"][1, 32](y, h, 3.0, 32)
    zeros = np.zeros(32, np.float32)
    program = package.capture(step, (zeros, zeros.copy(), zeros.copy()), device=baton.target)
    assert [program.buffers[name].role for name in ("x", "h", "y")] == ["input", "inout", "inout"]
    assert module["scale"].writes == (True, False, False, False)
    assert module["by_struct"].writes == (True,)


def test_a_chain_of_kernels(baton, module, tmp_path):
    device = baton.target
    program = package.capture(chain(module), (*arrays(100), W, 2.0), (*arrays(1000), W, 2.0),
                              device=device, sizes={"x": ["n"]}, weights=["w"])
    assert program.holes == () and program.name == "step"
    assert set(program.symbols) == {"n"}
    assert program.buffers["w"].role == "weight" and program.buffers["y"].role == "inout"
    assert 'grid = ["ceildiv(n, 128)"]' in program.text
    assert 'grid = ["ceildiv(n, 64)"]' in program.text
    edge, = package.check(program, device=device).edges
    assert edge.verdict == "proven" and edge.programmatic

    x, h, y = arrays(777, seed=1)
    p = program.bind(device=device)
    out = p(x=x, h=h, y=y, w=W)
    assert np.allclose(out["y"], 2 * x + W[np.arange(777) % 32])
    with pytest.raises(package.Error, match="the largest n that was captured"):
        p(x=arrays(2000)[0], h=arrays(2000)[1], y=arrays(2000)[2], w=W)

    package.bundle(program, tmp_path / "step.baton", archs=["sm_90a"])
    bundle = package.Program(tmp_path / "step.baton")
    assert np.allclose(bundle.bind(device=device)(x=x, h=h, y=y, w=W)["y"],
                       2 * x + W[np.arange(777) % 32])
    assert package.check(bundle, device=device).edges[0].verdict == "proven"


def test_the_command_line_runs_the_bundle(baton, module, tmp_path):
    import os
    program = package.capture(chain(module), (*arrays(500), W, 3.0), device=baton.target)
    assert program.symbols == {}
    package.bundle(program, tmp_path / "step.baton", archs=["sm_90a"])
    saved = program.save(tmp_path / "saved")
    x, h, y = arrays(500)
    for name, array in (("x", x), ("h", h), ("y", y), ("w", W), ("want", 3 * x + W[np.arange(500) % 32])):
        np.save(tmp_path / f"{name}.npy", array)
    for file in (tmp_path / "step.baton", saved):
        inputs = [f"--input={name}={tmp_path / name}.npy" for name in "xhyw"]
        subprocess.run([os.environ["BATON"], "run", str(file), "--device", "sim:h200", *inputs,
                        f"--expect=y={tmp_path / 'want.npy'}"], check=True, capture_output=True)


def test_plans_and_arrays_of_the_device(baton, module):
    device = baton.target
    x = package.array(np.arange(64, dtype=np.float32), device)
    y = package.zeros(64, "f32", device)
    plan = module["scale"].plan(y, x, 2.0, 64, grid=1, block=64)

    def twice(x, y):
        plan()
        plan()
    program = package.capture(twice, (x, y), device=device)
    assert program.text.count('launch = "scale"') == 2
    assert len(program.kernels) == 1


def test_memory_from_outside_becomes_a_state(baton, module):
    w = np.arange(32, dtype=np.float32)

    def step(x, y):
        module["add"].launch(y, x, w, 32, grid=1, block=32)
    program = package.capture(step, (np.ones(32, np.float32), np.zeros(32, np.float32)),
                              device=baton.target)
    outside, = (each for each in program.allocations if each.origin == "outside")
    assert outside.role == "state"
    out = program.bind(device=baton.target)(x=np.ones(32, np.float32), y=np.zeros(32, np.float32))
    assert np.array_equal(out["y"], 1 + w)


def test_expressions_are_told_apart_by_more_calls(baton, module):
    """256 and 1024 do not tell ceildiv(n, 64) from 2*ceildiv(n, 128): capture tries another size."""
    calls = []

    def step(x, y):
        calls.append(x.size)
        module["scale"].launch(y, x, 2.0, x.size, grid=package.ceildiv(x.size, 64), block=64)

    def example(n):
        return np.ones(n, np.float32), np.zeros(n, np.float32)
    program = package.capture(step, example(256), example(1024), device=baton.target)
    assert 'grid = ["ceildiv(x_0, 64)"]' in program.text
    assert len(calls) > 2 and all(256 <= size <= 1024 for size in calls)


def test_declared_sizes_need_one_example(baton, module):
    def step(x, y):
        module["scale"].launch(y, x, 2.0, x.size, grid=package.ceildiv(x.size, 64), block=64)
    program = package.capture(step, (np.ones(100, np.float32), np.zeros(100, np.float32)),
                              device=baton.target, sizes={"x": ["n"], "y": ["n"]})
    assert set(program.symbols) == {"n"} and len(program.examples) >= 3
    assert 'grid = ["ceildiv(n, 64)"]' in program.text


def test_examples_that_take_another_path(baton, module):
    def step(x, y):
        for _ in range(1 + x.size // 512):
            module["scale"].launch(y, x, 2.0, x.size, grid=package.ceildiv(x.size, 64), block=64)

    def example(n):
        return np.ones(n, np.float32), np.zeros(n, np.float32)
    with pytest.raises(package.Error, match="makes 1 steps, example 1 3"):
        package.capture(step, example(100), example(1024), device=baton.target)


def test_a_number_without_an_expression(baton, module):
    def step(x, y):
        n = x.size
        module["scale"].launch(y, x, 2.0, n, grid=max(1, n.bit_length() ** 2), block=64)

    def example(n):
        return np.ones(n, np.float32), np.zeros(n, np.float32)
    with pytest.raises(package.Error, match="grid of step 0 .scale, at test_capture.py:.*no expression"):
        package.capture(step, example(100), example(900), device=baton.target)


def test_wrong_examples(baton, module):
    def step(x, y):
        module["scale"].launch(y, x, 2.0, x.size, grid=1, block=64)
    x = np.ones(64, np.float32)
    for examples, message in (
            ((), "needs the arguments of a call"),
            ((x,), "an example is the tuple"),
            (((x,),), "does not take this example's arguments"),
            (((x, x[:32]),), "share memory"),
            (((x, np.ones((64, 2), np.float32)[:, 0]),), "not contiguous"),
            (((x, [x]),), "pass its arrays as arguments"),
            (((x, x.copy()), (x.reshape(8, 8), x.copy())), "number of dimensions")):
        with pytest.raises(package.ArgumentError, match=message):
            package.capture(step, *examples, device=baton.target)
    with pytest.raises(package.ArgumentError, match="sizes names z"):
        package.capture(step, (x, x.copy()), device=baton.target, sizes={"z": ["n"]})
    with pytest.raises(package.ArgumentError, match="given as a weight, and the function writes it"):
        package.capture(step, (x, x.copy()), device=baton.target, weights=["y"])
    with pytest.raises(package.Error, match="launched nothing"):
        package.capture(lambda x: None, (x,), device=baton.target)


def test_a_capture_ends_with_the_call(baton, module):
    """An exception of the function comes out, and later launches are not recorded."""
    x = np.ones(64, np.float32)

    def fails(x):
        raise KeyError("own")
    with pytest.raises(KeyError, match="own"):
        package.capture(fails, (x,), device=baton.target)

    def nested(x):
        package.capture(lambda x: None, (x.copy(),), device=baton.target)
    with pytest.raises(package.Error, match="one at a time"):
        package.capture(nested, (x,), device=baton.target)
    module["scale"][1, 64](np.zeros(64, np.float32), x, 2.0, 64)


def test_unseen_work_fails_verification(baton, module):
    """NumPy's own work is nothing that a capture sees."""
    def step(x, y):
        module["scale"].launch(y, x, 2.0, x.size, grid=1, block=64)
        y += 1
    example = (np.ones(64, np.float32), np.zeros(64, np.float32))
    with pytest.raises(package.Error, match="gives another y .*64 of 64 elements differ") as caught:
        package.capture(step, example, device=baton.target)
    assert caught.value.code == "mismatch"
    package.capture(step, example, device=baton.target, verify=False)


def test_holes(baton, module, tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def step(x, w):
        h = torch.empty_like(x)
        n = x.numel()
        module["scale"][package.ceildiv(n, 64), 64](h, x, 2.0, n)
        return torch.mm(h, w)
    program = package.capture(step, (torch.ones(8, 8), torch.ones(8, 8)), device=baton.target)
    hole, = program.holes
    assert hole.name == "aten.mm.default" and hole.step == 1
    assert hole.where.startswith("test_capture.py:")
    for use in (lambda: package.check(program, device=baton.target),
                lambda: program.bind(device=baton.target),
                lambda: package.bundle(program, tmp_path / "x.baton"),
                lambda: program.save(tmp_path / "x")):
        with pytest.raises(package.UnsupportedError, match="has 1 hole") as caught:
            use()
        assert "aten.mm.default" in caught.value.notes[0]


def test_structs_with_addresses_are_holes(baton, module):
    import struct
    x = package.zeros(32, "f32", baton.target)

    def step(x):
        module["by_struct"][1, 32](struct.pack("<Qf4x", x.address, 2.0))
    program = package.capture(step, (x,), device=baton.target)
    assert "holds the address of an array" in program.holes[0].reason


def test_operations_of_torch(baton, module):
    """Allocations, fills, copies and views are parts of a program."""
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def step(x):
        rows, n = x.shape[0], x.numel()
        h = torch.full_like(x, 3.0)
        kept = x.clone()
        module["scale"][package.ceildiv(n, 64), 64](h[0], x[rows - 1], 2.0, x.shape[1])
        total = torch.zeros(n)
        total.copy_(h.view(-1))
        return {"h": h, "kept": kept, "half": total[n // 2:]}

    program = package.capture(step, (torch.randn(4, 32),), (torch.randn(10, 32),),
                              device=baton.target)
    assert program.holes == ()
    x = np.random.default_rng(0).random((6, 32), np.float32)
    out = program.bind(device=baton.target)(x=x)
    want = np.full((6, 32), 3, np.float32)
    want[0] = 2 * x[5]
    assert np.allclose(out["h"], want) and np.array_equal(out["kept"], x)
    assert np.allclose(out["half"], want.reshape(-1)[96:])


def test_scratch_is_shared_on_request(baton, module):
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def step(x):
        for _ in range(4):
            h = torch.empty_like(x)
            module["scale"][1, 64](h, x, 0.5, 64)
            x = h
        return x
    example = (torch.randn(64),)
    apart = package.capture(step, example, device=baton.target)
    shared = package.capture(step, example, device=baton.target, share_scratch=True)
    assert len(apart.buffers) == 5 and len(shared.buffers) == 4
    lives = {each.name: (each.first, each.last) for each in apart.allocations}
    assert list(lives.values())[1] == (0, 1)
