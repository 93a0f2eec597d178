"""Programs: bound, called, checked, bundled."""

import gc

import numpy as np
import pytest

import baton as baton_package

CHAIN = '''
name = "chain"

[symbols]
N = 1024

[buffers]
x = { dtype = "f32", shape = ["N"], role = "input", init = "ones" }
w = { dtype = "f32", shape = ["N"], role = "weight", init = "arange" }
h = { dtype = "f32", shape = ["N"] }
y = { dtype = "f32", shape = ["N"], role = "output" }
count = { dtype = "i32", shape = [1], role = "state", init = "zeros" }

[kernels.add]
text = """
extern "C" __global__ void add(float* out, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void step(int* count) { *count += 1; }
"""
entry = "add"

[kernels.step]
text = """
extern "C" __global__ void add(float* out, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
extern "C" __global__ void step(int* count) { *count += 1; }
"""
entry = "step"

[[steps]]
launch = "add"
grid = ["ceildiv(N, 256)"]
block = [256]
args = ["h", "x", "w", "N"]

[[steps]]
launch = "add"
grid = ["ceildiv(N, 256)"]
block = [256]
args = ["y", "h", "w", "N"]

[[steps]]
launch = "step"
grid = [1]
block = [1]
args = ["count"]
'''


@pytest.fixture
def program():
    return baton_package.Program.from_text(CHAIN, name="chain.toml")


def want(x):
    return x + 2 * np.arange(len(x), dtype=np.float32)


@pytest.fixture(params=["stream", "graph"])
def bound(request, baton, program):
    return program.bind(N=64, device=baton.target, executor=request.param)


def test_what_a_program_states(program):
    assert program.name == "chain" and program.symbols == {"N": 1024}
    assert program.kernels == ("add", "step")
    assert program.buffers["x"].role == "input" and program.buffers["y"].shape == ("N",)


def test_host_arrays(bound):
    x = np.random.default_rng(0).random(64, np.float32)
    out = bound(x=x)
    assert list(out) == ["y"] and isinstance(out["y"], np.ndarray)
    assert np.allclose(out["y"], want(x))
    again = bound(x=2 * x)
    assert np.allclose(again["y"], want(2 * x)) and np.allclose(out["y"], want(x))


def test_a_host_array_for_an_output(bound):
    x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
    out = bound(x=x, y=y)
    assert out["y"] is y and np.allclose(y, want(x))


def test_device_arrays(baton, bound):
    x = baton.array(np.ones(64, np.float32))
    y = baton.empty(64, "f32")
    out = bound(x=x, y=y)
    assert out["y"] is y and np.allclose(y.numpy(), want(np.ones(64)))
    first = bound(x=x)["y"]
    second = bound(x=baton.array(np.zeros(64, np.float32)))["y"]
    assert np.allclose(first.numpy(), want(np.ones(64))), "an output stays while it is referred to"
    assert np.allclose(second.numpy(), want(np.zeros(64)))


def test_outputs_that_nobody_refers_to_serve_again(bound):
    addresses = {bound()["y"].address for _ in range(5)}
    assert len(addresses) == 1
    kept = [bound()["y"] for _ in range(3)]
    assert len({array.address for array in kept}) == 3


def test_a_slice_keeps_an_output(baton, bound):
    part = bound(x=baton.array(np.ones(64, np.float32)))["y"][10:12]
    bound(x=baton.array(np.zeros(64, np.float32)))
    assert np.allclose(part.numpy(), want(np.ones(64))[10:12])


def test_an_output_outlives_its_program(baton, program):
    bound = program.bind(N=16, device=baton.target)
    out = bound(x=baton.array(np.ones(16, np.float32)))["y"]
    del bound
    gc.collect()
    assert np.allclose(out.numpy(), want(np.ones(16)))


