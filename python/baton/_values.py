"""Plain values that Baton returns: facts, verdicts, findings, reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import _core


@dataclass(frozen=True)
class Finding:
    """Something that the simulated GPU saw and a program must not do.

    Equal findings (same kind, kernel and place) are one, with a count.
    """

    kind: str  # "out_of_bounds": docs/simulator.md lists the kinds
    kernel: str  # as the image names it; "" for a copy
    block: tuple[int, int, int]  # of the first occurrence
    thread: tuple[int, int, int]
    where: str  # "norm.cu:12:7"
    message: str
    count: int = 1
    is_error: bool = True  # else a warning
    launch: str = ""  # in a program's run: "launch 14 (topk), at decode.toml:40:1"

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
    """One parameter of a kernel."""

    offset: int  # in bytes, in the kernel's parameter block
    size: int  # in bytes
    kind: str  # "pointer", "scalar", "integer", "bytes" or "unknown"
    dtype: str | None  # a scalar's type, or a pointer's element, if known
    type: str  # for people: "float const*"
    read_only: bool  # a pointer to const
    name: str = ""  # in the source; empty if the image does not say


@dataclass(frozen=True)
class Occupancy:
    """How many blocks of a kernel a device holds."""

    blocks_per_multiprocessor: int
    max_cooperative_blocks: int  # blocks of the largest cooperative grid


@dataclass(frozen=True)
class ProgramBuffer:
    """A buffer of a program, as the program states it."""

    name: str
    dtype: str
    shape: tuple[str, ...]  # expressions over symbols
    role: str  # "input", "weight", "output", "inout", "state", "cache" or "scratch"
    init: str  # "none", "zeros", "random", "file", …


@dataclass(frozen=True)
class EdgeAdvice:
    """A change that may make an edge cheaper."""

    text: str
    seconds: float  # of a run, that it may save at most: measured, or a forecast


@dataclass(frozen=True)
class Edge:
    """The order between two consecutive launches: may the later one start early?

    Launches are numbered from 0 in the program's order.
    """

    source: int  # the earlier launch
    target: int  # the later launch
    verdict: str  # "proven", "unsafe" or "unknown"
    cause: str  # a stable name, such as "holds" or "no_wait"
    reason: str  # the cause in words
    programmatic: bool  # the later launch may overlap the earlier one
    decision: str  # a stable name
    decision_reason: str  # in words
    advice: tuple[EdgeAdvice, ...] = ()  # forecasts for one run; what may save most is first


@dataclass(frozen=True)
class CheckedLaunch:
    """A launch of a program, as a run would execute it."""

    number: int
    kernel: str  # its name in the program
    where: str
    executions: int
    skipped: int  # of these, with an empty grid
    config: dict[str, Any] | None  # grid, block, shared, cluster, cooperative; None if all skip


@dataclass(frozen=True)
class Parallel:
    """A parallel of a program."""

    where: str
    branches: int
    verdict: str  # "proven": branches share only what they read, update atomically or order; else "unknown"
    conflicts: tuple[str, ...]  # why it is unknown; the first 16


@dataclass(frozen=True)
class SmPart:
    """A part of the SMs that launches of a program run on."""

    asked: int
    given: int
    launches: tuple[int, ...]  # by number


@dataclass(frozen=True)
class CheckReport:
    """The facts about a program before it runs."""

    steps: int  # in one run, with repeats unrolled
    launches: tuple[CheckedLaunch, ...]
    edges: tuple[Edge, ...]
    parallels: tuple[Parallel, ...]
    warnings: tuple[str, ...]
    objection: str | None  # the first edge that is unsafe and not switched off
    parts: tuple[SmPart, ...] = ()  # of the SMs, disjoint

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
    """

    global_requests: int  # instructions of warps that access global memory
    global_sectors: int  # the 32-byte sectors that each request touches, summed
    shared_requests: int  # instructions of warps that access shared memory
    shared_passes: int  # passes over the 32 banks
    shared_conflicts: int  # the passes that only bank conflicts cause


