"""What the references of the examples share: Baton's `random` and a small command line.

`random` reproduces the generator of docs/program-file.md, so that a reference starts from the same
numbers as the program it checks, and computes everything else on its own.
"""

import argparse
import hashlib
import pathlib
import tomllib

import numpy

_INCREMENT = numpy.uint64(0x9E3779B97F4A7C15)
_FACTORS = (numpy.uint64(0xBF58476D1CE4E5B9), numpy.uint64(0x94D049BB133111EB))
_SHIFTS = (numpy.uint64(30), numpy.uint64(27), numpy.uint64(31))
_MASK32 = numpy.uint64(0xFFFFFFFF)


def _bits(name, count, seed):
    """64 random bits for each element: splitmix64 over a counter, keyed by seed and name."""
    digest = hashlib.sha256(f"{seed}:{name}".encode()).digest()
    key = numpy.uint64(int.from_bytes(digest[:8], "little"))
    z = numpy.arange(1, count + 1, dtype=numpy.uint64) * _INCREMENT + key
    for shift, factor in zip(_SHIFTS, _FACTORS):
        z ^= z >> shift
        z *= factor
    z ^= z >> _SHIFTS[2]
    return z


def random(name, shape, dtype, seed=0):
    """The array that a buffer of this name, shape and dtype holds with `init = "random"`."""
    dtype = numpy.dtype(dtype)
    z = _bits(name, int(numpy.prod(shape)), seed)
    if dtype.kind == "f":
        values = (z >> numpy.uint64(11)).astype(numpy.float64) * 2.0**-53 * 2.0 - 1.0
    else:
        # The high 64 bits of z * 100, from two 32-bit halves.
        low = (z & _MASK32) * numpy.uint64(100) >> numpy.uint64(32)
        values = (z >> numpy.uint64(32)) * numpy.uint64(100) + low >> numpy.uint64(32)
    return values.astype(dtype).reshape(shape)


def main(program, reference):
    """Writes NAME.npy into --out for every array of reference(symbols, seed).

    `program` is the program file, whose [symbols] are the defaults of --set.
    """
    parser = argparse.ArgumentParser(description="Writes what the program's outputs should be.")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."), help="folder")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    symbols = tomllib.loads(pathlib.Path(program).read_text())["symbols"]
    for assignment in options.set:
        name, _, value = assignment.partition("=")
        if name not in symbols:
            parser.error(f"unknown symbol {name!r}; known: {', '.join(symbols)}")
        symbols[name] = int(value)

    options.out.mkdir(parents=True, exist_ok=True)
    for name, array in reference(symbols, options.seed).items():
        numpy.save(options.out / f"{name}.npy", array)
