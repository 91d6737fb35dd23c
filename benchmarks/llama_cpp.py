#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rooftile against llama.cpp on one model file: the same choices, and who is faster.

Needs the Python package xllamacpp (benchmarks/requirements.txt) and a built program.

  benchmarks/llama_cpp.py MODEL.gguf [--threads N] [--json FILE]

Agreement: llama.cpp writes 64 greedy tokens for each of 10 prompts; `rooftile check --reference`
computes the same places on llama.cpp's own tokens, and lists every other choice with llama.cpp's gap.
Speed: both run the same prompt in turns, the same threads; ratios are of each turn's pair.
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import urllib.request

import xllamacpp

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROMPTS = [
    "The quick brown fox",
    "Water boils at a temperature of",
    "def fibonacci(n):\n    ",
    "Once upon a time, in a small village by the sea, there lived",
    "The three laws of thermodynamics are",
    "Dear Sir or Madam,\n\nI am writing to",
    "Question: What is the capital of France?\nAnswer:",
    "1, 1, 2, 3, 5, 8, 13,",
    "Die Hauptstadt von Deutschland ist",
    "{\"name\": \"roof\", \"tiles\": [",
]
PROMPT_TOKENS = 512  # of the speed runs
DECODE_TOKENS = 64


def server(path, threads):
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    return xllamacpp.Server(params)


def post(llama, path, body):
    """Its server listens on this machine alone; tokens are asked for there."""
    request = urllib.request.Request(llama.listening_address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def tokens_of(llama, text):
    return post(llama, "/tokenize", {"content": text, "add_special": True})["tokens"]


def complete(llama, ids, count, top=0):
    request = {"prompt": ids, "max_tokens": count, "temperature": 0, "cache_prompt": False, "ignore_eos": not top}
    if top:
        request["logprobs"] = top
    return llama.handle_completions(request)


def reference(llama):
    """What `rooftile check --reference` reads."""
    sequences = []
    for text in PROMPTS:
        ids = tokens_of(llama, text)
        content = complete(llama, ids, DECODE_TOKENS, top=2)["choices"][0]["logprobs"]["content"]
        firsts = [step["id"] for step in content]
        seconds = [next(t for t in step["top_logprobs"] if t["id"] != step["id"]) for step in content]
        gaps = [step["logprob"] - second["logprob"] for step, second in zip(content, seconds)]
        sequences.append({"prompt_ids": ids, "token_ids": firsts, "second_ids": [s["id"] for s in seconds], "gaps": gaps})
    return {"sequences": sequences}


def run(program, arguments, threads, **options):
    environment = dict(os.environ, ROOFTILE_THREADS=str(threads), NO_COLOR="1")
    return subprocess.run([program, *arguments], env=environment, text=True, capture_output=True, **options)


def agreement(program, model, llama, threads):
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "reference.json"
        path.write_text(json.dumps(reference(llama)))
        for activations in ("exact", "q8"):
            out = pathlib.Path(folder) / f"{activations}.json"
            done = run(program, ["check", model, "--reference", str(path), "--activations", activations, "--json", str(out)], threads)
            print(done.stdout, end="")
            sys.stderr.write(done.stderr)
            if not out.exists():
                raise SystemExit(f"check wrote nothing (exit status {done.returncode})")
            results[activations] = json.loads(out.read_text())
    return results


def ours(program, model, text, threads, activations):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run.json"
        command = ["run", model, "--prompt", text, "--max-tokens", str(DECODE_TOKENS), "--ignore-end", "--activations", activations, "--json", str(out)]
        done = run(program, command, threads)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        result = json.loads(out.read_text())
    prefill, decode = result["prefill"], result["decode"]
    return prefill["tokens"] / prefill["time_us"] * 1e6, decode["tokens"] / sum(decode["time_us"]) * 1e6


def theirs(llama, ids):
    timings = complete(llama, ids, DECODE_TOKENS)["timings"]
    return timings["prompt_per_second"], timings["predicted_per_second"]


def quantiles(values):
    values = sorted(values)
    at = lambda share: values[round(share * (len(values) - 1))]
    return {"median": statistics.median(values), "p10": at(0.1), "p90": at(0.9), "n": len(values)}


def long_text(llama):
    """A text of PROMPT_TOKENS tokens from the project's own words."""
    words = " ".join((ROOT / "ARCHITECTURE.md").read_text().split())
    ids = tokens_of(llama, words)[:PROMPT_TOKENS]
    return post(llama, "/detokenize", {"tokens": ids})["content"]


def speed(program, model, llama, threads, turns):
    text = long_text(llama)
    ids = tokens_of(llama, text)
    rates = {name: {"prefill": [], "decode": []} for name in ("llama.cpp", "exact", "q8")}
    for turn in range(turns + 1):
        measured = {"llama.cpp": theirs(llama, ids)}
        for activations in ("exact", "q8"):
            measured[activations] = ours(program, model, text, threads, activations)
        if turn == 0:
            continue  # warm-up
        for name, (prefill, decode) in measured.items():
            rates[name]["prefill"].append(prefill)
            rates[name]["decode"].append(decode)
    result = {"prompt_tokens": len(ids), "decode_tokens": DECODE_TOKENS, "tokens_per_s": {}, "ratio": {}}
    for name, phases in rates.items():
        result["tokens_per_s"][name] = {phase: quantiles(values) for phase, values in phases.items()}
        if name != "llama.cpp":
            result["ratio"][name] = {
                phase: quantiles([a / b for a, b in zip(values, rates["llama.cpp"][phase])]) for phase, values in phases.items()
            }
    return result


def print_speed(result):
    print(f"\n{'':12}{'prefill tokens/s':>28}{'decode tokens/s':>28}")
    for name, phases in result["tokens_per_s"].items():
        cells = "".join(f"{phases[p]['median']:>12.1f} [{phases[p]['p10']:.1f}-{phases[p]['p90']:.1f}]".rjust(28) for p in ("prefill", "decode"))
        print(f"{name:12}{cells}")
    for name, phases in result["ratio"].items():
        print(f"{name} against llama.cpp: prefill {phases['prefill']['median']:.2f}x [{phases['prefill']['p10']:.2f}-{phases['prefill']['p90']:.2f}],"
              f" decode {phases['decode']['median']:.2f}x [{phases['decode']['p10']:.2f}-{phases['decode']['p90']:.2f}]")


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--program", default=str(ROOT / "build" / "rooftile"))
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--json", help="write the record there")
    arguments = parser.parse_args()
    llama = server(arguments.model, arguments.threads)
    record = {
        "schema": 1,
        "origin": "measured",
        "model": pathlib.Path(arguments.model).name,
        "peer": f"llama.cpp by xllamacpp {xllamacpp.__version__}",
        "device_name": f"{processor()}, {arguments.threads} threads",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": f"benchmarks/llama_cpp.py {pathlib.Path(arguments.model).name} --threads {arguments.threads} --turns {arguments.turns}",
        "agreement": agreement(arguments.program, arguments.model, llama, arguments.threads),
        "speed": speed(arguments.program, arguments.model, llama, arguments.threads, arguments.turns),
    }
    print_speed(record["speed"])
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
