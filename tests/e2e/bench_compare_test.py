#!/usr/bin/env python3
"""`baton bench`: counts of the simulated GPU, comparisons, gates and plots."""

import json
import unittest
import xml.etree.ElementTree as ET

from baton import ON_GPU, Case, buffer, kernel, launch, main, program
from svg_words import boxes

# STRIDE 32 sends all lanes to one bank, 33 each to a bank of its own.
SOURCE = """extern "C" __global__ void k(int* y, const int* x, int n) {
  __shared__ int s[32 * 33];
  int i = blockIdx.x * 32 + threadIdx.x;
  s[threadIdx.x * STRIDE] = x[i * STEP % n];
  __syncwarp();
  if (threadIdx.x < ACTIVE) y[i] = s[threadIdx.x * STRIDE];
}"""
BLOCKS = 8
N = 32 * BLOCKS


def source(stride=33, step=1, active=32):
    return SOURCE.replace("STRIDE", str(stride)).replace("STEP", str(step)).replace("ACTIVE", str(active))


def text_of(**options):
    return program(buffer("x", "i32", ["N"], "input", "arange"), buffer("y", "i32", ["N"], "output", "zeros"),
                   kernel("k", text=source(**options)),
                   launch("k", ["N / 32"], [32], ["y", "x", "N"]), N=N)


@unittest.skipIf(ON_GPU, "the simulated GPU counts")
class Counts(Case):
    def counts(self, text, *arguments):
        self.write("p.toml", text)
        result = self.baton("bench", "p.toml", "--repeat", "1", "--json", *arguments)
        self.check(result, 0)
        return result.json()["steps"][0]["counts"]

    def test_of_an_orderly_kernel(self):
        counts = self.counts(text_of())
        self.assertEqual(counts["global_requests"], 2 * BLOCKS)  # a load and a store of each warp
        self.assertEqual(counts["global_sectors"], 2 * 4 * BLOCKS)  # of 128 bytes each
        self.assertEqual(counts["shared_requests"], 2 * BLOCKS)
        self.assertEqual(counts["shared_passes"], 2 * BLOCKS)
        self.assertEqual(counts["shared_conflicts"], 0)
        self.assertEqual(counts["bytes"], 2 * 4 * N)
        self.assertEqual(counts["instructions"], 32 * counts["warp_instructions"])

    def test_of_bank_conflicts(self):
        counts = self.counts(text_of(stride=32))
        self.assertEqual(counts["shared_passes"], 2 * 32 * BLOCKS)
        self.assertEqual(counts["shared_conflicts"], 2 * 31 * BLOCKS)

    def test_of_strided_accesses(self):
        self.assertEqual(self.counts(text_of(step=8))["global_sectors"], (32 + 4) * BLOCKS)

    def test_of_a_part_of_the_threads(self):
        counts = self.counts(text_of(active=8))
        self.assertEqual(counts["global_sectors"], (4 + 1) * BLOCKS)
        self.assertLess(counts["instructions"], 32 * counts["warp_instructions"])
        self.assertEqual(counts["bytes"], 4 * N + 4 * 8 * BLOCKS)

    def test_as_a_graph(self):
        self.assertEqual(self.counts(text_of(stride=32), "--executor", "graph"), self.counts(text_of(stride=32)))

    def test_wide_accesses_and_atomics(self):
        text = """extern "C" __global__ void k(float4* y, const float4* x, int* sum) {
  y[threadIdx.x] = x[threadIdx.x];
  atomicAdd(sum, 1);
}"""
        counts = self.counts(program(
            buffer("x", "f32", [128], "input", "arange"), buffer("y", "f32", [128], "output"),
            buffer("sum", "i32", [1], "inout", "zeros"), kernel("k", text=text),
            launch("k", [1], [32], ["y", "x", "sum"])))
        self.assertEqual(counts["global_sectors"] - counts["global_requests"], 15 + 15 + 0, counts)

    def test_the_results_are_those_of_a_run(self):
        self.write("p.toml", text_of(stride=32))
        result = self.baton("run", "p.toml", "--output", "y=y.npy")
        self.check(result, 0)
        run, bench = result, self.baton("bench", "p.toml", "--repeat", "1", "--json").json()
        self.assertEqual(bench["findings"], [], run)

    def test_for_people(self):
        self.write("p.toml", text_of(stride=32))
        out = self.baton("bench", "p.toml", "--repeat", "1").out
        for part in ("threads/warp", "sectors/request", "bank conflicts"):
            self.assertIn(part, out)


