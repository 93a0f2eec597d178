"""Functions of tvm-ffi on a GPU: devices, streams, captured graphs. Skips without a GPU.

    baton exec --device sim:h200 -- python3 -m pytest python/tests/test_tvm_ffi_gpu.py

runs it on the simulated GPU."""

import ctypes
import threading

import numpy as np
import pytest

import baton as baton_package
import baton.tvm_ffi

from test_tvm_ffi import PROGRAM, STATEFUL, Elsewhere, refused, tvm_ffi, write_bundle

pytestmark = pytest.mark.gpu
N = 1000


@pytest.fixture
def load(baton, tmp_path):
    """The GPU of the fixture `baton` is the first one."""
    def load(text):
        return baton_package.tvm_ffi.load(write_bundle(tmp_path, text, "program.baton"))
    return load


@pytest.fixture
def arrays(baton):
    return baton.array(np.arange(N, dtype=np.float32)), baton.zeros(N, "f32")


def tensor(array):
    """The array's memory as a tensor of the GPU, also where the GPU is a simulated one."""
    return tvm_ffi.from_dlpack(Elsewhere(np.empty(array.shape, np.float32), 2, address=array.address))


class Driver:
    """Calls of CUDA's driver, in the primary context."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)

    def call(self, name, *arguments):
        assert getattr(self.library, name)(*arguments) == 0, name


def test_a_program_and_a_kernel(load, arrays):
    x, y = arrays
    module = load(PROGRAM)
    for name in ("main", "main_graph", "main"):
        y.zero()
        module[name](tensor(x), tensor(y))
        assert np.array_equal(y.numpy(), 6 * np.arange(N, dtype="f4"))
    module["scale"](tensor(y), tensor(x), 2.0, N, 8, 128)
    assert np.array_equal(y.numpy(), 2 * np.arange(N, dtype="f4"))


def test_other_shapes_and_devices(load, arrays):
    x, y = arrays
    module = load(PROGRAM)
    for n in (10, N, 33):
        y.zero()
        module.main(tensor(x[:n]), tensor(y[:n]))
        assert np.array_equal(y.numpy()[:n], 6 * np.arange(n, dtype="f4")) and not y.numpy()[n:].any()
    host = np.zeros(N, np.float32)
    refused(ValueError, "argument 1 is in host memory, argument 0 on the CUDA device 0", module.main, tensor(x), host)
    refused(ValueError, "argument 0 is in host memory", module["scale"], host, tensor(x), 1.0, N, 8, 128)


def test_a_captured_graph(load, arrays):
    x, y = arrays
    module, driver = load(PROGRAM), Driver()
    stream = baton_package.Stream("cuda:0")
    handle = ctypes.c_void_p(stream.__cuda_stream__()[1])
    with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda:0"), handle.value):
        module.main(tensor(x), tensor(y))       # binds
        stream.synchronize()
        y.zero()
        baton_package.device("cuda:0").synchronize()
        graph, instance = ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuStreamBeginCapture_v2", handle, 1)
        module.main(tensor(x), tensor(y))
        driver.call("cuStreamEndCapture", handle, ctypes.byref(graph))
    # Nothing ran yet: the call was on this stream, and became nodes.
    assert not y.numpy().any()
    driver.call("cuGraphInstantiateWithFlags", ctypes.byref(instance), graph, ctypes.c_ulonglong(0))
    driver.call("cuGraphLaunch", instance, handle)
    stream.synchronize()
    assert np.array_equal(y.numpy(), 6 * np.arange(N, dtype="f4"))
    driver.call("cuGraphExecDestroy", instance)
    driver.call("cuGraphDestroy", graph)


def test_streams_keep_the_order_of_a_state(load, baton):
    module = load(STATEFUL)
    y = baton.zeros(4, "f32")
    streams = [baton_package.Stream("cuda:0") for _ in range(3)]
    for i in range(12):
        with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda:0"), streams[i % 3].__cuda_stream__()[1]):
            module.main(tensor(y))
    baton_package.device("cuda:0").synchronize()
    assert list(y.numpy()[:2]) == [2.0**12] * 2


def test_threads(load, baton):
    module = load(PROGRAM)
    failures = []

    def work(seed):
        try:
            stream = baton_package.Stream("cuda:0")
            x = baton_package.array(np.full(N, seed, np.float32), "cuda:0")
            y = baton_package.zeros(N, "f32", "cuda:0")
            baton_package.device("cuda:0").synchronize()
            with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda:0"), stream.__cuda_stream__()[1]):
                for _ in range(20):
                    module.main(tensor(x), tensor(y))
                    stream.synchronize()
                    assert (y.numpy() == 6 * seed).all()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(i + 1,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_torch(load):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("torch sees no GPU")
    module = load(PROGRAM)
    x, y = torch.arange(N, dtype=torch.float32, device="cuda"), torch.zeros(N, device="cuda")
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        z = x + 1
        module.main(z, y)
    torch.cuda.current_stream().wait_stream(stream)
    assert torch.equal(y, 6 * (x + 1))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        module.main(x, y)
    x.fill_(2)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(y, torch.full_like(y, 12))
