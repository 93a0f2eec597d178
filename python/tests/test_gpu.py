"""The package on a GPU, with arrays of the libraries that are installed. Skips without a GPU."""

import gc

import numpy as np
import pytest

import baton as baton_package

pytestmark = pytest.mark.gpu

SOURCE = """
__global__ void saxpy(float* y, const float* x, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
__global__ void slow(float* y, int n) {
  const int i = threadIdx.x;
  for (int k = 0; k < 200000; ++k) __nanosleep(100);
  if (i < n) y[i] += 1;
}
__global__ void waits(float* y, const float* x, int n) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}
"""
N = 10000


@pytest.fixture
def kernels(baton):
    return baton.compile(text=SOURCE)


@pytest.fixture
def torch():
    module = pytest.importorskip("torch", reason="torch is not installed")
    if not module.cuda.is_available():
        pytest.skip("torch sees no GPU")
    return module


def launch_saxpy(kernels, y, x, **stream):
    kernels["saxpy"].launch(y, x, 2.0, N, grid=baton_package.ceildiv(N, 256), block=256, **stream)


def test_own_arrays(baton, kernels):
    x, y = baton.array(np.arange(N, dtype=np.float32)), baton.zeros(N, "f32")
    launch_saxpy(kernels, y, x)
    assert np.allclose(y.numpy(), 2 * np.arange(N))
    plan = kernels["saxpy"].plan(y, x, 1.0, N, grid=40, block=256)
    plan()
    plan[2] = 3.0
    plan()
    assert np.allclose(y.numpy(), 6 * np.arange(N))


def test_host_arrays_are_refused(kernels):
    host = np.zeros(N, np.float32)
    with pytest.raises(baton_package.ArgumentError, match="argument 0 is in host memory"):
        launch_saxpy(kernels, host, host)


def test_numpy_waits_for_work_on_any_stream(baton, kernels):
    y = baton.zeros(32, "f32")
    kernels["slow"].launch(y, 32, grid=1, block=32, stream=baton.Stream(baton.target))
    assert (y.numpy() == 1).all()


def test_torch_tensors_go_to_the_current_stream(kernels, torch):
    x, y = torch.arange(N, device="cuda").float(), torch.zeros(N, device="cuda")
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        kernels["slow"].launch(y, 32, grid=1, block=32)
        launch_saxpy(kernels, y, x)
        z = y * 1
    side.synchronize()
    want = 2 * torch.arange(N, device="cuda").float()
    want[:32] += 1
    assert torch.equal(z, want)
    launch_saxpy(kernels, y, x, stream=torch.cuda.current_stream())
    torch.cuda.synchronize()
    assert y[100] == 400


def test_torch_refusals(kernels, torch):
    x = torch.zeros(N, device="cuda")
    for wrong, message in ((x.double(), "f64"), (torch.zeros(8, 8, device="cuda").t(), "contiguous"),
                           (torch.zeros(N), "host memory")):
        with pytest.raises(baton_package.ArgumentError, match=message):
            launch_saxpy(kernels, wrong, x)


def test_capture_into_a_torch_graph(baton, kernels, torch):
    x, y = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
    launch_saxpy(kernels, y, x)
    torch.cuda.synchronize()
    y.zero_()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        launch_saxpy(kernels, y, x)
        launch_saxpy(kernels, y, x)
    assert (y == 0).all()
    graph.replay()
    torch.cuda.synchronize()
    assert (y == 4).all()


@pytest.mark.parametrize("mode", ["global", "thread_local", "relaxed"])
def test_arrays_come_and_go_beside_a_capture(baton, kernels, torch, mode):
    """An array that is dropped while torch captures a graph leaves the capture as it is."""
    x, y = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
    launch_saxpy(kernels, y, x)
    side = baton_package.Stream(baton.target)
    slow, busy = kernels["slow"], baton.zeros(32, "f32")
    dropped = [baton.zeros(N, "f32"), baton.empty(N, "f32"), baton.compile(text=SOURCE)]
    torch.cuda.synchronize()
    y.zero_()
    torch.cuda.synchronize()
    slow.launch(busy, 32, grid=1, block=32, stream=side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode=mode):
        launch_saxpy(kernels, y, x)
        dropped.clear()
        gc.collect()
        own = baton.empty(N, "f32")
        launch_saxpy(kernels, y, x)
        del own
    graph.replay()
    torch.cuda.synchronize()
    assert (y == 4).all()
    assert (busy.numpy() == 1).all()


@pytest.fixture(params=["stream", "graph"])
def saxpy_program(request, baton, examples):
    program = baton_package.Program(examples / "saxpy" / "saxpy.toml")
    return program.bind(N=N, device=baton.target, executor=request.param)