class Comparisons(Case):
    def setUp(self):
        super().setUp()
        self.write("good.toml", text_of())
        self.write("bad.toml", text_of(stride=32))

    def compare(self, *arguments, status=0):
        result = self.baton("bench", *arguments, "--json")
        self.assertEqual(result.status, status, result)
        return result.json()

    def save_baseline(self, name="good.toml", file="old.json"):
        result = self.baton("bench", name, "--repeat", "6", "--json")
        self.check(result, 0)
        return self.write(file, result.out)

    @unittest.skipIf(ON_GPU, "the simulated GPU compares counts")
    def test_of_two_programs(self):
        found = self.compare("good.toml", "bad.toml")
        self.assertEqual(found["comparison"]["verdict"], "worse")
        self.assertEqual(found["comparison"]["counts"]["before"]["shared_conflicts"], 0)
        self.assertEqual(found["comparison"]["counts"]["after"]["shared_conflicts"], 62 * BLOCKS)
        self.assertEqual(found["status"], "warnings")
        self.assertEqual(found["first"]["file"], "good.toml")
        self.assertEqual(self.compare("bad.toml", "good.toml")["comparison"]["verdict"], "better")
        self.assertEqual(self.compare("good.toml", "good.toml")["comparison"]["verdict"], "same")
        out = self.baton("bench", "bad.toml", "good.toml").out
        for part in ("before   bad.toml", "after    good.toml", "bank conflicts", "-100 %",
                     "verdict  better (exact counts of the simulated GPU)"):
            self.assertIn(part, out)

    @unittest.skipIf(ON_GPU, "the simulated GPU compares counts")
    def test_gates(self):
        self.check(self.baton("bench", "good.toml", "bad.toml", "--strict"), 1, "--strict")
        self.check(self.baton("bench", "good.toml", "bad.toml", "--limit", "10"), 1, "bank conflicts", "10 %")
        self.check(self.baton("bench", "good.toml", "good.toml", "--limit", "0", "--strict"), 0)
        self.check(self.baton("bench", "bad.toml", "good.toml", "--limit", "0", "--strict"), 0)
        found = self.compare("good.toml", "bad.toml", "--limit", "10", status=1)
        self.assertEqual((found["status"], found["error"]["code"]), ("failed", "mismatch"))

    @unittest.skipIf(ON_GPU, "the simulated GPU compares counts")
    def test_with_a_baseline(self):
        self.save_baseline()
        self.check(self.baton("bench", "good.toml", "--repeat", "1", "--baseline", "old.json", "--limit", "0"), 0)
        self.check(self.baton("bench", "bad.toml", "--repeat", "1", "--baseline", "old.json", "--limit", "50"), 1,
                   "old.json", "50 %")
        found = self.compare("bad.toml", "--repeat", "1", "--baseline", "old.json")
        self.assertEqual(found["comparison"]["before"], "old.json")
        self.assertEqual(found["comparison"]["verdict"], "worse")

    @unittest.skipIf(ON_GPU, "the simulated GPU compares counts")
    def test_programs_with_different_steps(self):
        again = launch("k", ["N / 32"], [32], ["y", "x", "N"])
        self.write("twice.toml", text_of() + again)
        result = self.baton("bench", "good.toml", "twice.toml")
        self.check(result, 0)
        self.assertIn("different steps", result.out)
        self.assertIn("+100 %", result.out)

    def test_of_times(self):
        """A baseline without counts, as of a GPU: its times are compared."""
        old = json.loads(self.save_baseline().read_text())
        for step in old["steps"]:
            step["counts"] = None
        old["run"]["samples"] = [1e-9] * 20
        self.write("fast.json", json.dumps(old))
        arguments = ("bench", "good.toml", "--repeat", "8", "--baseline", "fast.json")
        result = self.baton(*arguments, "--json")
        self.check(result, 0)
        times = result.json()["comparison"]["times"]
        self.assertEqual((result.json()["comparison"]["verdict"], times["paired"]), ("worse", False))
        self.assertLessEqual(times["low"], times["ratio"])
        self.assertLessEqual(times["ratio"], times["high"])
        self.check(self.baton(*arguments, "--limit", "5"), 1, "more time than fast.json", "5 %")
        self.assertRegex(self.baton(*arguments).out, r"verdict  worse: .* % more time; .* at 95 %, 8 runs taken apart")
        old["run"]["samples"] = [1e-9] * 5
        self.write("few.json", json.dumps(old))
        few = self.baton("bench", "good.toml", "--repeat", "8", "--baseline", "few.json", "--json").json()
        self.assertEqual(few["comparison"]["verdict"], "unknown")

    def test_what_cannot_be_compared(self):
        old = json.loads(self.save_baseline().read_text())
        self.check(self.baton("bench", "good.toml", "--baseline", "old.json", "--set", "N=32"), 2, "N = 32", "N=256")
        self.check(self.baton("bench", "good.toml", "bad.toml", "--baseline", "old.json"), 2, "--baseline")
        self.check(self.baton("bench", "good.toml", "--limit", "3"), 2, "--limit")
        self.check(self.baton("bench", "good.toml", "bad.toml", "--limit", "-3"), 2, "--limit")
        self.check(self.baton("bench", "good.toml", "--baseline", "none.json"), 2, "none.json")
        changes = [("version", 2, "version 2"), ("device_name", "Another GPU", "Another GPU"), ("executor", "graph", "graph"),
                   ("command", "run", "baton run"), ("steps", 3, "steps"), ("run", {}, "samples"),
                   ("symbols", {"N": "x"}, "symbols"), ("error", {"what": "it burnt"}, "it burnt")]
        for key, value, part in changes:
            self.write("other.json", json.dumps({**old, key: value}))
            self.check(self.baton("bench", "good.toml", "--baseline", "other.json"), 2, part)
        for text in ("", "[]", "{", "{}", '{"command": 1}', "\x00"):
            self.write("other.json", text)
            self.check(self.baton("bench", "good.toml", "--baseline", "other.json"), 2)


