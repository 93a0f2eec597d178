#!/usr/bin/env python3
"""`baton tune`, and the runs that use what it found."""

import time
import unittest

from baton import ON_GPU, Case, buffer, kernel, launch, main, program

SOURCE = """extern "C" __global__ void twice(const float* x, float* y, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = 2 * x[i];
}"""
PROGRAM = program(buffer("x", "f32", ["N"], "input", "random"), buffer("y", "f32", ["N"], "output"),
                  kernel("twice", text=SOURCE), launch("twice", [2], ["B"], ["x", "y", "N"]), N=4096, B=256)


class Tune(Case):
    def setUp(self):
        super().setUp()
        self.write("p.toml", PROGRAM + "[tune]\nB = [64, 512, 4096]\n")

    def tune(self, *arguments, budget=5):
        result = self.baton("tune", "p.toml", "--budget", budget, *arguments, "--json")
        self.check(result, 0)
        return result.json()

    def test_what_was_tried(self):
        found = self.tune()
        self.assertEqual((found["command"], found["program"]), ("tune", "test"))
        self.assertGreater(found["untuned"], 0)
        for trial in found["trials"]:
            self.assertTrue(trial["refused"] or trial["cost"] > 0, trial)
        large = [t for t in found["trials"] if t["parameters"].get("B") == 4096]
        for trial in large:
            self.assertIn("4096", trial["refused"])
        if found["accepted"]:
            self.assertLess(found["tuned"]["change"]["high"], 1)
        text = self.baton("tune", "p.toml", "--budget", "5")
        self.check(text, 0)
        for part in ("untuned", "varied", "result"):
            self.assertIn(part, text.out)

    def test_advice_beyond_the_search(self):
        self.write("p.toml", PROGRAM + launch("twice", [2], ["B"], ["x", "y", "N"]) + "[tune]\nB = [64]\n")
        edges = self.tune()["edges"]
        self.assertEqual([(edge["from"], edge["to"]) for edge in edges], [(0, 1)])
        self.assertTrue(any("fuse twice and twice" in each["text"] for each in edges[0]["advice"]), edges)
        text = self.baton("tune", "p.toml", "--budget", "5").out
        self.assertIn("may save", text)
        self.assertGreater(text.index("may save"), text.index("result"))

    @unittest.skipIf(ON_GPU, "a GPU's times decide")
    def test_runs_use_it(self):
        self.assertEqual(self.tune()["tuned"]["parameters"], {"B": 64})
        run = self.baton("run", "p.toml", "--json")
        self.check(run, 0)
        self.assertEqual(run.json()["tuned"]["parameters"], {"B": 64})
        self.assertEqual(run.json()["symbols"]["B"], 64)
        self.assertIn("tuned    B = 64", self.baton("run", "p.toml").out)
        self.assertEqual(self.baton("bench", "p.toml", "--json", "--repeat", "1").json()["symbols"]["B"], 64)
        for options, environment in ((["--untuned"], {}), ([], {"BATON_TUNE": "off"}), (["--pdl", "off"], {}),
                                     (["--executor", "graph"], {}), (["--set", "N=1024"], {})):
            run = self.baton("run", "p.toml", *options, "--json", **environment).json()
            self.assertEqual((run["symbols"]["B"], run["tuned"]), (256, None), (options, environment))
        self.check(self.baton("run", "p.toml", BATON_TUNE="of"), 2, "BATON_TUNE", 'did you mean "off"')

    @unittest.skipIf(ON_GPU, "a GPU's times decide")
    def test_a_bundle_brings_it(self):
        found = self.tune("-o", "p.baton")
        self.assertEqual(found["bundle"], "p.baton")
        cache = self.folder / "other"
        run = self.baton("run", "p.baton", "--json", BATON_CACHE_DIR=str(cache))
        self.check(run, 0)
        self.assertEqual(run.json()["symbols"]["B"], 64)
        parts = self.baton("inspect", "p.baton", "--json")
        self.check(parts, 0)
        self.assertIn("tuned/record.json", parts.out)
        self.check(self.baton("tune", "p.baton", "-o", "q.baton"), 2, "p.baton", "tune the program file")

    def test_bad_input(self):
        self.check(self.baton("tune", "p.toml", "--budget", "-1"), 2, "--budget", "-1")
        self.check(self.baton("tune", "p.toml", "--budget", "x"), 2, "--budget", "x")
        self.check(self.baton("tune", "p.toml", "-o", "no/where/p.baton"), 2, "no/where")
        self.write("q.toml", PROGRAM + "[tune]\nC = [1]\n")
        self.check(self.baton("tune", "q.toml"), 2, "unknown symbol", "q.toml")

    def test_a_plot(self):
        found = self.tune("--plot", "p.svg")
        picture = (self.folder / "p.svg").read_text()
        for part in ("<svg", ">untuned<", *(f">{trial['text']}<" for trial in found["trials"])):
            self.assertIn(part, picture)
        self.tune("--plot", "p.html")
        self.assertIn("<svg", (self.folder / "p.html").read_text())
        self.check(self.baton("tune", "p.toml", "--plot", "p.png"), 2, "p.png", ".svg")
        self.check(self.baton("tune", "p.toml", "--plot", "none/p.svg"), 2, "none")

    def test_a_command_measures(self):
        """A variant runs outside of Baton, and says its seconds."""
        self.write("p.toml", PROGRAM.replace("[symbols]", 'require = ["B <= 512"]\n[symbols]') +
                   "[tune]\nB = [64, 128, 512, 1024]\n")
        command = ('echo run; test "$TUNE_B" != 512 || exit 3; '
                   'echo "$TUNE_N $TUNE_B" | awk \'{ print $1 * $2 / 1e9 }\'')
        found = self.tune("--tune-with", command, budget=60)
        self.assertEqual((found["cost"], found["accepted"]), ("seconds", True), found)
        self.assertEqual(found["tuned"]["parameters"], {"B": 64})
        self.assertAlmostEqual(found["untuned"], 4096 * 256 / 1e9)
        refused = {trial["parameters"]["B"]: trial["refused"] for trial in found["trials"] if trial["refused"]}
        self.assertIn("the command ended with status 3", refused[512])
        self.assertIn("B <= 512", refused[1024])
        self.assertEqual(self.baton("run", "p.toml", "--json").json()["symbols"]["B"], 64)

    def test_a_command_that_is_of_no_use(self):
        self.check(self.baton("tune", "p.toml", "--tune-with", "echo fast"), 2,
                   'the last line of the command\'s output is "fast"')
        self.check(self.baton("tune", "p.toml", "--tune-with", "exit 4"), 2, "ended with status 4: exit 4")
        self.check(self.baton("tune", "p.toml", "--tune-with", "echo 1", "--executor", "graph"), 2, "--executor")
        start = time.monotonic()
        self.check(self.baton("tune", "p.toml", "--tune-with", "sleep 60; echo 1", "--timeout", "0.5"), 1,
                   "the command took longer than its limit of 500 ms")
        self.assertLess(time.monotonic() - start, 30)

    def test_no_budget(self):
        result = self.baton("tune", "p.toml", "--budget", "0")
        self.check(result, 0)
        self.assertIn("nothing was tried", result.out)


if __name__ == "__main__":
    main()