def test_programs_on_torch_tensors(saxpy_program, torch):
    x, y = torch.arange(N, device="cuda").float(), torch.zeros(N, device="cuda")
    assert saxpy_program(x=x, y=y)["y"] is y
    torch.cuda.synchronize()
    assert torch.equal(y, 2 * x)
    out = saxpy_program(x=x, y=torch.ones(N, device="cuda"))["y"]
    torch.cuda.synchronize()
    assert torch.equal(out, 2 * x + 1)


def test_outputs_are_tensors_of_torch(baton, torch):
    program = baton_package.Program.from_text("""
name = "twice"
[symbols]
N = 8
[buffers]
x = { dtype = "f32", shape = ["N"], role = "input" }
y = { dtype = "f32", shape = ["N"], role = "output" }
[kernels.twice]
text = 'extern "C" __global__ void twice(float* y, const float* x) { y[threadIdx.x] = 2 * x[threadIdx.x]; }'
[[steps]]
launch = "twice"
grid = [1]
block = ["N"]
args = ["y", "x"]
""")
    bound = program.bind(device=baton.target)
    first = bound(x=torch.ones(8, device="cuda"))["y"]
    second = bound(x=torch.full((8,), 3.0, device="cuda"))["y"]
    assert isinstance(first, torch.Tensor) and first.is_cuda
    assert (first == 2).all() and (second == 6).all()
    assert (bound(x=np.ones(8, np.float32))["y"] == 2).all()


def test_programs_in_a_torch_graph(saxpy_program, torch):
    x, y = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
    saxpy_program(x=x, y=y)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        saxpy_program.enqueue(torch.cuda.current_stream())
    y.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert (y == 2).all()


def test_pdl(kernels, torch):
    x, y = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
    for _ in range(10):
        kernels["waits"].launch(y, x, N, grid=40, block=256, pdl=True)
        kernels["waits"].launch(x, y, N, grid=40, block=256, pdl=True)
    torch.cuda.synchronize()
    assert (x == 21).all()


def test_dlpack_out(baton, torch):
    array = baton.array(np.arange(12, dtype=np.int32).reshape(3, 4))
    tensor = torch.from_dlpack(array)
    assert tensor.shape == (3, 4) and tensor.is_cuda
    part = array[1]
    del array
    tensor += 1
    torch.cuda.synchronize()
    assert (part.numpy() == [5, 6, 7, 8]).all()


def test_cupy(kernels):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    x, y = cupy.arange(N, dtype=cupy.float32), cupy.zeros(N, cupy.float32)
    launch_saxpy(kernels, y, x)
    assert np.allclose(cupy.asnumpy(y), 2 * np.arange(N))
    with cupy.cuda.Stream(non_blocking=True) as stream:
        y = cupy.zeros(N, cupy.float32)
        launch_saxpy(kernels, y, x)
        launch_saxpy(kernels, y, x, stream=stream)
    stream.synchronize()
    assert np.allclose(cupy.asnumpy(y), 4 * np.arange(N))


def test_numba_arrays(kernels):
    cuda = pytest.importorskip("numba.cuda", reason="numba-cuda is not installed")
    x = cuda.to_device(np.ones(N, np.float32))
    y = cuda.to_device(np.zeros(N, np.float32))
    stream = cuda.stream()
    launch_saxpy(kernels, y, x, stream=stream)
    stream.synchronize()
    assert (y.copy_to_host() == 2).all()


def test_jax_arrays(baton, kernels):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    if jax.default_backend() != "gpu":
        pytest.skip("JAX sees no GPU")
    x = jax.numpy.ones(N, jax.numpy.float32)
    x.block_until_ready()
    y = baton.zeros(N, "f32")
    stream = baton.Stream(baton.target)
    launch_saxpy(kernels, y, x, stream=stream)
    stream.synchronize()
    assert (y.numpy() == 2).all()


def test_cuda_core_streams(kernels, torch):
    core = pytest.importorskip("cuda.core", reason="cuda.core is not installed")
    if not hasattr(core, "Device"):
        core = pytest.importorskip("cuda.core.experimental")
    device = core.Device()
    device.set_current()
    stream = device.create_stream()
    x, y = torch.ones(N, device="cuda"), torch.zeros(N, device="cuda")
    torch.cuda.synchronize()
    launch_saxpy(kernels, y, x, stream=stream)
    stream.sync()
    assert (y == 2).all()


def test_triton_kernels(baton, torch, monkeypatch, tmp_path):
    pytest.importorskip("triton", reason="Triton is not installed")
    import triton_kernels as kernels
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    import baton.triton as baton_triton
    x = torch.randn(17, 300, device="cuda")
    out = torch.empty_like(x)
    with baton_triton.capture(baton_package.Device("cuda")) as captured:
        kernels.softmax[(17,)](out, x, x.stride(0), 300, BLOCK=512)
    want = out.clone()
    out.zero_()
    captured["softmax"][17](out, x, 300, 300)
    torch.cuda.synchronize()
    assert torch.equal(out, want), "bit for bit what Triton's own launch gives"
    out.zero_()
    with baton_triton.on("cuda"):
        kernels.softmax[(17,)](out, x, x.stride(0), 300, BLOCK=512)
    torch.cuda.synchronize()
    assert torch.equal(out, want)


