#!/usr/bin/env python3
"""What host programs around hand-written CUDA must be able to do, and what they must refuse: one test
a line of an acceptance list. T: what TileLang's T.CUDASourceCodeKernel does; N: where it is weak."""

import os

import numpy

from baton import Case, buffer, kernel, launch, main, program

COPY = """\
extern "C" __global__ void copy(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) b[i] = a[i];
}
"""

ADD = """\
__device__ int calls;
extern "C" __global__ void add(int* x, int value) {
  if (threadIdx.x == 0) calls += 1;
  x[threadIdx.x] += value;
}
extern "C" __global__ void read_calls(int* out) { out[0] = calls; }
"""

A_AND_B = (buffer("a", "f32", ["N"], "input", "random") + buffer("b", "f32", ["N"], "output"))
X = buffer("x", "i32", [32], "inout", "zeros")


def copy_program(**keys):
    return program(A_AND_B, kernel("copy", **keys),
                   launch("copy", ["ceildiv(N, 128)"], [128], ["a", "b", "N"]), N=128)


class Acceptance(Case):
    def run_program(self, text, *options, status=0, parts=()):
        self.write("p.toml", text)
        result = self.baton("run", "p.toml", *options)
        self.check(result, status, *parts)
        return result

    def outputs(self, text, *names, options=()):
        """Runs the program and gives what its outputs hold."""
        saved = [part for name in names for part in ("--output", f"{name}={name}.npy")]
        self.run_program(text, *saved, *options)
        arrays = [numpy.load(self.folder / f"{name}.npy") for name in names]
        return arrays[0] if len(arrays) == 1 else arrays

    def check_copy(self, text, *options, n=128):
        a = numpy.arange(n, dtype=numpy.float32) * numpy.float32(0.37)
        self.save("a.npy", a)
        b = self.outputs(text, "b", options=("--input", "a=a.npy", *options))
        numpy.testing.assert_array_equal(a, b)

    def test_T1_inline(self):
        self.check_copy(copy_program(text=COPY))

    def test_T2_symbolic_sizes(self):
        for n in (0, 1, 127, 128, 129, 1_000_000):
            with self.subTest(n):
                self.check_copy(copy_program(text=COPY), "--set", f"N={n}", n=n)

    def test_T3_a_file_is_read_when_it_is_asked_for(self):
        """No trace of an earlier file: what was deleted is missing, what was changed is new. That a
        prepared program needs its files no more is held in C++."""
        path = self.write("k.cu", COPY)
        self.check_copy(copy_program(source="k.cu"))
        path.write_text(COPY.replace("a[i]", "2 * a[i]"))
        a = numpy.ones(128, dtype=numpy.float32)
        self.save("a.npy", a)
        doubled = self.outputs(copy_program(source="k.cu"), "b", options=("--input", "a=a.npy"))
        numpy.testing.assert_array_equal(doubled, 2 * a)
        path.unlink()
        self.run_program(copy_program(source="k.cu"), status=2, parts=("k.cu", "p.toml:"))

    def test_T4_an_unknown_entry_lists_the_entries(self):
        for entry in ("main_kernel", "add<float>", "calls"):
            with self.subTest(entry):
                text = program(X, kernel("k", text=ADD, entry=entry), launch("k", [1], [32], ["x", 1]))
                self.run_program(text, status=2, parts=("p.toml:", "add", "read_calls"))

    def test_T5_blank_source(self):
        self.run_program(copy_program(text=" \n\t"), status=2, parts=("p.toml:", "copy"))
        self.write("blank.cu", "\n \n")
        self.run_program(copy_program(source="blank.cu"), status=2, parts=("blank.cu",))
        self.write("comments.cu", "// nothing here\n")
        self.run_program(copy_program(source="comments.cu"), status=2, parts=("comments.cu", "kernel"))

    def test_T6_missing_path(self):
        for key in ("source", "ptx", "cubin", "fatbin"):
            with self.subTest(key):
                self.run_program(copy_program(**{key: "no/such.file"}), status=2,
                                 parts=("p.toml:", "no/such.file"))
        # A path is never taken for text, nor text for a path.
        self.run_program(copy_program(text="no/such/file.cu"), status=2, parts=("copy",))
        self.run_program(copy_program(source=COPY), status=2, parts=("p.toml:", "cannot read"))

    def test_T7_default_entry(self):
        self.check_copy(copy_program(text=COPY))
        self.check_copy(copy_program(text=COPY.replace('extern "C" ', "")))
        two = program(X, kernel("k", text=ADD), launch("k", [1], [32], ["x", 1]))
        self.run_program(two, status=2, parts=("add", "read_calls", "entry"))

    def test_T8_extents(self):
        def step(grid=(4,), block=(32,), **attributes):
            text = program(X, kernel("k", text='extern "C" __global__ void k(int* x) {}'),
                           launch("k", grid, block, ["x"], **attributes))
            self.write("p.toml", text)
            return self.baton("check", "p.toml", "--json")

        def sent(result):
            self.check(result, 0)
            only = result.json()["steps"][0]
            return only["grid"], only["block"], only["attributes"].get("cluster")

        for extents, padded in (([4], [4, 1, 1]), ([4, 2], [4, 2, 1]), ([4, 2, 8], [4, 2, 8]),
                                (["2 + 2"], [4, 1, 1])):
            with self.subTest(extents):
                self.assertEqual(sent(step(grid=extents)), (padded, [32, 1, 1], None))
                self.assertEqual(sent(step(block=extents)), ([4, 1, 1], padded, None))
        for cluster, padded in (([1], [1, 1, 1]), ([1, 1, 1], [1, 1, 1]), ([2], [2, 1, 1]),
                                ([4, 1], [4, 1, 1])):
            with self.subTest(cluster=cluster):
                self.assertEqual(sent(step(cluster=cluster)), ([4, 1, 1], [32, 1, 1], padded))
        for what in ("grid", "block", "cluster"):
            for wrong in ([0], [-1], ["1 - 1"], ["0 - 2"], [1, 1, 0], [], [1, 1, 1, 1], [1.5], 1.5, None):
                if what == "cluster" and wrong is None:
                    continue  # left out is not sent
                if what == "grid" and wrong == ["1 - 1"]:
                    continue  # an expression that comes to nothing skips the launch
                with self.subTest(what, wrong=wrong):
                    self.check(step(**{what: wrong}), 2, what, "p.toml:")

    def test_T9_the_source_stays_byte_for_byte(self):
        odd = COPY + "\r\n// \u00e4\u00f6 \\\n// \ttrailing blanks   \n\n\n// no end of line"
        self.run_program(copy_program(text=odd), "--keep", "kept")
        self.assertEqual((self.folder / "kept/copy.cu").read_bytes(), odd.encode())

    def test_T10_prelude_order(self):
        source = "#ifndef FACTOR\n#error FACTOR comes first\n#endif\n" + COPY.replace("a[i]", "FACTOR * a[i]")
        self.check_copy(copy_program(text=source, prelude="#define FACTOR 1.0f"))
        # Neither counts the other's lines.
        self.write("k.cu", COPY.replace("b[i] =", "b[i] = = "))
        result = self.run_program(copy_program(source="k.cu", prelude="// one\n// two\n"), status=2)
        self.assertIn("k.cu:3:", result.err)
        self.run_program(copy_program(source="k.cu", prelude="int wrong = ;"), status=2, parts=("<prelude of k.cu>:1:",))

    def test_T11_cluster_launch(self):
        source = """
            #include <cooperative_groups.h>
            extern "C" __global__ void ranks(unsigned* rank, unsigned* size) {
              auto cluster = cooperative_groups::this_cluster();
              if (threadIdx.x != 0) return;
              rank[blockIdx.x] = cluster.block_rank();
              size[blockIdx.x] = cluster.num_blocks();
            }"""
        buffers = buffer("rank", "u32", [8], "output") + buffer("size", "u32", [8], "output")
        for cluster in (1, 2, 4, 8):
            with self.subTest(cluster):
                text = program(buffers, kernel("ranks", text=source),
                               launch("ranks", [8], [32], ["rank", "size"], cluster=["C"]), C=cluster)
                rank, size = self.outputs(text, "rank", "size")
                numpy.testing.assert_array_equal(rank, numpy.arange(8) % cluster)
                numpy.testing.assert_array_equal(size, numpy.full(8, cluster))

    def test_T12_what_is_exported_runs_again(self):
        text = copy_program(text=COPY)
        self.run_program(text, "--keep", "kept")
        kept = self.folder / "kept"
        self.check_copy(copy_program(source=str(kept / "copy.cu")))
        self.check_copy(copy_program(ptx=str(kept / "copy.ptx")))
        inspected = self.baton("inspect", kept / "copy.cubin", "--json").json()
        self.assertEqual([k["name"] for k in inspected["kernels"]], ["copy"])

    def test_N1_one_kernel_many_times(self):
        steps = [launch("add", [1], [32], ["x", i]) for i in range(5)]
        group = 'repeat = 7\nindex = "i"\nsteps = [ { launch = "add", grid = [1], block = [32], args = ["x", "i"] } ]\n'
        text = program(X, buffer("calls", "i32", [1], "output"), kernel("add", text=ADD, entry="add"),
                       kernel("calls_of", text=ADD, entry="read_calls"), *steps, "[[steps]]\n" + group,
                       launch("calls_of", [1], [1], ["calls"]))
        x, calls = self.outputs(text, "x", "calls", options=("--keep", "kept"))
        numpy.testing.assert_array_equal(x, numpy.full(32, sum(range(5)) + sum(range(7))))
        self.assertEqual(calls[0], 12, "one module, so one variable")
        self.assertEqual(sorted(p.suffix for p in (self.folder / "kept").glob("add*")), [".cu", ".cubin", ".ptx"])

    def test_N2_equal_definitions_are_one_module(self):
        self.write("k.cu", ADD)
        text = program(X, buffer("calls", "i32", [1], "output"), kernel("one", text=ADD, entry="add"),
                       kernel("other", source="k.cu", entry="add"),
                       kernel("calls_of", text=ADD, entry="read_calls"),
                       launch("one", [1], [32], ["x", 1]), launch("other", [1], [32], ["x", 1]),
                       launch("calls_of", [1], [1], ["calls"]))
        _, calls = self.outputs(text, "x", "calls")
        self.assertEqual(calls[0], 2)

    def test_N3_equal_names_of_different_kernels(self):
        """Two modules, each with its own kernel `add` and its own variable `calls`."""
        other = ADD.replace("+= value", "+= 100 * value")
        text = program(X, buffer("calls", "i32", [1], "output"), kernel("one", text=ADD, entry="add"),
                       kernel("other", text=other, entry="add"),
                       kernel("calls_of", text=other, entry="read_calls"),
                       launch("one", [1], [32], ["x", 1]), launch("other", [1], [32], ["x", 1]),
                       launch("calls_of", [1], [1], ["calls"]))
        x, calls = self.outputs(text, "x", "calls")
        numpy.testing.assert_array_equal(x, numpy.full(32, 101))
        self.assertEqual(calls[0], 1)

    def test_N4_two_entries_of_one_file(self):
        self.write("k.cu", ADD)
        text = program(X, buffer("calls", "i32", [1], "output"), kernel("add", source="k.cu", entry="add"),
                       kernel("calls_of", source="k.cu", entry="read_calls"),
                       launch("add", [1], [32], ["x", 3]), launch("calls_of", [1], [1], ["calls"]))
        x, calls = self.outputs(text, "x", "calls")
        self.assertEqual((x[0], calls[0]), (3, 1))

    def test_N5_what_is_not_used(self):
        """A launch names what it passes: other buffers and symbols of the program play no role, and
        neither does a parameter that the kernel does not use."""
        source = 'extern "C" __global__ void k(const double* unused, int* x, int also) { x[threadIdx.x] = 7; }'
        text = program(X, buffer("big", "f64", [1000], "scratch"), buffer("a_first", "f32", ["M"], "weight", "ones"),
                       kernel("k", text=source), launch("k", [1], [32], ["big", "x", 0]), M=3, UNUSED=5)
        numpy.testing.assert_array_equal(self.outputs(text, "x"), numpy.full(32, 7))

    def test_N7_wrong_arguments_are_refused_before_anything_runs(self):
        cases = [
            (["a", "b"], ("copy(float const* a, float* b, int n) takes 3 arguments", "2 are given")),
            (["a", "b", "N", 1], ("3 arguments", "4 are given")),
            (["a", "b", "b"], ("argument 2 of copy", "buffer b", "int")),
            (["a", 7, "N"], ("argument 1 of copy", "7", "float*")),
            (["a", "b", 1.5], ("argument 2 of copy", "1.5", "(the parameter is int n)")),
            (["a", "b", {"i64": 1}], ("argument 2 of copy", "i64 of 8 bytes", "int")),
            (["a", "b", {"f32": 1.0}], ("argument 2 of copy", "f32", "int")),
            (["a", "b", "N * 100000000"], ("argument 2 of copy", "12800000000")),
            (["a", "b", {"bytes": "0000000000"}], ("argument 2 of copy", "5 bytes", "4")),
        ]
        fill = '[[steps]]\nfill = { buffer = "b", value = 1 }\n'
        for args, parts in cases:
            with self.subTest(args):
                text = program(A_AND_B, kernel("copy", text=COPY.replace('extern "C" ', "")), fill,
                               launch("copy", [1], [128], args), N=128)
                result = self.run_program(text, "--json", status=2, parts=("p.toml:", *parts))
                self.assertEqual(result.json()["steps"], [], "nothing ran")

    def test_N8_entries_by_what_they_are_called_in_the_source(self):
        source = """
            namespace outer { namespace inner {
            template <typename T, int K> __global__ void scale(T* x) { x[threadIdx.x] = T(K); }
            } }
            template <typename T> struct Box { T value; };
            template <typename T> __global__ void unbox(int* x, Box<T> box) { x[threadIdx.x] = int(box.value); }
            __global__ void overloaded(int* x, int) { x[threadIdx.x] = 1; }
            __global__ void overloaded(int* x, float) { x[threadIdx.x] = 2; }
            static __global__ void hidden(int* x) { x[threadIdx.x] = 3; }
        """
        for entry, args, want in (("outer::inner::scale<int, 5>", ["x"], 5),
                                  ("outer::inner::scale<int, (1 > 0) ? 6 : 7>", ["x"], 6),
                                  ("unbox<short>", ["x", {"bytes": "0900"}], 9),
                                  ("unbox<Box<int>::value_type>", None, None),
                                  ("(void (*)(int*, float))overloaded", ["x", 0.0], 2),
                                  ("hidden", ["x"], 3)):
            with self.subTest(entry):
                text = program(X, kernel("k", text=source, entry=entry), launch("k", [1], [32], args or []))
                if want is None:
                    self.run_program(text, status=2, parts=("value_type",))
                else:
                    numpy.testing.assert_array_equal(self.outputs(text, "x"), numpy.full(32, want))
        text = program(X, kernel("k", text=source, entry="overloaded"), launch("k", [1], [32], ["x", 0]))
        self.run_program(text, status=2, parts=("overloaded",))

    def test_N9_what_no_regular_expression_reads(self):
        """The compiler says which kernels there are, and what bounds they have."""
        source = r"""
            // __global__ void commented_out(int* x) {}
            /* extern "C" __global__ void also(int* x) {} */
            #if 0
            __global__ void never(int* x) {}
            #endif
            const char* text = "__global__ void in_a_string(int* x)";
            #define LIMIT(n) (((n) * 2) / (2))
            __global__ __launch_bounds__(LIMIT((64))) void before_void(int* x) { x[threadIdx.x] = 1; }
            void __global__ turned(int* x) { x[threadIdx.x] = 2; }
            __global__ void __cluster_dims__(2, 1, 1) clustered(int* x) { x[threadIdx.x] = 3; }
            #define MAKE(name, value) extern "C" __global__ void made_##name(int* x) { x[threadIdx.x] = value; }
            MAKE(here, 4)
        """
        for entry, grid, block, want in (("before_void", 1, 64, 1), ("turned", 1, 32, 2),
                                         ("clustered", 2, 32, 3), ("made_here", 1, 32, 4)):
            with self.subTest(entry):
                text = program(buffer("x", "i32", [64], "inout", "zeros"), kernel("k", text=source, entry=entry),
                               launch("k", [grid], [block], ["x"]))
                self.assertEqual(self.outputs(text, "x")[0], want)
        for entry in ("commented_out", "also", "never", "in_a_string", "made_", "MAKE"):
            with self.subTest(entry):
                text = program(X, kernel("k", text=source, entry=entry), launch("k", [1], [32], ["x"]))
                self.run_program(text, status=2, parts=(entry,))
        beyond = program(X, kernel("k", text=source, entry="before_void"), launch("k", [1], [65], ["x"]))
        self.run_program(beyond, status=2, parts=("65", "64"))
        odd = program(X, kernel("k", text=source, entry="clustered"), launch("k", [3], [32], ["x"]))
        self.run_program(odd, status=2, parts=("3", "2"))

    def test_N10_dynamic_shared_memory(self):
        source = """
            extern "C" __global__ void last(int* x, int words) {
              extern __shared__ int memory[];
              __shared__ int fixed[512];
              fixed[threadIdx.x] = 1;
              memory[words - 32 + threadIdx.x] = threadIdx.x;
              __syncthreads();
              x[threadIdx.x] = memory[words - 1 - threadIdx.x] + fixed[31 - threadIdx.x];
            }"""
        text = program(X, kernel("last", text=source),
                       launch("last", [1], [32], ["x", "S / 4"], shared="S"), S=1024)
        # Below, at and above 48 KiB with and without the kernel's own 2 KiB, and all there is.
        for size in (1024, 46 * 1024, 46 * 1024 + 4, 47 * 1024, 48 * 1024, 48 * 1024 + 4, 225 * 1024):
            with self.subTest(size):
                x = self.outputs(text, "x", options=("--set", f"S={size}"))
                numpy.testing.assert_array_equal(x, 32 - numpy.arange(32))
        self.run_program(text, "--set", f"S={225 * 1024 + 4}", status=2, parts=("shared memory", "230404", "230400"))
        # More, then less, then more again.
        many = program(X, kernel("last", text=source), *[
            launch("last", [1], [32], ["x", size // 4], shared=size) for size in (1024, 65536, 131072, 1024, 65536)])
        numpy.testing.assert_array_equal(self.outputs(many, "x"), 32 - numpy.arange(32))

    def test_N11_overlap_is_said_edge_by_edge(self):
        source = """
            extern "C" __global__ void add(int* x, int value) {
              cudaGridDependencySynchronize();
              x[threadIdx.x] += value;
              cudaTriggerProgrammaticLaunchCompletion();
            }"""
        modes = (None, "on", "off", "on", "auto")
        text = program(X, kernel("add", text=source), *[
            launch("add", [1], [32], ["x", 1], pdl=mode) for mode in modes])
        self.assertEqual(self.outputs(text, "x")[0], len(modes))

        def decisions(*options, **environment):
            self.write("p.toml", text)
            result = self.baton("run", "p.toml", "--json", *options, **environment)
            self.check(result, 0)
            return [edge["decision"][0] for edge in result.json()["edges"]]
        self.assertEqual(decisions(), ["p", "f", "p", "p"])
        self.assertEqual(decisions("--pdl", "on"), ["p", "f", "p", "p"])
        self.assertEqual(decisions("--pdl", "off"), ["p", "f", "p", "f"])
        self.assertEqual(decisions("--pdl", "on", BATON_PDL="off"), ["f", "f", "f", "f"])

    def test_N13_clusters_beyond_the_portable_size(self):
        source = 'extern "C" __global__ void k(int* x) { x[threadIdx.x] = 1; }'

        def clusters(grid, cluster, *options):
            self.write("p.toml", program(X, kernel("k", text=source),
                                         launch("k", [grid], [32], ["x"], cluster=[cluster])))
            return self.baton("run", "p.toml", *options)
        self.check(clusters(32, 16), 0)  # the opt-in is raised where it is needed
        self.check(clusters(32, 3), 2, "32", "3", "divisible")
        self.check(clusters(64, 32), 2, "32", "16")

    def test_N14_a_header_beside_the_source(self):
        self.write("deep/value.h", "#pragma once\n#include \"more/inner.h\"\n")
        inner = self.write("deep/more/inner.h", "#define VALUE 1\n")
        self.write("deep/k.cu", '#include "value.h"\nextern "C" __global__ void k(int* x) { x[threadIdx.x] = VALUE; }')
        self.write("there/other.h", "#define OTHER 10\n")
        text = program(X, kernel("k", source="deep/k.cu"), launch("k", [1], [32], ["x"]))
        self.assertEqual(self.outputs(text, "x")[0], 1)
        inner.write_text("#define VALUE 2\n")
        self.assertEqual(self.outputs(text, "x")[0], 2, "the cache knows what was included")
        inner.write_text("#include <other.h>\n#define VALUE OTHER\n")
        text = text.replace('source = "deep/k.cu"', 'source = "deep/k.cu"\ninclude = ["there"]')
        self.assertEqual(self.outputs(text, "x")[0], 10)

    def test_N15_nothing_to_do(self):
        self.run_program('name = "empty"\n', status=2, parts=("p.toml", "steps"))
        self.run_program('name = "empty"\nsteps = []\n', status=2, parts=("p.toml", "steps"))
        source = '__device__ int counter;\nextern "C" __global__ void k() { counter = 1; }'
        self.run_program(program(kernel("k", text=source), launch("k", [2], [64], [])))
        self.run_program(program(kernel("k", text=source), launch("k", [2], [64], None)))
        self.run_program(program(kernel("k", text=source), launch("k", [2], [64], [1])), status=2,
                         parts=("0 arguments", "1 is given"))

    def test_N18_an_empty_grid(self):
        result = self.run_program(copy_program(text=COPY), "--set", "N=0", "--json")
        self.assertEqual([result.json()["steps"][0][k] for k in ("executions", "skipped")], [1, 1])
        self.run_program(copy_program(text=COPY).replace('"ceildiv(N, 128)"', "0"), status=2, parts=("grid", "0"))
        self.run_program(copy_program(text=COPY).replace('"ceildiv(N, 128)"', '"N - 129"'), status=2, parts=("-1",))
        for empty in (["N", 3], [3, "N"], [1, 1, "N"]):
            with self.subTest(empty):
                text = program(X, kernel("add", text=ADD, entry="add"), launch("add", empty, [32], ["x", 1]), N=0)
                numpy.testing.assert_array_equal(self.outputs(text, "x"), numpy.zeros(32))

    def test_N20_a_thousand_entries(self):
        count = 1000
        self.write("many.cu", "".join(f'extern "C" __global__ void k{i}(int* x) {{ x[0] += {i}; }}\n'
                                      for i in range(count)))
        self.check(self.baton("compile", "many.cu", "-o", "many.ptx"), 0)
        text = program(X, *[kernel(f"k{i}", ptx="many.ptx", entry=f"k{i}") for i in range(count)],
                       *[launch(f"k{i}", [1], [1], ["x"]) for i in range(count)])
        self.assertEqual(self.outputs(text, "x")[0], sum(range(count)))
        self.run_program(text.replace('entry = "k999"', 'entry = "k1000"'), status=2, parts=("k1000",))


if __name__ == "__main__":
    main()
