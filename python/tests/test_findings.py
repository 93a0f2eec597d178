"""Findings of the simulated GPU: raised, warned of, taken; the pytest plug-in."""

import numpy as np
import pytest

import baton as baton_package

KERNELS = """extern "C" __global__ void racy(int* y) {
  __shared__ int words[64];
  words[threadIdx.x] = threadIdx.x;
  y[threadIdx.x] = words[63 - threadIdx.x];
}
extern "C" __global__ void wild(float* y) {
  y[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
"""


@pytest.fixture
def kernels():
    return baton_package.compile(text=KERNELS, name="bad.cu", device="sim:h200")


def test_on_raises(kernels):
    y = np.zeros(64, np.int32)
    with pytest.raises(baton_package.FindingError) as caught:
        with baton_package.on("sim:h200", schedule="reverse"):
            kernels["racy"][1, 64](y)
    assert "shared_race" in [finding.kind for finding in caught.value.findings]
    assert caught.value.where.startswith("bad.cu:4:")
    finding = caught.value.findings[0]
    assert finding.kernel == "racy" and finding.count >= 1 and len(finding.thread) == 3


def test_kernels_have_the_names_of_their_source():
    source = KERNELS.replace('extern "C" ', "template <typename T> ").replace("int* y", "T* y").replace("float* y", "T* y")
    module = baton_package.compile(text=source, name="bad.cu", device="sim:h200", entries=["racy<int>", "wild<float>"])
    with pytest.raises(baton_package.FindingError, match=r"^bad\.cu:4:\d+: kernel racy<int>, block") as caught:
        with baton_package.on("sim:h200"):
            module["racy"][1, 64](np.zeros(64, np.int32))
    finding = caught.value.findings[0]
    assert finding.kernel.startswith("_Z") and finding.readable == "racy<int>"
    assert "_Z" not in str(caught.value) + finding._repr_html_()
    with pytest.raises(baton_package.FaultError, match=r"kernel wild<float>, block") as caught:
        module["wild"][1, 64](baton_package.zeros(1, "f32", device="sim:h200"))
        module.device.synchronize()
    assert "_Z" not in str(caught.value)


def test_on_raises_for_what_was_only_enqueued(kernels):
    with pytest.raises(baton_package.FindingError):
        with baton_package.on("sim:h200"):
            y = baton_package.zeros(64, "i32")
            kernels["racy"][1, 64](y)


def test_outside_they_warn_and_stay(kernels):
    device = baton_package.Device("sim:h200")
    device.findings()
    with pytest.warns(baton_package.FindingWarning, match="shared_race"):
        kernels["racy"][1, 64](np.zeros(64, np.int32))
    assert "shared_race" in [finding.kind for finding in device.findings()]
    assert device.findings() == []


def test_a_fault_is_told_once_and_the_device_goes_on(kernels):
    device = baton_package.Device("sim:h200")
    y = np.zeros(64, np.float32)
    with pytest.raises(baton_package.FaultError, match="past the end of argument 0") as caught:
        kernels["wild"][2, 64](y)
    assert caught.value.where.startswith("bad.cu:7:")
    assert caught.value.findings[0].kind == "out_of_bounds"
    kernels["wild"][1, 64](y)
    assert (y == 1).all()
    assert [finding.kind for finding in device.findings()] == ["out_of_bounds"]


def test_a_fault_that_the_simulated_gpu_finds_is_a_finding(kernels):
    with pytest.raises(baton_package.FindingError, match="past the end of argument 0") as caught:
        with baton_package.on("sim:h200"):
            kernels["wild"][2, 64](np.zeros(64, np.float32))
    assert caught.value.code == "fault" and caught.value.where.startswith("bad.cu:7:")
    assert [finding.kind for finding in caught.value.findings] == ["out_of_bounds"]


def test_on_is_left_in_order():
    outer = baton_package.on("sim:h200")
    inner = baton_package.on("sim:tiny")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(baton_package.Error, match="order"):
        outer.__exit__(None, None, None)
    assert baton_package.device().spec == "sim:tiny"
    inner.__exit__(None, None, None)
    assert baton_package.device().spec == "sim:h200"
    outer.__exit__(None, None, None)


def test_a_wrong_schedule():
    with pytest.raises(baton_package.Error, match="schedule"):
        baton_package.on("sim", schedule="backwards")


