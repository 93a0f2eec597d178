"""CuTe DSL (nvidia-cutlass-dsl) under `baton exec`: its compiler hands over PTX in the place of machine code.

The compiler puts a fat binary with machine code alone into the module that it returns, as a constant, and writes the
PTX to a file where it is asked to. The simulated GPU takes PTX from the same call. It adds line
information, so that findings have the lines of the Python source.
"""

import os
import re
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
            asked = PATH_OPTION.search(pipeline)
            path = asked[1] if asked else os.path.join(folder, "kernels")
            compiled = original(self, source, with_ptx(pipeline, path, asked is not None), *arguments, **options)
            if not replace_binaries(compiled if compiled is not None else source, path, module.ir):
                notices.tell("the compiler of CuTe DSL gave no PTX: its kernels are machine code, which does not run")
            return compiled

    module.Compiler.compile = compile


def with_ptx(pipeline, path, is_there):
    return pipeline if is_there else pipeline.replace("cute-to-nvvm{", f"cute-to-nvvm{{dump-ptx-path='{path}' ", 1)


def replace_binaries(compiled, path, ir):
    """False where there is machine code without PTX."""
    binaries = [each for each in compiled.body.operations if is_binary(each, ir)]
    if not binaries:
        return True
    texts = ptx_files(path)
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


def ptx_files(path):
    folder, start = os.path.split(path)
    names = sorted(each for each in os.listdir(folder) if each.startswith(start))
    texts = []
    for name in names:
        with open(os.path.join(folder, name), "rb") as file:
            texts.append(file.read().rstrip(b"\0"))
    return [each for each in texts if b".version" in each]
