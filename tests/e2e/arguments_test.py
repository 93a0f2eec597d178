#!/usr/bin/env python3
"""Arguments of launches: what type a number takes, what is written out, what is refused. First of all
N6 of the acceptance list: every kind of plain parameter."""

import struct

import numpy

from baton import Case, buffer, kernel, launch, main, program

# C++ type, dtype, values that it holds, values that it does not.
TYPES = [
    ("signed char", "i8", [-128, 127], [-129, 128]),
    ("unsigned char", "u8", [0, 255], [-1, 256]),
    ("short", "i16", [-32768, 32767], [-32769, 32768]),
    ("unsigned short", "u16", [0, 65535], [-1, 65536]),
    ("int", "i32", [-2**31, 2**31 - 1], [-2**31 - 1, 2**31]),
    ("unsigned", "u32", [0, 2**32 - 1], [-1, 2**32]),
    ("long long", "i64", [-2**63, 2**63 - 1], []),
    ("unsigned long long", "u64", [0, 2**63 - 1], [-1]),
    ("bool", "bool", [False, True, 0, 1], [2, -1]),
    ("float", "f32", [0.1, -3, 2**24, 1e-40], [2**24 + 1, 1e39]),
    ("double", "f64", [0.1, -3, 2**53, 1e300], [2**53 + 1]),
    ("__half", "f16", [0.1, -3, 65504.0, 6e-8], [2049, 1e6]),
    ("__nv_bfloat16", "bf16", [0.1, -3, 1e38], [257]),
]
NUMPY = {"i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2", "i32": "i4", "u32": "u4", "i64": "i8",
         "u64": "u8", "bool": "?", "f32": "f4", "f64": "f8", "f16": "f2"}
HEADERS = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


def stored(dtype, value):
    """The bytes of a value as the dtype holds it."""
    if dtype != "bf16":
        return numpy.array([value], dtype=NUMPY[dtype]).tobytes()
    bits = struct.unpack("<I", struct.pack("<f", value))[0]  # the values above are exact enough to cut
    return struct.pack("<H", (bits + 0x7fff + ((bits >> 16) & 1)) >> 16)


