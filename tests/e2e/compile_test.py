"""baton compile --rewrite and --depfile, and baton_compile_image of CMake, which uses them."""

import os
import pathlib
import shutil
import subprocess
import time
import unittest

from baton import BATON, ROOT, Case, main

SOURCE = """
#include "inc/factor.h"
template <typename T> __global__ void scale(T* x, const T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = FACTOR * y[i];
}
extern "C" __global__ void one(float* x) { x[threadIdx.x] = 1; }
"""

PROGRAM = """
name = "p"
[buffers]
x = { dtype = "f32", shape = [4], role = "output" }
[kernels]
one = { source = "k.cu" }
[[steps]]
launch = "one"
grid = 1
block = 4
args = ["x"]
"""


class Compile(Case):
    def setUp(self):
        super().setUp()
        self.write("k.cu", SOURCE)
        self.write("inc/factor.h", "#define FACTOR 2\n")

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def test_rewrite_gives_kernels_a_wait_and_a_trigger(self):
        for mode, triggers in (("wait", False), ("loads", True)):
            result = self.baton("compile", "k.cu", "-o", "k.ptx", "--arch", "sm_90a", "--entry",
                                "scale<float>", "--rewrite", mode, "--json")
            self.check(result, 0)
            found = {k["demangled"].split("(")[0]: (k["waits"], k["triggers"])
                     for k in result.json()["kernels"]}
            self.assertEqual(found, {"one": (True, triggers), "scale<float>": (True, triggers)})
            self.assertEqual(len(result.json()["rewrites"]), 2)
            self.assertIn("griddepcontrol.wait", self.text("k.ptx"))

    def test_rewrite_refuses_what_it_cannot_do(self):
        base = ("compile", "k.cu", "-o", "k.ptx")
        self.check(self.baton(*base, "--rewrite", "auto"), 2, "compile knows none")
        self.check(self.baton(*base, "--rewrite", "wait", "--arch", "sm_80"), 2, "begins with sm_90")
        self.check(self.baton(*base, "--rewrite", "wait", "--", "-maxrregcount=32"), 2,
                   "-maxrregcount=32 is for the assembler")

    def test_what_is_no_source_is_refused(self):
        self.check(self.baton("compile", "k.cu", "-o", "k.ptx", "--entry", "scale<int>"), 0)
        self.write("p.toml", PROGRAM)
        self.check(self.baton("build", "p.toml", "-o", "p.baton", "--arch", "sm_90a"), 0)
        self.check(self.baton("compile", "k.ptx"), 2, "k.ptx is an image, not CUDA source; baton inspect k.ptx")
        for program in ("p.toml", "p.baton"):
            self.check(self.baton("compile", program), 2, f"{program} is a program, not CUDA source; baton run {program}")

    def test_options_of_the_compiler_come_after_two_dashes(self):
        for option in ("-O3", "-DFACTOR=3", "-lineinfo", "-Iinc"):
            self.check(self.baton("compile", "k.cu", option), 2, f'come after "--": baton compile FILE.cu -- {option}')
        self.check(self.baton("compile", "k.cu", "--extended-lambda"), 2, 'those of the compiler come after "--"')
        self.check(self.baton("compile", "k.cu", "--ptxs"), 2, 'did you mean "--ptx"?')

    def test_parameters_have_their_names(self):
        """Debug information has them. `inspect` of a program compiles for them, a plain compile does not."""
        def names(*arguments):
            result = self.baton(*arguments)
            self.check(result, 0)
            return [param["name"] for param in result.json()["kernels"][0]["params"]]

        self.assertEqual(names("compile", "k.cu", "--json"), [None])
        self.assertEqual(names("compile", "k.cu", "--json", "--", "-G"), ["x"])
        self.write("named.toml", PROGRAM)
        result = self.baton("inspect", "named.toml")
        self.check(result, 0)
        self.assertIn("float* x", result.out)

    def test_relocatable_machine_code_can_be_linked(self):
        self.write("f.cu", 'extern "C" __device__ float twice(float x) { return 2 * x; }\n')
        self.write("g.cu", """
extern "C" __device__ float twice(float x);
extern "C" __global__ void g(float* y) { y[threadIdx.x] = twice(y[threadIdx.x]); }
""")
        for options in (("-o", "f.cubin"), ("--cubin",)):
            result = self.baton("compile", "f.cu", *options, "--arch", "sm_90a", "--", "-rdc=true")
            self.check(result, 0)
            self.assertIn("wrote f.cubin: cubin", result.out)
            self.assertEqual((self.folder / "f.cubin").read_bytes()[:4], b"\x7fELF")
        facts = self.baton("inspect", "f.cubin", "--json").json()
        self.assertIs(facts["linked"], False)
        self.check(self.baton("compile", "f.cu", "-o", "f.ptx", "--", "-rdc=true"), 0)
        self.assertIn(".func", self.text("f.ptx"))
        self.write("p.toml", """
[buffers.y]
dtype = "f32"
shape = [4]
role = "output"
[kernels.g]
link = ["g.cu", "f.cubin"]
[[steps]]
launch = "g"
grid = [1]
block = [4]
args = ["y"]
""")
        self.check(self.baton("build", "p.toml", "-o", "p.baton", "--arch", "sm_90a"), 0)

    def test_an_unknown_entry_of_relocatable_code_is_an_error(self):
        self.check(self.baton("compile", "k.cu", "-o", "k.cubin", "--entry", "no", "--", "-rdc=true"), 2, "no")

    def test_machine_code_is_never_ptx(self):
        for options in (("-o", "k.cubin"), ("--cubin",)):
            self.check(self.baton("compile", "k.cu", *options, "--arch", "compute_90"), 2,
                       "the virtual architecture compute_90 gives no machine code")
            self.check(self.baton("compile", "k.cu", *options, "--rewrite", "wait", "--", "-rdc=true"), 2,
                       "relocatable code (-rdc=true) of rewritten kernels is written as PTX alone")
        self.assertFalse((self.folder / "k.cubin").exists())

    def test_a_depfile_names_what_the_source_includes(self):
        self.check(self.baton("compile", "k.cu", "-o", "out $1.ptx", "--depfile", "k.d"), 0)
        folder = pathlib.Path(os.path.realpath(self.folder))
        self.assertEqual([line.strip(" \\") for line in self.text("k.d").splitlines()],
                         [f"{folder}/out\\ $$1.ptx:", f"{folder}/inc/factor.h", f"{folder}/k.cu"])
        self.check(self.baton("compile", "k.cu", "--depfile", "k.d"), 2, "give -o")


