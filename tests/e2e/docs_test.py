#!/usr/bin/env python3
"""Runs docs/first-program.md: writes its files, calls its commands, and looks for the output it shows."""

import re
import shlex
import subprocess
import sys

from baton import ROOT, Case, main

PAGE = ROOT / "docs" / "first-program.md"
FENCE = re.compile(r"(?:^`(?P<name>[^`]+)`(?P<where>[^\n]*):\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)


def words(text):
    """Column widths and times vary, and which of the blocks that run at once is the first to fault:
    what is compared are words."""
    return re.sub(r"block \(\d+, ", "block (#, ", " ".join(text.split()))


class FirstProgram(Case):
    def run_block(self, block):
        shown = None
        for line in block.splitlines():
            if not line.startswith("$ "):
                self.assertIsNotNone(shown, line)
                self.assertIn(words(line), shown)
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

    def test_everything_on_the_page(self):
        blocks = list(FENCE.finditer(PAGE.read_text()))
        self.assertGreater(len(blocks), 8)
        commands = 0
        for block in blocks:
            if block["kind"] == "console":
                commands += block["text"].count("$ ")
                self.run_block(block["text"])
            elif block["where"]:  # lines for the end of the file, which is its last table
                path = self.folder / block["name"]
                path.write_text(path.read_text() + block["text"])
            else:
                self.write(block["name"], block["text"])
        self.assertGreater(commands, 10)


if __name__ == "__main__":
    main()
