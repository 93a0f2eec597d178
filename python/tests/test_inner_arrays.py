"""Arrays whose addresses go into structs: with a GPU's driver whose launches hand over their arguments, and on the
simulated GPU."""

import pathlib

import numpy as np
import pytest

import baton as package
import baton.cute
import baton.warp
from test_common_arguments import run

DATA = pathlib.Path(__file__).parent / "testdata"

PREAMBLE = f"""
import baton.cute, baton.warp

class Array(View):  # of the GPU
    dtype = "f32"

    def __init__(self, data=0x1000, **settings):
        super().__init__(data, **{{"shape": (8,), **settings}})

    def stride(self):
        return (1,)

saxpy = baton.warp.load({str(DATA / "warp")!r}, "cuda:0")["saxpy"]
add = baton.cute.load({str(DATA / "cute" / "add.ptx")!r}, "cuda:0")["add_kernel"]
x, y = Array(), Array(0x2000)

def refused(launch):
    try:
        launch()
    except baton.ArgumentError as error:
        print(str(error).partition(";")[0])
    assert not launched
"""


def test_the_stream_of_the_arrays_library():
    """It is not the default stream, although the driver sees no array among the arguments."""
    run(PREAMBLE + """
saxpy[8](x, y, 2.0)
stream, values = launched.pop()
assert stream == STREAM and values[1:3] == [0x1000, 0x2000], (stream, values)
saxpy[8](x, y, 2.0, stream=0x77)
assert launched.pop()[0] == 0x77
add.launch(x, y, Array(0x3000), 8, grid=1)
stream, values = launched.pop()
assert stream == STREAM and values[:3] == [0x1000, 0x2000, 0x3000], (stream, values)
add.launch(*(baton.cute.Tensor(each, [8]) for each in (x, y, x)), 8, grid=1)
assert launched.pop()[0] == STREAM
""")


def test_arrays_that_the_kernel_cannot_read():
    printed = run(PREAMBLE + """
import numpy as np
for wrong in (Array(device=(2, 1)), Array(device=(1, 0)), Array(strides=(2,)), Array(data=0)):
    refused(lambda: saxpy[8](wrong, y, 2.0))
    refused(lambda: add.launch(x, wrong, y, 8, grid=1))
refused(lambda: saxpy[8](np.ones(8, "f4"), y, 2.0))
refused(lambda: add.launch(x, baton.cute.Tensor(Array(device=(2, 1)), [8]), y, 8, grid=1))
""")
    lines = printed.splitlines()
    other, host = "is in memory of another device (DLPack's type 2, id 1)", "is in host memory, which no kernel on cuda:0 can read"
    wanted = [f"the {kernel} kernel {name}: argument {index} {why}" for why in (other, host, "is not contiguous", "has 32 bytes, and no memory")
              for kernel, name, index in (("Warp", "saxpy", 0), ("CuTe", "add_kernel", 1))]
    wanted += [f"the Warp kernel saxpy: argument 0 {host}", f"the CuTe kernel add_kernel: argument 1 {other}"]
    assert len(lines) == len(wanted), printed
    for line, text in zip(lines, wanted):
        assert line.startswith(text), (line, text)


@pytest.fixture
def saxpy(baton):
    return package.warp.load(DATA / "warp", baton.target)["saxpy"]


def test_memory_of_another_simulated_gpu(saxpy):
    other, y = package.zeros(8, "f32", "sim:tiny"), np.zeros(8, np.float32)
    with pytest.raises(package.ArgumentError, match="argument 0 is in memory of sim:tiny; the kernel is on sim:"):
        saxpy[8](other, y, 2.0)


def test_a_read_only_array_is_refused_before_the_launch(saxpy):
    x, y = np.ones(8, np.float32), np.zeros(8, np.float32)
    y.flags.writeable = False
    with pytest.raises(package.ArgumentError, match="saxpy: argument 1 is read-only"):
        saxpy[8](x, y, 2.0)
    assert (y == 0).all()


@pytest.mark.parametrize("value", [1e300, -1e300, 2**200])
def test_floats_beyond_their_range(saxpy, value):
    with pytest.raises(package.ArgumentError, match="argument 2 is a number beyond the range of f32"):
        saxpy[8](np.ones(8, np.float32), np.ones(8, np.float32), value)


@pytest.mark.parametrize("block_dim", [0, -1, "x", None, 1.5, (32, 1)])
def test_threads_of_a_block(saxpy, block_dim):
    with pytest.raises(package.ArgumentError, match="block_dim is .*, it takes a number of threads from 1 on"):
        saxpy.launch(np.ones(8, np.float32), np.ones(8, np.float32), 2.0, dim=8, block_dim=block_dim)


@pytest.mark.parametrize("layout", [(5, ()), ((2**40,), ()), (("x",), ()), ((1.5,), ()), ((), (2**70,)), (None, ())])
def test_layouts_that_are_none(baton, layout):
    add = package.cute.load(DATA / "cute" / "add.ptx", baton.target)["add_kernel"]
    x = np.ones(8, np.float32)
    with pytest.raises(package.ArgumentError, match="argument 1 (has the (extents|strides) .*a sequence of ints|makes 16 bytes)"):
        add.launch(x, package.cute.Tensor(x, *layout), x, 8, grid=1)
