# SPDX-License-Identifier: Apache-2.0
"""Triton kernels as its tutorials have them: a program for a row, a program for a tile of a product.

Each function takes backend and tensors, and gives (what calls it, the choice that was fastest there)."""
import torch
import triton
import triton.language as tl

TRIALS = 5
WARPS_OF_ROWS = (4, 8, 16)
# Rows at most, then tiles of m, n, k with warps and stages.
TILES = [(16, [(16, 64, 256, 4, 4), (16, 128, 128, 4, 4), (16, 32, 256, 4, 5)]),
         (128, [(64, 64, 128, 4, 4), (64, 128, 128, 4, 3), (128, 64, 128, 4, 3)]),
         (1 << 30, [(128, 256, 64, 8, 3), (128, 128, 64, 8, 4), (128, 128, 64, 4, 4)])]


@triton.jit
def rmsnorm_kernel(y, total, x, residual, w, cols, eps, has_residual: tl.constexpr, block: tl.constexpr):
    at = tl.arange(0, block)
    inside = at < cols
    start = tl.program_id(0).to(tl.int64) * cols
    value = tl.load(x + start + at, mask=inside, other=0.0)
    if has_residual:
        value += tl.load(residual + start + at, mask=inside, other=0.0)
        tl.store(total + start + at, value, mask=inside)
    wide = value.to(tl.float32)
    scale = tl.rsqrt(tl.sum(wide * wide, 0) / cols + eps)
    weight = tl.load(w + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + start + at, wide * scale * weight, mask=inside)


@triton.jit
def layernorm_kernel(y, x, w, b, cols, eps, block: tl.constexpr):
    at = tl.arange(0, block)
    inside = at < cols
    start = tl.program_id(0).to(tl.int64) * cols
    wide = tl.load(x + start + at, mask=inside, other=0.0).to(tl.float32)
    centred = tl.where(inside, wide - tl.sum(wide, 0) / cols, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / cols + eps)
    weight = tl.load(w + at, mask=inside, other=0.0).to(tl.float32)
    bias = tl.load(b + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + start + at, centred * scale * weight + bias, mask=inside)


@triton.jit
def softmax_kernel(y, x, cols, block: tl.constexpr):
    at = tl.arange(0, block)
    inside = at < cols
    start = tl.program_id(0).to(tl.int64) * cols
    wide = tl.load(x + start + at, mask=inside, other=-float("inf")).to(tl.float32)
    power = tl.exp(wide - tl.max(wide, 0))
    tl.store(y + start + at, power / tl.sum(power, 0), mask=inside)


@triton.jit
def swiglu_kernel(y, gate, up, cols, gate_stride, up_stride, block: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.program_id(1) * block + tl.arange(0, block)
    inside = at < cols
    wide = tl.load(gate + row * gate_stride + at, mask=inside, other=0.0).to(tl.float32)
    other = tl.load(up + row * up_stride + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + row * cols + at, wide / (1 + tl.exp(-wide)) * other, mask=inside)


@triton.jit
def matmul_kernel(d, a, w, m, n, k, block_m: tl.constexpr, block_n: tl.constexpr, block_k: tl.constexpr,
                  group: tl.constexpr):
    """d[m, n] = a[m, k] times the transpose of w[n, k], tiles in groups that share operands in the L2 cache."""
    tile, tiles_m, tiles_n = tl.program_id(0), tl.cdiv(m, block_m), tl.cdiv(n, block_n)
    first = tile // (group * tiles_n) * group
    rows_here = min(tiles_m - first, group)
    tile_m = first + tile % (group * tiles_n) % rows_here
    tile_n = tile % (group * tiles_n) // rows_here
    rows = (tile_m * block_m + tl.arange(0, block_m)) % m
    cols = (tile_n * block_n + tl.arange(0, block_n)) % n
    at = tl.arange(0, block_k)
    from_a = a + rows[:, None].to(tl.int64) * k + at[None, :]
    from_w = w + cols[None, :].to(tl.int64) * k + at[:, None]
    total = tl.zeros((block_m, block_n), tl.float32)
    for step in range(tl.cdiv(k, block_k)):
        inside = at < k - step * block_k
        total = tl.dot(tl.load(from_a, mask=inside[None, :], other=0.0),
                       tl.load(from_w, mask=inside[:, None], other=0.0), total)
        from_a += block_k
        from_w += block_k
    rows = tile_m * block_m + tl.arange(0, block_m)
    cols = tile_n * block_n + tl.arange(0, block_n)
    tl.store(d + rows[:, None].to(tl.int64) * n + cols[None, :], total,
             mask=(rows[:, None] < m) & (cols[None, :] < n))


def fastest(backend, calls):
    """Of calls by their choice, after each has run once; those that do not fit the GPU drop out."""
    medians, failure = {}, None
    for choice, call in calls.items():
        try:
            call()
        except triton.runtime.errors.OutOfResources as error:
            failure = error
            continue
        medians[choice] = sorted(backend.time_us(call) for _ in range(TRIALS))[TRIALS // 2]
    if not medians:
        raise failure
    best = min(medians, key=medians.get)
    return calls[best], best


def of_rows(backend, launch):
    """launch(warps) with each number of warps."""
    return fastest(backend, {f"num_warps={warps}": lambda warps=warps: launch(warps) for warps in WARPS_OF_ROWS})


def rmsnorm(backend, x, w, eps, residual=None):
    rows, cols = x.shape
    block = triton.next_power_of_2(cols)

    def launch(warps):
        y = torch.empty_like(x)
        total = y if residual is None else torch.empty_like(x)
        rmsnorm_kernel[(rows,)](y, total, x, x if residual is None else residual, w, cols, eps,
                                residual is not None, block, num_warps=warps)
        return y

    return of_rows(backend, launch)


def layernorm(backend, x, w, b, eps):
    def launch(warps):
        y = torch.empty_like(x)
        layernorm_kernel[(x.shape[0],)](y, x, w, b, x.shape[1], eps, triton.next_power_of_2(x.shape[1]), num_warps=warps)
        return y

    return of_rows(backend, launch)


def softmax(backend, x):
    def launch(warps):
        y = torch.empty_like(x)
        softmax_kernel[(x.shape[0],)](y, x, x.shape[1], triton.next_power_of_2(x.shape[1]), num_warps=warps)
        return y

    return of_rows(backend, launch)


def swiglu(backend, gate, up):
    rows, cols = gate.shape

    def launch(block):
        y = torch.empty((rows, cols), dtype=gate.dtype, device=gate.device)
        swiglu_kernel[(rows, triton.cdiv(cols, block))](y, gate, up, cols, gate.stride(0), up.stride(0), block)
        return y

    return fastest(backend, {f"block={block}": lambda block=block: launch(block) for block in (1024, 2048)})


def matmul(backend, a, w):
    m, k = a.shape
    n = w.shape[0]

    def launch(block_m, block_n, block_k, warps, stages):
        d = torch.empty((m, n), dtype=a.dtype, device=a.device)
        grid = (triton.cdiv(m, block_m) * triton.cdiv(n, block_n),)
        matmul_kernel[grid](d, a, w, m, n, k, block_m, block_n, block_k, 8, num_warps=warps, num_stages=stages)
        return d

    tiles = next(tiles for rows, tiles in TILES if m <= rows)
    return fastest(backend, {f"tile={t[0]}x{t[1]}x{t[2]} num_warps={t[3]} num_stages={t[4]}":
                             lambda t=t: launch(*t) for t in tiles})