RACY_TEST = f'''
import numpy as np
SOURCE = {KERNELS!r}

def test_racy(baton):
    baton.compile(text=SOURCE, name="bad.cu")["racy"][1, 64](np.zeros(64, np.int32))

def test_wild(baton):
    baton.compile(text=SOURCE, name="bad.cu")["wild"][2, 64](np.zeros(64, np.float32))

def test_right(baton):
    y = np.zeros(64, np.float32)
    baton.compile(text=SOURCE, name="bad.cu")["wild"][1, 64](y)
    assert (y == 1).all()

def test_taken(baton):
    baton.compile(text=SOURCE, name="bad.cu")["racy"][1, 64](baton.empty(64, "i32"))
    assert [f.kind for f in baton.findings() if f.is_error] == ["shared_race"]
'''


def test_the_plugin_fails_tests_with_findings(pytester):
    pytester.makepyfile(RACY_TEST)
    result = pytester.runpytest_inprocess("-p", "baton.pytest_plugin", "--baton-schedules=serial,reverse,random:3")
    result.assert_outcomes(passed=6, failed=6)
    result.stdout.fnmatch_lines(["*FindingError*bad.cu:4:*"])
    result.stdout.fnmatch_lines(["*test_racy[[]serial[]]*"])


def test_the_plugin_ignores_findings_where_asked(pytester):
    pytester.makepyfile("import pytest\n" + RACY_TEST.replace(
        "def test_racy", '@pytest.mark.baton(findings="ignore", schedules=["late"])\ndef test_racy'))
    result = pytester.runpytest_inprocess("-p", "baton.pytest_plugin", "-k", "racy")
    result.assert_outcomes(passed=1)


@pytest.mark.parametrize("options, message", [
    ("race=True", "*the marker baton does not take race=; it takes device=, findings=, races=, schedules=*"),
    ('"sim:sm80"', "*the marker baton does not take 'sim:sm80'*"),
    ('findings="ignor"', "*findings='ignor' of the marker baton is not known*"),
])
def test_the_plugin_refuses_unknown_options_of_its_marker(pytester, options, message):
    pytester.makepyfile(f"import pytest\n@pytest.mark.baton({options})\ndef test_it(baton):\n    pass\n")
    result = pytester.runpytest_inprocess("-p", "baton.pytest_plugin")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])


EQUAL = 'extern "C" __global__ void set(int* y) { y[0] = 1; }'


@pytest.mark.parametrize("races, kinds", [
    (None, set()), (False, set()), ("usual", set()), (True, set()), ("global", set()), ("model", {"global_race"})])
def test_races_have_names(races, kinds):
    with baton_package.on("sim:h200", races=races, findings="collect") as device:
        device.findings()  # of earlier tests
        baton_package.compile(text=EQUAL)["set"][4, 64](baton_package.zeros(1, "i32"))
        device.synchronize()
        assert {finding.kind for finding in device.findings()} == kinds


def test_unknown_races_are_refused():
    with pytest.raises(baton_package.Error, match='no races called "globl"; did you mean "global"'):
        baton_package.on("sim:h200", races="globl")
    with pytest.raises(TypeError, match="races is of the type int; it takes a bool, or one of the names"):
        baton_package.on("sim:h200", races=1)


def test_gpu_tests_skip_with_a_reason(pytester):
    if any(spec.startswith("cuda") for spec in baton_package.devices()):
        pytest.skip("there is a GPU")
    pytester.makepyfile("import pytest\n@pytest.mark.gpu\ndef test_gpu(baton):\n    assert False\n")
    result = pytester.runpytest_inprocess("-p", "baton.pytest_plugin", "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*SKIPPED*"])


def test_fixtures_use_the_device_of_the_test(pytester):
    pytester.makepyfile("""
        import pytest
        @pytest.fixture
        def made(baton):
            return baton.zeros(4, "f32")
        @pytest.mark.baton(device="sim:tiny")
        def test_marked(baton, made):
            assert made.device == baton.target and made.device.spec == "sim:tiny"
    """)
    pytester.runpytest("-p", "baton.pytest_plugin").assert_outcomes(passed=1)


def test_a_missing_instruction_ends_one_launch(baton):
    """Like a fault, it leaves the simulated GPU as it was: later launches run."""
    module = baton.compile(text="""
    extern "C" __global__ void surface(float* y, unsigned long long t) {
      asm volatile("sust.p.1d.b32.trap [%0, {%1}], {%1};" :: "l"(t), "r"(0));
    }
    extern "C" __global__ void one(float* y) { y[threadIdx.x] = 1; }""")
    y = np.zeros(32, np.float32)
    with pytest.raises(baton_package.UnsupportedError, match="sust.p"):
        module["surface"][1, 1](y, 0)
    module["one"][1, 32](y)
    assert (y == 1).all()
