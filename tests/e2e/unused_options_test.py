#!/usr/bin/env python3
"""Options that would have no effect: they warn or fail."""

import pathlib
import unittest

from baton import BATON, Case, main

KERNEL = 'extern "C" __global__ void k(float* y) { y[threadIdx.x] = 1; }'
PROGRAM = f"""name = "ones"
[buffers]
y = {{ dtype = "f32", shape = 4, role = "output" }}
[kernels]
k = {{ text = '{KERNEL}' }}
[[steps]]
launch = "k"
grid = 1
block = 4
args = ["y"]
"""


def needs(library):
    """For a test of what loads a library of its own, which a build of the command line alone lacks."""
    path = pathlib.Path(BATON).parent / "lib/baton" / library
    return unittest.skipUnless(path.exists(), f"{path} is not built")


class UnusedOptions(Case):
    def setUp(self):
        super().setUp()
        self.write("p.toml", PROGRAM)
        self.write("k.cu", KERNEL)

    def ptx(self):
        self.check(self.baton("compile", "k.cu", "-o", "k.ptx", "--arch", "sm_90a"), 0)
        return "k.ptx"

    def warned(self, option, *words):
        result = self.baton(*words)
        self.check(result, 0)
        self.assertIn(f"warning: {option} has no effect: ", result.err)

    def test_a_page_has_the_ending_of_one(self):
        self.check(self.baton("run", "p.toml", "--html", "x.txt"), 2, "--html x.txt does not end in .html")
        self.assertFalse((self.folder / "x.txt").exists())
        self.check(self.baton("run", "p.toml", "--html", "x.html"), 0)

    def test_collectives_need_a_world(self):
        for command in ("run", "check", "bench", "tune"):
            with self.subTest(command):
                for kind in ("host", "peer", "nccl"):
                    self.check(self.baton(command, "p.toml", "--collectives", kind), 2,
                               "--collectives", "ones has no world")
        self.check(self.baton("run", "p.toml", "--collectives", "auto"), 0)

    def test_a_seed_needs_random_contents(self):
        self.warned("--seed 7", "run", "p.toml", "--seed", "7")
        self.warned("--seed 7", "bench", "p.toml", "--seed", "7", "--repeat", "1")
        self.write("r.toml", PROGRAM.replace('role = "output"', 'role = "inout", init = "random"'))
        self.assertNotIn("--seed", self.baton("run", "r.toml", "--seed", "7").err)

    def test_an_early_start_that_no_launch_makes(self):
        """`--pdl on` asks for no more than kernels can do."""
        self.warned("--pdl on", "run", "p.toml", "--pdl", "on")
        step = PROGRAM[PROGRAM.index("[[steps]]"):]
        self.write("two.toml", PROGRAM + step)
        for command in (["run"], ["bench", "--repeat", "1"]):
            self.warned("--pdl on", command[0], "two.toml", "--device", "sim:h200", "--pdl", "on", *command[1:])
        waits = "cudaGridDependencySynchronize(); y["
        self.write("waits.toml", (PROGRAM + step).replace("y[", waits, 1))
        for options in (["two.toml"], ["two.toml", "--pdl", "off"], ["waits.toml", "--pdl", "on"]):
            result = self.baton("run", *options, "--device", "sim:h200")
            self.check(result, 0)
            self.assertNotIn("no effect", result.err)

    def test_a_check_without_programs(self):
        image = self.ptx()
        for options in (["--set", "N=1"], ["--pdl", "on"], ["--rewrite", "wait"], ["--collectives", "host"]):
            with self.subTest(options[0]):
                self.warned(options[0], "check", image, *options)
                self.warned(options[0], "check", image, image, *options)
                self.check(self.baton("check", image, *options, "--strict"), 1)
        self.assertNotIn("no effect", self.baton("check", image, "p.toml", "--pdl", "off").err)

    def test_an_image_is_made_already(self):
        image = self.ptx()
        self.check(self.baton("init", image, "--arch", "sm_80"), 2, "k.ptx is an image", "leave --arch out")
        self.check(self.baton("init", image, "--entry", "k"), 2, "k.ptx is an image", "leave --entry out")

    def test_a_bundle_of_images(self):
        self.ptx()
        self.write("i.toml", PROGRAM.replace(f"text = '{KERNEL}'", 'ptx = "k.ptx"'))
        self.warned("--arch", "build", "i.toml", "-o", "i.baton", "--arch", "sm_80")
        self.warned("--weights", "build", "p.toml", "-o", "p.baton", "--weights")
        self.assertNotIn("no effect", self.baton("build", "p.toml", "-o", "p.baton", "--arch", "sm_80").err)

    @needs("libcuda.so.1")
    def test_an_environment_is_printed_without_a_run(self):
        self.check(self.baton("exec", "--print-env", "--", "true"), 2, "leave the program out")
        for options in (["--json", "x.json"], ["--junit", "x.xml"], ["--timeout", "3"]):
            self.check(self.baton("exec", "--print-env", *options), 2, f"leave {options[0]} out")
        self.assertFalse((self.folder / "x.json").exists())
        self.check(self.baton("exec", "--print-env", "--schedule", "reverse"), 0)

    @needs("record/libcuda.so.1")
    def test_a_record_has_its_own_launches(self):
        self.check(self.baton("record", "-o", "r.record", "--device", "sim", "--", "true"), 0)
        self.check(self.baton("run", "r.record", "--device", "sim", "--collectives", "host"), 2,
                   "--collectives is for programs")
        self.warned("--set", "check", "r.record", "--set", "N=1")
        self.warned("--device sim", "check", "r.record", "--device", "sim")


if __name__ == "__main__":
    main()
