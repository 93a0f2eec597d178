#!/usr/bin/env python3
"""baton run LIB.so --function f --arg …: functions of libraries that TVM exported, by their metadata."""

import numpy

from baton import ROOT, Case, main

DATA = ROOT / "tests" / "golden" / "metadata"
LIBRARY = DATA / "tvm_0_27_ptx.so"
ROWS = ["p2=500", "p3=2.5", "grid.x=4", "cluster.x=2", "block.x=128", "dynamic_smem_bytes=512"]


class LibraryCall(Case):
    def call(self, function, arguments, *options, library=LIBRARY):
        flags = [] if function is None else ["--function", function]
        return self.baton("run", str(library), *flags,
                          *[word for argument in arguments for word in ("--arg", argument)], *options)

    def refused(self, status, expected, *call, **options):
        result = self.call(*call, **options)
        self.assertEqual(result.status, status, result)
        for part in expected if isinstance(expected, tuple) else (expected,):
            self.assertIn(part, result.first_error)

    def test_arrays_and_numbers(self):
        x = numpy.arange(512, dtype="f4")
        numpy.save(self.folder / "x.npy", x)
        result = self.call("rows_kernel", ["p0=f32[512]", "p1=x.npy", *ROWS], "--output", "p0=y.npy", "--json")
        self.assertEqual(result.status, 0, result)
        y = numpy.load(self.folder / "y.npy")
        self.assertTrue((y[:500] == 2.5 * x[:500]).all() and (y[500:] == 0).all())
        step = result.json()["steps"][0]
        self.assertEqual((step["label"], step["grid"], step["block"]), ("rows_kernel", [4, 1, 1], [128, 1, 1]))
        # The kernel reads x, and writes a part of y.
        self.assertEqual([output["name"] for output in result.json()["outputs"]], ["p0"])

    def test_launch_values_of_every_kind(self):
        values = ["p0=i64[8]", "p1=7", "grid.x=4", "grid.y=2", "block.x=1", "cluster.x=2",
                  "preferred_cluster.x=1"]
        result = self.call("whole_kernel", values, "--output", "p0=y.npy")
        self.assertEqual(result.status, 0, result)
        self.assertEqual(numpy.load(self.folder / "y.npy").tolist(), list(range(7, 15)))

    def test_tensor_maps(self):
        values = ["p0=u8[128]", "p1=f16[64,64]", "p1.box=16,32", "p1.swizzle=64b", "grid.x=1", "block.x=128"]
        result = self.call("map_kernel", values, "--output", "p0=y.npy")
        self.assertEqual(result.status, 0, result)
        self.assertTrue(numpy.load(self.folder / "y.npy").any(), "the bytes of the map")
        self.refused(2, ("128 bytes", "64"), "map_kernel",
                     ["p0=u8[128]", "p1=f16[64,64]", "p1.box=16,64", "p1.swizzle=64b", "grid.x=1",
                      "block.x=128"])

    def test_files_keep_what_the_kernel_does_not_write(self):
        numpy.save(self.folder / "y.npy", numpy.full(512, 9, "f4"))
        numpy.save(self.folder / "x.npy", numpy.ones(512, "f4"))
        result = self.call("rows_kernel", ["p0=y.npy", "p1=x.npy", *ROWS], "--output", "p0=z.npy")
        self.assertEqual(result.status, 0, result)
        self.assertEqual(set(numpy.load(self.folder / "z.npy")[500:]), {9})

    def test_sources_are_compiled(self):
        library = DATA / "tvm_0_27_source.so"
        result = self.call(None, [], library=library)
        self.assertIn("function scale_kernel takes p0 (handle)", result.first_error)

    def test_errors_name_what_there_is(self):
        self.refused(2, ("has 3 functions; choose one by --function: map_kernel, rows_kernel",), None, ["p0=null"])
        self.refused(2, ("--function row_kernel", 'did you mean "rows_kernel"?'), "row_kernel", [])
        self.refused(2, ("function rows_kernel takes p0 (handle), p1 (handle), p2 (int32), p3 (float32), grid.x",
                         "give --arg NAME=VALUE for p0, p1, cluster.x"),
                     "rows_kernel", ["p2=1", "p3=1", "grid.x=1", "block.x=1", "dynamic_smem_bytes=0"])
        self.refused(2, "--arg p9=1: there is no such argument; function rows_kernel takes", "rows_kernel", ["p9=1"])
        self.refused(2, "--arg p2=1.5: the parameter has the type int32: give an integer", "rows_kernel",
                     ["p0=null", "p1=null", "p2=1.5", *ROWS[1:]])
        self.refused(2, "--arg p0=7: the parameter is memory: give FILE.npy", "rows_kernel",
                     ["p0=7", "p1=null", *ROWS])
        self.refused(2, "--arg grid.x=many: give a number", "rows_kernel",
                     ["p0=null", "p1=null", *ROWS[:2], "grid.x=many", *ROWS[3:]])
        for extent in ("-1", "0", "1.5"):
            self.refused(2, f"--arg grid.x={extent}: give an integer of at least 1", "rows_kernel",
                         ["p0=null", "p1=null", *ROWS[:2], f"grid.x={extent}", *ROWS[3:]])
        self.refused(2, "no.npy", "rows_kernel", ["p0=no.npy", "p1=null", *ROWS])
        numpy.save(self.folder / "raw.npy", numpy.zeros(4, "V2"))
        self.refused(2, "its elements are raw (|V2); name their type, as in bf16:raw.npy", "rows_kernel",
                     ["p0=raw.npy", "p1=null", *ROWS])
        self.refused(2, "has no launch metadata", "k", [], library=DATA / "kernels.cu")
        self.refused(2, "saxpy.toml has no launch metadata", "k", [],
                     library=ROOT / "examples" / "saxpy" / "saxpy.toml")
        self.refused(2, "p1.box", "map_kernel", ["p0=u8[128]", "p1=f16[64,64]", "grid.x=1", "block.x=1"])


if __name__ == "__main__":
    main()
