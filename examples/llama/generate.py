#!/usr/bin/env python3
"""Text from a prompt, by llama-1b.toml or llama-8b.toml: generate.py PROGRAM "Once upon a time".

Needs the model's model.safetensors and tokenizer.json beside the program, and the Python packages
baton, numpy and tokenizers.
"""

import argparse
import pathlib

import numpy

import baton


def generate(program, prompt, count, device=None, symbols=None):
    """The tokens that follow `prompt`, a list of numbers: at most `count` of them."""
    symbols = dict(symbols or {}, PROMPT=len(prompt), LIMIT=len(prompt) + count)
    bound = program.bind(device=device, executor="graph", **symbols)
    tokens = numpy.zeros(bound.symbols["T"], numpy.int32)
    tokens[:len(prompt)] = prompt
    results = bound(tokens=tokens)
    last = int(numpy.asarray(results["position"])[0])
    return numpy.asarray(results["tokens"])[len(prompt):last + 1].tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("text")
    parser.add_argument("--count", type=int, default=128, help="the most tokens that are made")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 takes the most likely token")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(options.program.with_name("tokenizer.json")))
    tokens = generate(baton.Program(options.program), tokenizer.encode(options.text).ids, options.count,
                      symbols={"TEMPERATURE": round(100 * options.temperature), "SEED": options.seed})
    print(options.text + tokenizer.decode(tokens))


if __name__ == "__main__":
    main()
