#!/usr/bin/env python3
"""Every item of a program file and of `run` can be wrong, and each wrong one gives its exit status
and one clear error. A case changes one thing of a program that is right."""

import io

import numpy

from baton import ON_GPU, Case, main

SOURCE = """\
extern "C" __global__ void scale(const float* x, float* y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i];
}
extern "C" __global__ void twice(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] *= 2.0f;
}
"""

PROGRAM = """\
name = "bad"

[symbols]
N = 100

[buffers.x]
dtype = "f32"
shape = ["N"]
role = "input"
init = "random"

[buffers.y]
dtype = "f32"
shape = ["N"]
role = "output"

[buffers.w]
dtype = "f32"
shape = ["N"]
role = "weight"
init = "ones"

[buffers.h]
dtype = "f16"
shape = ["N"]
role = "scratch"

[kernels.scale]
source = "k.cu"
entry = "scale"

[[steps]]
fill = { buffer = "h", value = 0 }

[[steps]]
launch = "scale"
grid = ["ceildiv(N, 64)"]
block = [64]
args = ["x", "y", 2.0, "N"]

[[steps]]
copy = { from = "x", to = "y", count = 10 }
"""

# What commands say of it: only some of the cases use w.
UNUSED = "warning: p.toml:17:10: the buffer w is never used; remove it\n"

