# SPDX-License-Identifier: Apache-2.0
"""Kernels in a row, what lies between them in the cache or not, against PyTorch: two layers, up with a bias and gelu,
then down, as two, three and four kernels of Rooftile's; a norm before a product, beside the product alone."""
from peer_cases import Case, GRAPH_ROWS, Request, bound_of, peers_of, size_of
from peer_formulas import EPS, formulas_of

ACT = "gelu_tanh"


def in_turn(*calls):
    def run():
        for call in calls:
            result = call()
        return result
    return run


def repeated(backend, bias, rows):
    """A bias for each row, without a copy."""
    if type(backend).__name__ == "Torch":
        return bias.expand(rows, -1)
    import numpy as np
    return np.broadcast_to(bias, (rows, bias.shape[0]))


def kernels_of(backend, x, up, bias, down):
    """By how many there are: Rooftile's calls in turn."""
    rows = x.shape[0]
    hidden, biased, acted = (backend.empty(rows, up.shape[0]) for _ in range(3))
    out = backend.empty(rows, down.shape[0])
    last = Request("gemm", acted, down.T, out=out)
    act = Request("activation", biased, act=ACT, out=acted)
    return {2: [Request("gemm", x, up.T, bias=bias, act=ACT, out=acted), last],
            3: [Request("gemm", x, up.T, bias=bias, out=biased), act, last],
            4: [Request("gemm", x, up.T, out=hidden),
                Request("add", hidden, repeated(backend, bias, rows), out=biased), act, last]}


def chain_case(backend, rows, d, f):
    x, up, bias, down = backend.randn(rows, d), backend.randn(f, d), backend.randn(f), backend.randn(d, f)
    chains = kernels_of(backend, x, up, bias, down)
    ours = {f"chain/{number}_kernels": in_turn(*requests) for number, requests in chains.items()}
    fused = {}
    if not backend.is_small:
        torch = backend.torch
        fused["addmm_gelu"] = lambda: torch._addmm_activation(bias, x, up.T, use_gelu=True) @ down.T
    layers = formulas_of(backend)["layers"]
    contenders = {"rooftile": ours.pop("chain/2_kernels"), **ours, **peers_of(backend, layers, x, up, bias, down, **fused)}
    if not backend.is_small:  # as modules call it, the bias within the product
        functional = backend.torch.nn.functional
        contenders["torch/linear"] = lambda: functional.linear(
            functional.gelu(functional.linear(x, up, bias), approximate="tanh"), down)
    names = "+".join(request.facts()["kernel"] for request in chains[2])
    case = Case("chain", f"up, bias, gelu, down m={rows} d={d} f={f}", kernel="chain/2_kernels",
                line=f"chain/2_kernels m={rows} d={d} f={f} act={ACT} {names}",
                code_hash="+".join(request.code_hash for request in chains[2]),
                expected=lambda: layers(*map(backend.wide, (x, up, bias, down))), contenders=contenders,
                is_short=rows <= GRAPH_ROWS, operations=4.0 * rows * d * f, bytes=size_of(x, up, bias, down) + x.nbytes, bound=bound_of(backend))
    for number, requests in chains.items():
        case.notes[f"chain/{number}_kernels"] = " ".join(
            [f"chain/{number}_kernels", *(request.facts()["kernel"] for request in requests)])
    return case


def norm_case(backend, m, n, k):
    """One kernel beside two in turn, or the two where no one does both. The product alone, of rows that were normalised before, is what fusing
    could reach at best."""
    x, w, weight = backend.randn(m, k), backend.randn(k), backend.randn(n, k)
    hidden, out = backend.empty_like(x), backend.empty(m, n)
    one = Request("gemm_rmsnorm", x, w, weight.T, out=out, eps=EPS)
    norm = Request("rmsnorm", x, w, out=hidden, eps=EPS)
    product = Request("gemm", hidden, weight.T, out=out)
    norm()
    formula = formulas_of(backend)["norm_product"]
    names = f"{norm.facts()['kernel']} {product.facts()['kernel']}"
    two = in_turn(norm, product)
    ours, kernel, line, code_hash = {"rooftile": two}, "norm/2_kernels", f" {names}", f"{norm.code_hash}+{product.code_hash}"
    if not one.own.endswith("_apart"):
        ours, kernel, line, code_hash = {"rooftile": one, "norm/2_kernels": two}, one.facts()["kernel"], "", one.code_hash
    case = Case("norm", f"rmsnorm, product m={m} n={n} k={k}", kernel=kernel, line=f"{kernel} m={m} n={n} k={k}{line}", code_hash=code_hash,
                expected=lambda: formula(*map(backend.wide, (x, w, weight))),
                contenders={**ours, "norm/product_alone": product, **peers_of(backend, formula, x, w, weight)},
                is_short=m <= GRAPH_ROWS, operations=2.0 * m * n * k, bytes=size_of(x, w, weight, out), bound=bound_of(backend))
    case.notes["norm/2_kernels"] = f"norm/2_kernels {names}"
    case.notes["norm/product_alone"] = f"norm/product_alone {product.facts()['kernel']}"
    return case
