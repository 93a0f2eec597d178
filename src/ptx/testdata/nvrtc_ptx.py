#!/usr/bin/env python3
"""Compiles a CUDA source to PTX with NVRTC: nvrtc_ptx.py NVRTC_LIBRARY SOURCE OUTPUT OPTION..."""
import ctypes
import pathlib
import sys


def main():
    library, source, output, *options = sys.argv[1:]
    nvrtc = ctypes.CDLL(library)
    program = ctypes.c_void_p()
    text = pathlib.Path(source).read_bytes()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.encode(), 0, None, None) != 0:
        sys.exit("nvrtcCreateProgram failed")
    arguments = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    status = nvrtc.nvrtcCompileProgram(program, len(options), arguments)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    if status != 0:
        sys.exit(f"{source}: NVRTC refused it:\n{log.value.decode()}")
    nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetPTX(program, ptx)
    pathlib.Path(output).write_bytes(ptx.value)


if __name__ == "__main__":
    main()
