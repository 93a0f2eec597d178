"""recorded_calls.inc has every function of the driver's API that puts work into a stream."""

import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HEADER = pathlib.Path(os.environ["BATON_CUDA_INCLUDE"]) / "cuda.h"
# Questions, settings, and the launches, which have hooks of their own.
OTHERS = re.compile(r"cuStream(Get\w+|Query|IsCapturing|SetAttribute|CopyAttributes)(_v\d)?$|"
                    r"cuLaunch(Kernel|KernelEx|CooperativeKernel)$")


def declared():
    """The functions with a stream, by the symbols that programs link: name to the stream's place."""
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8", errors="replace"), flags=re.S)
    names = dict(re.findall(r"#define\s+(cu\w+)\s+(?:__CUDA_API_PT[SD][ZS]\()?(cu\w+_v\d)\b", text))
    found = {}
    for name, parameters in re.findall(r"CUresult\s+CUDAAPI\s+(cu\w+)\s*\(([^;]*?)\)\s*;", text):
        if name.endswith(("_ptsz", "_ptds")):
            continue
        places = [k for k, each in enumerate(parameters.split(","))
                  if re.match(r"\s*CUstream\s+\w+\s*$", each)]
        if places:
            found.setdefault(names.get(name, name), places[0])
    return found


class Calls(unittest.TestCase):
    def test_all_work_of_streams_is_recorded(self):
        text = (ROOT / "src/record/recorded_calls.inc").read_text()
        rows = {name: int(stream) for name, stream in
                re.findall(r"^BATON_RECORDED_CALL\((\w+), \w+, \d+, (-?\d+)\)", text, re.M)}
        functions = {name: place for name, place in declared().items() if not OTHERS.match(name)}
        self.assertGreater(len(functions), 40, "the pattern finds no functions any more")
        self.assertEqual({name: rows.get(name) for name in functions}, functions)

    def test_each_symbol_is_exported(self):
        text = (ROOT / "src/record/recorded_calls.inc").read_text()
        exported = set(re.findall(r"^BATON_SYMBOL\((\w+),", (ROOT / "src/shim/symbols.inc").read_text(), re.M))
        rows = re.findall(r"^BATON_RECORDED_CALL\((\w+),", text, re.M)
        self.assertEqual(len(rows), len(set(rows)))
        self.assertEqual(set(rows) - exported, set())


if __name__ == "__main__":
    unittest.main()
