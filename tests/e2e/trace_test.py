#!/usr/bin/env python3
"""`baton run --trace` against the Trace Event Format (Google, 2016), as Perfetto reads it."""

import collections
import json
import unittest

from baton import ON_GPU, Case, buffer, kernel, launch, main, program

SOURCE = """__global__ void first(float* y, int i) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;");
  y[blockIdx.x * 32 + threadIdx.x] += i;
}"""
REPEAT = """[[steps]]
repeat = 3
index = "layer"
steps = [ { launch = "add", grid = [4], block = [32], args = ["y", "layer"] } ]
"""
TEXT = program(buffer("x", "f32", [128], "input", "arange"), buffer("y", "f32", [128], "scratch"),
               buffer("z", "f32", [128], "output"), kernel("add", text=SOURCE),
               '[[steps]]\ncopy = { from = "x", to = "y" }\n', REPEAT,
               '[[steps]]\ncopy = { from = "y", to = "z" }\n',
               '[[steps]]\nfill = { buffer = "y", value = 0 }\n')


class TraceCase(Case):
    def trace(self, *arguments, status=0, text=TEXT):
        self.write("p.toml", text)
        result = self.baton("run", "p.toml", "--trace", "t.json", *arguments)
        self.check(result, status)
        found = json.loads((self.folder / "t.json").read_text())
        self.hold_format(found)
        return found["traceEvents"]

    def hold_format(self, found):
        """Phases with the members that they need, and bars of one track that never overlap."""
        needed = {"C": {"name", "pid", "ts", "args"}, "M": {"name", "pid", "args"}, "X": {"name", "cat", "pid", "tid", "ts", "dur", "args"},
                  "i": {"name", "cat", "pid", "tid", "ts", "s"}, "B": {"name", "cat", "pid", "tid", "ts"},
                  "s": {"name", "cat", "id", "pid", "tid", "ts"}, "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"}}
        events = found["traceEvents"]
        tracks = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
        self.assertEqual(len({tid for _, tid in tracks}), len(tracks))
        bars = collections.defaultdict(list)
        for event in events:
            self.assertLessEqual(needed[event["ph"]], event.keys(), event)
            if event["ph"] not in "CM":
                self.assertIn((event["pid"], event["tid"]), tracks)
                self.assertGreaterEqual(event["ts"], 0)
            if event["ph"] == "X":
                self.assertGreaterEqual(event["dur"], 0)
                bars[event["tid"]].append((event["ts"], -event["dur"]))
        for track in bars.values():
            ends = []
            for begin, duration in sorted(track):  # one contains the other, or they are apart
                end = begin - duration
                while ends and ends[-1] <= begin + 0.002:
                    ends.pop()
                self.assertTrue(not ends or end <= ends[-1] + 0.002, track)
                ends.append(end)