@unittest.skipUnless(shutil.which("cmake") and shutil.which("ninja"), "needs CMake and Ninja")
class CompileImage(Case):
    def test_images_of_several_architectures_follow_what_they_include(self):
        self.write("k.cu", SOURCE)
        header = self.write("inc/factor.h", "#define FACTOR 2\n")
        self.write("CMakeLists.txt", f"""
cmake_minimum_required(VERSION 3.25)
project(images LANGUAGES NONE)
include("{ROOT}/cmake/BatonEmbed.cmake")
baton_compile_image(scale.ptx SOURCE k.cu ARCH sm_90a sm_100a
  ENTRY "scale<float>" "scale<double>" REWRITE wait OPTIONS -DUNUSED=1)
baton_compile_image(one.ptx SOURCE k.cu ARCH compute_90)
add_custom_target(images ALL DEPENDS scale.sm_90a.ptx scale.sm_100a.ptx one.ptx)
""")
        settings = {**os.environ, "BATON_CACHE_DIR": self._cache.name}

        def build(*words):
            done = subprocess.run(["cmake", *words], cwd=self.folder, env=settings, check=False,
                                  capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            return done.stdout.count("Compile k.cu to ")

        build("-S", ".", "-B", "b", "-G", "Ninja", f"-DBATON_EXECUTABLE={BATON}")
        self.assertEqual(build("--build", "b"), 3)
        self.assertEqual(build("--build", "b"), 0)
        scale = (self.folder / "b" / "scale.sm_90a.ptx").read_text(encoding="utf-8")
        self.assertEqual((scale.count(".entry"), scale.count("griddepcontrol.wait")), (3, 3))
        self.assertIn(".target sm_100a",
                      (self.folder / "b" / "scale.sm_100a.ptx").read_text(encoding="utf-8"))
        # Later than the images, however long they took, also in seconds.
        later = time.time_ns() + 2_000_000_000
        header.write_text("#define FACTOR 3\n", encoding="utf-8")
        os.utime(header, ns=(later, later))
        self.assertEqual(build("--build", "b"), 3)


if __name__ == "__main__":
    main()
