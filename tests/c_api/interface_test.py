#!/usr/bin/env python3
"""Compares the interface of baton.h with tests/golden/baton_h.txt: the value of each constant, the
size of each struct, the offset of each member, the declaration of each function.

An interface grows at its end alone: what the file says must stay true. UPDATE=1 in the environment
adds what is new. To change what no release has had, delete its lines first.
"""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADER = ROOT / "include" / "baton.h"
GOLDEN = ROOT / "tests" / "golden" / "baton_h.txt"
CC = os.environ.get("BATON_TEST_CC", "cc")
CXX = os.environ.get("BATON_TEST_CXX", "c++")
TVM_FFI = os.environ.get("BATON_TVM_FFI_INCLUDE_DIR", "")


# What pieces of code in docs/c.md refer to.
PIECE = """
#include <baton.h>
#include <stdio.h>
baton_error* piece(baton_device* device, baton_kernel* kernel, baton_program* program, baton_tensor tensor,
                   const baton_value* values, void* cu_stream, void* pool,
                   baton_allocate_function pool_allocate, baton_free_function pool_free);
baton_error* piece(baton_device* device, baton_kernel* kernel, baton_program* program, baton_tensor tensor,
                   const baton_value* values, void* cu_stream, void* pool,
                   baton_allocate_function pool_allocate, baton_free_function pool_free) {
  baton_error* e = NULL;
  baton_launch_config config = BATON_LAUNCH_CONFIG_INIT;
  baton_program* instance = NULL;
  baton_bundle* bundle = NULL;
  baton_stream* stream = NULL;
  baton_plan* plan = NULL;
  baton_check* check = NULL;
  baton_graph* graph = NULL;
  baton_graph_instance* graph_instance = NULL;
  baton_rewrite* rewrite = NULL;
  const char* text = NULL;
  const char* ptx = "";
  float y[4];
  BLOCK
  (void)config, (void)bundle, (void)instance, (void)stream, (void)plan, (void)check, (void)y, (void)tensor, (void)values;
  (void)graph, (void)graph_instance, (void)rewrite, (void)text, (void)ptx;
  (void)device, (void)kernel, (void)program, (void)cu_stream, (void)pool, (void)pool_allocate, (void)pool_free;
  return e;
}
"""


def without_comments(text):
    return re.sub(r"//[^\n]*", "", text)


SOURCE = without_comments(HEADER.read_text(encoding="utf-8"))
STRUCTS = {name: body for body, name in re.findall(r"typedef struct \w+ (\{.*?\n\}) (\w+);", SOURCE, re.DOTALL)}
FUNCTIONS = [" ".join(text.split()) for text in re.findall(r"^BATON_C_API ([^;{]*\));", SOURCE, re.MULTILINE)]


def constants():
    for match in re.finditer(r"enum \{(.*?)\}", SOURCE, re.DOTALL):
        yield from re.findall(r"BATON_\w+", match[1])


