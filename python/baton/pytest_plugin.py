"""The pytest plug-in: kernels under test on the simulated GPU.

    def test_saxpy(baton):
        saxpy = baton.compile("saxpy.cu")["saxpy"]
        x, y = numpy.ones(8, "f4"), numpy.zeros(8, "f4")
        saxpy[1, 8](y, x, 2.0, 8)
        assert (y == 2).all()

Errors that the simulated GPU finds fail the test, at their source lines. docs/python.md has the
options and markers.
"""

from __future__ import annotations

from typing import Any, Iterator

import pytest

import baton as _baton


class Session:
    """The fixture `baton`: the package, on the test's device. Everything of the package is here;
    calls without a device take `target`."""

    def __init__(self, device: _baton.Device, schedule: str | None):
        self.target = device
        self.schedule = schedule

    def findings(self) -> list[_baton.Finding]:
        """Takes the findings so far: they do not fail the test then."""
        return self.target.findings(wait=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(_baton, name)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("baton")
    group.addoption("--baton-device", default="sim",
                    help="the device of the fixture `baton` (default: sim)")
    group.addoption("--baton-schedules", default="serial",
                    help="the orders of work on the simulated GPU, each of which a test runs under: "
                         "serial,late,early,reverse,random:7 (default: serial)")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "baton(device=None, schedules=None, races=\"usual\", findings=\"fail\"): the device "
        "and the schedules of the fixture `baton`; races: \"global\" also looks for races in global "
        "memory within one grid, \"model\" also for what only the memory model calls a race; findings: \"fail\", or \"ignore\" those that are not faults")
    config.addinivalue_line("markers", "gpu: needs a GPU; skipped with the reason where there is none")


def _check_marker(item: Any) -> None:
    """Raises UsageError for what the marker does not have: a typing error would check nothing."""
    known = {"device", "schedules", "races", "findings"}
    for marker in item.iter_markers("baton"):
        unknown = [f"{name}=" for name in marker.kwargs if name not in known]
        unknown += [repr(value) for value in marker.args]
        if unknown:
            raise pytest.UsageError(f"{item.nodeid}: the marker baton does not take {unknown[0]}; it takes "
                                    f"{', '.join(f'{name}=' for name in sorted(known))}")
        findings = marker.kwargs.get("findings", "fail")
        if findings not in ("fail", "ignore"):
            raise pytest.UsageError(f"{item.nodeid}: findings={findings!r} of the marker baton is not known; "
                                    "give \"fail\" or \"ignore\"")


def _marked(item: Any, key: str, otherwise: Any) -> Any:
    marker = item.get_closest_marker("baton")
    return otherwise if marker is None else marker.kwargs.get(key, otherwise)


def _no_gpu() -> str | None:
    """The reason why there is no GPU, or None."""
    if any(spec.startswith("cuda") for spec in _baton.devices()):
        return None
    try:
        _baton.Device("cuda")
    except _baton.Error as error:
        return str(error)
    return None


def pytest_collection_modifyitems(items: list[Any]) -> None:
    for item in items:
        _check_marker(item)
    marked = [item for item in items if item.get_closest_marker("gpu")]
    reason = _no_gpu() if marked else None
    if reason is not None:
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def _device_of(item: Any) -> str:
    if item.get_closest_marker("gpu"):
        return str(_marked(item, "device", "cuda"))
    return str(_marked(item, "device", item.config.getoption("--baton-device")))


def pytest_generate_tests(metafunc: Any) -> None:
    if "baton" not in metafunc.fixturenames:
        return
    definition = metafunc.definition
    if _device_of(definition).startswith("cuda"):
        schedules: list[str | None] = [None]
    else:
        given = _marked(definition, "schedules", None)
        given = metafunc.config.getoption("--baton-schedules").split(",") if given is None else given
        schedules = list(dict.fromkeys(given))
    ids = [schedule or "cuda" for schedule in schedules]
    metafunc.parametrize("baton", schedules, ids=ids, indirect=True)


@pytest.fixture
def baton(request: pytest.FixtureRequest) -> Iterator[Session]:
    """The package `baton` on the test's device, under the test's schedule."""
    device = _baton.Device(_device_of(request.node))
    # Other fixtures, too, that compile or launch do so on this device.
    with _on(request.node, device, request.param):
        yield Session(device, request.param)


def _on(item: Any, device: _baton.Device, schedule: str | None) -> Any:
    ignores = _marked(item, "findings", "fail") == "ignore"
    return _baton.on(device, schedule, _marked(item, "races", "usual"),
                     "collect" if ignores else "raise")


@pytest.hookimpl(hookwrapper=True)
def pytest_pyfunc_call(pyfuncitem: Any) -> Iterator[None]:
    """Runs the test inside of `baton.on`. Findings that it did not take fail it."""
    session = pyfuncitem.funcargs.get("baton")
    if not isinstance(session, Session):
        yield
        return
    on = _on(pyfuncitem, session.target, session.schedule)
    on.__enter__()
    failed = True
    try:
        outcome = yield
        failed = outcome.excinfo is not None  # type: ignore[attr-defined]
    finally:
        on.__exit__(Exception if failed else None, None, None)
