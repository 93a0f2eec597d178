"""What tensor_parallel.toml computes on any number of ranks, in float64."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def reference(symbols, seed):
    k, f, n = symbols["K"], symbols["F"], symbols["N"]
    x, up, down = (
        baton_random.random(name, shape, numpy.float32, seed).astype(numpy.float64)
        for name, shape in (("x", (k,)), ("up", (f, k)), ("down", (n, f))))
    residual, norm = (baton_random.random(name, (n,), numpy.float32, seed).astype(numpy.float64)
                      for name in ("residual", "norm"))
    hidden = up @ x
    out = down @ (hidden / (1 + numpy.exp(-hidden))) + residual
    normed = out / numpy.sqrt((out * out).mean() + 1e-5) * norm
    return {"out": out.astype(numpy.float32), "normed": normed.astype(numpy.float32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("tensor_parallel.toml"), reference)