@unittest.skipIf(ON_GPU, "the timeline of the device needs the simulated GPU")
class Trace(TraceCase):
    def test_names_are_those_of_the_program(self):
        events = self.trace()
        launches = [e for e in events if e.get("cat") == "launch"]
        self.assertEqual([e["name"] for e in launches], ["add"] * 3)
        self.assertEqual([e["args"]["indexes"] for e in launches], ["layer = 0", "layer = 1", "layer = 2"])
        self.assertEqual([e["args"]["step"] for e in launches], [1, 2, 3])
        for event in launches:
            args = event["args"]
            self.assertEqual((args["grid"], args["block"]), ([4, 1, 1], [32, 1, 1]))
            self.assertRegex(args["at"], r"p\.toml:\d+:\d+")
            self.assertEqual((args["bytes_read"], args["bytes_written"]), (512, 512))
            self.assertGreater(args["instructions"], 0)
        blocks = [e for e in events if e.get("cat") == "block"]
        self.assertEqual({e["name"] for e in blocks}, {"add"})
        self.assertEqual(sorted(e["args"]["index"] for e in blocks), sorted([[k, 0, 0] for k in range(4)] * 3))

    def test_tracks(self):
        events = self.trace("--schedule", "early")
        self.assertEqual([e["args"]["name"] for e in events if e["name"] == "process_name"], ["GPU"])
        tracks = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
        names = [tracks[number] for number in sorted(tracks)]
        slots = [name for name in names if name.startswith("launch slot ")]
        self.assertEqual(names[:len(slots) + 2],
                         [f"launch slot {k}" for k in range(len(slots))] + ["copies and fills", "SM 0 slot 0"])
        self.assertLessEqual({f"SM {k} slot 0" for k in range(4)}, set(names))
        orders = {e["tid"]: e["args"]["sort_index"] for e in events if e["name"] == "thread_sort_index"}
        self.assertEqual(orders, {number: number for number in tracks})
        for event in events:
            if event.get("cat") in ("block", "wait"):
                self.assertTrue(tracks[event["tid"]].startswith(f"SM {event['args']['sm']} slot "), event)

    def test_arrows(self):
        events = self.trace("--schedule", "early")
        bars = {}
        for event in events:
            if event.get("cat") == "launch":
                bars[event["args"]["indexes"]] = event
        arrows = collections.defaultdict(dict)
        for event in events:
            if event["ph"] in "sf":
                arrows[event["id"]][event["ph"]] = event
        self.assertEqual(len(arrows), 2)
        for arrow in arrows.values():
            self.assertLessEqual(arrow["s"]["ts"], arrow["f"]["ts"])
            for end in arrow.values():  # inside of a bar of its track
                self.assertTrue([bar for bar in bars.values() if bar["tid"] == end["tid"]
                                 and bar["ts"] <= end["ts"] <= bar["ts"] + bar["dur"]], end)
        self.assertFalse(bars["layer = 0"]["args"]["dependent"])
        self.assertTrue(bars["layer = 1"]["args"]["dependent"])

    def test_copies_and_fills(self):
        events = self.trace()
        moves = [e["args"] for e in events if e.get("cat") in ("copy", "fill")]
        self.assertTrue(any("buffer z" in m["to"] and "buffer y" in m.get("from", "") for m in moves), moves)
        self.assertTrue(any("buffer y" in m["to"] and "from" not in m for m in moves), moves)
        self.assertEqual({m["bytes"] for m in moves}, {512})

    def test_a_graph_has_the_same_launches(self):
        names = lambda events: [(e["name"], e["args"]["indexes"]) for e in events if e.get("cat") == "launch"]
        self.assertEqual(names(self.trace("--executor", "graph")), names(self.trace()))

    def test_a_run_that_failed(self):
        text = TEXT.replace("[blockIdx.x", "[layer_of(i) + blockIdx.x").replace(
            "__global__", "__device__ int layer_of(int i) { return i == 1 ? 1 << 20 : 0; }\\n__global__", 1)
        launches = [e for e in self.trace(status=1, text=text) if e.get("cat") == "launch"]
        self.assertLessEqual({"layer = 0", "layer = 1"}, {e["args"]["indexes"] for e in launches})

    def test_hostile_names(self):
        quoted = "k\\\\ \\\"x\\\""  # a TOML key
        self.write("k.cu", SOURCE)
        text = TEXT.replace(kernel("add", text=SOURCE), kernel(f'"{quoted}"', source="k.cu", entry="first"))
        text = text.replace('launch = "add"', f'launch = "{quoted}"')
        names = {e["name"] for e in self.trace(text=text) if e.get("cat") == "launch"}
        self.assertEqual(names, {'k\\ "x"'})