class Plots(Case):
    def setUp(self):
        super().setUp()
        self.write("p.toml", text_of().replace('name = "test"', 'name = "<b>&\\"x"'))

    def test_a_picture(self):
        self.check(self.baton("bench", "p.toml", "--repeat", "4", "--plot", "p.svg"), 0)
        root = ET.parse(self.folder / "p.svg").getroot()
        self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
        texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertTrue(any('<b>&"x' in text for text in texts), texts)
        for part in ("Time of each step", "Distribution of 4 whole runs", "the roof"):
            self.assertTrue(any(part in text for text in texts), texts)
        self.assertFalse([element for element in root.iter() if element.tag.endswith("script")])
        # The median may be anywhere below its title, since one run of four may be far from the others.
        lines = {text: y for text, _, _, y in boxes((self.folder / "p.svg").read_text())}
        median = next(y for text, y in lines.items() if text.startswith("median "))
        self.assertGreaterEqual(median - lines["Distribution of 4 whole runs"], 12)

    def test_a_roofline(self):
        """Of the steps that say what they compute."""
        text = (self.folder / "p.toml").read_text()
        self.write("p.toml", text.replace("[[steps]]\nlaunch", '[[steps]]\nflops = "2*N"\nlaunch', 1))
        result = self.baton("bench", "p.toml", "--repeat", "4", "--plot", "p.svg", "--json")
        self.check(result, 0)
        found = result.json()
        steps = [step for step in found["steps"] if step["flops"] is not None]
        self.assertEqual([step["flops"] for step in steps], [2 * N * steps[0]["executions"]])
        self.assertEqual(found["run"]["flops"], steps[0]["flops"])
        self.assertAlmostEqual(steps[0]["flops_per_second"], steps[0]["flops"] / steps[0]["times"]["median"])
        for key in ("f32_flops_per_second", "f16_mma_flops_per_second"):
            self.assertGreater(found["ceiling"][key], 0)
        root = ET.parse(self.folder / "p.svg").getroot()
        texts = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]
        for part in ("Roofline", "multiply-adds of f32", "mma.sync of f16", "FLOP/B"):
            self.assertTrue(any(part in text for text in texts), texts)
        # Without a word about it there is none.
        self.write("p.toml", text)
        result = self.baton("bench", "p.toml", "--repeat", "4", "--plot", "p.svg", "--json")
        self.assertIsNone(result.json()["ceiling"]["f32_flops_per_second"])
        self.assertNotIn("Roofline", (self.folder / "p.svg").read_text())

    def test_flops_over_symbols_alone(self):
        self.write("p.toml", program(buffer("x", "i32", [32], "inout", "zeros"),
                                     kernel("k", text='extern "C" __global__ void k(int* x) { x[threadIdx.x] += 1; }'),
                                     '[[steps]]\nrepeat = 2\nindex = "i"\nsteps = [ { launch = "k", grid = [1], '
                                     'block = [32], args = ["x"], flops = "32*i" } ]\n'))
        self.check(self.baton("bench", "p.toml"), 2, "flops depends on i, the index of a repeat")

    def test_a_page(self):
        self.check(self.baton("bench", "p.toml", "--repeat", "4", "--plot", "p.html"), 0)
        page = (self.folder / "p.html").read_text()
        self.assertNotIn("<b>", page)
        self.assertNotIn("http", page.replace("http-equiv", ""))
        self.assertIn("&lt;b&gt;", page)

    @unittest.skipIf(ON_GPU, "the simulated GPU compares counts")
    def test_of_a_comparison(self):
        self.check(self.baton("bench", "p.toml", "p.toml", "--plot", "p.svg"), 0)
        self.assertIn("Instructions of each step", (self.folder / "p.svg").read_text())

    def test_bad_names(self):
        self.check(self.baton("bench", "p.toml", "--plot", "p.png"), 2, "p.png", ".svg")
        self.check(self.baton("bench", "p.toml", "--plot", "none/p.svg"), 2, "none")


if __name__ == "__main__":
    main()
