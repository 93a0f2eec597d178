#!/usr/bin/env python3
"""Installs the built library into an empty folder and uses it from a project that knows nothing
else of Baton: by find_package and by pkg-config. Looks at what the installed files hold."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
KIND = os.environ.get("PACKAGE_KIND", "")
COMPONENT = os.environ.get("PACKAGE_COMPONENT", "")
BUILD = os.environ.get("PACKAGE_BUILD", "")
CMAKE = os.environ.get("PACKAGE_CMAKE", "cmake")
CC = os.environ.get("PACKAGE_CC", "cc")
CXX = os.environ.get("PACKAGE_CXX", "c++")
# All that are here: headers must please each of them.
COMPILERS = sorted({CXX} | {found for name in ("g++", "clang++") if (found := shutil.which(name))})
SANITIZE = os.environ.get("PACKAGE_SANITIZE", "")
CUDA = os.environ.get("PACKAGE_CUDA", "")

VALUES = [float(i) for i in range(100)]


def run(*command, **more):
    environment = dict(os.environ, **more.pop("environment", {}))
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env=environment, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command} gives {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


def defined_symbols(file, *options):
    """(kind, name) of each symbol that a file defines."""
    for line in run("nm", *options, file).splitlines():
        words = line.split()
        if len(words) == 3 and words[1] not in "Uw":
            yield words[1], words[2]


class Installed(unittest.TestCase):
    """The built library in a folder of its own."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="baton package ")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        # Installed trees may be moved: nothing may point to where it was first.
        first = cls.folder / "first"
        run(CMAKE, "--install", BUILD, "--prefix", first, "--component", COMPONENT)
        cls.prefix = cls.folder / "usr"
        first.rename(cls.prefix)
        cls.library = next(cls.prefix.glob("lib*/**/libbaton." + ("a" if KIND == "static" else "so")))
        cls.flags = ["-fsanitize=" + SANITIZE] if SANITIZE else []