@dataclass(frozen=True)
class StepReport:
    """The result of one step of a program in a run."""

    label: str  # "rmsnorm", "copy y -> z + N", "fill z"
    indexes: str  # "layer = 3"
    where: str
    executions: int
    skipped: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    seconds: float | None  # in the first run
    best_seconds: float | None  # in the fastest run
    bytes: int  # read and written; an estimate for launches on a GPU
    instructions: int | None  # of all threads, if the device counts them
    accesses: AccessCounts | None = None  # of the first run, with count_accesses


@dataclass(frozen=True)
class CompletedStep:
    """A step of a run that has just completed, while no other step is under way."""

    number: int  # among the executed steps of the run, repeats unrolled, from 0
    label: str  # "rmsnorm", "copy y -> z + N", "fill z"
    indexes: dict[str, int]  # of the groups around it, outermost first
    where: str
    launch: int | None  # its number in the program, as CheckReport counts; None for a copy or fill
    skipped: bool  # its grid was empty, or it had no bytes to move
    _contents: Any

    def contents(self, buffer: str) -> Any:
        """The contents of a buffer after the step, as a NumPy array. Raises NotFoundError, and
        Error after the call that got the step."""
        from ._arrays import from_bytes
        dtype, shape, data = self._contents(buffer)
        return from_bytes(data, dtype, shape)


@dataclass(frozen=True)
class Comparison:
    """An output compared with the expected one, element by element."""

    ok: bool
    elements: int
    mismatches: int
    worst_index: tuple[int, ...]  # of the element that exceeds its tolerance most
    got: str  # the worst element
    want: str
    worst_error: float  # |got - want|
    largest_absolute: float  # over all pairs of finite values
    largest_relative: float
    largest_ulps: int
    pattern: str  # what all mismatches share, in words, if that is simple
    rtol: float
    atol: float


@dataclass(frozen=True)
class ExpectedOutput:
    """An output compared with the file that the program expects of it."""

    buffer: str
    file: str
    comparison: Comparison


@dataclass(frozen=True)
class ScheduleDifference:
    """The first difference of a run's outputs from those of the run before."""

    buffer: str
    index: tuple[int, ...]  # of the first element whose bits differ
    got: str
    reference: str
    count: int  # such elements of the buffer
    elements: int  # of the buffer


@dataclass(frozen=True)
class ScheduleRun:
    """A run under one schedule."""

    schedule: str
    difference: ScheduleDifference | None  # None: each bit of each output is the same
    findings: list[Finding]


@dataclass(frozen=True)
class TracedEdge:
    """The cost of the edge between two launches in a traced run: means over its executions, and
    the sum of the idle time."""

    source: int  # launches of the program
    target: int
    source_kernel: str
    target_kernel: str
    executions: int
    early: int  # executions whose later launch might start early
    overlap_seconds: float
    gap_seconds: float
    wait_seconds: float  # mean over the later launch's blocks
    tail_seconds: float  # from the median of the earlier launch's ends of blocks to the last
    idle_sm_seconds: float  # in which no block of an SM worked
    advice: tuple[EdgeAdvice, ...]  # what may save most is first


@dataclass(frozen=True)
class TraceReport:
    """A run that was traced by instrumented kernels."""

    edges: tuple[TracedEdge, ...]
    costliest: int | None  # the index of the edge with the most idle time
    seconds: float
    multiprocessors: int
    idle_sm_seconds: float
    launches: int  # with times
    blocks: int
    clock_step_ns: int
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class RunReport:
    """The result of a run of a program."""

    run_seconds: tuple[float, ...]
    steps: tuple[StepReport, ...]
    findings: list[Finding] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    trace: str = ""  # JSON in the Trace Event Format, if it was asked for
    parts: tuple[SmPart, ...] = ()  # of the SMs, disjoint
    traced: TraceReport | None = None  # with instrumented kernels

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
