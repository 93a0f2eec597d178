"""What a launch refuses beyond wrong values: streams, dead memory, objects that misbehave. test_kernels.py has wrong
values, test_process.py forks, interrupts and the end of a process."""

import gc
import struct

import numpy as np
import pytest

import baton as baton_package
from chain_program import CHAIN
from test_process import run

SOURCE = 'extern "C" __global__ void add(int* p, int n) { atomicAdd(p, n); }'


@pytest.fixture
def add(baton):
    return baton.compile(text=SOURCE)["add"]


@pytest.mark.parametrize("stream, message", [
    (object(), "__cuda_stream__"), ("s", "__cuda_stream__"), (1.5, "__cuda_stream__"),
    (type("S", (), {"__cuda_stream__": lambda self: (1, 0)})(), "another version"),
    (type("S", (), {"__cuda_stream__": lambda self: 7})(), "no pair"),
])
def test_streams_that_are_none(add, stream, message):
    y = np.zeros(1, np.int32)
    with pytest.raises(baton_package.ArgumentError, match=message):
        add.launch(y, 1, grid=1, block=1, stream=stream)
    with pytest.raises(baton_package.ArgumentError, match=message):
        add[1, 1](y, 1, stream=stream)


@pytest.mark.parametrize("stream", [-1, 2**64, type("S", (), {"__cuda_stream__": lambda self: (0, -1)})()])
def test_an_address_beyond_64_bits(add, stream):
    with pytest.raises(baton_package.ArgumentError, match="the stream is -?[0-9]+, which is no address"):
        add.launch(np.zeros(1, np.int32), 1, grid=1, block=1, stream=stream)


def fails(self):
    raise ZeroDivisionError("of the property")


@pytest.mark.parametrize("name", ["__cuda_stream__", "cuda_stream"])
def test_a_stream_whose_attribute_fails(add, name):
    """The cause is told. Only AttributeError says that there is no such attribute."""
    stream = type("S", (), {name: property(fails)})()
    with pytest.raises(ZeroDivisionError, match="of the property"):
        add.launch(np.zeros(1, np.int32), 1, grid=1, block=1, stream=stream)


def test_a_stream_of_another_device(add):
    other = baton_package.Stream("sim:b200")
    with pytest.raises(baton_package.ArgumentError, match="sim:b200"):
        add.launch(np.zeros(1, np.int32), 1, grid=1, block=1, stream=other)


def test_a_plan_takes_no_stream_of_another_device(add):
    """Neither with host arrays, for which nothing is prepared, nor with others."""
    other = baton_package.Stream("sim:b200")
    for array in (np.zeros(1, np.int32), baton_package.zeros(1, "i32", add.device)):
        plan = add.plan(array, 1, grid=1, block=1)
        with pytest.raises(baton_package.ArgumentError, match="sim:b200"):
            plan.stream = other
        assert plan.stream is None
        plan()


def test_an_address_that_is_no_stream(add):
    """With host arrays, for which the stream is needed at once, and with others, where the driver refuses the launch."""
    for array in (np.zeros(1, np.int32), baton_package.zeros(1, "i32", add.device)):
        with pytest.raises(baton_package.ArgumentError, match=f"0x1234 is not a stream of {add.device.spec};"):
            add.launch(array, 1, grid=1, block=1, stream=0x1234)


@pytest.mark.baton(findings="ignore")
def test_dead_memory(baton, add):
    """The address of an array that is gone: the simulated GPU tells, and goes on."""
    y = baton.zeros(1, "i32")
    address = y.address
    del y
    gc.collect()
    with pytest.raises(baton_package.FaultError):
        add[1, 1](baton_package.Pointer(address), 1)
        baton.target.synchronize()
    baton.findings()
    z = np.zeros(1, np.int32)
    add[1, 1](z, 5)
    assert z[0] == 5


@pytest.mark.parametrize("value", [-1, 2**64, 1.5, "0", None])
def test_pointers_that_are_none(value):
    with pytest.raises(baton_package.ArgumentError, match="^the address of a pointer is "):
        baton_package.Pointer(value)


# Python itself writes no text of such an int.
HUGE = 10**5000


@pytest.mark.parametrize("call", [
    lambda add, y: add[1, 1](y, HUGE), lambda add, y: add[HUGE, 1](y, 1), lambda add, y: add[1, 1, HUGE](y, 1),
    lambda add, y: add[1, 1](y, 1, stream=HUGE), lambda add, y: baton_package.Pointer(-HUGE),
    lambda add, y: baton_package.empty(HUGE, "f32", add.device), lambda add, y: add.device.attribute(HUGE),
    lambda add, y: add.launch(y, 1, grid=1, block=1, priority=HUGE),
    lambda add, y: add.launch(y, 1, grid=1, block=1, priority=2**64),
    lambda add, y: baton_package.Stream(add.device).synchronize(HUGE)])
