# SPDX-License-Identifier: Apache-2.0
"""Each operation on a GPU's tensors, against the same formula in PyTorch's doubles."""
import math

import pytest

import rooftile

TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
# Odd ones for the ends of rows, wide ones for vectors.
ROWS = [(5, 96), (3, 33), (70, 1024), (2, 8192)]
each_dtype = pytest.mark.parametrize("dtype", list(TOLERANCE))
each_shape = pytest.mark.parametrize("shape", ROWS, ids=str)


@pytest.fixture
def randn(torch):
    return lambda shape, dtype="float32": torch.randn(shape, device="cuda").to(getattr(torch, dtype))


@pytest.fixture
def close(torch):
    """close(actual, expected): within the rounding of actual's dtype; a NaN is never close."""
    def check(actual, expected):
        assert actual.is_cuda and actual.shape == expected.shape
        bound = TOLERANCE[str(actual.dtype).removeprefix("torch.")] * (1 + expected.abs())
        error = (actual.double() - expected).abs()
        assert bool((error <= bound).all()), f"error of {float(error.max())}"
    return check


def rms(x, eps=1e-6):
    return x / (x * x).mean(-1, keepdim=True).add(eps).sqrt()


@each_dtype
@each_shape
def test_rmsnorm(randn, close, dtype, shape):
    x, r, w = randn(shape, dtype), randn(shape, dtype), randn(shape[1], dtype)
    y = rooftile.rmsnorm(x, w, eps=1e-3)
    assert y.dtype == x.dtype and y.device == x.device
    close(y, rms(x.double(), 1e-3) * w.double())
    y, total = rooftile.rmsnorm(x, w, residual=r)
    close(total, x.double() + r.double())
    close(y, rms(total.double()) * w.double())


@each_dtype
@each_shape
def test_layernorm(torch, randn, close, dtype, shape):
    x, w, b = randn(shape, dtype), randn(shape[1], dtype), randn(shape[1], dtype)
    expected = torch.nn.functional.layer_norm(x.double(), shape[1:], w.double(), b.double(), 1e-5)
    close(rooftile.layernorm(x, w=w, b=b, eps=1e-5), expected)


@each_dtype
@each_shape
def test_softmax(torch, randn, close, dtype, shape):
    x = randn(shape, dtype)
    close(rooftile.softmax(x, scale=2), torch.softmax(2 * x.double(), -1))
    lengths = torch.arange(shape[0], dtype=torch.int32, device="cuda") + 1
    y = rooftile.softmax(x, lengths=lengths)
    for row in (0, shape[0] - 1):
        close(y[row, :row + 1], torch.softmax(x[row, :row + 1].double(), -1))
        assert not y[row, row + 1:].any()


@each_dtype
@each_shape
def test_element_wise(torch, randn, close, dtype, shape):
    functional = torch.nn.functional
    a, b = randn(shape, dtype), randn(shape, dtype)
    wide = a.double()
    close(rooftile.add(a, b), wide + b.double())
    close(rooftile.mul(a, b), wide * b.double())
    close(rooftile.scaled_copy(a, alpha=0.5), wide / 2)
    close(rooftile.activation(a), functional.silu(wide))
    close(rooftile.activation(a, act="gelu"), functional.gelu(wide))
    close(rooftile.activation(a, act="gelu_tanh"), functional.gelu(wide, approximate="tanh"))
    close(rooftile.glu(a, b), functional.silu(wide) * b.double())


# By m, the kernels differ: one row, few rows, whole tiles, tiles with a rest.
@pytest.mark.parametrize("m, n, k", [(1, 256, 512), (7, 40, 96), (16, 512, 256), (256, 512, 128), (300, 264, 200)])
@each_dtype
def test_gemm(torch, randn, close, dtype, m, n, k):
    a, weight = randn((m, k), dtype) / math.sqrt(k), randn((n, k), dtype)
    bias, residual = randn(n, dtype), randn((m, n), dtype)
    product = a.double() @ weight.double().T
    close(rooftile.gemm(a, weight.T), product)
    close(rooftile.gemm(a, weight.T.contiguous()), product)
    fused = torch.nn.functional.gelu(product + bias.double()) + residual.double()
    close(rooftile.gemm(a, weight.T, bias=bias, act="gelu", residual=residual), fused)
    wide = torch.full((m, n), math.nan, device="cuda")
    assert rooftile.gemm(a, weight.T, out=wide) is wide
    close(wide, product)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gemm_glu(torch, randn, close, dtype):
    a, gate, up = randn((40, 128), dtype) / 12, randn((96, 128), dtype), randn((96, 128), dtype)
    expected = torch.nn.functional.silu(a.double() @ gate.double().T) * (a.double() @ up.double().T)
    close(rooftile.gemm_glu(a, gate.T, up.T), expected)


