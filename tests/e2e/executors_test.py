#!/usr/bin/env python3
"""`baton run --executor stream|graph`: the same results, what is shown of a graph, and where a run
stands that does not go on."""

from baton import ON_GPU, Case, buffer, kernel, launch, main, program, table

SOURCE = """
#include <baton/device/pdl.cuh>
extern "C" __global__ void add(int* x, int v) {
  baton::device::pdl_wait();
  x[blockIdx.x * 32 + threadIdx.x] += v;
}
extern "C" __global__ void hang(const int* x) {
  baton::device::pdl_wait();
  int turns = 0;  // one that only polled would be found before its time is up
  while (*(const volatile int*)x != --turns) {}
}
"""
BUFFERS = buffer("x", "i32", ["32*G"], "inout", "zeros") + buffer("y", "i32", ["32*G"], "output")
KERNELS = kernel("add", text=SOURCE, entry="add") + kernel("hang", text=SOURCE, entry="hang")
ADD = launch("add", ["G"], [32], ["x", 1])
COPY = table("[[steps]]", copy={"from": "x", "to": "y"})
GROUP = ('[[steps]]\nrepeat = "L"\nindex = "i"\nsteps = [ { launch = "add", grid = ["G"], '
         'block = [32], args = ["x", "i"] } ]\n')
PROGRAM = program(BUFFERS, KERNELS, ADD, GROUP, COPY, ADD, G=8, L=3)
HANGS = program(BUFFERS, KERNELS, ADD, COPY, ADD, launch("hang", [1], [32], ["x"], pdl="off"), ADD, G=8)


class Executors(Case):
    def setUp(self):
        super().setUp()
        self.write("p.toml", PROGRAM)

    def run_json(self, *options, **environment):
        result = self.baton("run", "p.toml", "--json", *options, **environment)
        self.check(result, 0)
        return result.json()

    def test_the_same_results(self):
        self.check(self.baton("run", "p.toml", "--output", "y=y.npy", "--output", "x=x.npy"), 0)
        for options in ((), ("--pdl", "off"), ("--repeat", "3"), ("--timeout", "60"), ("--set", "G=8")):
            found = self.run_json("--executor", "graph", "--expect", "y=y.npy", "--expect", "x=x.npy",
                                  *options)
            self.assertTrue(all(output["ok"] for output in found["outputs"]), options)
            self.assertEqual(found["findings"], [])

    def test_what_is_said_of_a_graph(self):
        stream = self.run_json()
        graph = self.run_json("--executor", "graph")
        self.assertEqual((stream["executor"], stream["graph"]), ("stream", None))
        self.assertEqual(graph["executor"], "graph")
        programmatic = sum(edge["decision"] == "programmatic" for edge in graph["edges"])
        self.assertEqual(graph["edges"], stream["edges"])
        # Four launches one behind the other, of which three overlap; the copy; the last launch.
        self.assertEqual(graph["graph"], {"nodes": 6, "edges": 5, "builds": 1, "updates": 0,
                                          "programmatic_edges": 3 if programmatic else 0})
        self.assertEqual(len(graph["run_seconds"]), 1)
        for one, other in zip(stream["steps"], graph["steps"], strict=True):
            self.assertIsNotNone(one["bytes"])
            for key in ("label", "grid", "block", "attributes"):
                self.assertEqual(one.get(key), other.get(key))
            for key in ("seconds", "best_seconds", "times"):
                self.assertIsNone(other[key])
        for key in ("bytes", "instructions"):
            self.assertEqual(sum(step[key] or 0 for step in stream["steps"]),
                             sum(step[key] or 0 for step in graph["steps"]))
        text = self.baton("run", "p.toml", "--executor", "graph").out
        self.assertIn("one graph of 6 nodes and 5 edges", text)
        self.assertRegex(text, r"\n +copy x -> y +- ")
        self.assertRegex(text, r"\n +total +\d")

    def test_switches_hold_in_graphs_too(self):
        for options, environment in ((("--pdl", "off"), {}), ((), {"BATON_PDL": "off"})):
            found = self.run_json("--executor", "graph", *options, **environment)
            self.assertEqual(found["graph"]["programmatic_edges"], 0)
        self.write("p.toml", PROGRAM.replace('args = ["x", "i"] }', 'args = ["x", "i"], pdl = "off" }'))
        self.assertEqual(self.run_json("--executor", "graph")["graph"]["programmatic_edges"], 0)

    def test_schedules_and_traces(self):
        if ON_GPU:
            self.skipTest("a GPU orders its work itself")
        for schedule in ("late", "early", "reverse", "random:7"):
            found = self.run_json("--executor", "graph", "--schedule", schedule, "--trace", "t.json")
            self.assertEqual(found["findings"], [])
        self.assertIn("add", (self.folder / "t.json").read_text())

    def test_one_of_each_is_counted_as_one(self):
        self.write("one.toml", program(BUFFERS, KERNELS, ADD, G=8))
        text = self.baton("run", "one.toml", "--executor", "graph").out
        self.assertIn("one graph of 1 node and 0 edges, ", text)

    def test_a_hang_names_step_and_edge(self):
        self.write("p.toml", HANGS)
        for executor in ("stream", "graph"):
            with self.subTest(executor):
                result = self.baton("run", "p.toml", "--executor", executor, "--timeout",
                                    "5" if ON_GPU else "1", timeout=120)
                self.check(result, 1, "longer than its limit")
                self.assertIn("the first step not known to have completed: hang (launch 2), at ", result.err)
                self.assertIn("behind the full edge 1 -> 2", result.err)


if __name__ == "__main__":
    main()
