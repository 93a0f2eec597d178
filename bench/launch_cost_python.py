"""What a launch costs the host from Python: Baton, cuda.core, CuPy and Triton, each where it is installed,
beside cuLaunchKernelEx through cuda.bindings. One round times every arm once, in an order that
turns; a sample is 64 launches of an empty kernel into an idle stream. Printed are medians, and the
median paired difference to cuda.bindings with its 95 % interval (as bench/paired.h has it).

    python3 bench/launch_cost_python.py [rounds]
"""

import importlib.util
import pathlib
import statistics
import sys
import tempfile
import time

LAUNCHES = 64
ARGUMENTS = (0, 1, 4, 8, 16, 32)


def source(arguments):
    params = ", ".join(f"unsigned long long p{i}" for i in range(arguments))
    return f'extern "C" __global__ void empty({params}) {{}}'


def cuda_core_arm(arguments):
    try:
        from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
    except ImportError:
        from cuda.core.experimental import Device, LaunchConfig, Program, ProgramOptions, launch
    device = Device()
    device.set_current()
    arch = "sm_" + "".join(str(n) for n in device.compute_capability)
    program = Program(source(arguments), code_type="c++", options=ProgramOptions(arch=arch))
    kernel = program.compile("cubin").get_kernel("empty")
    stream = device.create_stream()
    config = LaunchConfig(grid=1, block=32)
    import numpy
    values = [numpy.uint64(0)] * arguments
    return lambda: launch(stream, config, kernel, *values), stream.sync


def cupy_arm(arguments):
    import cupy
    import numpy
    kernel = cupy.RawKernel(source(arguments), "empty")
    values = tuple([numpy.uint64(0)] * arguments)
    stream = cupy.cuda.Stream(non_blocking=True)

    def launch():
        kernel((1,), (32,), values)

    stream.use()
    return launch, stream.synchronize


def triton_arm(arguments):
    import torch

    # Triton reads a kernel's source from its file.
    path = pathlib.Path(FOLDER.name) / f"empty{arguments}.py"
    params = ", ".join(f"p{i}" for i in range(arguments))
    path.write_text(f"import triton\n\n\n@triton.jit\ndef empty({params}):\n    pass\n")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = module.empty[(1,)]
    values = [5] * arguments
    return lambda: kernel(*values, num_warps=1), torch.cuda.synchronize


def baton_arms(tensors):
    """Baton's arm with numbers, or with tensors of torch, which need their device, type and layout
    checked."""
    def make(arguments):
        import baton
        kind = "float*" if tensors else "unsigned long long"
        params = ", ".join(f"{kind} p{i}" for i in range(arguments))
        kernel = baton.compile(text=f"__global__ void empty({params}) {{}}", device="cuda:0")["empty"]
        if tensors:
            import torch
            values = [torch.ones(16, device="cuda") for _ in range(arguments)]
        else:
            values = [0] * arguments
        stream = baton.Stream("cuda:0")
        launch = kernel[1, 32]
        return lambda: launch(*values, stream=stream), stream.synchronize
    return make


def driver_arm(arguments):
    from cuda.bindings import driver as cuda
    import ctypes
    import torch
    torch.zeros(1, device="cuda")  # makes the primary context current
    _, library = cuda.cuLibraryLoadData(ptx(arguments), [], [], 0, [], [], 0)
    _, kernel = cuda.cuLibraryGetKernel(library, b"empty")
    _, function = cuda.cuKernelGetFunction(kernel)
    _, stream = cuda.cuStreamCreate(1)
    config = cuda.CUlaunchConfig()
    config.gridDimX = config.gridDimY = config.gridDimZ = 1
    config.blockDimX, config.blockDimY, config.blockDimZ = 32, 1, 1
    config.hStream = stream
    values = (tuple([0] * arguments), tuple([ctypes.c_uint64] * arguments))
    return (lambda: cuda.cuLaunchKernelEx(config, function, values, 0),
            lambda: cuda.cuStreamSynchronize(stream))


def ptx(arguments):
    params = ", ".join(f".param .u64 empty_param_{i}" for i in range(arguments))
    text = f".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry empty({params}) {{ ret; }}\n"
    return text.encode() + b"\0"


FOLDER = tempfile.TemporaryDirectory()
REFERENCE = "cuda.bindings cuLaunchKernelEx"
ARMS = {REFERENCE: driver_arm, "Baton": baton_arms(False), "Baton, tensors of torch": baton_arms(True),
        "cuda.core": cuda_core_arm,
        "CuPy RawKernel": cupy_arm, "Triton": triton_arm}


def paired_difference(samples, reference):
    """The median of paired differences and its 95 % interval from order statistics."""
    differences = sorted(a - b for a, b in zip(samples, reference))
    count = len(differences)

    def rank(z):
        return differences[int(min(max(count / 2 + z * count ** 0.5 / 2, 0), count - 1))]

    return statistics.median(differences), rank(-1.96), rank(1.96)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for arguments in ARGUMENTS:
        arms = {}
        for name, make in ARMS.items():
            try:
                arms[name] = make(arguments)
                arms[name][0]()
                arms[name][1]()
            except Exception as failure:  # noqa: BLE001: an arm that is not installed is left out
                arms.pop(name, None)
                print(f"  {name}: left out: {type(failure).__name__}: {failure}")
        times = {name: [] for name in arms}
        order = list(arms)
        for turn in range(rounds):
            for i in range(len(order)):
                name = order[(i + turn) % len(order)]
                launch, synchronize = arms[name]
                start = time.perf_counter_ns()
                for _ in range(LAUNCHES):
                    launch()
                took = time.perf_counter_ns() - start
                synchronize()
                times[name].append(took / LAUNCHES)
        print(f"{arguments} arguments, {rounds} rounds of {LAUNCHES} launches")
        for name, samples in times.items():
            line = f"  {name:<34} {statistics.median(samples):10.0f} ns"
            if REFERENCE in times:
                median, low, high = paired_difference(samples, times[REFERENCE])
                line += f"   {median:+8.0f} ns  [{low:+.0f}, {high:+.0f}]"
            print(line)


if __name__ == "__main__":
    main()