class Package(Installed):
    def configure(self, name):
        """A copy of the outside project, configured and built."""
        source = self.folder / name
        shutil.copytree(HERE / "outside", source)
        run(CMAKE, "-S", source, "-B", source / "build", "-G", "Ninja",
            "-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_COMPILER={CXX}",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CXX_FLAGS={' '.join(self.flags)}")
        run(CMAKE, "--build", source / "build")
        return source

    def app(self, source):
        """What the program prints: lines of a name and its values."""
        lines = run(source / "build" / "app").splitlines()
        return {line.split()[0]: line.split()[1:] for line in lines}

    def test_cmake(self):
        source = self.configure("cmake")
        printed = self.app(source)
        self.assertEqual([float(v) for v in printed["plus"]], [v * 3 + 1 for v in VALUES])
        self.assertEqual([float(v) for v in printed["minus"]], [v * 3 - 1 for v in VALUES])
        self.assertEqual(printed["same"], ["1"])
        if COMPONENT == "Unspecified":  # the one that has the tool
            self.assertEqual(printed["cubin"], ["sm_90a", "half_of"])
            self.assertEqual([float(v) for v in printed["half"]], [v / 2 for v in VALUES])

        self.assertIn("ninja: no work to do", run(CMAKE, "--build", source / "build"))

        with self.subTest("a changed image is embedded anew"):
            image = source / "affine.ptx"
            text = image.read_text()
            self.assertEqual(text.count("0f3F800000"), 1)
            image.write_text(text.replace("0f3F800000", "0f40000000"))
            run(CMAKE, "--build", source / "build")
            printed = self.app(source)
            self.assertEqual([float(v) for v in printed["plus"]], [v * 3 + 2 for v in VALUES])
            self.assertEqual([float(v) for v in printed["minus"]], [v * 3 - 1 for v in VALUES])

        with self.subTest("in read-only data, and the stack is not executable"):
            sections = run("readelf", "-SW", next((source / "build").rglob("kernels.baton.cc.o")))
            row = next(line for line in sections.splitlines() if ".rodata.baton.affine" in line)
            self.assertRegex(row, r" A +0 +0 64$")
            stack = next(line for line in run("readelf", "-lW", source / "build" / "app").splitlines()
                         if "GNU_STACK" in line)
            self.assertRegex(stack, r" RW +0x")

    def test_embedding_what_is_not_there(self):
        source = self.folder / "missing"
        shutil.copytree(HERE / "outside", source)
        for image, words in (("FILE nowhere.ptx", ("\"nowhere.ptx\" is neither in", "nor made in")),
                             ("FLIE affine.ptx", ("FILE <path> must follow NAME more", "FLIE")),
                             ("", ("NAME has no value",))):
            with self.subTest(image):
                lists = source / "CMakeLists.txt"
                text = (HERE / "outside" / "CMakeLists.txt").read_text()
                call = f"\nbaton_embed_images(app NAMESPACE late NAME {'more' if image else ''} {image})\n"
                lists.write_text(text + call)
                with self.assertRaises(AssertionError) as failed:
                    run(CMAKE, "-S", source, "-B", source / "build", "-G", "Ninja",
                        f"-DCMAKE_CXX_COMPILER={CXX}", f"-DCMAKE_PREFIX_PATH={self.prefix}")
                said = " ".join(str(failed.exception).split())
                for word in words:
                    self.assertIn(word, said)

    def test_pkg_config(self):
        source = self.folder / "make"
        shutil.copytree(HERE / "outside", source)
        flags = " ".join(self.flags)
        environment = {"PKG_CONFIG_PATH": str(self.library.parent / "pkgconfig"), "CXX": CXX,
                       "CXXFLAGS": flags, "LDFLAGS": flags,
                       "LD_LIBRARY_PATH": str(self.library.parent)}
        run("make", "-C", source, "plain", environment=environment)
        printed = run(source / "plain", environment=environment)
        self.assertEqual(printed.split(), ["11", "21", "31"])

    def assert_saxpy_is_right(self, program):
        environment = {"LD_LIBRARY_PATH": str(self.library.parent)}
        self.assertIn("elements of saxpy are right", run(program, "sim:tiny", environment=environment))

    def test_c_by_cmake(self):
        """A project in C alone, without a C++ compiler."""
        build = self.folder / "c by cmake"
        run(CMAKE, "-S", ROOT / "examples" / "c", "-B", build, "-G", "Ninja", f"-DCMAKE_C_COMPILER={CC}",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_C_FLAGS={' '.join(self.flags)}")
        run(CMAKE, "--build", build)
        self.assert_saxpy_is_right(build / "saxpy_c")

    def test_c_by_pkg_config(self):
        environment = {"PKG_CONFIG_PATH": str(self.library.parent / "pkgconfig")}
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "baton", environment=environment))
        source = ROOT / "examples" / "c" / "saxpy.c"
        for compiler, *language in ((CC, "-std=c11"), (CXX, "-std=c++17", "-x", "c++")):
            with self.subTest(compiler):
                program = self.folder / "saxpy"
                run(compiler, *language, "-Wall", "-Wextra", "-pedantic", "-Werror", *self.flags, source,
                    "-x", "none", "-o", program, *flags)
                self.assert_saxpy_is_right(program)

    def test_cpp17(self):
        """A program of the older standard, with each compiler."""
        environment = {"PKG_CONFIG_PATH": str(self.library.parent / "pkgconfig")}
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "baton", environment=environment))
        for compiler in [CXX] if SANITIZE else COMPILERS:
            with self.subTest(compiler):
                program = self.folder / "cpp17"
                run(compiler, "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", *self.flags,
                    HERE / "outside" / "cpp17.cc", "-o", program, *flags)
                environment = {"LD_LIBRARY_PATH": str(self.library.parent)}
                self.assertEqual(run(program, environment=environment).split()[-2:], ["all", "right"])

    def test_exports(self):
        if KIND == "shared":
            names = [name for kind, name in defined_symbols(self.library, "-D", "--defined-only")
                     if kind != "A"]  # the names of versions
            self.assertGreater(len(names), 100)
            foreign = [name for name in names if not re.match(
                r"_Z(N|NK|T[ISV]N)5baton.*@@BATON_CXX$|baton_\w+@@BATON_1$", name)]
            self.assertEqual(foreign, [])
            # Programs that were built with the headers of another version do not link.
            version = (self.prefix / "include" / "baton" / "version.h").read_text()
            tag = "v" + "_".join(re.findall(r"BATON_VERSION_(?:MAJOR|MINOR) (\d+)", version))
            self.assertEqual([name for name in names
                              if name.startswith("_Z") and f"B{len(tag)}{tag}" not in name], [])
            header = (self.prefix / "include" / "baton.h").read_text()
            declared = set(re.findall(r"^BATON_C_API [^;{(]*?(\w+)\(", header, re.MULTILINE))
            self.assertGreater(len(declared), 100)
            self.assertEqual({name.split("@")[0] for name in names if name.startswith("baton_")}, declared)


