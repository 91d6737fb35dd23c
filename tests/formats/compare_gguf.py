# SPDX-License-Identifier: Apache-2.0
"""Compares the decoders of the GGUF block types with the independent package gguf.

    python3 compare_gguf.py LIBRARY        LIBRARY: formats_capi.cc built as a shared library

Decodes random blocks, and random blocks whose scales take all 65536 bit patterns of binary16. Prints
how many values were compared; exits with 1 on any difference of the bits (any NaN equals any NaN),
or when nothing was compared.
"""
import ctypes
import sys

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, quants

TYPES = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K")
# The offsets of the scales and minima in binary16.
HALVES = {"Q4_1": (0, 2), "Q5_1": (0, 2), "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2),
          "Q5_K": (0, 2), "Q6_K": (208,)}
RANDOM_BLOCKS = 2000


def blocks_of(type_name, bytes_per_block):
    """Random blocks first, then one a binary16 pattern for each scale, the others moderate."""
    rng = np.random.default_rng(7)
    parts = [rng.integers(0, 256, (RANDOM_BLOCKS, bytes_per_block), np.uint8)]
    patterns = np.arange(1 << 16, dtype="<u2").view(np.uint8).reshape(-1, 2)
    halves = HALVES.get(type_name, (0,))
    for at in halves:
        blocks = rng.integers(0, 256, (1 << 16, bytes_per_block), np.uint8)
        for other in halves:
            blocks[:, other : other + 2] = (0x00, 0x3C)  # 1.0
        blocks[:, at : at + 2] = patterns
        parts.append(blocks)
    return np.concatenate(parts)


def compare(library, type_name):
    """Returns how many values were compared and how many differ."""
    qtype = GGMLQuantizationType[type_name]
    elements, bytes_per_block = GGML_QUANT_SIZES[qtype]
    compared = different = 0
    # A few thousand blocks at a time: all at once need gigabytes.
    for blocks in np.array_split(blocks_of(type_name, bytes_per_block), 32):
        blocks = np.ascontiguousarray(blocks)
        with np.errstate(all="ignore"):
            theirs = quants.dequantize(blocks, qtype).reshape(-1)
        ours = np.empty(blocks.shape[0] * elements, np.float32)
        status = library.rooftile_dequantise_blocks(
            type_name.lower().encode(), blocks.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8)),
            ctypes.c_int64(ours.size), ours.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        if status != 0:
            raise SystemExit(f"the library does not know {type_name}")
        same = (ours.view(np.uint32) == theirs.view(np.uint32)) | (np.isnan(ours) & np.isnan(theirs))
        compared += same.size
        different += int((~same).sum())
        for i in np.flatnonzero(~same)[:5]:
            block = blocks[i // elements].tobytes().hex()
            print(f"{type_name}: element {i % elements} of {block} is {ours[i]!r}, gguf has {theirs[i]!r}")
    return compared, different


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    library = ctypes.CDLL(sys.argv[1])
    total = bad = 0
    for type_name in TYPES:
        compared, different = compare(library, type_name)
        print(f"{type_name.lower():9} {compared:9} compared, {different} different")
        if compared == 0:
            raise SystemExit(f"nothing was compared for {type_name}")
        total += compared
        bad += different
    print(f"{'all':9} {total:9} compared, {bad} different")
    return 1 if bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
