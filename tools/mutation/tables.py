# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/simulator_mutations.md, from the record that tools/mutate_kernels writes."""
import json

from mutation import report

COLUMNS = {"caught": report.CAUGHT, "by the compiler": report.COMPILER, "same code": report.SAME_CODE,
           "equivalent": report.EQUIVALENT, "not caught": report.SURVIVED, "time-out": report.TIME_OUT,
           "crash": report.CRASH}


def by_rule(record):
    lines = ["| rule | what it changes | mutants | " + " | ".join(COLUMNS) + " |", "|---" * (3 + len(COLUMNS)) + "|"]
    for rule, text in record["rules"].items():
        outcomes = record["summary"]["rules"].get(rule, {})
        cells = [f"`{rule}`", text.replace("|", "\\|"), str(sum(outcomes.values()))] + [str(outcomes.get(o, 0)) for o in COLUMNS.values()]
        lines.append("| " + " | ".join(cells) + " |")
    outcomes = record["summary"]["outcomes"]
    lines.append("| all | | " + " | ".join([str(record["summary"]["mutants"])] + [str(outcomes.get(o, 0)) for o in COLUMNS.values()]) + " |")
    return lines


def by_check(record):
    return ["| caught first by | mutants |", "|---|---|"] + [f"| {check} | {n} |" for check, n in record["summary"]["checks"].items()]


def with_reasons(record):
    lines = ["| mutant | verdict | why |", "|---|---|---|"]
    for mutant in record["mutants"]:
        if "why" in mutant:
            name = mutant["name"].replace("|", "\\|")
            lines.append(f"| `{name}` | {mutant['outcome']} | {mutant['why']} |")
    return lines


def unmutated(record):
    runs = record["unmutated"]
    wrong = [r for r in runs if r["check"] != "nothing found"]
    least = min((r["schedules"] for r in runs), default=0)
    sets = " and ".join(sorted({r["sets"] for r in runs}))
    return (f"The {len(runs)} kernels as they are, under {least} schedules or more of each problem of the sets {sets}: "
            + (f"{len(wrong)} with findings." if wrong else "nothing found."))


def mutations_table(root, path):
    record = json.loads((root / path).read_text())
    summary, first = record["summary"], record["runs"][0]
    lines = [f"**{summary['caught_percent']} % of the {summary['not_equivalent']} mutants whose change can be observed "
             f"are caught.** {unmutated(record)} `{first['command']}`, {first['date'][:10]}"
             f"{', and parts again' if len(record['runs']) > 1 else ''}; [{path}]({'../' + path}) has each mutant, the check that caught it, the problem and what was said.", ""]
    for part in (by_rule(record), by_check(record), with_reasons(record)):
        lines += part + [""]
    return "\n".join(lines[:-1]) + "\n"