class Headers(Installed):
    """Both kinds of library install the same headers, so one of them is looked at."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.include = cls.prefix / "include"
        # cutlass.h needs nvcc and CUTLASS: its example compiles it.
        cls.headers = sorted(set((cls.include / "baton").glob("*.h")) - {cls.include / "baton" / "cutlass.h"})

    def compile(self, compiler, standard, headers):
        # Only those for interoperation may need CUDA's.
        cuda = ["-isystem", CUDA] if {"cuda.h", "cuda_runtime.h"} & {header.name for header in headers} else []
        included = [word for header in headers for word in ("-include", header)]
        run(compiler, f"-std={standard}", "-fsyntax-only", "-Wall", "-Wextra", "-Wshadow", "-Wpedantic", "-Werror",
            "-I", self.include, *cuda, *included, "-x", "c++", os.devnull)

    def test_every_header_compiles_alone(self):
        """In the older standard, whose library headers include the fewest others."""
        self.assertGreater(len(self.headers), 10)
        for header in self.headers:
            with self.subTest(header.name):
                self.compile(CXX, "c++17", [header])

    def test_all_headers_please_each_compiler(self):
        for compiler in COMPILERS:
            for standard in ("c++17", "c++20"):
                with self.subTest(f"{compiler} {standard}"):
                    self.compile(compiler, standard, self.headers)

    def test_headers_for_kernels_are_there(self):
        self.assertTrue((self.include / "baton" / "device" / "pdl.cuh").is_file())


class Guides(Installed):
    """The pages that a package has, read where they are installed."""

    def test_links_lead_to_what_is_installed(self):
        sys.path.insert(0, str(ROOT / "tests"))
        from words_test import broken_links  # pylint: disable=import-outside-toplevel
        folder = self.prefix / "share" / "doc" / "baton"
        pages = sorted(folder.glob("*.md"))
        self.assertLessEqual({"README.md", "CHANGELOG.md", "cli.md", "findings.md", "python.md"},
                             {page.name for page in pages})
        self.assertEqual([f"{page.name}: {what}" for page in pages
                          for what in broken_links(page, page.read_text(encoding="utf-8"))], [])
        self.assertTrue((folder / "pictures" / "run.svg").is_file())

    def test_baton_explain_names_the_installed_page(self):
        page = self.prefix / "share" / "doc" / "baton" / "findings.md"
        self.assertIn(str(page), run(self.prefix / "bin" / "baton", "explain", "shared_race"))


class Symbols(unittest.TestCase):
    """Code for newer processors must not reach others: the linker keeps one copy of each inline
    function and template, and may keep the one that was compiled for the newest."""

    def test_no_shared_code_for_newer_processors(self):
        if SANITIZE:
            self.skipTest("sanitizers add symbols of their own")
        objects = pathlib.Path(os.environ["PACKAGE_OBJECTS"]).read_text().split("\n")
        newer = [path for path in objects if path.endswith("_v3.cc.o")]
        if not newer and os.uname().machine == "x86_64":
            self.fail("no object is for x86-64-v3")
        for path in newer:
            for kind, name in defined_symbols(path):
                self.assertFalse(kind in "WVu", f"{path} offers {name} to everyone")
                if kind in "TDBR":
                    self.assertTrue(name.startswith("_ZN5baton3sim2v3"), f"{path} exports {name}")


if __name__ == "__main__":
    unittest.main()
