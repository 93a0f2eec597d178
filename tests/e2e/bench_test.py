#!/usr/bin/env python3
"""`baton bench` and what `run --repeat` says of times. No time is held against a number."""

import json
import os
import pty
import re
import signal
import subprocess

from baton import BATON, ON_GPU, Case, buffer, kernel, launch, main, program

SOURCE = 'extern "C" __global__ void add(int* x, int v) { x[blockIdx.x * 32 + threadIdx.x] += v; }'
PROGRAM = program(buffer("x", "i32", [1024], "inout", "zeros"), buffer("y", "i32", [1024], "output"),
                  kernel("add", text=SOURCE), launch("add", ["G"], [32], ["x", 1]),
                  '[[steps]]\nrepeat = 3\nindex = "i"\nsteps = [ { launch = "add", grid = [32], block = [32], '
                  'args = ["x", "i"] } ]\n[[steps]]\ncopy = { from = "x", to = "y" }\n', G=32)


class Bench(Case):
    def setUp(self):
        super().setUp()
        self.write("p.toml", PROGRAM)

    def check_times(self, times, count):
        self.assertEqual(times["count"], count)
        names = ("least", "lower_quartile", "median", "upper_quartile", "greatest")
        values = [times[name] for name in names]
        self.assertEqual(values, sorted(values))
        self.assertGreaterEqual(values[0], 0)

    def test_steps_and_the_whole(self):
        result = self.baton("bench", "p.toml", "--repeat", "6", "--json")
        self.check(result, 0)
        found = result.json()
        self.assertEqual((found["command"], found["program"], found["runs"]), ("bench", "test", 6))
        self.assertEqual([(s["label"], s["executions"]) for s in found["steps"]],
                         [("add", 1), ("add", 3), ("copy x -> y", 1)])
        self.assertEqual([s["bytes"] for s in found["steps"]][2], 8192)
        for part in (*found["steps"], found["run"]):
            self.check_times(part["times"], 6)
            self.assertAlmostEqual(part["bytes_per_second"], part["bytes"] / part["times"]["median"])
            self.assertAlmostEqual(part["share"], part["bytes_per_second"] / found["ceiling"]["bytes_per_second"])
        self.assertEqual(found["run"]["bytes"], sum(s["bytes"] for s in found["steps"]))
        self.check_times(found["ceiling"]["times"], 12)
        self.assertAlmostEqual(found["ceiling"]["bytes_per_second"],
                               found["ceiling"]["bytes"] / found["ceiling"]["times"]["median"])

    def test_a_graph_is_one_launch(self):
        result = self.baton("bench", "p.toml", "--repeat", "4", "--executor", "graph", "--json")
        self.check(result, 0)
        found = result.json()
        stream = self.baton("bench", "p.toml", "--repeat", "2", "--json").json()
        self.assertEqual((stream["executor"], found["executor"]), ("stream", "graph"))
        for step, other in zip(found["steps"], stream["steps"], strict=True):
            self.assertIsNone(step["times"])
            for key in ("label", "executions"):
                self.assertEqual(step[key], other[key])
        self.check_times(found["run"]["times"], 4)
        self.assertEqual(found["run"]["bytes"], stream["run"]["bytes"])
        self.assertIn("a graph is one launch", self.baton("bench", "p.toml", "--repeat", "1", "--executor", "graph").out)

    def test_for_people(self):
        result = self.baton("bench", "p.toml", "--repeat", "2")
        self.check(result, 0)
        for part in ("3 times", "the whole run", "median of 2 runs"):
            self.assertIn(part, result.out)
        # Bandwidths of a simulation mean nothing; what it counts does.
        for part in ("bandwidth", "of the ceiling", "ceiling "):
            (self.assertIn if ON_GPU else self.assertNotIn)(part, result.out)
        (self.assertNotIn if ON_GPU else self.assertIn)("threads/warp", result.out)

    def test_without_a_number_of_runs(self):
        found = self.baton("bench", "p.toml", "--json").json()
        self.assertGreaterEqual(found["runs"], 5)
        self.assertLessEqual(found["runs"], 200)

    def test_a_skipped_launch_has_no_time(self):
        found = self.baton("bench", "p.toml", "--repeat", "2", "--json", "--set", "G=0").json()
        self.assertEqual((found["steps"][0]["skipped"], found["steps"][0]["times"]), (1, None))

    def test_an_interrupted_one_says_what_it_has(self):
        """It is told to end when it has shown that some runs are done."""
        here, there = pty.openpty()
        environment = dict(os.environ, BATON_DEVICE="sim", BATON_CACHE_DIR=self._cache.name, NO_COLOR="1")
        process = subprocess.Popen([BATON, "bench", "p.toml", "--repeat", "1000000"], cwd=self.folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=there)
        os.close(there)
        shown = b""
        told = False
        try:
            while part := os.read(here, 4096):
                shown += part
                if not told and re.search(rb"with the times of steps: run \d{2,} of", shown):
                    process.send_signal(signal.SIGINT)
                    told = True
        except OSError:  # how Linux ends a terminal that no process writes to any more
            pass
        os.close(here)
        out = process.communicate()[0].decode()
        self.assertEqual(process.returncode, 130, shown)
        self.assertRegex(out, r"interrupted after \d+ runs: median ")

    def test_what_is_wrong_is_said(self):
        self.check(self.baton("bench", "p.toml", "--set", "M=1"), 2, '"M"', "G")
        self.check(self.baton("bench", "no.toml"), 2, "no.toml")
        self.check(self.baton("bench", "p.toml", "--timeout", "1e-9"), 1, "longer than its limit")
        self.write("p.toml", PROGRAM.replace("x[blockIdx", "if (v == 2) __trap(); x[blockIdx"))
        self.check(self.baton("bench", "p.toml", "--repeat", "2"), 1)

    def test_repeat_statistics_of_run(self):
        result = self.baton("run", "p.toml", "--repeat", "5", "--json")
        self.check(result, 0)
        self.assertEqual(len(result.json()["run_seconds"]), 5)
        for step in result.json()["steps"]:
            self.check_times(step["times"], 4)
        self.assertIsNone(self.baton("run", "p.toml", "--json").json()["steps"][0]["times"])
        text = self.baton("run", "p.toml", "--repeat", "5").out
        for part in ("5 runs: first", "then median", "half of them"):
            self.assertIn(part, text)


