#!/usr/bin/env python3
"""The script of the GitHub action "check my kernels": what it prints for good and for wrong programs."""

import json
import os
import re
import subprocess
import sys
import textwrap

from baton import BATON, ROOT, Case, buffer, kernel, launch, main, program

ACTION = ROOT / ".github" / "actions" / "check-kernels"
SCRIPT = ACTION / "check_kernels.py"

GOOD = 'extern "C" __global__ void k(float* y) { y[threadIdx.x] += 1; }\n'
RACE = """\
extern "C" __global__ void k(float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}
"""


class Action(Case):
    def program(self, name, source):
        self.write(f"{name}/k.cu", source)
        self.write(f"{name}/p.toml", program(buffer("y", "f32", [64], "inout", "zeros"),
                                             kernel("k", source="k.cu", entry="k"),
                                             launch("k", [1], [64], ["y"])))

    def act(self, *patterns, **inputs):
        report = self.folder / "report.jsonl"
        environment = {"PROGRAMS": " ".join(patterns), "DEVICE": "sim:h200", "SCHEDULES": "late reverse",
                       "RACES": "usual", "STRICT": "true", "REPORT": str(report),
                       "PATH": f"{os.path.dirname(BATON)}:{os.environ['PATH']}",
                       "BATON_CACHE_DIR": self._cache.name, **inputs}
        done = subprocess.run([sys.executable, SCRIPT], cwd=self.folder, env=environment, text=True,
                              capture_output=True, check=False)
        self.lines = [json.loads(line) for line in report.read_text().splitlines()] if report.exists() else []
        return done.returncode, done.stdout

    def test_good_programs(self):
        self.program("a", GOOD)
        self.program("b", GOOD)
        status, printed = self.act("**/*.toml")
        self.assertEqual(status, 0, printed)
        self.assertNotIn("::error", printed)
        self.assertIn("2 programs, 0 failed", printed)
        self.assertEqual([line["command"] for line in self.lines], ["check", "run", "run"] * 2)

    def test_a_race_is_shown_once_at_its_line(self):
        self.program("a", RACE)
        status, printed = self.act("a/p.toml")
        self.assertEqual(status, 1, printed)
        errors = [line for line in printed.splitlines() if line.startswith("::error")]
        self.assertEqual(len(errors), 1, printed)
        self.assertRegex(errors[0], r"^::error file=a/k\.cu,line=4,col=\d+,title=shared_race in kernel k::thread")

    def test_what_does_not_compile(self):
        self.program("a", GOOD.replace("+= 1", "+= one"))
        status, printed = self.act("a/p.toml")
        self.assertEqual(status, 1)
        self.assertRegex(printed, r"::error file=a/k\.cu,line=1,col=\d+,title=baton%3A compile::.*one")

    def test_no_program(self):
        status, printed = self.act("nowhere/*.toml")
        self.assertEqual(status, 2)
        self.assertIn("::error title=baton::no file matches nowhere/*.toml", printed)
        # One wrong pattern among others leaves kernels unchecked.
        self.program("a", GOOD)
        status, printed = self.act("a/*.toml", "b/*.toml")
        self.assertEqual(status, 2)
        self.assertIn("::error title=baton::no file matches b/*.toml;", printed)

    def test_schedules_with_commas_between_them(self):
        self.program("a", GOOD)
        status, printed = self.act("a/*.toml", SCHEDULES="late,reverse, serial")
        self.assertEqual(status, 0, printed)
        self.assertIn("1 program, 0 failed", printed)
        self.assertEqual([line["command"] for line in self.lines], ["check", "run", "run", "run"])

    def test_kernels_of_cpp_have_their_names_in_titles(self):
        self.program("a", RACE.replace('extern "C" ', ""))
        status, printed = self.act("a/p.toml")
        self.assertEqual(status, 1)
        self.assertIn("title=shared_race in kernel k::", printed)

    def wheel_key(self):
        """Calls the step of action.yml in a checkout of the action that has a few files alone."""
        step = re.search(r"- name: Name the wheel\n.*?run: \|\n(.*?)\n    - ", (ACTION / "action.yml").read_text(), re.DOTALL)
        output = self.folder / "output"
        output.write_text("")
        environment = dict(os.environ, GITHUB_OUTPUT=str(output), ImageOS="ubuntu24", RUNNER_ARCH="X64",
                           GITHUB_ACTION_PATH=str(self.folder / ".github/actions/check-kernels"))
        subprocess.run(["bash", "-e", "-o", "pipefail", "-c", textwrap.dedent(step[1])], cwd="/", env=environment,
                       check=True)
        return re.fullmatch(r"key=(baton-wheel-ubuntu24-X64-[0-9a-f]{64})\n", output.read_text())[1]

    def test_the_cached_wheel_is_that_of_the_sources(self):
        (self.folder / ".github/actions/check-kernels").mkdir(parents=True)
        for name in ("CMakeLists.txt", "cmake/a.cmake", "include/baton.h", "pyproject.toml", "python/a.py", "src/a b.cc"):
            self.write(name, "")
        first = self.wheel_key()
        self.write("docs/page.md", "")
        self.assertEqual(self.wheel_key(), first)
        self.write("src/a b.cc", "int a;")
        self.assertNotEqual(self.wheel_key(), first)


if __name__ == "__main__":
    main()
