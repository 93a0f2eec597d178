"""What tests of Python programs under `baton exec` share."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BATON = os.environ["BATON"]


class ExecCase(unittest.TestCase):
    """A folder for each test, and runs in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-exec-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def exec(self, *words, **environment):
        """Runs the command under `baton exec`. Returns the process and its report."""
        report = self.folder / "report.json"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BATON_")}
        done = subprocess.run([BATON, "exec", "--json", report, "--", *words], capture_output=True, text=True,
                              timeout=300, env={**kept, **environment})
        return done, json.loads(report.read_text())