def test_ints_of_any_size(add, call):
    with pytest.raises((baton_package.ArgumentError, baton_package.LimitError)):
        call(add, np.zeros(1, np.int32))


@pytest.mark.parametrize("call", [
    lambda add: baton_package.Device("\ud800"), lambda add: add.module["\ud800"],
    lambda add: baton_package.on(add.device, findings="\ud800"),
    lambda add: add.launch(np.zeros(1, np.int32), 1, grid=1, block=1, pdl="\ud800")])
def test_a_text_that_utf8_does_not_have(add, call):
    with pytest.raises(baton_package.ArgumentError, match="'.ud800' has half of a surrogate pair"):
        call(add)


@pytest.mark.parametrize("key", [(), (1,), 1, (1, 2, 3, 4), (-1, 1), (1, 2**32), (1.5, 1), ((1, 1, 1, 1), 1), ((), 1),
                                 (1, None), ("1", 1)])
def test_extents(add, key):
    with pytest.raises((baton_package.ArgumentError, baton_package.LimitError)):
        add[key](np.zeros(1, np.int32), 1)


@pytest.mark.parametrize("key, message", [
    ((-1, 1), "the grid along x is -1, it takes 1 to 4294967295"),
    ((1, (1, -2)), "the block along y is -2, it takes 1 to 4294967295"),
    ((1, "1"), "the block along x is a str, it takes an int"),
])
def test_extents_are_named(add, key, message):
    with pytest.raises(baton_package.Error, match=message):
        add[key](np.zeros(1, np.int32), 1)


def test_a_call_without_grid_and_block(add):
    with pytest.raises(TypeError, match=r"kernel add .*write k\[grid, block\]\(\.\.\.\)") as caught:
        add(np.zeros(1, np.int32), 1)
    assert isinstance(caught.value, baton_package.ArgumentError)


class Raises:
    """An array whose protocol fails in Python."""

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **keywords):
        raise ZeroDivisionError("of the array")


class Wrong:
    """An array whose interface is nonsense."""

    def __init__(self, **interface):
        self.__array_interface__ = interface


@pytest.mark.parametrize("value, kind", [
    (Raises(), ZeroDivisionError), (Wrong(), baton_package.ArgumentError),
    (Wrong(typestr="<i4", shape=(1,), data=(0, 1, 2)), baton_package.ArgumentError),
    (Wrong(typestr="<q9", shape=(1,), data=(0, False)), baton_package.ArgumentError),
    (Wrong(typestr="<i4", shape=("x",), data=(0, False)), baton_package.ArgumentError),
    (Wrong(typestr="<i4", shape=(-1,), data=(0, False)), baton_package.ArgumentError),
    (Wrong(typestr="<i4", shape=(2**62, 2**62), data=(0, False)), baton_package.ArgumentError),
    (Wrong(typestr="<i4", shape=(4,), strides=(3,), data=(0, False)), baton_package.ArgumentError),
    (Wrong(typestr="<i4", shape=(2, 2), strides=(4,), data=(0, False)), baton_package.ArgumentError),
    (Wrong(typestr="<i4", shape=(2,), strides=(8, 4), data=(0, False)), baton_package.ArgumentError),
    (Wrong(typestr="<i4", shape=3, data=(0, False)), baton_package.ArgumentError),
    (Wrong(typestr="<i4", shape=(1,), data=(-1, False)), baton_package.ArgumentError),
    (Wrong(typestr="<i4", shape=(1,), data=(2**64, False)), baton_package.ArgumentError),
    (Wrong(typestr=7, shape=(4,), data=(0, False)), baton_package.ArgumentError),
    (type("P", (), {"__array_interface__": property(fails)})(), ZeroDivisionError),
    (type("P", (), {"__cuda_array_interface__": property(fails)})(), ZeroDivisionError),
    (type("P", (), {"__dlpack__": property(fails)})(), ZeroDivisionError)])
def test_arrays_that_misbehave(add, value, kind):
    with pytest.raises(kind):
        add[1, 1](value, 1)


def test_an_array_without_memory(add):
    with pytest.raises(baton_package.ArgumentError, match="has 4 bytes, and no memory"):
        add[1, 1](Wrong(typestr="<i4", shape=(1,), data=(0, False)), 1)
    add[1, 1](np.zeros(1, np.int32), 0)


