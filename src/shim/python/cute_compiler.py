"""CuTe DSL (nvidia-cutlass-dsl) under `baton exec`: its compiler hands over PTX in the place of machine code.

The compiler puts a fat binary with machine code alone into the module that it returns, as a constant, and writes the
PTX to a file where it is asked to. The simulated GPU takes PTX from the same call. Line information is added, so
that findings have the lines of the Python source.
"""

import os
import re
import shutil
import tempfile

PATH_OPTION = re.compile(r"dump-ptx-path='([^']*)'")
BINARY = "_binary"  # how the names of such constants end
FATBIN = b"\x50\xed\x55\xba"


def take_over(module, notices):
    # Modules that were compiled for a GPU have no PTX, and a GPU needs none of these.
    os.environ["CUTE_DSL_DISABLE_FILE_CACHING"] = "1"
    os.environ.setdefault("CUTE_DSL_LINEINFO", "1")
    original = module.Compiler.compile

    def compile(self, source, pipeline, *arguments, **options):
        with tempfile.TemporaryDirectory(prefix="baton-cute-") as folder:
            path = os.path.join(folder, "kernels")
            compiled = original(self, source, with_ptx(pipeline, path), *arguments, **options)
            files = sorted(os.listdir(folder))
            if not replace_binaries(compiled if compiled is not None else source, folder, files, module.ir):
                notices.tell("the compiler of CuTe DSL gave no PTX: its kernels are machine code, which does not run")
            if asked := PATH_OPTION.search(pipeline):
                for name in files:
                    shutil.copyfile(os.path.join(folder, name), asked[1] + name.removeprefix("kernels"))
            return compiled

    module.Compiler.compile = compile


def with_ptx(pipeline, path):
    pipeline = PATH_OPTION.sub("", pipeline)
    return pipeline.replace("cute-to-nvvm{", f"cute-to-nvvm{{dump-ptx-path='{path}' ", 1)


def replace_binaries(compiled, folder, files, ir):
    """False where there is machine code without PTX."""
    binaries = [each for each in compiled.body.operations if is_binary(each, ir)]
    if not binaries:
        return True
    texts = [text for text in (read(folder, name) for name in files) if b".version" in text]
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


def read(folder, name):
    with open(os.path.join(folder, name), "rb") as file:
        return file.read().rstrip(b"\0")
