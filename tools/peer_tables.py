# SPDX-License-Identifier: Apache-2.0
"""Tables of records that benchmarks/peers.py wrote: a row for a problem, a column for each peer."""
import json
import re

# A peer is in the first column whose pattern it matches.
COLUMNS = [("as 2 kernels", r"norm/2_kernels"), ("the product alone", r"norm/product_alone"), ("as 3 kernels", r"chain/3_kernels"),
           ("as 4 kernels", r"chain/4_kernels"), ("cuBLASLt through Rooftile", r"gemm/cublaslt"), ("PyTorch", r"torch/eager"),
           ("its own fused calls", r"torch/(?!compile)"), ("torch.compile", r"torch/compile"), ("Triton", r"triton/")]
GROUPS = [("Operations on rows", lambda op: op not in ("gemm", "chain", "norm")), ("Matrix products", lambda op: op == "gemm"),
          ("Two layers: up, bias, gelu, down", lambda op: op == "chain"), ("A norm before a product", lambda op: op == "norm")]
MODES = {"cold": "", "graph": ", in a CUDA graph"}


def column_of(record):
    peer = record["against"]["kernel"]
    for title, pattern in COLUMNS:
        if re.match(pattern, peer):
            return title
    raise SystemExit(f"no column for {peer}")


def problem_text(record):
    """The problem as a reader names it: axes, what is fused, how it ran."""
    words = record["problem"].split()
    axes = " ".join(word for word in words[1:] if re.fullmatch(r"(m|n|k|d|f|rows|cols)=\d+", word))
    fused = " + residual" if any(word.startswith("residual=") for word in words) else ""
    return f"{record['op']}{fused} {axes}{MODES[record['mode']]}"


def cell(against):
    ratio = against["ratio"]
    text = f"{ratio['median']:.2f} ({ratio['p10']:.2f} to {ratio['p90']:.2f})"
    return f"**{text}**" if against["verdict"] == "faster" else text


def best_cell(records):
    """Of several peers in one column, the fastest."""
    return cell(min(records, key=lambda r: r["against"]["time_us"]["median"])["against"]) if records else ""


def table(records, time_text):
    rows = {}
    for record in records:
        rows.setdefault(problem_text(record), []).append(record)
    used = [title for title, _ in COLUMNS if any(column_of(r) == title for r in records)]
    lines = ["| problem | Rooftile | " + " | ".join(used) + " |", "|---" * (2 + len(used)) + "|"]
    for problem, of_row in rows.items():
        kernel = of_row[0]["kernel"].split("/")[1]
        cells = [problem, f"{time_text(of_row[0]['time_us']['median'])} {kernel}"]
        cells += [best_cell([r for r in of_row if column_of(r) == title]) for title in used]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def peers_table(root, path, time_text):
    records = [r for r in json.loads((root / path).read_text())["records"] if r["status"] == "passed" and "against" in r]
    if not records:
        raise SystemExit(f"{path}: no record of a peer")
    lines = []
    for title, belongs in GROUPS:
        if of_group := [r for r in records if belongs(r["op"])]:
            lines += [f"{title}:", "", *table(of_group, time_text), ""]
    versions = sorted({word for r in records for word in r["against"]["kernel"].split() if re.match(r"(torch|triton)=", word)})
    lines.append(f"The peer's time over Rooftile's: median (p10 to p90) of pairs in turns, above 1 where Rooftile took less time, "
                 f"measured on {records[0]['device_name']}, {records[0]['date'][:10]}, bf16, caches flushed before every call "
                 f"but in graphs; {', '.join(versions).replace('=', ' ')}. [{path}]({path}) has every time and command.")
    return "\n".join(lines) + "\n"
