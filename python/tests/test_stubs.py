"""The stub of the extension against the extension, and a user's module against the package. Skips without mypy."""

import os
import pathlib
import subprocess
import sys

import pytest

import baton as baton_package

USER = pathlib.Path(__file__).parent / "testdata" / "typed_user.py"
# What the stub leaves out, and why:
ALLOWED = """
baton._core.Allocator  # a protocol, which callers implement
baton._core.Array  # typing has no disjoint_base before Python 3.15
baton._core.Kernel.__call__  # answers a mistake
baton._core.Plan.__call__  # refuses arguments
"""


def check(folder, *words):
    """Runs a module of mypy."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    path = str(pathlib.Path(baton_package.__file__).parents[1])
    result = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True, check=False, cwd=folder,
                            env={**os.environ, "PYTHONPATH": path, "MYPYPATH": path})
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_stub(tmp_path):
    allowed = tmp_path / "allowed"
    allowed.write_text(ALLOWED)
    check(tmp_path, "mypy.stubtest", "--concise", "--allowlist", allowed, "--ignore-unused-allowlist", "baton._core")


def test_a_module_of_a_user(tmp_path):
    check(tmp_path, "mypy", "--strict", "--follow-imports=silent", USER)
