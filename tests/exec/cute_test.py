"""CuTe DSL under `baton exec`: its stripped runtime, the machine code that it hands over, and its tensor maps."""

import os
import platform
import subprocess
import sys
import unittest

from exec_case import ExecCase

# A Python that has nvidia-cutlass-dsl and numpy; that of the tests otherwise.
PYTHON = os.environ.get("BATON_CUTE_PYTHON", sys.executable)
HAS_CUTE = subprocess.run([PYTHON, "-c", "import cutlass.cute, numpy"], capture_output=True).returncode == 0

# As libcute_dsl_runtime.so: exported functions that are one jump to a function without a name, and one of the driver's.
WRAPPERS = r"""
  .text
  .p2align 4
hidden:
  mov $999, %eax
  ret
  .skip 32, 0x90
  .macro wrapper name
  .globl \name
  .type \name, @function
  .p2align 4
\name:
  .byte 0xe9
  .long hidden - . - 4
  .size \name, 5
  .endm
  wrapper _cudaMalloc
  .p2align 4
other:
  mov $998, %eax
  ret
  .skip 32, 0x90
  .globl _cudaLibraryLoadData
  .type _cudaLibraryLoadData, @function
  .p2align 4
_cudaLibraryLoadData:
  .byte 0xe9
  .long other - . - 4
  .size _cudaLibraryLoadData, 5
  .globl _cuDriverGetVersion
  .type _cuDriverGetVersion, @function
  .p2align 4
_cuDriverGetVersion:
  mov $997, %eax
  ret
  .skip 32, 0x90
  .size _cuDriverGetVersion, . - _cuDriverGetVersion
  .section .note.GNU-stack, "", @progbits
"""
CALLER = """
import ctypes, sys
library, memory, version = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p(), ctypes.c_int()
print(library._cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(64)), memory.value is not None,
      library._cuDriverGetVersion(ctypes.byref(version)), version.value >= 13000)
"""

# The part of CuTe DSL's compiler that matters: what it writes, and the module that it returns.
COMPILER = """
import re
import types


class StringAttr:
    def __init__(self, value):
        self.value_bytes = value if isinstance(value, bytes) else value.encode()
        self.value = self.value_bytes.decode(errors="replace")

    get = classmethod(lambda cls, value: cls(value))


class Location:
    unknown = staticmethod(lambda: Location())
    __enter__ = __exit__ = lambda *arguments: None


class Operation:
    def __init__(self, name, value):
        self.attributes = {"sym_name": StringAttr(name), "value": StringAttr(value), "global_type": None}
        self.operation = self


TypeAttr = types.SimpleNamespace(parse=lambda text: text)
ir = types.SimpleNamespace(StringAttr=StringAttr, TypeAttr=TypeAttr, Location=Location)


class Compiler:
    def compile(self, module, pipeline, arch="", **options):
        path = re.search("dump-ptx-path='([^']*)'", pipeline)[1]
        with open(path + ".sm_90a.ptx", "wb") as file:
            file.write(b".version 9.0\\0")
        module.body = types.SimpleNamespace(operations=[
            Operation("format", "%s"), Operation("kernels_binary", b"\\x50\\xed\\x55\\xba machine code")])
        module.context = Location()
        return module
"""
COMPILE = """
import os, types
import cutlass.base_dsl.compiler as compiler
module = types.SimpleNamespace()
pipeline = "builtin.module(cute-to-nvvm{cubin-format=bin" + os.environ["PIPELINE"] + "})"
compiled = compiler.Compiler().compile(module, pipeline)
print([each.attributes["value"].value_bytes for each in compiled.body.operations],
      compiled.body.operations[1].attributes["global_type"])
"""

