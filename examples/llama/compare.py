#!/usr/bin/env python3
"""Compares parts/decode.toml with transformers, in float32 and in bf16, on random weights.

For each prompt it prints the Kullback-Leibler divergence, in nats, of the next token's distribution
from that in float32: of the program, and of transformers in bf16. Needs torch, transformers and
safetensors, and `baton` on the path.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
from safetensors.torch import save_file
from transformers import LlamaConfig, LlamaForCausalLM

HERE = pathlib.Path(__file__).resolve().parent


def make_model(options):
    config = LlamaConfig(
        hidden_size=options.hidden, intermediate_size=options.inner,
        num_hidden_layers=options.layers, num_attention_heads=options.hidden // options.width,
        num_key_value_heads=options.hidden // options.width // 4, head_dim=options.width,
        vocab_size=options.vocabulary, rms_norm_eps=1e-5, max_position_embeddings=8192,
        rope_theta=500000.0, tie_word_embeddings=False, initializer_range=options.deviation)
    torch.manual_seed(options.seed)
    return LlamaForCausalLM(config).to(torch.bfloat16).eval()


def write_program(folder, model, options):
    """The model's file, and a program of its sizes beside it."""
    save_file({name: tensor.contiguous() for name, tensor in model.state_dict().items()},
              folder / "model.safetensors")
    for name in ("parts", "setup.cu", "layer.cu", "attention.cu", "head.cu", "matvec.cuh", "cluster.cuh",
                 "shared.cuh"):
        (folder / name).symlink_to(HERE / name)
    heads = options.hidden // options.width
    (folder / "model.toml").write_text(f"""
include = ["parts/weights-file.toml", "parts/decode.toml"]
[symbols]
K = {options.hidden}
I = {options.inner}
LAYERS = {options.layers}
H = {heads}
G = {heads // 4}
D = {options.width}
V = {options.vocabulary}
T = 1024
ROPE_FACTOR = 1
STOP = -1
PROMPT = {options.tokens}
LIMIT = {options.tokens}
[buffers]
head = {{ dtype = "bf16", shape = ["V", "K"], role = "weight", file = "model.safetensors", tensor = "lm_head.weight" }}
""")


def divergence(logits, reference):
    ours, theirs = (torch.log_softmax(torch.as_tensor(x).double(), -1) for x in (logits, reference))
    return float((theirs.exp() * (theirs - ours)).sum())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--hidden", type=int, default=1024)
    parser.add_argument("--inner", type=int, default=2048)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=64, help="columns of a head, 64 or 128")
    parser.add_argument("--vocabulary", type=int, default=1024)
    parser.add_argument("--deviation", type=float, default=0.05, help="of the random weights")
    parser.add_argument("--tokens", type=int, default=12, help="of a prompt")
    parser.add_argument("--prompts", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default=None, help="of the program")
    options = parser.parse_args()
    torch_device = "cuda" if torch.cuda.is_available() else "cpu"
    model = make_model(options)
    worse = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_program(folder, model, options)
        model = model.to(torch_device)
        exact = make_model(options).to(torch.float32).to(torch_device)
        for prompt in range(options.prompts):
            tokens = torch.randint(options.vocabulary, (1, options.tokens),
                                   generator=torch.Generator().manual_seed(prompt))
            given = numpy.zeros(1024, numpy.int32)
            given[:options.tokens] = tokens[0].numpy()
            numpy.save(folder / "tokens.npy", given)
            command = ["baton", "run", folder / "model.toml", "--executor", "graph", "--input",
                       f"tokens={folder}/tokens.npy", "--output", f"logits={folder}/logits.npy"]
            if options.device:
                command += ["--device", options.device]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            with torch.no_grad():
                want = exact(tokens.to(torch_device)).logits[0, -1].cpu()
                theirs = model(tokens.to(torch_device)).logits[0, -1].float().cpu()
            logits = torch.from_numpy(numpy.load(folder / "logits.npy"))
            ours, others = divergence(logits, want), divergence(theirs, want)
            worse += ours > others
            print(f"prompt {prompt}: program {ours:.3e}, transformers in bf16 {others:.3e}, "
                  f"largest difference {float((logits - want).abs().max()):.4f} and "
                  f"{float((theirs - want).abs().max()):.4f} of scores up to {float(want.abs().max()):.2f}")
    print(f"the program is farther from float32 than transformers in bf16 for {worse} of {options.prompts} prompts")
    return 0 if worse == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
