#!/usr/bin/env python3
"""The workflows of GitHub and the action "check my kernels", without GitHub: their scripts are scripts, and
what they name is there."""

import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
ACTION = ROOT / ".github/actions/check-kernels/action.yml"
FILES = sorted((ROOT / ".github/workflows").glob("*.yml")) + [ACTION]


def scripts(text):
    """The text of each `run:`, of one line or of a block."""
    for match in re.finditer(r"^( *)(?:- )?run: (?:\|\n((?:\1 +.*\n|\n)+)|(.+)\n)", text, re.MULTILINE):
        yield textwrap.dedent(match[2]) if match[2] else match[3]


def inputs():
    block = re.search(r"^inputs:\n(.*?)^outputs:", ACTION.read_text(), re.DOTALL | re.MULTILINE)[1]
    return re.findall(r"^  ([a-z]+):$", block, re.MULTILINE)


class Workflows(unittest.TestCase):
    def test_each_script_is_one(self):
        for file in FILES:
            found = list(scripts(file.read_text()))
            self.assertEqual(len(found), file.read_text().count("run: "), file)
            for script in found:
                # GitHub replaces its own expressions before a shell sees them.
                plain = re.sub(r"\$\{\{.*?\}\}", "x", script)
                done = subprocess.run(["bash", "-n", "-c", plain], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, f"{file}: {script}\n{done.stderr}")

    def test_what_scripts_name_is_there(self):
        presets = {each["name"] for each in json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]}
        named = 0
        for file in FILES:
            for script in scripts(file.read_text()):
                for name in re.findall(r"\./(scripts/\w+)", script):
                    self.assertTrue(os.access(ROOT / name, os.X_OK), f"{file}: {name}")
                    named += 1
                for name in re.findall(r"python3? (?!-)([\w/]+\.py)", script):
                    self.assertTrue((ROOT / name).is_file(), f"{file}: {name}")
                self.assertLessEqual(set(re.findall(r"--preset (\w+)", script)), presets, file)
        self.assertGreater(named, 5)

    def test_programs_and_inputs_of_the_action_are_there(self):
        for file in FILES:
            text = file.read_text()
            for with_ in re.findall(r"uses: \./\.github/actions/check-kernels\n +with:\n((?: {10}.*\n)+)", text):
                given = dict(line.strip().split(": ", 1) for line in with_.splitlines())
                self.assertLessEqual(set(given), set(inputs()), file)
                for pattern in given["programs"].split():
                    self.assertTrue(list(ROOT.glob(pattern)), f"{file}: {pattern}")

    def test_the_page_lists_the_inputs(self):
        page = (ROOT / "docs/ci.md").read_text()
        table = page[page.index("| input | means |"):].split("\n\n", 1)[0]
        self.assertEqual(re.findall(r"^\| `([a-z]+)` \|", table, re.MULTILINE), inputs())


if __name__ == "__main__":
    sys.exit(unittest.main())
