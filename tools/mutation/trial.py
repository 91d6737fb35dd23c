# SPDX-License-Identifier: Apache-2.0
"""Builds a kernel for the simulator with a changed file, and verifies it in a process of its own."""
import json
import pathlib
import re
import resource
import signal
import subprocess
import threading

import source_tree
from mutation import targets

FINDING = re.compile(r"findings\n\s+([\w ]+): ([^\n]*)")
OTHER_BITS = ("not repeatable", "gives other bits", "not batch-invariant")
MEMORY = ("wrote outside ", "changed input ")


def run(command):
    """What a command prints that must succeed whatever the mutant is."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[:2000]}")
    return done.stdout


class Builder:
    """`settings`: build/mutation/build.json, which the build writes. All it makes is in `folder`."""

    def __init__(self, settings, folder):
        self.settings = json.loads(pathlib.Path(settings).read_text())
        self.folder = folder
        self.originals = {}
        self.building_originals = threading.Lock()  # jobs need the same one, and would write it at once

    def build(self, kernel, where, changed=None):
        """The object of `kernel`'s code in `where`, `changed` (file, text) in it; None: does not compile."""
        where.mkdir(parents=True, exist_ok=True)
        source = source_tree.ROOT / targets.source_of(kernel)
        includes = [f"-I{source_tree.ROOT}"]
        if changed:
            overlay = where / "changed"
            path = overlay / changed[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(changed[1])
            includes.insert(0, f"-I{overlay}")
            source = path if changed[0] == targets.source_of(kernel) else source
            includes.append(f"-ffile-prefix-map={overlay}={source_tree.ROOT}")
        every, kept = where / "all.o", where / "kernel.o"
        compiler, objcopy = self.settings["compiler"], self.settings["objcopy"]
        done = subprocess.run([compiler, *self.settings["flags"], "-w", *includes, "-c", source, "-o", every],
                              capture_output=True, text=True)
        if done.returncode != 0:
            said = next((line for line in done.stderr.splitlines() if "error:" in line), done.stderr[:200])
            return None, said.replace(f"{where / 'changed'}/", "").replace(f"{source_tree.ROOT}/", "")
        run([compiler, "-r", "-nostdlib", "-Wl,--force-group-allocation", every, "-o", kept])
        run([objcopy, *self.settings["objcopy_flags"], kept])
        return kept, ""

    def code(self, built):
        """The machine code, its relocations and the constants of an object: equal ones do the same. Why not
        data and strings: those are of the files, lines and columns that a check of an index would name."""
        bare = built.with_suffix(".bare")
        run([self.settings["objcopy"], "--strip-debug", built, bare])
        lines = run([self.settings["objdump"], "-d", "-r", "-s", bare]).split("\n")[2:]
        sections = "\n".join(lines).split("Contents of section ")
        return [text for text in sections if not text.startswith((".data:", ".data.rel.local:", ".rodata.str"))]

    def is_the_original(self, kernel, built):
        with self.building_originals:
            if kernel not in self.originals:
                self.originals[kernel] = self.code(self.build(kernel, self.folder / "original" / kernel)[0])
        return self.code(built) == self.originals[kernel]

    def link(self, built):
        """A program in which the object stands before the library's own, which is then left out."""
        program = built.with_name("verify_kernel")
        settings = self.settings
        run([settings["compiler"], *settings["objects"], built, "-Wl,--start-group", *settings["libraries"],
                        "-Wl,--end-group", *settings["options"], "-o", program])
        return program


def verify(program, kernel, schedules, cpu_seconds, sets="all"):
    """(check, problem, what it said) of the first fault; check is None where all passed. Why a limit of
    processor time: a kernel that never ends is told from one on a busy machine."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run([program, kernel, str(schedules), *targets.PROBLEMS.get(kernel, []), "--sets", sets],
                          capture_output=True, text=True, errors="replace", preexec_fn=limit)
    if done.returncode < 0:
        name = signal.Signals(-done.returncode).name
        return ("time-out" if name in ("SIGXCPU", "SIGKILL") else "crash"), "", name
    if done.returncode != 0:
        return "crash", "", (done.stderr.splitlines() or ["exit status %d" % done.returncode])[-1]
    result = json.loads(done.stdout.splitlines()[-1])
    if result["status"] == "passed":
        return None, "", f"{result['passed']} problems passed"
    if result["status"] == "unsupported":
        return "crash", "", "no problem was supported"
    check, words = what_caught(result["reason"])
    return check, result["problem"], words


def what_caught(reason):
    """(the check, its words) of a failed record."""
    finding = FINDING.search(reason)
    if finding:
        return finding[1], finding[2]
    first = reason.splitlines()[0]
    if any(words in reason for words in OTHER_BITS):
        return "other bits", first
    if any(words in reason for words in MEMORY):
        return "memory", first
    return ("refused" if "threw:" in reason else "wrong values"), first
