"""Plain values that Baton returns: facts, verdicts, findings, reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import _core


@dataclass(frozen=True)
class Finding:
    """Something that the simulated GPU saw and a program must not do.

    Equal findings (same kind, kernel and place) are one, with a count.

    kind: a stable name, such as "out_of_bounds"; docs/simulator.md lists them.
    kernel: the symbol in the image; "" for a copy.
    block: the indices of the block of the first occurrence: x, y, z.
    thread: the indices of its thread in the block.
    where: the place in the source, "norm.cu:12:7".
    message: a sentence with both values.
    count: how many times it occurred.
    is_error: False: a warning.
    launch: in a program's run, "launch 14 (topk), at decode.toml:40:1"; else "".
    """

    kind: str
    kernel: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    where: str
    message: str
    count: int = 1
    is_error: bool = True
    launch: str = ""

    @property
    def readable(self) -> str:
        """The kernel as its source names it, without parameters: "rmsnorm<float>"."""
        return _core.readable_names(self.kernel)

    def _repr_html_(self) -> str:
        from ._tables import html_table
        return html_table(("what", "where", "kernel", "block", "thread", "times", "message"),
                          [(self.kind, self.where, self.readable, str(self.block), str(self.thread),
                            str(self.count), self.message)])


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel.

    offset: in bytes, in the kernel's parameter block.
    size: in bytes.
    kind: "pointer", "scalar", "integer", "bytes" or "unknown".
    dtype: a scalar's type, or a pointer's element, if known.
    type: for people: "float const*".
    read_only: a pointer to const.
    name: in the source; empty if the image does not say.
    """

    offset: int
    size: int
    kind: str
    dtype: str | None
    type: str
    read_only: bool
    name: str = ""


@dataclass(frozen=True)
class Occupancy:
    """How many blocks of a kernel a device holds.

    blocks_per_multiprocessor: blocks that one multiprocessor holds at once.
    max_cooperative_blocks: blocks of the largest cooperative grid.
    """

    blocks_per_multiprocessor: int
    max_cooperative_blocks: int


@dataclass(frozen=True)
class ProgramBuffer:
    """A buffer of a program, as the program states it.

    name: its name in the program.
    dtype: the type of its elements, such as "f32".
    shape: expressions over symbols.
    role: "input", "weight", "output", "inout", "state", "cache" or "scratch".
    init: "none", "zeros", "random", "file", …
    """

    name: str
    dtype: str
    shape: tuple[str, ...]
    role: str
    init: str


@dataclass(frozen=True)
class EdgeAdvice:
    """A change that may make an edge cheaper.

    text: the change, in a sentence.
    seconds: what it may save of a run at most, in seconds: measured, or a forecast.
    """

    text: str
    seconds: float


@dataclass(frozen=True)
class Edge:
    """The order between two consecutive launches: may the later one start early?

    Launches are numbered from 0 in the program's order.

    source: the earlier launch.
    target: the later launch.
    verdict: "proven", "unsafe" or "unknown".
    cause: a stable name, such as "holds" or "no_wait".
    reason: the cause in words.
    programmatic: the later launch may overlap the earlier one.
    decision: a stable name.
    decision_reason: in words.
    advice: forecasts for one run; what may save most is first.
    """

    source: int
    target: int
    verdict: str
    cause: str
    reason: str
    programmatic: bool
    decision: str
    decision_reason: str
    advice: tuple[EdgeAdvice, ...] = ()


@dataclass(frozen=True)
class CheckedLaunch:
    """A launch of a program, as a run would execute it.

    number: from 0, in the program's order.
    kernel: its name in the program.
    where: its step in the program file, "file:line:column".
    executions: how many times a run executes it, repeats unrolled.
    skipped: of these, with an empty grid.
    config: grid, block, shared (bytes), cluster and cooperative by name; None if all executions are
        skipped.
    """

    number: int
    kernel: str
    where: str
    executions: int
    skipped: int
    config: dict[str, Any] | None


@dataclass(frozen=True)
class Parallel:
    """A parallel of a program.

    where: its step in the program file, "file:line:column".
    branches: their number.
    verdict: "proven": branches share only what they read, update atomically or order; else
        "unknown".
    conflicts: why it is unknown; the first 16.
    """

    where: str
    branches: int
    verdict: str
    conflicts: tuple[str, ...]


@dataclass(frozen=True)
class SmPart:
    """A part of the SMs that launches of a program run on.

    asked: SMs that the program asks for.
    given: SMs that the device gives.
    launches: the numbers of the launches.
    """

    asked: int
    given: int
    launches: tuple[int, ...]


