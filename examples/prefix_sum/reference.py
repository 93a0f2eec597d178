"""What prefix_sum.toml computes."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def reference(symbols, seed):
    values = baton_random.random("in", (symbols["N"],), numpy.int32, seed)
    return {"out": numpy.cumsum(values, dtype=numpy.int32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("prefix_sum.toml"), reference)
