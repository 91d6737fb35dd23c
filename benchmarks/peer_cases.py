# SPDX-License-Identifier: Apache-2.0
"""What peers.py runs: shapes, the formula in double, Rooftile's call and each peer's, the work it cannot avoid."""
import dataclasses
import functools
import typing

import rooftile

from peer_backends import backend_for  # noqa: F401: the other half, for peers.py

GEMMS = [(8192, 8192, 8192), (4096, 4096, 4096), (2048, 28672, 8192), (4096, 7168, 2048), (4096, 24576, 1536),
         (4096, 7168, 16384), (512, 8192, 8192), (8192, 8192, 512), (128, 7168, 16384), (64, 24576, 1536),
         (128, 8192, 8192), (64, 8192, 8192), (16, 8192, 8192), (1, 8192, 8192), (1, 28672, 8192)]
MATRICES = [(16384, 8192), (4096, 4096), (64, 8192)]
GATES = [(16384, 14336), (64, 14336)]
SMALL = {"gemm": [(64, 96, 128), (1, 256, 128)], "glu": [(64, 224)], "rows": [(64, 128)]}
EPS = 1e-6


@dataclasses.dataclass
class Case:
    op: str
    title: str
    request: tuple  # of Rooftile: arrays, and what is given by name
    named: dict
    expected: typing.Callable  # the result in double
    peers: dict
    operations: float
    bytes: float
    bound: float  # largest error, of the largest result

    def call(self, kernel):
        result = rooftile.call(self.op, *self.request, kernel=kernel, **self.named)
        return result[0] if isinstance(result, tuple) else result

    def line(self, kernel=""):
        """The problem with the kernel that was named, or that dispatch chooses."""
        return rooftile.problem(self.op, *self.request, kernel=kernel, **self.named)

    def kernels(self):
        """Dispatch's choice, and before it the best of Rooftile's own where that is a vendor's."""
        chosen = self.line().split()[0].partition("/")[2]
        listed = rooftile.kernels(self.op, *self.request, **self.named)
        if not any(entry["name"] == chosen and entry["calls_vendor_library"] for entry in listed):
            return [chosen]
        return [entry["name"] for entry in listed
                if not entry["unsupported"] and not entry["calls_vendor_library"]][:1] + [chosen]

    def contenders(self):
        """By name: Rooftile's own kernel, a vendor's through Rooftile, the peers."""
        ours, *vendors = self.kernels()
        through = {f"{self.op}/{name}": functools.partial(self.call, name) for name in vendors}
        return {"rooftile": functools.partial(self.call, ours), **through, **self.peers}


def peers_of(backend, eager, *arrays, **others):
    """The formula as its framework runs it: eagerly, compiled, and by `others`, its own fused calls."""
    name = type(backend).__name__.lower()
    peers = {f"{name}/eager": functools.partial(eager, *arrays)}
    if name == "torch":
        if not backend.is_small:
            compiled = backend.torch.compile(eager, dynamic=False)
            peers["torch/compile"] = functools.partial(compiled, *arrays)
        peers.update({f"torch/{key}": call for key, call in others.items()})
    return peers


def size_of(*arrays):
    return float(sum(array.nbytes for array in arrays))


def bound_of(backend):
    return 1e-5 if backend.is_small else 2e-2


def gemm_case(backend, m, n, k):
    a, weight, out = backend.randn(m, k), backend.randn(n, k), backend.empty(m, n)
    others = {}
    if not backend.is_small:
        tuned = backend.torch.compile(lambda x, w: x @ w.T, mode="max-autotune-no-cudagraphs", dynamic=False)
        others["triton"] = lambda: tuned(a, weight)
    return Case("gemm", f"gemm m={m} n={n} k={k}", (a, weight.T), {"out": out},
                lambda: backend.wide(a) @ backend.wide(weight).T,
                peers_of(backend, lambda x, w: x @ w.T, a, weight, **others),
                2.0 * m * n * k, size_of(a, weight, out), bound_of(backend))


def functions(backend):
    """The formulas in the words of the backend, as a user of it writes them; they widen as models do."""
    if type(backend).__name__ == "Numpy":
        import numpy as np
        root, exp = np.sqrt, np.exp
        widen, narrow = (lambda x: x), (lambda x, like: x.astype(like.dtype))
        softmax = lambda x: exp(x - x.max(-1, keepdims=True)) / exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)
        mean = lambda x: x.mean(-1, keepdims=True)
        silu = lambda x: x / (1 + exp(-x))
    else:
        torch = backend.torch
        root, softmax, silu = torch.sqrt, lambda x: torch.softmax(x, -1), torch.nn.functional.silu
        widen = lambda x: x if x.dtype == torch.float64 else x.float()
        narrow, mean = (lambda x, like: x.to(like.dtype)), (lambda x: x.mean(-1, keepdim=True))

    def rmsnorm(x, w):
        wide = widen(x)
        return narrow(wide / root(mean(wide * wide) + EPS), x) * w

    def residual_rmsnorm(x, r, w):
        return rmsnorm(x + r, w)

    def residual_rmsnorm_both(x, r, w):
        total = x + r
        return rmsnorm(total, w), total

    def layernorm(x, w, b):
        wide = widen(x)
        centred = wide - mean(wide)
        return narrow(centred / root(mean(centred * centred) + EPS), x) * w + b

    return {"softmax": softmax, "rmsnorm": rmsnorm, "residual_rmsnorm": residual_rmsnorm,
            "residual_rmsnorm_both": residual_rmsnorm_both, "layernorm": layernorm,
            "swiglu": lambda g, u: silu(g) * u}


