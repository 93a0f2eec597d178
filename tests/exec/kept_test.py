"""Machine code of NVRTC and nvJitLink under `baton exec`: the PTX is kept inside."""

import ctypes.util
import glob
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

BATON = os.environ["BATON"]
INCLUDE = pathlib.Path(os.environ["BATON_CUDA_INCLUDE"]).resolve()

# What both scripts begin with: the driver through ctypes, as Python's packages call it.
DRIVER = """
import ctypes, sys
cuda = ctypes.CDLL("libcuda.so.1")
def check(result):
    if result: sys.exit(f"result {result}")
context = ctypes.c_void_p()
check(cuda.cuInit(0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
def run(cubin, name):
    module, function, word = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    check(cuda.cuModuleLoadData(ctypes.byref(module), cubin))
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, name))
    check(cuda.cuMemAlloc_v2(ctypes.byref(word), 4))
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(word), ctypes.c_void_p))
    check(cuda.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, None, arguments, None))
    value = ctypes.c_int()
    check(cuda.cuMemcpyDtoH_v2(ctypes.byref(value), word, 4))
    print(value.value)
    return function
library = ctypes.CDLL(sys.argv[1])
size, handle = ctypes.c_size_t(), ctypes.c_void_p()
"""

NVRTC = DRIVER + """
source = b'extern "C" __global__ void answer(int* x) { *x = 42; }'
check(library.nvrtcCreateProgram(ctypes.byref(handle), source, b"a.cu", 0, None, None))
check(library.nvrtcCompileProgram(handle, 1, (ctypes.c_char_p * 1)(b"-arch=sm_90")))
check(library.nvrtcGetCUBINSize(handle, ctypes.byref(size)))
cubin = ctypes.create_string_buffer(size.value)
check(library.nvrtcGetCUBIN(handle, cubin))
check(library.nvrtcDestroyProgram(ctypes.byref(handle)))
registers = ctypes.c_int()
check(cuda.cuFuncGetAttribute(ctypes.byref(registers), 4, run(cubin, b"answer")))
# An estimate from the PTX is 16 at least.
print("as in the machine code" if registers.value < 16 else registers.value)
"""

LINK = DRIVER + """
HEAD = b".version 8.0\\n.target sm_90\\n.address_size 64\\n"
CALLER = HEAD + b'''.extern .func (.param .b32 out) seven();
.visible .entry answer(.param .u64 p) {
  .reg .b64 %a; .reg .b32 %x;
  ld.param.u64 %a, [p];
  { .param .b32 out; call (out), seven, (); ld.param.b32 %x, [out]; }
  st.global.u32 [%a], %x; ret;
}'''
CALLEE = HEAD + b".visible .func (.param .b32 out) seven() { st.param.b32 [out], 7; ret; }"
check(library.nvJitLinkCreate(ctypes.byref(handle), 1, (ctypes.c_char_p * 1)(b"-arch=sm_90")))
for text in (CALLER, CALLEE):
    check(library.nvJitLinkAddData(handle, 2, text, ctypes.c_size_t(len(text)), b"input"))
check(library.nvJitLinkComplete(handle))
check(library.nvJitLinkGetLinkedCubinSize(handle, ctypes.byref(size)))
cubin = ctypes.create_string_buffer(size.value)
check(library.nvJitLinkGetLinkedCubin(handle, cubin))
check(library.nvJitLinkDestroy(ctypes.byref(handle)))
run(cubin, b"answer")
"""


def library(name):
    for folder in (INCLUDE.parent / "lib64", INCLUDE.parent / "lib", INCLUDE.parent.parent.parent / "lib64"):
        for path in sorted(glob.glob(f"{folder}/lib{name}.so.13*")):
            return path
    return ctypes.util.find_library(name)


class Kept(unittest.TestCase):
    def check(self, name, script, wanted):
        path = library(name)
        if path is None:
            self.skipTest(f"there is no lib{name}")
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "client.py"
            file.write_text(script)
            done = subprocess.run([BATON, "exec", "--", sys.executable, file, path], capture_output=True, text=True,
                                  timeout=120)
        self.assertEqual((done.stdout, done.returncode), (wanted, 0), done.stderr)

    def test_nvrtc(self):
        self.check("nvrtc", NVRTC, "42\nas in the machine code\n")

    def test_nvjitlink_joins_several_inputs(self):
        self.check("nvJitLink", LINK, "7\n")


if __name__ == "__main__":
    unittest.main()
