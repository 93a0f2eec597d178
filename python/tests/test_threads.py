"""Objects of the package in many threads at once. In an interpreter without a global lock the threads run at the same
time; with one, waits and runs let others in."""

import gc
import threading

import numpy as np
import pytest

import baton as baton_package

SOURCE = 'extern "C" __global__ void add(int* p, int n) { atomicAdd(p, n); }'
PROGRAM = """
name = "twice"
[symbols]
N = 1024
[buffers]
x = { dtype = "f32", shape = ["N"], role = "input", init = "random" }
y = { dtype = "f32", shape = ["N"], role = "output" }
[kernels.scale]
text = 'extern "C" __global__ void scale(float* y, const float* x, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }'
[[steps]]
launch = "scale"
grid = ["ceildiv(N, 256)"]
block = [256]
args = ["y", "x", "N"]
"""
THREADS, ROUNDS = 8, 40


def in_threads(work):
    """Calls work(number) in every thread at once, and returns what they raised."""
    failures, start = [], threading.Barrier(THREADS)

    def body(number):
        try:
            start.wait()
            work(number)
        except Exception as failure:  # noqa: BLE001: returned
            failures.append(failure)

    threads = [threading.Thread(target=body, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures


def test_one_kernel(baton):
    """Launchers, errors, types that are seen first, keywords: everything that calls share."""
    add = baton.compile(text=SOURCE)["add"]
    sums = [None] * THREADS

    def work(number):
        with baton_package.Stream(baton.target) as stream:
            total = baton.target.empty(1, "i32")
            total.zero()
            kept = add[1, 2]
            for i in range(ROUNDS):
                add[1, 1](total, i)
                kept(total, 1)
                add.launch(total, 1, grid=1, block=1, stream=stream)
                fresh = type(f"Fresh{number}_{i}", (), {})()
                for wrong in (fresh, 1.5, 2**40):
                    with pytest.raises(baton_package.ArgumentError, match="argument"):
                        add[1, 1](total, wrong)
                with pytest.raises(baton_package.Error, match="no launch attribute"):
                    add.launch(total, 1, grid=1, block=1, gird=1)
            stream.synchronize()
            sums[number] = int(total.numpy()[0])

    assert not in_threads(work)
    assert sums == [sum(range(ROUNDS)) + 3 * ROUNDS] * THREADS


@pytest.mark.baton(findings="ignore")
def test_one_plan(baton):
    """A plan is for one thread at a time. Used by several, it launches old or new values, never a mixture."""
    add = baton.compile(text=SOURCE)["add"]
    totals = [baton.zeros(1, "i32") for _ in range(THREADS)]
    baton.target.synchronize()
    plan = add.plan(totals[0], 1, grid=1, block=1)

    def work(number):
        for i in range(ROUNDS):
            plan[0] = totals[number]
            plan[1] = 1
            plan()
            assert plan[1] == 1
            plan.grid = 1 + i % 2
            assert plan.grid[0] in (1, 2)

    assert not in_threads(work)
    baton.target.synchronize()
    assert THREADS * ROUNDS <= sum(int(total.numpy()[0]) for total in totals) <= 2 * THREADS * ROUNDS


def test_a_bound_program_tells_a_second_thread(baton):
    program = baton_package.Program.from_text(PROGRAM)
    shared = program.bind(N=512, device=baton.target)
    x = np.random.default_rng(0).random(512, np.float32)
    right, refused = [], []

    def work(number):
        own = program.bind(N=512, device=baton.target)
        for _ in range(ROUNDS // 8):
            assert np.array_equal(own(x=x)["y"], 2 * x)
            try:
                right.append(np.array_equal(shared(x=x)["y"], 2 * x))
            except baton_package.Error as error:
                assert "in use by another thread" in str(error), error
                refused.append(error)

    assert not in_threads(work)
    assert right and all(right)
    assert len(right) + len(refused) == THREADS * (ROUNDS // 8)


def test_a_run_is_one_threads(baton):
    """A call of Python inside of a run may use the program; another thread may not."""
    bound = baton_package.Program.from_text(PROGRAM).bind(N=512, device=baton.target)
    told = []

    def look(step):
        bound.shape("y")
        other = threading.Thread(target=lambda: told.append(pytest.raises(baton_package.Error, bound.run)))
        other.start()
        other.join()

    bound.run(after_step=look)
    assert len(told) == 1 and "in use by another thread" in str(told[0].value)
    bound.run()


def test_objects_die_in_any_order_and_thread(baton):
    def work(number):
        for i in range(ROUNDS // 4):
            module = baton_package.compile(text=SOURCE, device=baton.target)
            kernel = module["add"]
            launcher = kernel[1, 1]
            stream = baton_package.Stream(baton.target)
            with stream:
                array = baton.target.empty(2, "i32")
                array.zero()
                part = array[1:]
                plan = kernel.plan(part, 1, grid=1, block=1)
                launcher(array, 1)
                plan()
                stream.synchronize()
                assert array.numpy().tolist() == [1, 1]
            objects = [module, kernel, launcher, stream, array, part, plan]
            del module, kernel, launcher, stream, array, part, plan
            for j in np.random.default_rng(number * ROUNDS + i).permutation(len(objects)):
                objects[j] = None
            gc.collect()

    assert not in_threads(work)
