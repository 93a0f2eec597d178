"""What pipeline_parallel.toml computes, in NumPy."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def reference(symbols, seed):
    l, n, b, m = (symbols[name] for name in ("L", "N", "B", "M"))
    h = baton_random.random("x", (m, n, b), numpy.float32, seed).astype(float)
    w = baton_random.random("w", (l, n, n), numpy.float32, seed).astype(float)
    for weights in w:
        h = 2 / numpy.sqrt(n) * numpy.maximum(weights @ h, 0)
    return {"y": h.astype(numpy.float32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("pipeline_parallel.toml"), reference)
