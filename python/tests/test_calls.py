# SPDX-License-Identifier: Apache-2.0
"""How calls behave, whatever the operation: memory, errors, threads, names."""
import inspect
import pathlib
import threading

import ml_dtypes
import numpy as np
import pytest

import rooftile


def test_strides_are_used_as_they_are(randn, close):
    wide = randn((10, 128))
    x, w = wide[::2, 1:97], randn(192)[::-2]
    out = np.full((5, 200), 7, np.float32)
    y = rooftile.rmsnorm(x, w, out=out[:, 50:146])
    assert y.base is out and np.all(out[:, :50] == 7) and np.all(out[:, 146:] == 7)
    close(y, rooftile.rmsnorm(x.copy(), w.copy()).astype(np.float64))


def test_broadcasts_and_transposes(randn, close):
    x = np.broadcast_to(randn(33), (4, 33))
    close(rooftile.softmax(x), np.repeat(rooftile.softmax(x[:1].copy()).astype(np.float64), 4, 0))
    a = randn((40, 7)).T
    close(rooftile.scaled_copy(a), a.astype(np.float64))


def test_in_place_and_out(randn, close):
    x, w = randn((4, 32)), randn(32)
    expected = rooftile.rmsnorm(x, w).astype(np.float64)
    assert rooftile.rmsnorm(x, w, out=x) is x
    close(x, expected)


def test_several_outputs_are_a_tuple(randn):
    x, r, w = randn((4, 32)), randn((4, 32)), randn(32)
    total = np.empty_like(x)
    y, given = rooftile.rmsnorm(x, w, residual=r, out=(None, total))
    assert given is total and np.array_equal(total, x + r) and y.shape == x.shape
    with pytest.raises(ValueError, match="out has 3 arrays, there are 2 outputs"):
        rooftile.rmsnorm(x, w, residual=r, out=(None, None, total))


def test_empty_arrays():
    assert rooftile.softmax(np.empty((0, 8), np.float32)).shape == (0, 8)
    assert np.array_equal(rooftile.gemm(np.empty((2, 0), np.float32), np.empty((0, 3), np.float32)), np.zeros((2, 3)))


@pytest.mark.parametrize("make, text", [
    (lambda x: x[0], r"argument 'x' has shape \[32\], expected axes rows, cols"),
    (lambda x: x.astype(np.float64), "x=f64: this argument takes f32"),
    (lambda x: x.astype(">f4"), "bytes are swapped; only a copy"),
    (lambda x: np.frombuffer(b"\0" * 129, np.uint8)[1:].view(np.float32).reshape(1, 32), "'x': its address is no multiple"),
    (lambda x: np.zeros(3, [("a", "f4"), ("b", "i2")])["a"].reshape(1, 3), "'x': its strides are no multiples"),
])
def test_bad_arrays(randn, make, text):
    x = randn((4, 32))
    with pytest.raises(ValueError, match=text):
        rooftile.softmax(make(x))


def test_shapes_that_disagree(randn):
    with pytest.raises(ValueError, match=r"rmsnorm: axis 'cols' is 32, but argument 'w' has shape \[31\]"):
        rooftile.rmsnorm(randn((4, 32)), randn(31))
    with pytest.raises(ValueError, match="axis 'rows' is 3"):
        rooftile.softmax(randn((4, 32)), out=randn((3, 32)))


def test_wrong_kinds(randn):
    x = randn((4, 32))
    with pytest.raises(TypeError, match="softmax: argument 'x' is a list: expected an array"):
        rooftile.softmax([[1.0]])
    with pytest.raises(TypeError, match="dtype complex64 has no equivalent"):
        rooftile.softmax(x.astype(np.complex64))
    with pytest.raises(TypeError, match="dtype int4 has no equivalent"):
        rooftile.softmax(x.astype(ml_dtypes.int4))
    with pytest.raises(TypeError, match="scale='2': expected a number"):
        rooftile.softmax(x, scale="2")
    with pytest.raises(TypeError, match="act=1: expected a string"):
        rooftile.activation(x, act=1)
    with pytest.raises(TypeError, match="up_offset=0.5: expected a whole number"):
        rooftile.glu(x, x, up_offset=0.5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'layout'"):
        rooftile.gemm(x, x.T, layout="nt")  # strides say it
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'w'"):
        rooftile.rmsnorm(x)


def test_bad_options(randn):
    x = randn((4, 32))
    with pytest.raises(ValueError, match="unknown act 'sillu'; did you mean 'silu'"):
        rooftile.activation(x, act="sillu")
    with pytest.raises(ValueError, match=r"scale='-1': must lie in \[0, "):
        rooftile.softmax(x, scale=-1)
    with pytest.raises(ValueError, match="scale='nan'"):
        rooftile.softmax(x, scale=float("nan"))
    with pytest.raises(ValueError, match="stream: arrays of the cpu have none"):
        rooftile.softmax(x, stream=0)


def test_outputs_that_cannot_be_written(randn):
    x = randn((4, 32))
    out = np.empty_like(x)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="'y' is written, but its memory is read-only"):
        rooftile.softmax(x, out=out)
    x.flags.writeable = False
    rooftile.softmax(x)  # inputs may be


