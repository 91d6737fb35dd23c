# SPDX-License-Identifier: Apache-2.0
"""What the tests share: random arrays of any dtype, and errors measured against doubles."""
import ml_dtypes
import numpy as np
import pytest

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
