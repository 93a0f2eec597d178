"""What gemm_tiled.toml computes, in float64."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def reference(symbols, seed):
    m, n, k = (symbols[name] for name in "MNK")
    a = baton_random.random("a", (m, k), numpy.float32, seed).astype(numpy.float64)
    b = baton_random.random("b", (k, n), numpy.float32, seed).astype(numpy.float64)
    return {"c": (a @ b).astype(numpy.float32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("gemm_tiled.toml"), reference)