class InstrumentedKernels(TraceCase):
    """The same form, noted by the kernels themselves: on any device."""

    def by_kernels(self, *arguments, text=TEXT):
        return self.trace("--trace-by", "kernels", *arguments, text=text)

    def test_launches_blocks_and_waits(self):
        for executor in ("stream", "graph"):
            events = self.by_kernels("--executor", executor)
            launches = [e for e in events if e.get("cat") == "launch"]
            self.assertEqual([(e["name"], e["args"]["indexes"], e["args"]["step"]) for e in launches],
                             [("add", f"layer = {k}", k + 1) for k in range(3)])
            self.assertTrue(all((e["args"]["grid"], e["args"]["block"]) == ([4, 1, 1], [32, 1, 1]) for e in launches))
            for kind in ("block", "wait"):
                self.assertEqual(len([e for e in events if e.get("cat") == kind]), 12, kind)
            self.assertEqual(len([e for e in events if e.get("name") == "launch_dependents"]), 12)
            tracks = {e["args"]["name"] for e in events if e["name"] == "thread_name"}
            self.assertTrue(any(name.startswith("SM ") for name in tracks), tracks)

    def test_results_and_the_table_by_edge(self):
        self.write("p.toml", TEXT)
        plain = self.baton("run", "p.toml", "--output", "z=z.npy", "--json")
        self.check(plain, 0)
        traced = self.baton("run", "p.toml", "--trace", "t.json", "--trace-by", "kernels", "--expect", "z=z.npy",
                            "--rtol", "0", "--atol", "0", "--json")
        self.check(traced, 0)
        plain, traced = plain.json(), traced.json()
        self.assertEqual(traced["edges"], plain["edges"])
        self.assertEqual(traced["findings"], [])
        self.assertNotIn("trace", plain)
        trace = traced["trace"]
        self.assertEqual((trace["launches"], trace["blocks"], trace["remarks"]), (3, 12, []))
        self.assertEqual([(e["from_kernel"], e["to_kernel"], e["executions"]) for e in trace["edges"]],
                         [("add", "add", 2)])
        self.assertEqual(trace["costliest"], 0)

    def test_the_words(self):
        self.write("p.toml", TEXT)
        result = self.baton("run", "p.toml", "--trace", "t.json", "--trace-by", "kernels", "--html", "r.html")
        self.check(result, 0)
        self.assertIn("traced 3 launches", result.out)
        self.assertIn("the edge that costs most is add -> add", result.out)
        page = (self.folder / "r.html").read_text()
        self.assertIn("What the edges cost", page)
        self.assertIn("blocks by multiprocessors", page)

    def test_even_placement(self):
        """Kernels are assembled for it: their machine code shows the parameter for records."""
        self.write("even.toml", """
[buffers]
x = { dtype = "f32", shape = [16896], role = "output" }
[kernels.fill]
text = 'extern "C" __global__ void fill(float* x) { x[blockIdx.x * 128 + threadIdx.x] = 1; }'
[[steps]]
launch = "fill"
grid = [132]
block = [128]
args = ["x"]
placement = "even"
""")
        self.check(self.baton("run", "even.toml", "--trace", "t.json", "--trace-by", "kernels"), 0)

    def test_a_file_with_a_name_of_the_trace(self):
        self.write("baton_trace.cu", """extern "C" __global__ void fill(float* x) {
  if (threadIdx.x >= 32) __trap();
  x[threadIdx.x] = 1;
}""")
        text = """
[symbols]
N = 32
[buffers]
x = { dtype = "f32", shape = [32], role = "output" }
[kernels.fill]
source = "baton_trace.cu"
[[steps]]
launch = "fill"
grid = [1]
block = ["N"]
args = ["x"]
"""
        self.write("q.toml", text)
        result = self.baton("run", "q.toml", "--trace", "t.json", "--trace-by", "kernels")
        self.check(result, 0)
        self.assertNotIn("is not traced", result.out)
        # A run that fails leaves the file of the one before.
        before = (self.folder / "t.json").read_text()
        self.check(self.baton("run", "q.toml", "--set", "N=64", "--trace", "t.json", "--trace-by", "kernels"), 1)
        self.assertEqual((self.folder / "t.json").read_text(), before)

    def test_needs_a_file(self):
        self.write("p.toml", TEXT)
        self.check(self.baton("run", "p.toml", "--trace-by", "kernels"), 2, "give --trace FILE.json too")


if __name__ == "__main__":
    main()
