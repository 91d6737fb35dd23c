# SPDX-License-Identifier: Apache-2.0
"""Compares every codec with the independent package ml-dtypes (and numpy for fp16).

    python3 compare_ml_dtypes.py LIBRARY        LIBRARY: formats_capi.cc built as a shared library

Prints how many values were compared; exits with 1 on any difference, or when nothing was compared.
ml-dtypes overflows to infinity or NaN, so encoding is compared in the mode to_special; saturation
is compared with the same values clamped first.
"""
import ctypes
import sys

import ml_dtypes
import numpy as np

FLOATS = {
    "bf16": ml_dtypes.bfloat16,
    "fp16": np.float16,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "e8m0": ml_dtypes.float8_e8m0fnu,
}
INTS = {"i4": ml_dtypes.int4, "u4": ml_dtypes.uint4}
BITS = {"bf16": 16, "fp16": 16, "e3m2": 6, "e2m3": 6, "e2m1": 4, "i4": 4, "u4": 4}
NO_NAN = ("e3m2", "e2m3", "e2m1")
# Lower halves of floats: zero, both sides of each tie at bit 15, and two without a pattern.
LOW_HALVES = (0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x1000, 0x2F37, 0xC5A9)


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)

    def call(self, function, type_name, *args):
        if getattr(self.c, function)(type_name.encode(), *args) != 0:
            raise SystemExit(f"{function} does not know {type_name}")

    def encode(self, type_name, values, to_special):
        function, c_type = {
            np.dtype(np.float32): ("rooftile_encode_f32", ctypes.c_float),
            np.dtype(np.float64): ("rooftile_encode_f64", ctypes.c_double),
        }[values.dtype]
        values = np.ascontiguousarray(values)
        codes = np.empty(values.size, np.uint16)
        self.call(function, type_name, values.ctypes.data_as(ctypes.POINTER(c_type)),
                  ctypes.c_int64(values.size), ctypes.c_int(to_special),
                  codes.ctypes.data_as(ctypes.POINTER(ctypes.c_uint16)))
        return codes

    def decode(self, type_name, codes):
        codes = np.ascontiguousarray(codes, np.uint16)
        values = np.empty(codes.size, np.float32)
        self.call("rooftile_decode", type_name,
                  codes.ctypes.data_as(ctypes.POINTER(ctypes.c_uint16)),
                  ctypes.c_int64(codes.size),
                  values.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        return values


class Tally:
    def __init__(self):
        self.compared = 0
        self.different = 0

    def check(self, what, given, ours, theirs):
        """`ours` and `theirs` are numbers; NaN equals NaN, and zeros must agree in sign."""
        wrong = ~(((ours == theirs) & (np.signbit(ours) == np.signbit(theirs)))
                  | (np.isnan(ours) & np.isnan(theirs)))
        self.compared += wrong.size
        self.different += int(wrong.sum())
        for i in np.flatnonzero(wrong)[:5]:
            print(f"{what}: {given[i]!r} gives {ours[i]!r}, ml-dtypes {theirs[i]!r}")


def all_codes(type_name):
    return np.arange(1 << BITS.get(type_name, 8), dtype=np.uint16)


def decode_theirs(type_name, codes):
    dtype = np.dtype(FLOATS[type_name])
    words = codes.astype(np.uint16 if dtype.itemsize == 2 else np.uint8)
    return words.view(dtype).astype(np.float32)


def midpoints(type_name):
    """Between all neighbours, in double, with the doubles and the floats on either side; the next
    step past the maximum too, where overflow begins."""
    numbers = decode_theirs(type_name, all_codes(type_name)).astype(np.float64)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    # The next step up: of the exponent for e8m0, of the last place for all others.
    top = 2 * numbers[-1] if type_name == "e8m0" else 2 * numbers[-1] - numbers[-2]
    numbers = np.append(numbers, top)
    if type_name != "e8m0":
        numbers = np.append(-top, numbers)
    return (numbers[1:] + numbers[:-1]) / 2


def float_inputs(type_name):
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    patterns = np.concatenate([(upper | low).view(np.float32) for low in LOW_HALVES])
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    middle = midpoints(type_name).astype(np.float32)
    below = np.nextafter(middle, np.float32(-np.inf))
    above = np.nextafter(middle, np.float32(np.inf))
    return np.concatenate([patterns, halves, below, middle, above])


def comparable(type_name, values):
    """Without what the two define apart: NaN in a type that has none (here +maximum, there -0), and
    what lies between 2^-127 and 1.5 * 2^-127, which ml-dtypes 0.6 rounds to the farther 2^-126."""
    if type_name in NO_NAN:
        return values[~np.isnan(values)]
    if type_name == "e8m0":
        return values[~((values > 2.0**-127) & (values < 1.5 * 2.0**-127))]
    return values


def compare_float(library, tally, type_name):
    dtype = FLOATS[type_name]
    codes = all_codes(type_name)
    tally.check(f"decode {type_name}", codes, library.decode(type_name, codes),
                decode_theirs(type_name, codes))

    def compare(values, mode, theirs):
        to_special = int(mode == "to_special")
        ours = library.decode(type_name, library.encode(type_name, values, to_special))
        tally.check(f"encode {type_name} {values.dtype} {mode}", values, ours,
                    theirs.astype(dtype).astype(np.float32))

    values = comparable(type_name, float_inputs(type_name))
    compare(values, "to_special", values)
    if type_name != "e8m0":  # a scale has no sign, and its zero is what saturates
        numbers = decode_theirs(type_name, codes)
        most = numbers[np.isfinite(numbers)].max()
        compare(values, "saturate", np.clip(values, -most, most))

    # As doubles: first the same values, then the doubles beside each tie, where the right answer is
    # known. Why not theirs there: ml-dtypes goes by way of float, which makes them ties.
    compare(values.astype(np.float64), "to_special", values)
    middle = midpoints(type_name)
    inner = middle[1:-1] if type_name != "e8m0" else middle[:-1]
    for direction in (-np.inf, np.inf):
        beside = np.nextafter(inner, direction)
        ours = library.decode(type_name, library.encode(type_name, beside, 1))
        numbers = np.unique(decode_theirs(type_name, codes))
        numbers = numbers[np.isfinite(numbers)].astype(np.float64)
        at = np.searchsorted(numbers, beside)
        wanted = np.where(direction > 0, numbers[at], numbers[at - 1]).astype(np.float32)
        tally.check(f"beside a tie {type_name}", beside, np.abs(ours), np.abs(wanted))


def compare_int(library, tally, type_name):
    codes = all_codes(type_name)
    theirs = codes.astype(np.uint8).view(INTS[type_name]).astype(np.float32)
    tally.check(f"decode {type_name}", codes, library.decode(type_name, codes), theirs)
    # ml-dtypes truncates and wraps where we round and saturate: integers in range mean the same.
    ours = library.encode(type_name, theirs.astype(np.float64), 0).astype(np.float32)
    wanted = (theirs.astype(INTS[type_name]).view(np.uint8) & 15).astype(np.float32)
    tally.check(f"encode {type_name}", theirs, ours, wanted)


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    library = Library(sys.argv[1])
    total = Tally()
    for names, compare in ((FLOATS, compare_float), (INTS, compare_int)):
        for type_name in names:
            tally = Tally()
            with np.errstate(all="ignore"):
                compare(library, tally, type_name)
            print(f"{type_name:9} {tally.compared:9} compared, {tally.different} different")
            if tally.compared == 0:
                raise SystemExit(f"nothing was compared for {type_name}")
            total.compared += tally.compared
            total.different += tally.different
    print(f"{'all':9} {total.compared:9} compared, {total.different} different")
    return 1 if total.different or not total.compared else 0


if __name__ == "__main__":
    sys.exit(main())
