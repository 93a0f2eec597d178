"""examples/llama/attention.cu beside NumPy, for more rows than a block takes at once."""

import numpy as np
import pytest

from conftest import ROOT
from test_llama import module

LLAMA = ROOT / "examples" / "llama"
QUERIES = 4  # for each head of keys and values
ROWS = 1024  # of the caches
ROWS_OF_A_BLOCK = 128  # at a time: 8 warps take 16 each


def bits(x):
    """Values of bf16, a type that NumPy lacks."""
    return (np.asarray(x, np.float32).view(np.uint32) >> 16).astype(np.uint16).view("V2")


def values(bf16):
    return (bf16.view(np.uint16).astype(np.uint32) << 16).view(np.float32)


@pytest.mark.parametrize("width, heads, splits, position", [
    (64, 2, 2, 0),  # one row, so that most warps have none
    (64, 1, 8, 37),
    (64, 1, 16, 77),
    (64, 2, 2, 2 * ROWS_OF_A_BLOCK - 1),  # each warp has a whole tile
    (64, 1, 2, 2 * ROWS_OF_A_BLOCK),      # and the first warps another row
    (128, 2, 8, 130),
    (128, 1, 2, 899),                     # several tiles, the last of which is not whole
])
def test_attention_is_that_of_numpy(baton, width, heads, splits, position):
    random = np.random.default_rng(position)
    rounded = module(LLAMA / "reference.py").bf16
    keys, vals = (rounded(random.standard_normal((ROWS, heads, width))) for _ in range(2))
    # What is there after the newest row does not count, and is no number.
    keys[position + 1:] = vals[position + 1:] = np.nan
    queries = random.standard_normal((heads, QUERIES, width)).astype(np.float32)

    scores = np.einsum("hqc,rhc->hqr", queries, keys[:position + 1]) / np.sqrt(width)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    wanted = np.einsum("hqr,rhc->hqc", weights / weights.sum(-1, keepdims=True), vals[:position + 1])

    kernel = baton.compile(LLAMA / "attention.cu")["attend"]
    out = baton.array(bits(np.zeros((heads, QUERIES, width))), dtype="bf16")
    kernel.launch(baton.array(queries), baton.array(bits(keys), dtype="bf16"), baton.array(bits(vals), dtype="bf16"),
                  baton.array(np.array([position], np.int32)), out, heads, width, 1 / np.sqrt(width),
                  grid=heads * splits, cluster=splits, block=256)
    # The result is rounded to bf16, and nothing before it.
    assert np.abs(values(out.numpy()) - wanted).max() <= 2.0**-8 * np.abs(wanted).max()