@dataclass(frozen=True)
class CheckReport:
    """The facts about a program before it runs.

    steps: their number in one run, with repeats unrolled.
    launches: in the program's order.
    edges: between consecutive launches.
    parallels: the `parallel` steps.
    warnings: sentences.
    objection: the first edge that is unsafe and not switched off.
    parts: disjoint parts of the SMs.
    """

    steps: int
    launches: tuple[CheckedLaunch, ...]
    edges: tuple[Edge, ...]
    parallels: tuple[Parallel, ...]
    warnings: tuple[str, ...]
    objection: str | None
    parts: tuple[SmPart, ...] = ()

    def _repr_html_(self) -> str:
        from ._tables import html_table
        rows = [(f"{edge.source} → {edge.target}", self.launches[edge.target].kernel, edge.verdict,
                 "programmatic" if edge.programmatic else "full", edge.reason)
                for edge in self.edges]
        # The colour says again what the word says.
        shades = {"proven": "#54a24b", "unsafe": "#e45756", "unknown": "#b8860b"}
        return html_table(("edge", "kernel", "verdict", "order", "reason"), rows,
                          {word: f"color:{shade}" for word, shade in shades.items()})

    def __str__(self) -> str:
        from ._tables import text_table
        rows = [(f"{edge.source} -> {edge.target}", self.launches[edge.target].kernel, edge.verdict,
                 "programmatic" if edge.programmatic else "full", edge.reason)
                for edge in self.edges]
        return text_table(("edge", "kernel", "verdict", "order", "reason"), rows)


@dataclass(frozen=True)
class AccessCounts:
    """The accesses of memory by the loads, stores and atomic operations of a step's launches.

    Asynchronous copies, matrix loads and local memory are not among them.

    global_requests: instructions of warps that access global memory.
    global_sectors: the 32-byte sectors that each request touches, summed.
    shared_requests: instructions of warps that access shared memory.
    shared_passes: passes over the 32 banks.
    shared_conflicts: the passes that only bank conflicts cause.
    """

    global_requests: int
    global_sectors: int
    shared_requests: int
    shared_passes: int
    shared_conflicts: int


@dataclass(frozen=True)
class StepReport:
    """The result of one step of a program in a run.

    label: "rmsnorm", "copy y -> z + N", "fill z".
    indexes: "layer = 3".
    where: the step in the program file, "file:line:column".
    executions: in one run.
    skipped: of these, with an empty grid.
    grid: the extents in blocks.
    block: the extents in threads.
    seconds: in the first run; None if it was not timed.
    best_seconds: in the fastest run; None if it was not timed.
    bytes: read and written; an estimate for launches on a GPU.
    instructions: of all threads, if the device counts them.
    accesses: of memory in the first run, with count_accesses=True; else None.
    """

    label: str
    indexes: str
    where: str
    executions: int
    skipped: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    seconds: float | None
    best_seconds: float | None
    bytes: int
    instructions: int | None
    accesses: AccessCounts | None = None


@dataclass(frozen=True)
class CompletedStep:
    """A step of a run that has just completed, while no other step is under way.

    number: among the executed steps of the run, repeats unrolled, from 0.
    label: "rmsnorm", "copy y -> z + N", "fill z".
    indexes: of the groups around it, outermost first.
    where: the step in the program file, "file:line:column".
    launch: its number in the program, as CheckReport counts; None for a copy or fill.
    skipped: its grid was empty, or it had no bytes to move.
    """

    number: int
    label: str
    indexes: dict[str, int]
    where: str
    launch: int | None
    skipped: bool
    _contents: Any

    def contents(self, buffer: str) -> Any:
        """The contents of a buffer after the step, as a NumPy array. Raises NotFoundError, and
        Error after the call that got the step."""
        from ._arrays import from_bytes
        dtype, shape, data = self._contents(buffer)
        return from_bytes(data, dtype, shape)


@dataclass(frozen=True)
class Comparison:
    """An output compared with the expected one, element by element.

    ok: whether all elements are within the tolerance.
    elements: their number.
    mismatches: the elements that exceed it.
    worst_index: of the element that exceeds its tolerance most.
    got: the worst element.
    want: the expected one at the same index.
    worst_error: |got - want|.
    largest_absolute: over all pairs of finite values.
    largest_relative: the largest share of |want|, where that is not 0.
    largest_ulps: the largest number of values of the dtype from one to the other, for floats.
    pattern: what all mismatches share, in words, if that is simple.
    rtol: the relative tolerance.
    atol: the absolute tolerance.
    """

    ok: bool
    elements: int
    mismatches: int
    worst_index: tuple[int, ...]
    got: str
    want: str
    worst_error: float
    largest_absolute: float
    largest_relative: float
    largest_ulps: int
    pattern: str
    rtol: float
    atol: float


