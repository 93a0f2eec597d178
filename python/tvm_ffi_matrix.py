#!/usr/bin/env python3
"""Runs the tests of the adapter for tvm-ffi with many versions of apache-tvm-ffi.

    PYTHONPATH=build/release/python python3 python/tvm_ffi_matrix.py [VERSION...]

Downloads the wheels by pip into .deps/tvm_ffi_versions/VERSION, once. Without versions it takes the list
below. A version that has no wheel for this Python is skipped, and named.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".deps" / "tvm_ffi_versions"
TESTS = ROOT / "python" / "tests" / "test_tvm_ffi.py"
# Of each version the last release, in November 2026. The package's extra asks for 0.1.6 or later.
VERSIONS = ("0.1.0 0.1.1 0.1.2 0.1.3 0.1.4 0.1.5 0.1.6 0.1.7 0.1.8.post2 0.1.9 0.1.10 0.1.11 0.1.12 "
            "0.1.13.post3 0.1.14.post1 0.1.15.post2").split()


def install(version):
    """The folder with that version; None if pip has none for this Python."""
    target = FOLDER / version
    if not (target / "tvm_ffi").is_dir():
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:",
             "--target", str(target), f"apache-tvm-ffi=={version}"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{version}: skipped; pip: {done.stderr.strip().splitlines()[-1]}")
            return None
    return target


def test(version, folder):
    """Whether the tests pass with that version."""
    # The tests run in another folder than the one that relative paths are of.
    given = map(os.path.abspath, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    path = os.pathsep.join([str(folder), *given])
    environment = dict(os.environ, PYTHONPATH=path)
    used = subprocess.run([sys.executable, "-c", "import tvm_ffi; print(tvm_ffi.__file__)"], env=environment,
                          capture_output=True, text=True, check=False).stdout.strip()
    if not used.startswith(str(folder)):
        print(f"{version}: python takes {used or 'no tvm_ffi'} in its place")
        return False
    done = subprocess.run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", str(TESTS)],
                          env=environment, capture_output=True, text=True, check=False, cwd=TESTS.parent)
    counts = re.findall(r"\d+ (?:passed|failed|skipped|error)", done.stdout)
    passed = done.returncode == 0 and not any("skipped" in count for count in counts)
    print(f"{version}: {', '.join(counts) or 'no test ran'}", flush=True)
    if not passed:
        print(done.stdout[-4000:], done.stderr[-2000:], file=sys.stderr)
    return passed


def main():
    results = [test(version, folder) for version in sys.argv[1:] or VERSIONS
               if (folder := install(version)) is not None]
    print(f"{sum(results)} of {len(results)} versions pass")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
