# SPDX-License-Identifier: Apache-2.0
"""What peers.py runs: shapes, the formula in double, Rooftile's call and each peer's, the work it cannot avoid."""
import dataclasses
import functools
import typing

import rooftile

from peer_formulas import EPS, formulas_of

GEMMS = [(8192, 8192, 8192), (4096, 4096, 4096), (2048, 28672, 8192), (4096, 7168, 2048), (4096, 24576, 1536),
         (4096, 7168, 16384), (512, 8192, 8192), (8192, 8192, 512), (128, 7168, 16384), (64, 24576, 1536),
         (128, 8192, 8192), (64, 8192, 8192), (16, 8192, 8192), (1, 8192, 8192), (1, 28672, 8192)]
MATRICES = [(16384, 8192), (4096, 4096), (64, 8192)]
GATES = [(16384, 14336), (64, 14336)]
GRAPH_ROWS = 64  # so few that launches are a large part of the time
CHAINS = [(1, 4096, 16384), (64, 4096, 16384), (4096, 4096, 16384)]  # rows, d, f
NORMS = [(1, 8192, 8192), (64, 8192, 8192), (4096, 4096, 4096), (4096, 28672, 4096)]  # m, n, k
SMALL_MATRICES, SMALL_GATES, SMALL_GEMMS, SMALL_CHAINS = [(64, 128)], [(64, 224)], [(64, 96, 128), (1, 256, 128)], [(8, 64, 256)]


@dataclasses.dataclass
class Case:
    op: str
    title: str
    kernel: str  # of "rooftile", as records name it
    line: str  # the problem
    code_hash: str
    expected: typing.Callable  # the result in double
    contenders: dict  # "rooftile" and the others; each gives its result
    operations: float
    bytes: float  # that cannot be avoided
    bound: float  # largest error, of the largest result
    is_short: bool = False  # launches take a large part: timed in a CUDA graph too
    mode: str = "cold"
    notes: dict = dataclasses.field(default_factory=dict)  # a contender's name with its version and choice


class Request:
    """A call of Rooftile: its own kernel, and a vendor's where dispatch chooses that."""

    def __init__(self, op, *arrays, **named):
        self.op, self.arrays, self.named = op, arrays, named
        listed = rooftile.kernels(op, *arrays, **named)
        vendors = {entry["name"] for entry in listed if entry["calls_vendor_library"]}
        chosen = rooftile.problem(op, *arrays, **named).split()[0].partition("/")[2]
        own = [entry["name"] for entry in listed if not entry["unsupported"] and entry["name"] not in vendors]
        # Why not by its name where it is chosen: dispatch knows the configuration that was tuned.
        self.own, self.given = (own[0], own[0]) if chosen in vendors else (chosen, "")
        self.vendor = chosen if chosen in vendors else ""
        self.code_hash = next(entry["code_hash"] for entry in listed if entry["name"] == self.own)

    def run(self, kernel):
        result = rooftile.call(self.op, *self.arrays, kernel=kernel, **self.named)
        return result[0] if isinstance(result, tuple) else result

    def __call__(self):
        return self.run(self.given)

    def contenders(self):
        through = {f"{self.op}/{self.vendor}": functools.partial(self.run, self.vendor)} if self.vendor else {}
        return {"rooftile": self, **through}

    def facts(self):
        """What a case says of its kernel."""
        line = rooftile.problem(self.op, *self.arrays, kernel=self.own, **self.named)
        return {"kernel": f"{self.op}/{self.own}", "line": line, "code_hash": self.code_hash}


def size_of(*arrays):
    return float(sum(array.nbytes for array in arrays))


def bound_of(backend):
    return 1e-5 if backend.is_small else 2e-2


def has_gpu(backend):
    return not backend.is_small


def peers_of(backend, eager, *arrays, **fused):
    """The formula as its framework runs it: eagerly, by `fused` calls of its own, compiled."""
    name = type(backend).__name__.lower()
    peers = {f"{name}/eager": functools.partial(eager, *arrays)}
    if name == "torch":
        peers |= {f"torch/{key}": call for key, call in fused.items()}
        if has_gpu(backend):
            peers["torch/compile"] = functools.partial(backend.compiled(eager), *arrays)
    return peers


def with_triton(backend, case, name, *arguments):
    """The same by a kernel of peer_triton.py."""
    if has_gpu(backend):
        import peer_triton
        call, choice = getattr(peer_triton, name)(backend, *arguments)
        case.contenders[f"triton/{name}"] = call
        case.notes[f"triton/{name}"] = f"triton/{name} {choice} {backend.version('triton')}"
    return case