class Device:
    """An array whose device is nonsense."""

    def __init__(self, where):
        self.where = where

    def __dlpack__(self, **keywords):
        raise AssertionError("nobody asks")

    def __dlpack_device__(self):
        return self.where


@pytest.mark.parametrize("where", ["x", None, (), ("x", 0), (2**70, 0), (1.5, 0)])
def test_arrays_on_no_device(add, where):
    with pytest.raises(baton_package.ArgumentError, match="argument 0 gives .* by __dlpack_device__, in place of DLPack.s pair"):
        add[1, 1](Device(where), 1)


@pytest.mark.parametrize("value", [np.ndarray, Device, int])
def test_types_are_no_arrays(add, value):
    with pytest.raises(baton_package.ArgumentError, match="argument 0 is a.* type, which is not an array"):
        add[1, 1](value, 1)


def test_a_number_of_numpy_is_no_pointer(baton):
    copy = baton.compile(text="__global__ void copy(int* to, const int* from) { *to = *from; }")["copy"]
    y = np.zeros(1, np.int32)
    with pytest.raises(baton_package.ArgumentError, match="argument 1 is the number 7, for a pointer; .*pass an array"):
        copy[1, 1](y, np.int32(7))
    copy[1, 1](y, np.array(7, np.int32))
    assert y[0] == 7


def test_bytes_that_a_struct_cannot_have(baton):
    kernel = baton.compile(text="struct P { int a, b; }; __global__ void take(int* o, P p) { *o = p.a; }")["take"]
    released = memoryview(bytes(8))
    released.release()
    for value in (np.zeros(4, np.int32)[::2], released):
        with pytest.raises(baton_package.ArgumentError, match="argument 1 is an? .* that does not give its bytes"):
            kernel[1, 1](np.zeros(1, np.int32), value)


def test_what_an_index_raises_comes_out(add):
    class Index:
        def __index__(self):
            raise ZeroDivisionError("of the index")

    with pytest.raises(ZeroDivisionError, match="of the index"):
        add[1, 1](np.zeros(1, np.int32), Index())


def test_an_array_to_copy_is_named(baton):
    odd = np.array([None])
    with pytest.raises(baton_package.ArgumentError, match='^the array to copy is an array of elements "O"'):
        baton_package.array(odd, baton.target)
    with pytest.raises(baton_package.ArgumentError, match="^the array to copy is not contiguous"):
        baton_package.array(np.zeros(4)[::2], baton.target)
    # A kernel's parameter tells what raw elements are; here nothing does.
    with pytest.raises(baton_package.ArgumentError, match='^the elements of an array of raw elements of 16 bits .4. .*name theirs'):
        baton_package.array(np.zeros(4, "V2"), baton.target)
    with pytest.raises(baton_package.ArgumentError, match='^the array of the host is an array of elements "O"'):
        baton_package.zeros(1, "f32", baton.target).copy_from(odd)


def test_a_path_with_a_nul(tmp_path):
    """The system would end the name there, and read another file."""
    (tmp_path / "k.cu").write_text("__global__ void k() {}")
    path = f"{tmp_path}/k.cu\0.cu"
    for read in (baton_package.compile, baton_package.load, baton_package.Program, baton_package.inspect):
        with pytest.raises((baton_package.Error, ValueError), match="(?i)nul"):
            read(path)


def test_classes_of_errors(baton, add):
    device = baton.target
    module = add.module
    waits_for_x = baton_package.Program.from_text(CHAIN.replace(', init = "ones"', ""))
    for call, message in ((lambda: device.attribute("x"), "the attribute's number is a str"),
                          (lambda: module[0], "indexed by the name of a kernel, not by an int"),
                          (lambda: baton_package.empty(4, "f32", stream=5), "empty.. takes a baton.Stream"),
                          (lambda: baton_package.Stream(device, "x"), "the priority of a stream is a str"),
                          (lambda: waits_for_x.bind(device=device).set(N=1.5), "the symbol N is given a float"),
                          (lambda: baton_package.Device(5), "the name of a device is a str, not an int"),
                          (lambda: waits_for_x.kernel(5, device), "the name of a kernel is a str, not an int"),
                          (lambda: baton_package.Program("p.toml", verify=5), "verify is a str, not an int"),
                          (lambda: baton_package.Program("p.toml", keys="k.pem"), "keys is one path, 'k.pem'"),
                          (lambda: baton_package.on(device, findings=5), "findings is a str, not an int"),
                          (lambda: baton_package.on(device, races=5), "races is of the type int"),
                          (lambda: baton_package.Stream(device).synchronize("1"), "the timeout is a str"),
                          (lambda: baton_package.triton.load(5), "an int was given: baton.triton.load takes"),
                          (lambda: baton_package.capture(print, (1,), device=device, sizes=5), "sizes is an int"),
                          (lambda: baton_package.capture(print, (1,), device=device, weights="w"), "weights is one str")):
        with pytest.raises(baton_package.ArgumentError, match=message):
            call()
    array = baton_package.zeros(1, "f32", device)
    for call, message in ((lambda: array.set_name(5), "the name of an array is a str, not an int"),
                          (lambda: module.variable(5), "the name of a variable is a str, not an int"),
                          (lambda: baton_package.on(device, schedule=5), "a schedule is a str, not an int")):
        with pytest.raises(TypeError, match=message):
            call()
    baton_package.Stream(device, 10**12)  # the driver takes the nearest that it has


