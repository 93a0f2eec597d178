"""What decode_until.toml computes: the tokens of one sequence up to its end token."""

import importlib.util
import pathlib
import sys

import numpy

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(EXAMPLES))
import baton_random  # noqa: E402


def decode_loop():
    """The reference of the example with the same kernels."""
    spec = importlib.util.spec_from_file_location("decode_loop", EXAMPLES / "decode_loop" / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reference(symbols, seed):
    sequence = decode_loop().decode(dict(symbols, STEPS=symbols["T"]), seed, 0)
    if symbols["END"] in sequence:
        sequence = sequence[:sequence.index(symbols["END"]) + 1]
    tokens = numpy.zeros(symbols["T"], numpy.int32)
    tokens[:len(sequence)] = sequence
    return {"tokens": tokens, "position": numpy.array([len(sequence)], numpy.int32)}


if __name__ == "__main__":
    baton_random.main(pathlib.Path(__file__).with_name("decode_until.toml"), reference)
