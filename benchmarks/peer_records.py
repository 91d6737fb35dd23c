# SPDX-License-Identifier: Apache-2.0
"""What peers.py makes of its times: quantiles, ratios, records as docs/records.schema.json has them."""
import datetime

SAME_WITHIN = 0.03


def quantiles(values):
    ordered = sorted(values)
    at = lambda share: ordered[round(share * (len(ordered) - 1))]
    return {"median": at(0.5), "p10": at(0.1), "p90": at(0.9), "n": len(ordered)}


def ratios(theirs, ours):
    """Of each turn's pair: above 1 where ours took less time."""
    return quantiles([their / our for their, our in zip(theirs, ours, strict=True)])


def verdict(ratio):
    if ratio["p10"] > 1:
        return "faster"
    if ratio["p90"] < 1:
        return "slower"
    return "same" if ratio["p10"] > 1 - SAME_WITHIN and ratio["p90"] < 1 + SAME_WITHIN else "cannot tell"


def rotated(names, turn):
    """Who runs when: everyone is first, second … as often as the others."""
    shift = turn % len(names)
    return names[shift:] + names[:shift]


def records_of(case, times, run):
    """One record for each peer. `times`: microseconds by contender, entry i of all lists of turn i; "rooftile" is
    what the others are compared with. `run`: what all records of a run share."""
    ours = quantiles(times["rooftile"])
    seconds = ours["median"] * 1e-6
    base = {"schema": 1, "op": case.op, "kernel": case.kernel, "problem": case.line, "origin": "measured",
            "status": "passed", "time_us": ours, "tflops": case.operations / seconds / 1e12,
            "gbytes_per_s": case.bytes / seconds / 1e9, "intensity": case.operations / case.bytes,
            "mode": case.mode, "data": "randn seed=0", "code_hash": case.code_hash,
            "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), **run}
    for peer, theirs in times.items():
        if peer != "rooftile":
            ratio = ratios(theirs, times["rooftile"])
            yield {**base, "against": {"kernel": case.notes.get(peer, peer), "time_us": quantiles(theirs),
                                       "ratio": ratio, "verdict": verdict(ratio)}}


def lines_of(case, times):
    """The same to read."""
    yield f"{case.title}, {case.mode}: {case.line}"
    for name, values in times.items():
        us, ratio = quantiles(values), ratios(values, times["rooftile"])
        yield (f"  {case.notes.get(name, name):60} {us['median']:9.2f} us ({us['p10']:.2f} to {us['p90']:.2f}) "
               f"{case.operations / us['median'] / 1e6:7.1f} TFLOP/s {case.bytes / us['median'] / 1e3:6.0f} GB/s"
               f"  Rooftile {ratio['median']:.3f}x as fast ({ratio['p10']:.3f} to {ratio['p90']:.3f})")
