"""What softmax.toml computes, in float64."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def reference(symbols, seed):
    shape = (symbols["ROWS"], symbols["COLUMNS"])
    x = baton_random.random("x", shape, numpy.float32, seed).astype(numpy.float64)
    weights = numpy.exp(x - x.max(axis=1, keepdims=True))
    return {"y": (weights / weights.sum(axis=1, keepdims=True)).astype(numpy.float32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("softmax.toml"), reference)