def with_versions(backend, case):
    """The peers' versions, for the record."""
    for contender in case.contenders:
        if contender.startswith("torch/"):
            case.notes[contender] = f"{contender} {backend.version('torch')}"
    return case


def gemm_case(backend, m, n, k):
    a, weight, out = backend.randn(m, k), backend.randn(n, k), backend.empty(m, n)
    request = Request("gemm", a, weight.T, out=out)
    case = Case("gemm", f"gemm m={m} n={n} k={k}", **request.facts(),
                expected=lambda: backend.wide(a) @ backend.wide(weight).T,
                contenders=request.contenders() | peers_of(backend, lambda x, w: x @ w.T, a, weight),
                operations=2.0 * m * n * k, bytes=size_of(a, weight, out), bound=bound_of(backend))
    return with_triton(backend, case, "matmul", a, weight)


def rows_case(backend, op, title, request, formula, arrays, fused, operations, bytes_moved, triton):
    """Of an operation on rows; `formula` is one of formulas_of()."""
    return with_triton(backend, Case(
        op, title, **request.facts(), is_short=arrays[0].shape[0] == GRAPH_ROWS,
        expected=lambda: formula(*map(backend.wide, arrays)),
        contenders=request.contenders() | peers_of(backend, formula, *arrays, **fused),
        operations=operations, bytes=bytes_moved, bound=bound_of(backend)), *triton)


def rmsnorm_case(backend, rows, cols):
    x, w = backend.randn(rows, cols), backend.randn(cols)
    out = backend.empty_like(x)
    fused = {"rms_norm": lambda: backend.torch.nn.functional.rms_norm(x, (cols,), w, EPS)}
    return rows_case(backend, "rmsnorm", f"rmsnorm {rows} x {cols}", Request("rmsnorm", x, w, out=out, eps=EPS),
                     formulas_of(backend)["rmsnorm"], (x, w), fused, 4.0 * rows * cols, size_of(x, w, out),
                     ("rmsnorm", x, w, EPS))


def residual_rmsnorm_case(backend, rows, cols):
    x, r, w = backend.randn(rows, cols), backend.randn(rows, cols), backend.randn(cols)
    out, total = backend.empty_like(x), backend.empty_like(x)
    case = rows_case(backend, "rmsnorm", f"residual + rmsnorm {rows} x {cols}",
                     Request("rmsnorm", x, w, residual=r, out=(out, total), eps=EPS),
                     formulas_of(backend)["residual_rmsnorm"], (x, r, w), {}, 5.0 * rows * cols,
                     size_of(x, r, w, out, total), ("rmsnorm", x, w, EPS, r))
    # Of PyTorch's two results, one is compared.
    first = lambda call: lambda: call()[0]
    framework = type(backend).__name__.lower() + "/"
    case.contenders = {name: first(call) if name.startswith(framework) else call for name, call in case.contenders.items()}
    both = case.expected
    case.expected = lambda: both()[0]
    return case


def layernorm_case(backend, rows, cols):
    x, w, b = backend.randn(rows, cols), backend.randn(cols), backend.randn(cols)
    out = backend.empty_like(x)
    fused = {"layer_norm": lambda: backend.torch.nn.functional.layer_norm(x, (cols,), w, b, EPS)}
    return rows_case(backend, "layernorm", f"layernorm {rows} x {cols}", Request("layernorm", x, w=w, b=b, out=out, eps=EPS),
                     formulas_of(backend)["layernorm"], (x, w, b), fused, 7.0 * rows * cols, size_of(x, w, b, out),
                     ("layernorm", x, w, b, EPS))


def softmax_case(backend, rows, cols):
    x = backend.randn(rows, cols)
    out = backend.empty_like(x)
    return rows_case(backend, "softmax", f"softmax {rows} x {cols}", Request("softmax", x, out=out),
                     formulas_of(backend)["softmax"], (x,), {}, 4.0 * rows * cols, size_of(x, out), ("softmax", x))


def swiglu_case(backend, rows, cols):
    both = backend.randn(rows, 2 * cols)  # one buffer, as an up-projection leaves it
    gate, up, out = both[:, :cols], both[:, cols:], backend.empty(rows, cols)
    return rows_case(backend, "glu", f"swiglu {rows} x {cols}", Request("glu", gate, up, out=out),
                     formulas_of(backend)["swiglu"], (gate, up), {}, 5.0 * rows * cols, size_of(both, out),
                     ("swiglu", gate, up))