def members(body):
    """The names of a struct's own members; those of a union inside count as one."""
    flat = re.sub(r"union \{.*?\} (\w+);", r"int \1;", body, flags=re.DOTALL)
    return re.findall(r"(\w+)(?:\[\d+\])?;", flat)


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{command} gives {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Interface(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def compile(self, text, compiler=CC, standard="c11", link=False, include=(), suffix=".c"):
        source = self.folder / ("source" + suffix)
        source.write_text(text)
        program = self.folder / "program"
        folders = [word for path in include for word in ("-isystem", path)]
        run(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-pedantic", "-Werror",
            "-I", HEADER.parent, *folders, *(["-o", program] if link else ["-fsyntax-only"]), source)
        return program

    def printed(self):
        """What a program that includes the header says of it."""
        lines = ['#include "baton.h"', "#include <stdio.h>", "int main(void) {"]
        for name in constants():
            lines.append(f'  printf("constant {name} %d\\n", (int){name});')
        for name, body in STRUCTS.items():
            lines.append(f'  printf("struct {name} size %zu\\n", sizeof({name}));')
            for member in members(body):
                lines.append(f'  printf("struct {name} member {member} at %zu size %zu\\n", '
                             f'offsetof({name}, {member}), sizeof((({name}*)0)->{member}));')
        lines.append("  return 0;\n}\n")
        text = run(self.compile("\n".join(lines), link=True))
        return text.splitlines() + [f"function {function}" for function in FUNCTIONS]

    def test_what_was_released_stays(self):
        now = self.printed()
        self.assertGreater(len(now), 250, "the pattern finds nothing any more")
        then = GOLDEN.read_text(encoding="utf-8").splitlines() if GOLDEN.exists() else []
        self.assertEqual([line for line in then if line not in now], [],
                         "these are part of the interface and are no longer true")
        added = [line for line in now if line not in then]
        if os.environ.get("UPDATE") == "1":
            GOLDEN.write_text("".join(line + "\n" for line in then + added), encoding="utf-8")
        else:
            self.assertEqual(added, [], f"{GOLDEN} lacks these: UPDATE=1 adds them")

    def test_the_version_is_the_projects(self):
        header = (ROOT / "include" / "baton" / "version.h").read_text()
        parts = [re.search(rf"define BATON_VERSION_{part} (\d+)", header)[1]
                 for part in ("MAJOR", "MINOR", "PATCH")]
        self.assertIn("baton/version.h", SOURCE)
        project = (ROOT / "CMakeLists.txt").read_text()
        self.assertIn("include/baton/version.h", project)
        self.assertEqual(len(parts), 3)

    def test_members_fill_their_structs(self):
        """A gap at the end of a struct would be garbage to a later release that has a member there."""
        structs = {}
        for line in self.printed():
            words = line.split()
            if words[0] == "struct" and words[2] == "member":
                structs.setdefault(words[1], []).append((int(words[5]), int(words[7])))
            elif words[0] == "struct":
                structs[words[1]] = structs.get(words[1], []) + [("size", int(words[3]))]
        for name, parts in structs.items():
            with self.subTest(name):
                end = 0
                for offset, size in parts[1:]:
                    self.assertEqual(offset, end)
                    end = offset + size
                self.assertEqual(end, parts[0][1])
                if members(STRUCTS[name])[0] == "size":
                    self.assertEqual(end % 8, 0)

    def test_each_struct_with_a_size_has_its_initialiser(self):
        text = '#include "baton.h"\n'
        for name, body in STRUCTS.items():
            if members(body)[0] == "size":
                text += f"extern const {name} of_{name};\n"
                text += f"const {name} of_{name} = {name.upper()}_INIT;\n"
        self.assertGreater(text.count("_INIT"), 10)
        self.compile(text)
        for standard in ("c++11", "c++17", "c++20"):
            self.compile(text, CXX, standard, suffix=".cc")

    def test_it_compiles_in_every_language(self):
        text = '#include "baton.h"\n#include "baton.h"\nint main(void) { return 0; }\n'
        for standard in ("c11", "c17", "gnu11"):
            self.compile(text, CC, standard)
        for standard in ("c++11", "c++14", "c++17", "c++20", "gnu++20"):
            self.compile(text, CXX, standard, suffix=".cc")

    # What the header says about other headers' types is true wherever they are not installed, too.
    def test_layout_of_values_and_tensors(self):
        self.compile("""
#include "baton.h"
_Static_assert(sizeof(baton_value) == 16, "");
_Static_assert(offsetof(baton_value, type) == 0, "");
_Static_assert(offsetof(baton_value, padding) == 4, "");
_Static_assert(offsetof(baton_value, as) == 8, "");
_Static_assert(sizeof(baton_dtype) == 4, "");
_Static_assert(sizeof(baton_tensor) == 48, "");
_Static_assert(offsetof(baton_tensor, device) == 8, "");
_Static_assert(offsetof(baton_tensor, ndim) == 16, "");
_Static_assert(offsetof(baton_tensor, dtype) == 20, "");
_Static_assert(offsetof(baton_tensor, shape) == 24, "");
_Static_assert(offsetof(baton_tensor, strides) == 32, "");
_Static_assert(offsetof(baton_tensor, byte_offset) == 40, "");
""")

    def test_the_page_compiles(self):
        """Blocks of docs/c.md: a program, and pieces of one that stand in a function."""
        page = (ROOT / "docs" / "c.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```c\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        self.assertGreater(len(blocks), 5)
        for block in blocks:
            with self.subTest(block.splitlines()[0]):
                if "int main" not in block:
                    block = PIECE.replace("BLOCK", block)
                self.compile(block)

    def test_dlpack(self):
        if not TVM_FFI:
            self.skipTest("dlpack.h was not found: set BATON_TVM_FFI_INCLUDE_DIR")
        same = "".join(f'SAME_MEMBER(baton_tensor, DLTensor, {member});\n'
                       for member in ("data", "device", "ndim", "dtype", "shape", "strides", "byte_offset"))
        same += "".join(f"SAME_MEMBER(baton_dtype, DLDataType, {member});\n" for member in ("code", "bits", "lanes"))
        head = """
#define SAME(a, b) _Static_assert(sizeof(a) == sizeof(b) && _Alignof(a) == _Alignof(b), "")
#define SAME_MEMBER(a, b, m) _Static_assert(offsetof(a, m) == offsetof(b, m) && \\
                                            sizeof(((a*)0)->m) == sizeof(((b*)0)->m), "")
SAME(baton_tensor, DLTensor);
SAME(baton_dtype, DLDataType);
"""
        codes = {"kDLInt": 0, "kDLUInt": 1, "kDLFloat": 2, "kDLBfloat": 4, "kDLBool": 6,
                 "kDLFloat8_e4m3fn": 10, "kDLFloat8_e5m2": 12,
                 "kDLCPU": 1, "kDLCUDA": 2, "kDLCUDAHost": 3, "kDLCUDAManaged": 13}
        head += "".join(f'_Static_assert({name} == {value}, "");\n' for name, value in codes.items())
        ours, theirs = '#include "baton.h"\n', "#include <dlpack/dlpack.h>\n"
        self.compile(ours + theirs + head + same, include=[TVM_FFI])
        # Included first, theirs is the type.
        self.compile(theirs + ours + head + same + """
baton_error* set(baton_program* program, const DLTensor* tensor);
baton_error* set(baton_program* program, const DLTensor* tensor) {
  return baton_program_set_tensor(program, "x", tensor);
}
""", include=[TVM_FFI])
        self.compile(theirs + ours + "baton_value of(const DLTensor* t) { return BATON_TENSOR(t); }\n",
                     CXX, "c++17", include=[TVM_FFI], suffix=".cc")

    def test_tvm_ffi(self):
        if not TVM_FFI:
            self.skipTest("tvm/ffi/c_api.h was not found: set BATON_TVM_FFI_INCLUDE_DIR")
        types = {"NONE": "None", "INT": "Int", "BOOL": "Bool", "FLOAT": "Float", "POINTER": "OpaquePtr",
                 "TENSOR": "DLTensorPtr", "TEXT": "RawStr", "BYTES": "ByteArrayPtr"}
        checks = "".join(f'_Static_assert((int)BATON_TYPE_{ours} == (int)kTVMFFI{theirs}, "");\n'
                         for ours, theirs in types.items())
        self.assertEqual(sorted(types), sorted(name.removeprefix("BATON_TYPE_") for name in constants()
                                               if name.startswith("BATON_TYPE_")))
        self.compile("""
#include "baton.h"
#include <tvm/ffi/c_api.h>
_Static_assert(sizeof(baton_value) == sizeof(TVMFFIAny), "");
_Static_assert(_Alignof(baton_value) == _Alignof(TVMFFIAny), "");
_Static_assert(offsetof(baton_value, type) == offsetof(TVMFFIAny, type_index), "");
_Static_assert(offsetof(baton_value, padding) == offsetof(TVMFFIAny, zero_padding), "");
_Static_assert(offsetof(baton_value, as.integer) == offsetof(TVMFFIAny, v_int64), "");
_Static_assert(offsetof(baton_value, as.real) == offsetof(TVMFFIAny, v_float64), "");
_Static_assert(offsetof(baton_value, as.pointer) == offsetof(TVMFFIAny, v_ptr), "");
_Static_assert(sizeof(baton_bytes) == sizeof(TVMFFIByteArray), "");
_Static_assert(offsetof(baton_bytes, data) == offsetof(TVMFFIByteArray, data), "");
_Static_assert(offsetof(baton_bytes, size) == offsetof(TVMFFIByteArray, size), "");
""" + checks, include=[TVM_FFI])


if __name__ == "__main__":
    unittest.main()
