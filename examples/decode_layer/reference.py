"""What decode_layer.toml computes, in float64."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def reference(symbols, seed):
    k, n = symbols["K"], symbols["N"]

    def random(name, shape, dtype):
        return baton_random.random(name, shape, dtype, seed).astype(numpy.float64)

    x = random("x", (k,), numpy.float32)
    normed = x / numpy.sqrt(numpy.mean(x * x) + 1e-5) * random("norm", (k,), numpy.float16)
    hidden = random("up", (n, k), numpy.float16) @ normed / numpy.sqrt(k)
    active = hidden / (1.0 + numpy.exp(-hidden))
    out = random("down", (k, n), numpy.float16) @ active / numpy.sqrt(n)
    return {"out": out.astype(numpy.float32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("decode_layer.toml"), reference)