class Terminal(Case):
    """What whoever watches sees: long work says how far it is, and lines end where they should."""

    def watch(self, *arguments, status):
        """Runs the tool with a terminal as its standard output and error; gives what is shown."""
        here, there = pty.openpty()
        environment = dict(os.environ, BATON_DEVICE="sim", BATON_CACHE_DIR=self._cache.name, NO_COLOR="1")
        process = subprocess.Popen([BATON, *arguments], cwd=self.folder, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=there, stderr=there)
        os.close(there)
        shown = b""
        try:
            while part := os.read(here, 4096):
                shown += part
        except OSError:  # how Linux ends a terminal that no process writes to any more
            pass
        os.close(here)
        self.assertEqual(process.wait(), status)
        return shown.decode()

    def test_progress(self):
        loop = SOURCE.replace("x[blockIdx", "volatile int* w = x; while (true) w[0] = w[0] + 1; x[blockIdx")
        self.write("p.toml", PROGRAM.replace(json.dumps(SOURCE), json.dumps(loop)))
        text = self.watch("run", "p.toml", "--timeout", "1.5", status=1)
        self.assertIn("compile and load", text)
        self.assertRegex(text, r"run 1 of 1: 0 of 5 steps, \d")
        self.assertIn("error: the run took longer than its limit of 1.50 s", text)
        self.assertIn("bind and upload", text)
        graph = self.watch("run", "p.toml", "--timeout", "1.5", "--executor", "graph", status=1)
        self.assertRegex(graph, r"run 1 of 1: one graph of 5 steps, \d")
        # Each message takes the place of the one before, and the last one is gone.
        self.assertRegex(text, r"\.\.\.\r\x1b\[K\s")

    def test_uploads(self):
        names = "".join(f'w{i} = {{ dtype = "f32", shape = [1048576], role = "weight", init = "ones" }}\n'
                        for i in range(3))
        copies = "".join(f'[[steps]]\ncopy = {{ from = "w{i}", to = "y" }}\n' for i in range(3))
        self.write("p.toml", f'[buffers]\n{names}y = {{ dtype = "f32", shape = [1048576], role = "output" }}\n{copies}')
        text = self.watch("run", "p.toml", status=0)
        self.assertRegex(text, r"upload w0: 4 MiB of 12 MiB  \[#{6}\.{14}\] 33 %")
        self.assertRegex(text, r"upload w2: 12 MiB of 12 MiB  \[#{20}\] 100 %")

    def test_a_fault(self):
        fault = SOURCE.replace("x[blockIdx", "if (v == 2) __trap(); x[blockIdx")
        self.write("p.toml", PROGRAM.replace(json.dumps(SOURCE), json.dumps(fault)))
        lines = self.watch("run", "p.toml", status=1).replace("\r\x1b[K", "").split("\r\n")
        at = next(i for i, line in enumerate(lines) if line.startswith("error: "))
        self.assertIn("kernel add", lines[at])
        # The launch is told, and no table hides it.
        self.assertFalse([line for line in lines if "perhaps unfinished" in line])
        self.assertTrue(any(line.startswith("the run ended early: ") for line in lines), lines)
        self.assertRegex("\n".join(lines[at:]), r"\n +1 \| extern .*\n +\| +\^")
        verbose = self.watch("run", "p.toml", "--verbose", status=1).split("\r\n")
        rows = [line.split() for line in verbose]
        self.assertTrue(any(row[:1] == ["add"] and "unfinished" in row for row in rows), verbose)
        self.assertFalse([line for line in lines if line.startswith("warning: cu")])


if __name__ == "__main__":
    main()