@each_dtype
@pytest.mark.parametrize("rows", [1, 40])
def test_gemm_rmsnorm(torch, randn, close, dtype, rows):
    a, w, weight = randn((rows, 128), dtype), randn((128,), dtype), randn((96, 128), dtype) / 12
    wide = a.double()
    expected = wide / (wide.square().mean(-1, keepdim=True) + 1e-6).sqrt() * w.double() @ weight.double().T
    close(rooftile.gemm_rmsnorm(a, w, weight.T), expected)


@each_dtype
def test_moves(torch, randn, dtype):
    x = randn((6, 1000), dtype)
    assert torch.equal(rooftile.transpose(x), x.T)
    ids = torch.tensor([3, 0, 3, 5], dtype=torch.int32, device="cuda")
    assert torch.equal(rooftile.embedding(x, ids), x[ids])
    assert torch.equal(rooftile.argmax(x).long(), x.double().argmax(-1))


def test_rope(torch, randn, close):
    x, positions = randn((5, 2, 16)), torch.tensor([0, 1, 2, 70, 900], dtype=torch.int32, device="cuda")
    angle = positions[:, None, None] * 10000.0 ** (-torch.arange(8, device="cuda").double() / 8)
    low, high = x[..., :8].double(), x[..., 8:].double()
    turned = torch.cat([low * angle.cos() - high * angle.sin(), high * angle.cos() + low * angle.sin()], -1)
    close(rooftile.rope(x, positions, pairing="half", theta=10000), turned)


def test_fp8(torch, randn):
    """What PyTorch rounds to, on values that both can hold."""
    x = randn((4, 64)).clamp(-100, 100)
    out = torch.empty((4, 64), dtype=torch.float8_e4m3fn, device="cuda")
    rooftile.scaled_copy(x, out=out)
    assert torch.equal(out.view(torch.uint8), x.to(torch.float8_e4m3fn).view(torch.uint8))


def test_packed_table(torch, close):
    """Rows of q8_0 blocks: a scale and 32 codes."""
    scales = torch.tensor([[0.5, 0.25]] * 10, dtype=torch.float16, device="cuda")
    codes = torch.randint(-127, 128, (10, 2, 32), dtype=torch.int8, device="cuda")
    blocks = torch.cat([scales[..., None].view(torch.uint8), codes.view(torch.uint8)], -1).reshape(10, 68)
    ids = torch.tensor([9, 0, 4], dtype=torch.int32, device="cuda")
    out = torch.empty((3, 64), device="cuda")
    rooftile.embedding(rooftile.packed(blocks, "q8_0"), ids, out=out)
    close(out, (scales[..., None].double() * codes).reshape(10, 64)[ids])


def test_views_that_are_not_contiguous(torch, randn, close):
    wide = randn((10, 128), "bfloat16")
    x, w = wide[::2, 1:97], randn(192, "bfloat16")[::2]
    out = torch.full((5, 200), 7.0, device="cuda", dtype=torch.bfloat16)
    rooftile.rmsnorm(x, w, out=out[:, 50:146])
    close(out[:, 50:146], rms(x.double()) * w.double())
    assert bool((out[:, :50] == 7).all()) and bool((out[:, 146:] == 7).all())
    turned = randn((33, 5)).T
    close(rooftile.softmax(turned), torch.softmax(turned.double(), -1))
    close(rooftile.activation(turned, act="relu"), torch.relu(turned.double()))
    repeated = randn(33).expand(5, 33)
    close(rooftile.add(turned, repeated), turned.double() + repeated.double())
    both = randn((4, 66))
    close(rooftile.glu(both[:, ::2], both[:, 1::2]), torch.nn.functional.silu(both[:, ::2].double()) * both[:, 1::2].double())


def test_empty_tensors(torch):
    assert rooftile.softmax(torch.empty((0, 8), device="cuda")).shape == (0, 8)
    product = rooftile.gemm(torch.empty((2, 0), device="cuda"), torch.empty((0, 3), device="cuda"))
    assert torch.equal(product, torch.zeros((2, 3), device="cuda"))


def test_every_kernel_for_gpus(torch, randn, close):
    """Those that dispatch would not choose, by name."""
    x, w = randn((6, 64)), randn(64)
    ran = [kernel["name"] for kernel in rooftile.kernels("rmsnorm", x, w) if not kernel["unsupported"]]
    assert len(ran) > 1
    for name in ran:
        close(rooftile.rmsnorm(x, w, kernel=name), rms(x.double()) * w.double())
    assert rooftile.problem("rmsnorm", x, w).split()[0] == "rmsnorm/" + ran[0]
