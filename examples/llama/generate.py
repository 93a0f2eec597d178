#!/usr/bin/env python3
"""Text from prompts, as it is made: generate.py llama-1b.toml "Once upon a time" "The sea".

Several prompts are decoded at once. Needs the Python packages baton and numpy. Text needs the model's
tokenizer.json beside the program and the package tokenizers; with --ids prompts and text are numbers.
"""

import argparse
import pathlib

import numpy

import baton


class Sequence:
    """A text that grows on the device: an instance of the program, with a stream of its own.

    prompt: token numbers, at least one. count: the most tokens that are added. chunk: the most that
    one `advance` adds. All sequences of one baton.Program share its kernels, and weights from files.
    """

    def __init__(self, program, prompt, count, chunk, device=None, symbols=None):
        self.bound = program.bind(device=device, executor="graph", symbols=dict(
            symbols or {}, RESUME=1, STEPS=chunk, PROMPT=len(prompt), LIMIT=len(prompt) - 1 + count))
        tokens = self.bound.symbols["V"]
        for token in prompt:  # the kernels do not check them
            if not 0 <= token < tokens:
                raise ValueError(f"the prompt has token {token}, the model has 0 to {tokens - 1}")
        self.stop = self.bound.symbols["STOP"]
        self.limit = self.bound.symbols["LIMIT"]
        self.stream = baton.Stream(self.bound.device)
        self.seen = len(prompt)  # tokens that the caller has
        self.bound.array("tokens")[:len(prompt)].copy_from(numpy.array(prompt, numpy.int32))
        self.bound.prepare(self.stream)
        self.done = False

    def advance(self):
        """Enqueues one run of the program, and does not wait."""
        self.bound.enqueue(self.stream)

    def take(self):
        """Waits for the run, and returns the tokens that it added."""
        self.bound.wait(self.stream)
        position = int(self.bound.array("position").numpy()[0])
        new = self.bound.array("tokens")[self.seen:position + 1].numpy().tolist()
        self.seen = position + 1
        self.done |= position == self.limit or new[-1:] == [self.stop]
        return new


def generate(program, prompts, count, chunk=8, device=None, symbols=None):
    """Yields (number of the prompt, new tokens) as the texts grow. All of them are decoded at once."""
    texts = [Sequence(program, prompt, count, chunk, device, symbols) for prompt in prompts]
    growing = dict(enumerate(texts))
    for text in texts:
        text.advance()
    while growing:
        grown = [(number, text.take()) for number, text in growing.items()]
        growing = {number: text for number, text in growing.items() if not text.done}
        for text in growing.values():
            text.advance()  # the device goes on while the caller has a look at what there is
        yield from grown


class Words:
    """Tokens as text, piece by piece."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.tokens, self.shown = [], ""

    def add(self, tokens):
        """The text that the tokens add. An incomplete character waits for its other tokens."""
        self.tokens += tokens
        text = self.tokenizer.decode(self.tokens)
        if text.endswith("\ufffd"):
            return ""
        piece, self.shown = text[len(self.shown):], text
        return piece


class Numbers:
    def add(self, tokens):
        return "".join(f" {token}" for token in tokens)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("prompt", nargs="+")
    parser.add_argument("--count", type=int, default=128, help="the most tokens that are added to each prompt")
    parser.add_argument("--chunk", type=int, default=8, help="tokens between two looks of the host")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 takes the most likely token")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ids", action="store_true", help='prompts are numbers of tokens: "3 14 15"')
    options = parser.parse_args()
    if options.ids:
        prompts = [[int(number) for number in prompt.split()] for prompt in options.prompt]
        texts = [Numbers() for _ in prompts]
    else:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(options.program.with_name("tokenizer.json")))
        prompts = [tokenizer.encode(prompt).ids for prompt in options.prompt]
        texts = [Words(tokenizer) for _ in prompts]

    # One text is shown as it grows. Of several, each piece has a line.
    alone = len(prompts) == 1
    if alone:
        print(options.prompt[0], end="", flush=True)
    for number, new in generate(baton.Program(options.program), prompts, options.count, options.chunk, symbols={
            "TEMPERATURE": round(100 * options.temperature), "SEED": options.seed}):
        piece = texts[number].add(new)
        print(piece if alone else f"{number}:{piece}\n", end="", flush=True)
    if alone:
        print()


if __name__ == "__main__":
    main()
