#!/usr/bin/env python3
"""What each command does when all is well, and how the command line behaves as a process."""

import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import numpy

from baton import BATON, ON_GPU, ROOT, Case, buffer, kernel, launch, main, program

IMAGES = ROOT / "src" / "image" / "testdata"

SOURCE = """\
template <typename T>
__global__ void add(const T* x, T* y, int n) {
  __shared__ T tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : T(0);
  __syncthreads();
  if (i < n) y[i] = tile[threadIdx.x] + T(1);
}
"""

PROGRAM = """\
name = "add"
[symbols]
N = 100
[buffers.x]
dtype = "f32"
shape = ["N"]
role = "input"
init = "arange"
[buffers.y]
dtype = "f32"
shape = ["N"]
role = "output"
[kernels.add]
source = "add.cu"
entry = "add<float>"
[[steps]]
launch = "add"
grid = ["ceildiv(N, 64)"]
block = [64]
args = ["x", "y", "N"]
"""

# A dependent kernel that reads what its primary writes before it waits.
HASTY = """\
name = "hasty"
[symbols]
N = 256
[buffers.x]
dtype = "f32"
shape = ["N"]
role = "input"
init = "arange"
[buffers.y]
dtype = "f32"
shape = ["N"]
[buffers.z]
dtype = "f32"
shape = ["N"]
role = "output"
[kernels.produce]
source = "pdl.cu"
entry = "produce"
[kernels.consume]
source = "pdl.cu"
entry = "consume"
[[steps]]
fill = { buffer = "y", value = 0 }
[[steps]]
launch = "produce"
grid = [2]
block = [128]
args = ["x", "y"]
[[steps]]
launch = "consume"
grid = [2]
block = [128]
args = ["y", "z"]
pdl = "force"
"""
HASTY_SOURCE = """\
extern "C" __global__ void produce(const float* x, float* y) {
  cudaTriggerProgrammaticLaunchCompletion();
  y[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] + 1;
}
extern "C" __global__ void consume(const float* y, float* z) {
  float v = y[blockIdx.x * blockDim.x + threadIdx.x];
  cudaGridDependencySynchronize();
  z[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
"""

ENDLESS = PROGRAM.replace("add<float>", "endless").replace("add.cu", "endless.cu")
ENDLESS_SOURCE = """\
__global__ void endless(const float* x, float* y, int n) {
  volatile unsigned* v = reinterpret_cast<unsigned*>(y);
  while (true) v[0] = v[0] + 1;
}
"""


