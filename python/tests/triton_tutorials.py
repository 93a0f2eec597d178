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
def softmax(x_ptr, out_ptr, x_stride, out_stride, rows, n, BLOCK: tl.constexpr,
            STAGES: tl.constexpr):
    """Each program makes every num_programs-th row, in a pipelined loop."""
    offsets = tl.arange(0, BLOCK)
    mask = offsets < n
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=STAGES):
        x = tl.load(x_ptr + row * x_stride + offsets, mask=mask, other=-float("inf"))
        weights = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * out_stride + offsets, weights / tl.sum(weights, axis=0), mask=mask)


@triton.jit
def matmul_in_groups(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr,
                     BK: tl.constexpr, GROUP: tl.constexpr):
    """Programs of GROUP rows of tiles follow each other; offsets wrap around at the edges, and a
    leaky ReLU follows."""
    down, across = tl.cdiv(M, BM), tl.cdiv(N, BN)
    program = tl.program_id(0)
    first = program // (GROUP * across) * GROUP
    height = min(down - first, GROUP)
    row = first + program % (GROUP * across) % height
    column = program % (GROUP * across) // height
    rows = (row * BM + tl.arange(0, BM)) % M
    columns = (column * BN + tl.arange(0, BN)) % N
    inner = tl.arange(0, BK)
    a_ptrs = a_ptr + rows[:, None] * K + inner[None, :]
    b_ptrs = b_ptr + inner[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=inner[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=inner[:, None] < K - k * BK, other=0.0)
        total = tl.dot(a, b, total)
        a_ptrs += BK
        b_ptrs += BK * N
    total = tl.where(total >= 0, total, 0.01 * total)
    rows = row * BM + tl.arange(0, BM)
    columns = column * BN + tl.arange(0, BN)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total.to(tl.float16),
             mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def layer_norm_backward_locked(dout_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr,
                               locks_ptr, n, GROUPS: tl.constexpr, BLOCK: tl.constexpr):
    """The rows of one group add to its own sums of dw and db, one program at a time by a lock."""
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
    lock_ptr = locks_ptr + row % GROUPS
    count_ptr = lock_ptr + GROUPS
    dw_ptrs = dw_ptr + row % GROUPS * n + offsets
    db_ptrs = db_ptr + row % GROUPS * n + offsets
    dw, db = dout * normal, dout
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    if tl.load(count_ptr) == 0:
        tl.atomic_xchg(count_ptr, 1)
    else:
        dw += tl.load(dw_ptrs, mask=mask)
        db += tl.load(db_ptrs, mask=mask)
    tl.store(dw_ptrs, dw, mask=mask)
    tl.store(db_ptrs, db, mask=mask)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def layer_norm_backward_sums(dw_ptr, db_ptr, out_dw_ptr, out_db_ptr, groups, n, BM: tl.constexpr,
                             BN: tl.constexpr):
    columns = tl.program_id(0) * BN + tl.arange(0, BN)
    dw = tl.zeros((BM, BN), dtype=tl.float32)
    db = tl.zeros((BM, BN), dtype=tl.float32)
    for first in range(0, groups, BM):
        rows = first + tl.arange(0, BM)
        mask = (rows[:, None] < groups) & (columns[None, :] < n)
        places = rows[:, None] * n + columns[None, :]
        dw += tl.load(dw_ptr + places, mask=mask, other=0.0)
        db += tl.load(db_ptr + places, mask=mask, other=0.0)
    tl.store(out_dw_ptr + columns, tl.sum(dw, axis=0), mask=columns < n)
    tl.store(out_db_ptr + columns, tl.sum(db, axis=0), mask=columns < n)


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
def grouped_matmul(a_ptrs, b_ptrs, c_ptrs, sizes_ptr, groups, PROGRAMS: tl.constexpr,
                   BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """c = a @ b^T of each group, whose M, N, K and addresses are in memory. Each program makes every
    PROGRAMS-th tile of all groups, and the descriptors of a group when it comes to its tiles."""
    tile = tl.program_id(0)
    first = 0
    for group in range(groups):
        M = tl.load(sizes_ptr + 3 * group)
        N = tl.load(sizes_ptr + 3 * group + 1)
        K = tl.load(sizes_ptr + 3 * group + 2)
        across = tl.cdiv(N, BN)
        end = first + tl.cdiv(M, BM) * across
        if tile >= first and tile < end:
            a_ptr = tl.load(a_ptrs + group).to(tl.pointer_type(tl.float16))
            b_ptr = tl.load(b_ptrs + group).to(tl.pointer_type(tl.float16))
            c_ptr = tl.load(c_ptrs + group).to(tl.pointer_type(tl.float16))
            a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
            b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
            c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
            while tile >= first and tile < end:
                row = (tile - first) // across * BM
                column = (tile - first) % across * BN
                total = tl.zeros((BM, BN), dtype=tl.float32)
                for k in range(0, K, BK):
                    total = tl.dot(a.load([row, k]), b.load([column, k]).T, total)
                c.store([row, column], total.to(tl.float16))
                tile += PROGRAMS
        first = end


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
