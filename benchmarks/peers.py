#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rooftile beside what PyTorch's users have today: eager kernels (cuBLAS, cuDNN, ATen) and torch.compile
(Triton), on the same tensors, in one process, in turns.

  benchmarks/peers.py [--device cuda:0] [--only gemm,softmax] [--turns 60] [--json FILE]
  benchmarks/peers.py --device cpu        a smoke run of small sizes; NumPy where there is no PyTorch

Needs the Python module (docs/python.md) and PyTorch. "rooftile" is the best of its own kernels; where dispatch
chooses a vendor's, that stands beside it. Every result is first compared with the same formula in double. In each
turn every contender runs once, the order rotating: the L2 cache is emptied by reading twice its size, the GPU is
kept busy until the call is queued, and CUDA events stand around the call alone, so that no time of the host is
measured. Medians and the 10th and 90th percentile; ratios are of each turn's pair.
"""
import argparse
import datetime
import json
import pathlib
import shutil
import subprocess
import sys

import rooftile

import peer_cases

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT_JSON = ROOT / "records/h200/peers.json"


def quantiles(values):
    ordered = sorted(values)
    at = lambda share: ordered[round(share * (len(ordered) - 1))]
    return {"median": at(0.5), "p10": at(0.1), "p90": at(0.9), "n": len(ordered)}


def verdict(ratio):
    if ratio["p10"] > 1:
        return "faster"
    if ratio["p90"] < 1:
        return "slower"
    return "same" if ratio["p10"] > 0.97 and ratio["p90"] < 1.03 else "cannot tell"


def state(device):
    """Clock, power and temperature of the GPU, as nvidia-smi says; nothing where it is not."""
    if not device.startswith("cuda") or not shutil.which("nvidia-smi"):
        return {}
    query = "--query-gpu=clocks.sm,power.draw,temperature.gpu"
    done = subprocess.run(["nvidia-smi", query, "--format=csv,noheader,nounits", "-i", device.partition(":")[2] or "0"],
                          text=True, capture_output=True)
    try:
        values = [float(word) for word in done.stdout.split(",")]
    except ValueError:
        return {}
    return dict(zip(("clocks_mhz", "power_w", "temperature_c"), values))


def run_turns(backend, contenders, turns):
    """Times in us by name, a list each: entry i of all lists is of turn i."""
    times = {name: [] for name in contenders}
    names = list(contenders)
    for call in contenders.values():
        for _ in range(3):
            call()
    for turn in range(turns):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            times[name].append(backend.time_us(contenders[name]))
    return times


def check(backend, case, contenders):
    """Drops contenders that fail or are wrong, and says so; a wrong result of Rooftile's is an error."""
    expected = case.expected()
    kept = {}
    for name, call in contenders.items():
        try:
            error = backend.error_of(call(), expected)
        except Exception as failure:  # a peer that cannot run here is no reason to stop
            if name == "rooftile":
                raise
            print(f"  {name}: cannot run: {str(failure).splitlines()[0][:100]}", file=sys.stderr)
            continue
        if error <= case.bound:
            kept[name] = call
            continue
        print(f"  {name}: WRONG, relative error {error:.3g}", file=sys.stderr)
        if name == "rooftile":
            raise SystemExit(1)
    return kept


def records_of(case, times, device, device_name):
    """One record for each peer, as docs/records.schema.json has it."""
    ours = quantiles(times["rooftile"])
    line = case.line(case.kernels()[0])
    kernel = line.split()[0]
    hashes = {entry["name"]: entry["code_hash"] for entry in rooftile.kernels(case.op)}
    seconds = ours["median"] * 1e-6
    base = {
        "schema": 1, "op": case.op, "kernel": kernel, "problem": line, "device": device,
        "device_name": device_name, "origin": "measured", "status": "passed", "time_us": ours,
        "tflops": case.operations / seconds / 1e12, "gbytes_per_s": case.bytes / seconds / 1e9, **state(device),
        "mode": "cold", "data": "randn seed=0", "code_hash": hashes[kernel.partition("/")[2]],
        "command": f"rooftile bench {line} --on {device}",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    for peer in times:
        if peer == "rooftile":
            continue
        ratio = quantiles([theirs / mine for theirs, mine in zip(times[peer], times["rooftile"])])
        against = {"kernel": peer, "time_us": quantiles(times[peer]), "ratio": ratio, "verdict": verdict(ratio)}
        yield {**base, "against": against}


def show(case, times):
    print(case.title)
    for name, values in times.items():
        us = quantiles(values)
        ratio = quantiles([theirs / mine for theirs, mine in zip(values, times["rooftile"])])
        rates = f"{case.operations / us['median'] / 1e6:8.1f} TFLOP/s {case.bytes / us['median'] / 1e3:7.0f} GB/s"
        print(f"  {name:20} {us['median']:10.2f} us ({us['p10']:.2f} to {us['p90']:.2f}) {rates}"
              f"  Rooftile {ratio['median']:.3f}x as fast ({ratio['p10']:.3f} to {ratio['p90']:.3f})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda:0", help="cuda:N, or cpu for a smoke run (default: %(default)s)")
    parser.add_argument("--only", default="", help="kinds of cases, separated by commas: " + ", ".join(peer_cases.KINDS))
    parser.add_argument("--turns", type=int, default=60, help="times that each contender runs (default: %(default)s)")
    parser.add_argument("--json", type=pathlib.Path, help="where the records go; on a GPU, by default, "
                        + str(DEFAULT_JSON.relative_to(ROOT)))
    args = parser.parse_args()
    kinds = [kind for kind in args.only.split(",") if kind] or list(peer_cases.KINDS)
    unknown = [kind for kind in kinds if kind not in peer_cases.KINDS]
    if unknown or args.turns < 1:
        parser.error(f"unknown kind {unknown[0]}" if unknown else "--turns: at least 1")
    backend = peer_cases.backend_for(args.device)
    records = []
    for case in peer_cases.cases(backend, kinds):
        contenders = check(backend, case, case.contenders())
        times = run_turns(backend, contenders, args.turns)
        show(case, times)
        records += records_of(case, times, args.device, backend.device_name)
    path = args.json or (DEFAULT_JSON if args.device.startswith("cuda") else None)
    if path:
        path.write_text(json.dumps({"schema": 1, "device": args.device, "records": records}, indent=1) + "\n")
        print(f"{len(records)} records in {path}", file=sys.stderr)
    return 0 if records else 1


if __name__ == "__main__":
    sys.exit(main())
