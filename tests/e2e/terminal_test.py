#!/usr/bin/env python3
"""How output looks on a terminal of eighty columns, and what stays out of sight there."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from baton import BATON, ROOT, Case, buffer, kernel, launch, main, program

COLOUR = re.compile(r"\x1b\[\d*m")


class Terminal(Case):
    def on_terminal(self, *arguments, columns=80, errors=False, **environment):
        """Standard output and the status of a command whose standard output is a terminal; or standard error."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
        settings = dict(inherited, TERM="xterm", BATON_DEVICE="sim:h200",
                        BATON_CACHE_DIR=self._cache.name, **environment)
        process = subprocess.Popen([BATON, *map(str, arguments)], cwd=self.folder, env=settings,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE if errors else slave,
                                   stderr=slave if errors else subprocess.PIPE)
        os.close(slave)
        text = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        os.close(master)
        process.communicate(timeout=60)
        return text.decode().replace("\r\n", "\n"), process.returncode

    def chain(self, length):
        """A chain of launches without a wait."""
        self.write("k.cu", "extern \"C\" __global__ void k(float* y) { y[threadIdx.x] += 1; }")
        self.write("chain.toml", program(buffer("y", "f32", [32], "inout", "zeros"),
                                         kernel("k", source="k.cu"),
                                         *[launch("k", [1], [32], ["y"])] * length))

    def test_tables_fit_the_terminal(self):
        self.chain(3)
        for command in (["check", "chain.toml"], ["inspect", ROOT / "tests" / "golden" / "kernels.ptx"],
                        ["cache", "list"]):
            text, status = self.on_terminal(*command, columns=100)
            self.assertEqual(status, 0, text)
            for line in COLOUR.sub("", text).splitlines():
                if line.startswith("  "):
                    self.assertLessEqual(len(line), 100, text)
        # Whole words, under the column that they belong to.
        text, _ = self.on_terminal("check", "chain.toml")
        piped = self.baton("check", "chain.toml").out
        words = lambda out: sorted(COLOUR.sub("", out).split())
        self.assertEqual(words(text), words(piped))
        self.assertRegex(text, r"(?m)^ {20,}before it \(griddepcontrol\.wait\)\s*$")

    def test_the_widest_tables_fit_eighty_columns(self):
        source = ROOT / "examples" / "decode_layer"
        self.write("decode_layer.cu", (source / "decode_layer.cu").read_text())
        self.write("p.toml", (source / "decode_layer.toml").read_text())
        small = ("--set", "K=64", "--set", "N=128")
        for command in (["check", "p.toml", "--rewrite", "loads", "--verbose", *small],
                        ["run", "p.toml", "--rewrite", "loads", *small],
                        ["bench", "p.toml", "--repeat", "2", *small]):
            text, status = self.on_terminal(*command)
            self.assertEqual(status, 0, text)
            for line in COLOUR.sub("", text).splitlines():
                if str(self.folder) not in line:
                    self.assertLessEqual(len(line), 80, text)

    def test_lines_below_tables_go_on_beside_their_labels(self):
        self.chain(3)
        text, _ = self.on_terminal("check", "chain.toml", columns=60)
        self.assertIn("\nforecasts for a run, by the bytes of buffers and the cost of\n  edges on an H200;", text)
        self.assertIn("\nforecasts for a run, by the bytes of buffers and the cost of edges on an H200; baton run --trace "
                      "measures\n", self.baton("check", "chain.toml").out)

    def test_a_long_launch_has_a_share(self):
        """By its blocks that ended, on one line of the terminal, which the next one replaces."""
        self.write("mix.cu", """extern "C" __global__ void a_kernel_that_mixes_numbers(unsigned* x, int turns) {
  unsigned v = x[blockIdx.x];
  for (int k = 0; k < turns; ++k) { v ^= v << 13; v ^= v >> 17; v ^= v << 5; }
  x[blockIdx.x] = v;
}""")
        self.write("mix.toml", program(buffer("x", "u32", [4096], "inout", "ones"), kernel("mix", source="mix.cu"),
                                       launch("mix", [4096], [1], ["x", 6000])))
        text, status = self.on_terminal("run", "mix.toml", errors=True)
        self.assertEqual(status, 0, text)
        shown = text.split("\r\x1b[K")
        shares = [int(share) for line in shown for share in re.findall(r"0 of 1 step.* (\d+) %", line)]
        self.assertTrue(shares, text)
        self.assertEqual(shares, sorted(shares))
        for line in shown:
            self.assertLess(len(line), 80, text)

    def test_init_shows_what_it_tries(self):
        self.write("two.cu", """__global__ void first(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 1; }
__global__ void second(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 2; }
""")
        text, status = self.on_terminal("init", "two.cu", errors=True)
        self.assertEqual(status, 0, text)
        self.assertRegex(text, r"try first \(1 of 2\): guess 1 of \d+, ")

    def test_a_pipe_has_no_width(self):
        self.chain(2)
        self.assertIn("k never waits for the launch before it (griddepcontrol.wait)",
                      self.baton("check", "chain.toml", COLUMNS="80").out)

    def test_verdicts_have_colours_on_a_terminal_only(self):
        self.chain(2)
        text, _ = self.on_terminal("check", "chain.toml")
        self.assertIn("\x1b[33munknown\x1b[0m", text)
        text, _ = self.on_terminal("check", "chain.toml", NO_COLOR="1")
        self.assertNotRegex(text, COLOUR)
        self.assertNotIn("\x1b", self.baton("check", "chain.toml").out)

    def test_check_lists_the_exceptions(self):
        self.chain(60)
        result = self.baton("check", "chain.toml")
        self.check(result, 0)
        self.assertIn("59 edges: 59 unknown", result.out)
        self.assertIn("and 20 more: --verbose lists all", result.out)
        self.assertIn("and 19 more: --verbose lists all", result.out)
        everything = self.baton("check", "chain.toml", "--verbose").out
        self.assertIn("58 -> 59", everything)
        self.assertNotIn("more:", everything)
        self.assertEqual(len(self.baton("check", "chain.toml", "--json").json()["edges"]), 59)

    def test_check_counts_the_rule(self):
        self.chain(4)
        out = self.baton("check", "chain.toml", "--rewrite", "wait").out
        self.assertIn("3 edges: 3 proven", out)
        self.assertNotIn("0 -> 1  proven", out)
        self.assertIn("0 -> 1  proven", self.baton("check", "chain.toml", "--rewrite", "wait", "--verbose").out)

    def test_cache_list_shortens_keys(self):
        self.chain(1)
        self.check(self.baton("compile", "k.cu", "--arch", "sm_90a"), 0)
        path = self.baton("cache", "list", "--json").json()["entries"][0]["path"]
        key = os.path.basename(path).removesuffix(".entry")
        out = self.baton("cache", "list").out
        self.assertIn(key[:12], out)
        self.assertNotIn(key[:13], out)


