"""Kernels of Triton's tutorials on the simulated GPU, compared with torch on the CPU."""

import pytest

import baton as package

pytest.importorskip("triton", reason="Triton is not installed")
torch = pytest.importorskip("torch", reason="torch, which Triton's launches need, is not installed")

import baton.triton  # noqa: E402
import triton  # noqa: E402
import triton_tutorials as kernels  # noqa: E402
from triton.tools.tensor_descriptor import TensorDescriptor  # noqa: E402


@pytest.fixture(autouse=True)
def on_device(request, monkeypatch, tmp_path):
    """Tests with schedules look for races inside of grids, too."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    torch.manual_seed(0)
    schedule = getattr(request.node, "callspec", None) and request.node.callspec.params.get("schedule")
    with package.triton.on("sim:h200", schedule=schedule, races=schedule is not None):
        yield


def near(got, want, tolerance=2e-3):
    return torch.allclose(got.float(), want.float(), rtol=tolerance, atol=tolerance)


def test_vector_add():
    x, y = torch.randn(1000), torch.randn(1000)
    out = torch.empty(1000)
    kernels.add[(8,)](x, y, out, 1000, BLOCK=128)
    assert torch.equal(out, x + y)


def test_matmul():
    a, b = torch.randn(50, 72).half(), torch.randn(72, 40).half()
    c = torch.empty(50, 40).half()
    kernels.matmul[(2, 2)](a, b, c, 50, 40, 72, BM=32, BN=32, BK=32)
    assert near(c, a.float() @ b.float())


def test_layer_norm():
    x = torch.randn(6, 200, requires_grad=True)
    w, b = torch.randn(200, requires_grad=True), torch.randn(200, requires_grad=True)
    want = torch.nn.functional.layer_norm(x, (200,), w, b, 1e-5)
    out, mean, rstd = torch.empty(6, 200), torch.empty(6), torch.empty(6)
    kernels.layer_norm[(6,)](x, w, b, out, mean, rstd, 200, 1e-5, BLOCK=256)
    assert near(out, want, 1e-5)
    dout = torch.randn(6, 200)
    want.backward(dout)
    dx, dw, db = torch.empty(6, 200), torch.zeros(200), torch.zeros(200)
    kernels.layer_norm_backward[(6,)](dout, x, w, mean, rstd, dx, dw, db, 200, BLOCK=256)
    assert near(dx, x.grad, 1e-4) and near(dw, w.grad, 1e-4) and near(db, b.grad, 1e-4)


def test_softmax():
    x = torch.randn(13, 300)
    out = torch.empty_like(x)
    kernels.softmax[(4,)](x, out, x.stride(0), out.stride(0), 13, 300, BLOCK=512, STAGES=2)
    assert torch.allclose(out, torch.softmax(x, 1), atol=1e-6)


def test_matmul_in_groups():
    a, b = torch.randn(100, 72).half(), torch.randn(72, 70).half()
    c = torch.empty(100, 70).half()
    kernels.matmul_in_groups[(4 * 3,)](a, b, c, 100, 70, 72, BM=32, BN=32, BK=32, GROUP=3)
    assert near(c, torch.nn.functional.leaky_relu(a.float() @ b.float(), 0.01))


@pytest.mark.parametrize("schedule", ["serial", "reverse", "random:1"])
def test_layer_norm_backward_with_locks(schedule):
    x = torch.randn(10, 200, requires_grad=True)
    w, b = torch.randn(200, requires_grad=True), torch.randn(200, requires_grad=True)
    want = torch.nn.functional.layer_norm(x, (200,), w, b, 1e-5)
    dout = torch.randn(10, 200)
    want.backward(dout)
    mean = x.detach().mean(1)
    rstd = 1 / torch.sqrt(x.detach().var(1, unbiased=False) + 1e-5)
    groups, dx = 3, torch.empty(10, 200)
    parts = torch.empty(2, groups, 200)
    locks, sums = torch.zeros(2 * groups, dtype=torch.int32), torch.empty(2, 200)
    kernels.layer_norm_backward_locked[(10,)](dout, x, w, mean, rstd, dx, parts[0], parts[1], locks,
                                              200, GROUPS=groups, BLOCK=256)
    kernels.layer_norm_backward_sums[(2,)](parts[0], parts[1], sums[0], sums[1], groups, 200, BM=4,
                                           BN=128)
    assert near(dx, x.grad, 1e-4) and near(sums[0], w.grad, 1e-4) and near(sums[1], b.grad, 1e-4)


@pytest.mark.parametrize("causal", [False, True])
def test_attention(causal):
    heads, T, D = 2, 64, 32
    q, k, v = (torch.randn(heads, T, D).half().requires_grad_() for _ in range(3))
    want = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    out, lse = torch.empty(heads, T, D).half(), torch.empty(heads, T)
    scale = D ** -0.5
    kernels.attention[(T // 32, heads)](q, k, v, out, lse, scale, T, D=D, BM=32, BN=32,
                                        CAUSAL=causal, num_warps=2)
    assert near(out, want, 5e-3)
    dout = torch.randn(heads, T, D).half()
    want.backward(dout)
    dq = torch.zeros(heads, T, D)
    dk, dv = torch.empty_like(out), torch.empty_like(out)
    kernels.attention_backward[(T // 32, heads)](q, k, v, out, dout, lse, dq, dk, dv, scale, T, D=D,
                                                 BM=32, BN=32, CAUSAL=causal, num_warps=2)
    assert near(dq, q.grad, 2e-2) and near(dk, k.grad, 2e-2) and near(dv, v.grad, 2e-2)


def test_persistent_matmul_with_descriptors():
    a, b = torch.randn(64, 96).half(), torch.randn(48, 96).half()
    c = torch.zeros(64, 48).half()
    kernels.persistent_matmul[(3,)](
        TensorDescriptor.from_tensor(a, [32, 32]), TensorDescriptor.from_tensor(b, [32, 32]),
        TensorDescriptor.from_tensor(c, [32, 32]), 64, 48, 96, PROGRAMS=3, BM=32, BN=32, BK=32)
    assert near(c, a.float() @ b.float().T)


@pytest.mark.parametrize("schedule", ["serial", "reverse"])
def test_persistent_matmul_with_descriptors_of_the_kernel(schedule):
    """Each program makes its descriptors in global scratch; the last blocks are cut at the edges."""
    a, b = torch.randn(80, 96).half(), torch.randn(40, 96).half()
    c = torch.zeros(80, 40).half()
    kernels.persistent_matmul_device[(3,)](a, b, c, 80, 40, 96, PROGRAMS=3, BM=32, BN=32, BK=32)
    assert near(c, a.float() @ b.float().T)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_descriptors_of_the_kernel_in_other_types(dtype):
    a, b = torch.randn(64, 64).to(dtype), torch.randn(64, 64).to(dtype)
    c = torch.zeros(64, 64).half()
    kernels.persistent_matmul_device[(2,)](a, b, c, 64, 64, 64, PROGRAMS=2, BM=64, BN=64, BK=32)
    assert near(c, a.float() @ b.float().T, 2e-2)


def test_grouped_matmul():
    """Sizes and addresses of the groups are in memory of the device."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    blocks = {"BM": 64, "BN": 32, "BK": 32}
    kernel = package.triton.load(triton.compile(ASTSource(
        kernels.grouped_matmul,
        {"a_ptrs": "*i64", "b_ptrs": "*i64", "c_ptrs": "*i64", "sizes_ptr": "*i32", "groups": "i32",
         "PROGRAMS": "constexpr", "BM": "constexpr", "BN": "constexpr", "BK": "constexpr"},
        {"PROGRAMS": 4, **blocks}), target=GPUTarget("cuda", 90, 32)), "sim:h200")
    sizes = [(64, 64, 64), (100, 40, 96), (8, 72, 32)]
    a, b, c = [], [], []
    for M, N, K in sizes:
        a.append(package.array(torch.randn(M, K).half(), "sim:h200"))
        b.append(package.array(torch.randn(N, K).half(), "sim:h200"))
        c.append(package.zeros((M, N), "f16", "sim:h200"))
    tables = [torch.tensor([each.address for each in group]) for group in (a, b, c)]
    kernel[4](*tables, torch.tensor(sizes, dtype=torch.int32), len(sizes))
    for left, right, got in zip(a, b, c):
        want = left.numpy().astype("f4") @ right.numpy().astype("f4").T
        assert near(torch.from_numpy(got.numpy()), torch.from_numpy(want))


