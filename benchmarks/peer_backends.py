# SPDX-License-Identifier: Apache-2.0
"""Where peers.py makes its arrays, and how it times a call on them: PyTorch on a GPU or CPU, or NumPy."""
import importlib.metadata
import platform
import time

import numpy as np

SMALL_CACHE_BYTES = 32 << 20  # of a CPU, for smoke runs
BUSY_CYCLES = 400_000  # about 200 us of a GPU, in which a call is queued; more where that is too little
MOST_BUSY_CYCLES = 100 * BUSY_CYCLES
GRAPH_US = 5000  # of a graph's runs: its own launch is then below a thousandth
MOST_RUNS_OF_GRAPH = 100


class Numpy:
    """Smoke runs where there is no PyTorch; float32 throughout."""
    is_small = True
    device_name = platform.processor() or platform.machine()

    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.flush = np.zeros(2 * SMALL_CACHE_BYTES, np.uint8)

    def randn(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def empty_like(self, array):
        return np.empty_like(array)

    def empty(self, *shape):
        return np.empty(shape, np.float32)

    def wide(self, array):
        return array.astype(np.float64)

    def error_of(self, result, expected):
        return float(np.abs(result - expected).max() / np.abs(expected).max())

    def time_us(self, call, is_cold=True):
        if is_cold:
            self.flush.max()
        start = time.perf_counter()
        call()
        return (time.perf_counter() - start) * 1e6

    def state(self):
        return {}

    def release(self):
        pass


class Torch:
    """bf16 on a GPU, as models have it; float32 on a CPU."""

    def __init__(self, device):
        import torch
        self.torch, self.device = torch, device
        self.is_small = device == "cpu"
        self.dtype = torch.float32 if self.is_small else torch.bfloat16
        torch.manual_seed(0)
        self.busy_cycles = BUSY_CYCLES
        if self.is_small:
            self.device_name, cache = platform.processor() or platform.machine(), SMALL_CACHE_BYTES
        else:
            torch.cuda.set_device(device)
            properties = torch.cuda.get_device_properties(device)
            kind = f"sm{properties.major}{properties.minor}"
            self.device_name = f"{properties.name}, {properties.multi_processor_count} compute units, {kind}"
            cache = properties.L2_cache_size
        # float64 and a maximum: one pass, no conversion, no dirty lines.
        self.flush = torch.zeros(2 * cache // 8, dtype=torch.float64, device=device)

    def randn(self, *shape):
        return self.torch.randn(*shape, device=self.device).to(self.dtype)

    def empty_like(self, array):
        return self.torch.empty_like(array)

    def empty(self, *shape):
        return self.torch.empty(*shape, dtype=self.dtype, device=self.device)

    def wide(self, array):
        return array.double()

    def error_of(self, result, expected):
        return float((result.double() - expected).abs().max() / expected.abs().max())

    def time_us(self, call, is_cold=True):
        """Of the GPU alone: it is busy, then the cache is flushed, while the host queues the call."""
        if self.is_small:
            return Numpy.time_us(self, call, is_cold)
        cuda = self.torch.cuda
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        while True:
            cuda.synchronize()
            cuda._sleep(self.busy_cycles)
            if is_cold:
                self.flush.max()
            start.record()
            call()
            end.record()
            is_queued = not start.query()
            end.synchronize()
            if is_queued:
                return start.elapsed_time(end) * 1e3
            self.busy_cycles *= 2
            if self.busy_cycles > MOST_BUSY_CYCLES:
                self.busy_cycles = BUSY_CYCLES
                raise RuntimeError("it waits for the GPU, so that its time is the host's too")

    def in_graph(self, call):
        """Many runs of a call in one CUDA graph, with what the caches hold: what runs them, and how many."""
        cuda = self.torch.cuda
        call()
        once_us = max(self.time_us(call, is_cold=False), 1)
        runs = max(1, min(MOST_RUNS_OF_GRAPH, int(GRAPH_US / once_us)))
        cuda.synchronize()
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            for _ in range(runs):
                call()
        graph.replay()
        return graph.replay, runs

    def compiled(self, function):
        """Whole, or an error: no part of it may run eagerly unseen."""
        return self.torch.compile(function, dynamic=False, fullgraph=True)

    def version(self, package):
        return f"{package}={importlib.metadata.version(package)}"

    def state(self):
        """Clock, power and temperature, where the driver tells."""
        if self.is_small:
            return {}
        cuda, values = self.torch.cuda, {}
        for name, read in (("clocks_mhz", cuda.clock_rate), ("power_w", lambda: cuda.power_draw() / 1000),
                           ("temperature_c", cuda.temperature)):
            try:
                values[name] = float(read())
            except Exception:  # no NVML, or one without this
                continue
        return values

    def release(self):
        """Between cases: compiled code is forgotten, or PyTorch stops to compile a function's ninth shape."""
        if not self.is_small:
            self.torch._dynamo.reset()
            self.torch.cuda.empty_cache()


def backend_for(device):
    try:
        return Torch(device)
    except ImportError:
        if device != "cpu":
            raise SystemExit(f"peers: {device}: needs PyTorch")
        return Numpy()
