"""A user's module that names every public part of the package with its type. test_stubs.py checks it; nothing runs it."""

from __future__ import annotations

from typing import Any, Sequence

import baton


class Pool:
    """An allocator of the user's own."""

    def allocate(self, device: baton.Device, nbytes: int) -> int | None:
        return None

    def free(self, device: baton.Device, address: int, nbytes: int) -> None:
        pass


def devices() -> baton.Device:
    names: tuple[str, ...] = baton.devices()
    device = baton.device(names[0])
    other = baton.Device("sim:h200")
    numbers: list[int] = [device.architecture, device.total_memory, device.ordinal, device.attribute(16)]
    texts: list[str] = [device.spec, device.name, device.arch]
    parts: tuple[baton.Stream, ...] = device.split_sms([4, 4])
    device.synchronize()
    with baton.on(device, schedule="late", races="global", findings="collect") as entered:
        same: bool = entered == other
    assert numbers and texts and parts and not same
    return device


def memory(device: baton.Device) -> baton.Array:
    array = baton.zeros((2, 3), "f32", device)
    raw: baton.Array = baton.empty(4, "i32", device, stream=baton.stream(None, device))
    part: baton.Array = array[0:1].reshape(3)
    sizes: list[int] = [array.nbytes, array.size, array.address, array.references, len(array), *array.shape]
    data: bytes = raw.tobytes()
    pointer = baton.Pointer(part.address)
    host: Any = array.numpy()
    again: baton.Array = baton.array(host, device, dtype="f32").copy_from(host)
    assert sizes and data and pointer and again
    return array


def kernels(device: baton.Device, array: baton.Array) -> None:
    module: baton.Module = baton.compile(text="", device=device, options=["-O3"], entries=["add"])
    kernel: baton.Kernel = module["add"]
    kernel[baton.ceildiv(8, 4), (4, 1, 1)](array, 1, stream=baton.Stream(device, priority=0))
    kernel.launch(array, 1.0, grid=1, block=(1, 1), cluster=2, shared=16, pdl=True, stream=None)
    plan: baton.Plan = kernel.plan(array, 1, grid=1, block=1)
    plan[0] = array
    plan()
    parameters: tuple[baton.Parameter, ...] = kernel.params
    occupancy: baton.Occupancy = kernel.occupancy(block=128)
    for name in module:
        text: str = name
        assert text
    library: dict[str, baton.LibraryFunction] = baton.load_library("lib.so", device=device)
    loaded = baton.load("kernel.ptx", device=device)
    assert isinstance(loaded, baton.Module)
    assert parameters and occupancy and library


def streams(device: baton.Device) -> float:
    stream = baton.Stream(device)
    with stream:
        first: baton.Event = stream.record()
    stream.wait(first)
    stream.synchronize(timeout=1.5)
    done: bool = first.done and stream.done
    seconds: float = first.elapsed(stream.record())
    return seconds if done else 0.0


def programs(device: baton.Device, host: Any) -> None:
    program = baton.Program.from_text("", name="layer", directory=".")
    buffers: dict[str, baton.ProgramBuffer] = program.buffers
    report: baton.CheckReport = program.check(device=device, N=4)
    edges: Sequence[baton.Edge] = report.edges
    bound: baton.BoundProgram = program.bind(device=device, executor="graph", allocator=Pool(), N=4)
    outputs: dict[str, Any] = bound(x=host, N=8)
    ran: baton.RunReport = bound.run(repeat=2, timeout=1.0, after_step=lambda step: step.number < 3)
    steps: Sequence[baton.StepReport] = ran.steps
    schedules: tuple[baton.ScheduleRun, ...] = bound.compare_schedules(["late", "random:1"])
    remarks: tuple[str, ...] = program.bundle("layer.baton", ["sm_90a"])
    assert buffers and edges and outputs and steps and schedules and remarks


def errors(device: baton.Device) -> Sequence[baton.Finding]:
    kinds: tuple[type[baton.Error], ...] = (
        baton.ArgumentError, baton.CompileError, baton.DeviceError, baton.FaultError, baton.FindingError,
        baton.LimitError, baton.NotFoundError, baton.OutOfMemoryError, baton.TimeoutError, baton.UnsupportedError)
    try:
        device.synchronize()
    except kinds as error:
        texts: list[str] = [error.code, error.where, *error.notes]
        assert texts
        return error.findings
    found: list[baton.Finding] = device.findings(wait=True)
    return found