def test_host_descriptors_of_parts_of_tensors():
    """The last block is cut at the edge; rows are a part of longer ones."""
    x = torch.randn(70, 192).half()
    y = torch.zeros(70, 192).half()
    kernels.double[(3, 2)](TensorDescriptor(x[:, 64:], [70, 128], [192, 1], [32, 64]),
                           TensorDescriptor(y, [70, 128], [192, 1], [32, 64]), BM=32, BN=64)
    assert torch.equal(y[:, :128], 2 * x[:, 64:]) and not y[:, 128:].any()


def test_clusters():
    x, out = torch.randn(4096), torch.zeros(4096)
    kernels.scale_after[(8,)](x, out, 4096, 3.0, BLOCK=512, num_ctas=2)
    assert torch.equal(out, 3 * x)


def test_programmatic_launches():
    x, h, out = torch.randn(1000), torch.zeros(1000), torch.zeros(1000)
    kernels.scale_after[(4,)](x, h, 1000, 2.0, BLOCK=256, launch_pdl=True)
    kernels.scale_after[(4,)](h, out, 1000, 2.0, BLOCK=256, launch_pdl=True)
    assert torch.equal(out, 4 * x)


def chain(x, w):
    """Three kernels: scale, matmul, scale."""
    M, K = x.shape
    N = w.shape[1]
    h = torch.empty_like(x)
    kernels.scale_after[(triton.cdiv(x.numel(), 256),)](x, h, x.numel(), 0.5, BLOCK=256)
    y = torch.empty(M, N, dtype=torch.float16)
    kernels.matmul[(triton.cdiv(M, 32), triton.cdiv(N, 32))](h, w, y, M, N, K, BM=32, BN=32, BK=32)
    out = torch.empty_like(y)
    kernels.scale_after[(triton.cdiv(y.numel(), 256),)](y, out, y.numel(), 2.0, BLOCK=256)
    return out