ADD = """
import sys
import numpy as np
import cutlass, cutlass.cute as cute
from cuda.bindings import driver
from cutlass.cute.runtime import make_ptr

@cute.kernel
def add_kernel(a: cute.Tensor, b: cute.Tensor, n: cutlass.Int32):
    i = cute.arch.block_idx()[0] * 128 + cute.arch.thread_idx()[0]
    if i < n:
        b[i] = a[i] + b[i]  # the line

@cute.jit
def add(pa: cute.Pointer, pb: cute.Pointer, size: cutlass.Int32, n: cutlass.Int32):
    layout = cute.make_layout(size)
    add_kernel(cute.make_tensor(pa, layout), cute.make_tensor(pb, layout), n).launch(
        grid=((n + 127) // 128, 1, 1), block=(128, 1, 1))

def need(answer):
    assert int(answer[0]) == 0, answer
    return answer[1] if len(answer) > 1 else None

need(driver.cuInit(0))
need(driver.cuCtxSetCurrent(need(driver.cuDevicePrimaryCtxRetain(0))))
host = np.arange(1000, dtype=np.float32)
device = [int(need(driver.cuMemAlloc(4000))) for _ in range(2)]
for each in device:
    need(driver.cuMemcpyHtoD(each, host.ctypes.data, 4000))
pointers = [make_ptr(cutlass.Float32, each, cute.AddressSpace.gmem) for each in device]
count = int(sys.argv[1])
cute.compile(add, *pointers, 1000, count)(*pointers, 1000, count)
need(driver.cuCtxSynchronize())
result = np.zeros_like(host)
need(driver.cuMemcpyDtoH(result.ctypes.data, device[1], 4000))
assert (result == 2 * host).all()
print("right")
"""


class Cute(ExecCase):
    @unittest.skipUnless(platform.machine() == "x86_64", "the library is written for x86-64")
    def test_a_stripped_runtime_is_replaced_behind_the_functions_that_wrap_it(self):
        library = self.folder / "libcute_dsl_runtime.so"
        made = subprocess.run([os.environ.get("CC", "cc"), "-shared", "-x", "assembler", "-", "-o", library, "-s"],
                              input=WRAPPERS, text=True, capture_output=True)
        if made.returncode != 0:
            self.skipTest(f"there is no assembler: {made.stderr}")
        alone = subprocess.run([sys.executable, "-c", CALLER, library], text=True, capture_output=True)
        self.assertEqual(alone.stdout, "999 False 997 False\n", alone.stderr)
        done, report = self.exec(sys.executable, "-c", CALLER, str(library))
        self.assertEqual(done.stdout, "0 True 0 True\n", done.stderr)
        self.assertEqual((report["missing"], report["unchecked"]), ([], []))

    def compile(self, pipeline=""):
        package = self.folder / "cutlass" / "base_dsl"
        package.mkdir(parents=True)
        for folder in (package, package.parent):
            (folder / "__init__.py").touch()
        (package / "compiler.py").write_text(COMPILER)
        return self.exec(sys.executable, "-c", COMPILE, PYTHONPATH=str(self.folder), PIPELINE=pipeline)

    def test_ptx_takes_the_place_of_machine_code(self):
        done, report = self.compile()
        self.assertEqual(done.stdout, "[b'%s', b'.version 9.0\\x00'] !llvm.array<13 x i8>\n", done.stderr)
        self.assertEqual(report["unchecked"], [])

    def test_a_program_that_keeps_its_ptx_gets_it(self):
        done, _ = self.compile(f" dump-ptx-path='{self.folder}/own'")
        self.assertIn("b'.version 9.0", done.stdout, done.stderr)
        self.assertEqual((self.folder / "own.sm_90a.ptx").read_bytes(), b".version 9.0\0")

    @unittest.skipUnless(HAS_CUTE, "there is no nvidia-cutlass-dsl")
    def test_a_program(self):
        program = self.folder / "add.py"
        program.write_text(ADD)
        done, report = self.exec(PYTHON, program, "1000")
        self.assertEqual((done.stdout, done.returncode), ("right\n", 0), done.stderr)
        self.assertEqual((report["findings"], report["missing"], report["unchecked"]), ([], [], []))
        done, report = self.exec(PYTHON, program, "1001")
        (finding,) = report["findings"]
        self.assertEqual(finding["kind"], "out_of_bounds", done.stderr)
        line = next(k for k, text in enumerate(ADD.splitlines(), 1) if "# the line" in text)
        self.assertRegex(finding["where"], rf"add\.py:{line}:")


if __name__ == "__main__":
    unittest.main()
