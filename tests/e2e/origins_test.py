#!/usr/bin/env python3
"""Where kernels come from: text, source, PTX, machine code and fatbins in one program, what becomes of
equal and of different definitions, and how sources and images travel."""

import hashlib
import json

import numpy

from baton import ON_GPU, ROOT, Case, buffer, kernel, launch, main, program

SOURCE = """\
#include "step.h"
__device__ int calls;
extern "C" __global__ void add(int* x, int value) {
  if (threadIdx.x == 0) calls += 1;
  x[threadIdx.x] += value * STEP;
}
"""
HEADER = "#pragma once\n#include \"deep/factor.h\"\n#define STEP FACTOR\n"
X = buffer("x", "i32", [32], "inout", "zeros")


# Members for sm_80 and sm_90a and PTX, stored as they are; its kernel sums 16 neighbours.
FATBIN = ROOT / "src" / "image" / "testdata" / "packed_none.fatbin"
PACKED = (buffer("sums", "f32", [128], "output") + buffer("ones", "f32", [144], "input", "ones") +
          kernel("packed", fatbin=str(FATBIN)) + launch("packed", [1], [128], ["sums", "ones", 128]))


class Origins(Case):
    def setUp(self):
        super().setUp()
        self.write("add.cu", SOURCE)
        self.write("step.h", HEADER)
        self.write("deep/factor.h", "#define FACTOR 1\n")

    def run_program(self, text, *options, status=0, parts=(), command="run"):
        self.write("p.toml", text)
        result = self.baton(command, "p.toml", *options)
        self.check(result, status, *parts)
        return result

    def x_after(self, text, *options):
        self.run_program(text, "--output", "x=x.npy", *options)
        return numpy.load(self.folder / "x.npy")

    def compiled(self, arch="sm_90a"):
        """Of add.cu: PTX and machine code."""
        self.check(self.baton("compile", "add.cu", "--arch", arch, "-o", "add.ptx", "--ptx"), 0)
        self.check(self.baton("compile", "add.cu", "--arch", arch, "-o", "add.cubin", "--cubin"), 0)
        return (self.folder / "add.ptx").read_bytes(), (self.folder / "add.cubin").read_bytes()

    def test_N19_all_origins_in_one_program(self):
        """Each its own module: what they add is told apart by its decimal place."""
        self.compiled()
        generated = ("// generated\n.version 8.0\n.target sm_80\n.address_size 64\n"
                     ".visible .entry add(.param .u64 x, .param .u32 value) {\n"
                     ".reg .b32 %r<5>; .reg .b64 %rd<5>;\n"
                     "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [value]; cvta.to.global.u64 %rd1, %rd1;\n"
                     "mov.u32 %r2, %tid.x; mul.wide.u32 %rd2, %r2, 4; add.s64 %rd1, %rd1, %rd2;\n"
                     "ld.global.u32 %r3, [%rd1]; add.s32 %r3, %r3, %r1; st.global.u32 [%rd1], %r3; ret;\n}\n")
        self.write("generated.ptx", generated)
        kinds = [("text", {"text": SOURCE}), ("source", {"source": "add.cu", "prelude": "// another definition\n"}),
                 ("ptx", {"ptx": "add.ptx"}), ("generated", {"ptx": "generated.ptx"})]
        if ON_GPU:
            kinds.append(("cubin", {"cubin": "add.cubin"}))
        text = program(X, PACKED, *[kernel(name, **keys) for name, keys in kinds],
                       *[launch(name, [1], [32], ["x", 10**i]) for i, (name, _) in enumerate(kinds)])
        x = self.x_after(text, "--output", "sums=sums.npy")
        numpy.testing.assert_array_equal(x, numpy.full(32, int("1" * len(kinds))))
        numpy.testing.assert_array_equal(numpy.load(self.folder / "sums.npy"), numpy.full(128, 16.0))
        modules = self.run_program(text, "--json").json()["modules"]
        self.assertEqual([m["kernels"] for m in modules], [["packed"]] + [[name] for name, _ in kinds])
        self.assertEqual([m["image"] for m in modules], ["fatbin", None, None, "ptx", "ptx"] + ["cubin"] * ON_GPU)

    def test_a_cubin_needs_its_gpu(self):
        self.compiled()
        text = program(X, kernel("add", cubin="add.cubin"), launch("add", [1], [32], ["x", 1]))
        if ON_GPU:
            numpy.testing.assert_array_equal(self.x_after(text), numpy.ones(32))
        else:
            self.run_program(text, status=2, parts=("p.toml:", "add.cubin", "Simulated NVIDIA", "PTX"))
        self.compiled("sm_75")
        result = self.run_program(text, status=2, parts=("p.toml:", "add.cubin"))
        self.assertIn("sm_75" if ON_GPU else "PTX", result.err)

    def test_bytes_decide_what_an_image_is(self):
        ptx, _ = self.compiled()
        self.write("add.cubin", ptx)
        text = program(X, kernel("add", cubin="add.cubin"), launch("add", [1], [32], ["x", 3]))
        numpy.testing.assert_array_equal(self.x_after(text), numpy.full(32, 3))
        self.assertIn("given as cubin and is ptx", self.run_program(text).err)
        self.write("add.cubin", SOURCE)
        self.run_program(text, status=2, parts=("p.toml:", "add.cubin"))

    def test_equal_definitions_are_one_module(self):
        ptx, _ = self.compiled()
        self.write("copy_of_add.cu", SOURCE)
        self.write("elsewhere/add.cu", SOURCE)
        self.write("elsewhere/step.h", HEADER)
        self.write("elsewhere/deep/factor.h", "#define FACTOR 100\n")
        self.write("copy_of_add.ptx", ptx)
        kinds = [("one", {"source": "add.cu"}), ("two", {"source": "copy_of_add.cu"}), ("three", {"text": SOURCE}),
                 ("far", {"source": "elsewhere/add.cu"}), ("flag", {"source": "add.cu", "options": ["-DX"]}),
                 ("fore", {"source": "add.cu", "prelude": "\n"}), ("p", {"ptx": "add.ptx"}), ("q", {"ptx": "copy_of_add.ptx"})]
        text = program(X, *[kernel(name, **keys) for name, keys in kinds],
                       *[launch(name, [1], [32], ["x", 1]) for name, _ in kinds])
        modules = self.run_program(text, "--json").json()["modules"]
        self.assertEqual([m["kernels"] for m in modules],
                         [["one", "two", "three"], ["far"], ["flag"], ["fore"], ["p", "q"]])
        self.assertEqual(self.x_after(text)[0], 107, "the far one has another header")

    def test_what_a_compile_produced_is_shown(self):
        spilling = "extern \"C\" __global__ void spill(float* x) {\n  __shared__ float tile[64];\n" + \
            "  tile[threadIdx.x] = 1;\n  __syncthreads();\n  float v[64];\n" + \
            "  for (int i = 0; i < 64; ++i) v[i] = x[i] * tile[i];\n" + \
            "  for (int i = 0; i < 64; ++i) x[i] = v[(int(v[i]) + i) & 63];\n}\n"
        text = program(buffer("x", "f32", [64], "inout", "ones"), kernel("spill", text=spilling, options=["-maxrregcount=24"]),
                       launch("spill", [1], [1], ["x"]))
        json = self.run_program(text, "--json").json()
        self.assertFalse(json["modules"][0]["compile"]["cache_hit"])
        self.assertGreater(json["modules"][0]["compile"]["seconds"], 0)
        only = json["kernels"][0]
        self.assertEqual((only["kernel"], only["module"], only["name"]), ("spill", 0, "spill"))
        self.assertEqual(only["static_shared"], 256)
        self.assertLessEqual(only["registers"], 24)
        self.assertGreaterEqual(only["local_bytes"], 256)
        self.assertIsNotNone(only["spill_bytes"])
        again = self.run_program(text)
        self.assertIn("cached (saves ", again.out)
        for part in ("registers", "spills", "static shared", "256 B", "<kernel spill>"):
            self.assertIn(part, again.out)
        self.assertTrue(self.run_program(text, "--json").json()["modules"][0]["compile"]["cache_hit"])

    def kept(self, folder, text, command, option):
        """What a command writes into a folder, held against its own list."""
        self.run_program(text, option, folder, command=command)
        manifest = json.loads((self.folder / folder / "manifest.json").read_text())
        for module in manifest["modules"]:
            for part in module["files"]:
                content = (self.folder / folder / part["file"]).read_bytes()
                self.assertEqual(len(content), part["bytes"])
                self.assertEqual(hashlib.sha256(content).hexdigest(), part["sha256"])
        listed = {part["file"] for module in manifest["modules"] for part in module["files"]}
        there = {str(p.relative_to(self.folder / folder)) for p in (self.folder / folder).rglob("*") if p.is_file()}
        self.assertEqual(there, listed | {"manifest.json"})
        return manifest

    def test_sources_travel(self):
        ptx, _ = self.compiled()
        odd = SOURCE.replace("add(", "odd(") + "// \u00fc, a tab\t, a carriage return\r\n// no end of line"
        text = program(X, kernel("add", source="add.cu"), kernel("odd", text=odd, prelude="#define A 1", options=["-DB"]),
                       kernel("from_ptx", ptx="add.ptx"), PACKED,
                       *[launch(name, [1], [32], ["x", 1]) for name in ("add", "odd", "from_ptx")])
        for command, option in (("run", "--keep"), ("inspect", "--extract")):
            with self.subTest(command):
                folder = f"{command}_parts"
                manifest = self.kept(folder, text, command, option)
                self.assertEqual([m["kernels"] for m in manifest["modules"]],
                                 [[{"kernel": "add", "symbol": "add"}], [{"kernel": "odd", "symbol": "odd"}],
                                  [{"kernel": "from_ptx", "symbol": "add"}], [{"kernel": "packed", "symbol": "packed"}]])
                here = self.folder / folder
                self.assertEqual((here / "add.cu").read_bytes(), SOURCE.encode())
                self.assertEqual((here / "odd.cu").read_bytes(), odd.encode())
                self.assertEqual((here / "add.include/step.h").read_text(), HEADER)
                self.assertEqual((here / "add.include/deep/factor.h").read_text(), "#define FACTOR 1\n")
                self.assertIn(".entry add(", (here / "add.ptx").read_text())
                self.assertEqual((here / "add.cubin").read_bytes()[:4], b"\x7fELF")
                self.assertEqual((here / "add_2.ptx").read_bytes(), ptx, "an image of the same name")
                self.assertEqual((here / "packed_none.fatbin").read_bytes(), FATBIN.read_bytes())
                for name in ("packed_none.0.sm_80.cubin", "packed_none.1.sm_90a.cubin"):
                    self.assertEqual((here / name).read_bytes()[:4], b"\x7fELF")
                self.assertIn(".entry packed", (here / "packed_none.2.sm_90.ptx").read_text())
                self.assertEqual([(m.get("prelude"), m.get("options")) for m in manifest["modules"][:2]],
                                 [("", []), ("#define A 1", ["-DB"])])
                # What is kept runs where nothing else is.
                away = program(X, kernel("add", source=f"{folder}/add.cu", include=[f"{folder}/add.include"]),
                               launch("add", [1], [32], ["x", 5]))
                for name in ("add.cu", "step.h", "deep/factor.h"):
                    (self.folder / name).rename(self.folder / (name + ".away"))
                self.assertEqual(self.x_after(away)[0], 5)
                for name in ("add.cu", "step.h", "deep/factor.h"):
                    (self.folder / (name + ".away")).rename(self.folder / name)

    def test_what_lies_elsewhere_travels_too(self):
        """Headers above the source, in folders of their own, and of one name in two folders."""
        self.write("up.h", "#define UP 1\n")
        self.write("lib/one/l.h", "#include \"x.h\"\nenum { LIB = X };\n#undef X\n")
        self.write("lib/one/x.h", "#define X 20\n")
        self.write("src/x.h", "#define X 300\n")
        self.write("src/deep/k.cu", '#include "../../up.h"\n#include <l.h>\n#include "../x.h"\n'
                   'extern "C" __global__ void k(int* x) { x[threadIdx.x] = UP + LIB + X; }\n')
        text = program(X, kernel("k", source="src/deep/k.cu", include=["lib/one"]), launch("k", [1], [32], ["x"]))
        self.assertEqual(self.x_after(text)[0], 321)
        manifest = self.kept("kept", text, "run", "--keep")
        folders = manifest["modules"][0]["include"]
        self.assertEqual(folders, ["k.include/src/deep", "k.include/lib/one"])
        for name in ("up.h", "lib", "src"):
            (self.folder / name).rename(self.folder / (name + ".away"))
        away = program(X, kernel("k", source="kept/k.cu", include=[f"kept/{folder}" for folder in folders]),
                       launch("k", [1], [32], ["x"]))
        self.assertEqual(self.x_after(away)[0], 321)

    def test_inspect_of_a_program(self):
        text = program(X, kernel("add", source="add.cu"), kernel("again", source="add.cu", entry="add"),
                       launch("add", [1], [32], ["x", 1]))
        result = self.run_program(text, "--json", command="inspect")
        json = result.json()
        self.assertEqual((json["kind"], json["program"]), ("program", "test"))
        self.assertEqual([(k["kernel"], k["module"]) for k in json["kernels"]], [("add", 0), ("again", 0)])
        self.assertEqual([p["kind"] for p in json["kernels"][0]["params"]], ["pointer", "i32"])
        self.assertIn("add.cu", self.run_program(text, command="inspect").out)
        self.run_program(text.replace('entry = "add"', 'entry = "ad"'), command="inspect", status=2, parts=("p.toml:", "ad"))
        # Machine code is looked into where no device takes it.
        self.compiled("sm_75")
        text = program(X, kernel("add", cubin="add.cubin"), launch("add", [1], [32], ["x", 1]))
        self.assertEqual(self.run_program(text, "--json", command="inspect").json()["kernels"][0]["arch"], "sm_75")

    def test_keep_where_it_cannot(self):
        text = program(X, kernel("add", source="add.cu"), launch("add", [1], [32], ["x", 1]))
        self.write("file", "")
        for folder in ("file", "file/below"):
            self.run_program(text, "--keep", folder, status=2, parts=("--keep", folder))


if __name__ == "__main__":
    main()
