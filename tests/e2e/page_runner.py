"""Executes a page of the documentation as its reader would: writes its files, calls its commands one
after another in one folder, and compares the whole output of each with what the page shows.

UPDATE=1 writes the output of this run into the page instead.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from baton import BATON, DEVICE, ON_GPU, ROOT, Case, without_progress

FENCE = re.compile(r"(?:^`(?P<name>[^`]+)`(?P<where>[^\n]*):\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)
UPDATE = os.environ.get("UPDATE") == "1"

# What differs from run to run and from machine to machine.
VARIABLE = [
    (r"\b\d+(?:\.\d+)? (?:ns|us|ms|s)\b", "# s"),  # times
    (r"\u00b1 +\d+(?:\.\d+)? %", "\u00b1 # %"),    # and their spread
    (r"half of them .*", "half of them #"),
    (r"\d+ (?:parts?), [\d.]+ KiB", "# parts, # KiB"),  # of a bundle
    (r"\b[0-9a-f]{16}\b", "#"),                        # a digest of machine code
    # Which of the blocks or warps that run at once is the first to be seen.
    (r"block \(\d+, ", "block (#, "),
    (r"thread \(\d+, ", "thread (#, "),
    (r"\(\d+ times\)", "(# times)"),
    (r"memory at 0x[0-9a-f]+", "memory at #"),
    (r"nothing wrote, at 0x[0-9a-f]+", "nothing wrote, at #"),
]


# The compiler whose registers, instructions and sizes the pages show.
NVRTC = "13.0"


def words(text, same_compiler):
    """Column widths vary with times: what is compared are words."""
    text = " ".join(text.split())
    for pattern, replacement in VARIABLE:
        text = re.sub(pattern, replacement, text)
    return text if same_compiler else re.sub(r"\d+(?:\.\d+)?(?: [kMG]i?B?\b)?", "#", text)


class Page(Case):
    """A test class of pages. `self.variables` is what their commands find in the environment."""

    variables = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        doctor = json.loads(subprocess.run([BATON, "doctor", "--json"], stdout=subprocess.PIPE, check=False).stdout)
        cls._nvrtc = next((part["version"] for part in doctor["parts"] if part["name"] == "NVRTC"), None)
        folder = tempfile.TemporaryDirectory(prefix="baton-bin-")
        cls.addClassCleanup(folder.cleanup)
        cls._bin = folder.name
        python = f"{folder.name}/python3"  # a reader's python3 is one with NumPy
        with open(python, "w", encoding="utf-8") as script:
            script.write(f"#!/bin/sh\nexec '{sys.executable}' \"$@\"\n")
        os.chmod(python, 0o755)

    def call(self, command):
        """The status and the whole output of a command line, in the order in which it came."""
        kept = ("BATON_CUDA_ROOT", "BATON_NVRTC")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("BATON_") or k in kept}
        environment.update(BATON_DEVICE=DEVICE, BATON_CACHE_DIR=self._cache.name,
                           PATH=f"{os.path.dirname(BATON)}:{self._bin}:{os.environ['PATH']}", **self.variables)
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              errors="replace", timeout=600, check=False)
        return done.returncode, without_progress(done.stdout)

    def run_block(self, block):
        """The block as it should be."""
        lines = block.splitlines()
        begins = [i for i, line in enumerate(lines) if line.startswith("$ ")]
        self.assertEqual(begins[:1], [0], block)
        result = []
        for begin, end in zip(begins, [*begins[1:], len(lines)]):
            command, _, remark = lines[begin][2:].partition("    # status ")
            status, out = self.call(command)
            # A GPU finds less than the simulated one.
            if not (remark and ON_GPU and "--device sim" not in command):
                self.assertEqual(status, int(remark or 0), f"{command}\n{out}")
            shown = "\n".join(lines[begin + 1:end])
            if not UPDATE and not ON_GPU:
                same = self._nvrtc == NVRTC
                self.assertEqual(words(out, same), words(shown, same), f"{command}\n{out}")
            result += [lines[begin], *(line.rstrip() for line in out.splitlines())]
        return "\n".join(result) + "\n"

    def run_page(self, name):
        """Everything on the page, in its order. Returns how many commands that were."""
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        parts, at, commands = [], 0, 0
        for block in FENCE.finditer(text):
            if block["kind"] == "console":
                commands += len(re.findall(r"^\$ ", block["text"], re.MULTILINE))
                parts += [text[at:block.start("text")], self.run_block(block["text"])]
                at = block.end("text")
            elif block["where"]:  # lines for the end of the file, which is its last table
                file = self.folder / block["name"]
                file.write_text(file.read_text() + block["text"])
            elif block["name"]:
                self.write(block["name"], block["text"])
        if UPDATE:
            path.write_text("".join([*parts, text[at:]]), encoding="utf-8")
        return commands
