#!/usr/bin/env python3
"""Holds the direction of every #include between the rooms of src/ (ARCHITECTURE.md)."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

# A room may include itself and the rooms of the levels before its own.
LEVELS = [
    ["base"],
    ["driver", "chip", "ptx", "world"],
    ["image"],
    ["compile", "runtime"],
    ["launch", "nccl"],
    ["trace"],
    ["metadata", "peer"],
    ["pdl"],
    ["program"],
    ["bind"],
    ["load"],
    ["edges", "play"],
    ["record"],
    ["replay"],
    ["report"],
    ["bundle"],
    ["session"],
    ["tune"],
    ["capi"],
    ["tools"],
    ["cli"],
]
# The simulated GPU stands beside them: it sees these, and none sees it.
SIM_SEES = {"base", "driver", "chip", "ptx", "image"}
# What other programs load: it hands the simulated driver out, and no room sees it.
SHIM_SEES = {"base", "driver", "image", "record", "sim"}
# What programs with tvm-ffi load: it sees the C interface alone, and no room sees it.
TVM_FFI_SEES = set()
# The command line prints. It sees public headers, its own and those of tools.
CLI_SEES = {"cli", "tools"}
# The one file that composes the devices.
COMPOSITION = pathlib.Path("src/devices.cc")

# The room that each public header belongs to.
PUBLIC = {
    "export.h": "base", "forward.h": "base", "error.h": "base", "log.h": "base", "dtype.h": "base", "array.h": "base",
    "attempt.h": "base", "span.h": "base", "version.h": "base",
    "world.h": "world",
    "native.h": "driver", "cuda.h": "driver", "schedule.h": "driver",
    "access_counts.h": "driver",
    "races.h": "driver",
    "image.h": "image", "embed.h": "image",
    "compile.h": "compile", "link.h": "compile",
    "device.h": "runtime", "stream.h": "runtime", "sm_part.h": "runtime", "allocator.h": "runtime", "buffer.h": "runtime", "module.h": "runtime",
    "finding.h": "runtime", "simulation.h": "runtime", "pinned.h": "runtime",
    "launch.h": "launch", "launch_plan.h": "launch", "graph.h": "launch", "attributes.h": "launch", "dim3.h": "launch",
    "tensor_map.h": "launch",
    "metadata.h": "metadata",
    "program.h": "program", "tune_choices.h": "program",
    "kernel_module.h": "load", "rewrite.h": "load",
    "bindings.h": "bind",
    "edge.h": "pdl", "check.h": "edges", "report.h": "play",
    "compare.h": "report",
    "bundle.h": "bundle",
    "signing.h": "bundle", "tvm_library.h": "bundle",
    "dlpack.h": "session", "loaded_program.h": "session", "executable.h": "session", "schedules.h": "session",
    "tune.h": "tune",
    "baton.h": "cli",
}

# Their public headers are one: a Module knows how it is compiled and how it is launched.
ONE_API = {"compile", "runtime", "launch"}

# What the tests of several rooms share: whole programs on a device.
TEST_SUPPORT = {"session/test_program.h"}

# A class, struct, union or enumeration that a namespace defines. Nested ones are indented.
TYPE = re.compile(r"^(?:class|struct|union|enum(?: class)?) (?:\[\[\w+\]\] )?(?:alignas\([^)]*\) )?(?:BATON_API )?"
                  r"([A-Z]\w*)(?: final)?(?: *:[^:;{][^;{]*)? ?\{")
# What a program for the device includes is no type of Baton's own.
DEVICE_CODE = ("include/baton/device", "src/compile/headers")

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def level(room):
    return next(i for i, rooms in enumerate(LEVELS) if room in rooms)


def allowed(room, seen, private=True):
    if room == seen:
        return True
    if room == "sim":
        return seen in SIM_SEES
    if room == "shim":
        return seen in SHIM_SEES
    if room == "tvm_ffi":
        return seen in TVM_FFI_SEES
    if room == "cli" and private:
        return seen in CLI_SEES
    if seen in ("sim", "shim", "tvm_ffi"):
        return False
    return level(seen) < level(room)


def rooms():
    return {path.name for path in (ROOT / "src").iterdir() if path.is_dir()}


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1)


def sources(folder):
    return sorted(p for p in folder.rglob("*") if p.suffix in {".h", ".cc", ".inc"})

# Public headers for programs that use CUDA, or CUTLASS, themselves.
INTEROP = {"cuda.h", "cuda_runtime.h", "cutlass.h"}


class Layers(unittest.TestCase):
    def test_every_room_has_a_level(self):
        known = {room for level_rooms in LEVELS for room in level_rooms} | {"sim", "shim", "tvm_ffi"}
        self.assertEqual(rooms() - known, set(), "give these rooms a place in LEVELS")

    def test_private_includes_point_down(self):
        wrong = []
        for room in rooms():
            for path in sources(ROOT / "src" / room):
                for number, name in includes(path):
                    seen = name.split("/")[0]
                    if name == "baton.h" and room not in ("capi", "tvm_ffi"):
                        wrong.append(f"{path.relative_to(ROOT)}:{number}: {room} includes the C interface")
                    if name in TEST_SUPPORT and path.name.endswith("_test.cc"):
                        continue
                    if "/" in name and seen in rooms() and not allowed(room, seen):
                        wrong.append(f"{path.relative_to(ROOT)}:{number}: {room} includes {name}")
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_public_includes_point_down(self):
        wrong = []
        for room in rooms():
            for path in sources(ROOT / "src" / room):
                for number, name in includes(path):
                    if not name.startswith("baton/") or name.startswith("baton/device/"):
                        continue
                    place = f"{path.relative_to(ROOT)}:{number}"
                    owner = PUBLIC.get(name.removeprefix("baton/"))
                    if owner is None:
                        wrong.append(f"{place}: {name} has no room in PUBLIC")
                    elif not (allowed(room, owner, private=False) or {room, owner} <= ONE_API):
                        wrong.append(f"{place}: {room} includes {name}")
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_a_type_name_is_defined_once(self):
        """One name, one type: in headers and sources of all rooms, private types included."""
        places = {}
        for folder in ("include", "src"):
            for path in sources(ROOT / folder):
                relative = path.relative_to(ROOT).as_posix()
                if relative.startswith(DEVICE_CODE) or "/testdata/" in relative or "_test." in relative:
                    continue
                for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                    if match := TYPE.match(line):
                        places.setdefault(match.group(1), []).append(f"{relative}:{number}")
        self.assertGreater(len(places), 500, "the pattern finds no types any more")
        twice = [f"{name}: {', '.join(where)}" for name, where in sorted(places.items())
                 if len(where) > 1]
        self.assertEqual(twice, [], "give each a name of its own:\n" + "\n".join(twice))

    def test_the_public_api_needs_no_private_header(self):
        """No header of include/ names a private header or one of CUDA's, but for those for interoperation."""
        wrong = []
        for path in sources(ROOT / "include" / "baton"):
            relative = path.relative_to(ROOT / "include" / "baton")
            if relative.parts[0] == "device" or relative.name in INTEROP:
                continue
            for number, name in includes(path):
                if name.split("/")[0] in rooms() or name.startswith("cuda"):
                    wrong.append(f"{path.relative_to(ROOT)}:{number}: includes {name}")
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_one_header_includes_the_public_api(self):
        """baton.h brings every public header, but for those for interoperation."""
        folder = ROOT / "include" / "baton"
        included, waiting = set(), ["baton.h"]
        while waiting:
            header = waiting.pop()
            if header not in included:
                included.add(header)
                waiting += [name.removeprefix("baton/") for _, name in includes(folder / header)
                            if name.startswith("baton/")]
        public = {path.name for path in folder.glob("*.h")} - INTEROP
        self.assertEqual(included, public)

    def test_only_the_composition_file_sees_the_simulated_gpu(self):
        self.assertTrue((ROOT / COMPOSITION).is_file())
        for path in (ROOT / "src").glob("*.cc"):
            seen = [name for _, name in includes(path) if name.startswith("sim/")]
            if path.relative_to(ROOT) != COMPOSITION:
                self.assertEqual(seen, [], f"{path} includes the simulated GPU")


if __name__ == "__main__":
    sys.exit(unittest.main())
