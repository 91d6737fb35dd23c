# SPDX-License-Identifier: Apache-2.0
"""The rules by which faults are planted. Each looks at device code and yields Change(begin, end, text).

The kinds of change are those of R. DeMillo, R. Lipton and F. Sayward, "Hints on Test Data Selection",
1978, and of later work on threads (J. Bradbury, J. Cordy and J. Dingel, "Mutation Operators for
Concurrent Java", 2006), for what GPU kernels are made of.
"""
import collections
import hashlib
import re

from mutation import source

Change = collections.namedtuple("Change", "begin end text")
Mutant = collections.namedtuple("Mutant", "file line rule what begin end text")

SYNCHRONISES = (r"__syncthreads|__syncwarp|mbarrier_\w+|fence_\w+|named_barrier_\w+|wgmma_fence|wgmma_commit_group"
                r"|wgmma_wait_group|bulk_commit|bulk_wait\w*|setmaxnreg_\w+|tensor_map_\w+|cp_async_\w+|cluster_\w+")
SYNC_CALL = re.compile(rf"\b(?:{SYNCHRONISES})(?:<(\d+)>)?\(")
COUNTED = re.compile(r"\b(?:mbarrier_init|mbarrier_arrive_expect_tx|named_barrier_sync)\(")
NUMBER = re.compile(r"(?<![\w.'])(?:0x[0-9a-fA-F]+|\d+)(?=[uUlL]*(?![\w.]))")
NAMED = re.compile(r"(?<![\w:<\[])(?:\w+::)?k[A-Z]\w*(?![\w<(:>\]])")
STATEMENT = re.compile(r"(?<=[;{}])\s+(?=[\w*])")
ASSIGNMENT = re.compile(r"\*?[\w.>()-]+(?:\[[^;=]*?\])*\s[-+*/^]?=\s")
CALL = re.compile(r"[\w.:]+(?:<[\w, ]*>)?\(")
LOOP_OR_JUMP = re.compile(r"(?:return|for|if|while|do|switch|case|default|else|using|const|auto|ROOFTILE\w*)\b")
EXCHANGES = {
    "bound": {" < ": " <= ", " > ": " >= ", " <= ": " < ", " >= ": " > ", " == ": " != ", " != ": " == "},
    "condition": {" && ": " || ", " || ": " && "},
    "arithmetic": {" + ": " - ", " - ": " + ", " * ": " + ", " / ": " * ", " % ": " / ", " ^ ": " | ",
                   " += ": " -= ", " *= ": " /= ", " /= ": " *= "},
}


def last_argument(code, opening):
    end = source.closing(code, opening)
    begin, depth = opening + 1, 0
    for i in range(opening + 1, end):
        depth += (code[i] in source.OPEN) - (code[i] in source.CLOSE)
        if code[i] == "," and depth == 0:
            begin = i + 1
    begin += len(code[begin:end]) - len(code[begin:end].lstrip())
    return begin, end


def removed_synchronisation(code, begin, end):
    for match in SYNC_CALL.finditer(code, begin, end):
        last = source.closing(code, match.end() - 1)
        if code[last + 1] == ";":
            yield Change(match.start(), last + 1, "(void)0")


def weaker_wait(code, begin, end):
    """A wait for all but N groups waits for all but N + 1."""
    for match in SYNC_CALL.finditer(code, begin, end):
        if match[1] is not None and "wait" in match[0]:
            yield Change(*match.span(1), str(int(match[1]) + 1))


def flipped_parity(code, begin, end):
    for match in re.finditer(r"\bmbarrier_wait\(", code[:end]):
        if match.start() >= begin:
            first, last = last_argument(code, match.end() - 1)
            yield Change(first, last, f"({code[first:last]}) ^ 1")


def counts(code, begin, end):
    """Arrivals, threads and bytes that a barrier expects."""
    for match in COUNTED.finditer(code, begin, end):
        first, last = last_argument(code, match.end() - 1)
        step = 32 if "named" in match[0] else 1
        for sign in "+-":
            yield Change(first, last, f"({code[first:last]}) {sign} {step}")


