# SPDX-License-Identifier: Apache-2.0
"""Writes the type stubs of the built package: make_stubs.py FOLDER, which holds rooftile/."""
import pathlib
import sys

HEAD = '''# Generated from the declarations of the operations: do not edit.
from typing import Any, Literal, Protocol, TypeVar

class Array(Protocol):
    """An array of NumPy, PyTorch, CuPy, JAX, or another with DLPack."""
    def __dlpack__(self, *args: Any, **named: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

class Packed:
    """Memory whose bytes are elements of a packed type: see packed()."""
    @property
    def T(self) -> Packed: ...

A = TypeVar("A", bound=Array | Packed)
__version__: str
'''
SIGNATURES = {
    "operations": "() -> list[str]",
    "declaration": "(op: str) -> dict[str, Any]",
    "call": "(op: str, *arrays: Any, **named: Any) -> Any",
    "kernels": "(op: str, *arrays: Any, **named: Any) -> list[dict[str, Any]]",
    "problem": "(op: str, *arrays: Any, **named: Any) -> str",
    "devices": "() -> list[str]",
    "packed": "(array: Any, dtype: str) -> Packed",
}


def text_of(package):
    parts = [HEAD]
    for name, signature in SIGNATURES.items():
        doc = getattr(package, name).__doc__ or ""
        parts.append(f'def {name}{signature}:\n    """{doc}"""\n    ...\n')
    parts += [package._functions.stub(package.declaration(op)) for op in package.operations()]
    return "\n".join(parts)


def main():
    folder = pathlib.Path(sys.argv[1])
    sys.path.insert(0, str(folder))
    import rooftile
    (folder / "rooftile" / "__init__.pyi").write_text(text_of(rooftile), encoding="utf-8")


if __name__ == "__main__":
    main()
