#!/usr/bin/env python3
"""Examples on several ranks: a pipeline, and a Llama that decodes tensor-parallel."""

import json
import shutil
import sys

import numpy

from baton import ROOT, main
from ranks import RankCase

PIPELINE = ROOT / "examples" / "pipeline_parallel"
LLAMA = ROOT / "examples" / "llama"

# The tensors of a layer by the buffers of the program, as transformers names them.
TENSORS = {"wq": "self_attn.q_proj", "wk": "self_attn.k_proj", "wv": "self_attn.v_proj",
           "wo": "self_attn.o_proj", "gate": "mlp.gate_proj", "up": "mlp.up_proj",
           "down": "mlp.down_proj", "norm1": "input_layernorm", "norm2": "post_attention_layernorm"}


def write_safetensors(file, tensors):
    """Arrays whose values bf16 holds."""
    header, data = {}, b""
    for name, array in tensors.items():
        part = (array.astype(numpy.float32).view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()
        header[name] = {"dtype": "BF16", "shape": array.shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    file.write_bytes(len(text).to_bytes(8, "little") + text + data)


class WorldExamples(RankCase):
    FOR_TWO = "H=32 G=8 I=2048 LIMIT=3 PROMPT=2"

    def test_a_pipeline(self):
        """Stages, and ranks that divide each stage: bit-equal in any layout."""
        self.reference(PIPELINE)
        program = PIPELINE / "pipeline_parallel.toml"
        options = ("--expect", "y=y.npy", "--output", "y=got.npy")
        self.check(self.baton("run", program, *options), 0)
        want = self.out("got.npy")
        for ranks, tensor, executor in ((2, 1, "stream"), (2, 2, "stream"), (4, 2, "stream"),
                                        (4, 2, "graph")):
            with self.subTest(ranks=ranks, tensor=tensor, executor=executor):
                self.check(self.baton("run", program, *options, "--devices", ",".join(["sim"] * ranks),
                                      "--set", f"TENSOR={tensor}", "--executor", executor), 0)
                numpy.testing.assert_array_equal(self.out("got.npy"), want)
        self.check(self.run_ranks(program, *options, "--set", "TENSOR=2", ranks=4)[0], 0)
        numpy.testing.assert_array_equal(self.out("got.npy"), want)
        self.check(self.baton("run", program, "--devices", "sim,sim,sim"), 2,
                   "L % stage_ranks == 0 (the stages divide the layers)")
        self.check(self.baton("run", program, "--devices", "sim,sim", "--set", "TENSOR=3"), 2,
                   "the group stage would have 0 ranks (ranks = 2, TENSOR = 3), and this run has 2")
        self.check(self.baton("run", program, "--devices", "sim,sim,sim", "--set", "TENSOR=2"), 2,
                   "the groups have the sizes stage = 1, tensor = 2, whose product is not the 3 ranks")

    def test_a_pipeline_by_mpirun(self):
        self.reference(PIPELINE)
        done = self.run_mpi(2, "run", PIPELINE / "pipeline_parallel.toml", "--expect", "y=y.npy")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.count("as expected"), 1, done)

    def llama(self, sizes):
        """The arguments of a run, whose tokens must be those of the reference."""
        options = ["--seed", "2"]
        for size in sizes.split():
            options += ["--set", size]
        self.reference(LLAMA, *options)
        return (LLAMA / "llama.toml", *options, "--expect", "tokens=tokens.npy", "--expect",
                "position=position.npy")

    def test_llama(self):
        """A rank's parts of rows are 1024, 512 and 256 elements long. Sums of products have another order on several ranks: scores differ by some thousandths
        where a value is rounded to another bf16."""
        for ranks, sizes in ((2, self.FOR_TWO + " LAYERS=1"), (2, "LIMIT=2 PROMPT=1 LAYERS=1"),
                             (4, "LIMIT=2 PROMPT=1 LAYERS=1")):
            with self.subTest(ranks=ranks, sizes=sizes):
                run = self.llama(sizes)
                self.check(self.baton("run", *run, "--output", "logits=one.npy"), 0)
                result = self.baton("run", *run, "--output", "logits=threads.npy", "--devices",
                                    ",".join(["sim"] * ranks), "--json")
                self.check(result, 0)
                self.assertEqual(result.json()["findings"], [])
                numpy.testing.assert_allclose(self.out("threads.npy"), self.out("one.npy"), atol=0.02)
                self.check(self.run_ranks(*run, "--output", "logits=processes.npy", ranks=ranks)[0], 0)
                numpy.testing.assert_array_equal(self.out("processes.npy"), self.out("threads.npy"))
        self.check(self.baton("run", LLAMA / "llama.toml", "--devices", "sim,sim,sim"), 2,
                   "G % ranks == 0 (the ranks divide the heads of keys and values)")

    def test_llama_of_two_files(self):
        """A model with an index, as transformers writes it: each rank reads its part."""
        sys.path.insert(0, str(LLAMA))
        from reference import weights
        run = self.llama(self.FOR_TWO)
        symbols = {"K": 1024, "I": 2048, "LAYERS": 2, "H": 32, "G": 8, "D": 64, "V": 512}
        buffers = weights(symbols)
        first = {"model.embed_tokens.weight": buffers["embedding"], "lm_head.weight": buffers["head"],
                 "model.norm.weight": buffers["norm"]}
        second = {}
        for buffer, name in TENSORS.items():
            for layer, into in enumerate((first, second)):
                into[f"model.layers.{layer}.{name}.weight"] = buffers[buffer][layer]
        folder = self.folder / "llama"
        shutil.copytree(LLAMA, folder)
        shards = {"model-1.safetensors": first, "model-2.safetensors": second}
        for file, tensors in shards.items():
            write_safetensors(folder / file, tensors)
        (folder / "model.safetensors.index.json").write_text(json.dumps(
            {"metadata": {}, "weight_map": {name: file for file, tensors in shards.items() for name in tensors}}))
        lines = (folder / "llama.toml").read_text().replace("weights-random.toml", "weights-file.toml")
        (folder / "files.toml").write_text(lines + """
[buffers]
head = { dtype = "bf16", shape = ["V/ranks", "K"], role = "weight", shard = { axis = 0 }, file = "model.safetensors", tensor = "lm_head.weight" }
""")
        options = [folder / "files.toml", *run[1:], "--output", "logits=got.npy", "--devices"]
        self.check(self.baton("run", run[0], *options[1:], "sim,sim"), 0)
        want = self.out("got.npy")
        self.check(self.baton("run", *options, "sim,sim"), 0)
        numpy.testing.assert_array_equal(self.out("got.npy"), want)
        (folder / "model-2.safetensors").unlink()
        result = self.baton("run", *options, "sim,sim")
        self.check(result, 2, "model-2.safetensors: No such file or directory")
        self.assertIn("model.safetensors.index.json names it as a shard: put it there", result.err)

    def test_llama_by_mpirun(self):
        done = self.run_mpi(2, "run", *self.llama(self.FOR_TWO + " LAYERS=1"))
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.count("as expected"), 2, done)


if __name__ == "__main__":
    main()
