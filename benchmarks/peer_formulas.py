# SPDX-License-Identifier: Apache-2.0
"""The formulas in the words of PyTorch and NumPy, as users of them write them; they widen as models do."""
import math

EPS = 1e-6


def numpy_words():
    import numpy as np

    def softmax(x):
        power = np.exp(x - x.max(-1, keepdims=True))
        return power / power.sum(-1, keepdims=True)

    return {"root": np.sqrt, "softmax": softmax, "silu": lambda x: x / (1 + np.exp(-x)), "widen": lambda x: x,
            "narrow": lambda x, like: x.astype(like.dtype), "mean": lambda x: x.mean(-1, keepdims=True),
            "gelu": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))}


def torch_words(torch):
    functional = torch.nn.functional
    return {"root": torch.sqrt, "softmax": lambda x: torch.softmax(x, -1), "silu": functional.silu,
            "widen": lambda x: x if x.dtype == torch.float64 else x.float(),
            "narrow": lambda x, like: x.to(like.dtype), "mean": lambda x: x.mean(-1, keepdim=True),
            "gelu": lambda x: functional.gelu(x, approximate="tanh")}


def formulas_of(backend):
    words = torch_words(backend.torch) if type(backend).__name__ == "Torch" else numpy_words()
    root, mean, widen, narrow = (words[name] for name in ("root", "mean", "widen", "narrow"))
    silu, gelu = words["silu"], words["gelu"]

    def rmsnorm(x, w):
        wide = widen(x)
        return narrow(wide / root(mean(wide * wide) + EPS), x) * w

    def residual_rmsnorm(x, r, w):
        total = x + r
        return rmsnorm(total, w), total

    def layernorm(x, w, b):
        wide = widen(x)
        centred = wide - mean(wide)
        return narrow(centred / root(mean(centred * centred) + EPS), x) * w + b

    def swiglu(gate, up):
        return silu(gate) * up

    def layers(x, up, bias, down):
        """Up with a bias and an activation, then down; weights as models store them."""
        return gelu(x @ up.T + bias) @ down.T

    def norm_product(x, w, weight):
        return rmsnorm(x, w) @ weight.T

    return {"softmax": words["softmax"], "rmsnorm": rmsnorm, "residual_rmsnorm": residual_rmsnorm,
            "layernorm": layernorm, "swiglu": swiglu, "layers": layers,
            "norm_product": norm_product}
