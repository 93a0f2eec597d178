"""examples/llama/generate.py: texts that grow at once, a chunk of tokens at a time."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import baton as baton_package

from conftest import ROOT

# The best two scores of each step are at least 0.01 apart, which is more than rounding changes them.
PROMPTS = [[79, 38, 14], [5], [3, 11]]
COUNT = 5


def module(path):
    spec = importlib.util.spec_from_file_location(f"llama_{path.stem}", path)
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.fixture(scope="module")
def llama():
    """The folder of the example, and its program."""
    folder = ROOT / "examples" / "llama"
    return folder, baton_package.Program(folder / "llama.toml")


@pytest.fixture(scope="module")
def wanted(llama):
    """What follows each prompt, by the reference."""
    folder, program = llama
    reference = module(folder / "reference.py")
    weights = reference.weights(program.symbols)
    return [reference.continued(program.symbols, weights, prompt, COUNT) for prompt in PROMPTS]


@pytest.mark.baton(schedules=["random:7"])
def test_three_texts_at_once(baton, llama, wanted):
    folder, program = llama
    pieces = [[] for _ in PROMPTS]
    for number, new in module(folder / "generate.py").generate(program, PROMPTS, COUNT, chunk=2, device=baton.target):
        pieces[number].append(new)
    assert [list(map(len, got)) for got in pieces] == [[2, 2, 1]] * 3
    assert [sum(got, []) for got in pieces] == wanted


def test_a_text_ends_and_another_begins(baton, llama, wanted):
    folder, program = llama
    text = module(folder / "generate.py").Sequence(program, PROMPTS[0], COUNT, chunk=2, device=baton.target,
                                                   symbols={"STOP": wanted[0][2], "CHUNK": 2})
    got = []
    for _ in range(3):  # the last run finds a text that has ended
        text.advance()
        got.append(text.take())
    assert text.done and got == [wanted[0][:2], wanted[0][2:3], []]

    # In the same memory, behind another prompt, by one run: nothing of the old text is left.
    whole = text.bound
    whole.set(RESUME=0, STEPS=COUNT, PROMPT=1, LIMIT=COUNT, STOP=-1)
    whole.array("tokens")[:1].copy_from(np.array(PROMPTS[1], np.int32))
    whole.enqueue(text.stream)
    whole.wait(text.stream)
    assert whole.array("position").numpy().tolist() == [COUNT]
    assert whole.array("tokens")[1:COUNT + 1].numpy().tolist() == wanted[1]


def test_the_command_line(baton, llama, wanted):
    folder, _ = llama
    done = subprocess.run([sys.executable, folder / "generate.py", folder / "llama.toml", "--ids", "--count", "3",
                           "--chunk", "2", "5"], capture_output=True, text=True, check=True)
    assert done.stdout == "5" + "".join(f" {token}" for token in wanted[1][:3]) + "\n"


class Bytes:
    """A tokenizer whose tokens are bytes of UTF-8."""

    def decode(self, tokens):
        return bytes(tokens).decode(errors="replace")


def test_a_character_of_several_tokens_is_shown_as_a_whole(llama):
    words = module(llama[0] / "generate.py").Words(Bytes())
    tokens = list("é€".encode())
    assert [words.add([token]) for token in tokens] == ["", "é", "", "", "€"]
    assert words.add(list(b" ab")) == " ab"
