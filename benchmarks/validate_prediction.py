#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Has the simulator predict the launches that an H200 was timed with, alone and with flushed caches.

For each such record of a kernel of ours in records/h200/ the same kernel, problem and configuration are
simulated; writes records/sim/predicted.json. tools/make_tables makes a table of it, and a test
recomputes each prediction from its counters. Takes minutes; records of more than 2e11 operations, which
would take many more, are left out.

Usage: benchmarks/validate_prediction.py [--program FILE] [--out FILE]
       FILE: rooftile, built with nvcc's register counts (the preset cuda).
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MEASURED = ["rows.json", "gemm.json"]
MOST_OPERATIONS = 2e11


def predicted(program, measured):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        command = [program, "bench", *measured["problem"].split(), "--on", "sim:h200", "--json", out.name]
        if measured.get("config"):
            command += ["--config", measured["config"]]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        record = json.loads(pathlib.Path(out.name).read_text())["records"][0]
    for launch in record["launches"]:
        launch.pop("lines", None)
    return record


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "build/rooftile"))
    parser.add_argument("--out", default=str(ROOT / "records/sim/predicted.json"))
    options = parser.parse_args()
    records = []
    for name in MEASURED:
        for measured in json.loads((ROOT / "records/h200" / name).read_text())["records"]:
            if measured["status"] != "passed" or measured.get("mode") != "cold":
                continue
            if measured.get("tflops", 0) * measured["time_us"]["median"] * 1e6 > MOST_OPERATIONS:
                continue
            records.append(predicted(options.program, measured))
            median = measured["time_us"]["median"]
            print(f"{measured['problem']}: measured {median:.1f} us, predicted {records[-1]['predicted_us']:.1f} us "
                  f"({(records[-1]['predicted_us'] / median - 1) * 100:+.1f} %)", flush=True)
    pathlib.Path(options.out).write_text(json.dumps({"schema": 1, "device": "sim:h200", "records": records}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