def test_a_captured_chain(tmp_path):
    examples = [(torch.randn(rows, 64).half(), torch.randn(64, 48).half()) for rows in (16, 80)]
    program = package.capture(chain, *examples, device="sim:h200", sizes={"x": ("M", None)},
                              weights=["w"])
    assert program.holes == () and set(program.symbols) == {"M"}
    assert 'grid = ["ceildiv(M, 32)", 2]' in program.text
    report = package.check(program, device="sim:h200", rewrite="auto")
    assert [edge.verdict for edge in report.edges] == ["proven", "proven"]

    package.bundle(program, tmp_path / "chain.baton")
    x, w = torch.randn(48, 64).half(), torch.randn(64, 48).half()
    out = package.Program(tmp_path / "chain.baton").bind(device="sim:h200")(x=x, w=w)["out"]
    assert near(torch.from_numpy(out), x.float() @ w.float())
    with pytest.raises(package.Error, match="the largest M that was captured"):
        program.bind(device="sim:h200", M=4096)


def test_a_captured_chain_with_descriptors():
    def step(a, b):
        c = torch.empty(a.shape[0], b.shape[0], dtype=torch.float16)
        kernels.persistent_matmul[(3,)](
            TensorDescriptor.from_tensor(a, [32, 32]), TensorDescriptor.from_tensor(b, [32, 32]),
            TensorDescriptor.from_tensor(c, [32, 32]), a.shape[0], b.shape[0], a.shape[1],
            PROGRAMS=3, BM=32, BN=32, BK=32)
        return c
    b = torch.randn(48, 96).half()
    program = package.capture(step, (torch.randn(32, 96).half(), b), (torch.randn(96, 96).half(), b),
                              device="sim:h200", sizes={"a": ("M", None)})
    assert "tensor_map" in program.text
    a = torch.randn(64, 96).half()
    assert near(torch.from_numpy(program.bind(device="sim:h200")(a=a, b=b)["out"]),
                a.float() @ b.float().T)


def test_kernels_that_triton_specialised_differ():
    def step(x):
        out = torch.empty_like(x)
        kernels.scale_after[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), 2.0, BLOCK=256)
        return out
    with pytest.raises(package.Error, match="another kernel .*Triton does for multiples of 16"):
        package.capture(step, (torch.randn(100),), (torch.randn(256),), device="sim:h200")
    program = package.capture(step, (torch.randn(256),), (torch.randn(1024),), device="sim:h200")
    with pytest.raises(package.Error, match="% 16 == 0"):
        program.bind(device="sim:h200", x_0=500)
