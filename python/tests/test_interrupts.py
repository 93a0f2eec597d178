"""Waits that end early: by a signal, by a time limit, by the end of the interpreter. Later work runs as before."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import numpy as np
import pytest

import baton as baton_package
from test_process import run

# Without an end, and no loop that only polls: the simulated GPU would end that by itself.
KERNELS = """
extern "C" __global__ void spin(int* p) { for (;;) atomicAdd(p, 1); }
extern "C" __global__ void add(int* p) { atomicAdd(p, 1); }
"""
PROGRAM = f"""
name = "spins"
[buffers]
x = {{ dtype = "i32", shape = [1], role = "input", init = "zeros" }}
y = {{ dtype = "i32", shape = [1], role = "output" }}
[kernels.spin]
text = '''{KERNELS}'''
entry = "spin"
[[steps]]
launch = "spin"
grid = [1]
block = [1]
args = ["y"]
"""


class Interrupted(Exception):
    pass


@contextmanager
def interrupted(seconds=0.3):
    """A signal whose handler raises, as Ctrl-C does."""
    def handler(number, frame):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        with pytest.raises(Interrupted):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def device():
    return baton_package.Device("sim:h200")


@pytest.fixture
def kernels(device):
    module = baton_package.compile(text=KERNELS, device=device)
    module.load_kernels()
    return module


def goes_on(kernels):
    z = np.zeros(1, np.int32)
    kernels["add"][1, 1](z)
    assert z[0] == 1


def test_a_call_behind_other_work_lets_signals_through(device, kernels):
    """The copy of a host array would wait for that work, in the driver."""
    y = baton_package.zeros(1, "i32", device)
    kernels["spin"][1, 1](y)
    with interrupted():
        kernels["add"][1, 1](np.zeros(1, np.int32))
    goes_on(kernels)


def test_a_call_behind_other_work_lets_threads_run(device, kernels):
    y = baton_package.zeros(1, "i32", device)
    kernels["spin"][1, 1](y)
    count, ended = 0, threading.Event()

    def work():
        nonlocal count
        while not ended.wait(0.001):
            count += 1

    thread = threading.Thread(target=work)
    thread.start()
    with interrupted():
        kernels["add"][1, 1](np.zeros(1, np.int32))
    ended.set()
    thread.join()
    assert count > 10
    goes_on(kernels)


def test_a_program_with_host_arrays_behind_other_work(device, kernels):
    bound = baton_package.Program.from_text(PROGRAM).bind(device=device)
    y = baton_package.zeros(1, "i32", device)
    kernels["spin"][1, 1](y)
    with interrupted():
        bound(x=np.zeros(1, np.int32))
    goes_on(kernels)


def test_on_is_left_where_its_wait_is_interrupted(device, kernels):
    tiny = baton_package.Device("sim:tiny")
    y = baton_package.zeros(1, "i32", device)
    with baton_package.on(tiny):
        with interrupted():
            with baton_package.on(device):
                kernels["spin"][1, 1](y)
        assert baton_package.device() == tiny
    goes_on(kernels)


@pytest.mark.parametrize("executor", ["stream", "graph"])
def test_a_run_that_is_interrupted(device, kernels, executor):
    bound = baton_package.Program.from_text(PROGRAM).bind(device=device, executor=executor)
    with interrupted():
        bound.run()
    goes_on(kernels)


@pytest.mark.parametrize("executor", ["stream", "graph"])
def test_a_run_beyond_its_limit(device, kernels, executor):
    bound = baton_package.Program.from_text(PROGRAM).bind(device=device, executor=executor)
    with pytest.raises(baton_package.TimeoutError, match="longer than its limit"):
        bound.run(timeout=0.2)
    goes_on(kernels)
    bound.enqueue()
    with pytest.raises(baton_package.TimeoutError):
        bound.wait(timeout=0.2)
    goes_on(kernels)


def test_a_run_whose_threads_poll_for_ever(device, kernels):
    """The simulated GPU ends it."""
    text = PROGRAM.replace("for (;;) atomicAdd(p, 1);", "while (*(volatile int*)p == 0) {}")
    bound = baton_package.Program.from_text(text.replace("role = \"output\"", "role = \"output\", init = \"zeros\""))
    with pytest.raises(baton_package.TimeoutError, match="livelock"):
        bound.bind(device=device).run()
    goes_on(kernels)


def test_an_interpreter_that_ends_while_a_thread_waits():
    """Python unwinds such a thread when it asks for the lock. No frame of the extension may stop that."""
    result = run("""
        import baton, threading, time
        device = baton.Device("sim")
        slow = baton.compile(text='extern "C" __global__ void slow(int* p) { for (int i = 0; i < 200000; ++i) atomicAdd(p, 1); }', device=device)["slow"]
        stream = baton.Stream(device)
        array = baton.zeros(1, "i32", device)
        slow.launch(array, grid=4, block=32, stream=stream)
        for wait in (stream.synchronize, device.synchronize, stream.record().synchronize, array.numpy):
            threading.Thread(target=wait, daemon=True).start()
        time.sleep(0.1)
        """, check=False)
    assert result.returncode == 0 and result.stderr == ""


def test_an_interpreter_that_ends_while_a_thread_calls_python():
    """The same where the lock is taken by Python itself, below the extension."""
    result = run("""
        import baton, threading, time
        class Slow:
            def __dlpack_device__(self):
                time.sleep(0.01)
                return (1, 0)
            def __dlpack__(self, **keywords):
                raise BufferError
        kernel = baton.compile(text='extern "C" __global__ void add(int* p) { atomicAdd(p, 1); }', device="sim")["add"]
        def work(sleep=time.sleep, slow=Slow()):
            while True:
                try:
                    kernel[1, 1](slow)
                except BufferError:
                    pass
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        time.sleep(0.1)
        """, check=False)
    assert result.returncode == 0 and result.stderr == ""


def test_control_c_ends_a_process_that_waits_at_its_end():
    path = str(pathlib.Path(baton_package.__file__).parents[1])
    process = subprocess.Popen([sys.executable, "-c", f"""
