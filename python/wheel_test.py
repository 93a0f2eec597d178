#!/usr/bin/env python3
"""Builds the plain wheel, installs it into an empty environment and uses it there: Python, the command
line, a C program by the wheel's CMake package, and NVRTC from the wheel's extra.

    python3 python/wheel_test.py [options of unittest]

    WHEEL    a wheel to test instead of building one, such as that of ./scripts/wheel
    PYTHONS  the interpreters to install into, separated by spaces; default: the one that runs this
             file. A wheel cp312-abi3 can be tested with several.
    NVRTC    0 leaves out what downloads NVIDIA's wheels (70 MB)

No toolkit of the machine is in reach: BATON_CUDA_ROOT=none, and an empty cache.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Of a wheel; ./scripts/wheel checks its own as well.
SIZE_LIMIT = 8_000_000

SAXPY = r"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry saxpy(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n) {
  .reg .b64 %rd<6>; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .pred %p;
  ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1; @%p ret;
  cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
  mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd5]; ld.global.f32 %f3, [%rd4];
  fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%rd4], %f4; ret;
}
"""

LAUNCH = """
import array, sys
lock = getattr(sys, "_is_gil_enabled", lambda: True)()
import baton
assert getattr(sys, "_is_gil_enabled", lambda: True)() == lock, "the import turned the global lock on"
n = 1000
x, y = array.array("f", range(n)), array.array("f", [1.0] * n)
baton.load(sys.argv[1], device="sim:h100")["saxpy"][baton.ceildiv(n, 256), 256](y, x, 2.0, n)
assert list(y) == [2.0 * i + 1.0 for i in range(n)], y[:4]
imported = {"numpy", "torch", "tvm_ffi"} & set(sys.modules)
assert not imported, imported
print(baton.__version__)
"""

COMPILE = """
import array, sys
import baton
n = 1000
x, y = array.array("f", range(n)), array.array("f", [1.0] * n)
m = baton.compile(sys.argv[1], device="sim:h100")
m["saxpy"][baton.ceildiv(n, 256), 256](y, x, 2.0, n)
assert list(y) == [2.0 * i + 1.0 for i in range(n)], y[:4]
"""

# A process that loads Baton's library first, and Python afterwards.
LATE_PYTHON = r"""
#include <dlfcn.h>
#include <stddef.h>
int main(int count, char** values) {
  if (count != 4 || dlopen(values[1], RTLD_NOW) == NULL) return 3;
  void* python = dlopen(values[2], RTLD_NOW | RTLD_GLOBAL);
  if (python == NULL) return 4;
  ((void (*)(void))dlsym(python, "Py_Initialize"))();
  int failed = ((int (*)(const char*))dlsym(python, "PyRun_SimpleString"))(values[3]);
  ((void (*)(void))dlsym(python, "Py_Finalize"))();
  return failed;
}
"""


