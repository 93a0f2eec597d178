#!/usr/bin/env python3
"""Writes the .npy files beside this script with NumPy itself (made with 1.24.2).

Every array holds 0, 1, 2, ... in C order, so that a test knows what each element must be.
"""
import pathlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent / "npy"


def counted(dtype, *shape):
    return np.arange(int(np.prod(shape)), dtype=np.int64).astype(dtype).reshape(shape)


def save(name, array, version=(1, 0)):
    with open(FOLDER / f"{name}.npy", "wb") as file:
        np.lib.format.write_array(file, array, version=version, allow_pickle=True)


FOLDER.mkdir(exist_ok=True)
for code in ("f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
    save(f"little_{code}", counted(f"<{code}", 2, 3))
    save(f"big_{code}", counted(f">{code}", 2, 3))
    save(f"fortran_{code}", np.asfortranarray(counted(f"<{code}", 2, 3)))
save("big_fortran_4d", np.asfortranarray(counted(">i4", 2, 3, 4, 5)))
save("bool", counted("u1", 6) % 2 == 1)
save("scalar", np.array(7, dtype="<f4"))
save("vector", counted("<f4", 5))
save("empty", np.zeros((0, 3), dtype="<f4"))
save("empty_fortran", np.asfortranarray(np.zeros((3, 0, 2), dtype="<f4")))
save("raw_v1", counted("u1", 2, 3).view("V1"))
save("raw_v2", counted("<u2", 2, 3).view("V2"))
save("version_2", counted("<f4", 2, 3), version=(2, 0))
save("version_3", counted("<f4", 2, 3), version=(3, 0))
save("ones_32d", counted("<i2", *([1] * 32)))
# What must be refused by name.
save("structured", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))
save("object", np.array([1, "two"], dtype=object))
save("complex", counted("<c8", 2))
save("text", np.array(["one", "two"]))
save("datetime", np.array(["2020-01-01"], dtype="<M8[D]"))
