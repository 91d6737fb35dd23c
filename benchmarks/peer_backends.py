# SPDX-License-Identifier: Apache-2.0
"""Where peers.py makes its arrays, and how it times a call on them: PyTorch on a GPU or CPU, or NumPy."""
import platform
import time

import numpy as np

SMALL_CACHE_BYTES = 32 << 20  # of a CPU, for smoke runs
BUSY_CYCLES = 400_000  # about 200 us: longer than any framework needs to queue a call


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

    def time_us(self, call):
        self.flush.max()
        start = time.perf_counter()
        call()
        return (time.perf_counter() - start) * 1e6


class Torch:
    """bf16 on a GPU, as models have it; float32 on a CPU."""

    def __init__(self, device):
        import torch
        self.torch, self.device = torch, device
        self.is_small = device == "cpu"
        self.dtype = torch.float32 if self.is_small else torch.bfloat16
        torch.manual_seed(0)
        if self.is_small:
            self.device_name, cache = platform.processor() or platform.machine(), SMALL_CACHE_BYTES
        else:
            torch.cuda.set_device(device)
            properties = torch.cuda.get_device_properties(device)
            self.device_name, cache = properties.name, properties.L2_cache_size
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

    def time_us(self, call):
        self.flush.max()
        if self.is_small:
            start = time.perf_counter()
            call()
            return (time.perf_counter() - start) * 1e6
        cuda = self.torch.cuda
        start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
        cuda.synchronize()
        # Busy first, then flushed: the call is queued by the time that the cache is cold.
        cuda._sleep(BUSY_CYCLES)
        self.flush.max()
        start.record()
        call()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e3


def backend_for(device):
    try:
        return Torch(device)
    except ImportError:
        if device != "cpu":
            raise SystemExit(f"peers: {device}: needs PyTorch")
        return Numpy()
