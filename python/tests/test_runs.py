"""Runs of programs for tools and tests: steps, NaN, counts, schedules, expected outputs."""

import numpy as np
import pytest

import baton as baton_package

SOURCE = """
extern "C" __global__ void halve(float* y, const float* x) { y[threadIdx.x] = x[threadIdx.x] / 2; }
extern "C" __global__ void root(float* y, const float* x) { y[threadIdx.x] = sqrtf(x[threadIdx.x] - 1); }
extern "C" __global__ void last(float* y) { if (threadIdx.x == 0) y[0] = blockIdx.x; }
"""
PROGRAM = """
[buffers]
x = {{ dtype = "f32", shape = [64], role = "input", init = "ones" }}
h = {{ dtype = "f32", shape = [64], role = "scratch" }}
y = {{ dtype = "f32", shape = [64], role = "output"{expected} }}

[kernels]
halve = {{ text = '''{source}''' }}
{kernels}

[[steps]]
repeat = 2
index = "i"
steps = [{{ launch = "halve", grid = 1, block = 64, args = ["h", "x"] }}]

[[steps]]
launch = "{second}"
grid = {grid}
block = 64
args = {args}
"""


def make(second="halve", expected="", grid=1, args='["y", "h"]', directory=None):
    kernels = "" if second == "halve" else f"{second} = {{ text = '''{SOURCE}''' }}"
    text = PROGRAM.format(source=SOURCE, second=second, kernels=kernels, expected=expected, grid=grid, args=args)
    return baton_package.Program.from_text(text, name="p.toml", directory=directory)


@pytest.fixture
def bound(baton):
    return make().bind(device=baton.target)


def test_after_each_step(bound):
    seen = []

    def look(step):
        seen.append((step.number, step.label, step.indexes, step.launch, step.skipped))
        if step.number == 2:
            assert (step.contents("y") == 0.25).all() and step.contents("y").dtype == np.float32
        kept.append(step)

    kept = []
    bound.run(repeat=2, after_step=look)
    assert seen == [(0, "halve", {"i": 0}, 0, False), (1, "halve", {"i": 1}, 0, False), (2, "halve", {}, 1, False)]
    with pytest.raises(baton_package.Error, match="the run has gone on"):
        kept[0].contents("y")


def test_a_step_may_end_the_run(bound):
    seen = []
    bound.run(after_step=lambda step: seen.append(step.number) or step.number != 1)
    assert seen == [0, 1]
    assert len(bound.run().run_seconds) == 1


def test_what_a_step_raises_ends_the_run(bound):
    def fail(step):
        raise KeyError(step.label)

    with pytest.raises(KeyError, match="halve"):
        bound.run(after_step=fail)
    with pytest.raises(LookupError, match='"z"'):
        bound.run(after_step=lambda step: step.contents("z"))
    bound.run()
    assert (bound.result("y") == 0.25).all()


def test_a_graph_shows_no_steps(baton):
    with pytest.raises(baton_package.Error, match="stream executor"):
        make().bind(device=baton.target, executor="graph").run(after_step=print)


def test_nan_is_found_where_it_is_made(baton):
    bound = make("root").bind(device=baton.target)
    with pytest.raises(baton_package.Error, match="root.*NaN") as caught:
        bound.run(find_nan=True)
    assert caught.value.code == "mismatch"
    bound.run()
    assert np.isnan(bound.result("y")).all()
    make().bind(device=baton.target).run(find_nan=True)


def test_kept_buffers(bound):
    bound.run(keep=["h"])
    assert (bound.result("h") == 0.5).all()
    bound.run()
    with pytest.raises(baton_package.Error, match="h"):
        bound.result("h")
    with pytest.raises(LookupError, match="zz"):
        bound.run(keep=["zz"])


def test_accesses_are_counted(baton):
    if not baton.target.spec.startswith("sim"):
        pytest.skip("a GPU counts no accesses")
    bound = make().bind(device=baton.target)
    assert bound.run().steps[0].accesses is None
    counts = bound.run(count_accesses=True).steps[0].accesses
    assert (counts.global_requests, counts.global_sectors) == (4, 16)
    assert (counts.shared_requests, counts.shared_conflicts) == (0, 0)


def test_schedules_are_compared():
    bound = make("last", grid=8, args='["y"]').bind(device="sim:h200")
    with pytest.raises(baton_package.Error):
        bound.compare_schedules(["reverse"])
    bound.run(schedule="late")
    same, other = bound.compare_schedules(["late", "reverse"])
    assert (same.schedule, same.difference) == ("late", None)
    difference = other.difference
    assert (difference.buffer, difference.index, difference.count, difference.elements) == ("y", (0,), 1, 64)
    assert {difference.got, difference.reference} == {"0", "7"}
    with pytest.raises(baton_package.Error, match="sideways"):
        bound.compare_schedules(["sideways"])


def test_expected_outputs(baton, tmp_path):
    np.save(tmp_path / "y.npy", np.where(np.arange(64) == 3, 1, 0.25).astype(np.float32))
    bound = make(expected=', expect = "y.npy"', directory=tmp_path).bind(device=baton.target)
    with pytest.raises(baton_package.Error):
        bound.compare_expected()
    bound.run()
    (output,) = bound.compare_expected()
    comparison = output.comparison
    assert (output.buffer, comparison.ok, comparison.elements, comparison.mismatches) == ("y", False, 64, 1)
    assert (comparison.worst_index, comparison.got, comparison.want) == ((3,), "0.25", "1")
    assert comparison.worst_error == comparison.largest_absolute == 0.75
    assert make().bind(device=baton.target).compare_expected() == ()
