# SPDX-License-Identifier: Apache-2.0
"""A profile in every form: what the schema says, what viewers of traces read, a page that is whole and
needs nothing else, and the verb that renders it. ROOFTILE_SAMPLE names the program that writes them."""
import copy
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from cli_program import ROOT, Test, main, run  # noqa: E402

try:
    import jsonschema
except ImportError:
    jsonschema = None

SAMPLE = os.environ.get("ROOFTILE_SAMPLE", "build/tests/sample_profile")
SCHEMA = json.loads((ROOT / "docs/profile.schema.json").read_text(encoding="utf-8"))
HOSTILE = "</script><img src=x onerror=alert(1)>\"'&"
VOID = {"meta", "br", "img", "input", "link", "hr", "wbr"}
_folder = tempfile.TemporaryDirectory(prefix="rooftile-report-")


def forms(name=None):
    """The folder with profile.json, trace.json, report.html and summary.txt of the sample."""
    folder = pathlib.Path(_folder.name, "hostile" if name else "plain")
    if not folder.exists():
        folder.mkdir()
        subprocess.run([SAMPLE, folder, *([name] if name else [])], check=True)
    return folder


def read_json(name):
    return json.loads((forms() / name).read_text(encoding="utf-8"))


class Page(html.parser.HTMLParser):
    """What a page consists of; every element must be closed in turn."""

    def __init__(self, text):
        super().__init__()
        self.open, self.faults, self.tags, self.attributes, self.text = [], [], [], [], ""
        self.feed(text)
        self.close()
        self.faults += [f"<{tag}> is never closed" for tag in self.open]

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        self.text += data

    def values(self, name):
        return [value for _, key, value in self.attributes if key == name]


@unittest.skipIf(jsonschema is None, "the Python package jsonschema is missing; tools/setup test installs it")
class Schema(Test):
    def setUp(self):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        self.validator = jsonschema.Draft202012Validator(SCHEMA)

    def test_sample(self):
        faults = [f"{error.json_path}: {error.message}" for error in self.validator.iter_errors(read_json("profile.json"))]
        self.assertEqual(faults, [])

    def test_mutations_are_rejected(self):
        file = read_json("profile.json")
        for path, value in ((("schema",), 2), (("profile", "date"), "today"), (("profile", "surprise"), 1),
                            (("profile", "phases", 0, "name"), "warm-up"), (("profile", "phases", 0, "passes"), 0),
                            (("profile", "phases", 0, "kernels", 0, "time_us"), -1),
                            (("profile", "phases", 1, "roles", 0, "bound"), "luck"),
                            (("profile", "advice", 0, "topic"), "hope"), (("profile", "decode", "floor_us"), None),
                            (("profile", "model", "name"), "")):
            changed = copy.deepcopy(file)
            place = changed
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            self.assertFalse(self.validator.is_valid(changed), f"{path} = {value!r} is accepted")


class Trace(Test):
    def test_events_lie_within_their_passes(self):
        events = read_json("trace.json")["traceEvents"]
        passes = {event["args"]["pass"]: event for event in events if event.get("cat") == "pass"}
        operations = [event for event in events if event["ph"] == "X" and event["cat"] != "pass"]
        self.assertEqual(len(passes), 18)
        self.assertEqual(len(operations), 18 * 453)
        for event in operations:
            around = passes[event["args"]["pass"]]
            self.assertGreaterEqual(event["ts"], around["ts"])
            self.assertLessEqual(event["ts"] + event["dur"], around["ts"] + around["dur"] + 1e-6)
            self.assertTrue(event["args"]["problem"])

    def test_tracks_have_names(self):
        events = read_json("trace.json")["traceEvents"]
        named = {event["tid"] for event in events if event["name"] == "thread_name"}
        self.assertEqual(named, {event["tid"] for event in events if event["ph"] == "X"})


