# SPDX-License-Identifier: Apache-2.0
"""CuPy's arrays: results, views, streams, graphs, a mix with PyTorch, memory."""
import numpy as np
import pytest

import rooftile

CALLS = 1000
SPIN = r"""
extern "C" __global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {}
}
"""


@pytest.fixture
def randn(cupy):
    rng = np.random.default_rng(7)
    return lambda shape, dtype=np.float32: cupy.asarray(rng.standard_normal(shape).astype(dtype))


@pytest.fixture
def busy(cupy):
    """busy(): the current stream has work for about 100 ms."""
    kernel = cupy.RawKernel(SPIN, "spin")
    kernel((1,), (1,), (1,))
    cupy.cuda.Device().synchronize()
    return lambda: kernel((1,), (1,), (200_000_000,))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def rms(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_operations(cupy, randn, close, dtype):
    x, r, w, weight = randn((5, 96), dtype), randn((5, 96), dtype), randn(96, dtype), randn((40, 96), dtype)
    wide, wide_r, wide_w = (array.get().astype(np.float64) for array in (x, r, w))
    y = rooftile.softmax(x)
    assert isinstance(y, cupy.ndarray) and y.dtype == dtype
    close(y.get(), softmax(wide))
    y, total = rooftile.rmsnorm(x, w, residual=r)
    close(total.get(), wide + wide_r)
    close(y.get(), rms(wide + wide_r) * wide_w)
    close(rooftile.gemm(x / 10, weight.T).get(), (x / 10).get().astype(np.float64) @ weight.get().astype(np.float64).T)
    close(rooftile.mul(x, r).get(), wide * wide_r)
    assert bool((rooftile.argmax(x) == x.argmax(-1)).all())


def test_bfloat16(cupy, close):
    import ml_dtypes
    try:
        x = cupy.asarray(np.linspace(-3, 3, 4 * 33).reshape(4, 33).astype(ml_dtypes.bfloat16))
    except (TypeError, ValueError) as error:
        pytest.skip(f"this CuPy has no bfloat16: {error}")
    close(rooftile.softmax(x).get(), softmax(x.get().astype(np.float64)))


def test_views_and_out(cupy, randn, close):
    wide, out = randn((10, 128)), cupy.full((5, 200), 7, cupy.float32)
    x = wide[::2, 1:97]
    y = rooftile.softmax(x, out=out[:, 50:146])
    assert y.base is out
    close(out.get()[:, 50:146], softmax(x.get().astype(np.float64)))
    assert bool((out[:, :50] == 7).all()) and bool((out[:, 146:] == 7).all())
    close(rooftile.softmax(wide.T).get(), softmax(wide.T.get().astype(np.float64)))


def test_the_current_stream_is_used(cupy, busy):
    side = cupy.cuda.Stream(non_blocking=True)
    x = cupy.zeros((64, 64), cupy.float32)
    with side:  # what is called first is compiled or loaded first, which takes longer than the spin
        x.fill(3)
        rooftile.scaled_copy(x, alpha=2)
        x.fill(0)
    cupy.cuda.Device().synchronize()
    with side:
        busy()
        x.fill(3)
        y = rooftile.scaled_copy(x, alpha=2)  # after fill, which comes after the spin
    assert not side.done
    side.synchronize()
    assert bool((y == 6).all())


def test_graph(cupy, randn):
    x, w = randn((64, 256)), randn(256)
    out = cupy.empty_like(x)
    side = cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with side:
        rooftile.rmsnorm(x, w, out=out)
        side.begin_capture()
        rooftile.rmsnorm(x, w, out=out)
        graph = side.end_capture()
        expected = rooftile.rmsnorm(x * 2, w)
        x *= 2
        out.fill(0)
        graph.launch()
        side.synchronize()
    assert bool((out == expected).all())


def test_with_pytorch(cupy, torch, randn):
    """Arrays of two frameworks on one GPU: the result is of the first one's."""
    x, w = randn((4, 32)), torch.randn(32, device="cuda")
    y = rooftile.rmsnorm(x, w)
    assert isinstance(y, cupy.ndarray)
    assert np.allclose(y.get(), rooftile.rmsnorm(x.get(), w.cpu().numpy()), atol=1e-5)


def test_errors(cupy, randn):
    x = randn((4, 32))
    with pytest.raises(ValueError, match="'w' is on cpu, 'x' on cuda:0"):
        rooftile.rmsnorm(x, np.zeros(32, np.float32))
    with pytest.raises(ValueError, match="axis 'cols' is 32"):
        rooftile.rmsnorm(x, x[0, 1:])
    with pytest.raises(ValueError, match="x=f64"):
        rooftile.softmax(x.astype(np.float64))
    with pytest.raises(TypeError, match="complex"):
        rooftile.softmax(x.astype(np.complex64))


def test_nothing_leaks(cupy, randn):
    x, w = randn((256, 4096)), randn(4096)
    pool = cupy.get_default_memory_pool()
    for _ in range(20):
        rooftile.rmsnorm(x, w)
    used, free = pool.used_bytes(), cupy.cuda.runtime.memGetInfo()[0]
    for _ in range(CALLS):
        rooftile.rmsnorm(x, w)
    cupy.cuda.Device().synchronize()
    assert pool.used_bytes() == used
    assert free - cupy.cuda.runtime.memGetInfo()[0] < 8 << 20
