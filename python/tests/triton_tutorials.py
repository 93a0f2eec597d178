"""The kernels of Triton's tutorials in small forms of their own, for tests."""

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets,
             tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rows[:, None] * K + k + inner[None, :],
                    mask=(rows[:, None] < M) & (k + inner[None, :] < K), other=0.0)
        b = tl.load(b_ptr + (k + inner[:, None]) * N + columns[None, :],
                    mask=(k + inner[:, None] < K) & (columns[None, :] < N), other=0.0)
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16),
             mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, out_ptr, mean_ptr, rstd_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + row * n + offsets, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n
    centred = tl.where(mask, x - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / n + eps)
    w = tl.load(w_ptr + offsets, mask=mask)
    b = tl.load(b_ptr + offsets, mask=mask)
    tl.store(out_ptr + row * n + offsets, centred * rstd * w + b, mask=mask)
    tl.store(mean_ptr + row, mean)
    tl.store(rstd_ptr + row, rstd)


@triton.jit
def layer_norm_backward(dout_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, n,
                        BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + row * n + offsets, mask=mask, other=0.0)
    dout = tl.load(dout_ptr + row * n + offsets, mask=mask, other=0.0)
    w = tl.load(w_ptr + offsets, mask=mask, other=0.0)
    rstd = tl.load(rstd_ptr + row)
    normal = tl.where(mask, (x - tl.load(mean_ptr + row)) * rstd, 0.0)
    scaled = dout * w
    one = tl.sum(scaled, axis=0) / n
    other = tl.sum(scaled * normal, axis=0) / n
    tl.store(dx_ptr + row * n + offsets, (scaled - one - normal * other) * rstd, mask=mask)
    tl.atomic_add(dw_ptr + offsets, dout * normal, mask=mask)
    tl.atomic_add(db_ptr + offsets, dout, mask=mask)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, scale, T, D: tl.constexpr, BM: tl.constexpr,
              BN: tl.constexpr, CAUSAL: tl.constexpr):
    """Online softmax: one program makes BM rows of one head."""
    head = tl.program_id(1) * T * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    inner = tl.arange(0, D)
    q = tl.load(q_ptr + head + rows[:, None] * D + inner[None, :])
    largest = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    result = tl.zeros((BM, D), tl.float32)
    end = (tl.program_id(0) + 1) * BM if CAUSAL else T
    for start in range(0, end, BN):
        columns = start + tl.arange(0, BN)
        k = tl.load(k_ptr + head + columns[None, :] * D + inner[:, None])
        scores = tl.dot(q, k) * scale
        if CAUSAL:
            scores = tl.where(rows[:, None] >= columns[None, :], scores, -float("inf"))
        above = tl.maximum(largest, tl.max(scores, axis=1))
        p = tl.exp(scores - above[:, None])
        shrink = tl.exp(largest - above)
        total = total * shrink + tl.sum(p, axis=1)
        v = tl.load(v_ptr + head + columns[:, None] * D + inner[None, :])
        result = tl.dot(p.to(tl.float16), v, result * shrink[:, None])
        largest = above
    tl.store(out_ptr + head + rows[:, None] * D + inner[None, :],
             (result / total[:, None]).to(tl.float16))
    tl.store(lse_ptr + tl.program_id(1) * T + rows, largest + tl.log(total))


@triton.jit
def attention_backward(q_ptr, k_ptr, v_ptr, out_ptr, dout_ptr, lse_ptr, dq_ptr, dk_ptr, dv_ptr,
                       scale, T, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                       CAUSAL: tl.constexpr):
    """One program makes BN rows of dk and dv, and adds its part to dq."""
    head = tl.program_id(1) * T * D
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    inner = tl.arange(0, D)
    k = tl.load(k_ptr + head + columns[:, None] * D + inner[None, :])
    v = tl.load(v_ptr + head + columns[:, None] * D + inner[None, :])
    dk = tl.zeros((BN, D), tl.float32)
    dv = tl.zeros((BN, D), tl.float32)
    for start in range(0, T, BM):
        rows = start + tl.arange(0, BM)
        q = tl.load(q_ptr + head + rows[:, None] * D + inner[None, :])
        out = tl.load(out_ptr + head + rows[:, None] * D + inner[None, :])
        dout = tl.load(dout_ptr + head + rows[:, None] * D + inner[None, :])
        lse = tl.load(lse_ptr + tl.program_id(1) * T + rows)
        p = tl.exp(tl.dot(q, tl.trans(k)) * scale - lse[:, None])
        if CAUSAL:
            p = tl.where(rows[:, None] >= columns[None, :], p, 0.0)
        dv = tl.dot(tl.trans(p.to(tl.float16)), dout, dv)
        delta = tl.sum(out.to(tl.float32) * dout.to(tl.float32), axis=1)
        ds = (p * (tl.dot(dout, tl.trans(v)) - delta[:, None]) * scale).to(tl.float16)
        dk = tl.dot(tl.trans(ds), q, dk)
        tl.atomic_add(dq_ptr + head + rows[:, None] * D + inner[None, :], tl.dot(ds, k))
    tl.store(dk_ptr + head + columns[:, None] * D + inner[None, :], dk.to(tl.float16))
    tl.store(dv_ptr + head + columns[:, None] * D + inner[None, :], dv.to(tl.float16))


@triton.jit
def persistent_matmul(a, b, c, M, N, K, PROGRAMS: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                      BK: tl.constexpr):
    """Tensor descriptors from the host; each program makes every PROGRAMS-th tile of c = a @ b^T."""
    across = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * across, PROGRAMS):
        row = tile // across * BM
        column = tile % across * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
        c.store([row, column], total.to(tl.float16))


@triton.jit
def persistent_matmul_device(a_ptr, b_ptr, c_ptr, M, N, K, PROGRAMS: tl.constexpr, BM: tl.constexpr,
                             BN: tl.constexpr, BK: tl.constexpr):
    """The same with descriptors that the kernel makes, in global scratch."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    across = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * across, PROGRAMS):
        row = tile // across * BM
        column = tile % across * BN
        total = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(0, K, BK):
            total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
        c.store([row, column], total.to(tl.float16))


@triton.jit
def double(a, b, BM: tl.constexpr, BN: tl.constexpr):
    """Copies blocks by descriptors from the host."""
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    b.store([row, column], a.load([row, column]) * 2)


@triton.jit
def scale_after(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    """Programmatic dependent launch: waits before it reads, and triggers after it wrote."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.extra.cuda.gdc_wait()
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, x * factor, mask=offsets < n)
    tl.extra.cuda.gdc_launch_dependents()