@dataclass(frozen=True)
class ExpectedOutput:
    """An output compared with the file that the program expects of it.

    buffer: its name.
    file: the path.
    comparison: the result.
    """

    buffer: str
    file: str
    comparison: Comparison


@dataclass(frozen=True)
class ScheduleDifference:
    """The first difference of a run's outputs from those of the run before.

    buffer: its name.
    index: of the first element whose bits differ.
    got: the element in this run.
    reference: the element in the run before.
    count: such elements of the buffer.
    elements: of the buffer.
    """

    buffer: str
    index: tuple[int, ...]
    got: str
    reference: str
    count: int
    elements: int


@dataclass(frozen=True)
class ScheduleRun:
    """A run under one schedule.

    schedule: its name, such as "reverse".
    difference: None: each bit of each output is the same.
    findings: what the simulated GPU found in it.
    """

    schedule: str
    difference: ScheduleDifference | None
    findings: list[Finding]


@dataclass(frozen=True)
class TracedEdge:
    """The cost of the edge between two launches in a traced run: means over its executions, and
    the sum of the idle time.

    source: the number of the earlier launch in the program.
    target: the number of the later launch.
    source_kernel: the kernel of the earlier launch.
    target_kernel: the kernel of the later launch.
    executions: in the run.
    early: executions whose later launch might start early.
    overlap_seconds: from the begin of the later launch to the end of the earlier one.
    gap_seconds: from the end of the earlier launch to the begin of the later one.
    wait_seconds: in the wait, mean over the later launch's blocks.
    tail_seconds: from the median of the earlier launch's ends of blocks to the last.
    idle_sm_seconds: time of SMs in which none of their blocks worked, summed over SMs and
        executions. A block in its wait does not work.
    advice: what may save most is first.
    """

    source: int
    target: int
    source_kernel: str
    target_kernel: str
    executions: int
    early: int
    overlap_seconds: float
    gap_seconds: float
    wait_seconds: float
    tail_seconds: float
    idle_sm_seconds: float
    advice: tuple[EdgeAdvice, ...]


@dataclass(frozen=True)
class TraceReport:
    """A run that was traced by instrumented kernels.

    edges: in the order of their first execution.
    costliest: the index of the edge with the most idle time.
    seconds: from the first block's begin to the last one's end.
    multiprocessors: of the device.
    idle_sm_seconds: of the whole run, also where there is no edge.
    launches: those with times.
    blocks: of these launches.
    clock_step_ns: the step of the device's clock in nanoseconds.
    remarks: the launches that are missing, and inexact times, in words.
    """

    edges: tuple[TracedEdge, ...]
    costliest: int | None
    seconds: float
    multiprocessors: int
    idle_sm_seconds: float
    launches: int
    blocks: int
    clock_step_ns: int
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class RunReport:
    """The result of a run of a program.

    run_seconds: of each run, from its first step to its last; at most 10000.
    steps: in the program's order.
    findings: what the simulated GPU found.
    warnings: sentences.
    trace: JSON in the Trace Event Format, with trace=True; else "".
    parts: disjoint parts of the SMs.
    traced: the costs of the edges, with trace=True and instrumented kernels; else None.
    """

    run_seconds: tuple[float, ...]
    steps: tuple[StepReport, ...]
    findings: list[Finding] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    trace: str = ""
    parts: tuple[SmPart, ...] = ()
    traced: TraceReport | None = None

    def _rows(self) -> list[tuple[str, ...]]:
        def time(seconds: float | None) -> str:
            return "" if seconds is None else f"{seconds * 1e6:.2f}"
        return [(step.label, step.indexes, time(step.seconds), time(step.best_seconds),
                 str(step.bytes)) for step in self.steps]

    @property
    def timeline(self) -> Any:
        """The picture of a run with trace=True: a Timeline, which notebooks show."""
        from ._timeline import Timeline
        return Timeline(self.trace)

    def _repr_html_(self) -> str:
        from ._tables import html_table
        table = html_table(("step", "index", "first run (µs)", "best (µs)", "bytes"), self._rows())
        return table + self.timeline.svg if self.trace else table

    def __str__(self) -> str:
        from ._tables import text_table
        return text_table(("step", "index", "first run (us)", "best (us)", "bytes"), self._rows())
