#!/usr/bin/env python3
"""Holds the text and the JSON of commands against tests/golden, with times masked.

UPDATE=1 in the environment writes the files anew: read the difference before you commit it.
"""

import json
import os
import re

import numpy

from baton import ROOT, Case, main

GOLDEN = ROOT / "tests" / "golden"
TIMES = {"seconds", "best_seconds"}
DURATION = re.compile(r"\b\d+(\.\d+)? (ns|us|ms|s)\b")


def mask(value):
    """The same JSON with every time, and each name of the checkout's folder, replaced."""
    if isinstance(value, dict):
        return {k: "TIME" if k in TIMES and v is not None else
                ["TIME"] * len(v) if k == "run_seconds" else mask(v) for k, v in value.items()}
    if isinstance(value, list):
        return [mask(item) for item in value]
    return mask_folder(value) if isinstance(value, str) else value


def mask_folder(text):
    return text.replace(str(GOLDEN), "GOLDEN")


def mask_text(text):
    """Column widths follow the widest time, so blanks are counted as one."""
    lines = (re.sub(" +", " ", DURATION.sub("TIME", line)) for line in mask_folder(text).splitlines())
    return "\n".join(lines) + "\n"


class Golden(Case):
    maxDiff = None

    def hold(self, name, text):
        path = GOLDEN / name
        if os.environ.get("UPDATE") == "1":
            path.write_text(text, encoding="utf-8")
        self.assertEqual(text, path.read_text(encoding="utf-8"), f"{path} says otherwise")

    def hold_both(self, name, *command, status=0):
        # Without an assembler, whose versions differ in the registers that they take.
        settings = {"BATON_DEVICE": "sim:h200", "BATON_NVJITLINK": "/nonexistent"}
        result = self.baton(*command, **settings)
        self.check(result, status)
        self.hold(f"{name}.txt", mask_text(result.out + result.err))
        result = self.baton(*command, "--json", **settings)
        self.assertEqual(result.status, status, result)
        self.hold(f"{name}.json", json.dumps(mask(result.json()), indent=2) + "\n")

    def test_run(self):
        self.hold_both("run", "run", GOLDEN / "program.toml")

    def test_run_with_a_mismatch(self):
        self.save_expected()
        self.hold_both("mismatch", "run", GOLDEN / "program.toml", "--expect", "y=y.npy",
                       "--expect", "count=count.npy", status=1)

    def save_expected(self):
        y = numpy.tile(2 * numpy.arange(64, dtype=numpy.float32), 2)
        y[70] = -1
        self.save("y.npy", y)
        self.save("count.npy", numpy.full(3, -7, dtype=numpy.int64))

    def test_inspect(self):
        self.hold_both("inspect", "inspect", GOLDEN / "kernels.ptx")

    def test_check_of_a_program(self):
        self.hold_both("check", "check", GOLDEN / "program.toml")

    def test_check_of_an_image(self):
        self.hold_both("check_image", "check", GOLDEN / "kernels.ptx")

    def test_bad_input(self):
        self.hold_both("bad_input", "run", GOLDEN / "program.toml", "--set", "M=1", status=2)


if __name__ == "__main__":
    main()
