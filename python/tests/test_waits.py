"""Every call that waits, and every object whose end waits, while the device executes a kernel without an end.

Ctrl-C must end each: by an exception, and in a destructor by one that comes out of the code that follows.
"""

import gc
import threading
import time

import numpy as np
import pytest

import baton as baton_package
from test_interrupts import KERNELS, goes_on, interrupted

OTHER = 'extern "C" __global__ void other(int* p) { atomicAdd(p, 2); }'
PROGRAM = """
name = "sums"
[symbols]
N = 4
[buffers]
x = { dtype = "i32", shape = ["N"], role = "input", init = "random" }
w = { dtype = "i32", shape = ["N"], role = "weight", init = "random" }
y = { dtype = "i32", shape = ["N"], role = "output" }
[kernels.sum]
text = 'extern "C" __global__ void sum(int* y, const int* x, const int* w) { y[threadIdx.x] = x[threadIdx.x] + w[threadIdx.x]; }'
[[steps]]
launch = "sum"
grid = [1]
block = ["N"]
args = ["y", "x", "w"]
"""


class World:
    """What there is while the kernel runs. Statements replace and delete its attributes."""

    def __init__(self):
        self.device = baton_package.Device("sim:h200")
        self.kernels = baton_package.compile(text=KERNELS, device=self.device)
        self.kernels.load_kernels()
        self.spins = baton_package.zeros(1, "i32", self.device)
        self.array = baton_package.zeros(1, "i32", self.device)
        self.four = baton_package.zeros(4, "i32", self.device)
        self.stream = baton_package.Stream(self.device)
        self.module = baton_package.compile(text=OTHER, device=self.device)
        self.module.load_kernels()
        self.program = baton_package.Program.from_text(PROGRAM)
        self.bound = self.program.bind(device=self.device)
        self.graph = self.program.bind(device=self.device, executor="graph")
        for bound in (self.bound, self.graph):
            bound(x=np.zeros(4, np.int32))
        self.part, = self.device.split_sms([4])
        self.on = baton_package.on(self.device, schedule="late")

    def host(self, count=1):
        return np.zeros(count, np.int32)


WAITS = {
    "device": "w.device.synchronize()",
    "stream": "w.stream.synchronize()",
    "event": "w.stream.record().synchronize()",
    "findings": "w.device.findings(wait=True)",
    "numpy": "w.array.numpy()",
    "tobytes": "w.array.tobytes()",
    "copy_from": "w.array.copy_from(w.host())",
    "copy_to": "w.array.copy_to(w.host())",
    "zero": "w.array.zero()",
    "array": "baton_package.array(w.host(), w.device)",
    "a launch with a host array": "w.kernels['add'].launch(w.host(), grid=1, block=1, stream=w.stream)",
    "a schedule begins": "w.on.__enter__()",
    "a call": "w.bound(x=w.four)",
    "a call of a graph": "w.graph(x=w.four)",
    "a call with a host array": "w.bound(x=w.host(4), stream=w.stream)",
    "a call with another shape": "w.bound(x=w.host(8))",
    "other sizes": "w.bound.set(N=8)",
    "a larger binding": "w.program.bind(device=w.device, N=512)",
    "a run": "w.bound.run()",
    "a run of a graph": "w.graph.run()",
    "schedules": "w.bound.run(), w.bound.compare_schedules(['late'])",
    "wait": "w.bound.enqueue(w.stream), w.bound.wait(w.stream)",
    "the end of an array": "del w.array",
    "the end of a temporary array": "baton_package.empty(1, 'i32', w.device)",
    "the end of a module": "del w.module",
    "the end of a bound program": "del w.bound",
    "the end of a graph": "del w.graph",
    "the end of a part": "w.kernels['spin'].launch(w.spins, grid=1, block=1, stream=w.part); del w.part",
    "the collector": "w.cycle = [w.array]; w.cycle.append(w.cycle); del w.array; del w.cycle; gc.collect()",
}


@pytest.mark.parametrize("statement", WAITS.values(), ids=WAITS)
def test_control_c(statement):
    w = World()
    w.kernels["spin"].launch(w.spins, grid=1, block=1, stream=w.stream)
    with interrupted():
        exec(statement, {"w": w, "baton_package": baton_package, "gc": gc})
        for _ in range(1000):  # where the exception of a destructor comes out
            pass
    goes_on(w.kernels)


def test_an_exception_on_its_way_stays():
    """A destructor that waits while an exception unwinds its frame."""
    w = World()
    w.kernels["spin"].launch(w.spins, grid=1, block=1, stream=w.stream)

    def fails():
        kept = baton_package.empty(1, "i32", w.device)  # noqa: F841: it ends with the frame
        raise ZeroDivisionError("first")

    with interrupted():
        try:
            fails()
        except ZeroDivisionError as error:
            assert str(error) == "first"
            error.__traceback__ = None  # ends the frame
        for _ in range(1000):
            pass
    goes_on(w.kernels)


def test_a_destructor_that_waits_lets_threads_run():
    w = World()
    w.kernels["spin"].launch(w.spins, grid=1, block=1, stream=w.stream)
    # The thread's own array: without a global lock, one of this thread may end in this thread.
    thread = threading.Thread(target=lambda: baton_package.empty(1, "i32", w.device))
    thread.start()
    time.sleep(0.2)  # with the interpreter's lock held there, this thread would never come back
    assert thread.is_alive()
    with interrupted():
        w.device.synchronize()
    thread.join(60)
    assert not thread.is_alive()
    goes_on(w.kernels)
