# SPDX-License-Identifier: Apache-2.0
"""What the checks of tools/ share: which files belong to the tree, and their code without comments."""
import os
import pathlib
import re
import subprocess

CODE = (".h", ".cc", ".cu", ".cuh", ".inc")
ROOT = pathlib.Path(__file__).resolve().parent.parent
# Why strings are matched too: a comment's marks within a string begin no comment. Raw strings first.
COMMENT_OR_STRING = re.compile(
    r'R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)", re.DOTALL)
DIGITS_SEPARATED = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")


def files(root, endings=None):
    """Paths, relative to `root`, of all files that git tracks or would; without git, of all files that
    are not in a build folder or hidden."""
    git = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                          "--exclude-standard"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    if git.returncode == 0 and (root / ".git").exists():
        found = {pathlib.PurePath(os.fsdecode(path)) for path in git.stdout.split(b"\0") if path}
    else:
        found = set(walk(root))
    kept = [path for path in found if endings is None or path.suffix in endings]
    return sorted(path for path in kept if (root / path).is_file())


def walk(root):
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f != "__pycache__" and not f.startswith(("build", ".git", ".venv"))]
        for name in names:
            yield (pathlib.Path(folder) / name).relative_to(root)


def read(path):
    return path.read_text(encoding="utf-8", errors="replace")


def code_only(text):
    """C++ without comments, every line still on its own line."""
    text = DIGITS_SEPARATED.sub("_", text)

    def blank(match):
        comment = match.group("comment")
        return match.group(0) if comment is None else re.sub(r"[^\n]", " ", comment)

    return COMMENT_OR_STRING.sub(blank, text)


def report(tool, problems, checked):
    """Prints `problems` and what was checked; the exit status. To have checked nothing is a problem."""
    for problem in problems:
        print(problem)
    if checked == 0:
        print(f"{tool}: nothing to check")
        return 1
    print(f"{tool}: {checked} files, {len(problems)} problems")
    return 1 if problems else 0
