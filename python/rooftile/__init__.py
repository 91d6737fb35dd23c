# SPDX-License-Identifier: Apache-2.0
"""LLM kernels, proven and on the roofline, on arrays of NumPy, PyTorch, CuPy and JAX.

Each operation is a function; operations() lists them, help() of one says shapes, dtypes and options.
Nothing is copied: arrays are used where they lie, strides and all, on the framework's current stream."""
import inspect as _inspect

from rooftile import _core, _functions
from rooftile._core import Packed, __version__, devices, packed

_declarations = {declaration["name"]: declaration for declaration in _core.declarations()}
_operations = {name: _functions.make(declaration, _core.run) for name, declaration in _declarations.items()}
globals().update(_operations)

__all__ = ["Packed", "__version__", "call", "declaration", "devices", "kernels", "operations", "packed", "problem",
           *_operations]


def operations():
    """The names of all operations, each a function of this module."""
    return list(_operations)


def _operation(name):
    if name not in _operations:
        _core.kernels(name)  # says which names are near
    return _operations[name]


def declaration(op):
    """What an operation declares: axes, arguments with roles, axes and dtypes, options with choices."""
    _operation(op)
    return _declarations[op]


def call(op, *arrays, **named):
    """Runs an operation by its name, "OP" or "OP/KERNEL", as its function would."""
    name, _, kernel = op.partition("/")
    if kernel:
        named["kernel"] = kernel
    return _operation(name)(*arrays, **named)


def _request(op, arrays, named):
    """What the operation's function would pass on: arrays and options in the declared order, and out."""
    bound = _inspect.signature(_operation(op)).bind(*arrays, **named)
    bound.apply_defaults()
    given, declared = bound.arguments, _declarations[op]
    plain = _functions.plain_outputs(declared)
    return (tuple(None if arg in plain else given[arg["name"]] for arg in declared["args"]),
            tuple(None if option["is_for_strides"] else given[option["name"]] for option in declared["options"]),
            given.get("out"))


def kernels(op, *arrays, **named):
    """The kernels of an operation in the order of preference: name, idea, target, determinism, code_hash.
    With arrays and options as for a call, each also has "unsupported": why it would not run, or None."""
    listed = _core.kernels(op)
    if not arrays and not named:
        return listed
    reasons = _core.reasons(op, *_request(op, arrays, named))
    return [dict(kernel, unsupported=reason or None) for kernel, reason in zip(listed, reasons)]


def problem(op, *arrays, **named):
    """The line that names such a call, with the kernel that would run: `rooftile bench` and its fellows take
    it."""
    return _core.problem(op, *_request(op, arrays, named), named.get("kernel", ""))
