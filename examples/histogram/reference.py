"""What histogram.toml computes."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def reference(symbols, seed):
    values = baton_random.random("values", (symbols["N"],), numpy.uint8, seed)
    return {"counts": numpy.bincount(values, minlength=256).astype(numpy.uint32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("histogram.toml"), reference)
