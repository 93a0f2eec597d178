"""The stub of the extension against the extension. Skips without mypy."""

import os
import pathlib
import subprocess
import sys

import pytest

import baton as baton_package

# What the stub leaves out, and why:
ALLOWED = """
baton._core.Allocator  # a protocol, which callers implement
baton._core.Array  # typing has no disjoint_base before Python 3.15
baton._core.Kernel.__call__  # answers a mistake
baton._core.Plan.__call__  # refuses arguments
"""


def test_the_stub(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    allowed = tmp_path / "allowed"
    allowed.write_text(ALLOWED)
    path = str(pathlib.Path(baton_package.__file__).parents[1])
    result = subprocess.run([sys.executable, "-m", "mypy.stubtest", "--concise", "--allowlist", allowed,
                             "--ignore-unused-allowlist", "baton._core"],
                            capture_output=True, text=True, check=False, cwd=tmp_path,
                            env={**os.environ, "PYTHONPATH": path, "MYPYPATH": path})
    assert result.returncode == 0, result.stdout + result.stderr
