"""What data_parallel.toml computes on any number of ranks, in float64."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def reference(symbols, seed):
    b, k, h, steps = (symbols[name] for name in ("B", "K", "H", "STEPS"))
    x, t, w = (
        baton_random.random(name, shape, numpy.float32, seed).astype(numpy.float64)
        for name, shape in (("x", (b, k)), ("t", (b,)), ("w", (h * (k + 1),))))
    w1, w2 = w[:h * k].reshape(h, k), w[h * k:]
    for _ in range(steps):
        hidden = numpy.tanh(x @ w1.T)
        error = hidden @ w2 - t
        slope = error[:, None] * w2 * (1 - hidden**2)
        w1, w2 = w1 - 0.5 / b * slope.T @ x, w2 - 0.5 / b * error @ hidden
    return {"w": numpy.concatenate([w1.reshape(-1), w2]).astype(numpy.float32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("data_parallel.toml"), reference)
