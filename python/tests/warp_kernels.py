"""Kernels of Warp for the tests. testdata/warp has what Warp 1.19.0 wrote for them:

    python -c "import warp, warp_kernels
    warp.compile_aot_module(warp_kernels, arch=90, module_dir='testdata/warp', use_ptx=True,
                            strip_hash=True)"
"""

import warp as wp


@wp.kernel
def saxpy(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.struct
class Move:
    by: wp.vec3
    times: int


@wp.kernel
def shift(x: wp.array2d(dtype=wp.vec3), move: Move):
    i, j = wp.tid()
    x[i, j] = x[i, j] + move.by * float(move.times)