def swizzles(code, begin, end):
    for match in re.finditer(r"Swizzle::bytes128", code[:end]):
        if match.start() >= begin:
            yield Change(*match.span(), "Swizzle::bytes64")


def numbers(code, begin, end):
    for match in NUMBER.finditer(code, begin, end):
        if not code[:match.start()].endswith("wait_group<"):
            value = int(match[0], 0) + 1
            yield Change(*match.span(), hex(value) if match[0].startswith("0x") else str(value))


def constants(code, begin, end):
    for match in NAMED.finditer(code, begin, end):
        if not re.search(r"(?:constexpr \w+ |#\w+ )$", code[:match.start()]):
            yield Change(*match.span(), f"({match[0]} + 1)")


def exchanges(rule):
    def changes(code, begin, end):
        for old, new in EXCHANGES[rule].items():
            at = code.find(old, begin, end)
            while at >= 0:
                yield Change(at, at + len(old), new)
                at = code.find(old, at + 1, end)
    return changes


def dropped_conditions(code, begin, end):
    for match in re.finditer(r"\bif \(", code[:end]):
        if match.start() >= begin:
            yield Change(match.end(), source.closing(code, match.end() - 1), "true")


def removed_statements(code, begin, end):
    for match in STATEMENT.finditer(code, begin, end):
        first = match.end()
        last = code.find(";", first)
        text = code[first:last]
        if LOOP_OR_JUMP.match(text) or SYNC_CALL.match(text) or "{" in text or text.count("(") != text.count(")"):
            continue
        if ASSIGNMENT.match(text) or (CALL.match(text) and text.endswith(")")):
            yield Change(first, last, "(void)0")


# Rule: what it says, how it finds places, and of how many such places one is taken.
RULES = {
    "synchronisation": ("a wait, fence, barrier, arrival or commit removed", removed_synchronisation, 1),
    "wait": ("a wait leaves one more group under way", weaker_wait, 1),
    "parity": ("the parity of a wait flipped", flipped_parity, 1),
    "count": ("arrivals, threads or bytes of a barrier changed", counts, 1),
    "swizzle": ("another swizzle on one side", swizzles, 1),
    "bound": ("a comparison changed", exchanges("bound"), 5),
    "condition": ("&& and || exchanged", exchanges("condition"), 1),
    "mask": ("a condition always true", dropped_conditions, 2),
    "number": ("an integer changed by one", numbers, 9),
    "constant": ("a named constant changed by one", constants, 8),
    "arithmetic": ("an operator changed", exchanges("arithmetic"), 14),
    "statement": ("a statement removed", removed_statements, 4),
}


def is_taken(file, rule, what, text, one_of):
    """Whether it is one of the sample: by what it is, so that lines added elsewhere change nothing."""
    digest = hashlib.sha256("\0".join((file, rule, what, text.strip())).encode()).digest()
    return int.from_bytes(digest[:4], "big") % one_of == 0


def short(text):
    return " ".join(text.split())


def mutants_of(file, text, share=1):
    """Every mutant of a file's text that the sample takes, in the order of the file; `share` times more."""
    code = source.device_text(text)
    found = set()
    for begin, end in source.regions(code):
        for rule, (_, changes, one_of) in RULES.items():
            for change in changes(code, begin, end):
                found.add((change, rule, one_of))
    seen = collections.Counter()
    for change, rule, one_of in sorted(found):
        line = code.count("\n", 0, change.begin) + 1
        old = code[change.begin:change.end]
        what = f"{short(old) or old} -> {short(change.text)}" if change.text != "(void)0" else f"without {short(old)}"
        seen[line, rule, what] += 1
        number = seen[line, rule, what]
        column = change.begin - text.rfind("\n", 0, change.begin)
        if is_taken(file, rule, f"{what}@{column}", text.splitlines()[line - 1], max(1, one_of // share)):
            yield Mutant(file, line, rule, what if number == 1 else f"{what} ({number} of the line)", *change)