class Commands(Case):
    def setUp(self):
        super().setUp()
        self.write("add.cu", SOURCE)
        self.write("add.toml", PROGRAM)

    def test_run_takes_inputs_and_saves_outputs(self):
        x = numpy.linspace(0, 1, 77, dtype=">f4")
        self.save("x.npy", x)
        result = self.baton("run", "add.toml", "--input", "x=x.npy", "--output", "y=y.npy")
        self.check(result, 0)
        self.assertIn("N = 77", result.out)
        y = numpy.load(self.folder / "y.npy")
        self.assertEqual(y.dtype, numpy.float32)
        numpy.testing.assert_allclose(y, x + 1, rtol=1e-6)

    def test_run_says_which_device_it_took(self):
        self.assertRegex(self.baton("run", "add.toml").out, r"device   (sim|cuda):")
        result = self.baton("run", "add.toml", BATON_DEVICE="sim:tiny")
        self.assertIn("device   sim:tiny", result.out)
        # NVRTC compiles for each of them.
        for device, arch in (("sm80", "sm_80"), ("sm89", "sm_89"), ("sm120", "sm_120a")):
            result = self.baton("run", "add.toml", "--device", f"sim:{device}")
            self.check(result, 0)
            self.assertRegex(result.out, f"device   sim:{device} .*, {arch}")
        result = self.baton("run", "add.toml", "--device", "sim:h100", BATON_DEVICE="nonsense")
        self.assertIn("device   sim:h100", result.out)

    def test_repeat_compares_the_first_run(self):
        self.save("y.npy", numpy.arange(100, dtype=numpy.float32) + 1)
        result = self.baton("run", "add.toml", "--repeat", "3", "--expect", "y=y.npy")
        self.check(result, 0)
        self.assertIn("3 runs", result.out)

    def test_an_empty_grid_is_skipped_and_said(self):
        result = self.baton("run", "add.toml", "--set", "N=0", "--output", "y=y.npy")
        self.check(result, 0)
        self.assertIn("skipped", result.out)
        self.assertEqual(numpy.load(self.folder / "y.npy").shape, (0,))

    @unittest.skipIf(ON_GPU, "schedules are the simulated GPU's")
    def test_schedules(self):
        """What is wrong is found under every schedule; the value read too early shows under some."""
        self.write("pdl.cu", HASTY_SOURCE)
        self.write("p.toml", HASTY)
        for schedule in ("serial", "late", "early", "reverse", "random:7"):
            result = self.baton("run", "p.toml", "--schedule", schedule, "--output", "z=z.npy", "--json")
            self.check(result, 1)
            self.assertEqual(result.json()["schedule"], schedule)
            kinds = [finding["kind"] for finding in result.json()["findings"]]
            self.assertEqual(kinds, ["read_before_wait"], schedule)
        drawn = self.baton("run", "p.toml", "--schedule", "random", "--json").json()["schedule"]
        again = self.baton("run", "p.toml", "--schedule", drawn, "--json")
        self.assertEqual(again.json()["schedule"], drawn)

    @unittest.skipIf(ON_GPU, "races are found by the simulated GPU")
    def test_races_inside_a_grid(self):
        self.write("swap.cu", "extern \"C\" __global__ void swap(float* y) {\n"
                   "  const int i = blockIdx.x * 64 + threadIdx.x;\n"
                   "  y[i] = i;\n  __syncthreads();\n  y[255 - i] += 1;\n}\n")
        self.write("p.toml", program(buffer("y", "f32", [256], "inout", "zeros"), kernel("swap", source="swap.cu"),
                                     launch("swap", [4], [64], ["y"])))
        self.check(self.baton("run", "p.toml", "--json"), 0)
        result = self.baton("run", "p.toml", "--races", "global", "--json")
        self.check(result, 1)
        self.assertEqual({finding["kind"] for finding in result.json()["findings"]}, {"global_race"})
        self.check(self.baton("run", "p.toml", "--races", "globl"), 2, 'did you mean "global"?')

    @unittest.skipIf(ON_GPU, "races are found by the simulated GPU")
    def test_races_of_the_memory_model_alone(self):
        self.write("set.cu", 'extern "C" __global__ void set(int* y) { y[0] = 1; }\n')
        self.write("p.toml", program(buffer("y", "i32", [1], "output"), kernel("set", source="set.cu"),
                                     launch("set", [4], [64], ["y"])))
        for races, kinds in (("usual", set()), ("global", set()), ("model", {"global_race"})):
            result = self.baton("run", "p.toml", "--races", races, "--json")
            self.check(result, 1 if kinds else 0)
            self.assertEqual({finding["kind"] for finding in result.json()["findings"]}, kinds, races)

    @unittest.skipIf(ON_GPU, "traces are the simulated GPU's")
    def test_trace(self):
        self.write("pdl.cu", HASTY_SOURCE)
        self.write("p.toml", HASTY)
        result = self.baton("run", "p.toml", "--schedule", "early", "--trace", "t.json")
        self.assertEqual(result.status, 1, result)
        events = json.loads((self.folder / "t.json").read_text())["traceEvents"]
        names = [event["name"] for event in events]
        for name in ("produce", "consume", "griddepcontrol.wait", "launch_dependents"):
            self.assertIn(name, names)
        blocks = [event["args"]["index"] for event in events if event.get("cat") == "block"]
        self.assertIn([1, 0, 0], blocks)
        grids = {event["name"]: event for event in events if event.get("cat") == "launch"}
        self.assertLess(grids["consume"]["ts"], grids["produce"]["ts"] + grids["produce"]["dur"])

    @unittest.skipIf(ON_GPU, "the simulated GPU tells the address")
    def test_advice_about_shared_memory(self):
        """More of it helps an index that is too large, and none that is negative."""
        source = ('extern "C" __global__ void k(int* y) {{ __shared__ int s[32]; int i = y[threadIdx.x] {} 40; '
                  's[i] = 1; __syncthreads(); y[threadIdx.x] = s[threadIdx.x]; }}')
        for sign, is_advised in (("+", True), ("-", False)):
            with self.subTest(sign):
                self.write("k.toml", program(buffer("y", "i32", [32], "inout", "zeros"),
                                             kernel("k", text=source.format(sign)), launch("k", [1], [32], ["y"])))
                result = self.baton("run", "k.toml")
                self.check(result, 1, "of shared memory at", "where the block has 128 bytes")
                self.assertEqual("shared = BYTES" in result.err, is_advised, result.err)

    def test_keep(self):
        self.check(self.baton("run", "add.toml", "--keep", "kept"), 0)
        self.assertEqual((self.folder / "kept/add.cu").read_text(), SOURCE)
        self.assertIn(".entry", (self.folder / "kept/add.ptx").read_text())
        self.assertEqual((self.folder / "kept/add.cubin").read_bytes()[:4], b"\x7fELF")

    def test_compile_and_inspect(self):
        settings = {"BATON_CACHE_DIR": str(self.folder / "cache")}
        result = self.baton("compile", "add.cu", "--entry", "add<float>", "-o", "add.ptx", "--json",
                            **settings)
        self.check(result, 0)
        json = result.json()
        self.assertFalse(json["cache_hit"])
        kernel = json["kernels"][0]
        self.assertEqual(kernel["static_shared"], 256)
        self.assertGreater(kernel["registers"], 0)
        self.assertEqual((kernel["spill_bytes"], kernel["spill_load_bytes"]), (0, 0))
        self.assertGreater(json["seconds"], kernel["seconds"])
        self.assertEqual([p["size"] for p in kernel["params"]], [8, 8, 4])
        self.assertEqual([p["offset"] for p in kernel["params"]], [0, 8, 16])
        again = self.baton("compile", "add.cu", "--entry", "add<float>", "--json", **settings).json()
        self.assertTrue(again["cache_hit"])
        self.assertEqual(again["seconds"], json["seconds"])
        self.assertIn("add.cu for sm_", told := self.baton(
            "compile", "add.cu", "--entry", "add<float>", **settings).out)
        self.assertIn(": taken from the cache; compiling it took ", told)

        self.check(self.baton("compile", "add.cu", "--entry", "add<float>", "--cubin", "--arch", "sm_90"), 0)
        for image, kind in [("add.ptx", "ptx"), ("add.cubin", "cubin")]:
            with self.subTest(image):
                result = self.baton("inspect", image, "--json", "--extract", "parts")
                self.check(result, 0)
                self.assertEqual(result.json()["kind"], kind)
                self.assertEqual(len(result.json()["kernels"]), 1)
                self.assertEqual((self.folder / "parts" / image).read_bytes(),
                                 (self.folder / image).read_bytes())
                self.assertIn("add", self.baton("inspect", image).out)

    def test_compile_passes_options_on(self):
        self.write("k.cu", "__global__ void k(int* p) { *p = VALUE; }")
        self.check(self.baton("compile", "k.cu"), 2, "VALUE", "k.cu:1:")
        self.check(self.baton("compile", "k.cu", "--", "-DVALUE=7"), 0)

    def test_compile_for_a_virtual_architecture(self):
        self.write("k.cu", "__global__ void k(int* p) { *p = 1; }")
        self.check(self.baton("compile", "k.cu", "--arch", "compute_90", "-o", "k.out"), 0)
        self.assertIn(".target sm_90", (self.folder / "k.out").read_text())
        self.check(self.baton("compile", "k.cu", "--arch", "compute_90", "--cubin"), 2, "compute_90")
        self.check(self.baton("compile", "k.cu", "--arch", "sm_1"), 2, "sm_1")

    def test_inspect_finds_what_host_files_embed(self):
        for name, kind in [("host_shared.so", "shared object"), ("host_archive.a", "archive"),
                           ("host_linked", "executable"), ("host_object.o", "object")]:
            with self.subTest(name):
                result = self.baton("inspect", IMAGES / name, "--json", "--extract", name + ".parts")
                self.check(result, 0)
                found = result.json()
                self.assertEqual(found["kind"], kind)
                second = [k for k in found["kernels"] if k["demangled"] == "second(int*)"]
                self.assertTrue(second)
                image = found["images"][second[0]["image"]]
                self.assertEqual(image["arch"], "sm_90")
                # What was written is what lies in the file, and the manifest says so.
                whole = (IMAGES / name).read_bytes()
                manifest = json.loads((self.folder / (name + ".parts") / "manifest.json").read_text())
                for part in manifest["images"]:
                    written = (self.folder / (name + ".parts") / part["file"]).read_bytes()
                    self.assertEqual(hashlib.sha256(written).hexdigest(), part["sha256"])
                    self.assertEqual(len(written), part["bytes"])
                    if "offset" in part:
                        self.assertEqual(whole[part["offset"]:part["offset"] + part["bytes"]], written)
                    else:
                        self.assertIn(part["kind"], ("cubin", "ptx"))
                text = self.baton("inspect", IMAGES / name).out
                self.assertIn("second(int*)", text)
                self.assertIn("member", text)

    def test_inspect_goes_by_the_bytes(self):
        for name, kind in [("packed_size.fatbin", "fatbin"), ("vectors_sm_80.cubin", "cubin"),
                           ("host_shared.so", "shared object")]:
            for label in ("image.ptx", "image.cubin", "image.so", "image"):
                with self.subTest(f"{name} as {label}"):
                    self.write(label, (IMAGES / name).read_bytes())
                    result = self.baton("inspect", label, "--json")
                    self.check(result, 0)
                    self.assertEqual(result.json()["kind"], kind)

    def test_inspect_extracts_members_and_debug_ptx(self):
        self.check(self.baton("inspect", IMAGES / "packed_size.fatbin", "--extract", "parts"), 0)
        self.assertEqual(sorted(p.name for p in (self.folder / "parts").iterdir()),
                         ["manifest.json", "packed_size.0.sm_80.cubin", "packed_size.1.sm_90a.cubin",
                          "packed_size.2.sm_90.ptx", "packed_size.fatbin"])
        self.check(self.baton("inspect", self.folder / "parts/packed_size.2.sm_90.ptx"), 0)
        self.check(self.baton("inspect", IMAGES / "debug_lines.cubin", "--extract", "lines"), 0)
        self.check(self.baton("inspect", "lines/debug_lines.debug.ptx"), 0)
        self.write("file", "")
        self.check(self.baton("inspect", IMAGES / "debug_lines.cubin", "--extract", "file"), 2, "file")

    def test_inspect_of_a_program_without_images(self):
        self.check(self.baton("inspect", "/bin/sh"), 2, "/bin/sh", "embeds no kernel image")

    def test_inspect_refuses_what_is_no_image(self):
        self.check(self.baton("inspect", "add.cu"), 2, "add.cu")
        self.check(self.baton("inspect", "no.ptx"), 2, "no.ptx")
        self.write("cut.cubin", b"\x7fELF")
        self.check(self.baton("inspect", "cut.cubin"), 2, "cut.cubin")

    def test_doctor(self):
        result = self.baton("doctor")
        self.check(result, 0)
        for part in ("sim", "NVRTC", "cache"):
            self.assertIn(part, result.out)
        json = self.baton("doctor", "--json").json()
        self.assertIn("sim", " ".join(device["spec"] for device in json["devices"]))

    def test_doctor_says_what_compiling_lacks(self):
        result = self.baton("doctor", BATON_NVRTC="/nonexistent")
        self.check(result, 2, "CUDA source does not compile here, for want of NVRTC")
        self.assertIn("pip install nvidia-cuda-nvrtc", result.out)
        result = self.baton("doctor", "--json", BATON_NVRTC="/nonexistent")
        self.assertEqual(result.json()["error"]["code"], "not_found")
        self.assertEqual(len(result.json()["parts"]), 5)

    def test_doctor_says_how_it_found_nvrtc(self):
        """The wheels beside an installed package, by the place of the program alone."""
        found = self.baton("doctor", "--json").json()["parts"][1]
        if not found["found"]:
            self.skipTest("NVRTC is not installed")
        library = pathlib.Path(found["detail"].rsplit(" (", 1)[0])
        packages = self.folder / "site-packages"
        for folder in ("baton/bin", "nvidia/cu13/lib"):
            (packages / folder).mkdir(parents=True)
        (packages / "nvidia/cu13/lib" / library.name).symlink_to(library)
        program = shutil.copy2(BATON, packages / "baton" / "bin")
        environment = dict(os.environ, BATON_CUDA_ROOT="none", BATON_CACHE_DIR=str(self.folder / "cache"))
        environment.pop("BATON_NVRTC", None)
        done = subprocess.run([program, "doctor", "--json"], env=environment, capture_output=True, text=True)
        part = json.loads(done.stdout)["parts"][1]
        self.assertTrue(part["found"], done.stderr)
        self.assertEqual(part["detail"],
                         f"{packages}/nvidia/cu13/lib/{library.name} (the Python packages beside Baton)")

    def test_folders_on_the_way(self):
        """A program's folders are relative to it; those on the command line to the working directory."""
        self.write("inc/v.h", "#define V 2.0f\n")
        self.write("k/deep/k.cu", '#include "v.h"\nextern "C" __global__ void k(float* y) { y[0] = V; }\n')
        self.write("p/prog.toml", """
[buffers.y]
dtype = "f32"
shape = [1]
role = "output"
[kernels.k]
source = "../k/deep/k.cu"
include = ["../inc"]
[[steps]]
launch = "k"
grid = [1]
block = [1]
args = ["y"]
""")
        for program in ("p/prog.toml", "./p/../p/prog.toml", self.folder / "p/prog.toml"):
            self.check(self.baton("run", program, "--output", "y=y.npy"), 0)
            self.assertEqual(numpy.load(self.folder / "y.npy")[0], 2)
        for options in (["-I", "inc"], ["-Iinc"], ["--include-path=./inc"], ["-I", self.folder / "inc"]):
            self.check(self.baton("compile", "k/deep/k.cu", "--", *options), 0)
        wrong = self.baton("compile", "k/deep/k.cu", "--", "-I", "ink")
        self.check(wrong, 2, 'cannot open source file "v.h"')
        self.assertIn(str(self.folder / "ink"), wrong.err)

    def test_cache(self):
        cache = self.folder / "cache"
        settings = {"BATON_CACHE_DIR": str(cache)}
        self.check(self.baton("cache", "stats", **settings), 0)
        self.check(self.baton("run", "add.toml", **settings), 0)
        self.assertEqual(self.baton("cache", "stats", "--json", **settings).json()["entries"], 1)
        listed = self.baton("cache", "list", "--json", **settings).json()["entries"]
        self.assertEqual(len(listed), 1)
        self.assertRegex(self.baton("cache", "list", **settings).out, r"(< 1|\d) s\b")
        self.check(self.baton("cache", "verify", **settings), 0)
        self.check(self.baton("run", "add.toml", **settings), 0)
        counted = self.baton("cache", "stats", "--json", **settings).json()
        self.assertEqual([counted[k] for k in ("hits", "misses", "evictions", "repairs")], [1, 1, 0, 0])
        self.assertEqual(counted["bytes"], listed[0]["bytes"])

        # What the compile produced can be looked at.
        inspected = self.baton("inspect", listed[0]["path"], "--json", **settings).json()
        self.assertEqual((inspected["kind"], inspected["seconds"]), ("compile", listed[0]["compile_seconds"]))
        self.assertEqual([k["spill_bytes"] for k in inspected["kernels"]], [0])
        self.assertGreater(inspected["kernels"][0]["seconds"], 0)

        entry = max((p for p in cache.rglob("*") if p.is_file()), key=lambda p: p.stat().st_size)
        content = bytearray(entry.read_bytes())
        content[len(content) // 2] ^= 1
        entry.write_bytes(content)
        self.check(self.baton("cache", "verify", **settings), 1)
        self.check(self.baton("inspect", entry, **settings), 1, "damaged")
        self.check(self.baton("run", "add.toml", **settings), 0)
        self.assertEqual(self.baton("cache", "stats", "--json", **settings).json()["repairs"], 1)
        self.check(self.baton("cache", "verify", **settings), 0)

        self.check(self.baton("cache", "clear", **settings), 0)
        self.assertEqual(self.baton("cache", "stats", "--json", **settings).json()["entries"], 0)


class Process(Case):
    def setUp(self):
        super().setUp()
        self.write("endless.cu", ENDLESS_SOURCE)
        self.write("endless.toml", ENDLESS)

    def test_version_and_help(self):
        self.assertRegex(self.baton("--version").out, r"^baton \d+\.\d+\.\d+\n$")
        for command in ("doctor", "run", "compile", "inspect", "cache"):
            self.check(self.baton(command, "--help"), 0)
        self.check(self.baton(), 2)
        self.check(self.baton("rum"), 2, "run")

    def test_errors_are_json_too(self):
        result = self.baton("run", "no.toml", "--json")
        self.check(result, 2)
        json = result.json()
        self.assertEqual((json["version"], json["command"]), (1, "run"))
        self.assertEqual(json["error"]["code"], "not_found")
        self.assertIn("no.toml", json["error"]["what"])
        self.assertEqual(self.baton("run", "--json", "--nonsense").json()["error"]["code"], "invalid_input")

    def running(self):
        """A run whose kernel never ends."""
        environment = dict(os.environ, BATON_DEVICE="sim", BATON_CACHE_DIR=self._cache.name)
        process = subprocess.Popen([BATON, "run", "endless.toml"], cwd=self.folder, env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # The device line is written before the run starts.
        while not process.stdout.readline().startswith("device"):
            self.assertIsNone(process.poll(), "the run ended by itself")
        return process

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.running()
                time.sleep(0.2)
                process.send_signal(number)
                _, errors = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130, errors)
                self.assertIn("error: the run was interrupted", errors)

    def test_two_signals_at_once_are_one_wish(self):
        """timeout(1) sends its signal to the process and to its group: the run is reported."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGINT, signal.SIGTERM):
            process = self.running()
            time.sleep(0.2)
            process.send_signal(number)
            time.sleep(0.001)  # so that the first one is taken
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, errors)
            self.assertIn("error: the run was interrupted", errors)

    def test_a_closed_pipe_is_no_error(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        environment = dict(os.environ, BATON_CACHE_DIR=self._cache.name)
        done = subprocess.run([BATON, "--help"], stdout=write_end, stderr=subprocess.PIPE, text=True,
                              env=environment)
        os.close(write_end)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_full_disk_is_an_error(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("there is no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([BATON, "--help"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: standard output cannot be written", done.stderr)

    def test_no_colours_where_nobody_looks(self):
        self.assertNotIn("\x1b", self.baton("doctor").out)

    def test_log(self):
        """What is swallowed is logged: a cache that cannot be written is no failure."""
        self.write("k.cu", "__global__ void k(int* p) { *p = 1; }")
        self.write("no_folder", "")
        settings = {"BATON_CACHE_DIR": str(self.folder / "no_folder")}
        result = self.baton("compile", "k.cu", **settings)
        self.check(result, 0)
        self.assertIn("baton: warning: ", result.err)
        self.assertNotIn("baton: ", self.baton("compile", "k.cu", BATON_LOG="error", **settings).err)


if __name__ == "__main__":
    main()
