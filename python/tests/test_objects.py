"""Public objects in places where a user may not expect them: copies, pickles, subclasses, other interpreters, reloads,
forked children. Each is an exception, or works; none ends or stops the process."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import baton as baton_package
from test_process import run

SOURCE = 'extern "C" __global__ void add(int* p, int n) { atomicAdd(p, n); }'
PROGRAM = """
name = "ones"
[symbols]
N = 4
[buffers]
y = { dtype = "i32", shape = ["N"], role = "output" }
[kernels.ones]
text = 'extern "C" __global__ void ones(int* y) { y[threadIdx.x] = 1; }'
[[steps]]
launch = "ones"
grid = [1]
block = ["N"]
args = ["y"]
"""
# Have memory, code or queues of a device, or run on one.
OF_A_DEVICE = ("device", "module", "kernel", "launcher", "array", "stream", "event", "plan", "bound", "pointer", "on")


@pytest.fixture
def objects(baton):
    device = baton.target
    module = baton.compile(text=SOURCE)
    array = baton.zeros(4, "i32")
    stream = baton_package.Stream(device)
    program = baton_package.Program.from_text(PROGRAM)
    bound = program.bind(device=device)
    return {
        "device": device, "module": module, "kernel": module["add"], "launcher": module["add"][1, 1], "array": array,
        "stream": stream, "event": stream.record(), "plan": module["add"].plan(array, 1, grid=1, block=1),
        "pointer": baton_package.Pointer(array.address), "on": baton_package.on(device), "program": program,
        "bound": bound, "report": bound.run(), "parameter": module["add"].params[0], "buffer": program.buffers["y"],
        "check": program.check(device=device), "error": baton_package.ArgumentError("text", where="a.toml:1:2"),
    }


@pytest.mark.parametrize("name", OF_A_DEVICE)
def test_objects_of_a_device_are_not_copied(objects, name):
    for make in (copy.copy, copy.deepcopy, *(lambda o, p=p: pickle.dumps(o, p) for p in (2, 5))):
        with pytest.raises(TypeError, match="cannot"):
            make(objects[name])


@pytest.mark.parametrize("name", ["report", "parameter", "buffer", "check", "error"])
def test_values_are_copied(objects, name):
    value = objects[name]
    for made in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert type(made) is type(value) and repr(made) == repr(value)
    assert weakref.ref(value)() is value


@pytest.mark.parametrize("name", OF_A_DEVICE)
def test_objects_of_a_device_have_weak_references(objects, name):
    value = objects[name]
    assert weakref.ref(value)() is value and weakref.getweakrefcount(value) == 1
    assert weakref.proxy(value).__class__ is value.__class__


def test_a_weak_reference_ends_with_its_object(baton):
    device, kernel = baton.target, baton.compile(text=SOURCE)["add"]
    ended = []
    for make in (lambda: kernel[1, 1], lambda: kernel[1, 1], lambda: device.empty(4, "f32"),
                 lambda: baton_package.Stream(device), lambda: kernel.plan(None, 1, grid=1, block=1)):
        value = make()
        reference = weakref.ref(value, ended.append)
        assert reference() is value
        del value
        assert reference() is None and ended.pop() is reference
        assert weakref.getweakrefcount(make()) == 0


def test_a_cache_of_weak_references(baton):
    cache = weakref.WeakValueDictionary()
    cache["a"] = array = baton.zeros(4, "f32")
    assert cache["a"] is array
    view = array[:2]
    assert weakref.ref(view)() is view
    del array
    assert "a" not in cache
    kernels = weakref.WeakKeyDictionary()
    kernel = baton.compile(text=SOURCE)["add"]
    kernels[kernel] = "add"
    assert kernels[kernel] == "add"
    del kernel
    gc.collect()
    assert not kernels


def test_an_error_keeps_its_place_in_a_pickle(objects):
    assert pickle.loads(pickle.dumps(objects["error"])).where == "a.toml:1:2"


def test_no_object_without_its_contents(objects):
    """A type of the extension makes no empty object, by whichever way."""
    for name in OF_A_DEVICE:
        kind = type(objects[name])
        if name == "bound":
            continue
        with pytest.raises(TypeError):
            object.__new__(kind)
        if name not in ("device", "stream", "on", "pointer"):
            with pytest.raises(TypeError):
                kind()
        with pytest.raises(TypeError):
            objects[name].__class__ = int
        with pytest.raises(AttributeError):
            objects[name].no_such_attribute = 1


def test_subclasses(objects):
    """Only an array has subclasses, which only it makes."""
    for name in OF_A_DEVICE:
        kind = type(objects[name])
        if name in ("array", "bound"):
            assert type("Own", (kind,), {}).__mro__[1] is kind
        else:
            with pytest.raises(TypeError, match="not an acceptable base"):
                type("Own", (kind,), {})
    with pytest.raises(TypeError):
        type("Own", (type(objects["array"]),), {})()


@pytest.mark.parametrize("call", [
    "Stream({})", "compile(text='x', device={})", "zeros(1, 'i32', {})", "on({})", "load(b'', {})"])
@pytest.mark.parametrize("given", ["1", "1.5", "b'sim'", "object()", "[]"])
def test_a_device_that_is_none(call, given):
    with pytest.raises(baton_package.ArgumentError, match="the device is an? .*pass a baton.Device or a name"):
        eval("baton_package." + call.format(given))


@pytest.mark.parametrize("counts, kind", [
    ([1.5], baton_package.ArgumentError), (["4"], baton_package.ArgumentError),
    ([-1], baton_package.LimitError), ([2**32], baton_package.LimitError)])
def test_counts_of_parts(baton, counts, kind):
    with pytest.raises(kind, match="a count of SMs is"):
        baton.target.split_sms(counts)


INTERPRETERS = """
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import sys
def in_another(code):
    for settings in ({"isolated": False}, {}) if sys.version_info < (3, 13) else ({},):
        made = interpreters.create(**settings)
        interpreters.run_string(made, code)
        interpreters.destroy(made)
