"""The symbols of libcuda.so.1: those of the table, and those of the toolkit where there is one."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "src" / "shim" / "symbols.inc"
ROW = re.compile(r"^BATON_SYMBOL\((\w+), (\w+), (\d+), (legacy|thread)\)$")


def rows():
    return [match.groups() for match in map(ROW.match, TABLE.read_text(encoding="utf-8").splitlines()) if match]


class Symbols(unittest.TestCase):
    def test_the_library_exports_the_table_and_nothing_else(self):
        text = subprocess.run(["nm", "-D", "--defined-only", os.environ["BATON_LIBCUDA"]], check=True,
                              capture_output=True, text=True).stdout
        exported = [line.split()[-1] for line in text.splitlines()]
        self.assertEqual(sorted(exported), sorted(row[0] for row in rows()))

    def test_every_simulated_entry_has_a_symbol(self):
        known = {(name, int(version)) for _, name, version, stream in rows() if stream == "legacy"}
        entries = re.findall(r"^BATON_DRIVER_ENTRY\((\w+), (\d+),",
                             (ROOT / "src/driver/entries.inc").read_text(encoding="utf-8"), re.M)
        entries += re.findall(r"^BATON_FOREIGN_ENTRY\(\w+, (\w+), (\d+)\)",
                              (ROOT / "src/sim/api/foreign_entries.inc").read_text(encoding="utf-8"), re.M)
        self.assertGreater(len(entries), 200)
        self.assertEqual([e for e in entries if ("cu" + e[0], int(e[1])) not in known], [])

    def test_the_table_is_the_toolkits(self):
        toolkit = pathlib.Path(os.environ["BATON_CUDA_INCLUDE"]).resolve()
        toolkit = next((parent for parent in toolkit.parents if (parent / "lib64/stubs/libcuda.so").exists()), None)
        version = toolkit and re.search(r"#define CUDA_VERSION (\d+)", (toolkit / "include/cuda.h").read_text())
        if toolkit is None or version[1] != "13000":
            self.skipTest("there is no toolkit of CUDA 13.0")
        made = subprocess.run([sys.executable, ROOT / "scripts/driver_symbols", toolkit],
                              capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest(f"the toolkit has another libcuda.so: {made.stderr}")
        self.assertEqual(made.stdout, TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