import atexit, baton
device = baton.Device("sim")
kernel = baton.compile(text='''{KERNELS}''', device=device)["spin"]
array = baton.zeros(1, "i32", device)
kernel[1, 1](array)
atexit.register(print, "ends", flush=True)
"""], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path})
    assert process.stdout.readline() == "ends\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT


def test_a_wait_ends_beside_a_thread_that_copies_and_drops():
    """Each of its calls may come to wait for the kernel, in the driver, and must let the other thread end it."""
    result = run("""
        import faulthandler, signal, threading
        import numpy as np
        import baton

        faulthandler.dump_traceback_later(60, exit=True)
        device = baton.Device("sim:tiny")
        source = 'extern "C" __global__ void spin(int* p) { for (;;) atomicAdd(p, 1); }'
        spin = baton.compile(text=source, device=device)["spin"]
        flag, array, stream = baton.zeros(1, "i32", device), baton.zeros(1, "i32", device), baton.Stream(device)
        ended, waits = False, False

        def press(number, frame):
            global waits
            if waits:
                waits = False
                raise KeyboardInterrupt

        def copies():
            while not ended:
                try:
                    array.copy_from(np.ones(1, np.int32))
                    baton.empty(1, "i32", device)
                except baton.Error:
                    pass

        signal.signal(signal.SIGALRM, press)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        thread = threading.Thread(target=copies)
        thread.start()
        for _ in range(40):
            spin.launch(flag, grid=1, block=1, stream=stream)
            while not stream.done:
                try:
                    waits = True
                    stream.synchronize()
                except (KeyboardInterrupt, baton.Error):
                    pass
        signal.setitimer(signal.ITIMER_REAL, 0)
        ended = True
        thread.join()
        print("ended")
        """, check=False)
    assert result.stdout == "ended\n", result.stderr