def test_read_only_arrays_by_the_ptx(baton):
    """The name of an extern "C" kernel tells no types, so the PTX decides what may be read-only."""
    copy = baton.compile(text='extern "C" __global__ void copy(int* to, const int* from) { *to = *from; }')["copy"]
    fixed = np.full(1, 7, np.int32)
    fixed.flags.writeable = False
    y = np.zeros(1, np.int32)
    copy[1, 1](y, fixed)
    assert y[0] == 7 and copy.writes == (True, False)
    with pytest.raises(baton_package.ArgumentError, match="argument 0 is read-only"):
        copy[1, 1](fixed, y)


@pytest.mark.parametrize("type_, value", [("long long", 5), ("double", 0.5), ("long long", -1), ("float", 0.5), ("short", 3)])
def test_a_parameter_of_unknown_type_says_how_its_bytes_are_made(baton, type_, value):
    kernel = baton.compile(text=f'extern "C" __global__ void unused(int* p, {type_} value) {{ *p = 1; }}')["unused"]
    y = np.zeros(1, np.int32)
    try:
        kernel[1, 1](y, value)
    except baton_package.ArgumentError as error:
        hint = str(error).partition("such as ")[2]
        kernel[1, 1](y, eval(hint, {"struct": struct}))
    assert y[0] == 1


def test_an_argument_that_replaces_another_while_it_is_read(baton, add):
    """A plan's values stay alive while a view of one of them runs Python code."""
    class Meddles:
        def __init__(self):
            self.array = np.zeros(1, np.int32)

        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **keywords):
            if plans:
                plans[0][0] = np.zeros(1, np.int32)
                gc.collect()
            return self.array.__dlpack__()

    plans = []
    plan = add.plan(Meddles(), 1, grid=1, block=1)
    plans.append(plan)
    plan()
    assert isinstance(plan[0], np.ndarray)


def test_the_end_of_an_interpreter_in_any_order():
    """Module globals die in no useful order, with work in flight and in a thread that still launches."""
    result = run("""
        import baton, threading, time
        device = baton.device("sim")
        kernel = baton.compile(text='extern "C" __global__ void spin(int* p) { for (int i = 0; i < 20000; ++i) atomicAdd(p, 1); }', device=device)["spin"]
        stream = baton.Stream(device)
        array = baton.zeros(1, "i32", device)
        launcher, plan = kernel[2, 32], kernel.plan(array, grid=2, block=32, stream=stream)
        program = baton.ProgramBuilder("p")
        plan()
        cycle = [plan, launcher]
        cycle.append(cycle)
        started = threading.Event()
        def work():
            while True:
                kernel.launch(array, grid=1, block=1, stream=stream)
                started.set()
                time.sleep(0.001)
        threading.Thread(target=work, daemon=True).start()
        started.wait()
        """)
    assert result.returncode == 0 and result.stderr == ""


@pytest.mark.parametrize("arguments, message", [
    (dict(text=b"x"), "compile\\(\\) takes a str as its argument 'text', not a bytes"),
    (dict(text=SOURCE, prelude=3), "argument 'prelude', not an int"),
    (dict(text=SOURCE, arch=90), "argument 'arch', not an int")])
def test_what_is_no_text(arguments, message):
    with pytest.raises(TypeError, match=message):
        baton_package.compile(device="sim", **arguments)


def test_options_that_are_no_texts():
    with pytest.raises(baton_package.Error, match="options is an int, it takes texts"):
        baton_package.compile(text=SOURCE, device="sim", options=3)