# (name, text to replace, its replacement, parts of the error). All of them are known before
# anything runs: status 2.
PROGRAM_CASES = [
    ("unknown top-level key", 'name = "bad"', 'nmae = "bad"', ["nmae", "name"]),
    ("unknown buffer key", 'shape = ["N"]\nrole = "input"', 'shpae = ["N"]\nrole = "input"', ["shpae", "shape"]),
    ("unknown kernel key", 'entry = "scale"', 'entyr = "scale"', ["entyr", "entry"]),
    ("unknown step key", "block = [64]", "blokc = [64]", ["blokc", "block"]),
    ("unknown dtype", 'dtype = "f16"', 'dtype = "f17"', ["f17", "f16"]),
    ("unknown role", 'role = "output"', 'role = "ouput"', ["ouput", "output"]),
    ("unknown init", 'init = "ones"', 'init = "one"', ["one", "ones"]),
    ("init and file", 'init = "ones"', 'init = "ones"\nfile = "w.npy"', ["init", "file"]),
    ("unknown symbol in a shape", 'shape = ["N"]\nrole = "output"', 'shape = ["M"]\nrole = "output"', ["M"]),
    ("unknown symbol in a grid", "ceildiv(N, 64)", "ceildiv(n, 64)", ["n", "N"]),
    ("unknown buffer in an argument", '"x", "y", 2.0', '"xx", "y", 2.0', ["xx"]),
    ("unknown buffer in a copy", 'from = "x"', 'from = "z"', ["z"]),
    ("unknown buffer in a fill", 'buffer = "h"', 'buffer = "hh"', ["hh"]),
    ("unknown kernel", 'launch = "scale"', 'launch = "scael"', ["scael", "scale"]),
    ("unknown entry", 'entry = "scale"', 'entry = "scaled"', ["scaled", "scale"]),
    ("entry left out where no kernel has the name", 'entry = "scale"',
     'entry = "scale"\n\n[kernels.other]\nsource = "k.cu"', ["scale", "twice"]),
    ("missing source", 'source = "k.cu"', 'source = "no.cu"', ["no.cu"]),
    ("two images", 'source = "k.cu"', 'source = "k.cu"\nptx = "k.ptx"', ["source", "ptx"]),
    ("name of a buffer and a symbol", "N = 100", "N = 100\nx = 1", ["x"]),
    ("symbol that is no integer", "N = 100", "N = 1.5", ["N"]),
    ("expression syntax", "ceildiv(N, 64)", "ceildiv(N, 64", [")"]),
    ("expression with a stray sign", "ceildiv(N, 64)", "N / / 64", ["/"]),
    ("unknown function", "ceildiv(N, 64)", "ceildv(N, 64)", ["ceildv", "ceildiv"]),
    ("division by zero", "ceildiv(N, 64)", "N / (N - 100)", ["zero", "100"]),
    ("overflow", "ceildiv(N, 64)", "N * 9223372036854775807", ["64 bits", "100"]),
    ("overflow of a shape", 'shape = ["N"]\nrole = "scratch"', 'shape = ["N", 4000000000000000000]\nrole = "scratch"', ["4000000000000000000"]),
    ("negative extent of a shape", 'shape = ["N"]\nrole = "scratch"', 'shape = ["N - 101"]\nrole = "scratch"', ["-1"]),
    ("negative grid", "ceildiv(N, 64)", "N - 101", ["-1"]),
    ("grid of a literal zero", 'grid = ["ceildiv(N, 64)"]', "grid = [0]", ["0"]),
    ("zero block", "block = [64]", 'block = ["N - 100"]', ["0"]),
    ("four grid dimensions", 'grid = ["ceildiv(N, 64)"]', "grid = [1, 1, 1, 1]", ["4"]),
    ("four block dimensions", "block = [64]", "block = [1, 1, 1, 64]", ["4"]),
    ("empty grid", 'grid = ["ceildiv(N, 64)"]', "grid = []", ["grid"]),
    ("block beyond the limit", "block = [64]", "block = [2048]", ["2048", "1024"]),
    ("block axis beyond the limit", "block = [64]", "block = [1, 1, 128]", ["128", "64"]),
    ("grid axis beyond the limit", 'grid = ["ceildiv(N, 64)"]', "grid = [1, 65536]", ["65536", "65535"]),
    ("shared memory beyond the limit", "block = [64]", "block = [64]\nshared = 300000", ["300000", "232448"]),
    ("negative shared memory", "block = [64]", "block = [64]\nshared = -1", ["-1"]),
    ("block left out", "block = [64]\n", "", ["block"]),
    ("too few arguments", '["x", "y", 2.0, "N"]', '["x", "y", 2.0]', ["4", "3"]),
    ("too many arguments", '["x", "y", 2.0, "N"]', '["x", "y", 2.0, "N", 1]', ["4", "5"]),
    ("number for a pointer", '"x", "y", 2.0', '7, "y", 2.0', ["7", "pointer"]),
    ("buffer for a number", '"x", "y", 2.0', '"x", "y", "w"', ["w"]),
    ("fraction for an integer", '2.0, "N"]', "2.0, 1.5]", ["1.5"]),
    ("integer that does not fit", '2.0, "N"]', '2.0, "N * 100000000"]', ["10000000000"]),
    ("integer that no float holds", '2.0, "N"]', '16777217, "N"]', ["16777217"]),
    ("offset outside the buffer", '"x", "y", 2.0', '"x + N + 1", "y", 2.0', ["101", "100"]),
    ("negative offset", '"x", "y", 2.0', '"x - 1", "y", 2.0', ["x"]),
    ("buffer in an expression", '2.0, "N"]', '2.0, "N + x"]', ["x"]),
    ("bytes that are no hex", "2.0", '{ bytes = "0g" }', ["0g"]),
    ("unknown typed value", "2.0", "{ f31 = 2.0 }", ["f31"]),
    ("copy between dtypes", 'from = "x"', 'from = "h"', ["f16", "f32"]),
    ("copy beyond the buffer", "count = 10", "count = 101", ["101", "100"]),
    ("copy of unequal sizes", 'to = "y", count = 10', 'to = "y + 1"', ["100", "99"]),
    ("weight written by a copy", 'to = "y"', 'to = "w"', ["w", "weight"]),
    ("weight written by a fill", 'buffer = "h"', 'buffer = "w"', ["w", "weight"]),
    ("fill that the dtype cannot hold", "value = 0 }", "value = 0.1 }", ["0.1", "f16"]),
    ("unknown attribute", "block = [64]", "block = [64]\ncooperativ = true", ["cooperativ", "cooperative"]),
    ("cluster that does not divide the grid", "block = [64]", "block = [64]\ncluster = [3]", ["3", "divisible"]),
    ("cluster of no blocks", "block = [64]", "block = [64]\ncluster = [0]", ["cluster.x", "0"]),
    ("cooperative grid beyond the device", 'grid = ["ceildiv(N, 64)"]',
     "grid = [1000000]\ncooperative = true", ["1000000", "largest grid"]),
    ("flag as a number", "block = [64]", "block = [64]\ncooperative = 1", ["cooperative", "true or false"]),
    ("event without a name", "block = [64]", "block = [64]\nprogrammatic_event = {}", ["programmatic_event"]),
    ("event outside of branches", "block = [64]", 'block = [64]\nprogrammatic_event = "e"', ["branch"]),
    ("attribute of streams", "block = [64]", 'block = [64]\nsynchronization_policy = "spin"', ["streams"]),
    ("edge by the attribute's name", "block = [64]",
     "block = [64]\nprogrammatic_stream_serialization = true", ["pdl ="]),
    ("edge after no launch", "block = [64]", 'block = [64]\npdl = "on"', ["pdl", "wait"]),
    ("wrong type", "block = [64]", 'block = "64 threads"', ["block"]),
    ("no TOML", "[symbols]", "[symbols", []),
    ("key twice", "N = 100", "N = 100\nN = 101", ["N"]),
    ("two actions in one step", "block = [64]", 'block = [64]\nfill = { buffer = "h", value = 0 }', ["fill", "launch"]),
    ("negative repeat", 'copy = { from = "x", to = "y", count = 10 }',
     'repeat = "N - 101"\nsteps = [ { fill = { buffer = "h", value = 0 } } ]', ["-1"]),
    ("negative sum as an offset", '"x", "y", 2.0', '"x + N - 101", "y", 2.0', ["-1"]),
]


