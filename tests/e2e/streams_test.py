#!/usr/bin/env python3
"""What goes to standard output, what to standard error, and what --strict makes of warnings."""

import json
import os
import signal
import subprocess

import baton
from baton import BATON, Case, buffer, kernel, launch, main, program

# A kernel that prints, one that reads what nothing wrote, one that never ends.
SOURCE = r"""
#include <cstdio>
extern "C" __global__ void talk(float* y) { printf("{\"from\": %d}\n", blockIdx.x); y[blockIdx.x] = 1; }
extern "C" __global__ void guess(const float* s, float* y) { y[threadIdx.x] = s[threadIdx.x]; }
extern "C" __global__ void stay(volatile float* y) { while (y[0] == 0) {} }
"""


class Streams(Case):
    def setUp(self):
        super().setUp()
        self.write("k.cu", SOURCE)
        y = buffer("y", "f32", [4], "output", "zeros")
        self.write("talk.toml", program(
            y, kernel("talk", source="k.cu", entry="talk"), launch("talk", [4], [1], ["y"])))
        self.write("guess.toml", program(
            y, buffer("s", "f32", [4], "scratch"), kernel("guess", source="k.cu", entry="guess"),
            launch("guess", [1], [4], ["s", "y"])))
        self.write("unwritten.toml", program(
            y, buffer("z", "f32", [4], "output"), kernel("talk", source="k.cu", entry="talk"),
            launch("talk", [4], [1], ["y"])))
        self.write("stay.toml", program(
            y, kernel("stay", source="k.cu", entry="stay"), launch("stay", [1], [1], ["y"])))

    def test_json_is_one_object_though_a_kernel_prints(self):
        for command in (["run", "talk.toml"], ["bench", "talk.toml", "--repeat", "1"]):
            result = self.baton(*command, "--json")
            self.check(result, 0)
            self.assertEqual(json.loads(result.out)["status"], "ok")
            self.assertIn('{"from": 3}', result.err.splitlines())

    def test_what_a_kernel_prints_is_standard_output_without_json(self):
        result = self.baton("run", "talk.toml")
        self.check(result, 0)
        self.assertIn('{"from": 3}', result.out.splitlines())

    def test_json_needs_no_standard_error(self):
        for descriptors in ("2>&-", "</dev/null 2>&-"):
            done = subprocess.run(["sh", "-c", f'"$0" run talk.toml --json {descriptors}', BATON],
                                  cwd=self.folder, capture_output=True, text=True, check=False,
                                  env=dict(os.environ, BATON_DEVICE=baton.DEVICE,
                                           BATON_CACHE_DIR=self._cache.name))
            self.assertEqual(done.returncode, 0)
            self.assertEqual(json.loads(done.stdout)["status"], "ok")

    def test_warnings_of_the_simulated_gpu_go_to_standard_error(self):
        if baton.ON_GPU:
            self.skipTest("a GPU does not see what was never written")
        result = self.baton("run", "guess.toml")
        self.check(result, 0)
        self.assertNotIn("warning", result.out)
        self.assertRegex(result.err, r"(?m)^warning: launch 0 \(guess\), at guess\.toml:\d+:1: kernel guess, block "
                                     r"\(0, 0, 0\), thread ")
        result = self.baton("run", "guess.toml", "--json")
        self.assertEqual(result.json()["status"], "warnings")
        self.assertEqual([f["severity"] for f in result.json()["findings"]], ["warning"])

    def test_strict_takes_no_warning(self):
        for file in (["guess.toml"] if not baton.ON_GPU else []) + ["unwritten.toml"]:
            self.check(self.baton("run", file), 0)
            self.check(self.baton("run", file, "--strict"), 1, "1 warning, and --strict allows none")
            result = self.baton("run", file, "--strict", "--json")
            self.check(result, 1)
            self.assertEqual(result.json()["status"], "failed")
            self.assertEqual(result.json()["error"]["code"], "warnings")
        self.check(self.baton("run", "talk.toml", "--strict"), 0)
        self.check(self.baton("check", "talk.toml", "--strict"), 0)

    def test_a_file_that_cannot_be_written_is_known_before_the_run(self):
        for option in (["--output", "y=/proc/y.npy"], ["--trace", "/proc/t.json"],
                       ["--output", "y=none/y.npy"], ["--trace", "none/t.json"]):
            result = self.baton("run", "talk.toml", *option)
            self.check(result, 2, option[0])
            self.assertNotIn("from", result.out)

    def test_the_outputs_are_saved_before_strict_ends_it(self):
        self.check(self.baton("run", "unwritten.toml", "--strict", "--output", "y=y.npy"), 1)
        self.assertTrue((self.folder / "y.npy").is_file())

    def test_the_command_of_a_misplaced_option(self):
        for arguments in (["--device", "sim", "run", "talk.toml"], ["run", "--nonsense"]):
            result = self.baton(*arguments, "--json")
            self.check(result, 2)
            self.assertEqual(result.json()["command"], "run")
        self.check(self.baton("--device", "sim", "run", "talk.toml"), 2,
                   "write it after: baton run --device")
        self.assertEqual(self.baton("rum", "--json").json()["command"], "rum")
        self.assertIsNone(self.baton("--json").json()["command"])

    def test_a_request_to_end_is_an_interrupt(self):
        environment = dict(os.environ, BATON_DEVICE=baton.DEVICE, BATON_CACHE_DIR=self._cache.name)
        process = subprocess.Popen([BATON, "run", "stay.toml"], cwd=self.folder, env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # The device line is written before the run starts; the kernel then never ends.
        while not process.stdout.readline().startswith("device"):
            self.assertIsNone(process.poll(), "the run ended by itself")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("error: ", errors)


class Words(Case):
    def test_help_and_version_are_words_too(self):
        for words in (["version"], ["-V"], ["run", "-V"]):
            self.assertEqual(self.baton(*words).out, self.baton("--version").out)
        self.assertEqual(self.baton("help").out, self.baton("--help").out)
        self.assertEqual(self.baton("help", "run").out, self.baton("run", "--help").out)

    def test_messages_name_the_help_that_helps(self):
        self.check(self.baton("run", "p.toml", "--set"), 2, "baton run --help lists the options")
        self.check(self.baton("run", "p.toml", "--frobnicate"), 2,
                   "unknown option \"--frobnicate\"; baton run --help lists the options")
        self.check(self.baton("run", "p.toml", "--repaet", "2"), 2, "did you mean \"--repeat\"?")
        self.check(self.baton("--frobnicate"), 2, "baton --help lists the options")

    def test_a_tolerance_needs_something_to_compare(self):
        for option in ("--rtol", "--atol"):
            self.write("p.toml", "[buffers]\ny = { dtype = 'f32', shape = 1, role = 'output' }\n"
                       "[[steps]]\nfill = { buffer = 'y', value = 1 }\n")
            self.check(self.baton("run", "p.toml", option, "1"), 2,
                       f"{option} compares nothing: the program expects nothing of its outputs")


if __name__ == "__main__":
    main()