def test_a_time_limit(baton, kernels):
    y = baton.zeros(32, "f32")
    stream = baton.Stream(baton.target)
    kernels["slow"].launch(y, 32, grid=1, block=32, stream=stream)
    with pytest.raises(TimeoutError):
        stream.synchronize(timeout=0.001)
    stream.synchronize()
    assert stream.done


@pytest.fixture
def tutorials(torch, monkeypatch, tmp_path):
    pytest.importorskip("triton", reason="Triton is not installed")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "triton"))
    import triton_tutorials
    return triton_tutorials


def test_triton_descriptors_clusters_and_pdl(baton, torch, tutorials):
    """Launched by Baton in place of Triton's own driver; the same kernels by Triton agree."""
    import triton
    from triton.tools.tensor_descriptor import TensorDescriptor
    a, b = (torch.randn(rows, 256, device="cuda").half() for rows in (256, 192))
    want = a.float() @ b.float().T
    triton.set_allocator(lambda size, align, stream: torch.empty(size, dtype=torch.int8, device="cuda"))

    def matmuls():
        host, device = (torch.zeros(256, 192, device="cuda").half() for _ in range(2))
        tutorials.persistent_matmul[(3,)](
            *(TensorDescriptor.from_tensor(each, [64, 64]) for each in (a, b, host)), 256, 192, 256,
            PROGRAMS=3, BM=64, BN=64, BK=64)
        tutorials.persistent_matmul_device[(3,)](a, b, device, 256, 192, 256, PROGRAMS=3, BM=64, BN=64,
                                                 BK=64)
        return host, device
    by_triton = matmuls()
    with baton_package.triton.on("cuda:0"):
        by_baton = matmuls()
        x, out = torch.randn(4096, device="cuda"), torch.zeros(4096, device="cuda")
        tutorials.scale_after[(8,)](x, out, 4096, 3.0, BLOCK=512, num_ctas=2, launch_pdl=True)
    torch.cuda.synchronize()
    for own, theirs in zip(by_baton, by_triton):
        assert torch.equal(own, theirs)
        assert torch.allclose(own.float(), want, rtol=1e-2, atol=1e-1)
    assert torch.equal(out, 3 * x)


def test_tilelang(baton, torch):
    """wgmma and TMA as TileLang emits them, compiled by NVRTC."""
    pytest.importorskip("tilelang", reason="TileLang is not installed")
    if torch.cuda.get_device_capability() != (9, 0):
        pytest.skip("TileLang emits wgmma for compute capability 9.0")
    import tilelang_kernels
    gemm = baton_package.tilelang.compile(tilelang_kernels.gemm(256, 192, 256, 64, 64, 64), "cuda:0")
    a, b = torch.randn(256, 256, device="cuda").half(), torch.randn(256, 192, device="cuda").half()
    c = torch.zeros(256, 192, device="cuda").half()
    gemm(a, b, c)
    assert torch.allclose(c.float(), a.float() @ b.float(), rtol=1e-2, atol=1e-1)


def test_a_capture_of_torch_tensors(baton, torch, tutorials, tmp_path):
    import triton

    def step(x, w):
        rows, inner = x.shape
        h = torch.empty_like(x)
        tutorials.scale_after[(triton.cdiv(x.numel(), 256),)](x, h, x.numel(), 0.5, BLOCK=256)
        y = torch.empty(rows, w.shape[1], device=x.device, dtype=x.dtype)
        tutorials.matmul[(triton.cdiv(rows, 64), triton.cdiv(w.shape[1], 64))](
            h, w, y, rows, w.shape[1], inner, BM=64, BN=64, BK=32)
        return y

    def example(rows):
        return (torch.randn(rows, 128, device="cuda").half(),
                torch.randn(128, 192, device="cuda").half())
    program = baton_package.capture(step, example(64), example(1024), device="cuda:0",
                                    sizes={"x": ("M", None)}, weights=["w"])
    edge, = baton_package.check(program, device="cuda:0", rewrite="auto").edges
    assert edge.verdict == "proven"
    baton_package.bundle(program, tmp_path / "step.baton")
    x, w = example(512)
    for each in (program, baton_package.Program(tmp_path / "step.baton")):
        for rewrite in ("off", "auto"):
            out = each.bind(device="cuda:0", rewrite=rewrite)(x=x, w=w)["out"]
            torch.cuda.synchronize()
            assert torch.allclose(out.float(), 0.5 * x.float() @ w.float(), rtol=1e-2, atol=1e-1)
    hole = baton_package.capture(lambda x, w: step(x, w).relu(), example(64), device="cuda:0").holes
    assert [each.name for each in hole] == ["aten.relu.default"]