class Report(Test):
    def page(self, name=None):
        page = Page((forms(name) / "report.html").read_text(encoding="utf-8"))
        self.assertEqual(page.faults, [])
        return page

    def test_is_whole_and_alone(self):
        page = self.page()
        for tag in ("link", "img", "iframe", "object", "base", "form"):
            self.assertNotIn(tag, page.tags)
        self.assertEqual([value for key in ("src", "href", "action") for value in page.values(key)], [])
        text = (forms() / "report.html").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"https?://(?!www\.w3\.org/2000/svg\b)\S+|@import|url\(", text), [])
        self.assertNotIn("{{", text)
        ids = page.values("id")
        self.assertEqual(sorted(ids), sorted(set(ids)))

    def test_has_every_part(self):
        page = self.page()
        self.assertLessEqual({"next", "time", "roofline", "prefill", "decode", "timeline", "arithmetic", "fusion"},
                             set(page.values("id")))
        self.assertEqual(page.values("class").count("timeline"), 2)
        for word in ("synthetic weights", "toy_linear/cpu_rows", "Prefill MFU", "operations a byte", "tokens/s"):
            self.assertIn(word, page.text)

    def test_hostile_name(self):
        page = self.page(HOSTILE)
        self.assertNotIn("img", page.tags)
        self.assertEqual(page.tags.count("script"), 1)
        self.assertIn(HOSTILE, page.text)

    def test_drawings_stay_in_their_frames(self):
        text = (forms() / "report.html").read_text(encoding="utf-8")
        for frame, marks in re.findall(r'viewBox="0 0 ([\d ]+)"[^>]*>(.*?)</svg>', text, re.DOTALL):
            width, height = map(float, frame.split())
            for x, y in re.findall(r'class="mark f\d" c?x="([-\d.]+)" c?y="([-\d.]+)"', marks):
                self.assertTrue(0 <= float(x) <= width and 0 <= float(y) <= height)


class Verb(Test):
    def test_renders_what_the_library_renders(self):
        file = pathlib.Path(_folder.name, "again.html")
        done = run("report", str(forms() / "profile.json"), "--report", str(file))
        self.expect(done, 0, "Profile of synthetic:sample-135m", "What to do next")
        self.assertEqual(file.read_bytes(), (forms() / "report.html").read_bytes())
        self.assertEqual(done.stdout, (forms() / "summary.txt").read_text(encoding="utf-8"))

    def test_bad_use(self):
        good = str(forms() / "profile.json")
        self.expect(run("report"), 2, "report takes one file", "0 were given")
        self.expect(run("report", good, good), 2, "2 were given")
        self.expect(run("report", "none.json"), 2, "no file 'none.json'")
        self.expect(run("report", str(forms())), 2, "cannot read")
        self.expect(run("report", good, "--report", "/nowhere/r.html"), 2, "cannot write '/nowhere/r.html'")
        self.expect(run("report", good, "--rep", "r.html"), 2, "'--report'")

    def test_bad_files_write_nothing(self):
        target = pathlib.Path(_folder.name, "none.html")
        text = (forms() / "profile.json").read_text(encoding="utf-8")
        for content, word in (("", "is not a profile"), ("{}", "no 'profile'"), (text[:5000], "is not a profile"),
                              (text.replace('"passes": 2', '"passes": "x"'), "passes is \"x\""),
                              ((ROOT / "docs/profile.schema.json").read_text(encoding="utf-8"), "no 'profile'")):
            file = pathlib.Path(_folder.name, "bad.json")
            file.write_text(content, encoding="utf-8")
            self.expect(run("report", str(file), "--report", str(target)), 2, word)
            self.assertFalse(target.exists())

    def test_full_disk(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full")
        with open("/dev/full", "wb") as full:
            done = subprocess.run([os.environ.get("ROOFTILE_PROGRAM", "build/rooftile"), "report",
                                   str(forms() / "profile.json")], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"cannot write to standard output", done.stderr)


if __name__ == "__main__":
    main()
