"""What decode_loop.toml computes: the tokens of one sequence."""

import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import baton_random  # noqa: E402


def decode(symbols, seed, first):
    """The tokens that follow `first`, STEPS of them."""
    k, v = symbols["K"], symbols["V"]
    embedding, head = (baton_random.random(name, (v, k), numpy.float32, seed).astype(float)
                       for name in ("embedding", "head"))
    wq, wk, wv = (baton_random.random(name, (k, k), numpy.float32, seed).astype(float)
                  for name in ("wq", "wk", "wv"))
    keys, values, tokens, token = [], [], [], first
    for _ in range(symbols["STEPS"]):
        x = embedding[token]
        query = wq @ x / numpy.sqrt(k)
        keys.append(wk @ x / numpy.sqrt(k))
        values.append(wv @ x / numpy.sqrt(k))
        scores = numpy.array(keys) @ query / numpy.sqrt(k)
        shares = numpy.exp(scores - scores.max())
        attended = shares @ numpy.array(values) / shares.sum()
        token = int(numpy.argmax(head @ attended))
        tokens.append(token)
    return tokens


def reference(symbols, seed):
    tokens = numpy.zeros(symbols["T"], numpy.int32)
    tokens[:symbols["STEPS"]] = decode(symbols, seed, 0)
    return {"tokens": tokens}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("decode_loop.toml"), reference)
