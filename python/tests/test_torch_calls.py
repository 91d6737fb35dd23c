# SPDX-License-Identifier: Apache-2.0
"""How calls on a GPU's tensors behave: streams, graphs, errors, memory, threads."""
import gc
import resource
import threading

import numpy as np
import pytest

import rooftile

LONG_CYCLES = 200_000_000  # about 100 ms of a GPU
CALLS = 1000


class Exporter:
    """A tensor of no known framework."""

    def __init__(self, tensor):
        self.tensor, self.streams = tensor, []

    def __dlpack__(self, stream=None):
        self.streams.append(stream)
        return self.tensor.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()


def test_a_call_returns_before_its_work(torch):
    x = torch.ones(64, 64, device="cuda")
    rooftile.scaled_copy(x, alpha=2)
    torch.cuda.synchronize()
    torch.cuda._sleep(LONG_CYCLES)
    y = rooftile.scaled_copy(x, alpha=2)
    assert not torch.cuda.current_stream().query()
    assert bool((y == 2).all())


def test_the_current_stream_is_used(torch):
    side = torch.cuda.Stream()
    x = torch.zeros(64, 64, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(LONG_CYCLES)
        x.fill_(3)
        y = rooftile.scaled_copy(x, alpha=2)  # after fill_, which comes after the sleep
    assert not side.query() and torch.cuda.default_stream().query()
    side.synchronize()
    assert bool((y == 6).all())


def test_the_stream_that_is_named_is_used(torch):
    side = torch.cuda.Stream()
    x, out = torch.ones(64, 64, device="cuda"), torch.zeros(64, 64, device="cuda")
    rooftile.scaled_copy(x, alpha=0, out=out, stream=side.cuda_stream)
    assert not out.any()  # a kernel's first call loads it, which may wait for all streams
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(LONG_CYCLES)
    rooftile.scaled_copy(x, alpha=2, out=out, stream=side.cuda_stream)
    assert not out.any()  # read by the current stream, which waits for nothing
    side.synchronize()
    assert bool((out == 2).all())


def test_what_the_current_stream_did_comes_before_a_named_one(torch):
    side = torch.cuda.Stream()
    x, out = torch.zeros(64, 64, device="cuda"), torch.zeros(64, 64, device="cuda")
    torch.cuda.synchronize()
    torch.cuda._sleep(LONG_CYCLES)
    x.fill_(3)
    rooftile.scaled_copy(x, alpha=2, out=out, stream=side.cuda_stream)
    side.synchronize()
    assert bool((out == 6).all())


def test_calls_in_order(torch):
    x = torch.zeros(64, 64, device="cuda")
    one = torch.ones(64, 64, device="cuda")
    for _ in range(200):
        rooftile.add(x, one, out=x)
        x.mul_(1)
    assert bool((x == 200).all())


def calls_to_capture(torch):
    x, w = torch.randn(64, 256, device="cuda").bfloat16(), torch.randn(256, device="cuda").bfloat16()
    weight = torch.randn(512, 256, device="cuda").bfloat16()
    tall = torch.randn(512, 256, device="cuda").bfloat16()
    long, long_weight = torch.randn(256, 8192, device="cuda").bfloat16(), torch.randn(128, 8192, device="cuda").bfloat16()
    return {"rmsnorm": (x, lambda: rooftile.rmsnorm(x, w)), "softmax": (x, lambda: rooftile.softmax(x)),
            "gemm of few rows": (x, lambda: rooftile.gemm(x, weight.T, kernel="sm90_stream")),
            "gemm of many rows": (tall, lambda: rooftile.gemm(tall, weight.T, kernel="sm90_ws")),
            "gemm with a workspace": (long, lambda: rooftile.gemm(long, long_weight.T, kernel="sm90_split"))}


@pytest.mark.parametrize("name", ["rmsnorm", "softmax", "gemm of few rows", "gemm of many rows", "gemm with a workspace"])
def test_graph(torch, name):
    """As PyTorch's users capture: one call before, then on a stream that PyTorch makes for it."""
    x, call = calls_to_capture(torch)[name]
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = call()
    for _ in range(3):
        x.copy_(torch.randn_like(x))
        y.zero_()
        graph.replay()
        assert torch.equal(y, call())
    assert bool(y.any())


def test_graph_of_a_kernel_with_workspace(torch):
    """On the stream that has its workspace already; test_graph() has one that does not."""
    x, weight = torch.randn(512, 256, device="cuda").bfloat16(), torch.randn(512, 256, device="cuda").bfloat16()
    listed = {kernel["name"]: kernel["unsupported"] for kernel in rooftile.kernels("gemm", x, weight.T)}
    if listed["cublaslt"]:
        pytest.skip("cublaslt: " + listed["cublaslt"])
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        expected = rooftile.gemm(x, weight.T, kernel="cublaslt")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        y = rooftile.gemm(x, weight.T, kernel="cublaslt")
    y.zero_()
    graph.replay()
    assert torch.equal(y, expected)


def test_arrays_on_two_devices(torch):
    x, w = torch.zeros(2, 8, device="cuda"), torch.zeros(8, device="cuda")
    with pytest.raises(ValueError, match="argument 'w' is on cpu, 'x' on cuda:0"):
        rooftile.rmsnorm(x, w.cpu())
    with pytest.raises(ValueError, match="'w' is on cpu"):
        rooftile.rmsnorm(x, np.zeros(8, np.float32))
    with pytest.raises(ValueError, match="is on c"):
        rooftile.rmsnorm(x, w, out=torch.zeros(2, 8))
    with pytest.raises(ValueError, match="stream: arrays of the cpu have none"):
        rooftile.rmsnorm(x.cpu(), w.cpu(), stream=torch.cuda.current_stream().cuda_stream)


@pytest.mark.parametrize("error, text, call", [
    (ValueError, r"argument 'x' has shape \[8\]", lambda t, x, w: rooftile.softmax(x[0])),
    (ValueError, "axis 'cols' is 8, but argument 'w'", lambda t, x, w: rooftile.rmsnorm(x, w[1:])),
    (ValueError, "x=f64: this argument takes", lambda t, x, w: rooftile.softmax(x.double())),
    (ValueError, "requires? gradient|require", lambda t, x, w: rooftile.softmax(x.requires_grad_())),
    (ValueError, "does not hand it over", lambda t, x, w: rooftile.softmax(x.to_sparse())),
    (ValueError, "shares a part", lambda t, x, w: rooftile.softmax(x[:3], out=x[1:])),
    (ValueError, "unknown kernel of softmax", lambda t, x, w: rooftile.softmax(x, kernel="nothing")),
    (ValueError, "unknown act", lambda t, x, w: rooftile.activation(x, act="sillu")),
    (TypeError, "complex", lambda t, x, w: rooftile.softmax(x.to(t.complex64))),
    (TypeError, "expected the number of a CUDA stream", lambda t, x, w: rooftile.softmax(x, stream="default")),
    (TypeError, "expected an array", lambda t, x, w: rooftile.softmax([x])),
    (NotImplementedError, "does not support", lambda t, x, w: rooftile.softmax(x, kernel="cpu_plain")),
    (NotImplementedError, "no kernel runs .* on cuda:0",
     lambda t, x, w: rooftile.sample(x, t.zeros(4, dtype=t.int64, device="cuda"), t.zeros(4, dtype=t.int64, device="cuda"))),
])
def test_errors(torch, error, text, call):
    x, w = torch.randn(4, 8, device="cuda"), torch.randn(8, device="cuda")
    with pytest.raises(error, match=text):
        call(torch, x, w)
    assert torch.isfinite(rooftile.rmsnorm(x.detach(), w)).all()  # and nothing is broken


def test_no_memory_left(torch):
    x = torch.zeros(1, 1, device="cuda").expand(1 << 22, 1 << 20)  # 16 TiB as an output
    with pytest.raises((MemoryError, RuntimeError), match="memory"):
        rooftile.activation(x)
    assert not rooftile.activation(x[:4, :4]).any()


def test_dlpack_alone(torch):
    x = Exporter(torch.randn(4, 33, device="cuda"))
    y = torch.from_dlpack(rooftile.softmax(x))  # memory of the library
    assert y.is_cuda and x.streams == [1]
    assert torch.allclose(y, torch.softmax(x.tensor, -1), atol=1e-6)


def memory_used(torch):
    torch.cuda.synchronize()
    gc.collect()
    free, total = torch.cuda.mem_get_info()
    return torch.cuda.memory_allocated(), total - free


@pytest.mark.parametrize("kind", ["torch", "dlpack", "error", "stream"])
def test_nothing_leaks(torch, kind):
    x, w = torch.randn(256, 4096, device="cuda"), torch.randn(4096, device="cuda")
    side = torch.cuda.Stream()

    def call():
        if kind == "torch":
            rooftile.rmsnorm(x, w)
        elif kind == "dlpack":
            rooftile.rmsnorm(Exporter(x), Exporter(w))
        elif kind == "stream":
            rooftile.rmsnorm(x, w, stream=side.cuda_stream)
        else:
            with pytest.raises(ValueError):
                rooftile.rmsnorm(x, w[1:])

    for _ in range(20):
        call()
    before, host = memory_used(torch), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(CALLS):
        call()
    after = memory_used(torch)
    assert after[0] == before[0]
    assert after[1] - before[1] < 8 << 20, "one result is 4 MiB"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - host < 16 << 10  # KiB


def test_threads(torch):
    """Different calls on streams of their own, each as it is alone."""
    inputs = [torch.randn(64, 256 + 8 * i, device="cuda") for i in range(8)]
    expected = [rooftile.softmax(x) for x in inputs]
    torch.cuda.synchronize()
    wrong = []

    def work(i):
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                if not torch.equal(rooftile.softmax(inputs[i]), expected[i]):
                    wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
