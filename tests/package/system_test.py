#!/usr/bin/env python3
"""Installs a package of ./scripts/package into the root folder of another system, and uses it there:
the command line, a C++ project by CMake and one by pkg-config, a C program.

    sudo PACKAGE=dist/baton_0.1.0_amd64.deb SYSTEM=/srv/trixie python3 tests/package/system_test.py

    PACKAGE  a .deb or the .tar.xz
    SYSTEM   a root folder, as `debootstrap --variant=minbase trixie /srv/trixie` makes it. The test
             installs compilers into it, and leaves them there.
    CUDA     a toolkit of this machine, shown to that system as /opt/cuda; without it, nothing that
             compiles CUDA source is tried
    PROJECTS 0 leaves out the projects, for systems whose compilers or CMake are too old

It needs root, and the network where the system lacks packages.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SYSTEM = pathlib.Path(os.environ.get("SYSTEM", ""))
PACKAGE = pathlib.Path(os.environ.get("PACKAGE", ""))
CUDA = os.environ.get("CUDA", "")
WORK = "/tmp/baton-package"  # inside of the system
PREFIX = "/usr" if PACKAGE.suffix == ".deb" else "/opt/baton"

# Mounts end with the process, whose name space is its own.
ENTER = """
mount -t proc proc "$SYSTEM/proc" && mount --rbind /dev "$SYSTEM/dev"
if [ -n "$CUDA" ]; then mkdir -p "$SYSTEM/opt/cuda" && mount --rbind "$CUDA" "$SYSTEM/opt/cuda"; fi
exec chroot "$SYSTEM" /bin/sh -c "$0"
"""

PROGRAM = """\
[symbols]
N = 1000
[buffers]
y = { dtype = "f32", shape = ["N"], role = "inout", init = "arange" }
[kernels]
affine = { ptx = "affine.ptx" }
[[steps]]
launch = "affine"
grid = ["ceildiv(N, 256)"]
block = [256]
args = ["y", 2.0, "N"]
"""

KERNEL = """\
extern "C" __global__ void race(float* y) {
  __shared__ float s[64];
  s[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = s[63 - threadIdx.x];
}
"""

CLIENT = """\
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == NULL) return 3;
  int (*init)(unsigned) = dlsym(driver, "cuInit");
  int (*count)(int*) = dlsym(driver, "cuDeviceGetCount");
  int devices = 0;
  if (init(0) != 0 || count(&devices) != 0) return 4;
  printf("%d device\\n", devices);
}
"""


@unittest.skipUnless(SYSTEM.is_dir() and PACKAGE.is_file(), "PACKAGE or SYSTEM is not given")
class System(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = SYSTEM / WORK[1:]
        shutil.rmtree(cls.folder, ignore_errors=True)
        cls.folder.mkdir(parents=True)
        shutil.copy("/etc/resolv.conf", SYSTEM / "etc")
        shutil.copy(PACKAGE, cls.folder)
        if PACKAGE.suffix == ".deb":
            cls.inside("apt-get update -qq")
            cls.inside(f"apt-get install -y -qq --no-install-recommends ./{PACKAGE.name}")
        else:
            shutil.rmtree(SYSTEM / "opt/baton", ignore_errors=True)
            (SYSTEM / "opt/baton").mkdir(parents=True)
            subprocess.run(["tar", "-xf", PACKAGE, "-C", SYSTEM / "opt/baton", "--strip-components=1"], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)
        if PACKAGE.suffix == ".deb":
            cls.inside("dpkg --purge baton", folder="/")
        shutil.rmtree(SYSTEM / "opt/baton", ignore_errors=True)
        left = [path for folder in ("usr/bin", "usr/include", "usr/share", "usr/lib")
                for path in (SYSTEM / folder).rglob("*baton*")]
        assert not left, f"the purged package leaves {left}"

    @classmethod
    def inside(cls, command, status=0, folder=WORK):
        """Calls a shell in the system; its output."""
        variables = {"PATH": f"{PREFIX}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                     "HOME": WORK, "BATON_CACHE_DIR": f"{WORK}/cache", "BATON_CUDA_ROOT": "/opt/cuda" if CUDA else "none",
                     "DEBIAN_FRONTEND": "noninteractive", "SYSTEM": str(SYSTEM), "CUDA": CUDA,
                     "BATON_DEVICE": "sim", "CMAKE_PREFIX_PATH": PREFIX, "LC_ALL": "C.UTF-8"}
        done = subprocess.run(["unshare", "--mount", "sh", "-e", "-c", ENTER, f"cd {folder} && {command}"],
                              env=variables, capture_output=True, text=True)
        if done.returncode != status:
            raise AssertionError(f"{command} gives {done.returncode}\n{done.stdout}\n{done.stderr}")
        return done.stdout + done.stderr

    def sources(self, name, *files):
        folder = self.folder / name
        folder.mkdir()
        for file in files:
            shutil.copy(HERE / "outside" / file, folder)
        return folder

    def test_the_tool_runs_a_program(self):
        folder = self.sources("program", "affine.ptx")
        (folder / "p.toml").write_text(PROGRAM)
        version = re.findall(r"#define BATON_VERSION_[A-Z]+ (\d+)", (ROOT / "include/baton/version.h").read_text())
        self.assertEqual(self.inside("baton --version").strip(), "baton " + ".".join(version))
        self.assertIn("sim:h200", self.inside("cd program && baton run p.toml --output y=y.npy"))
        self.assertIn("affine", self.inside("cd program && baton check p.toml"))
        self.assertIn("nowhere.toml", self.inside("baton run nowhere.toml", status=2))
        self.assertNotIn("not found", self.inside("ldd $(command -v baton)"))

    @unittest.skipUnless(CUDA, "CUDA is not given")
    def test_a_kernel_is_compiled_and_its_race_is_found(self):
        (self.folder / "race.cu").write_text(KERNEL)
        self.inside("baton init race.cu")
        self.assertIn("race", self.inside("baton run race.toml --strict", status=1))

    def test_man_pages_and_completions_are_there(self):
        share = SYSTEM / PREFIX[1:] / "share"
        for name in ("baton", "baton-run", "baton-check"):
            self.assertTrue(list((share / "man/man1").glob(f"{name}.1*")), name)
        for name in ("bash-completion/completions/baton", "fish/vendor_completions.d/baton.fish"):
            self.assertTrue((share / name).is_file(), name)
        self.assertTrue(list((share / "zsh").rglob("_baton")))

    def test_dependencies_of_the_package(self):
        if PACKAGE.suffix == ".deb":
            depends = self.inside(f"dpkg-deb -f {PACKAGE.name} Depends")
            self.assertIn("libc6 (>=", depends)
            self.assertIn("libstdc++6 (>=", depends)
            return
        for file in ("bin/baton", "lib/libbaton.so"):
            printed = subprocess.run(["objdump", "-T", SYSTEM / PREFIX[1:] / file], capture_output=True, text=True,
                                     check=True).stdout
            versions = [tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([\d.]+)", printed)]
            self.assertLessEqual(max(versions), (2, 28), file)
            self.assertNotIn("GLIBCXX", printed)

    @unittest.skipIf(os.environ.get("PROJECTS") == "0", "PROJECTS=0")
    def test_projects(self):
        self.inside("apt-get install -y -qq --no-install-recommends cmake g++ make pkg-config")
        if PACKAGE.suffix == ".deb":  # the tarball's library has no C++ interface
            names = [path.name for path in (HERE / "outside").iterdir()]
            self.sources("outside", *names)
            # Compiling images at build time needs NVRTC.
            compiles = "" if CUDA else "-DBATON_EXECUTABLE=OFF"
            printed = self.inside(f"cd outside && cmake -B build {compiles} && cmake --build build && build/app")
            self.assertIn("plus 1 4 7 10", printed)
            self.assertIn("31", self.inside("cd outside && make plain && ./plain").split())
            # A program that knows CUDA's driver alone; the tarball has no driver for others.
            (self.folder / "client.c").write_text(CLIENT)
            self.inside("cc client.c -o client -ldl")
            self.assertIn("1 device", self.inside("baton exec -- ./client"))
        shutil.copytree(ROOT / "examples" / "c", self.folder / "c", dirs_exist_ok=True)
        self.inside("cd c && cmake -B build && cmake --build build")
        self.inside("cd c && PKG_CONFIG_PATH=$(dirname $(find %s/lib -name baton.pc)) && export PKG_CONFIG_PATH && "
                    "cc -std=c11 saxpy.c -o saxpy $(pkg-config --cflags --libs baton)" % PREFIX)
        if CUDA:
            for program in ("build/saxpy_c", f"LD_LIBRARY_PATH={PREFIX}/lib ./saxpy"):
                self.assertIn("elements of saxpy are right", self.inside(f"cd c && {program} sim:tiny"))



if __name__ == "__main__":
    sys.exit(unittest.main())
