"""Programs that are built: control flow, ranks, parts of the device, branches."""

import numpy as np
import pytest

import baton as baton_package
from chain_program import CHAIN


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