class Inspect(Case):
    IMAGE = ROOT / "tests" / "golden" / "kernels.ptx"

    def names(self, *options):
        result = self.baton("inspect", self.IMAGE, "--json", *options)
        self.check(result, 0)
        return [k["name"] for k in result.json()["kernels"]], len(result.json()["images"])

    def test_kernels_and_images_can_be_chosen(self):
        every, images = self.names()
        self.assertEqual((len(every), images), (2, 1))
        self.assertEqual(self.names("--kernel", "^rev"), (["reverse"], 1))
        self.check(self.baton("inspect", self.IMAGE, "--kernel", "nothing"), 2,
                   "has no kernel that --kernel names")
        self.assertEqual(self.names("--arch", "sm_90"), (every, 1))
        self.check(self.baton("inspect", self.IMAGE, "--arch", "sm_80"), 2, "has no kernel that --arch sm_80 names")
        self.check(self.baton("inspect", self.IMAGE, "--kernel", "("), 2, "--kernel takes a regular expression")

    def test_variables_do_not_bury_the_kernels(self):
        names = [f"v{i}" for i in range(20)]
        self.write("k.cu", "".join(f"__device__ int {n} = 1;\n" for n in names) +
                   "extern \"C\" __global__ void k(int* y) { *y = " + "+".join(names) + "; }")
        self.check(self.baton("compile", "k.cu", "--arch", "sm_90a", "-o", "k.ptx"), 0)
        out = self.baton("inspect", "k.ptx").out
        self.assertIn("and 12 more: --json lists all", out)
        self.assertEqual(sum(f" {n} " in out for n in names), 8)
        self.assertEqual(len(self.baton("inspect", "k.ptx", "--json").json()["variables"]), 20)


class SourceLines(Case):
    """Below what went wrong stands the line that did it, with a caret."""

    def run_kernel(self, text, block=64, **attributes):
        self.write("k.cu", text)
        self.write("p.toml", program(buffer("y", "f32", [64], "output"), kernel("k", source="k.cu"),
                                     launch("k", [1], [block], ["y"], **attributes)))
        return self.baton("run", "p.toml", BATON_DEVICE="sim:h200")

    def test_below_a_race(self):
        result = self.run_kernel("""extern "C" __global__ void k(float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = s[63 - threadIdx.x];
}""")
        self.check(result, 1, "1 error")
        self.assertIn("    4 |   y[threadIdx.x] = s[63 - threadIdx.x];\n      |   ^", result.err)
        self.assertRegex(result.err, r"\nk\.cu:4:3: launch 0 \(k\), at p\.toml:\d+:1: kernel k, block \(0, 0, 0\), "
                                     r"thread \(\d+, 0, 0\): reads 4 bytes of shared memory .*\(\d+ times\)\n")

    def test_below_a_warning(self):
        result = self.run_kernel("""extern "C" __global__ void k(float* y) {
  __shared__ float s[64];
  y[threadIdx.x] = s[threadIdx.x];
}""")
        self.check(result, 0)
        self.assertIn("    3 |   y[threadIdx.x] = s[threadIdx.x];\n      |   ^", result.err)

    def test_of_inlined_code_it_is_the_callers(self):
        result = self.run_kernel("""#include <cooperative_groups.h>
extern "C" __global__ void k(float* y) {
  cooperative_groups::this_grid().sync();
  y[threadIdx.x] = 1;
}""")
        self.check(result, 1, "trap")
        self.assertIn("    3 |   cooperative_groups::this_grid().sync();", result.err)

    def test_a_run_without_expectations_says_so(self):
        result = self.run_kernel("extern \"C\" __global__ void k(float* y) { y[threadIdx.x] = 1; }")
        self.check(result, 0)
        self.assertIn("not compared with anything; --expect y=FILE.npy", result.out)


if __name__ == "__main__":
    main()
