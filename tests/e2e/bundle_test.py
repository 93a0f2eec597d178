#!/usr/bin/env python3
"""Programs that are built into bundles, moved to another folder, run there and taken apart."""

import hashlib
import json
import shutil
import subprocess
import unittest
import zipfile

import numpy

from baton import ON_GPU, ROOT, Case, main

PROGRAM = """\
name = "chain"

[symbols]
N = 1000

[buffers.x]
dtype = "f32"
shape = ["N"]
role = "input"
init = "arange"

[buffers.w]
dtype = "f32"
shape = ["N"]
role = "weight"
file = "weights/w.npy"

[buffers.t]
dtype = "f32"
shape = ["N"]

[buffers.y]
dtype = "f32"
shape = ["N"]
role = "output"

[kernels.scale]
source = "kernels/scale.cu"
include = ["include"]
options = ["-DFACTOR=3"]

[kernels.add]
text = '''
#include <cuda_device_runtime_api.h>
extern "C" __global__ void add(float* y, const float* t, const float* w, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float added = i < n ? w[i] : 0;
  cudaGridDependencySynchronize();
  if (i < n) y[i] = t[i] + added;  // SECRET
}
'''

[[steps]]
launch = "scale"
grid = ["ceildiv(N, 128)"]
block = [128]
args = ["t", "x", "N"]

[[steps]]
launch = "add"
grid = ["ceildiv(N, 128)"]
block = [128]
args = ["y", "t", "w", "N"]
"""
SCALE = """\
#include "../shared.h"
#include "factor.h"
extern "C" __global__ void scale(float* t, const float* x, int n) {
  const int i = element();
  if (i < n) t[i] = factor() * x[i];
}
"""
SHARED = "__device__ int element() { return blockIdx.x * blockDim.x + threadIdx.x; }\n"
FACTOR = "__device__ float factor() { return FACTOR; }\n"
# Where no compiler can be found.
NO_NVRTC = {"BATON_NVRTC": "/nonexistent", "BATON_NVJITLINK": "/nonexistent",
            "BATON_CACHE_SIZE": "0"}


