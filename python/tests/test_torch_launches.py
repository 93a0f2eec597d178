"""Launches with torch's tensors of a GPU, without one: torch makes them of memory that says it is a GPU's, and a driver
whose launches hand over their arguments takes them."""

import pytest

pytest.importorskip("torch", reason="torch is not installed")

from test_common_arguments import run  # noqa: E402

PREAMBLE = """
import torch

get_pointer = ctypes.pythonapi.PyCapsule_GetPointer
get_pointer.restype = ctypes.c_void_p
get_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
torch_table = Table.from_address(get_pointer(torch.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))
from_managed = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.py_object))(
    torch_table.from_managed)
torch_view = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))(torch_table.to_view)
proven = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 14)

class Managed(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", Tensor)]

kept = []

def cuda(tensor, device=0):
    managed, view = Managed(1, 1), Tensor()
    assert torch_view(id(tensor), ctypes.byref(view)) == 0
    view.device_type, view.device_id = 2, device
    managed.tensor = view
    kept.append((managed, tensor))
    made = ctypes.py_object()
    assert from_managed(ctypes.addressof(managed), ctypes.byref(made)) == 0
    return made.value

views_asked, move = 0, 0

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Tensor))
def counted_view(address, out):
    global views_asked
    views_asked += 1
    try:
        result = torch_view(address, out)
    except Exception:  # ctypes raises what torch set; out of a callback it would be a result of 0
        return -1
    out.contents.byte_offset += move
    return result

counted = Table.from_buffer_copy(torch_table)
counted.to_view = ctypes.cast(counted_view, ctypes.c_void_p)
counted.current_stream = ctypes.cast(current_stream, ctypes.c_void_p)
torch.Tensor.__dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(counted), b"dlpack_exchange_api", None)

def arrives(tensor):
    bound(tensor, None, 0.0, 0)
    stream, values = launched.pop()
    return stream == STREAM and values[0] == tensor.data_ptr()
"""


def run_torch(code):
    return run(PREAMBLE + code)


def test_addresses_arrive():
    run_torch("""
memory = torch.ones(4, 8)
many = [cuda(torch.ones(4, 8)) for _ in range(20)]
assert all(arrives(one) for one in many)
first = views_asked
assert first == (8 if proven else 20), first
assert all(arrives(one) for one in many)
assert arrives(torch.nn.Parameter(many[0]))
for view in (memory[2:], memory[3, 4], memory.view(1, 32)[:, 8:], memory.t()[:, :1].t()):
    assert arrives(cuda(view))
assert not proven or views_asked == first
# A dtype that was not seen is asked for once.
doubles = cuda(torch.ones(3, dtype=torch.float64))
for _ in range(3):
    bound(many[0], doubles, 0.0, 0)
    assert launched.pop()[1][:2] == [many[0].data_ptr(), doubles.data_ptr()]
assert not proven or views_asked == first + 1
bound(cuda(torch.ones(0, 8)), None, 0.0, 0)
assert launched.pop()[1][0] == 0
# A tensor whose object gets another.
torch.utils.swap_tensors(many[2], many[3])
assert arrives(many[2]) and arrives(many[3])
""")


def test_what_does_not_fit_is_refused():
    printed = run_torch("""
good = cuda(torch.ones(4, 8))
for _ in range(10):
    bound(good, None, 0.0, 0)
launched.clear()

class Own(torch.Tensor):  # may have a meaning of its own
    pass

asked = views_asked
refused(torch.ones(4).as_subclass(Own), None, 1.0, 1)
assert views_asked > asked
for wrong in (cuda(torch.ones(4, 8), device=1), torch.ones(4, 8), cuda(torch.ones(8, dtype=torch.float64)),
              cuda(torch.ones(4, 8).t()), cuda(torch.ones(4, 8)[:, ::2]), cuda(torch.ones(8, dtype=torch.complex64)),
              torch.ones(8, 8, device="meta"), torch.ones(8, 8).to_sparse()):
    refused(wrong, None, 1.0, 1)
assert not launched
""")
    wanted = ["0 is in host memory", "0 is in memory of another device (DLPack's type 2, id 1)", "0 is in host memory",
              "0 is an array of f64", "0 is not contiguous", "0 is not contiguous", "0 is an array of complex",
              "0 is a Tensor that gives no view", "0 is a Tensor that gives no view"]
    lines = printed.splitlines()
    assert len(lines) == len(wanted), printed
    for line, text in zip(lines, wanted):
        assert line.startswith(f"ArgumentError {text}"), line


def test_a_disagreement_is_noticed():
    """A table that tells other addresses than torch's C interface: what the table says holds."""
    run_torch("""
move = 64
tensor = cuda(torch.ones(64))
for _ in range(20):
    bound(tensor, None, 0.0, 0)
    assert launched.pop()[1][0] == tensor.data_ptr() + 64
assert views_asked == 20
""")