def places(old, new):
    """The lines that an error about the replacement may name: its own, or the head of its table."""
    before = PROGRAM[: PROGRAM.index(old)].split("\n")
    head = max((i for i, line in enumerate(before, 1) if line.startswith("[")), default=1)
    return range(head, len(before) + new.count("\n") + 1)


def npy(array, cut=None):
    stream = io.BytesIO()
    numpy.save(stream, array)
    return stream.getvalue()[:cut]


F32 = numpy.arange(100, dtype=numpy.float32)


class BadProgram(Case):
    def setUp(self):
        super().setUp()
        self.write("k.cu", SOURCE)

    def test_the_program_itself_is_right(self):
        self.write("p.toml", PROGRAM)
        self.check(self.baton("run", "p.toml"), 0)

    def test_one_wrong_thing_each(self):
        for name, old, new, parts in PROGRAM_CASES:
            with self.subTest(name):
                self.assertEqual(PROGRAM.count(old), 1, f"{old!r} must name one place")
                self.write("p.toml", PROGRAM.replace(old, new))
                lines = places(old, new)
                result = self.baton("run", "p.toml")
                self.check(result, 2, *parts)
                # The warning about what nothing uses comes after the error.
                self.assertTrue(result.err.startswith("error: "), result)
                self.assertTrue(any(f"p.toml:{line}:" in result.first_error for line in lines),
                                f"expected a place on the lines {list(lines)}: {result}")

    def test_cuda_syntax_error(self):
        self.write("p.toml", PROGRAM)
        self.write("k.cu", SOURCE.replace("y[i] *= 2.0f;", "y[i] *= ;"))
        result = self.baton("run", "p.toml")
        self.check(result, 2, "k.cu:7:")
        self.assertIn("y[i] *= ;", result.err, "the source line is shown")

    def test_missing_and_unreadable_programs(self):
        self.check(self.baton("run", "no.toml"), 2, "no.toml")
        self.check(self.baton("run", self.folder), 2, str(self.folder))
        self.write("empty.toml", "")
        self.check(self.baton("run", "empty.toml"), 2, "empty.toml")
        self.write("binary.toml", bytes(range(256)))
        self.check(self.baton("run", "binary.toml"), 2, "binary.toml")


