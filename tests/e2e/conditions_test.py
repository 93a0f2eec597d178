#!/usr/bin/env python3
"""`if` and `while` in programs: against NumPy, in JSON, in bundles, and what is refused."""

import numpy

from baton import ROOT, Case, buffer, kernel, main, program

# The steps of the Collatz sequence of each of a few numbers, one after the other.
SOURCE = """
extern "C" __global__ void start(const long long* numbers, int i, long long* n, unsigned char* go) {
  *n = numbers[i];
  *go = *n != 1;
}
extern "C" __global__ void parity(const long long* n, unsigned char* odd, unsigned char* even) {
  *odd = *n % 2;
  *even = !*odd;
}
extern "C" __global__ void triple(long long* n) { *n = 3 * *n + 1; }
extern "C" __global__ void halve(long long* n) { *n /= 2; }
extern "C" __global__ void count(const long long* n, int* counts, int i, unsigned char* go) {
  counts[i] += 1;
  *go = *n != 1;
}
"""
NAMES = ("start", "parity", "triple", "halve", "count")
STEP = 'grid = [1], block = [1]'
STEPS = f"""
[[steps]]
repeat = "N"
index = "i"
  [[steps.steps]]
  launch = "start"
  grid = [1]
  block = [1]
  args = ["numbers", "i", "n", "go"]
  [[steps.steps]]
  while = {{ buffer = "go", at_most = "MOST", unroll = "UNROLL" }}
  steps = [
    {{ launch = "parity", {STEP}, args = ["n", "odd", "even"] }},
    {{ if = {{ buffer = "odd" }}, steps = [ {{ launch = "triple", {STEP}, args = ["n"] }} ] }},
    {{ if = {{ buffer = "even" }}, steps = [ {{ launch = "halve", {STEP}, args = ["n"] }} ] }},
    {{ launch = "count", {STEP}, args = ["n", "counts", "i", "go"] }},
  ]
"""
PROGRAM = program(
    buffer("numbers", "i64", ["N"], "input"), buffer("counts", "i32", ["N"], "output", "zeros"),
    buffer("n", "i64", [1], "scratch"), *(buffer(name, "u8", [1], "scratch") for name in ("go", "odd", "even")),
    *(kernel(name, text=SOURCE, entry=name) for name in NAMES), STEPS, N=5, MOST=120, UNROLL=1)
NUMBERS = [1, 27, 6, 7, 97]


def collatz(n):
    steps, odd = 0, 0
    while n != 1:
        odd += n % 2
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps, odd


class Conditions(Case):
    def setUp(self):
        super().setUp()
        self.write("p.toml", PROGRAM)
        self.save("numbers.npy", numpy.array(NUMBERS, numpy.int64))
        self.counts = [collatz(n)[0] for n in NUMBERS]
        self.odd = sum(collatz(n)[1] for n in NUMBERS)
        self.save("counts.npy", numpy.array(self.counts, numpy.int32))

    def run_json(self, what="p.toml", *options, status=0, **environment):
        result = self.baton("run", what, "--json", "--input", "numbers=numbers.npy", "--expect",
                            "counts=counts.npy", *options, **environment)
        self.check(result, status)
        return result.json()

    def test_results_and_counts(self):
        total = sum(self.counts)
        for executor in ("stream", "graph"):
            for unroll in (1, 4):
                with self.subTest(executor=executor, unroll=unroll):
                    json = self.run_json("p.toml", "--executor", executor, "--set", f"UNROLL={unroll}")
                    self.assertTrue(json["outputs"][0]["ok"])
                    found = [(c["kind"], c["label"], c["executions"]) for c in json["conditions"]]
                    self.assertEqual(found, [("while", "while go", total), ("if", "if odd", self.odd),
                                             ("if", "if even", total - self.odd)])
                    steps = {step["label"]: step["executions"] for step in json["steps"]}
                    self.assertEqual(steps, {"start": 5, "parity": total, "triple": self.odd,
                                             "halve": total - self.odd, "count": total})

    def test_a_loop_that_is_not_done_in_time(self):
        for executor in ("stream", "graph"):
            result = self.baton("run", "p.toml", "--input", "numbers=numbers.npy", "--executor", executor,
                                "--set", "MOST=110", "--set", "UNROLL=3")
            self.check(result, 1, "while go: the value is not 0 after 110 iterations, and at_most is MOST",
                       "p.toml:")

    def test_a_table_tells_the_iterations(self):
        result = self.baton("run", "p.toml", "--input", "numbers=numbers.npy")
        self.check(result, 0)
        self.assertIn(f": {sum(self.counts)} iterations", result.out)
        self.assertIn(f": {self.odd} executions", result.out)

    def test_check_counts_the_steps_once(self):
        json = self.baton("check", "p.toml", "--json").json()
        self.assertEqual(json["run_steps"], 5 * 5)
        conditional = [step["label"] for step in json["steps"] if step.get("conditional")]
        self.assertEqual(conditional, ["parity", "triple", "halve", "count"])
        self.assertIn("5 times, conditional", self.baton("check", "p.toml").out)

    def test_a_bundle_needs_no_compiler(self):
        self.check(self.baton("build", "p.toml", "-o", "p.baton", "--arch", "sm_90a", "--no-sources"), 0)
        for executor in ("stream", "graph"):
            json = self.run_json("p.baton", "--executor", executor, BATON_NVRTC="/nonexistent",
                                 BATON_CACHE_DIR=str(self.folder / "empty"))
            self.assertTrue(json["outputs"][0]["ok"])

    def test_an_end_token_ends_a_sequence(self):
        example = ROOT / "examples" / "decode_until" / "decode_until.toml"
        for end, count in ((56, 21), (22, 13), (146, 1)):
            result = self.baton("run", example, "--executor", "graph", "--set", f"END={end}", "--json")
            self.check(result, 0)
            self.assertEqual(result.json()["conditions"][0]["executions"], count)


if __name__ == "__main__":
    main()
