# SPDX-License-Identifier: Apache-2.0
"""Arrays of other frameworks, where they are installed; on their GPU too, where there is one."""
import numpy as np
import pytest

import rooftile


class Exporter:
    """An array of no known framework: DLPack of an older kind and nothing else."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, stream=None):
        assert stream is None
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_alone(randn, close):
    x = randn((4, 33))
    y = rooftile.softmax(Exporter(x))  # memory of the library, as DLPack
    close(np.from_dlpack(y), rooftile.softmax(x).astype(np.float64))


def test_dlpack_of_a_type_without_equivalent():
    with pytest.raises(TypeError, match="argument 'x': DLPack: type complex of 64 bits"):
        rooftile.softmax(Exporter(np.zeros((2, 2), np.complex64)))


def test_frameworks_are_not_imported():
    import subprocess
    import sys
    code = "import sys, rooftile; sys.exit(any(m in sys.modules for m in ('numpy', 'torch', 'jax', 'cupy')))"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def torch_devices():
    torch = pytest.importorskip("torch")
    return ["cpu"] + (["cuda"] if torch.cuda.is_available() and "cuda:0" in rooftile.devices() else [])


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_torch(dtype):
    torch = pytest.importorskip("torch")
    for device in torch_devices():
        x = torch.randn(5, 96, device=device).to(getattr(torch, dtype))
        w = torch.randn(96, device=device).to(x.dtype)
        y = rooftile.rmsnorm(x, w)
        assert y.device == x.device and y.dtype == x.dtype
        expected = torch.nn.functional.rms_norm(x.double(), (96,), w.double(), 1e-6)
        assert (y.double() - expected).abs().max() < {"float32": 1e-5, "float16": 1e-2, "bfloat16": 6e-2}[dtype]
        out = torch.empty_like(x)
        assert rooftile.rmsnorm(x, w, out=out) is out and torch.equal(out, y)


def test_torch_strides():
    torch = pytest.importorskip("torch")
    for device in torch_devices():
        a, weight = torch.randn(3, 64, device=device), torch.randn(10, 64, device=device)
        assert torch.allclose(rooftile.gemm(a, weight.T), a @ weight.T, atol=1e-2)


def test_torch_on_a_stream_of_its_own():
    torch = pytest.importorskip("torch")
    if "cuda" not in torch_devices():
        pytest.skip("no GPU")
    stream = torch.cuda.Stream()
    x = torch.zeros(4096, 4096, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(50_000_000)
        x.fill_(3)
        y = rooftile.scaled_copy(x, alpha=2)  # must wait for fill_, which waits for the sleep
    stream.synchronize()
    assert bool((y == 6).all())


def test_torch_gradients_are_refused():
    torch = pytest.importorskip("torch")
    x = torch.randn(4, 8, requires_grad=True)
    with pytest.raises(ValueError, match="argument 'x': its framework does not hand it over: .*require"):
        rooftile.softmax(x)


def test_arrays_on_two_devices():
    torch = pytest.importorskip("torch")
    if "cuda" not in torch_devices():
        pytest.skip("no GPU")
    with pytest.raises(ValueError, match="argument 'w' is on cpu, 'x' on cuda:0"):
        rooftile.rmsnorm(torch.zeros(2, 8, device="cuda"), torch.zeros(8))


def test_cupy(close):
    cupy = pytest.importorskip("cupy")
    if "cuda:0" not in rooftile.devices():
        pytest.skip("no GPU")
    x = cupy.random.standard_normal((4, 33), dtype=cupy.float32)
    y = rooftile.softmax(x)
    assert isinstance(y, cupy.ndarray)
    close(y.get(), rooftile.softmax(x.get()).astype(np.float64))


def test_jax(close):
    jax = pytest.importorskip("jax")
    for dtype in ("float32", "bfloat16"):
        x = jax.random.normal(jax.random.key(0), (4, 33), dtype)
        y = rooftile.softmax(x)
        assert isinstance(y, jax.Array) and y.dtype == x.dtype
        close(np.asarray(y), np.asarray(jax.nn.softmax(x.astype("float32"))).astype(np.float64))
    with pytest.raises(ValueError, match="'y' is written, but its memory is read-only"):
        rooftile.softmax(x, out=y)
