# SPDX-License-Identifier: Apache-2.0
"""The parts of a source file that the simulator's pass compiles as device code."""
import re

import source_tree

CONDITIONS = {"if ROOFTILE_DEVICE_CODE": True, "if !ROOFTILE_DEVICE_CODE": False,
              "ifdef __CUDACC__": False, "ifndef __CUDACC__": True}
FUNCTION = re.compile(r"\b(?:__global__|__device__|ROOFTILE_HD)\b")
CONSTANT = re.compile(r"\bconstexpr (?:unsigned )?\w+ k\w+ = ([^;]*);")
OPEN, CLOSE = "([{", ")]}"


def device_text(text):
    """`text` at the same places, blanks where there are comments, strings, directives, and what the
    simulator's pass does not see."""
    text = source_tree.code_only(text)
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', lambda m: " " * len(m[0]), text)
    lines, seen = [], [True]
    for line in text.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)\s*(.*)", line)
        if directive:
            word = " ".join(directive.groups()).strip()
            if directive[1] in ("if", "ifdef", "ifndef"):
                seen.append(CONDITIONS.get(word, True))
            elif directive[1] == "else":
                seen[-1] = not seen[-1]
            elif directive[1] == "endif":
                seen.pop()
        hidden = directive or not all(seen) or re.match(r"\s*(?:static_assert|using|ROOFTILE_KERNEL)\b", line)
        lines.append(" " * len(line) if hidden else line)
    return "\n".join(lines)


def closing(text, at):
    """The place of the bracket that closes the one at `at`; the text's end where there is none."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in OPEN) - (text[i] in CLOSE)
        if depth == 0:
            return i
    return len(text)


def body_after(text, at):
    """(begin, end) of the function whose declaration is at `at`, its initialiser list with it."""
    begin = None
    while at < len(text):
        if text[at] == "{":
            return (at if begin is None else begin, closing(text, at))
        if text[at] == ";":
            return None
        if text[at] == ":" and ":" not in (text[at - 1], text[at + 1]) and begin is None:
            begin = at
        at = closing(text, at) + 1 if text[at] in "([" else at + 1
    return None


def regions(text):
    """(begin, end) of each body of a device function and of each constant's value, in order."""
    bodies = {body_after(text, match.end()) for match in FUNCTION.finditer(text)} - {None}
    bodies = [b for b in bodies if not any(o[0] < b[0] and b[1] <= o[1] for o in bodies)]
    constants = [m.span(1) for m in CONSTANT.finditer(text) if not any(b <= m.start() < e for b, e in bodies)]
    return sorted(bodies + constants)
