"""Looking inside a run: --dump, --until, --find-nan, --output of any buffer, reports of mismatches."""

import json

import numpy as np

from baton import ON_GPU, Case, buffer, kernel, launch, main, program

# h = x - 10 l, y = 1 / (1 + sqrt(h + 11)): the third iteration takes the root of a negative number.
PROGRAM = """
[symbols]
N = 64
[buffers]
x = { dtype = "f32", shape = ["N", 4], role = "input", init = "arange" }
w = { dtype = "f32", shape = [4], role = "weight", init = "ones" }
h = { dtype = "f32", shape = ["N", 4] }
y = { dtype = "f32", shape = ["N", 4], role = "output" }
[kernels]
sub = { source = "k.cu" }
root = { source = "k.cu" }
[[steps]]
repeat = 3
index = "l"
steps = [ { launch = "sub", grid = "ceildiv(N, 16)", block = 64, args = ["x", "w", "h", "l"] },
          { launch = "root", grid = "ceildiv(N, 16)", block = 64, args = ["h", "y"] } ]
"""
SOURCE = """
extern "C" __global__ void sub(const float* x, const float* w, float* h, int l) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  h[i] = x[i] - 10 * l - w[i % 4];
}
extern "C" __global__ void root(const float* h, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 1 / (1 + sqrtf(h[i] + 11));
}
"""


