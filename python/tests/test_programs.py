"""Programs: bound, called, run and checked."""

import gc

import numpy as np
import pytest

import baton as baton_package
from chain_program import CHAIN, want


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
