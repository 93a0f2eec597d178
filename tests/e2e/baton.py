"""What the end-to-end tests share: the command line under test, run in a folder of its own."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
BATON = os.environ.get("BATON", "")
DEVICE = os.environ.get("BATON_TEST_DEVICE", "sim")
ON_GPU = DEVICE.startswith("cuda")

# A sanitizer's report must not look like an exit status of the command line.
SANITIZER_STATUS = 99


# Lines of progress, which a busy machine shows: off a terminal they come every ten seconds.
PROGRESS = re.compile(r"^(?:(?:compile|build the bundle|bind and upload)$|"
                      r"(?:compile and load|read and try|run under|try \S+ \(|upload \S+:|run \d+ of \d+:) ?).*\n",
                      re.MULTILINE)


def without_progress(text):
    return PROGRESS.sub("", text)


class Result:
    def __init__(self, done):
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def first_error(self):
        """The line that starts with "error: "."""
        return next((line for line in self.err.splitlines() if line.startswith("error: ")), "")

    def json(self):
        return json.loads(self.out)

    def __str__(self):
        return f"status {self.status}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Case(unittest.TestCase):
    """A folder, a compile cache for all tests of the class, and a way to call the command line."""

    @classmethod
    def setUpClass(cls):
        cls._cache = tempfile.TemporaryDirectory(prefix="baton-cache-")
        cls.addClassCleanup(cls._cache.cleanup)

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="baton-e2e-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def baton(self, *arguments, timeout=300, **environment):
        kept = ("BATON_CUDA_ROOT", "BATON_NVRTC")  # where the compiler is, not what it does
        settings = {k: v for k, v in os.environ.items() if not k.startswith("BATON_") or k in kept}
        settings.update(BATON_DEVICE=DEVICE,
                        BATON_CACHE_DIR=self._cache.name)
        # Where a library that was loaded at run time keeps its thread-local variables LeakSanitizer
        # of clang 14 guesses from the words before them, and falls over some guesses at glibc 2.36.
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
            settings[name] = (f"exitcode={SANITIZER_STATUS}:intercept_tls_get_addr=0:" +
                              settings.get(name, ""))
        settings.update(environment)
        return Result(subprocess.run([BATON, *map(str, arguments)], cwd=self.folder, env=settings,
                                     stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                     errors="replace", timeout=timeout, check=False))

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding="utf-8")
        return path

    def save(self, name, array):
        numpy.save(self.folder / name, array)
        return self.folder / name

    def check(self, result, status, *parts):
        """The status, one "error: " line that holds all parts, and nothing unclean."""
        self.assertEqual(result.status, status, result)
        if status == 0:
            self.assertEqual(result.first_error, "", result)
        else:
            self.assertEqual(sum(line.startswith("error: ") for line in result.err.splitlines()), 1, result)
        for part in parts:
            self.assertIn(part, result.first_error, result)
        self.assertNotIn("bug in Baton", result.err, result)


def toml(value):
    """The value as TOML: JSON's strings, numbers and arrays are TOML's, its objects are not."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


def table(header, **keys):
    return header + "\n" + "".join(f"{k} = {toml(v)}\n" for k, v in keys.items() if v is not None)


def buffer(name, dtype, shape, role, init=None):
    return table(f"[buffers.{name}]", dtype=dtype, shape=shape, role=role, init=init)


def kernel(name, **keys):
    return table(f"[kernels.{name}]", **keys)


def launch(name, grid, block, args, **attributes):
    return table("[[steps]]", launch=name, grid=grid, block=block, args=args, **attributes)


def program(*parts, **symbols):
    """A program file of these parts."""
    return "name = \"test\"\n" + table("[symbols]", **symbols) + "".join(parts)


def main():
    if not BATON:
        raise SystemExit("set BATON to the command line under test")
    unittest.main()
