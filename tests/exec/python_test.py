"""Packages of Python under `baton exec`: torch's operators, the runtime in cuda.bindings."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from exec_case import ExecCase

# A Python that has torch; that of the tests otherwise.
PYTHON = os.environ.get("BATON_TORCH_PYTHON", sys.executable)
HAS_TORCH = subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode == 0

PROGRAM = """
import importlib.util
assert importlib.util.find_spec("torch") is not None
import torch
assert torch.cuda.device_count() == 1

def same(device, host):
    torch.testing.assert_close(device.cpu(), host)

a = torch.arange(12, dtype=torch.float32).reshape(3, 4)
x = a.cuda()
assert x.is_cuda and (x + 1).is_cuda
same(x @ x.t(), a @ a.t())
same((x * 2).to(torch.bfloat16), (a * 2).to(torch.bfloat16))
same(x.t()[1:, ::2].contiguous(), a.t()[1:, ::2].contiguous())
# Numbers in the place of tensors: they do not change the type.
bytes_ = torch.arange(12, dtype=torch.uint8)
for operate in (lambda t: t % 5, lambda t: t.remainder_(7), lambda t: 100 % (t + 1), lambda t: t & 3, lambda t: t < 4,
                lambda t: torch.where(t > 3, t, 1), lambda t: torch.fmod(t, 4), lambda t: t ** 2, lambda t: 2 ** t,
                lambda t: torch.atan2(t, torch.tensor(2.0)), lambda t: t.float() % 0.5):
    same(operate(bytes_.cuda()), operate(bytes_.clone()))
# In place, in views, and into given tensors.
x[1] = 7
x[:, 2].add_(1)
a[1] = 7
a[:, 2].add_(1)
same(x, a)
out = torch.empty(0, device="cuda")
assert torch.add(x, x, out=out) is out
same(out, a + a)
view = x[:, 1:3]
assert view.mul_(3) is view
a[:, 1:3].mul_(3)
same(x, a)
# Several results, lists of tensors, none.
values, indices = torch.sort(x, dim=1, descending=True)
same(indices, torch.sort(a, dim=1, descending=True)[1])
same(torch.cat([x, x]), torch.cat([a, a]))
same(torch.nonzero(x > 5), torch.nonzero(a > 5))
assert torch.equal(x, x.clone()) and x.sum().item() == a.sum().item()
same(torch.zeros(0, 3, device="cuda") + 1, torch.ones(0, 3))
same(torch.arange(5, device="cuda"), torch.arange(5))
assert torch.randn(100, device="cuda").std().item() > 0
# Written tensors that have others' bytes between their elements.
buffer = torch.zeros(4, 2, device="cuda")
torch._foreach_add_([buffer[:, 0], buffer[:, 1]], 1)
same(buffer, torch.ones(4, 2))
out = torch.zeros(3, 2, dtype=torch.int64, device="cuda")
torch.aminmax(torch.arange(6, device="cuda").reshape(3, 2), dim=1, out=(out[:, 0], out[:, 1]))
same(out, torch.arange(6).reshape(3, 2))
# Gradients.
w = torch.ones(4, 4, device="cuda", requires_grad=True)
torch.nn.functional.layer_norm(x @ w, (4,)).pow(2).sum().backward()
assert w.grad.is_cuda and w.grad.shape == (4, 4)
image, filter = torch.ones(1, 1, 4, 4), torch.ones(1, 1, 3, 3)
same(torch.nn.functional.conv2d(image.cuda(), filter.cuda()),
     torch.nn.functional.conv2d(image, filter))
q = torch.ones(1, 2, 4, 8)
attention = torch.nn.functional.scaled_dot_product_attention
same(attention(q.cuda(), q.cuda(), q.cuda()), attention(q, q, q))
# Other streams.
with torch.cuda.stream(torch.cuda.Stream()):
    y = torch.full((3,), 5.0, device="cuda")
    y += 1
torch.cuda.synchronize()
same(y, torch.full((3,), 6.0))
# Torch asks NVML then.
try:
    torch.empty(1 << 50, device="cuda")
    raise SystemExit("there was memory")
except torch.OutOfMemoryError:
    pass
print("right")
"""


# A package that has a CUDA runtime inside, and gives out its functions as Cython does.
BINDINGS = """
import ctypes
new = ctypes.pythonapi.PyCapsule_New
new.restype = ctypes.py_object
new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
NAMES = {}
__pyx_capi__ = {}
for function, signature in (("_cudaGetDeviceCount", b"cudaError_t (int *)"), ("_cudaNoSuchFunction", b"int (void)"),
                            ("own_function", b"int (void)")):
    NAMES[function] = ctypes.create_string_buffer(signature)
    __pyx_capi__[function] = new(4711, NAMES[function], None)
