# SPDX-License-Identifier: Apache-2.0
"""What a run of mutants came to: outcomes, counts, and the reasons of those that nothing caught."""
import collections
import json
import pathlib

SURVIVORS = pathlib.Path(__file__).with_name("survivors.json")
# Outcomes. Only `caught` and `compiler` count for the checks, only `survived` and `time-out` against.
CAUGHT, COMPILER, SAME_CODE, EQUIVALENT = "caught", "compiler", "same code", "equivalent"
SURVIVED, TIME_OUT, CRASH, UNEXPLAINED = "survived", "time-out", "crash", "unexplained"


def name_of(mutant):
    return f"{mutant.file}:{mutant.line}: {mutant.what}"


class Reasons:
    """Why a mutant is not caught, from survivors.json: found by what it is, not by its line's number."""

    def __init__(self, path=SURVIVORS):
        self.entries = json.loads(path.read_text())
        self.used = set()

    def of(self, mutant, code_line):
        for i, entry in enumerate(self.entries):
            if (entry["file"], entry["what"], entry["code"]) == (mutant.file, mutant.what, code_line.strip()):
                self.used.add(i)
                return entry
        return None

    def unused(self, files):
        return [e for i, e in enumerate(self.entries) if i not in self.used and e["file"] in files]


def counts(records):
    """Counts of a run, and the share of mutants that are not equivalent that was caught."""
    outcomes = collections.Counter(r["outcome"] for r in records)
    by_rule = collections.defaultdict(collections.Counter)
    for r in records:
        by_rule[r["rule"]][r["outcome"]] += 1
    caught = outcomes[CAUGHT] + outcomes[COMPILER]
    real = len(records) - outcomes[SAME_CODE] - outcomes[EQUIVALENT]
    return {"mutants": len(records), "outcomes": dict(sorted(outcomes.items())),
            "checks": dict(collections.Counter(r["check"] for r in records if r["outcome"] == CAUGHT).most_common()),
            "rules": {rule: dict(sorted(c.items())) for rule, c in sorted(by_rule.items())},
            "not_equivalent": real, "caught_percent": round(100 * caught / real, 1) if real else 0.0}


def print_summary(summary):
    print(f"{summary['mutants']} mutants: " + ", ".join(f"{n} {o}" for o, n in summary["outcomes"].items()))
    print("caught by: " + ", ".join(f"{check} {n}" for check, n in summary["checks"].items()))
    print(f"caught: {summary['caught_percent']} % of {summary['not_equivalent']} that are not equivalent")
