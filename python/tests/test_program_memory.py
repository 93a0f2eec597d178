"""Memory of programs: allocators of the caller, outputs that are kept, and memory in the order of a stream."""

import gc

import numpy as np
import pytest

import baton as baton_package
from chain_program import want


def test_outputs_that_nobody_refers_to_serve_again(bound):
    addresses = {bound()["y"].address for _ in range(5)}
    assert len(addresses) == 1
    kept = [bound()["y"] for _ in range(3)]
    assert len({array.address for array in kept}) == 3


def test_a_slice_keeps_an_output(baton, bound):
    part = bound(x=baton.array(np.ones(64, np.float32)))["y"][10:12]
    bound(x=baton.array(np.zeros(64, np.float32)))
    assert np.allclose(part.numpy(), want(np.ones(64))[10:12])


def test_an_output_outlives_its_program(baton, program):
    bound = program.bind(N=16, device=baton.target)
    out = bound(x=baton.array(np.ones(16, np.float32)))["y"]
    del bound
    gc.collect()
    assert np.allclose(out.numpy(), want(np.ones(16)))


class Arena:
    """Hands out an array piece by piece."""

    def __init__(self, array):
        self.array, self.used, self.held, self.fails = array, 0, {}, None

    def allocate(self, device, size):
        assert device.spec == self.array.device.spec
        if self.fails:
            raise self.fails
        address, self.used = self.array.address + self.used, self.used + -(-size // 256) * 256
        if self.used > 4 * self.array.shape[0]:
            return None
        self.held[address] = size
        return address

    def free(self, device, address, size):
        assert self.held.pop(address) == size


def test_memory_of_an_allocator(baton, program):
    arena = Arena(baton.empty(1 << 14, "f32"))
    bound = program.bind(N=64, device=baton.target, allocator=arena)
    assert len(arena.held) == 5 and bound.array("h").address in arena.held
    x = np.ones(64, np.float32)
    assert np.allclose(bound(x=x)["y"], want(x))
    bound.set(N=128)
    assert bound.array("h").address in arena.held
    del bound
    gc.collect()
    assert not arena.held


def test_outputs_come_from_the_allocator(baton, program):
    arena = Arena(baton.empty(1 << 14, "f32"))
    bound = program.bind(N=64, device=baton.target, allocator=arena)
    x = baton.array(np.ones(64, np.float32))
    first = bound(x=x)
    assert all(output.address in arena.held for output in first.values())
    before = first["y"].numpy()
    held = len(arena.held)
    second = bound(x=baton.array(np.full(64, 3, np.float32)))
    assert len(arena.held) > held and second["y"].address in arena.held
    assert np.array_equal(first["y"].numpy(), before)     # it is still referred to
    # An output outlives the bound program, and then gives its memory back.
    del bound, second
    gc.collect()
    assert first["y"].address in arena.held and np.array_equal(first["y"].numpy(), before)
    del first
    gc.collect()
    assert not arena.held


def test_an_allocator_without_memory_for_outputs(baton, program):
    arena = Arena(baton.empty(1 << 14, "f32"))
    bound = program.bind(N=64, device=baton.target, allocator=arena)
    x = baton.array(np.ones(64, np.float32))
    arena.fails = KeyError("no outputs")
    with pytest.raises(KeyError, match="no outputs"):
        bound(x=x)
    arena.fails = None
    assert np.allclose(bound(x=x)["y"].numpy(), want(np.ones(64)))


def test_an_allocator_that_fails(baton, program):
    arena = Arena(baton.empty(1 << 14, "f32"))
    arena.fails = KeyError("no pool")
    with pytest.raises(KeyError, match="no pool"):
        program.bind(N=64, device=baton.target, allocator=arena)
    arena.fails = None
    with pytest.raises(baton_package.Error, match="the allocator has none left"):
        program.bind(N=1 << 20, device=baton.target, allocator=arena)
    gc.collect()
    assert not arena.held

    class Wrong(Arena):
        def allocate(self, device, size):
            return "here"

    with pytest.raises(TypeError):
        program.bind(N=64, device=baton.target, allocator=Wrong(arena.array))
    for wrong in (3, object()):
        with pytest.raises(TypeError, match="has no method allocate"):
            program.bind(N=64, device=baton.target, allocator=wrong)


def test_an_allocator_whose_free_raises(baton, program, monkeypatch):
    class Raises(Arena):
        def free(self, device, address, size):
            raise ValueError("free")

    raised = []
    monkeypatch.setattr("sys.unraisablehook", raised.append)
    bound = program.bind(N=64, device=baton.target, allocator=Raises(baton.empty(1 << 14, "f32")))
    del bound
    gc.collect()
    assert len(raised) == 5 and str(raised[0].exc_value) == "free"
    raised.clear()


def test_memory_in_the_order_of_a_stream(baton):
    device = baton_package.device(baton.target)
    stream = baton_package.Stream(device)
    module = baton_package.compile(
        text="extern \"C\" __global__ void two(float* y) { y[blockIdx.x] = 2; }", device=device)
    for _ in range(3):
        y = baton_package.empty(64, "f32", stream=stream)
        assert y.shape == (64,)
        module["two"][64, 1](y, stream=stream)
        assert np.all(y.numpy() == 2)
        del y
    z = device.empty((2, 2), "i32", stream=stream)
    del stream  # the memory keeps it
    z.zero()
    with pytest.raises(baton_package.ArgumentError, match="takes a baton.Stream"):
        device.empty(4, "f32", stream=7)
