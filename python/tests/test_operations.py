# SPDX-License-Identifier: Apache-2.0
"""Each operation against the same formula in NumPy's doubles."""
import math

import numpy as np
import pytest

import rooftile

DTYPES = ("f32", "fp16", "bf16")
each_dtype = pytest.mark.parametrize("dtype", DTYPES)


def wide(array):
    return array.astype(np.float64)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def rms(x, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps)


@each_dtype
def test_rmsnorm(randn, close, dtype):
    x, w = randn((5, 96), dtype), randn(96, dtype)
    y = rooftile.rmsnorm(x, w, eps=1e-3)
    assert y.dtype == x.dtype
    close(y, rms(wide(x), 1e-3) * wide(w))


@each_dtype
def test_rmsnorm_with_residual_gives_two(randn, close, dtype):
    x, r, w = randn((5, 96), dtype), randn((5, 96), dtype), randn(96, dtype)
    y, total = rooftile.rmsnorm(x, w, residual=r)
    close(total, wide(x) + wide(r))
    close(y, rms(wide(x) + wide(r), 1e-6) * wide(w))


@each_dtype
def test_gemm_rmsnorm(randn, close, dtype):
    a, w, weight = randn((3, 96), dtype), randn(96, dtype), randn((40, 96), dtype)
    weight = (wide(weight) / 10).astype(weight.dtype)
    close(rooftile.gemm_rmsnorm(a, w, weight.T), rms(wide(a), 1e-6) * wide(w) @ wide(weight).T)


@each_dtype
def test_softmax(randn, close, dtype):
    x = randn((4, 33), dtype)
    close(rooftile.softmax(x, scale=2), softmax(2 * wide(x)))
    y = rooftile.softmax(x, lengths=np.array([33, 1, 0, 10], np.int32))
    close(y[3:, :10], softmax(wide(x[3:, :10])))
    assert not wide(y[2]).any() and not wide(y[3, 10:]).any()


@each_dtype
def test_gemm(randn, close, dtype):
    a, b = randn((7, 40), dtype), randn((40, 9), dtype)
    bias, residual = randn(9, dtype), randn((7, 9), dtype)
    expected = wide(a) @ wide(b)
    close(rooftile.gemm(a, b), expected)
    close(rooftile.gemm(a, b, bias=bias, act="gelu", residual=residual), gelu(expected + wide(bias)) + wide(residual))


@each_dtype
def test_gemm_by_a_weight_as_models_store_it(randn, close, dtype):
    a, weight = randn((3, 64), dtype), randn((10, 64), dtype)
    close(rooftile.gemm(a, weight.T), wide(a) @ wide(weight).T)


def test_gemm_with_a_wider_result(randn, close):
    a, b = randn((7, 40), "bf16"), randn((40, 9), "bf16")
    out = np.full((7, 9), np.nan, np.float32)
    assert rooftile.gemm(a, b, out=out) is out
    close(out, wide(a) @ wide(b))


def test_gemm_of_packed_weights(randn, close):
    a = randn((3, 64))
    scales = np.array([[0.5, 0.25]] * 10, np.float16)
    codes = np.random.default_rng(1).integers(-127, 128, (10, 2, 32)).astype(np.int8)
    blocks = np.concatenate([scales[..., None].view(np.uint8), codes.view(np.uint8)], axis=-1)
    weight = (wide(scales)[..., None] * codes).reshape(10, 64)
    b = rooftile.packed(blocks.reshape(10, 2 * 34), "q8_0")
    close(rooftile.gemm(a, b.T) / 100, wide(a) @ weight.T / 100)


@each_dtype
def test_element_wise(randn, close, dtype):
    a, b = randn((4, 50), dtype), randn((4, 50), dtype)
    close(rooftile.add(a, b), wide(a) + wide(b))
    close(rooftile.mul(a, b), wide(a) * wide(b))
    close(rooftile.activation(a), silu(wide(a)))
    close(rooftile.activation(a, act="relu"), np.maximum(wide(a), 0))
    close(rooftile.glu(a, b), silu(wide(a)) * wide(b))
    close(rooftile.scaled_copy(a, alpha=0.5), wide(a) / 2)


@each_dtype
def test_moves(randn, dtype):
    x = randn((6, 17), dtype)
    assert np.array_equal(rooftile.transpose(x), x.T)
    ids = np.array([3, 0, 3, 5], np.int32)
    assert np.array_equal(rooftile.embedding(x, ids), x[ids])
    assert np.array_equal(rooftile.argmax(x), wide(x).argmax(-1))


def test_rope(randn, close):
    x, positions = randn((5, 2, 16)), np.array([0, 1, 2, 70, 900], np.int32)
    angle = positions[:, None, None] * 10000.0 ** (-np.arange(8) / 8)
    low, high = wide(x)[..., :8], wide(x)[..., 8:]
    turned = np.concatenate([low * np.cos(angle) - high * np.sin(angle), high * np.cos(angle) + low * np.sin(angle)], -1)
    close(rooftile.rope(x, positions, pairing="half", theta=10000), turned)


def paged(randn, dtype="f32"):
    """Keys and values of 7 tokens in pages of 4, the second page before the first."""
    k, v = randn((7, 2, 8), dtype), randn((7, 2, 8), dtype)
    k_cache, v_cache = np.zeros((3, 4, 2, 8), k.dtype), np.zeros((3, 4, 2, 8), k.dtype)
    slots = np.array([8, 9, 10, 11, 0, 1, 2], np.int32)
    assert rooftile.kv_append(k_cache, v_cache, k, v, slots) is None
    return k, v, k_cache, v_cache, np.array([[2, 0]], np.int32)


def test_kv_append(randn):
    k, _, k_cache, v_cache, _ = paged(randn)
    assert np.array_equal(k_cache[2], k[:4]) and np.array_equal(k_cache[0, :3], k[4:])
    assert not k_cache[1].any() and not k_cache[0, 3].any() and v_cache[0].any()


@each_dtype
def test_attention(randn, close, dtype):
    k, v, k_cache, v_cache, pages = paged(randn, dtype)
    q = randn((3, 4, 8), dtype)  # the last three of seven tokens, two query heads to a kv head
    y, lse = rooftile.attention(q, k_cache, v_cache, np.array([0, 3], np.int32), np.array([7], np.int32), pages, lse=True)
    for head in range(4):
        scores = wide(q)[:, head] @ wide(k)[:, head // 2].T / math.sqrt(8)
        scores[np.arange(7)[None] > np.arange(4, 7)[:, None]] = -np.inf
        close(y[:, head], softmax(scores) @ wide(v)[:, head // 2])
        close(lse[:, head], np.log(np.exp(scores).sum(-1)))


def test_sample_is_greedy_at_temperature_0(randn):
    logits, zeros = randn((4, 100)), np.zeros(4, np.int64)
    ids = rooftile.sample(logits, zeros, zeros, temperature=np.zeros(4, np.float32))
    assert ids.dtype == np.int32 and np.array_equal(ids, logits.argmax(-1))


def test_every_operation_says_what_it_takes():
    for name in rooftile.operations():
        doc = getattr(rooftile, name).__doc__
        for arg in rooftile.declaration(name)["args"]:
            assert f"    {arg['name']}: [" in doc
