"""What a launch from Python costs the host beyond the driver's call: Baton beside torch's own C++
extension and tvm-ffi, each where it is installed, and beside a call that does nothing.

The driver's launch does nothing (bench/null_driver.cc), so no GPU is needed. The tensors are torch's and say that
they are a GPU's (bench/cuda_tensor.cc); the peers' functions only read their addresses.
All arms are timed in turns, by the thread's processor time. Printed are medians, the least, and ratios of medians.
Many short rounds find the least on a machine with other load.

    python3 bench/python_call.py [--build build/release] [--rounds 15] [--calls 20000]
"""

import argparse
import ctypes
import os
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def torch_arms(tensors):
    a, b, c, d, e, f, g, h = tensors
    from torch.utils.cpp_extension import load_inline
    source = """
#include <torch/extension.h>
void eight(const at::Tensor& a, const at::Tensor& b, const at::Tensor& c, const at::Tensor& d,
           const at::Tensor& e, const at::Tensor& f, const at::Tensor& g, const at::Tensor& h,
           double x, double y, int64_t m, int64_t n) {
  volatile const void* p = a.data_ptr(); p = b.data_ptr(); p = c.data_ptr(); p = d.data_ptr();
  p = e.data_ptr(); p = f.data_ptr(); p = g.data_ptr(); p = h.data_ptr(); (void)p;
}
void two(const at::Tensor& a, const at::Tensor& b, double x, int64_t n) {
  volatile const void* p = a.data_ptr(); p = b.data_ptr(); (void)p;
}
"""
    with tempfile.TemporaryDirectory() as folder:
        module = load_inline("baton_bench_torch", source, functions=["eight", "two"],
                             extra_cflags=["-O2"], build_directory=folder)
    return {"torch extension, 8 tensors + 4 scalars":
                lambda: module.eight(a, b, c, d, e, f, g, h, 1.0, 2.0, 3, 4),
            "torch extension, 2 tensors + 2 scalars": lambda: module.two(a, b, 1.0, 3)}


def tvm_ffi_arms(tensors):
    a, b, c, d, e, f, g, h = tensors
    import tvm_ffi
    source = """
void eight(tvm::ffi::TensorView a, tvm::ffi::TensorView b, tvm::ffi::TensorView c,
           tvm::ffi::TensorView d, tvm::ffi::TensorView e, tvm::ffi::TensorView f,
           tvm::ffi::TensorView g, tvm::ffi::TensorView h, double x, double y, int64_t m, int64_t n) {
  volatile const void* p = a.data_ptr(); p = h.data_ptr(); (void)p;
}
void two(tvm::ffi::TensorView a, tvm::ffi::TensorView b, double x, int64_t n) {
  volatile const void* p = a.data_ptr(); (void)p;
}
"""
    module = tvm_ffi.cpp.load_inline("baton_bench_ffi", cpp_sources=source, functions=["eight", "two"])
    return {"tvm-ffi, 8 tensors + 4 scalars":
                lambda: module.eight(a, b, c, d, e, f, g, h, 1.0, 2.0, 3, 4),
            "tvm-ffi, 2 tensors + 2 scalars": lambda: module.two(a, b, 1.0, 3)}


def baton_arms(tensors):
    a, b, c, d, e, f, g, h = tensors
    import baton
    params = ", ".join(f"float* p{i}" for i in range(8))
    module = baton.compile(text=f"""
__global__ void eight({params}, float x, float y, int m, int n) {{}}
__global__ void two(float* a, const float* b, float x, int n) {{}}
""", device="cuda:0")
    eight, two = module["eight"], module["two"]
    bound_eight, bound_two = eight[4, 256], two[4, 256]
    plan = two.plan(a, b, 1.0, 3, grid=4, block=256)
    return {
        "baton bound, 8 tensors + 4 scalars":
            lambda: bound_eight(a, b, c, d, e, f, g, h, 1.0, 2.0, 3, 4),
        "baton bound, 2 tensors + 2 scalars": lambda: bound_two(a, b, 1.0, 3),
        "baton k[g, b](...), 2 tensors + 2 scalars": lambda: two[4, 256](a, b, 1.0, 3),
        "baton k.launch(...), 2 tensors + 2 scalars":
            lambda: two.launch(a, b, 1.0, 3, grid=4, block=256),
        "baton plan()": plan,
    }


def make_context_current(driver):
    """Makes the device's primary context the thread's, as it is in a process where torch uses the GPU."""
    library = ctypes.CDLL(str(driver))

    def entry(name, *types):
        address, found = ctypes.c_void_p(), ctypes.c_int()
        library.cuGetProcAddress_v2(name, ctypes.byref(address), 13000, ctypes.c_uint64(0), ctypes.byref(found))
        return ctypes.CFUNCTYPE(ctypes.c_int, *types)(address.value)

    context = ctypes.c_void_p()
    results = (entry(b"cuInit", ctypes.c_uint)(0),
               entry(b"cuDevicePrimaryCtxRetain", ctypes.c_void_p, ctypes.c_int)(ctypes.byref(context), 0),
               entry(b"cuCtxSetCurrent", ctypes.c_void_p)(context))
    if any(results):
        sys.exit(f"the null driver gives no context: {results}")


def measure(arms, rounds, calls):
    """The nanoseconds of a call of each arm: the median of the rounds and the least. Arms take turns, so that each
    meets the same machine."""
    samples = {name: [] for name in arms}
    names = list(arms)
    for turn in range(rounds):
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            call = arms[name]
            loop = range(calls)
            start = time.thread_time_ns()
            for _ in loop:
                call()
            samples[name].append((time.thread_time_ns() - start) / calls)
    return {name: (statistics.median(values), min(values)) for name, values in samples.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build" / "release", type=pathlib.Path)
    parser.add_argument("--rounds", default=15, type=int)
    parser.add_argument("--calls", default=20000, type=int)
    options = parser.parse_args()
    driver = options.build.resolve() / "bench" / "libnull_driver.so"
    os.environ["BATON_CUDA_DRIVER"] = str(driver)
    make_context_current(driver)
    sys.path[:0] = [str(options.build.resolve() / "python"), str(options.build.resolve() / "bench")]

    import torch
    import cuda_tensor
    tensors = [cuda_tensor.make(torch.ones(1024)) for _ in range(8)]
    arms = {"a lambda that does nothing": lambda: None}
    arms.update(baton_arms(tensors))
    for name, make in (("torch", torch_arms), ("tvm-ffi", tvm_ffi_arms)):
        try:
            arms.update(make(tensors))
        except Exception as error:  # noqa: BLE001: a peer that is missing is said, not fatal
            print(f"without {name}: {type(error).__name__}: {error}".splitlines()[0])
    times = measure(arms, options.rounds, options.calls)
    nothing = times.pop("a lambda that does nothing")
    width = max(map(len, times))
    times = {name: tuple(one - none for one, none in zip(pair, nothing)) for name, pair in times.items()}
    print(f"{'net of a call that does nothing':{width}}  ns a call      least")
    for name, (median, least) in times.items():
        print(f"{name:{width}}  {median:9.0f}  {least:9.0f}")
    for peer in ("torch extension", "tvm-ffi"):
        for size in ("8 tensors + 4 scalars", "2 tensors + 2 scalars"):
            if f"{peer}, {size}" in times:
                ratio = times[f"baton bound, {size}"][0] / times[f"{peer}, {size}"][0]
                print(f"baton bound / {peer}, {size}: {ratio:.2f}")


if __name__ == "__main__":
    main()