TRY = '''
try:
    import baton
except ImportError as error:
    print(error)
'''
"""


@pytest.mark.parametrize("first", ["", "import baton\n"])
def test_another_interpreter_of_the_process(first):
    """It is told to use the main one, which goes on."""
    result = run(INTERPRETERS + first + """
in_another(TRY)
import baton
print(baton.zeros(1, "i32", "sim").tobytes())
""")
    lines = result.stdout.splitlines()
    assert len(lines) >= 2 and all("interpreter" in line for line in lines[:-1])
    assert lines[-1] == repr(bytes(4))


def test_a_second_import_is_told():
    result = run("""
        import sys, baton
        array = baton.zeros(1, "i32", "sim")
        for name in [name for name in sys.modules if name.startswith("baton")]:
            del sys.modules[name]
        try:
            import baton
        except ImportError as error:
            print(error)
        print(array.tobytes())
        """)
    assert "loaded once in a process" in result.stdout and repr(bytes(4)) in result.stdout


def test_a_reload():
    result = run("""
        import importlib, baton
        array = baton.zeros(1, "i32", "sim")
        importlib.reload(baton)
        print(baton.zeros(1, "i32", array.device).tobytes(), isinstance(array, baton.Array))
        """)
    assert result.stdout == f"{bytes(4)!r} True\n"


DROPS = ("array", "module", "kernel", "bound", "stream", "device")
CALLS = ("array.tobytes()", "device.synchronize()", "kernel[1, 1](array)", "bound.run()", "stream.synchronize()",
         "baton.Device('sim:b200')", "baton.zeros(1, 'i32', 'sim:b200')")


@pytest.mark.parametrize("busy", [False, True])
def test_a_forked_child(busy):
    """While the device executes, too: the child's copy of its threads is gone. Objects end there, calls are told."""
    result = run(f"""
import baton, gc, os, signal
source = '''extern "C" __global__ void spin(int* p) {{ for (;;) atomicAdd(p, 1); }}
extern "C" __global__ void add(int* p) {{ atomicAdd(p, 1); }}'''
device = baton.Device("sim")
module = baton.compile(text=source, device=device)
module.load_kernels()
kernel, array, stream = module["add"], baton.zeros(1, "i32", device), baton.Stream(device)
bound = baton.Program.from_text('''{PROGRAM}''').bind(device=device)
bound.run()
if {busy}:
    module["spin"].launch(array, grid=1, block=1, stream=stream)
def in_a_child(work):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # a hang ends by a signal
        work()
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
def drops(name):
    del globals()[name]
    gc.collect()
def calls(code):
    try:
        exec(code, globals())
    except baton.DeviceError:
        return
    os._exit(1)
for name in {DROPS}:
    in_a_child(lambda: drops(name))
for code in {CALLS}:
    in_a_child(lambda: calls(code))
os._exit(0)
""")
    assert result.stdout.split() == ["0"] * (len(DROPS) + len(CALLS))


def test_the_collector_meets_any_order(baton):
    """Cycles of objects whose parts the collector ends in an order of its own."""
    module = baton.compile(text=SOURCE)
    for order in range(6):
        array = baton.zeros(4, "i32")
        plan = module["add"].plan(array, 1, grid=1, block=1)
        parts = [plan, array, array[1:], module["add"], plan.kernel]
        parts = parts[order % 5:] + parts[:order % 5]
        cycle = {"parts": parts}
        cycle["self"] = cycle
        plan()
        del array, plan, parts, cycle
        gc.collect()
    y = np.zeros(1, np.int32)
    module["add"][1, 1](y, 3)
    assert y[0] == 3