def run(*command, status=0, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode != status:
        raise AssertionError(f"{command} gives {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout if status == 0 else done.stderr


def version_of(python):
    return tuple(json.loads(run(python, "-c", "import sys; print(list(sys.version_info[:2]))")))


def tag_of(python):
    """That of a wheel for this version alone: "cp314-cp314t" without a global lock."""
    version = "cp%d%d" % version_of(python)
    flags = run(python, "-c", "import sys; print(sys.abiflags)").strip()
    return f"{version}-{version}{flags}"


class Environment:
    """A virtual environment with the wheel, and an environment without a toolkit."""

    def __init__(self, folder, python, wheel, extra=""):
        self.folder = folder
        self.python = folder / "bin" / "python"
        run(python, "-m", "venv", folder)
        self.pip("install", f"{wheel}{extra}")
        keep = ("HOME", "LANG", "TMPDIR", "CMAKE_PREFIX_PATH")
        self.variables = {name: os.environ[name] for name in keep if name in os.environ}
        self.variables |= {"PATH": f"{folder}/bin:/usr/bin:/bin", "BATON_CUDA_ROOT": "none",
                           "BATON_CACHE_DIR": str(folder / "cache")}

    def pip(self, *arguments):
        return run(self.python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)

    def run(self, *command, status=0, **more):
        return run(*command, status=status, env=self.variables, cwd=self.folder, **more)


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="baton wheel ")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        pythons = os.environ.get("PYTHONS", sys.executable).split()
        cls.wheel = cls.given_or_built(pythons[0])
        cls.environments = {python: Environment(cls.folder / f"venv{i}", python, cls.wheel)
                            for i, python in enumerate(pythons)}
        cls.environment = cls.environments[pythons[0]]
        cls.ptx = cls.folder / "saxpy.ptx"
        cls.ptx.write_text(SAXPY)

    @classmethod
    def given_or_built(cls, python):
        if "WHEEL" in os.environ:
            return pathlib.Path(os.environ["WHEEL"]).resolve()
        built = cls.folder / "built"
        # A build folder of its own kind makes the second run short.
        version = tag_of(python)
        # The compiler as CMake's presets call it, so that ccache knows the objects of other builds.
        environment = dict(os.environ, CC="cc", CXX="c++")
        if shutil.which("ccache"):
            environment |= {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache"}
        run(python, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-deps",
            "--config-settings", f"build-dir={ROOT}/build/plain-wheel-{version}",
            "--config-settings", "cmake.define.BATON_WARNINGS_AS_ERRORS=ON",
            "--wheel-dir", built, ROOT, env=environment)
        return next(built.glob("baton-*.whl"))

    def test_contents(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
            modes = {info.filename: info.external_attr >> 16 for info in archive.infolist()}
            sizes = {info.filename: info.file_size for info in archive.infolist()}
            texts = {name: archive.read(name).decode() for name in names if name.endswith((".cmake", ".pc"))}
            metadata = archive.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode()
        for name in ("baton/__init__.py", "baton/py.typed", "baton/bin/baton", "baton/lib/libbaton.so",
                     "baton/include/baton.h", "baton/include/baton/baton.h",
                     "baton/lib/cmake/baton/baton-config.cmake"):
            self.assertIn(name, names)
        self.assertTrue(modes["baton/bin/baton"] & 0o111)
        # Packages for CMake and pkg-config work wherever the wheel is, and name nothing of this machine.
        self.assertGreater(len(texts), 3)
        for name, text in texts.items():
            self.assertEqual(re.findall(rf"zig-cache|\.deps|{re.escape(str(ROOT))}", text), [], name)
        extension = [name for name in names if re.fullmatch(r"baton/_core\..*so", name)]
        self.assertEqual(len(extension), 1)
        # What both need is in the library alone.
        for small in (extension[0], "baton/bin/baton"):
            self.assertLess(sizes[small], 200_000)
        if "-cp312-abi3-" in self.wheel.name:
            self.assertTrue(extension[0].endswith(".abi3.so"))
        else:
            self.assertIn(f"-{tag_of(next(iter(self.environments)))}-", self.wheel.name)
        self.assertNotIn("13.3", metadata)
        required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
        self.assertEqual([line for line in required if "extra ==" not in line], [])
        self.assertLessEqual(self.wheel.stat().st_size, SIZE_LIMIT)

    def test_launch_from_python(self):
        header = (ROOT / "include" / "baton" / "version.h").read_text()
        version = ".".join(re.findall(r"#define BATON_VERSION_[A-Z]+ (\d+)", header)) + "\n"
        for python, environment in self.environments.items():
            with self.subTest(python):
                printed = environment.run(environment.python, "-c", LAUNCH, self.ptx)
                self.assertEqual(printed, version)

    def test_library_loaded_before_python(self):
        """The library then lacks Python's symbols: an ImportError, no crash."""
        environment = self.environment
        where = "import sysconfig as s; print(s.get_config_var('LIBDIR') + '/' + s.get_config_var('INSTSONAME'))"
        interpreter = run(environment.python, "-c", where).strip()
        if ".so" not in interpreter or not os.path.exists(interpreter):
            self.skipTest(f"there is no shared library of Python: {interpreter}")
        package = pathlib.Path(environment.run(environment.python, "-m", "baton", "--prefix").strip())
        (self.folder / "late.c").write_text(LATE_PYTHON)
        environment.run("cc", self.folder / "late.c", "-o", self.folder / "late", "-ldl")
        script = f"import sys; sys.path.insert(0, {str(package.parent)!r})\ntry: import baton\nexcept ImportError as e: print(e)"
        printed = environment.run(self.folder / "late", package / "lib/libbaton.so", interpreter, script)
        self.assertIn("before it had a Python interpreter", printed)

    def test_nothing_to_compile_with(self):
        environment = self.environment
        script = "import baton\ntry: baton.compile(text='// nothing', device='sim')\nexcept baton.NotFoundError as e: print(e)"
        self.assertIn("NVRTC, which compiles CUDA source, is not installed",
                      environment.run(environment.python, "-c", script))

    def test_command_line(self):
        environment = self.environment
        (self.folder / "saxpy.toml").write_text(textwrap.dedent("""\
            [symbols]
            N = 1000
            [buffers]
            x = { dtype = "f32", shape = ["N"], role = "input", init = "arange" }
            y = { dtype = "f32", shape = ["N"], role = "inout", init = "ones" }
            [kernels]
            saxpy = { ptx = "saxpy.ptx" }
            [[steps]]
            launch = "saxpy"
            grid = ["ceildiv(N, 256)"]
            block = [256]
            args = ["y", "x", 2.0, "N"]
            """))
        printed = json.loads(environment.run("baton", "run", self.folder / "saxpy.toml", "--json"))
        self.assertEqual(printed["command"], "run")
        # Its own exit status, and its own error.
        self.assertIn("nowhere.toml", environment.run("baton", "run", "nowhere.toml", status=2))
        self.assertEqual(environment.run(environment.python, "-m", "baton", "--version"),
                         environment.run("baton", "--version"))

    def test_signals_reach_the_command_line(self):
        environment = self.environment
        kernel = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k() { L: bra L; }\n"
        (self.folder / "endless.ptx").write_text(kernel)
        (self.folder / "endless.toml").write_text(
            '[kernels]\nk = { ptx = "endless.ptx" }\n[[steps]]\nlaunch = "k"\ngrid = [1]\nblock = [32]\n')
        process = subprocess.Popen(
            ["baton", "run", self.folder / "endless.toml", "--device", "sim"], text=True,
            env=environment.variables | {"BATON_LOG": "debug"}, executable=environment.folder / "bin/baton",
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # It is the command line, no child of Python's, as soon as it says something.
        process.stderr.readline()
        self.assertEqual(os.readlink(f"/proc/{process.pid}/exe").rsplit("/", 1)[1], "baton")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)

    def test_c_program(self):
        environment = self.environment
        prefix = environment.run(environment.python, "-c", "import baton; print(baton.cmake_prefix())").strip()
        directory = environment.run(environment.python, "-m", "baton", "--cmakedir").strip()
        self.assertEqual(directory, f"{prefix}/lib/cmake/baton")
        # The example, with PTX in the place of the source.
        source, build = self.folder / "c", self.folder / "c" / "build"
        shutil.copytree(ROOT / "examples" / "c", source)
        text = (source / "saxpy.c").read_text()
        text, count = re.subn(r'kSource\[\] =\n.*?;\n\n', lambda _: f"kSource[] = {json.dumps(SAXPY)};\n\n", text,
                              flags=re.DOTALL)
        compiles, loads = "module_compile(s->device, kSource, NULL, ", "module_load(s->device, kSource, sizeof(kSource) - 1, "
        self.assertEqual((count, text.count(compiles)), (1, 1))
        (source / "saxpy.c").write_text(text.replace(compiles, loads))
        environment.run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
        environment.run("cmake", "--build", build)
        self.assertIn("elements of saxpy are right", environment.run(build / "saxpy_c", "sim:tiny"))

    def test_cxx_program(self):
        """The C++ interface, or one clear error where the library has the C interface alone."""
        environment = self.environment
        source, build = self.folder / "cxx", self.folder / "cxx" / "build"
        source.mkdir()
        (source / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(app CXX)\nfind_package(baton REQUIRED)\n"
            "add_executable(app app.cc)\ntarget_link_libraries(app PRIVATE baton::baton)\n")
        (source / "app.cc").write_text(
            '#include <baton/baton.h>\n#include <cstdio>\n'
            'int main() { std::puts(baton::Device::open("sim:tiny").spec().c_str()); }\n')
        prefix = environment.run(environment.python, "-m", "baton", "--prefix").strip()
        environment.run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
        if "manylinux" in self.wheel.name:
            done = subprocess.run(["cmake", "--build", build], env=environment.variables, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("the C interface alone: include <baton.h>", done.stdout)
        else:
            environment.run("cmake", "--build", build)
            self.assertEqual(environment.run(build / "app"), "sim:tiny\n")

    def test_pytest_plugin(self):
        environment = self.environment
        environment.pip("install", "pytest")
        (self.folder / "test_saxpy.py").write_text(textwrap.dedent(f"""\
            import array
            def test_saxpy(baton):
                x, y = array.array("f", range(9)), array.array("f", [1.0] * 9)
                baton.load({str(self.ptx)!r})["saxpy"][1, 32](y, x, 2.0, 9)
                assert list(y) == [2.0 * i + 1.0 for i in range(9)]
            """))
        # Registered by the installation; naming it as well does no harm.
        for options in ((), ("-p", "baton.pytest_plugin")):
            with self.subTest(options):
                printed = environment.run(environment.python, "-m", "pytest", "-q", *options,
                                          self.folder / "test_saxpy.py")
                self.assertRegex(printed, r"\d+ passed")

    @unittest.skipIf(os.environ.get("NVRTC") == "0", "NVRTC=0")
    def test_compiles_with_the_extra(self):
        for python in self.environments:
            with self.subTest(python):
                environment = Environment(self.folder / f"nvrtc {version_of(python)}", python, self.wheel,
                                          extra="[nvrtc]")
                environment.run(environment.python, "-c", COMPILE, ROOT / "examples/saxpy/saxpy.cu")
                # The command line finds the same, also without Python's help.
                for tool in ("baton", next(environment.folder.glob("lib/python*/site-packages/baton/bin/baton"))):
                    report = json.loads(environment.run(tool, "doctor", "--json"))
                    parts = {part["name"]: part for part in report["parts"]}
                    self.assertIn(str(environment.folder), parts["NVRTC"]["detail"])
                    self.assertIn("(the Python packages beside Baton)", parts["NVRTC"]["detail"])
                    self.assertIn("(beside NVRTC)", parts["CUDA headers"]["detail"])


if __name__ == "__main__":
    unittest.main()
