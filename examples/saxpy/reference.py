"""What saxpy.toml computes, in float64."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def reference(symbols, seed):
    n = symbols["N"]
    x = baton_random.random("x", (n,), numpy.float32, seed).astype(numpy.float64)
    y = baton_random.random("y", (n,), numpy.float32, seed).astype(numpy.float64)
    return {"y": (2.0 * x + y).astype(numpy.float32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("saxpy.toml"), reference)