class Arguments(Case):
    def run_program(self, text, *options, status=0, parts=()):
        self.write("p.toml", text)
        result = self.baton("run", "p.toml", *options)
        self.check(result, status, *parts)
        return result

    def bytes_after(self, text, *names):
        saved = [part for name in names for part in ("--output", f"{name}={name}.npy")]
        self.run_program(text, *saved)
        return [numpy.load(self.folder / f"{name}.npy").tobytes() for name in names]

    def test_N6_every_scalar_by_its_demangled_name(self):
        source = HEADERS + "".join(
            f"__global__ void store_{dtype}({ctype}* out, {ctype} value, int at) {{ out[at] = value; }}\n"
            for ctype, dtype, _, _ in TYPES)
        parts, names, want = [], [], []
        for _, dtype, good, _ in TYPES:
            parts += [buffer(f"out_{dtype}", dtype, [len(good)], "output"),
                      kernel(f"store_{dtype}", text=source, entry=f"store_{dtype}")]
            names.append(f"out_{dtype}")
            want.append(b"".join(stored(dtype, value) for value in good))
        parts += [launch(f"store_{dtype}", [1], [1], [f"out_{dtype}", value, at])
                  for _, dtype, good, _ in TYPES for at, value in enumerate(good)]
        for name, got, wanted in zip(names, self.bytes_after(program(*parts), *names), want):
            with self.subTest(name):
                self.assertEqual(got.hex(), wanted.hex())
        for _, dtype, _, bad in TYPES:
            for value in bad:
                with self.subTest(dtype, refused=value):
                    text = program(buffer("out", dtype, [1], "output"),
                                   kernel("k", text=source, entry=f"store_{dtype}"),
                                   launch("k", [1], [1], ["out", value, 0]))
                    self.run_program(text, status=2, parts=("argument 1 of k", "p.toml:"))

    def test_N6_scalars_by_use_in_ptx(self):
        """extern "C" takes the types out of the name: what is left is how PTX declares them."""
        source = """
            extern "C" __global__ void k(float* f, double* d, int* i, long long* l, float a, double b,
                                         int c, long long e, unsigned short unused) {
              *f = a; *d = b; *i = c; *l = e;
            }"""
        outs = [("f", "f32"), ("d", "f64"), ("i", "i32"), ("l", "i64")]

        def text(*values):
            return program(*[buffer(name, dtype, [1], "output") for name, dtype in outs], kernel("k", text=source),
                           launch("k", [1], [1], ["f", "d", "i", "l", *values]), K=16)
        got = self.bytes_after(text(0.5, 0.1, -7, "K * K", 3), *[name for name, _ in outs])
        self.assertEqual(got, [struct.pack("<" + c, v) for c, v in zip("fdiq", (0.5, 0.1, -7, 256))])
        got = self.bytes_after(text({"f32": "1/sqrt(K)"}, {"f64": "exp(K)"}, {"i32": "K"}, {"i64": -1}, 3),
                               *[name for name, _ in outs])
        self.assertEqual(got, [struct.pack("<f", 0.25), struct.pack("<d", numpy.exp(16.0)),
                               struct.pack("<i", 16), struct.pack("<q", -1)])
        # 32 bits of an unknown sign: what either reading holds.
        for value, want in ((-2**31, -2**31), (2**32 - 1, -1)):
            with self.subTest(value):
                self.assertEqual(self.bytes_after(text(0, 0, value, 0, 0), "i"), [struct.pack("<i", want)])
        for values, parts in (((0, 0, 2**32, 0, 0), ("argument 6", "4294967296")),
                              ((0, 0, -2**31 - 1, 0, 0), ("argument 6", "-2147483649")),
                              ((0, 0, 0.5, 0, 0), ("argument 6", "0.5")),
                              ((0, 0, 0, 0, 65536), ("argument 8", "65536")),
                              (({"f64": 0.5}, 0, 0, 0, 0), ("argument 4", "f64 of 8 bytes", "4")),
                              (({"i32": 1}, 0, 0, 0, 0), ("argument 4", "i32")),
                              (({"f32": "1/(K-16)"}, 0, 0, 0, 0), ("zero", "K = 16")),
                              (({"f32": "sqrt(0-K)"}, 0, 0, 0, 0), ("sqrt",)),
                              (({"f32": "M"}, 0, 0, 0, 0), ('"M"',)),
                              (({"f23": 1.0}, 0, 0, 0, 0), ("f23",))):
            with self.subTest(values):
                self.run_program(text(*values), status=2, parts=("p.toml:", *parts))

    def test_N6_what_the_image_cannot_tell_is_written_out(self):
        source = HEADERS + """
            extern "C" __global__ void k(__half* h, __nv_bfloat16* b, __half x, __nv_bfloat16 y) { *h = x; *b = y; }
        """
        def text(x, y):
            return program(buffer("h", "f16", [1], "output"), buffer("b", "bf16", [1], "output"),
                           kernel("k", text=source), launch("k", [1], [1], ["h", "b", x, y]), K=3)
        h, b = self.bytes_after(text({"f16": 1.5}, {"bf16": "K / 2"}), "h", "b")
        self.assertEqual((h, b), (stored("f16", 1.5), stored("bf16", 1.5)))
        h, b = self.bytes_after(text({"bytes": "003e"}, {"bytes": "c03f"}), "h", "b")
        self.assertEqual((h, b), (stored("f16", 1.5), stored("bf16", 1.5)))
        self.run_program(text(1.5, {"bf16": 1.0}), status=2, parts=("argument 2 of k", "1.5"))
        self.run_program(text({"f16": 1e6}, {"bf16": 1.0}), status=2, parts=("argument 2 of k", "f16"))

    def test_N6_structs_by_value(self):
        source = """
            struct Mixed { char c; double d; short s[3]; };        // 24 bytes, with holes
            struct alignas(16) Quad { int x, y, z, w; };           // 16 bytes, aligned
            struct Big { int values[300]; };                       // 1200 bytes
            __global__ void k(double* d, int* i, Mixed m, Quad q, const __grid_constant__ Big big) {
              d[0] = m.c + m.d + m.s[2];
              i[0] = q.x; i[1] = q.w; i[2] = big.values[299];
            }"""
        mixed = struct.pack("<bxxxxxxxdhhhxx", 3, 0.25, 7, 8, 9)
        quad = struct.pack("<iiii", 1, 2, 3, 4)
        big = struct.pack("<300i", *range(300))

        def text(*structs):
            return program(buffer("d", "f64", [1], "output"), buffer("i", "i32", [3], "output"),
                           kernel("k", text=source),
                           launch("k", [1], [1], ["d", "i", *({"bytes": s.hex()} for s in structs)]))
        d, i = self.bytes_after(text(mixed, quad, big), "d", "i")
        self.assertEqual(struct.unpack("<d", d), (12.25,))
        self.assertEqual(struct.unpack("<3i", i), (1, 4, 299))
        self.run_program(text(mixed[:-1], quad, big), status=2, parts=("argument 2 of k", "23 bytes", "24"))
        self.run_program(text(mixed, quad, big + b"\0\0\0\0"), status=2, parts=("argument 4 of k", "1204", "1200"))
        plain = text(mixed, quad, big).replace('{ bytes = "' + quad.hex() + '" }', "7")
        self.run_program(plain, status=2, parts=("argument 3 of k", "7", "bytes ="))

    def test_pointers(self):
        source = """
            struct Pair { int first, second; };
            __global__ void k(Pair* out, const int* in, void* any, unsigned long long word) {
              out->first = in[0]; out->second = in[1] + (any == nullptr ? 100 : 0) + int(word);
            }"""
        def text(*args):
            return program(buffer("out", "i32", [2], "output"), buffer("x", "i32", [4], "input", "arange"),
                           buffer("none", "u8", [0], "scratch"), kernel("k", text=source),
                           launch("k", [1], [1], args), K=2)
        self.assertEqual(self.bytes_after(text("out", "x + K", "x", 0), "out"), [struct.pack("<ii", 2, 3)])
        self.assertEqual(self.bytes_after(text("out", "x + K - 1", "x", 5), "out"), [struct.pack("<ii", 1, 7)])
        # No buffer at all is written as what it is.
        self.assertEqual(self.bytes_after(text("out", "x", {"u64": 0}, 0), "out"), [struct.pack("<ii", 0, 101)])
        for args, parts in ((("out", 0, "x", 0), ("argument 1 of k", "pointer")),
                            (("out", "K", "x", 0), ("argument 1 of k", "K", "pointer")),
                            (("out", "x", {"u64": 8}, 0), ("argument 2 of k", "pointer", "{ u64 = 0 }")),
                            (("out", "x", 0, 0), ("argument 2 of k", "pointer", "{ u64 = 0 }")),
                            (("out", "x", {"u64": "K - 2"}, 0), ("argument 2 of k", "pointer")),
                            (("out", "x", {"i64": 0}, 0), ("argument 2 of k", "pointer")),
                            (("out", "x", "x", "out"), ("argument 3 of k", "out")),
                            (("out", "x + 4", "x", 0), ("argument 1 of k", "x + 4", "4 elements")),
                            (("out", "x - K", "x", 0), ("x",)),
                            (("out", "K + x", "x", 0), ("x", "buffer"))):
            with self.subTest(args):
                self.run_program(text(*args), status=2, parts=("p.toml:", *parts))


if __name__ == "__main__":
    main()