class BadOptions(Case):
    def setUp(self):
        super().setUp()
        self.write("k.cu", SOURCE)
        self.write("p.toml", PROGRAM)

    def run_with(self, *options):
        return self.baton("run", "p.toml", *options)

    def test_a_file_of_a_similar_name_is_suggested(self):
        self.write("saxpy.toml", "")
        self.write("saxpy.cu", "")
        for command in ("run", "check", "bench", "tune", "inspect"):
            result = self.baton(command, "saxp.toml")
            self.check(result, 2, 'did you mean "saxpy.toml"?')
        for command in ("init", "compile"):
            self.check(self.baton(command, "saxpi.cu"), 2, 'did you mean "saxpy.cu"?')
        self.check(self.baton("run", "saxpy"), 2, 'did you mean "saxpy.cu" or "saxpy.toml"?')

    def test_symbols(self):
        self.check(self.run_with("--set", "M=1"), 2, "M", "N")
        self.check(self.run_with("--set", "N=1k"), 2, "1k")
        self.check(self.run_with("--set", "N=-1"), 2, "-1")
        self.save("x.npy", F32[:50])
        self.check(self.run_with("--set", "N=100", "--input", "x=x.npy"), 2, "100", "50")
        self.save("w.npy", F32[:60])
        self.check(self.run_with("--input", "x=x.npy", "--input", "w=w.npy"), 2, "50", "60")

    def test_names(self):
        self.save("x.npy", F32)
        self.check(self.run_with("--input", "xx=x.npy"), 2, "xx")
        self.check(self.run_with("--input", "y=x.npy"), 2, "y", "output")
        self.check(self.run_with("--output", "x=o.npy"), 0)
        self.check(self.run_with("--output", "yy=o.npy"), 2, "yy")
        self.check(self.run_with("--expect", "hh=x.npy"), 2, "hh", "did you mean \"h\"?")
        self.check(self.run_with("--output", "y=no/folder/o.npy"), 2, "no/folder")
        self.check(self.run_with("--device", "smi"), 2, "smi", "sim")
        self.check(self.run_with("--device", "sim:h300"), 2, "h300")

    def test_folders_in_place_of_files_are_refused_before_the_run(self):
        for folder in ("d", "d.html"):
            (self.folder / folder).mkdir()
        for option, value in (("--output", "y=d"), ("--trace", "d"), ("--html", "d.html"), ("--sarif", "d"),
                              ("--junit", "d")):
            with self.subTest(option):
                result = self.run_with(option, value)
                folder = value.removeprefix("y=")
                self.check(result, 2, f"{option} {value}: {folder} is a folder; name a file")
                self.assertNotIn("scale", result.out)
        self.check(self.baton("bench", "p.toml", "--plot", "d"), 2, "--plot d")

    def test_arrays(self):
        self.check(self.run_with("--input", "x=no.npy"), 2, "no.npy")
        self.save("x64.npy", F32.astype(numpy.float64))
        self.check(self.run_with("--input", "x=x64.npy"), 2, "x64.npy", "<f8", "f32")
        self.save("x2.npy", F32.reshape(10, 10))
        self.check(self.run_with("--input", "x=x2.npy"), 2, "x", "[10, 10]")
        self.save("e.npy", F32[:99])
        self.check(self.run_with("--expect", "y=e.npy"), 2, "y", "[99]", "[100]")
        self.save("i.npy", F32.astype(numpy.int32))
        self.check(self.run_with("--expect", "y=i.npy"), 2, "i.npy", "<i4", "f32")

    def test_hostile_arrays(self):
        whole = npy(F32)
        hostile = {
            "empty": b"",
            "magic": b"NUMPY" + whole[5:],
            "header cut": whole[:40],
            "data cut": whole[:-1],
            "data too long": whole + b"x",
            "huge shape": whole.replace(b"(100,), }  ", b"(1<<60,), }"),
            "overflowing shape": whole.replace(b"(100,), }" + b" " * 40, b"(9223372036854775807, 9223372036854775807,), }   "),
            "negative shape": whole.replace(b"(100,)", b"(-10,)"),
            "object": whole.replace(b"<f4", b"|O8"),
            "header length": whole[:8] + b"\xff\xff" + whole[10:],
        }
        for name, content in hostile.items():
            with self.subTest(name):
                self.write("x.npy", content)
                self.check(self.run_with("--input", "x=x.npy"), 2, "x.npy")

    def test_registers_of_the_machine_code(self):
        """A block that has too many of them, by what the assembler gave each thread."""
        lines = ["float v[200];", "for (int k = 0; k < 200; k++) v[k] = x[k * 7 + i];",
                 "for (int k = 0; k < 200; k++) y[k + i] = v[k] * v[(k * 13) % 200];"]
        body = "\n#pragma unroll\n".join(lines)
        self.write("k.cu", SOURCE.replace("if (i < n) y[i] = a * x[i];", body))
        program = PROGRAM.replace("block = [64]", "block = [1024]")
        self.assertIn("block = [1024]", program)
        self.write("p.toml", program)
        self.check(self.baton("run", "p.toml"), 2, "scale", "1024 threads", "registers", "65536")

    def test_missing_devices(self):
        result = self.run_with("--device", "cuda:99")
        self.check(result, 3)