def rmsnorm_case(backend, rows, cols):
    x, w = backend.randn(rows, cols), backend.randn(cols)
    out, formulas = backend.empty_like(x), functions(backend)
    fused = lambda: backend.torch.nn.functional.rms_norm(x, (cols,), w, EPS)
    return Case("rmsnorm", f"rmsnorm {rows} x {cols}", (x, w), {"out": out, "eps": EPS},
                lambda: formulas["rmsnorm"](backend.wide(x), backend.wide(w)),
                peers_of(backend, formulas["rmsnorm"], x, w, rms_norm=fused),
                4.0 * rows * cols, size_of(x, w, out), bound_of(backend))


def residual_rmsnorm_case(backend, rows, cols):
    x, r, w = backend.randn(rows, cols), backend.randn(rows, cols), backend.randn(cols)
    out, total, formulas = backend.empty_like(x), backend.empty_like(x), functions(backend)
    peers = peers_of(backend, formulas["residual_rmsnorm_both"], x, r, w)
    first = {name: (lambda call=call: call()[0]) for name, call in peers.items()}
    return Case("rmsnorm", f"residual + rmsnorm {rows} x {cols}", (x, w), {"residual": r, "out": (out, total), "eps": EPS},
                lambda: formulas["residual_rmsnorm"](backend.wide(x), backend.wide(r), backend.wide(w)),
                first, 5.0 * rows * cols, size_of(x, r, w, out, total), bound_of(backend))


def layernorm_case(backend, rows, cols):
    x, w, b = backend.randn(rows, cols), backend.randn(cols), backend.randn(cols)
    out, formulas = backend.empty_like(x), functions(backend)
    fused = lambda: backend.torch.nn.functional.layer_norm(x, (cols,), w, b, EPS)
    takes = {arg["name"] for arg in rooftile.declaration("layernorm")["args"]}
    named = {"out": out, "eps": EPS, ("bias" if "bias" in takes else "b"): b}
    return Case("layernorm", f"layernorm {rows} x {cols}", (x, w), named,
                lambda: formulas["layernorm"](backend.wide(x), backend.wide(w), backend.wide(b)),
                peers_of(backend, formulas["layernorm"], x, w, b, layer_norm=fused),
                7.0 * rows * cols, size_of(x, w, b, out), bound_of(backend))


def softmax_case(backend, rows, cols):
    x = backend.randn(rows, cols)
    out, softmax = backend.empty_like(x), functions(backend)["softmax"]
    return Case("softmax", f"softmax {rows} x {cols}", (x,), {"out": out}, lambda: softmax(backend.wide(x)),
                peers_of(backend, softmax, x), 4.0 * rows * cols, size_of(x, out), bound_of(backend))


def swiglu_case(backend, rows, cols):
    both = backend.randn(rows, 2 * cols)  # one buffer, as an up-projection leaves it
    gate, up, out = both[:, :cols], both[:, cols:], backend.empty(rows, cols)
    swiglu = functions(backend)["swiglu"]
    return Case("glu", f"swiglu {rows} x {cols}", (gate, up), {"out": out},
                lambda: swiglu(backend.wide(gate), backend.wide(up)),
                peers_of(backend, swiglu, gate, up), 5.0 * rows * cols, size_of(both, out), bound_of(backend))


# Kind: how a case is made, its operation, its shapes and those of smoke runs.
KINDS = {
    "gemm": (gemm_case, "gemm", GEMMS, SMALL["gemm"]),
    "rmsnorm": (rmsnorm_case, "rmsnorm", MATRICES, SMALL["rows"]),
    "residual_rmsnorm": (residual_rmsnorm_case, "rmsnorm", MATRICES, SMALL["rows"]),
    "layernorm": (layernorm_case, "layernorm", MATRICES, SMALL["rows"]),
    "softmax": (softmax_case, "softmax", MATRICES, SMALL["rows"]),
    "swiglu": (swiglu_case, "glu", GATES, SMALL["glu"]),
}


def cases(backend, kinds):
    """One at a time, so that the memory of each goes before the next. Kinds without operation are left out."""
    for kind in kinds:
        make, op, shapes, small = KINDS[kind]
        if op in rooftile.operations():
            for shape in small if backend.is_small else shapes:
                yield make(backend, *shape)
