"""CuTe DSL (nvidia-cutlass-dsl) under `baton exec`: its compiler hands over PTX in the place of machine code.

The compiler puts a fat binary with machine code alone into the module that it returns, as a constant, and writes the
PTX to a file where it is asked to. The simulated GPU takes PTX from the same call. Line information is added, so
that findings have the lines of the Python source.
"""

import ctypes
import os
import re
import tempfile

# Where the compiler writes files: a path without the architecture and the kind.
PATH_OPTIONS = {kind: re.compile(rf"dump-{kind}-path='([^']*)'") for kind in ("ptx", "cubin")}
BINARY = "_binary"  # how the names of such constants end
FATBIN = b"\x50\xed\x55\xba"


def take_over(module, notices):
    # Modules that were compiled for a GPU have no PTX, and a GPU needs none of these.
    os.environ["CUTE_DSL_DISABLE_FILE_CACHING"] = "1"
    os.environ.setdefault("CUTE_DSL_LINEINFO", "1")
    original = module.Compiler.compile

    def compile(self, source, pipeline, *arguments, **options):
        with tempfile.TemporaryDirectory(prefix="baton-cute-") as folder:
            asked = {kind: found[1] for kind, option in PATH_OPTIONS.items() if (found := option.search(pipeline))}
            paths = {kind: os.path.join(folder, kind) for kind in {"ptx", *asked}}
            compiled = original(self, source, with_paths(pipeline, paths), *arguments, **options)
            texts = [text.rstrip(b"\0") for text in contents(folder, "ptx").values() if b".version" in text]
            if not replace_binaries(compiled if compiled is not None else source, texts, module.ir):
                notices.tell("the compiler of CuTe DSL gave no PTX: its kernels are machine code, which does not run")
            for kind, path in asked.items():
                for ending, content in contents(folder, kind).items():
                    with open(path + ending, "wb") as file:
                        file.write(keep_ptx(content, texts[0]) if kind == "cubin" and len(texts) == 1 else content)
            return compiled

    module.Compiler.compile = compile


def with_paths(pipeline, paths):
    for option in PATH_OPTIONS.values():
        pipeline = option.sub("", pipeline)
    options = " ".join(f"dump-{kind}-path='{path}'" for kind, path in paths.items())
    return pipeline.replace("cute-to-nvvm{", f"cute-to-nvvm{{{options} ", 1)


def contents(folder, start):
    """Of the files whose names start so, by the rest of the name."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if name.startswith(start):
            with open(os.path.join(folder, name), "rb") as file:
                found[name.removeprefix(start)] = file.read()
    return found


def keep_ptx(cubin, ptx):
    """The cubin with the PTX inside, which some programs load themselves."""
    library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "libbaton_kept.so"))
    library.baton_keep_ptx.restype = ctypes.c_size_t
    room = len(cubin) + len(ptx) + 4096
    made = ctypes.create_string_buffer(room)
    size = library.baton_keep_ptx(cubin, ctypes.c_size_t(len(cubin)), ptx, ctypes.c_size_t(len(ptx)), made,
                                  ctypes.c_size_t(room))
    return made.raw[:size] if size else cubin


def replace_binaries(compiled, texts, ir):
    """False where there is machine code without PTX."""
    binaries = [each for each in compiled.body.operations if is_binary(each, ir)]
    if not binaries:
        return True
    if len(texts) != len(binaries):
        return False
    for operation, text in zip(binaries, texts):
        with compiled.context, ir.Location.unknown():
            operation.attributes["value"] = ir.StringAttr.get(text + b"\0")
            operation.attributes["global_type"] = ir.TypeAttr.parse(f"!llvm.array<{len(text) + 1} x i8>")
    return True


def is_binary(operation, ir):
    attributes = operation.operation.attributes
    if "sym_name" not in attributes or "value" not in attributes:
        return False
    name, value = attributes["sym_name"].value, attributes["value"]
    return name.endswith(BINARY) and isinstance(value, ir.StringAttr) and value.value_bytes[:4] == FATBIN