class WrongResults(Case):
    """The program or a kernel is wrong: status 1."""

    def test_mismatch_names_the_worst_element(self):
        self.write("k.cu", SOURCE)
        self.write("p.toml", PROGRAM.replace('init = "random"', 'init = "arange"').split("[[steps]]\ncopy")[0])
        expected = 2 * F32
        self.save("y.npy", expected)
        self.check(self.baton("run", "p.toml", "--expect", "y=y.npy"), 0)
        expected[17] += 3
        expected[40] += 1
        self.save("y.npy", expected)
        result = self.baton("run", "p.toml", "--expect", "y=y.npy", "--json")
        self.check(result, 1, "y", "[17]", "34", "37", "2 of 100")
        output = result.json()["outputs"][0]
        self.assertEqual(output["worst"]["index"], [17])
        self.assertEqual((output["worst"]["got"], output["worst"]["want"]), (34.0, 37.0))
        self.assertEqual(result.json()["error"]["code"], "mismatch")
        self.check(self.baton("run", "p.toml", "--expect", "y=y.npy", "--atol", "3"), 0)
        self.check(self.baton("run", "p.toml", "--expect", "y=y.npy", "--rtol", "0.1"), 0)

    def test_nan_only_where_nan_is_wanted(self):
        self.write("k.cu", SOURCE)
        self.write("p.toml", PROGRAM.split("[[steps]]\ncopy")[0])
        x = F32.copy()
        x[5] = numpy.nan
        self.save("x.npy", x)
        self.save("y.npy", 2 * F32)
        result = self.baton("run", "p.toml", "--input", "x=x.npy", "--expect", "y=y.npy", "--json")
        self.check(result, 1, "[5]", "nan")
        self.assertEqual(result.json()["outputs"][0]["worst"]["got"], "nan")
        self.save("y.npy", 2 * x)
        self.check(self.baton("run", "p.toml", "--input", "x=x.npy", "--expect", "y=y.npy"), 0)

    def test_out_of_bounds(self):
        self.write("k.cu", SOURCE.replace("if (i < n) y[i] = a", "y[i] = a"))
        self.write("p.toml", PROGRAM)
        result = self.baton("run", "p.toml", "--device", "sim", "--json")
        self.check(result, 1)
        finding = result.json()["findings"][0]
        self.assertEqual(finding["kernel"], "scale")
        self.assertIn("out_of_bounds", finding["kind"])
        self.assertIn("k.cu:3", finding["where"])
        self.assertIn("y", finding["message"])
        self.assertRegex(finding["launch"], r"^launch 0 \(scale\), at p\.toml:\d+")
        error = result.json()["error"]
        self.assertTrue(error["what"].startswith(finding["launch"] + ": kernel scale, block ("), error)
        self.assertEqual(error["notes"], ["baton explain out_of_bounds says what helps"])
        texts = [self.baton("run", "p.toml", "--device", "sim", "--executor", executor).err
                 for executor in ("stream", "graph", "stream")]
        self.assertEqual(len(set(texts)), 1, "the same every time")
        self.assertNotIn("not known to have completed", texts[0])

    def test_kernel_writes_weight(self):
        self.write("k.cu", SOURCE)
        self.write("p.toml", PROGRAM.replace('args = ["x", "y"', 'args = ["x", "w"'))
        result = self.baton("run", "p.toml", "--device", "sim", "--json")
        self.check(result, 1)
        finding = result.json()["findings"][0]
        self.assertEqual(finding["kind"], "weight_written")
        self.assertEqual(finding["kernel"], "scale")
        self.assertEqual(finding["count"], 100)
        self.assertIn("k.cu:3", finding["where"])
        self.assertIn("buffer w", finding["message"])

    def test_trap(self):
        self.write("k.cu", SOURCE.replace("if (i < n) y[i] = a * x[i];", "if (i == 70) __trap();"))
        self.write("p.toml", PROGRAM)
        result = self.baton("run", "p.toml", "--json")
        self.check(result, 1, "scale")
        self.assertEqual(result.json()["error"]["code"], "fault")
        # What did not come to its end is said, and nothing is said of the cleaning up.
        result = self.baton("run", "p.toml", "--verbose")
        self.assertRegex(result.out, r"scale +perhaps unfinished")
        self.assertNotIn("warning", result.err.replace(UNUSED, ""))

    def test_names_are_those_of_the_source(self):
        source = SOURCE.replace('extern "C" __global__ void scale', "template <int N> __global__ void scale")
        self.write("k.cu", source.replace("if (i < n) y[i] = a * x[i];", "if (i == 70) __trap();"))
        self.write("p.toml", PROGRAM.replace('entry = "scale"', 'entry = "scale<3>"'))
        result = self.baton("run", "p.toml", "--json")
        self.check(result, 1, "scale<3>")
        self.assertIn("scale<3>", result.json()["error"]["what"])
        self.assertNotIn("_Z", result.err + result.json()["error"]["what"])

    def test_an_instruction_that_the_simulated_gpu_lacks(self):
        lacking = 'asm volatile("vadd.u32.u32.u32 %0, %0, %0;" : "+r"(n));'
        self.write("k.cu", SOURCE.replace("if (i < n) y[i] = a * x[i];", lacking))
        self.write("p.toml", PROGRAM)
        result = self.baton("run", "p.toml", "--device", "sim")
        self.check(result, 3, "vadd", "k.cu:3:", "PTX line")
        self.assertNotIn("warning", result.err.replace(UNUSED, ""), "that releases fail after it is no news")

    def test_timeout(self):
        loop = "volatile float* v = y; while (true) v[0] = v[0] + 1;"
        self.write("k.cu", SOURCE.replace("if (i < n) y[i] = a * x[i];", loop))
        self.write("p.toml", PROGRAM)
        result = self.baton("run", "p.toml", "--timeout", "0.5", timeout=120)
        self.check(result, 1, "500 ms")
        self.assertIn("the first step not known to have completed: scale (launch 0), at p.toml:", result.err)
        if not ON_GPU:
            self.assertIn("k.cu:3", result.err, "where the warps stand")


if __name__ == "__main__":
    main()
