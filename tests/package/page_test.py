#!/usr/bin/env python3
"""Executes docs/your-program.md with the installed package, in an empty folder: a program of
somebody's own kernels, enqueued from C++ and from Python."""

import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = os.environ["PACKAGE_BUILD"]
CMAKE = os.environ.get("PACKAGE_CMAKE", "cmake")

INSTALLED = tempfile.TemporaryDirectory(prefix="baton page ")
subprocess.run([CMAKE, "--install", BUILD, "--prefix", INSTALLED.name, "--component", "Unspecified"],
               check=True, stdout=subprocess.DEVNULL)
os.environ["BATON"] = f"{INSTALLED.name}/bin/baton"
sys.path.insert(0, str(HERE.parent / "e2e"))

from baton import main  # pylint: disable=wrong-import-position
from page_runner import Page  # pylint: disable=wrong-import-position


class YourProgram(Page):
    def test_page(self):
        self.variables = {"CMAKE_PREFIX_PATH": INSTALLED.name, "PYTHONPATH": os.environ["PACKAGE_PYTHON"],
                          "CMAKE_GENERATOR": "Ninja", "CXX": os.environ.get("PACKAGE_CXX", "c++")}
        self.assertGreater(self.run_page("docs/your-program.md"), 5)


if __name__ == "__main__":
    main()
