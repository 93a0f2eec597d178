#!/usr/bin/env python3
"""Every example against its NumPy reference: examples_test.py EXAMPLE..., or all of them."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib

import numpy

from baton import DEVICE, ROOT, Case, main

EXAMPLES = ROOT / "examples"

# The output of each example, and other sizes to try: ragged ones, small ones, one element.
OUTPUTS = {
    "saxpy": ("y", ["N=1", "N=255", "N=257"]),
    "softmax": ("y", ["ROWS=1 COLUMNS=1", "ROWS=5 COLUMNS=33"]),
    "gemm_tiled": ("c", ["M=1 N=1 K=1", "M=65 N=130 K=17", "M=64 N=64 K=16"]),
    "histogram": ("counts", ["N=1", "N=70001"]),
    "prefix_sum": ("out", ["N=1", "N=1024", "N=1025", "N=300000"]),
    "decode_layer": ("out", ["K=8 N=8", "K=100 N=61", "K=256 N=512"]),
    "decode_loop": ("tokens", ["STEPS=20", "K=7 V=33 T=5 STEPS=5"]),
    "llama": ("tokens", ["T=16 LIMIT=4 PROMPT=2 BLOCKS=3",
                         "T=16 LIMIT=6 PROMPT=1 TEMPERATURE=80 SEED=5 CHUNK=4"]),
    "tensor_parallel": ("out", ["K=1 F=1 N=1", "K=33 F=7 N=65"]),
    "pipeline_parallel": ("y", ["L=1 N=1 B=1 M=1", "L=3 N=33 B=5 M=2"]),
    "data_parallel": ("w", ["B=1 K=1 H=1 STEPS=2", "B=7 K=5 H=3"]),
    "decode_until": ("tokens", ["END=104", "T=9", "K=7 V=33 T=5 END=24"]),
}


def load_reference(name):
    """The module reference.py of an example."""
    sys.dont_write_bytecode = True  # the folder is the repository's
    spec = importlib.util.spec_from_file_location(f"{name}_reference", EXAMPLES / name / "reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Examples(Case):
    def reference(self, name, symbols, seed=0):
        command = [sys.executable, "-B", EXAMPLES / name / "reference.py", "--out", self.folder,
                   "--seed", str(seed)]
        for symbol in symbols:
            command += ["--set", symbol]
        subprocess.run(command, check=True)

    def run_example(self, name, symbols=(), seed=0, more=()):
        output, _ = OUTPUTS[name]
        self.reference(name, symbols, seed)
        options = [part for symbol in symbols for part in ("--set", symbol)]
        result = self.baton("run", EXAMPLES / name / f"{name}.toml", "--expect", f"{output}={output}.npy",
                            "--seed", seed, "--json", *options, *more)
        self.check(result, 0)
        return result.json()


def add_tests(name):
    def test_full_size(self):
        json = self.run_example(name)
        self.assertTrue(all(output["ok"] for output in json["outputs"] if output["expected"]))
        self.assertEqual(json["findings"], [])

    def test_as_a_graph(self):
        json = self.run_example(name, more=("--executor", "graph"))
        self.assertTrue(all(output["ok"] for output in json["outputs"] if output["expected"]))
        self.assertEqual(json["findings"], [])
        self.assertEqual(json["graph"]["builds"], 1)

    def test_other_sizes(self):
        for sizes in OUTPUTS[name][1]:
            with self.subTest(sizes):
                json = self.run_example(name, sizes.split(), seed=7)
                self.assertEqual(json["findings"], [])

    setattr(Examples, f"test_{name}_at_full_size", test_full_size)
    setattr(Examples, f"test_{name}_at_other_sizes", test_other_sizes)
    setattr(Examples, f"test_{name}_as_a_graph", test_as_a_graph)


for _name in OUTPUTS:
    add_tests(_name)


class SavedStates(Case):
    def test_llama_goes_on_in_another_process(self):
        symbols = ["T=16", "LIMIT=5", "PROMPT=3"]
        Examples.reference(self, "llama", symbols)
        options = [part for symbol in symbols for part in ("--set", symbol)]
        states = ("tokens", "position", "k_cache", "v_cache")

        def run(*more):
            result = self.baton("run", EXAMPLES / "llama" / "llama.toml", "--json", *options, *more)
            self.check(result, 0)
            self.assertEqual(result.json()["findings"], [])

        run("--set", "STEPS=2", *(part for name in states for part in ("--output", f"{name}={name}_2.npy")))
        self.assertEqual(numpy.load(self.folder / "position_2.npy").tolist(), [4])
        run("--set", "RESUME=1", "--expect", "tokens=tokens.npy", "--expect", "position=position.npy",
            *(part for name in states for part in ("--input", f"{name}={name}_2.npy")))


class CppExamples(Case):
    """The C++ variants, where they were built: BATON_EXAMPLES is their folder."""

    def run_cpp(self, name):
        folder = os.environ.get("BATON_EXAMPLES")
        if not folder:
            self.skipTest("BATON_EXAMPLES is not set")
        environment = dict(os.environ, BATON_CACHE_DIR=self._cache.name)
        environment.setdefault("BATON_DEVICE", DEVICE)
        return subprocess.run([os.path.join(folder, name)], check=True, capture_output=True,
                              text=True, env=environment).stdout

    def test_saxpy(self):
        self.assertIn("all 1000003 results are right", self.run_cpp("saxpy"))

    def test_decode_layer(self):
        Examples.reference(self, "decode_layer", [])
        want = numpy.load(self.folder / "out.npy")[:4]
        values = re.search(r"out = (.*) \.\.\.", self.run_cpp("decode_layer")).group(1).split()
        numpy.testing.assert_allclose([float(value) for value in values], want, rtol=1e-3, atol=1e-4)


class Engines(Case):
    """The engines of decode_loop over a bundle, where they were built: no compiler, no source."""

    COUNT = 20

    def run_engine(self, name):
        folder = os.environ.get("BATON_EXAMPLES")
        if not folder or not os.path.exists(os.path.join(folder, name)):
            self.skipTest(f"{name} was not built")
        bundle = self.folder / "moved" / "decode_loop.baton"
        bundle.parent.mkdir()
        arch = "sm_90a"
        result = self.baton("build", EXAMPLES / "decode_loop" / "decode_loop.toml", "-o", bundle,
                            "--arch", arch, "--no-sources")
        self.check(result, 0)
        environment = dict(os.environ, BATON_CACHE_DIR=str(self.folder / "empty"),
                           BATON_NVRTC="/nonexistent")
        environment.setdefault("BATON_DEVICE", DEVICE)
        result = subprocess.run([os.path.join(folder, name), bundle.name, str(self.COUNT)],
                                cwd=bundle.parent, check=True, capture_output=True, text=True,
                                env=environment)
        reference = load_reference("decode_loop")
        symbols = {"K": 64, "V": 256, "T": 128, "STEPS": self.COUNT}
        want = [reference.decode(symbols, 0, first) for first in range(3)]
        got = [[int(token) for token in line.split()] for line in result.stdout.splitlines()]
        self.assertEqual(got, want)

    def test_cpp(self):
        self.run_engine("engine")

    def test_c(self):
        self.run_engine("engine_c")


class Generators(Case):
    """generate.cc of llama, where it was built: texts that grow at once, a chunk of tokens at a time."""

    PROMPTS = ([79, 38, 14], [5], [3, 11])
    COUNT, CHUNK = 5, 2

    def run_generate(self, *arguments, status=0):
        folder = os.environ.get("BATON_EXAMPLES")
        if not folder or not os.path.exists(os.path.join(folder, "generate")):
            self.skipTest("generate was not built")
        environment = dict(os.environ, BATON_CACHE_DIR=self._cache.name)
        environment.setdefault("BATON_DEVICE", DEVICE)
        result = subprocess.run([os.path.join(folder, "generate"), *map(str, arguments)],
                                cwd=self.folder, capture_output=True, text=True, env=environment,
                                check=False)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def test_streams_three_texts(self):
        path = EXAMPLES / "llama"
        prompts = [" ".join(map(str, prompt)) for prompt in self.PROMPTS]
        lines = self.run_generate(path / "llama.toml", self.COUNT, self.CHUNK,
                                  *prompts).stdout.splitlines()
        pieces = [[] for _ in prompts]
        for line in lines:
            number, _, tokens = line.partition(":")
            pieces[int(number)].append([int(token) for token in tokens.split()])

        reference = load_reference("llama")
        with open(path / "llama.toml", "rb") as file:
            symbols = tomllib.load(file)["symbols"]
        weights = reference.weights(symbols)
        for prompt, got in zip(self.PROMPTS, pieces):
            self.assertEqual([len(piece) for piece in got], [2, 2, 1])
            self.assertEqual(sum(got, []), reference.continued(symbols, weights, prompt, self.COUNT))

    def test_bad_arguments(self):
        program = EXAMPLES / "llama" / "llama.toml"
        self.run_generate(program, 5, 2, status=2)
        self.run_generate(program, 5, 2, "3 x", status=2)
        for token in (-1, 512):
            result = self.run_generate(program, 5, 2, f"3 {token}", status=2)
            self.assertIn(f"the prompt has token {token}, the model has 0 to 511", result.stderr)
        self.run_generate(program, 0, 2, "3", status=2)
        result = self.run_generate(program, 64, 2, "3", status=2)
        self.assertIn("the cache has room", result.stderr)


class EveryExample(Case):
    def test_is_listed(self):
        folders = {path.parent.name for path in EXAMPLES.glob("*/*.toml")}
        self.assertEqual(folders, set(OUTPUTS))


if __name__ == "__main__":
    main()
