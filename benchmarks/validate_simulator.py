#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lays the simulated GPU beside a real one: results bit by bit, counters by Nsight Compute.

Runs build/tests/simulator_validation on both, and on the real one under ncu as well, and writes
records/h200/simulator.json. tools/make_tables makes the page of it.

Usage: benchmarks/validate_simulator.py [--program FILE] [--gpu cuda:0] [--simulated sim:h200] [--out FILE]
       benchmarks/validate_simulator.py --replay      The simulator against the record; no GPU, nothing written.

Exit status 1 when results differ, when requests, sectors or shared memory's requests differ at all, or when
its wavefronts differ by more than 5 % (where warps contend, the hardware counts some more).
"""
import argparse
import csv
import datetime
import io
import json
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXACT = ["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
         "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
         "smsp__inst_executed_op_shared_ld.sum", "smsp__inst_executed_op_shared_st.sum"]
CLOSE = ["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"]
SHOWN = list(zip(["loads", "sectors", "stores", "sectors", "shared loads", "shared stores", "wavefronts of loads",
                  "of stores"], EXACT + CLOSE))
CONTENTION = 0.05
# nvcc puts three loads that are switched off before each cp.async (@!PT LDS RZ, [RZ] in SASS), and the GPU counts them.
SWITCHED_OFF = {"smsp__inst_executed_op_shared_ld.sum": (3, "smsp__inst_executed_op_ldgsts.sum")}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{shlex.join(command)}: exit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def launches_of(program, device):
    return [json.loads(line) for line in run([program, device]).splitlines()]


def number(text):
    return round(float(text.replace(",", "")))


def counters_of(program, device, metrics):
    """What ncu counted of each launch, in order."""
    text = run(["ncu", "--clock-control", "none", "--csv", "--page", "raw", "--metrics", ",".join(metrics), program, device])
    table = text[text.index('"ID"'):]
    rows = list(csv.DictReader(io.StringIO(table)))[1:]  # the first row holds the units
    return [{m: number(row[m]) for m in metrics if row.get(m)} for row in rows]


def state_of_gpu():
    fields = "name,driver_version,clocks.sm,power.draw,temperature.gpu"
    return run(["nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader"]).splitlines()[0]


def differences_of(launch):
    found = []
    if launch["hash"][0] != launch["hash"][1]:
        found.append("bits")
    for metric, (gpu, simulated) in launch["counters"].items():
        if metric in SWITCHED_OFF:
            each, of = SWITCHED_OFF[metric]
            gpu -= each * launch["counters"].get(of, [0])[0]
        if metric in EXACT and gpu != simulated:
            found.append(f"{metric}: {gpu} and {simulated}")
        if metric in CLOSE and abs(gpu - simulated) > CONTENTION * max(gpu, 1):
            found.append(f"{metric}: {gpu} and {simulated}")
    return [f"{launch['name']} ({launch['what']}): {what}" for what in found]


def replay(simulated, record):
    """Kernels of the catalogue change; their results must not, but what they count may."""
    found = []
    for sim, was in zip(simulated, record["launches"], strict=True):
        if (sim["name"], sim["what"]) != (was["name"], was["what"]):
            sys.exit(f"{sim['name']} ({sim['what']}) stands where the record has {was['name']} ({was['what']})")
        counters = {} if sim["what"] == "a kernel of the catalogue" else {
            m: [gpu, sim["counters"][m]] for m, (gpu, _) in was["counters"].items()}
        found += differences_of({**was, "hash": [was["hash"][0], sim["hash"]], "counters": counters})
    print("\n".join(found) or f"{len(simulated)} launches as on {record['device'].split(',')[0]}")
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/tests/simulator_validation"))
    parser.add_argument("--gpu", default="cuda:0")
    parser.add_argument("--simulated", default="sim:h200")
    parser.add_argument("--out", default=str(ROOT / "records/h200/simulator.json"))
    parser.add_argument("--replay", action="store_true")
    options = parser.parse_args()

    simulated = launches_of(options.program, options.simulated)
    if options.replay:
        return replay(simulated, json.loads(pathlib.Path(options.out).read_text()))
    real = launches_of(options.program, options.gpu)
    counted = counters_of(options.program, options.gpu, sorted(simulated[0]["counters"]))
    if not len(simulated) == len(real) == len(counted):
        sys.exit(f"{len(simulated)} launches simulated, {len(real)} on {options.gpu}, {len(counted)} under ncu")

    launches = []
    for sim, gpu, counters in zip(simulated, real, counted):
        launches.append({"name": sim["name"], "what": sim["what"], "hash": [gpu["hash"], sim["hash"]],
                         "counters": {m: [value, sim["counters"][m]] for m, value in counters.items()}})
    record = {"schema": 1, "device": state_of_gpu(), "date": datetime.datetime.now(datetime.timezone.utc).isoformat(),
              "command": "benchmarks/validate_simulator.py", "shown": SHOWN,
              "differences": [d for launch in launches for d in differences_of(launch)], "launches": launches}
    pathlib.Path(options.out).write_text(json.dumps(record, indent=1) + "\n")
    for difference in record["differences"]:
        print(difference)
    print(f"{len(launches)} launches, {len(record['differences'])} differences: {options.out}")
    return 1 if record["differences"] else 0


if __name__ == "__main__":
    sys.exit(main())
