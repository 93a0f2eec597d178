#!/usr/bin/env python3
"""Runs pages of docs/: writes their files, calls their commands, and looks for the output they show."""

import re
import shlex
import shutil
import subprocess
import sys

from baton import ROOT, Case, main

FENCE = re.compile(r"(?:^`(?P<name>[^`]+)`(?P<where>[^\n]*):\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)


def words(text):
    """Column widths and times vary, and which of the blocks that run at once is the first to fault:
    what is compared are words."""
    text = re.sub(r"block \(\d+, ", "block (#, ", " ".join(text.split()))
    # The first of several warps that race, and where.
    return re.sub(r"memory at 0x[0-9a-f]+, that thread \(\d+, ", "memory at #, that thread (#, ", text)


class Page(Case):
    def run_block(self, block):
        shown = None
        for line in block.splitlines():
            if not line.startswith("$ "):
                self.assertIsNotNone(shown, line)
                self.assertIn(words(line.removeprefix("…")), shown)
                continue
            command, _, remark = line[2:].partition("    # status ")
            arguments = shlex.split(command)
            if arguments[0] == "python3":
                subprocess.run([sys.executable, *arguments[1:]], cwd=self.folder, check=True)
                continue
            self.assertEqual(arguments[0], "baton")
            result = self.baton(*arguments[1:])
            self.check(result, int(remark or 0))
            shown = words(result.out + result.err)

    def run_page(self, name, least):
        """Everything on the page, in its order; it has at least so many commands."""
        commands = 0
        for block in FENCE.finditer((ROOT / "docs" / name).read_text(encoding="utf-8")):
            if block["kind"] == "console":
                commands += block["text"].count("$ ")
                self.run_block(block["text"])
            elif block["where"]:  # lines for the end of the file, which is its last table
                path = self.folder / block["name"]
                path.write_text(path.read_text() + block["text"])
            elif block["name"]:
                self.write(block["name"], block["text"])
        self.assertGreaterEqual(commands, least)

    def test_first_program(self):
        self.run_page("first-program.md", 11)

    def test_find_a_race(self):
        self.run_page("find-a-race.md", 3)

    def test_pdl(self):
        shutil.copytree(ROOT / "examples" / "decode_layer", self.folder, dirs_exist_ok=True)
        self.run_page("pdl.md", 2)

    def test_metadata(self):
        golden = self.folder / "tests" / "golden" / "metadata"
        shutil.copytree(ROOT / "tests" / "golden" / "metadata", golden)
        self.run_page("metadata.md", 1)


if __name__ == "__main__":
    main()