"""
GETTER = """
import ctypes
import importlib
import sys
runtime = importlib.import_module("cuda.bindings." + sys.argv[1])
get = ctypes.pythonapi.PyCapsule_GetPointer
get.restype = ctypes.c_void_p
get.argtypes = [ctypes.py_object, ctypes.c_char_p]
functions = runtime.__pyx_capi__
"""
UNCHANGED = GETTER + """
print(get(functions["_cudaGetDeviceCount"], b"cudaError_t (int *)"))
"""
CALLER = GETTER + """
assert get(functions["_cudaNoSuchFunction"], b"int (void)") == 4711
assert get(functions["own_function"], b"int (void)") == 4711
count = ctypes.c_int(0)
call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(get(functions["_cudaGetDeviceCount"], b"cudaError_t (int *)"))
print(call(ctypes.addressof(count)), count.value)
"""


# Waits for a module, and asks where it is before it imports it.
HOOK = """
import importlib.util, sys
from concurrent.futures import ThreadPoolExecutor
AfterImport = next(type(each) for each in sys.meta_path if type(each).__name__ == "AfterImport")
seen = []
hook = AfterImport("probe", lambda module: seen.append(module.value))
sys.meta_path.insert(0, hook)
with ThreadPoolExecutor(4) as threads:
    for spec in threads.map(importlib.util.find_spec, ["probe"] * 100):
        assert spec.origin == sys.argv[1], spec
assert seen == [] and hook in sys.meta_path
try:
    import probe
except ValueError:
    pass  # at the first time
assert seen == [] and hook in sys.meta_path
import probe
assert seen == [7] and hook not in sys.meta_path, seen
print("right")
"""
PROBE = """
import sys
value = 7
if not hasattr(sys, "probe_was_here"):
    sys.probe_was_here = True
    raise ValueError
"""


class Packages(ExecCase):
    @unittest.skipUnless(HAS_TORCH, "there is no torch")
    def test_operators_run_on_the_cpu_and_the_report_says_so_once(self):
        done, report = self.exec(PYTHON, "-c", PROGRAM, CUDA_VISIBLE_DEVICES="3")
        self.assertEqual((done.stdout, done.returncode), ("right\n", 0), done.stderr)
        self.assertEqual(report["findings"], [])
        self.assertEqual(len(report["unchecked"]), 1)
        self.assertIn("operators of torch", json.dumps(report["unchecked"]))

    def test_a_module_that_was_looked_for_is_prepared_at_its_import(self):
        probe = self.folder / "probe.py"
        probe.write_text(PROBE)
        done, _ = self.exec(sys.executable, "-c", HOOK, probe, PYTHONPATH=str(self.folder))
        self.assertEqual((done.stdout, done.returncode), ("right\n", 0), done.stderr)

    def bindings(self, version, runtime="_bindings.cyruntime"):
        """A package of the version that has its runtime in the given module."""
        inner, module = runtime.split(".")
        package = self.folder / "cuda" / "bindings" / inner
        package.mkdir(parents=True)
        for folder in (package, package.parent, package.parent.parent):
            (folder / "__init__.py").touch()
        (package / f"{module}.py").write_text(BINDINGS)
        facts = self.folder / f"cuda_bindings-{version}.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: cuda-bindings\nVersion: {version}\n")

    def test_a_runtime_inside_of_a_package_is_replaced(self):
        for version, runtime in ("13.3.1", "_bindings.cyruntime"), ("13.5.0", "_internal.runtime"):
            with self.subTest(version), tempfile.TemporaryDirectory() as folder:
                self.folder = pathlib.Path(folder)
                self.bindings(version, runtime)
                done, report = self.exec(sys.executable, "-c", CALLER, runtime, PYTHONPATH=folder)
                self.assertEqual((done.stdout, done.returncode), ("0 1\n", 0), done.stderr)
                self.assertEqual(report["missing"], [])

    def test_a_runtime_of_another_version_stays(self):
        self.bindings("12.9.4")
        done, report = self.exec(sys.executable, "-c", UNCHANGED, "_bindings.cyruntime",
                                 PYTHONPATH=str(self.folder))
        self.assertEqual((done.stdout, done.returncode), ("4711\n", 0), done.stderr)
        self.assertIn("cuda.bindings 12.9.4", json.dumps(report["unchecked"]))

    def test_modules_of_the_same_name_are_imported_too(self):
        (self.folder / "sitecustomize.py").write_text("print('own')\n")
        done, report = self.exec(sys.executable, "-c", "import sitecustomize; print(sitecustomize.__file__)",
                                 PYTHONPATH=str(self.folder))
        self.assertEqual(done.stdout, f"own\n{self.folder / 'sitecustomize.py'}\n", done.stderr)

    def test_a_module_that_is_named_torch_is_left_alone(self):
        (self.folder / "torch.py").write_text("class version:\n    cuda = None\n")
        done, _ = self.exec(sys.executable, "-c", "import torch; print(torch.version.cuda)",
                            PYTHONPATH=str(self.folder))
        self.assertEqual((done.stdout, done.stderr.count("Traceback")), ("None\n", 0), done.stderr)
        (self.folder / "torch.py").write_text("x = 1\n")
        done, _ = self.exec(sys.executable, "-c", "import torch; print(torch.x)", PYTHONPATH=str(self.folder))
        self.assertEqual((done.stdout, done.stderr.count("Traceback")), ("1\n", 0), done.stderr)

    def test_a_torch_that_cannot_be_prepared_is_imported_and_reported(self):
        (self.folder / "torch.py").write_text("_C = None\nclass version:\n    cuda = '13.0'\n")
        done, report = self.exec(sys.executable, "-W", "error", "-c", "import torch; print(torch.version.cuda)",
                                 PYTHONPATH=str(self.folder))
        self.assertEqual((done.stdout, done.returncode), ("13.0\n", 0), done.stderr)
        self.assertIn("torch is not prepared for the simulated GPU", json.dumps(report["unchecked"]))


if __name__ == "__main__":
    unittest.main()