class Bundles(Case):
    def setUp(self):
        super().setUp()
        self.write("program/p.toml", PROGRAM)
        self.write("program/kernels/scale.cu", SCALE)
        self.write("program/shared.h", SHARED)
        self.write("program/include/factor.h", FACTOR)
        (self.folder / "program/weights").mkdir()
        self.weights = numpy.random.default_rng(1).random(1000, dtype=numpy.float32)
        numpy.save(self.folder / "program/weights/w.npy", self.weights)
        numpy.save(self.folder / "y.npy", 3 * numpy.arange(1000, dtype=numpy.float32) + self.weights)

    def build(self, *options, status=0, program="program/p.toml"):
        result = self.baton("build", program, "-o", "p.baton", *options)
        self.check(result, status)
        return result

    def move(self):
        """The bundle alone, in a folder of its own, under a name that tells nothing."""
        (self.folder / "elsewhere").mkdir()
        (self.folder / "p.baton").rename(self.folder / "elsewhere/model.bin")
        shutil.rmtree(self.folder / "program")
        return "elsewhere/model.bin"

    def test_the_whole_path(self):
        result = self.build("--weights")
        self.assertIn("wrote p.baton: 10 parts", result.out)
        kept = {name: (self.folder / "program" / name).read_bytes()
                for name in ("p.toml", "kernels/scale.cu", "shared.h", "include/factor.h",
                             "weights/w.npy")}
        expected = self.baton("run", "program/p.toml", "--json").json()
        bundle = self.move()
        result = self.baton("run", bundle, "--expect", "y=y.npy", "--strict", **NO_NVRTC)
        self.check(result, 0)
        self.assertIn("in the bundle", result.out)
        result = self.baton("run", bundle, "--executor", "graph", "--expect", "y=y.npy", **NO_NVRTC)
        self.check(result, 0)
        found = self.baton("run", bundle, "--json", **NO_NVRTC).json()
        self.assertEqual(found["edges"], expected["edges"])
        self.assertEqual([kernel["kernel"] for kernel in found["kernels"]], ["scale", "add"])
        self.check(self.baton("check", bundle, **NO_NVRTC), 0)
        self.check(self.baton("bench", bundle, "--repeat", "2", **NO_NVRTC), 0)

        result = self.baton("inspect", bundle, "--extract", "out", **NO_NVRTC)
        self.check(result, 0)
        out = self.folder / "out"
        self.assertEqual((out / "program.toml").read_bytes(), kept["p.toml"])
        for name in ("weights/w.npy", "kernels/scale.cu", "shared.h", "include/factor.h"):
            self.assertEqual((out / name).read_bytes(), kept[name])
        self.assertIn("next: baton run out/program.toml", result.out)
        self.check(self.baton("run", "out/program.toml", "--expect", "y=y.npy"), 0)
        manifest = json.loads((out / "manifest.json").read_text())
        self.assertEqual(len(manifest["parts"]), 10)

    def test_an_extracted_program_tells_what_it_lacks(self):
        self.build()
        result = self.baton("inspect", "p.baton", "--extract", "out")
        self.check(result, 0)
        self.assertIn("the program names weights/w.npy, which the bundle does not have", result.err)
        self.assertNotIn("next:", result.out)
        self.build("--weights", "--no-sources")
        result = self.baton("inspect", "p.baton", "--extract", "none")
        self.assertIn("the program names kernels/scale.cu, which the bundle does not have", result.err)

    def test_an_extracted_program_names_its_absolute_paths(self):
        for folder in ("a", "b"):
            (self.folder / folder).mkdir()
        self.write("a/k.cu", 'extern "C" __global__ void k(float* y) { y[0] = 2; }')
        self.check(self.baton("compile", "a/k.cu", "-o", "a/k.ptx"), 0)
        for key, file in (("source", "k.cu"), ("ptx", "k.ptx")):
            place = self.folder / "a" / file
            self.write("b/p.toml", '[buffers.y]\ndtype = "f32"\nshape = [1]\nrole = "output"\n'
                       f'[kernels.k]\n{key} = "{place}"\n'
                       '[[steps]]\nlaunch = "k"\ngrid = [1]\nblock = [1]\nargs = ["y"]\n')
            for bundle in ("p.baton", str(self.folder / "p.baton")):
                with self.subTest(key, bundle=bundle):
                    self.check(self.baton("build", "b/p.toml", "-o", bundle), 0)
                    result = self.baton("inspect", bundle, "--extract", f"out-{file}")
                    self.check(result, 0)
                    self.assertIn(f"the program names {place} by its absolute path; put it there", result.err)

    def test_images_are_extracted_where_the_program_names_them(self):
        (self.folder / "i").mkdir()
        self.write("up.h", "#define UP 1")
        self.write("i/u.cu", '#include "../up.h"\nextern "C" __global__ void u(float* y) { y[0] = UP; }')
        self.write("i/k.cu", 'extern "C" __global__ void k(float* y) { y[1] = 2; }')
        self.check(self.baton("compile", "i/k.cu", "-o", "i/k.ptx"), 0)
        buffers = '[buffers.y]\ndtype = "f32"\nshape = [2]\nrole = "output"\n'
        step = '[[steps]]\nlaunch = "{}"\ngrid = [1]\nblock = [1]\nargs = ["y"]\n'
        image = '[kernels.k]\nptx = "k.ptx"\n'
        self.write("i/p.toml", buffers + image + step.format("k"))
        self.check(self.baton("build", "i/p.toml", "-o", "i.baton"), 0)
        self.check(self.baton("inspect", "i.baton", "--extract", "out"), 0)
        self.assertEqual((self.folder / "out/k.ptx").read_bytes(), (self.folder / "i/k.ptx").read_bytes())
        self.check(self.baton("run", "out/program.toml"), 0)

        self.write("i/q.toml", buffers + '[kernels.u]\nsource = "u.cu"\n' + step.format("u"))
        self.check(self.baton("build", "i/q.toml", "-o", "q.baton"), 0)
        result = self.baton("inspect", "q.baton", "--extract", "q")
        self.assertIn("sources/__/up.h is not where the program names it", result.err)
        self.assertTrue((self.folder / "q/sources/__/up.h").exists())

    def test_a_run_keeps_the_sources_of_a_bundle(self):
        self.build("--weights")
        self.check(self.baton("run", "p.baton", "--keep", "kept", **NO_NVRTC), 0)
        self.assertEqual((self.folder / "kept/scale.cu").read_text(), SCALE)

    def test_inspect_shows_some_kernels(self):
        self.build("--weights", "--arch", "sm_90a,sm_100a")
        for file in ("p.baton", "program/p.toml"):
            def names(*options, file=file):
                return [row["kernel"] for row in self.baton("inspect", file, *options, "--json").json()["kernels"]]
            self.assertEqual(names("--kernel", "^add$"), ["add"])
            self.assertEqual(names("--kernel", "sca"), ["scale"])
            self.assertEqual(names("--arch", "sm_100a"), ["scale", "add"])
            self.check(self.baton("inspect", file, "--kernel", "none"), 2, "has no kernel that --kernel names")
        facts = self.baton("inspect", "program/p.toml", "--arch", "sm_100a", "--json").json()
        self.assertEqual({row["arch"] for row in facts["kernels"]}, {"sm_100a"})
        self.check(self.baton("inspect", "p.baton", "--arch", "sm_80"), 2,
                   "has no kernel that --arch sm_80 names; it is for sm_90a, sm_100a")

    def test_other_tools_read_the_zip(self):
        self.build("--weights")
        with zipfile.ZipFile(self.folder / "p.baton") as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual(archive.namelist()[0], "baton.index")
            self.assertEqual(archive.read("sources/kernels/scale.cu").decode(), SCALE)
        parts = self.baton("inspect", "p.baton", "--json").json()["parts"]
        self.assertTrue(all(part["offset"] % 4096 == 0 for part in parts))
        if shutil.which("unzip"):
            subprocess.run(["unzip", "-tq", self.folder / "p.baton"], check=True,
                           stdout=subprocess.DEVNULL)

    def test_sources_can_be_left_out(self):
        self.build("--weights", "--no-sources")
        bundle = self.move()
        self.assertNotIn(b"SECRET", (self.folder / bundle).read_bytes())
        self.check(self.baton("run", bundle, "--expect", "y=y.npy", **NO_NVRTC), 0)
        self.check(self.baton("run", bundle, "--rewrite", "auto", "--expect", "y=y.npy", **NO_NVRTC), 0)
        self.check(self.baton("run", bundle, "--keep", "kept", **NO_NVRTC), 0)

    def test_weights_lie_beside_it_or_are_given(self):
        result = self.build()
        self.assertIn("weights/w.npy of the buffer w is not in the bundle", result.err)
        shutil.copytree(self.folder / "program/weights", self.folder / "weights")
        shutil.rmtree(self.folder / "program")
        self.check(self.baton("run", "p.baton", "--expect", "y=y.npy", **NO_NVRTC), 0)
        (self.folder / "weights").rename(self.folder / "given")
        self.check(self.baton("run", "p.baton", **NO_NVRTC), 2, "weights/w.npy")
        self.check(self.baton("run", "p.baton", "--input", "w=given/w.npy", "--expect", "y=y.npy",
                              **NO_NVRTC), 0)

    def openssl(self, *words, **options):
        return subprocess.run(["openssl", *map(str, words)], cwd=self.folder, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **options).stdout

    @unittest.skipUnless(shutil.which("openssl"), "keys are made by openssl")
    def test_signatures(self):
        for name in ("own", "other"):
            self.openssl("genpkey", "-algorithm", "ed25519", "-out", f"{name}.pem")
            self.openssl("pkey", "-in", f"{name}.pem", "-pubout", "-out", f"{name}_pub.pem")
        key = hashlib.sha256(self.openssl("pkey", "-pubin", "-in", "own_pub.pem", "-outform", "DER")).hexdigest()[:16]
        built = self.build("--weights", "--sign", "own.pem")
        self.assertIn(f"signed with the key {key}", built.out)
        trusted = ["--verify-key", "own_pub.pem"]
        for command in ("run", "check", "inspect"):
            self.check(self.baton(command, "p.baton", *trusted, **NO_NVRTC), 0)
            self.check(self.baton(command, "p.baton", "--verify-key", "other_pub.pem"), 2,
                       f"signed with the key {key}, which is not trusted")
            self.check(self.baton(command, "p.baton", "--verify-key", "other_pub.pem", *trusted), 0)
            self.check(self.baton(command, "program/p.toml", *trusted), 2, "is not a bundle and has no signature")
            self.check(self.baton(command, "missing.baton", *trusted), 2, "cannot read")
        inspected = self.baton("inspect", "p.baton", "--json").json()
        self.assertEqual(inspected["signed_by"], key)
        self.assertEqual(inspected["directory_differences"], [])

        # openssl checks the signature too.
        with zipfile.ZipFile(self.folder / "p.baton") as archive:
            message = b"baton bundle 1\n" + hashlib.sha256(archive.read("baton.index")).digest()
            self.write("signature", archive.read("signature"))
        self.write("message", message)
        self.openssl("pkeyutl", "-verify", "-pubin", "-inkey", "own_pub.pem", "-rawin", "-in", "message",
                     "-sigfile", "signature")

        self.check(self.baton("run", "p.baton", BATON_TRUSTED_KEYS="own_pub.pem"), 0)
        self.check(self.baton("run", "p.baton", BATON_TRUSTED_KEYS="other_pub.pem"), 2, "is not trusted")
        self.check(self.baton("run", "p.baton", BATON_TRUSTED_KEYS="none.pem"), 2, "none.pem")
        self.check(self.baton("sign", "p.baton", "--key", "other.pem", "-o", "q.baton"), 0)
        self.check(self.baton("run", "q.baton", "--verify-key", "other_pub.pem"), 0)
        self.build("--weights")
        self.check(self.baton("run", "p.baton", *trusted), 2, "p.baton is not signed")
        self.check(self.baton("run", "p.baton", "--verify-key", "own.pem"), 2, "own.pem holds no public key")
        self.check(self.baton("sign", "p.baton"), 2, "needs a key")
        self.check(self.baton("sign", "p.baton", "--key", "own_pub.pem"), 2, "holds no private key")
        self.check(self.baton("sign", "p.baton", "--key", "own.pem", BATON_LIBCRYPTO="/none.so"), 2,
                   "signatures need libcrypto", "/none.so")
        # Without a key nothing needs libcrypto.
        self.check(self.baton("run", "q.baton", BATON_LIBCRYPTO="/none.so"), 0)
        self.check(self.baton("inspect", "q.baton", BATON_LIBCRYPTO="/none.so"), 0)
        data = (self.folder / "q.baton").read_bytes()
        self.write("damaged.baton", data.replace(self.signature_of("q.baton"), bytes(64)))
        self.check(self.baton("inspect", "damaged.baton"), 2, "damaged or forged")

    def signature_of(self, bundle):
        with zipfile.ZipFile(self.folder / bundle) as archive:
            return archive.read("signature")

    @unittest.skipIf(ON_GPU, "it names simulated GPUs")
    def test_several_architectures(self):
        self.build("--weights", "--arch", "sm_90a,sm_100a,compute_90")
        for device in ("sim:h100", "sim:h200", "sim:b200"):
            self.check(self.baton("run", "p.baton", "--expect", "y=y.npy", "--device", device,
                                  **NO_NVRTC), 0)
        self.build("--weights", "--arch", "sm_100a")
        self.check(self.baton("run", "p.baton", "--device", "sim:h200", **NO_NVRTC), 2,
                   "kernels/scale.cu for sm_100a", "sm_90a; build it for sm_90a, too")

    def test_what_cannot_be_built(self):
        self.check(self.baton("build", "program/p.toml"), 2, "needs a file to write")
        self.check(self.baton("build", "-o", "x.baton"), 2, "needs a program file")
        self.build("--arch", "sm_90a,,sm_80", status=2)
        self.build("--arch", "sm_90a,sm_90a", status=2)
        self.build("--arch", "sm_99", status=2)
        self.check(self.baton("build", "program/none.toml", "-o", "x.baton"), 2, "none.toml")
        self.check(self.baton("build", "program/p.toml", "-o", "none/x.baton"), 2, "none/x.baton")
        self.write("program/kernels/scale.cu", "extern \"C\" __global__ void scale() { error }\n")
        self.assertEqual(self.baton("build", "program/p.toml", "-o", "x.baton").status, 2)
        self.assertFalse((self.folder / "x.baton").exists())

    def test_damaged_bundles(self):
        self.build("--weights")
        whole = (self.folder / "p.baton").read_bytes()
        inspected = self.baton("inspect", "p.baton", "--json").json()

        def refused(data, *parts):
            self.write("damaged.baton", data)
            for command in ("run", "check", "bench", "inspect"):
                self.check(self.baton(command, "damaged.baton"), 2, "damaged.baton", *parts)

        refused(whole[:-1], "truncated")
        refused(whole[:100], "truncated")
        refused(whole[:20], "truncated: it has 20 bytes")
        for command in ("run", "check"):
            self.write("damaged.baton", b"")
            self.check(self.baton(command, "damaged.baton"), 2, "the file is empty", "build the bundle again")
            self.write("damaged.baton", whole[10:])
            self.check(self.baton(command, "damaged.baton"), 2, "damaged.baton")
        refused(whole[:5000], "truncated")
        refused(whole + b"\0", "damaged")
        flipped = bytearray(whole)
        flipped[4200] ^= 1
        refused(bytes(flipped), "the checksum of its index")
        for part in inspected["parts"]:
            flipped = bytearray(whole)
            flipped[part["offset"]] ^= 1
            self.write("damaged.baton", bytes(flipped))
            self.check(self.baton("inspect", "damaged.baton"), 2, part["name"], "digest")
            if part["name"].startswith("sources/"):
                self.check(self.baton("run", "damaged.baton"), 0)  # it has images
                continue
            if part["name"].endswith(".cubin") and not ON_GPU:
                continue  # the simulated GPU runs PTX
            self.check(self.baton("run", "damaged.baton"), 2, part["name"], "damaged")

    def test_the_zip_directory_is_compared(self):
        self.build("--weights")
        data = bytearray((self.folder / "p.baton").read_bytes())
        place = data.rindex(b"program.toml")
        data[place:place + 12] = b"program.exe_"
        self.write("p.baton", bytes(data))
        result = self.baton("inspect", "p.baton")
        self.check(result, 0)
        self.assertIn("the zip's directory has program.exe_", result.err)
        self.assertIn("the zip's directory lacks program.toml", result.err)
        self.check(self.baton("run", "p.baton", "--expect", "y=y.npy"), 0)

    def test_bundles_of_earlier_versions(self):
        numpy.save(self.folder / "want.npy", numpy.array([3, 5, 7, 9], dtype=numpy.float32))
        goldens = sorted((ROOT / "src" / "bundle" / "testdata").glob("v*.baton"))
        self.assertEqual([golden.name for golden in goldens],
                         ["v1_0.baton", "v1_1.baton", "v1_2.baton", "v1_3.baton"])
        for golden in goldens:
            self.check(self.baton("inspect", golden, **NO_NVRTC), 0)
            self.check(self.baton("run", golden, "--expect", "y=want.npy", **NO_NVRTC), 0)


if __name__ == "__main__":
    main()