def test_outputs_that_overlap(randn):
    buffer = randn((8, 64))
    with pytest.raises(ValueError, match="'y' is written and shares a part of the memory of 'x'"):
        rooftile.softmax(buffer[:4], out=buffer[2:6])
    with pytest.raises(ValueError, match="shares a part"):
        rooftile.softmax(buffer[:, :32], out=buffer[:, 16:48])
    expected = rooftile.softmax(buffer[:, ::2].copy())
    np.testing.assert_allclose(rooftile.softmax(buffer[:, ::2], out=buffer[:, 1::2]), expected, rtol=1e-5)
    expected = rooftile.softmax(buffer[:, :32].copy())
    np.testing.assert_allclose(rooftile.softmax(buffer[:, :32], out=buffer[:, 32:]), expected, rtol=1e-5)


def test_kernels_by_name(randn):
    x, w = randn((4, 32)), randn(32)
    names = [kernel["name"] for kernel in rooftile.kernels("rmsnorm")]
    assert "cpu_plain" in names
    y = rooftile.call("rmsnorm/cpu_plain", x, w)
    assert np.array_equal(y, rooftile.rmsnorm(x, w, kernel="cpu_plain"))
    np.testing.assert_allclose(y, rooftile.call("rmsnorm", x, w, kernel="reference"), rtol=1e-5)
    with pytest.raises(ValueError, match="unknown kernel of rmsnorm 'cpu_plane'; did you mean 'cpu_plain'"):
        rooftile.rmsnorm(x, w, kernel="cpu_plane")
    with pytest.raises(ValueError, match="unknown operation 'rmsnrom'; did you mean 'rmsnorm'"):
        rooftile.call("rmsnrom", x, w)


def test_kernels_say_why_not(randn):
    x, w = randn((4, 32)), randn(32)
    listed = {kernel["name"]: kernel for kernel in rooftile.kernels("rmsnorm", x, w)}
    assert listed["cpu_plain"]["unsupported"] is None
    refused = [kernel for kernel in listed.values() if kernel["target"] != "cpu"]
    assert refused and all(kernel["unsupported"] for kernel in refused)
    with pytest.raises(NotImplementedError, match="does not support"):
        rooftile.rmsnorm(x, w, kernel=refused[0]["name"])


def test_a_call_as_a_line(randn):
    line = rooftile.problem("softmax", randn((4, 32)), scale=2, kernel="cpu_plain")
    assert line.startswith("softmax/cpu_plain rows=4 cols=32 ") and " scale=2" in line


def test_threads(randn):
    """Different calls from many threads at once, each as it is alone."""
    inputs = [randn((16, 64 + i)) for i in range(8)]
    expected = [rooftile.softmax(x) for x in inputs]
    wrong = []

    def work(i):
        for _ in range(50):
            if not np.array_equal(rooftile.softmax(inputs[i]), expected[i]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_lock_is_released_while_a_kernel_runs(randn):
    """Another thread counts while one call runs, which it could not between bytecodes alone."""
    a, b = randn((600, 600)), randn((600, 600))
    is_done = threading.Event()

    def work():
        rooftile.gemm(a, b, kernel="cpu_plain")
        is_done.set()

    thread = threading.Thread(target=work)
    thread.start()
    steps = 0
    while not is_done.wait(0.001):
        steps += 1
    thread.join()
    assert steps > 3


def test_nothing_leaks(randn):
    import sys
    x, w = randn((4, 32)), randn(32)
    counts = sys.getrefcount(x), sys.getrefcount(w), sys.getrefcount(x.dtype)
    for _ in range(100):
        rooftile.rmsnorm(x, w)
        with pytest.raises(ValueError):
            rooftile.rmsnorm(x, w[1:])
    after = sys.getrefcount(x), sys.getrefcount(w), sys.getrefcount(x.dtype)
    assert all(b - a < 20 for a, b in zip(counts, after))


def test_what_there_is():
    assert "cpu" in rooftile.devices()
    assert rooftile.__version__.count(".") == 2
    signature = inspect.signature(rooftile.rmsnorm)
    assert list(signature.parameters)[:2] == ["x", "w"] and signature.parameters["eps"].default == 1e-6
    assert "inside the root" in rooftile.rmsnorm.__doc__


def test_stubs_name_everything():
    stubs = pathlib.Path(rooftile.__file__).with_suffix(".pyi").read_text()
    compile(stubs, "__init__.pyi", "exec")
    for name in rooftile.__all__:
        assert f"def {name}(" in stubs or f"class {name}" in stubs or f"{name}:" in stubs
