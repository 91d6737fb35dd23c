# SPDX-License-Identifier: Apache-2.0
"""What the tests share: random arrays of any dtype, errors measured against doubles, frameworks on a GPU."""
import os

import ml_dtypes
import numpy as np
import pytest

import rooftile

# Before JAX starts: it would take most of the GPU's memory from the other frameworks.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

DTYPES = {"f32": np.dtype(np.float32), "fp16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}
# A few units in the last place of results about 1, and f32 sums for all.
TOLERANCE = {"float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}


@pytest.fixture
def randn():
    """randn(shape, dtype): the same numbers in every run."""
    rng = np.random.default_rng(7)
    return lambda shape, dtype="f32": rng.standard_normal(shape).astype(DTYPES[dtype])


@pytest.fixture
def close():
    """close(actual, expected): within the rounding of actual's dtype; a NaN is never close."""
    def check(actual, expected):
        bound = TOLERANCE[actual.dtype.name]
        assert actual.shape == expected.shape
        error = np.abs(actual.astype(np.float64) - expected)
        assert np.all(error <= bound * (1 + np.abs(expected))), f"error of {error.max()}"
    return check


def skip_without_gpu():
    if "cuda:0" not in rooftile.devices():
        pytest.skip("rooftile sees no CUDA GPU")


@pytest.fixture
def torch():
    """PyTorch, where it and rooftile see a GPU; the same random numbers in every test."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch sees no CUDA GPU")
    skip_without_gpu()
    torch.manual_seed(7)
    return torch


@pytest.fixture
def cupy():
    """CuPy, where it and rooftile see a GPU."""
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not cupy.cuda.is_available():
        pytest.skip("CuPy sees no CUDA GPU")
    skip_without_gpu()
    return cupy
