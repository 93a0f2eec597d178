"""The package in a process: imports, threads, signals, forks, the end."""

import inspect
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import baton as baton_package


def run(code, *, check=True, **environment):
    """Runs Python code in a process of its own."""
    path = str(pathlib.Path(baton_package.__file__).parents[1])
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True,
                          text=True, check=check, timeout=120,
                          env={**os.environ, "PYTHONPATH": path, **environment})


def test_import_brings_no_array_library():
    result = run("""
        import sys
        before = set(sys.modules)
        import baton
        print(*sorted(set(sys.modules) - before))
        """)
    loaded = set(result.stdout.split())
    assert "baton._core" in loaded
    assert not loaded & {"numpy", "torch", "tvm_ffi", "subprocess", "dataclasses"}


def test_every_public_name_is_there():
    for name in baton_package.__all__:
        assert getattr(baton_package, name) is not None
    listed = {name for name in dir(baton_package) if not name.startswith("__")}
    modules = listed - set(baton_package.__all__)
    assert set(baton_package.__all__) - {"__version__"} <= listed
    assert all(inspect.ismodule(getattr(baton_package, name)) for name in modules), modules
    with pytest.raises(AttributeError):
        baton_package.no_such_name


def test_a_process_may_end_with_work_in_flight():
    result = run("""
        import baton
        m = baton.compile(text='extern "C" __global__ void spin(int* p) { for (int i = 0; i < 100000; ++i) atomicAdd(p, 1); }', device="sim")
        y = baton.zeros(1, "i32", "sim")
        m["spin"][4, 32](y)
        """)
    assert result.stderr == ""


def test_a_forked_child_is_told():
    result = run("""
        import os, baton
        d = baton.Device("sim")
        y = d.empty(4, "f32")
        child = os.fork()
        if child == 0:
            try:
                y.zero()
            except baton.Error as error:
                print("told:", error.code, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        y.zero()
        print("parent goes on")
        """)
    assert "told:" in result.stdout and "parent goes on" in result.stdout


def test_control_c_ends_a_wait():
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent("""
            import baton, sys
            m = baton.compile(text='extern "C" __global__ void wait(volatile int* p) { while (*p == 0) {} }', device="sim")
            y = baton.zeros(1, "i32", "sim")
            s = baton.Stream("sim")
            s.synchronize()
            m["wait"].launch(y, grid=1, block=1, stream=s)
            print("waits", flush=True)
            try:
                s.synchronize()
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            add = baton.compile(text='extern "C" __global__ void add(int* p) { *p += 1; }', device="sim")
            add["add"].launch(y, grid=1, block=1, stream=s)
            s.synchronize()
            print("goes on", y.numpy()[0], flush=True)
            """)],
        stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(pathlib.Path(baton_package.__file__).parents[1])})
    assert process.stdout.readline() == "waits\n"
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "interrupted\n"
    assert process.stdout.readline() == "goes on 1\n"
    assert process.wait(60) == 0


def test_a_wait_has_a_limit(baton):
    module = baton.compile(text='extern "C" __global__ void slow(int* p) '
                                '{ for (int i = 0; i < 3000000; ++i) atomicAdd(p, 1); }')
    y = baton.empty(1, "i32")
    with baton.Stream(baton.target) as stream:
        y.zero()
        stream.synchronize()
        module["slow"][1, 32](y)
        with pytest.raises(TimeoutError) as caught:
            stream.synchronize(timeout=0.01)
        assert isinstance(caught.value, baton_package.TimeoutError)
        stream.synchronize(timeout=300)


def test_threads_share_a_kernel(baton):
    module = baton.compile(text='extern "C" __global__ void add(int* p, int n) { atomicAdd(p, n); }')
    add = module["add"]
    results, failures = {}, []

    def work(number):
        try:
            stream = baton_package.Stream(baton.target)
            out = baton.target.empty(1, "i32")
            with stream:
                out.zero()
                for _ in range(50):
                    add[1, 1](out, number)
                stream.synchronize()
                results[number] = int(out.numpy()[0])
        except Exception as failure:  # noqa: BLE001: told below
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert results == {number: 50 * number for number in range(1, 5)}


def test_streams_and_events(baton):
    first, second = baton.Stream(baton.target), baton.Stream(baton.target)
    module = baton.compile(text='extern "C" __global__ void add(int* p, int n) { *p += n; }')
    y = baton.zeros(1, "i32")
    baton.target.synchronize()
    module["add"].launch(y, 1, grid=1, block=1, stream=first)
    event = first.record()
    second.wait(event)
    module["add"].launch(y, 2, grid=1, block=1, stream=second)
    later = second.record()
    later.synchronize()
    assert event.done and event.elapsed(later) >= 0
    assert y.numpy()[0] == 3
    assert first.__cuda_stream__() == (0, first.native)
    adopted = baton.stream(first)
    assert adopted is first
    with pytest.raises(baton_package.ArgumentError, match="takes a baton.Event"):
        second.wait("event")


class ForeignStream:
    """A stream of another library, by its protocol."""

    def __init__(self, native):
        self.native = native

    def __cuda_stream__(self):
        return (0, self.native)


def test_streams_of_other_libraries(baton):
    own = baton.Stream(baton.target)
    module = baton.compile(text='extern "C" __global__ void add(int* p, int n) { *p += n; }')
    with own:
        y = baton.zeros(1, "i32")
    module["add"].launch(y, 1, grid=1, block=1, stream=ForeignStream(own.native))
    module["add"].launch(y, 1, grid=1, block=1, stream=own.native)
    own.synchronize()
    with own:
        assert y.numpy()[0] == 2
    with pytest.raises(baton_package.ArgumentError, match="__cuda_stream__"):
        module["add"].launch(y, 1, grid=1, block=1, stream=object())


def test_memory_of_the_simulated_gpu_is_not_exported(baton):
    with pytest.raises(BufferError, match="simulated"):
        baton.zeros(4, "f32").__dlpack__()
    with pytest.raises(BufferError, match="simulated"):
        np.from_dlpack(baton.zeros(4, "f32"))


def test_the_command_line_as_values(examples):
    if "BATON" not in os.environ:
        pytest.skip("BATON does not name the command line")
    report = baton_package.doctor()
    assert report["version"] == 1
    with pytest.raises(baton_package.Error, match="missing"):
        baton_package.inspect(examples / "saxpy" / "missing.cubin")


def test_copies_wait_for_work_on_any_stream(baton):
    """On the simulated GPU a copy that nothing orders is a finding."""
    module = baton.compile(text='extern "C" __global__ void add(int* p) { *p += 1; }')
    y = baton.zeros(1, "i32")
    module["add"].launch(y, grid=1, block=1, stream=baton.Stream(baton.target))
    assert y.numpy()[0] == 1
    module["add"].launch(y, grid=1, block=1, stream=baton.Stream(baton.target))
    y.copy_from(np.full(1, 7, np.int32))
    assert y.numpy()[0] == 7
