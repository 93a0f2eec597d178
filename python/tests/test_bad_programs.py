"""What programs, bundles and the tools refuse."""

import pytest

import baton as baton_package

PROGRAM = """
name = "p"
[buffers]
y = { dtype = "i32", shape = [1], role = "output", init = "zeros" }
[kernels.add]
text = 'extern "C" __global__ void add(int* p, int n) { atomicAdd(p, n); }'
[[steps]]
launch = "add"
grid = [1]
block = [1]
args = ["y", 1]
"""


@pytest.fixture
def program():
    return baton_package.Program.from_text(PROGRAM)


def test_keys_that_are_none(program, tmp_path):
    """An empty list of keys must not mean that every bundle is trusted."""
    path = tmp_path / "p.baton"
    baton_package.bundle(program, path, "compute_90")
    assert baton_package.load(path).architectures == ("compute_90",)
    for opened in (lambda: baton_package.load(path, keys=[]),
                   lambda: baton_package.load(path.read_bytes(), keys=[]),
                   lambda: baton_package.Program(path, keys=())):
        with pytest.raises(baton_package.ArgumentError, match="keys is empty"):
            opened()


def test_a_bundle_has_names_as_a_module_has(program, tmp_path):
    baton_package.bundle(program, tmp_path / "p.baton", ["compute_90"])
    bundle = baton_package.load(tmp_path / "p.baton")
    assert list(bundle) == ["add"] and len(bundle) == 1
    assert "add" in bundle and "sub" not in bundle


def test_an_allocator_that_gives_no_address(program):
    class Pool:
        def allocate(self, device, bytes):
            return "0x1000"

        def free(self, device, address, bytes):
            raise AssertionError

    with pytest.raises(baton_package.Error, match="allocate.*returned '0x1000'; it returns an address"):
        program.bind(device="sim", allocator=Pool()).run()


@pytest.mark.parametrize("setting, message", [
    ({"allocator": 5}, "allocate.*; an int has no method allocate"),
    ({"allocator": type("Half", (), {"allocate": print})()}, "a Half has no method free"),
    ({"seed": "x"}, "the seed is a str"), ({"seed": -1}, "the seed is -1"), ({"seed": 2**64}, "the seed is 1844"),
    ({"collectives": "mpi"}, "collectives is \"mpi\""), ({"collectives": 5}, "'collectives', not an int"),
    ({"N": 1.5}, "the symbol N is given a float"), ({"N": 2**63}, "which 64 bits do not hold"),
    ({"symbols": {5: 1}}, "the names of symbols are of the type str, and one is an int"), ({"pdl": 5}, "pdl is a str, not an int"),
    ({"rewrite": 5}, "rewrite is a str, not an int"), ({"rewrite": []}, "rewrite is a str, not a list"),
    ({"pdl": {}}, "pdl is a str, not a dict"), ({"executor": 5}, "executor is a str, not an int"),
])
def test_bind_refuses_settings_before_the_arrays_come(setting, message):
    """A program that waits for an input binds with the first call, and takes no wrong setting until then."""
    waits = baton_package.Program.from_text(PROGRAM.replace("[buffers]", """[symbols]
N = 4
[buffers]
x = { dtype = "i32", shape = ["N"], role = "input" }"""))
    with pytest.raises((TypeError, ValueError), match=message):
        waits.bind(device="sim", **setting)
    assert isinstance(waits.bind(device="sim", N=8), baton_package.BoundProgram)


@pytest.mark.parametrize("call, message", [
    (lambda: baton_package.tune("no.toml", budget=-1), "^budget takes a number of seconds of at least 0"),
    (lambda: baton_package.tune("no.toml", symbols={"N": "many"}), "^symbols: N takes a 64-bit integer"),
    (lambda: baton_package.bench("no.toml", device="smi"), "no.toml"),
    (lambda: baton_package.bench("no.toml", baton_package.Device("sim:tiny"), {"N": 4}), "no.toml"),
    (lambda: baton_package.bench(baton_package.Program.from_text(PROGRAM)), r"^bench\(\) takes the path .*Program was given"),
])
def test_messages_of_the_tools_name_their_arguments(call, message):
    with pytest.raises(baton_package.Error, match=message) as caught:
        call()
    assert "--" not in str(caught.value)


def test_tools_raise_the_class_of_the_error():
    with pytest.raises(baton_package.NotFoundError, match="missing"):
        baton_package.inspect("missing.baton")


def test_init_of_a_buffer_names_the_buffer():
    builder = baton_package.ProgramBuilder("p")
    builder.buffer("x", "f32", 4, role="input", init=5)
    with pytest.raises(baton_package.Error, match="init of buffer x must be a word such as \"random\""):
        builder.build()
