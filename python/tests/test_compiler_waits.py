"""Ctrl-C in a wait for a compiler, which goes on by itself: its result is dropped, and the process ends after it."""

import os
import signal
import subprocess
import sys
import time

import pytest

import baton as baton_package
from test_interrupts import interrupted
from test_process import run

# Takes the compiler several seconds.
SLOW = "\n".join(
    f'''extern "C" __global__ void k{number}(float* y, const float* x, float a) {{
  float sum = 0;
  for (int k = 0; k < 16; ++k) sum += __expf(x[threadIdx.x + k * {number + 1}]) * sinf(a * k);
  y[threadIdx.x] = sum;
}}''' for number in range(6))
SMALL = 'extern "C" __global__ void one(int* y) { *y = 1; }'
PROGRAM = f"""
name = "slow"
[buffers]
x = {{ dtype = "f32", shape = [1024], role = "input", init = "zeros" }}
y = {{ dtype = "f32", shape = [32], role = "output" }}
[kernels.slow]
text = '''{SLOW}'''
entry = "k1"
[[steps]]
launch = "slow"
grid = [1]
block = [32]
args = ["y", "x", 2.0]
"""


@pytest.mark.parametrize("call", [
    lambda: baton_package.compile(text=SLOW, device="sim"),
    lambda: baton_package.Program.from_text(PROGRAM).bind(device="sim"),
], ids=["compile", "bind"])
def test_a_signal_ends_the_wait(call, tmp_path, monkeypatch):
    monkeypatch.setenv("BATON_CACHE_DIR", str(tmp_path))

    def with_machine_code():
        return [entry for entry in tmp_path.rglob("*.entry") if b"\x7fELF" in entry.read_bytes()]

    with interrupted():
        call()
    # Whoever waits for the compiler also stores its result. The compile for the types stores its PTX by itself.
    assert with_machine_code() == []
    assert baton_package.compile(text=SMALL, device="sim", param_names=False)["one"].name == "one"
    assert len(with_machine_code()) == 1


def interrupted_process(source):
    return f"""
import baton, os, signal, sys, threading
device = baton.Device("sim")
baton.compile(text="__global__ void warm() {{}}", device=device)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    baton.compile(text={source}, device=device, cache=False)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


INTERRUPTED = interrupted_process(f"'''{SLOW}'''")
# Takes the compiler's front end some seconds, in which NVRTC has a handler of its own for the signal.
LONG = "''.join(f'__device__ inline int f{i}(int x) {{ return x * {i}; }}\\n' for i in range(80000))"


@pytest.mark.parametrize("code", [INTERRUPTED, interrupted_process(LONG)], ids=["assembler", "front end"])
def test_a_process_may_end_with_a_compiler_in_flight(code):
    result = run(code, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "interrupted\n", "")


def test_a_forked_child_has_no_compiler_to_wait_for():
    result = run(INTERRUPTED + """
if os.fork() == 0:
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.wait()[1]))
""", check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "interrupted\n7\n", "")


def test_control_c_ends_a_process_that_waits_for_a_compiler_at_its_end():
    path = os.path.dirname(os.path.dirname(baton_package.__file__))
    code = INTERRUPTED + "\nimport atexit; atexit.register(print, 'ends', flush=True)\n"
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PYTHONPATH": path})
    assert process.stdout.readline() == "interrupted\n" and process.stdout.readline() == "ends\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == -signal.SIGINT


def test_an_interpreter_that_ends_while_a_thread_compiles():
    result = run(f"""
import baton, threading, time
threading.Thread(target=baton.compile, daemon=True,
                 kwargs=dict(text='''{SLOW}''', device="sim", cache=False)).start()
time.sleep(1)
""", check=False)
    assert (result.returncode, result.stderr) == (0, "")
