# SPDX-License-Identifier: Apache-2.0
"""What each array framework calls its own: a new array, its current stream, an array from DLPack.

A framework is never imported here: an array of it shows that it is there."""
import sys


def _name(array):
    """The framework that an array's class, or one that it derives from, belongs to."""
    for base in type(array).__mro__:
        root = base.__module__.partition(".")[0]
        if root in ("numpy", "torch", "cupy", "jax", "jaxlib"):
            return "jax" if root == "jaxlib" else root
    return ""


def _numpy_dtype(name):
    numpy = sys.modules["numpy"]
    try:
        return numpy.dtype(name)  # ml_dtypes registers its own, once it is imported
    except TypeError:
        import ml_dtypes
        return numpy.dtype(getattr(ml_dtypes, name))


def empty(like, shape, dtype):
    """A row-major array on the device of `like`; None where that framework's arrays cannot be written."""
    framework = _name(like)
    if framework == "numpy":
        return sys.modules["numpy"].empty(shape, _numpy_dtype(dtype))
    if framework == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
    if framework == "cupy":
        with like.device:
            return sys.modules["cupy"].empty(shape, _numpy_dtype(dtype))
    return None


def is_immutable(array):
    """Whether the framework relies on its arrays never changing, whatever DLPack says of their memory."""
    return _name(array) == "jax"


def current_stream(array):
    """The number of the CUDA stream that this thread's calls of the framework go to; None: it has no such
    thing, and whoever runs work elsewhere waits for it."""
    framework = _name(array)
    if framework == "torch":
        return sys.modules["torch"].cuda.current_stream(array.device).cuda_stream
    if framework == "cupy":
        with array.device:
            return sys.modules["cupy"].cuda.get_current_stream().ptr
    return None


def from_dlpack(like, memory):
    """Memory of this library as an array like `like`; as it is for frameworks that are not known."""
    if _name(like) == "jax":
        import jax
        return jax.dlpack.from_dlpack(memory)
    return memory