def test_shapes_give_symbols(baton, program):
    bound = program.bind(device=baton.target)
    for n in (32, 64, 48):
        x = np.ones(n, np.float32)
        assert np.allclose(bound(x=x)["y"], want(x))
        assert bound.symbols == {"N": n} and bound.shape("h") == (n,)


def test_states_keep_what_steps_write(bound):
    for _ in range(3):
        bound()
    assert bound.array("count").numpy()[0] == 3
    bound.reset("count")
    assert bound.array("count").numpy()[0] == 0


def test_contents_of_inputs_may_come_with_the_call(baton):
    program = baton_package.Program.from_text(CHAIN.replace(', role = "input", init = "ones"', ', role = "input"'))
    x = np.full(16, 3, np.float32)
    bound = program.bind(N=16, device=baton.target)
    assert np.allclose(bound(x=x)["y"], want(x))
    longer = np.full(32, 3, np.float32)
    assert np.allclose(bound(x=longer, N=32)["y"], want(longer))
    bound.set(N=16)
    assert np.allclose(bound(x=x)["y"], want(x))
    assert np.allclose(program.bind(device=baton.target)(x=x, N=16)["y"], want(x))
    # A contradiction is told as such, and changes nothing.
    with pytest.raises(baton_package.ArgumentError, match="dimension 0 of the array is 16.* N is 8"):
        bound(x=x, N=8)
    assert np.allclose(bound(x=x)["y"], want(x))
    with pytest.raises(baton_package.ArgumentError, match="x: .*NoneType.* not an array"):
        bound(x=None)
    # The same with arrays of the device.
    bound = program.bind(N=16, device=baton.target)
    assert np.allclose(bound(x=baton.array(x))["y"].numpy(), want(x))
    with pytest.raises(baton_package.ArgumentError, match="dimension 0 of the array is 16.* N is 8"):
        bound(x=baton.array(x), N=8)
    gc.collect()
    assert np.allclose(bound()["y"].numpy(), want(x)), "the array of the last call is still there"
    bound.set(N=32)
    assert np.allclose(bound(x=baton.array(longer))["y"].numpy(), want(longer))
    with pytest.raises(baton_package.ArgumentError, match="nothing initialises the buffer x"):
        program.bind(N=16, device=baton.target).run()
    with pytest.raises(baton_package.Error, match='no symbol "M"'):
        program.bind(M=16, device=baton.target)


def test_a_refused_array_leaves_the_symbols(baton):
    text = CHAIN.replace("N = 1024", "N = 1024\nTIMES = 1").replace(
        "[[steps]]", '[[steps]]\nrepeat = "TIMES"\nsteps = [{ launch = "step", grid = [1], block = [1], '
        'args = ["count"] }]\n\n[[steps]]', 1)
    bound = baton_package.Program.from_text(text).bind(N=16, device=baton.target)
    with pytest.raises(baton_package.ArgumentError):
        bound(x=baton.array(np.zeros(16, np.float64)), TIMES=5)
    assert bound.symbols == {"N": 16, "TIMES": 1}
    assert bound(TIMES=2)["y"].shape == (16,)
    assert bound.symbols == {"N": 16, "TIMES": 2}


def test_symbols_of_a_call(baton, program):
    bound = program.bind(N=64, device=baton.target)
    assert bound(N=32)["y"].shape == (32,)
    bound.set(N=16)
    assert bound.symbols == {"N": 16}
    with pytest.raises(baton_package.NotFoundError):
        bound.set(M=3)
    assert bound.symbols == {"N": 16}


