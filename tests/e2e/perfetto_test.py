#!/usr/bin/env python3
"""A timeline of `baton run --trace` in Perfetto's own trace processor, which its user interface queries too.

It needs the Python package `perfetto` and the program trace_processor_shell, on PATH or named by TRACE_PROCESSOR.
Without them it is skipped: the package would otherwise download the program.
"""

import os
import shutil
import sys

from baton import ON_GPU, Case, buffer, kernel, main, program

try:
    from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
except ImportError:
    TraceProcessor = None
PROCESSOR = os.environ.get("TRACE_PROCESSOR") or shutil.which("trace_processor_shell")

SOURCE = """__global__ void add(float* y, int i) {
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
  y[blockIdx.x * 32 + threadIdx.x] += i;
}"""
TEXT = program(buffer("x", "f32", [128], "input", "arange"), buffer("y", "f32", [128], "output"),
               kernel("add", text=SOURCE), '[[steps]]\ncopy = { from = "x", to = "y" }\n',
               '[[steps]]\nrepeat = 3\nindex = "layer"\nsteps = [ { launch = "add", grid = [4], block = [32], '
               'args = ["y", "layer"] } ]\n[[steps]]\nfill = { buffer = "y", value = 0 }\n')


class Perfetto(Case):
    def test_the_trace_processor_reads_it(self):
        self.write("p.toml", TEXT)
        self.check(self.baton("run", "p.toml", "--device", "sim", "--schedule", "early", "--trace", "t.json"), 0)
        processor = TraceProcessor(trace=str(self.folder / "t.json"), config=TraceProcessorConfig(bin_path=PROCESSOR))
        self.addCleanup(processor.close)

        def query(sql):
            return list(processor.query(sql))

        # Nothing of the file was dropped.
        self.assertEqual([(row.name, row.value) for row in query(
            "select name, value from stats where severity in ('error', 'data_loss') and value > 0")], [])
        launches = query("select id, name, extract_arg(arg_set_id, 'args.indexes') as indexes from slice "
                         "where category = 'launch' order by ts")
        self.assertEqual([(row.name, row.indexes) for row in launches],
                         [("add", f"layer = {layer}") for layer in range(3)])
        blocks = query("select name, count(*) as number from slice where category = 'block' group by name")
        self.assertEqual([(row.name, row.number) for row in blocks], [("add", 12)])
        # Every arrow has both ends: from a launch's trigger to a launch that depends on it.
        flows = query("select one.name as from_name, other.name as to_name from flow "
                      "join slice one on flow.slice_out = one.id join slice other on flow.slice_in = other.id")
        self.assertGreaterEqual(len(flows), 2)
        self.assertEqual({(row.from_name, row.to_name) for row in flows}, {("add", "add")})


if __name__ == "__main__":
    missing = [name for name, found in (("the package perfetto", TraceProcessor), ("trace_processor_shell", PROCESSOR))
               if not found]
    if missing or ON_GPU:
        print("skipped: " + (" and ".join(missing) + " are missing" if missing else "a trace needs the simulated GPU"))
        sys.exit(77)
    main()