class Inside(Case):
    def setUp(self):
        super().setUp()
        self.write("p.toml", PROGRAM)
        self.write("k.cu", SOURCE)
        self.x = np.arange(256, dtype=np.float32).reshape(64, 4)

    def manifest(self, folder):
        return json.loads((self.folder / folder / "manifest.json").read_text())

    def test_dump_has_all_buffers_after_each_step(self):
        result = self.baton("run", "p.toml", "--dump", "d")
        self.check(result, 0)
        self.assertIn("dumped the buffers after 6 steps into d", result.out)
        steps = self.manifest("d")["steps"]
        self.assertEqual([s["folder"] for s in steps],
                         ["0000-sub-l=0", "0001-root-l=0", "0002-sub-l=1", "0003-root-l=1",
                          "0004-sub-l=2", "0005-root-l=2"])
        self.assertEqual((steps[3]["launch"], steps[3]["indexes"], steps[3]["label"]),
                         (1, {"l": 1}, "root"))
        for number, step in enumerate(steps):
            folder = self.folder / "d" / step["folder"]
            self.assertEqual(sorted(f.name for f in folder.iterdir()),
                             ["h.npy", "w.npy", "x.npy", "y.npy"])
            np.testing.assert_array_equal(np.load(folder / "h.npy"), self.x - 10 * (number // 2) - 1)
        # What stays as it was takes room once.
        self.assertEqual((self.folder / "d" / steps[0]["folder"] / "x.npy").stat().st_nlink, 6)
        self.check(self.baton("run", "p.toml", "--dump", "d"), 2, "--dump d", "is not empty")

    def test_a_run_ends_where_it_is_told(self):
        result = self.baton("run", "p.toml", "--until", "root:l=1", "--output", "h=h.npy", "--json")
        self.check(result, 0)
        self.assertEqual(len(result.json()["steps"]), 4)
        np.testing.assert_array_equal(np.load(self.folder / "h.npy"), self.x - 11)
        self.check(self.baton("run", "p.toml", "--until", "4", "--dump", "d"), 0)
        self.assertEqual([s["number"] for s in self.manifest("d")["steps"]], [4])
        self.check(self.baton("run", "p.toml", "--until", "rot"), 2, "did you mean \"root\"?")
        self.check(self.baton("run", "p.toml", "--until", "root:k=1"), 2, "no step has the index")
        self.check(self.baton("run", "p.toml", "--until", "root:l=9"), 2,
                   "--until root:l=9: the run has no such step; it has 6 steps, l is 0 to 2")
        self.check(self.baton("run", "p.toml", "--until", "6"), 2, "it has 6 steps, numbered from 0")
        self.check(self.baton("run", "p.toml", "--until", "1", "--repeat", "2"), 2, "--repeat")
        for option in (("--until", "1"), ("--dump", "e"), ("--find-nan",)):
            self.check(self.baton("run", "p.toml", "--executor", "graph", *option), 2, option[0])

    def test_the_first_nan_has_its_launch_and_its_element(self):
        result = self.baton("run", "p.toml", "--find-nan", "--dump", "d", "--json")
        self.check(result, 1, "launch 1 (root), l = 2 makes a NaN of finite values: y[0, 0]")
        found = result.json()["non_finite"]
        self.assertEqual((found["launch"], found["buffer"], found["index"], found["value"],
                          found["count"]), ("launch 1 (root), l = 2", "y", [0, 0], "nan", 10))
        self.assertIn("p.toml:", found["where"])
        self.assertTrue((self.folder / "d" / "failed" / "y.npy").exists())
        clean = self.baton("run", "p.toml", "--find-nan", "--until", "root:l=1")
        self.check(clean, 0)
        self.assertIn("no step made a NaN or an infinity of finite values", clean.out)

    def test_a_run_with_nan_says_how_to_find_it(self):
        result = self.baton("run", "p.toml")
        self.check(result, 0)
        self.assertRegex(result.out, r"elements that are NaN or infinite: y has \d+ of 256; --find-nan names")
        self.assertNotIn("--find-nan", self.baton("run", "p.toml", "--until", "root:l=1").out)

    def test_a_nan_of_an_argument_is_not_of_finite_values(self):
        self.write("n.toml", """[buffers]
y = { dtype = "f32", shape = 4, role = "output" }
[kernels]
k = { text = 'extern "C" __global__ void k(float* y, float a) { y[threadIdx.x] = a; }' }
[[steps]]
launch = "k"
grid = 1
block = 4
args = ["y", nan]
""")
        result = self.baton("run", "n.toml", "--find-nan")
        self.check(result, 1, "launch 0 (k), whose argument 1 (a) is nan, makes a NaN: y[0] is the first of 4")

    def test_dump_has_the_buffers_after_a_fault(self):
        if ON_GPU:
            self.skipTest("the memory of a GPU is lost with its context")
        self.write("f.toml", PROGRAM.replace('args = ["h", "y"]', 'args = ["h", "y + 250"]'))
        self.check(self.baton("run", "f.toml", "--dump", "d"), 1, "launch 1 (root)", "past the end")
        self.assertEqual([s["folder"] for s in self.manifest("d")["steps"]],
                         ["0000-sub-l=0", "failed"])
        np.testing.assert_array_equal(np.load(self.folder / "d" / "failed" / "h.npy"), self.x - 1)

    def test_a_mismatch_is_described(self):
        h = self.x - 11
        want = 1 / (1 + np.sqrt(h + 11))
        want[:, 1] += 1
        self.save("y.npy", want)
        until = ("--until", "root:l=1")
        result = self.baton("run", "p.toml", *until, "--expect", "y=y.npy")
        self.check(result, 1)
        for part in ("y: 25 % of the elements differ: column 1, [:, 1]", "largest error: 1,",
                     "[0, 1]", "[4, 1]"):
            self.assertIn(part, result.out)
        output = self.baton("run", "p.toml", *until, "--expect", "y=y.npy", "--json").json()["outputs"][0]
        self.assertEqual([m["index"] for m in output["first"]], [[i, 1] for i in range(5)])
        self.assertEqual(output["pattern"], "column 1, [:, 1]")
        self.assertAlmostEqual(output["largest"]["absolute"], 1, 5)
        # No error is relative to 0.
        self.save("zeros.npy", np.zeros_like(want))
        out = self.baton("run", "p.toml", *until, "--expect", "y=zeros.npy").out
        self.assertRegex(out, r"largest error: [0-9.]+, \d+ ulps")
        # Any buffer can be compared.
        self.save("h.npy", h)
        self.check(self.baton("run", "p.toml", *until, "--expect", "h=h.npy"), 0)

    def test_a_folder_has_what_is_expected(self):
        self.check(self.baton("run", "p.toml", "--dump", "d"), 0)
        self.check(self.baton("run", "p.toml", "--expect", "d/0005-root-l=2"), 0)
        self.check(self.baton("run", "p.toml", "--expect", "d/0003-root-l=1"), 1, "y.npy", "differs")
        self.check(self.baton("run", "p.toml", "--expect", "d"), 2, "no file NAME.npy of an output")
        self.check(self.baton("run", "p.toml", "--expect", "nowhere"), 2,
                   "takes NAME=FILE.npy or a folder")


class Schedules(Case):
    RACE = """
[buffers]
y = { dtype = "f32", shape = [64], role = "output", init = "zeros" }
[kernels.last]
text = '''extern "C" __global__ void last(float* y) { y[threadIdx.x] = blockIdx.x * 1.5f; }'''
[[steps]]
launch = "last"
grid = 4
block = 32
args = ["y"]
"""

    def setUp(self):
        super().setUp()
        if ON_GPU:
            self.skipTest("a GPU has one schedule")
        self.write("race.toml", self.RACE)

    def test_errors_of_one_schedule_do_not_end_the_others(self):
        self.write("turn.cu", """extern "C" __global__ void turn(int* n, int* y) {
  __shared__ int first, s;
  if (threadIdx.x == 0) first = atomicAdd(n, 1);
  __syncthreads();
  const bool is_late = blockIdx.x == 0 && first != 0;
  if (is_late) s = threadIdx.x;
  __syncthreads();
  y[blockIdx.x] = is_late ? s : 1;
}
""")
        self.write("turn.toml", program(
            buffer("n", "i32", [1], "scratch", "zeros"), buffer("y", "i32", [4], "output"),
            kernel("turn", source="turn.cu"), launch("turn", [4], [64], ["n", "y"])))
        result = self.baton("run", "turn.toml", "--schedules", "late,reverse,late", "--json")
        self.assertEqual(result.status, 1, result)
        def errors(run):
            return [finding["kind"] for finding in run["findings"] if finding["severity"] == "error"]
        self.assertEqual(errors(result.json()), [])
        self.assertEqual([(run["schedule"], errors(run)) for run in result.json()["schedules"]],
                         [("reverse", ["shared_race"]), ("late", [])])
        shown = self.baton("run", "turn.toml", "--schedules", "late,reverse,late").out
        self.assertRegex(shown, "reverse +errors were found")

    def test_outputs_are_compared_bit_by_bit(self):
        result = self.baton("run", "race.toml", "--schedules", "late,late,reverse,random:1..3",
                            "--json")
        self.check(result, 1, "the outputs differ between the schedules late and reverse: "
                   "y[0] is 0 and was 4.5, the first of 32 in 64")
        self.assertIn("; --races global names the lines of a race", result.first_error)
        again = self.baton("run", "race.toml", "--schedules", "late,reverse", "--races", "global")
        self.check(again, 1)
        self.assertNotIn("--races global", again.err)
        runs = result.json()["schedules"]
        self.assertEqual([r["schedule"] for r in runs],
                         ["late", "reverse", "random:1", "random:2", "random:3"])
        self.assertIsNone(runs[0]["difference"])
        self.assertEqual(runs[1]["difference"], {"buffer": "y", "index": [0], "got": "0",
                                                 "reference": "4.5", "count": 32, "elements": 64})
        self.write("one.toml", self.RACE.replace("grid = 4", "grid = 1"))
        equal = self.baton("run", "one.toml", "--schedules", "serial,reverse")
        self.check(equal, 0)
        self.assertIn("the same bits", equal.out)

    def test_lists_that_make_no_sense_are_refused(self):
        for words, part in ((("late",), "at least two to compare"),
                            (("late,revers",), "did you mean \"reverse\"?"),
                            (("late,random:9..1",), "the least one first"),
                            (("late,,early",), "schedules between commas"),
                            (("late,early", "--schedule", "late"), "leave --schedule out"),
                            (("late,early", "--until", "0"), "leave --until out")):
            self.check(self.baton("run", "race.toml", "--schedules", *words), 2, part)


if __name__ == "__main__":
    main()
