#!/usr/bin/env python3
"""`baton run --follow`: the elements that each run adds to a list."""

import unittest

import numpy

from baton import ON_GPU, ROOT, main
from ranks import RankCase

# Each run appends up to STEPS squares, until there are LIMIT.
SQUARES = """
name = "squares"
[world]
[symbols]
STEPS = 2
LIMIT = 5
[buffers]
list = { dtype = "i32", shape = [8], role = "state", init = "zeros" }
last = { dtype = "i32", shape = [1], role = "state", init = "zeros" }
done = { dtype = "i32", shape = [1], role = "output" }
grid = { dtype = "f32", shape = [2, 2], role = "state", init = "zeros" }
[kernels.append]
text = '''extern "C" __global__ void append(int* list, int* last, int* done, int steps, int limit) {
  for (int i = 0; i < steps && *last + 1 < limit; ++i) {
    ++*last;
    list[*last] = *last * *last;
  }
  *done = *last + 1 >= limit;
}'''
[[steps]]
launch = "append"
grid = [1]
block = [1]
args = ["list", "last", "done", "STEPS", "LIMIT"]
"""


class Follow(RankCase):
    def setUp(self):
        super().setUp()
        self.write("p.toml", SQUARES)

    def follow(self, *options):
        return self.baton("run", "p.toml", "--follow", "list=last+1", *options)

    def test_elements_come_as_runs_add_them(self):
        for executor in ("stream", "graph"):
            result = self.follow("--executor", executor)
            self.check(result, 0)
            self.assertIn("list  0 1 4 9 16\n", result.out)
            json = self.follow("--executor", executor, "--json")
            self.check(json, 0)
            self.assertEqual(json.json()["followed"], {"buffer": "list", "runs": 3, "values": [0, 1, 4, 9, 16]})
            # The steps are those of the first run, which adds something.
            self.assertEqual(len(json.json()["steps"]), 1)

    def test_outputs_are_those_of_the_last_run(self):
        numpy.save(self.folder / "want.npy", numpy.array([0, 1, 4, 9, 16, 0, 0, 0], numpy.int32))
        result = self.follow("--expect", "list=want.npy", "--output", "list=got.npy")
        self.check(result, 0)
        self.assertEqual(self.out("got.npy").tolist(), [0, 1, 4, 9, 16, 0, 0, 0])

    def test_when_it_ends(self):
        self.assertEqual(self.follow("--repeat", "1", "--json").json()["followed"]["values"], [0, 1, 4])
        # A full list ends it before a run adds nothing.
        full = self.follow("--set", "LIMIT=8", "--set", "STEPS=7", "--json").json()["followed"]
        self.assertEqual((full["runs"], full["values"][-1]), (1, 49))
        # A text that is there already is shown, and one run sees that nothing follows.
        self.save("there.npy", numpy.array([4], numpy.int32))
        there = self.follow("--input", "last=there.npy", "--json").json()["followed"]
        self.assertEqual((there["runs"], len(there["values"])), (2, 5))

    @unittest.skipIf(ON_GPU, "simulated ranks")
    def test_several_ranks(self):
        result = self.follow("--devices", "sim:tiny,sim:tiny")
        self.check(result, 0)
        self.assertEqual(result.out.count("list  0 1 4 9 16\n"), 1, result)
        self.check(self.run_ranks("p.toml", "--follow", "list=last+1")[0], 0)

    def test_bad_input(self):
        def refused(follow, *parts, options=()):
            self.check(self.baton("run", "p.toml", "--follow", follow, *options), 2, *parts)

        refused("list", "NAME=COUNTER")
        refused("list=", "NAME=COUNTER")
        refused("list=last+x", "--follow")
        refused("lst=last", '"lst"', 'did you mean "list"')
        refused("done=last", "done has the role output", "make it a whole state")
        refused("grid=last", "grid has 2 dimensions")
        refused("list=grid", "grid, which is f32")
        refused("list=last+9", "last is 2 after the run", "11 elements of list", "it has 8")
        refused("list=last", "--until", options=("--until", "0"))
        refused("list=last", "--schedules", options=("--schedules", "serial,reverse"))

    def test_a_language_model(self):
        model = ROOT / "examples" / "llama" / "llama.toml"
        sizes = ("--executor", "graph", "--set", "PROMPT=2", "--set", "LIMIT=5")
        whole = self.baton("run", model, *sizes, "--output", "tokens=tokens.npy")
        self.check(whole, 0)
        parts = self.baton("run", model, *sizes, "--set", "RESUME=1", "--set", "STEPS=2",
                           "--follow", "tokens=position+1", "--json")
        self.check(parts, 0)
        self.assertEqual(parts.json()["followed"]["values"], self.out("tokens.npy")[:6].tolist())


if __name__ == "__main__":
    main()