class Arena:
    """Hands out an array piece by piece."""

    def __init__(self, array):
        self.array, self.used, self.held, self.fails = array, 0, {}, None

    def allocate(self, device, size):
        assert device.spec == self.array.device.spec
        if self.fails:
            raise self.fails
        address, self.used = self.array.address + self.used, self.used + -(-size // 256) * 256
        if self.used > 4 * self.array.shape[0]:
            return None
        self.held[address] = size
        return address

    def free(self, device, address, size):
        assert self.held.pop(address) == size


def test_memory_of_an_allocator(baton, program):
    arena = Arena(baton.empty(1 << 14, "f32"))
    bound = program.bind(N=64, device=baton.target, allocator=arena)
    assert len(arena.held) == 5 and bound.array("h").address in arena.held
    x = np.ones(64, np.float32)
    assert np.allclose(bound(x=x)["y"], want(x))
    bound.set(N=128)
    assert bound.array("h").address in arena.held
    del bound
    gc.collect()
    assert not arena.held


def test_outputs_come_from_the_allocator(baton, program):
    arena = Arena(baton.empty(1 << 14, "f32"))
    bound = program.bind(N=64, device=baton.target, allocator=arena)
    x = baton.array(np.ones(64, np.float32))
    first = bound(x=x)
    assert all(output.address in arena.held for output in first.values())
    before = first["y"].numpy()
    held = len(arena.held)
    second = bound(x=baton.array(np.full(64, 3, np.float32)))
    assert len(arena.held) > held and second["y"].address in arena.held
    assert np.array_equal(first["y"].numpy(), before)     # it is still referred to
    # An output outlives the bound program, and then gives its memory back.
    del bound, second
    gc.collect()
    assert first["y"].address in arena.held and np.array_equal(first["y"].numpy(), before)
    del first
    gc.collect()
    assert not arena.held


def test_an_allocator_without_memory_for_outputs(baton, program):
    arena = Arena(baton.empty(1 << 14, "f32"))
    bound = program.bind(N=64, device=baton.target, allocator=arena)
    x = baton.array(np.ones(64, np.float32))
    arena.fails = KeyError("no outputs")
    with pytest.raises(KeyError, match="no outputs"):
        bound(x=x)
    arena.fails = None
    assert np.allclose(bound(x=x)["y"].numpy(), want(np.ones(64)))


def test_an_allocator_that_fails(baton, program):
    arena = Arena(baton.empty(1 << 14, "f32"))
    arena.fails = KeyError("no pool")
    with pytest.raises(KeyError, match="no pool"):
        program.bind(N=64, device=baton.target, allocator=arena)
    arena.fails = None
    with pytest.raises(baton_package.Error, match="the allocator has none left"):
        program.bind(N=1 << 20, device=baton.target, allocator=arena)
    gc.collect()
    assert not arena.held

    class Wrong(Arena):
        def allocate(self, device, size):
            return "here"

    with pytest.raises(TypeError):
        program.bind(N=64, device=baton.target, allocator=Wrong(arena.array))
    for wrong in (3, object()):
        with pytest.raises(TypeError, match="has no method allocate"):
            program.bind(N=64, device=baton.target, allocator=wrong)


def test_an_allocator_whose_free_raises(baton, program, monkeypatch):
    class Raises(Arena):
        def free(self, device, address, size):
            raise ValueError("free")

    raised = []
    monkeypatch.setattr("sys.unraisablehook", raised.append)
    bound = program.bind(N=64, device=baton.target, allocator=Raises(baton.empty(1 << 14, "f32")))
    del bound
    gc.collect()
    assert len(raised) == 5 and str(raised[0].exc_value) == "free"
    raised.clear()


def test_enqueue(baton, bound):
    stream = baton.Stream(baton.target)
    bound.prepare(stream)
    bound.enqueue(stream)
    bound.enqueue(stream)
    bound.wait(stream, timeout=60)
    assert bound.array("count").numpy()[0] == 2


def test_run(bound):
    bound()
    report = bound.run(repeat=2)
    assert len(report.run_seconds) == 2 and report.steps[0].label == "add"
    assert "add" in str(report) and "<table>" in report._repr_html_()
    assert np.allclose(bound.result("y"), want(np.ones(64)))
    assert np.allclose(bound()["y"].numpy(), want(np.ones(64)))


@pytest.mark.parametrize("call, kind, message", [
    (lambda p: p(x=np.ones(64)), TypeError, "buffer x is an array of f64"),
    (lambda p: p(x=np.ones((8, 8), np.float32)), TypeError, "2 dimensions, the buffer has 1"),
    (lambda p: p(x=np.ones(128, np.float32)[::2]), TypeError, "not contiguous"),
    (lambda p: p(x=np.ones(65, np.float32)), baton_package.Error, "65"),
    (lambda p: p(z=np.ones(64, np.float32)), LookupError, 'no buffer or symbol "z"'),
    (lambda p: p(x=3), TypeError, "not an array"),
    (lambda p: p(N=1.5), TypeError, "takes an int"),
    (lambda p: p.result("y"), baton_package.Error, "run"),
    (lambda p: p.array("zz"), LookupError, "known"),
    (lambda p: p.reset("x"), baton_package.Error, "state"),
])
def test_bad_calls(baton, program, call, kind, message):
    bound = program.bind(N=64, device=baton.target)
    with pytest.raises(kind, match=message) as caught:
        call(bound)
    assert isinstance(caught.value, baton_package.Error)
    assert np.allclose(bound(x=np.ones(64, np.float32))["y"], want(np.ones(64))), "it still works"


def test_a_wrong_program_has_its_place(tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(CHAIN.replace('args = ["count"]', 'arg = ["count"]'))
    with pytest.raises(baton_package.Error, match="arg") as caught:
        baton_package.Program(path)
    line = 1 + CHAIN.replace('args = ["count"]', 'arg = ["count"]').splitlines().index('arg = ["count"]')
    assert caught.value.where.startswith(f"{path}:{line}:")
    frame = caught.traceback[-1]
    assert str(frame.path) == str(path) and frame.lineno + 1 == line


def test_check(baton, program):
    report = baton_package.check(program, device=baton.target, N=64)
    assert [edge.verdict for edge in report.edges] == ["unknown", "unknown"]
    assert report.edges[0].cause == "no_wait" and not report.edges[0].programmatic
    assert report.launches[0].config["grid"] == (1, 1, 1)
    texts = [advice.text for advice in report.edges[0].advice]
    assert any("never waits: give it a wait" in text for text in texts), texts
    assert all(advice.seconds > 0 for advice in report.edges[0].advice)
    rewritten = program.check(device=baton.target, rewrite="loads")
    assert rewritten.edges[0].verdict == "proven"
    assert "proven" in str(rewritten) and "proven" in rewritten._repr_html_()


def test_signed_bundles(baton, program, tmp_path):
    path, key, public = (str(tmp_path / name) for name in ("p.baton", "key.pem", "pub.pem"))
    pem = "-----BEGIN {0} KEY-----\n{1}\n-----END {0} KEY-----\n"
    (tmp_path / "key.pem").write_text(pem.format(
        "PRIVATE", "MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7"))
    (tmp_path / "pub.pem").write_text(pem.format(
        "PUBLIC", "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="))
    baton_package.bundle(program, path, archs=["sm_90a"])
    assert baton_package.load(path).signed_by is None
    for unsigned in (path, (tmp_path / "p.baton").read_bytes()):
        with pytest.raises(baton_package.Error, match="is not signed"):
            baton_package.load(unsigned, keys=[public])
    assert baton_package.sign(path, key) == "deb2ded39dc26fce"
    assert baton_package.load(path, keys=[public], verify="once").signed_by == "deb2ded39dc26fce"
    baton_package.bundle(program, path, archs=["sm_90a"], key=key)
    assert baton_package.Program(path, keys=[public], verify="all").kernels
    with pytest.raises(baton_package.Error, match="verify is \"never\""):
        baton_package.Program(path, verify="never")
    with pytest.raises(baton_package.Error, match="has no signature"):
        baton_package.load(b".version 8.0", keys=[public])


def test_bundles(baton, program, tmp_path):
    path = tmp_path / "chain.baton"
    assert baton_package.bundle(program, path, archs=["sm_90a"], sources=False) == ()
    opened = baton_package.load(path, device=baton.target)
    assert opened.kernels == ("add", "step") and opened.architectures == ("sm_90a",)
    out = np.zeros(4, np.float32)
    opened["add"][1, 4](out, np.ones(4, np.float32), np.ones(4, np.float32), 4)
    assert (out == 2).all()
    bound = baton_package.Program(path).bind(N=8, device=baton.target)
    assert np.allclose(bound(x=np.ones(8, np.float32))["y"], want(np.ones(8)))


def test_bundles_as_bytes(baton, program, tmp_path):
    path = tmp_path / "chain.baton"
    baton_package.bundle(program, path, archs=["sm_90a"], sources=False)
    contents = path.read_bytes()
    opened = baton_package.load(contents, device=baton.target, name="embedded")
    assert opened.kernels == ("add", "step") and "embedded" in repr(opened)
    out = np.zeros(4, np.float32)
    opened["add"][1, 4](out, np.ones(4, np.float32), np.ones(4, np.float32), 4)
    assert (out == 2).all()
    for size in (35, 4096, len(contents) - 1):
        for cut in (contents[:size], tmp_path / "cut.baton"):
            (tmp_path / "cut.baton").write_bytes(contents[:size])
            with pytest.raises(baton_package.Error, match="truncated; copy it again|is truncated: .* a bundle"):
                baton_package.load(cut, device=baton.target)


def test_the_examples(baton, examples):
    saxpy = baton_package.Program(examples / "saxpy" / "saxpy.toml").bind(N=4096, device=baton.target)
    x, y = np.ones(4096, np.float32), np.ones(4096, np.float32)
    assert np.allclose(saxpy(x=x, y=y)["y"], 3)


def test_inout_is_a_copy(baton, examples):
    saxpy = baton_package.Program(examples / "saxpy" / "saxpy.toml").bind(N=16, device=baton.target)
    x = baton.array(np.ones(16, np.float32))
    saxpy(y=np.zeros(16, np.float32))
    first = saxpy(x=x)["y"].numpy()
    second = saxpy(x=x)["y"].numpy()
    assert np.allclose(second - first, 2), "an inout buffer keeps what it has"


COUNT = """
name = "count"
[symbols]
T = 100
[buffers]
go = { dtype = "i32", shape = [1], init = "ones", role = "inout" }
n = { dtype = "i32", shape = [1], init = "zeros", role = "inout" }
[kernels.step]
text = 'extern "C" __global__ void step(int* n, int* go, int limit) { if (++*n >= limit) *go = 0; }'
[[steps]]
while = { buffer = "go", at_most = "T" }
steps = [ { launch = "step", grid = [1], block = [1], args = ["n", "go", { i32 = 37 }] } ]
"""


def test_control_flow_takes_the_graph(baton):
    program = baton_package.Program.from_text(COUNT)
    bound = program.bind(device=baton.target)
    assert bound()["n"].numpy()[0] == 37
    assert bound(go=np.ones(1, np.int32), n=np.full(1, 30, np.int32))["n"][0] == 37
    report = program.bind(device=baton.target, executor="stream").run()
    assert report.steps


def test_the_builder(baton):
    b = baton_package.ProgramBuilder("chain")
    n = b.symbol("N", 256)
    layers = b.symbol("L", 3)
    x = b.buffer("x", "f32", [n], role="input", init="ones")
    w = b.buffer("w", "f32", [layers, n], role="weight")
    y = b.buffer("y", "f32", n, role="output")
    h = b.buffer("h", "f32", [n])
    b.kernel("add", text="""extern "C" __global__ void add(float* y, const float* x, const float* w,
int n) {\n\tconst int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = x[i] + w[i]; }""")
    b.kernel("ramp", text='extern "C" __global__ void ramp(float* w, int n) '
                          '{ if (threadIdx.x < n) w[threadIdx.x] = threadIdx.x; }')
    with b.setup(), b.repeat(layers, index="layer") as layer:
        b.launch("ramp", [w + layer * n, n], grid=1, block=1024)
    b.copy(x, h)
    with b.repeat(layers, index="layer") as layer:
        b.launch("add", [h, h, w + layer * n, n], grid=[(n + 255) // 256], block=[256], pdl="off")
    b.fill(y, 0.0)
    b.copy(h, y)
    program = b.build()
    assert program.symbols == {"N": 256, "L": 3}
    out = program.bind(device=baton.target, L=2)(x=np.ones(256, np.float32))
    assert np.allclose(out["y"], 1 + 2 * np.arange(256))
    with pytest.raises(baton_package.ArgumentError, match="two buffers named x"):
        b.buffer("x", "f32", [1])
    b.launch("nothing", [], grid=1)
    with pytest.raises(baton_package.Error, match="nothing"):
        b.build()


def test_a_program_of_several_ranks_on_one(baton):
    b = baton_package.ProgramBuilder("sum")
    rank, ranks = b.world()
    x = b.buffer("x", "f32", [4], role="inout", init="ones", shard={"axis": 0})
    y = b.buffer("y", "f32", [ranks * 4], role="output")
    b.collective("all_reduce", buffer=x, op="max")
    b.collective("send", buffer=x, to=rank + 1)
    b.collective("all_gather", from_=x, to=y)
    program = b.build()
    assert program.symbols == {"rank": 0, "ranks": 1}
    bound = program.bind(device=baton.target)
    assert np.all(bound(x=np.full(4, 3, np.float32))["y"] == 3)
    with pytest.raises(baton_package.Error, match="the world sets the symbol rank"):
        program.bind(device=baton.target, rank=1)(x=np.ones(4, np.float32))
    # One rank exchanges nothing, whatever executes collectives.
    for executor in ("auto", "nccl", "host"):
        program.bind(device=baton.target, collectives=executor)(x=np.ones(4, np.float32))
    with pytest.raises(baton_package.Error, match='did you mean "nccl"'):
        program.bind(device=baton.target, collectives="ncll")(x=np.ones(4, np.float32))


def test_an_epilogue_of_an_all_reduce(baton):
    b = baton_package.ProgramBuilder("epilogue")
    b.world()
    y = b.buffer("y", "f32", [2, 4], role="inout")
    x = b.buffer("x", "f32", [2, 4], role="input")
    w = b.buffer("w", "f32", [4], role="weight", init="ones")
    h = b.buffer("h", "f32", [2, 4], role="output")
    b.collective("all_reduce", buffer=y, add=x, rms_norm={"weight": w, "epsilon": 1e-5, "to": h})
    given = np.arange(8, dtype=np.float32).reshape(2, 4)
    out = b.build().bind(device=baton.target)(y=given.copy(), x=np.ones((2, 4), np.float32))
    want = given + 1
    assert np.array_equal(out["y"], want)
    assert np.allclose(out["h"], want / np.sqrt((want * want).mean(1, keepdims=True) + 1e-5))
    with pytest.raises(baton_package.Error, match='belongs to an all_reduce with op = "sum"'):
        b.collective("all_reduce", buffer=y, op="max", add=x)
        b.build()


def test_groups_of_ranks(baton):
    b = baton_package.ProgramBuilder("grid")
    b.symbol("PP", 1)
    b.world(groups={"stage": "PP", "tensor": "ranks / PP"})
    x = b.buffer("x", "f32", ["4 / stage_ranks", "2 / tensor_ranks"], role="inout", init="ones",
                 shard=[{"axis": 0, "group": "stage"}, {"axis": 1, "group": "tensor"}])
    b.collective("all_reduce", buffer=x, group="tensor")
    b.collective("send", buffer=x, to="stage_rank + 1", group="stage")
    program = b.build()
    assert program.symbols == {"PP": 1, "rank": 0, "ranks": 1, "stage_rank": 0, "stage_ranks": 1,
                               "tensor_rank": 0, "tensor_ranks": 1}
    assert np.all(program.bind(device=baton.target)()["x"] == np.ones((4, 2)))
    with pytest.raises(baton_package.Error, match="the group stage would have 2 ranks"):
        program.bind(device=baton.target, PP=2)()


def test_memory_in_the_order_of_a_stream(baton):
    device = baton_package.device(baton.target)
    stream = baton_package.Stream(device)
    module = baton_package.compile(
        text="extern \"C\" __global__ void two(float* y) { y[blockIdx.x] = 2; }", device=device)
    for _ in range(3):
        y = baton_package.empty(64, "f32", stream=stream)
        assert y.shape == (64,)
        module["two"][64, 1](y, stream=stream)
        assert np.all(y.numpy() == 2)
        del y
    z = device.empty((2, 2), "i32", stream=stream)
    del stream  # the memory keeps it
    z.zero()
    with pytest.raises(baton_package.ArgumentError, match="takes a baton.Stream"):
        device.empty(4, "f32", stream=7)


def test_launches_and_streams_on_parts_of_the_sms(baton):
    b = baton.ProgramBuilder("p")
    b.buffer("y", "f32", [64], role="output")
    b.kernel("ones", text="extern \"C\" __global__ void ones(float* y) { y[blockIdx.x] = 1; }")
    b.launch("ones", ["y"], grid=64, block=1, sms=5)
    try:
        program = b.build().bind(device=baton.target)
    except baton_package.UnsupportedError as failure:
        pytest.skip(str(failure))
    part, = program.check().parts
    assert part.asked == 5 and part.given >= 5 and part.launches == (0,)
    assert program.run().parts == (part,)
    assert np.all(program()["y"].numpy() == 1)

    device = baton_package.device(baton.target)
    streams = device.split_sms([1, part.given])
    assert [stream.part_sms for stream in streams] == [part.given, part.given]
    module = baton_package.compile(text="extern \"C\" __global__ void two(float* y) { y[blockIdx.x] = 2; }",
                                   device=device)
    module.load_kernels()
    y = baton_package.zeros(64, "f32", device=device)
    module["two"][64, 1](y, stream=streams[1])
    event = streams[1].record()
    streams[0].wait(event)
    streams[0].synchronize()
    assert np.all(y.numpy() == 2)
    with pytest.raises(baton_package.LimitError, match="ask for fewer"):
        device.split_sms([10**6])


def test_parallel_branches(baton):
    b = baton.ProgramBuilder("p")
    b.buffer("y", "f32", [4], role="output")
    b.buffer("z", "f32", [4], role="output")
    with b.parallel() as branch:
        with branch():
            b.fill("y", 1.0)
        with branch():
            b.fill("z", 2.0)
    program = b.build().bind()
    assert [(report.branches, report.verdict) for report in program.check().parallels] == [(2, "proven")]
    out = program()
    assert (out["y"].numpy() == 1).all() and (out["z"].numpy() == 2).all()
    with pytest.raises(baton_package.ArgumentError, match="in no branch"):
        with b.parallel():
            b.fill("y", 1.0)


def test_a_trace_of_instrumented_kernels():
    program = baton_package.Program.from_text(CHAIN)
    device = baton_package.device()
    plain, traced = (program.bind(device=device, N=1024, instrument=which) for which in (False, True))
    plain.run()
    report = traced.run(trace=True)
    assert (traced.result("y") == plain.result("y")).all()
    assert report.findings == []
    assert report.traced.launches == report.trace.count('"cat":"launch"') > 0
    assert report.traced.blocks >= report.traced.launches
    assert all(edge.idle_sm_seconds >= 0 for edge in report.traced.edges)
    assert plain.run().traced is None
