#!/usr/bin/env python3
"""No command replaces a file that it reads, whatever option names it, and says so before it runs."""

import os
import shutil

import numpy

from baton import Case, main

SOURCE = """\
#include "two.h"
extern "C" __global__ void scale(const float* x, float* y) { y[threadIdx.x] = TWO * x[threadIdx.x]; }
"""

PROGRAM = """\
name = "own"

[buffers.x]
dtype = "f32"
shape = [8]
role = "input"
init = "ones"

[buffers.w]
dtype = "f32"
shape = [8]
role = "weight"
file = "w.npy"

[buffers.y]
dtype = "f32"
shape = [8]
role = "output"
expect = "y.npy"

[kernels.scale]
source = "k.cu"

[[steps]]
launch = "scale"
grid = [1]
block = [8]
args = ["x", "y"]
"""


class OwnInput(Case):
    def setUp(self):
        super().setUp()
        self.write("k.cu", SOURCE)
        self.write("two.h", "#define TWO 2\n")
        self.write("p.toml", PROGRAM)
        self.save("x.npy", numpy.ones(8, numpy.float32))
        self.save("w.npy", numpy.ones(8, numpy.float32))
        self.save("y.npy", numpy.full(8, 2, numpy.float32))

    def contents(self):
        return {file.name: file.read_bytes() for file in self.folder.iterdir() if file.is_file()}

    def check_refused(self, target, *arguments):
        with self.subTest(" ".join(map(str, arguments))):
            before = self.contents()
            result = self.baton(*arguments)
            self.check(result, 2, target, "reads this file", "name another file")
            self.assertEqual(self.contents(), before)

    def test_build(self):
        for target in ("p.toml", "k.cu", "two.h", "w.npy", "./p.toml", self.folder / "k.cu"):
            self.check_refused(str(target), "build", "p.toml", "-o", target)
        self.check_refused("k.cu", "build", "p.toml", "-o", "p.baton", "--tvm-ffi", "k.cu")
        self.write("key.pem", "a key")
        self.check_refused("key.pem", "build", "p.toml", "--sign", "key.pem", "-o", "key.pem")

    def test_by_another_name(self):
        os.symlink("k.cu", self.folder / "link")
        os.link(self.folder / "p.toml", self.folder / "hard")
        self.check_refused("link", "build", "p.toml", "-o", "link")
        self.check_refused("hard", "build", "p.toml", "-o", "hard")

    def test_compile(self):
        self.check_refused("k.cu", "compile", "k.cu", "-o", "k.cu")
        self.check_refused("two.h", "compile", "k.cu", "-o", "two.h")
        self.check_refused("k.cu", "compile", "k.cu", "-o", "k.ptx", "--depfile", "k.cu")

    def test_run(self):
        for target in ("p.toml", "k.cu", "two.h", "w.npy", "y.npy"):
            self.check_refused(target, "run", "p.toml", "--output", f"y={target}")
        self.check_refused("x.npy", "run", "p.toml", "--input", "x=x.npy", "--output", "y=x.npy")
        for option in ("--trace", "--sarif", "--junit"):
            for target in ("p.toml", "k.cu"):
                self.check_refused(target, "run", "p.toml", option, target)
        self.save("e.npy", numpy.ones(8, numpy.float32))
        self.check_refused("e.npy", "run", "p.toml", "--expect", "y=e.npy", "--trace", "e.npy")
        self.check_refused("k.cu", "run", "p.toml", "--keep", ".")

    def test_check_bench_and_tune(self):
        for option in ("--sarif", "--junit"):
            for target in ("p.toml", "k.cu"):
                self.check_refused(target, "check", "p.toml", option, target)
        shutil.copy(self.folder / "p.toml", self.folder / "p.svg")
        self.check_refused("p.svg", "bench", "p.svg", "--plot", "p.svg")
        self.check_refused("p.svg", "bench", "p.svg", "p.toml", "--plot", "p.svg")
        self.check_refused("p.svg", "bench", "p.toml", "--baseline", "p.svg", "--plot", "p.svg")
        for target in ("p.toml", "k.cu"):
            self.check_refused(target, "tune", "p.toml", "-o", target)

    def test_programs_of_others(self):
        self.write("s.py", "pass")
        self.write("rules", "")
        for option in ("--json", "--log-file", "--sarif", "--junit"):
            self.check_refused("s.py", "exec", option, "s.py", "--", "python3", "s.py")
        self.check_refused("rules", "exec", "--json", "rules", "--suppressions", "rules", "--", "true")
        self.check_refused("s.py", "record", "-o", "r", "--json", "s.py", "--", "python3", "s.py")
        self.assertFalse((self.folder / "r").exists())

    def test_inspect(self):
        self.check_refused("k.cu", "inspect", "p.toml", "--extract", ".")
        self.check(self.baton("compile", "k.cu", "--ptx", "-o", "k.ptx"), 0)
        self.check_refused("k.ptx", "inspect", "k.ptx", "--extract", ".")

    def test_sign(self):
        self.check(self.baton("build", "p.toml", "-o", "p.baton"), 0)
        self.write("key.pem", "a key")
        self.check_refused("key.pem", "sign", "p.baton", "--key", "key.pem", "-o", "key.pem")

    def test_ptxas(self):
        self.write("k.ptx", ".version 8.0")
        self.check_refused("k.ptx", "ptxas", "--", "-arch=sm_90", "k.ptx", "-o", "k.ptx")

    def test_a_bundle_reads_no_source(self):
        self.check(self.baton("build", "p.toml", "-o", "away/p.baton", "--weights"), 2, "away")
        (self.folder / "away").mkdir()
        self.check(self.baton("build", "p.toml", "-o", "away/p.baton", "--weights"), 0)
        for _ in range(2):
            self.check(self.baton("run", "away/p.baton", "--output", "y=o.npy"), 0)
        self.check_refused("away/p.baton", "run", "away/p.baton", "--output", "y=away/p.baton")

    def test_an_export_replaces_an_archive_alone(self):
        cache = {"BATON_CACHE_DIR": str(self.folder / "cache")}
        self.check(self.baton("compile", "k.cu", **cache), 0)
        self.check(self.baton("cache", "export", "k.cu", **cache), 2, "k.cu exists and is not an archive")
        self.assertEqual((self.folder / "k.cu").read_text(), SOURCE)
        for _ in range(2):
            self.check(self.baton("cache", "export", "c.zip", **cache), 0)
        self.check(self.baton("cache", "import", "k.cu", **cache), 2, "k.cu is not an archive of a compile cache")

    def test_what_it_wrote_before_is_replaced(self):
        for _ in range(2):
            self.check(self.baton("build", "p.toml", "-o", "p.baton"), 0)
            self.check(self.baton("compile", "k.cu", "-o", "k.cubin", "--depfile", "k.d"), 0)
            self.check(self.baton("run", "p.toml", "--output", "y=o.npy", "--html", "p.html"), 0)


if __name__ == "__main__":
    main()
