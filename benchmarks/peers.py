#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rooftile beside what PyTorch's users have today: eager kernels (cuBLAS, ATen), PyTorch's own fused calls,
torch.compile and plain Triton kernels, on the same tensors, in one process, in turns.

  benchmarks/peers.py [--device cuda:0] [--only gemm,softmax] [--turns 60] [--budget 150] [--json FILE]
  benchmarks/peers.py --device cpu        a smoke run of small sizes; NumPy where there is no PyTorch

Needs the Python module (docs/python.md), PyTorch and Triton. "rooftile" is the best of its own kernels; where
dispatch chooses a vendor's, that stands beside it. Every result is first compared with the same formula in double.
In each turn every contender runs once, the order rotating: the GPU is kept busy until the call is queued, the L2
cache is emptied by reading twice its size, and CUDA events stand around the call alone, so that no time of the host
is measured. What is short runs in a CUDA graph too, many times, with what the caches hold. Medians and the 10th and
90th percentile; ratios are of each turn's pair.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import sys
import time

import peer_cases
from peer_backends import backend_for
from peer_chain import chain_case, norm_case
from peer_records import lines_of, records_of, rotated

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_JSON = ROOT / "records/h200/peers.json"
WARM_UPS = 3

# Kind: how a case is made, its shapes and those of smoke runs.
KINDS = {
    "rmsnorm": (peer_cases.rmsnorm_case, peer_cases.MATRICES, peer_cases.SMALL_MATRICES),
    "residual_rmsnorm": (peer_cases.residual_rmsnorm_case, peer_cases.MATRICES, peer_cases.SMALL_MATRICES),
    "layernorm": (peer_cases.layernorm_case, peer_cases.MATRICES, peer_cases.SMALL_MATRICES),
    "softmax": (peer_cases.softmax_case, peer_cases.MATRICES, peer_cases.SMALL_MATRICES),
    "swiglu": (peer_cases.swiglu_case, peer_cases.GATES, peer_cases.SMALL_GATES),
    "norm": (norm_case, peer_cases.NORMS, peer_cases.SMALL_GEMMS),
    "chain": (chain_case, peer_cases.CHAINS, peer_cases.SMALL_CHAINS),
    "gemm": (peer_cases.gemm_case, peer_cases.GEMMS, peer_cases.SMALL_GEMMS),
}


def first_line(error):
    return (str(error).splitlines() or [type(error).__name__])[0][:120]


def drop(case, name, reason):
    """A peer that cannot run here is no reason to stop; Rooftile is."""
    if name == "rooftile":
        raise SystemExit(f"peers: {case.title}: rooftile {reason}")
    print(f"  {name}: {reason}", file=sys.stderr)
    del case.contenders[name]


def check(backend, case):
    """Drops contenders that fail or are wrong."""
    expected = case.expected()
    for name, call in list(case.contenders.items()):
        try:
            error = backend.error_of(call(), expected)
        except Exception as failure:
            drop(case, name, "cannot run: " + first_line(failure))
            continue
        if not error <= case.bound:
            drop(case, name, f"is WRONG, relative error {error:.3g}")


def in_graph(backend, case):
    """The same case in graphs, and how many runs are in each."""
    graphs = dataclasses.replace(case, mode="graph", contenders=dict(case.contenders))
    runs = {}
    for name, call in case.contenders.items():
        try:
            graphs.contenders[name], runs[name] = backend.in_graph(call)
        except Exception as failure:
            drop(graphs, name, "cannot be captured: " + first_line(failure))
    return graphs, runs


def run_turns(backend, case, turns, runs=None):
    """Times in us by name, a list each: entry i of all lists is of turn i."""
    names = list(case.contenders)
    times = {name: [] for name in names}
    for name, call in case.contenders.items():
        for _ in range(WARM_UPS):
            call()
    for turn in range(turns):
        for name in rotated(names, turn):
            us = backend.time_us(case.contenders[name], is_cold=case.mode == "cold")
            times[name].append(us / (runs[name] if runs else 1))
    return times


def measure(backend, case, args, shared):
    """Records of a case, of its graphs too."""
    check(backend, case)
    measured = [(case, run_turns(backend, case, args.turns))]
    if case.is_short and not backend.is_small:
        graphs, runs = in_graph(backend, case)
        measured.append((graphs, run_turns(backend, graphs, args.turns, runs)))
    records = []
    for timed, times in measured:
        print("\n".join(lines_of(timed, times)), flush=True)
        records += records_of(timed, times, {**shared, **backend.state()})
    return records


def cases(backend, kinds):
    """One at a time, so that the memory of each goes before the next."""
    for kind in kinds:
        make, shapes, small = KINDS[kind]
        for shape in small if backend.is_small else shapes:
            yield kind, shape, lambda: peer_cases.with_versions(backend, make(backend, *shape))


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0", help="cuda:N, or cpu for a smoke run (default: %(default)s)")
    parser.add_argument("--only", default="", help="kinds of cases, separated by commas: " + ", ".join(KINDS))
    parser.add_argument("--turns", type=int, default=60, help="times that each contender runs (default: %(default)s)")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no further case begins")
    parser.add_argument("--json", type=pathlib.Path, help="where the records go; on a GPU, by default, "
                        + str(DEFAULT_JSON.relative_to(ROOT)))
    args = parser.parse_args(words)
    args.kinds = [kind for kind in args.only.split(",") if kind] or list(KINDS)
    unknown = [kind for kind in args.kinds if kind not in KINDS]
    if unknown or args.turns < 1:
        parser.error(f"unknown kind {unknown[0]}" if unknown else "--turns: at least 1")
    args.json = args.json or (DEFAULT_JSON if args.device.startswith("cuda") else None)
    return args


def main():
    args, start = parse(sys.argv[1:]), time.monotonic()
    backend = backend_for(args.device)
    records, left_out = [], []
    for kind, shape, make in cases(backend, args.kinds):
        if time.monotonic() - start > args.budget:
            left_out.append(f"{kind} {shape}")
            continue
        shared = {"device": args.device, "device_name": backend.device_name,
                  "command": f"benchmarks/peers.py --only {kind} --turns {args.turns} --device {args.device}"}
        if os.environ.get("ROOFTILE_COMMIT"):
            shared["commit"] = os.environ["ROOFTILE_COMMIT"]
        records += measure(backend, make(), args, shared)
        backend.release()
        print(f"[{time.monotonic() - start:.0f} s]", file=sys.stderr, flush=True)
        if args.json:
            args.json.write_text(json.dumps({"schema": 1, "device": args.device, "records": records}, indent=1) + "\n")
    if args.json:
        print(f"{len(records)} records in {args.json}", file=sys.stderr)
    if left_out:
        print("left out, the budget is used up: " + ", ".join(left_out), file=sys.stderr)
    return 0 if records and not left_out else 1


if __name__ == "__main__":
    sys.exit(main())
