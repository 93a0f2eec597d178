#!/usr/bin/env python3
"""`baton inspect` of launch metadata, in files of its own and in libraries."""

import json
import unittest

from baton import Case, ROOT

GOLDEN = ROOT / "tests/golden/metadata"


class InspectMetadata(Case):
    def inspect(self, name, *options):
        result = self.baton("inspect", GOLDEN / name, "--json", *options)
        self.check(result, 0)
        return result.json()

    def test_every_format_names_its_functions(self):
        for name, kind, symbols in [
                ("version_1.json", "Baton metadata, JSON", {"native", "rows"}),
                ("version_1.bin", "Baton metadata, binary", {"native", "rows"}),
                ("tvm_0_27.tvm_meta.json", "TVM sidecar JSON",
                 {"rows_kernel", "map_kernel", "whole_kernel"}),
                ("tvm_0_27_ptx.so", "shared object", {"rows_kernel", "map_kernel", "whole_kernel"}),
                ("tvm_0_27_source.so", "shared object", {"scale_kernel"}),
                ("tvm_ffi_cubin.o", "object", set())]:
            with self.subTest(name):
                found = self.inspect(name)
                self.assertEqual(found["kind"], kind)
                functions = [f for module in found["metadata"] for f in module["functions"]]
                self.assertEqual({f["symbol"] for f in functions}, symbols)
                text = self.baton("inspect", GOLDEN / name).out
                for symbol in symbols:
                    self.assertIn(symbol + "(", text)

    def test_a_function_is_shown_whole(self):
        functions = self.inspect("tvm_0_27.tvm_meta.json")["metadata"][0]["functions"]
        rows = next(f for f in functions if f["symbol"] == "rows_kernel")
        self.assertEqual([p["type"] for p in rows["params"]], ["handle", "handle", "int32", "float32"])
        self.assertEqual(rows["launch_values"],
                         ["grid.x", "cluster.x", "block.x", "dynamic_smem_bytes"])
        self.assertEqual(rows["flags"], ["programmatic_stream_serialization"])
        self.assertTrue(rows["pdl"] and rows["cluster"] and not rows["cooperative"])
        tensor_map = next(f for f in functions if f["symbol"] == "map_kernel")
        self.assertEqual(tensor_map["params"][1]["type"], "tensor map")

    def test_images_and_sources_are_extracted(self):
        self.inspect("version_1.json", "--extract", "own")
        manifest = json.loads((self.folder / "own/manifest.json").read_text())["images"]
        self.assertEqual([part["kind"] for part in manifest], ["ptx", "source"])
        self.assertNotIn("offset", manifest[0])
        self.assertTrue((self.folder / "own" / manifest[0]["file"]).read_bytes().startswith(b".version"))
        self.inspect("tvm_0_27_source.so", "--extract", "tvm")
        source = next((self.folder / "tvm").glob("*.cu")).read_text()
        self.assertIn("scale_kernel(", source)

    def test_broken_metadata_is_refused(self):
        self.write("broken.json", '{"baton_metadata": 1, "functions": 3}')
        self.check(self.baton("inspect", "broken.json"), 2, "broken.json")
        self.write("cut.bin", (GOLDEN / "version_1.bin").read_bytes()[:40])
        self.check(self.baton("inspect", "cut.bin"), 1, "cut.bin is damaged")

    def test_broken_metadata_of_a_library_is_a_warning(self):
        whole = (GOLDEN / "tvm_0_27_ptx.so").read_bytes()
        at = whole.index(b"rows_kernel")  # the first of the functions' names, behind its length
        self.write("bad.so", whole[:at - 8] + b"\xff" * 8 + whole[at:])
        result = self.baton("inspect", "bad.so")
        self.check(result, 0)
        self.assertIn("warning: bad.so", result.err)
        self.assertIn("ptx", result.out)


if __name__ == "__main__":
    unittest.main()
