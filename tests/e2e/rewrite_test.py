#!/usr/bin/env python3
"""Kernels that are given the wait that they lack: rewrite_test.py EXAMPLE..., or all. Every example gives its
results with every placement, in every order that the simulated GPU knows."""

import numpy

import examples_test
from baton import ON_GPU, ROOT, Case, main

EXAMPLES = ROOT / "examples"
MODES = ["wait", "loads", "exit", "top"]
SCHEDULES = ["serial", "late", "early", "reverse", "random:1"]

# A few blocks of each, so that launches have something to overlap.
SIZES = {
    "saxpy": "N=1500",
    "softmax": "ROWS=5 COLUMNS=33",
    "gemm_tiled": "M=65 N=130 K=17",
    "histogram": "N=3001",
    "prefix_sum": "N=5000",
    "decode_layer": "K=100 N=61",
}

CHAIN = """\
[buffers.w]
dtype = "f32"
shape = [512]
role = "weight"
init = "random"
[buffers.x]
dtype = "f32"
shape = [512]
role = "input"
init = "random"
[buffers.y]
dtype = "f32"
shape = [512]
init = "zeros"
[buffers.z]
dtype = "f32"
shape = [512]
role = "output"
[kernels.step]
text = '''
extern "C" __global__ void step(const float* __restrict__ w, const float* __restrict__ from,
                                float* __restrict__ to, unsigned n) {
  __shared__ float sums[128];
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  sums[threadIdx.x] = w[i];
  __syncthreads();
  float sum = sums[127 - threadIdx.x];
  for (unsigned k = threadIdx.x; k < n; k += blockDim.x) sum += from[k];
  to[i] = sum;
}
'''
%s
[[steps]]
launch = "step"
grid = [4]
block = [128]
args = ["w", "x", "y", 512]
[[steps]]
repeat = 3
steps = [ { launch = "step", grid = [4], block = [128], args = ["w", "y", "z", 512] },
          { launch = "step", grid = [4], block = [128], args = ["w", "z", "y", 512] } ]
[[steps]]
launch = "step"
grid = [4]
block = [128]
args = ["w", "y", "z", 512]
"""


def in_every_order():
    """On a GPU there is one."""
    return [["--schedule", schedule] for schedule in SCHEDULES] if not ON_GPU else [[]]


class Rewritten(Case):
    def run_everywhere(self, name):
        output, _ = examples_test.OUTPUTS[name]
        symbols = SIZES[name].split()
        examples_test.Examples.reference(self, name, symbols, 3)
        sets = [part for symbol in symbols for part in ("--set", symbol)]
        for mode in MODES:
            for order in in_every_order():
                with self.subTest(mode=mode, order=order):
                    result = self.baton("run", EXAMPLES / name / f"{name}.toml", "--rewrite", mode,
                                        "--expect", f"{output}={output}.npy", "--seed", 3, "--json",
                                        *sets, *order)
                    self.check(result, 0)
                    json = result.json()
                    self.assertEqual(json["findings"], [])
                    for rewrite in json["rewrites"]:
                        self.assertIsNone(rewrite["obstacle"], rewrite)
                        kinds = {change["what"] for change in rewrite["changes"]}
                        self.assertIn("wait", kinds)
                    self.assertTrue(all(edge["verdict"] != "unsafe" for edge in json["edges"]), json["edges"])


def add_test(name):
    setattr(Rewritten, f"test_{name}", lambda self: self.run_everywhere(name))


for _name in SIZES:
    add_test(_name)


class Chain(Case):
    def rewritten(self, path):
        """What a run says in each mode and order; without rewriting no edge is known to be safe."""
        plain = self.baton("run", path, "--output", "z=plain.npy", "--json")
        self.check(plain, 0)
        self.assertNotIn("rewrites", plain.json())
        for edge in plain.json()["edges"]:
            self.assertEqual((edge["verdict"], edge["decision"]), ("unknown", "full"), edge)
        want = numpy.load(self.folder / "plain.npy")
        for mode in ["auto", *MODES]:
            for order in in_every_order():
                with self.subTest(mode=mode, order=order):
                    result = self.baton("run", path, "--rewrite", mode, "--output", "z=z.npy", "--json", *order)
                    self.check(result, 0)
                    json = result.json()
                    self.assertEqual(json["findings"], [])
                    for edge in json["edges"]:
                        self.assertEqual((edge["verdict"], edge["decision"]), ("proven", "programmatic"), edge)
                    self.assertEqual(numpy.load(self.folder / "z.npy").tobytes(), want.tobytes())
                    yield mode, json

    def test_every_edge_is_proven_and_used(self):
        for _ in self.rewritten(self.write("chain.toml", CHAIN % "")):
            pass

    def test_a_kernel_that_waits_keeps_its_wait(self):
        waits = CHAIN.replace("  __shared__", "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n  __shared__") % ""
        path = self.write("chain.toml", waits)
        for mode, json in self.rewritten(path):
            [rewrite] = json["rewrites"]
            self.assertIsNone(rewrite["obstacle"])
            self.assertIn("its own wait, at <kernel step>:", rewrite["own"])
            changes = {change["what"] for change in rewrite["changes"]}
            self.assertEqual("trigger" in changes, mode not in ("auto", "wait"))
            self.assertNotIn("wait", changes)
        table = self.baton("check", path, "--rewrite", "wait")
        self.check(table, 0)
        self.assertRegex(table.out, "step +nothing else +it keeps its own wait, at")

    def test_check_says_what_goes_where(self):
        path = self.write("chain.toml", CHAIN % 'rewrite = "loads"')
        result = self.baton("check", path, "--json")
        self.check(result, 0)
        [rewrite] = result.json()["rewrites"]
        self.assertEqual((rewrite["kernel"], rewrite["mode"], rewrite["obstacle"]), ("step", "loads", None))
        self.assertIsNone(rewrite["own"])
        kinds = [change["what"] for change in rewrite["changes"]]
        self.assertEqual(kinds[:2], ["wait", "trigger"])
        self.assertEqual(set(kinds[2:]), {"plain load"})
        # Behind the weights and the barrier, in front of the loop.
        self.assertIn("<kernel step>:8", rewrite["changes"][0]["where"])
        self.assertIn("the kernel then reads memory", rewrite["changes"][0]["reason"])
        table = self.baton("check", path)
        self.check(table, 0)
        self.assertIn("gets a", table.out)
        kept = self.baton("run", path, "--keep", "kept")
        self.check(kept, 0)
        self.assertIn("griddepcontrol.wait", (self.folder / "kept" / "step.rewritten.ptx").read_text())
        self.assertNotIn("griddepcontrol", (self.folder / "kept" / "step.ptx").read_text())

    def test_off_leaves_the_image_alone(self):
        path = self.write("chain.toml", CHAIN % 'rewrite = "loads"')
        for options, environment in [(["--pdl", "off"], {}), ([], {"BATON_PDL": "off"})]:
            result = self.baton("run", path, "--json", *options, **environment)
            self.check(result, 0)
            self.assertNotIn("rewrites", result.json())
            self.assertTrue(all(edge["decision"] == "full" for edge in result.json()["edges"]))

    def test_words_that_it_does_not_know(self):
        path = self.write("chain.toml", CHAIN % 'rewrite = "exits"')
        self.check(self.baton("check", path), 2, "\"exits\"", "did you mean \"exit\"")
        path = self.write("chain.toml", CHAIN % "")
        self.check(self.baton("check", path, "--rewrite", "tpo"), 2, "--rewrite", "did you mean \"top\"")


if __name__ == "__main__":
    main()
