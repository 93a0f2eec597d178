"""Operators of torch for the simulated GPU: they run on the CPU.

Torch's own kernels are machine code. For each operator that has one, this registers another: the
inputs are copied to the host, the operator of the CPU runs, and what it made or changed is copied
back. Tensors stay where they are, so kernels of the program see them. Allocations, views, streams
and events remain torch's own.
"""

import ctypes
import os
import warnings

# Memory alone, which needs no kernel.
OWN = ("empty", "resize_", "set_", "record_stream", "_local_scalar_dense", "_pin_memory",
       "is_pinned", "_resize_output_")


class Driver:
    """The calls of the CUDA driver that move bytes."""

    def __init__(self):
        library = ctypes.CDLL("libcuda.so.1")
        self.library = library
        for name in ("cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2"):
            getattr(library, name).argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]

    def check(self, result, what):
        if result != 0:
            raise RuntimeError(f"CUDA error {result} in a copy of {what}")

    def down(self, host, device, count):
        self.check(self.library.cuMemcpyDtoH_v2(host, device, count), "a tensor to the host")

    def up(self, device, host, count):
        self.check(self.library.cuMemcpyHtoD_v2(device, host, count), "a tensor to the device")


class Operators:
    def __init__(self, torch, notices):
        self.torch = torch
        self.notices = notices
        self.driver = Driver()
        self.told = set()  # processes

    # --- Copies of tensors ---

    def span(self, tensor):
        """The bytes of the storage that the elements lie in: the first one, and how many."""
        if tensor.numel() == 0:
            return 0, 0
        last = sum((size - 1) * stride for size, stride in zip(tensor.size(), tensor.stride()))
        item = tensor.element_size()
        return tensor.storage_offset() * item, (last + 1) * item

    def has_gaps(self, tensor):
        """Whether bytes of others lie between the elements."""
        _, count = self.span(tensor)
        return tensor.numel() * tensor.element_size() < count

    def to_host(self, tensor):
        """The same tensor on the CPU, with the bytes between its elements."""
        torch = self.torch
        _, count = self.span(tensor)
        bytes_of_host = torch.empty(count, dtype=torch.uint8)
        if count:
            self.driver.down(bytes_of_host.data_ptr(), tensor.data_ptr(), count)
        storage = bytes_of_host.untyped_storage()
        host = torch.empty(0, dtype=tensor.dtype)
        host.set_(storage, 0, tensor.size(), tensor.stride())
        if tensor.is_conj():
            host = torch._conj(host)
        return torch._neg_view(host) if tensor.is_neg() else host

    def to_device(self, host, device):
        made = self.torch.empty_strided(host.size(), host.stride(), dtype=host.dtype, device=device)
        self.write_bytes(made, host)
        return made

    def write(self, tensor, host):
        """The elements of a tensor of the CPU. The bytes between those of the tensor are others'."""
        on_host = self.to_host(tensor)
        on_host.copy_(host)
        self.write_bytes(tensor, on_host)

    def write_bytes(self, tensor, host):
        """All bytes of a tensor of the CPU with the same strides."""
        _, count = self.span(tensor)
        if count:
            self.driver.up(tensor.data_ptr(), host.data_ptr(), count)

    def synchronize(self):
        self.torch.cuda.current_stream().synchronize()

    # --- Operators ---

    def begin(self):
        if os.getpid() not in self.told:
            self.told.add(os.getpid())
            self.notices.report("operators of torch are machine code: they ran on the CPU")
        self.synchronize()

    def copy(self, target, source, non_blocking=False):
        """copy_: of any type and layout, in any direction."""
        self.begin()
        host = self.to_host(source) if source.is_cuda else source
        if not target.is_cuda:
            return target.copy_(host)
        self.write(target, host)
        return target

    def run(self, operator, given, tensors):
        """Calls the operator. `x % 2` gives a number to the operator for two tensors, which takes
        only some from Python: other numbers have an operator of their own."""
        numbers = [name for name in tensors if isinstance(given.get(name), (int, float, complex))]
        if numbers:
            try:
                return operator.overloadpacket(**given)
            except (RuntimeError, TypeError):  # none for numbers
                given.update({name: self.torch.tensor(given[name]) for name in numbers})
        return operator(**given)

    def kernel_of(self, operator):
        """What stands for the operator on the device."""
        torch = self.torch
        schema = operator._schema
        names = [argument.name for argument in schema.arguments]
        tensors = [argument.name for argument in schema.arguments
                   if str(argument.type) in ("Tensor", "Optional[Tensor]")]
        written = {argument.name for argument in schema.arguments
                   if argument.alias_info is not None and argument.alias_info.is_write}
        by_alias = {}
        for argument in schema.arguments:
            if argument.name in written:
                for alias in argument.alias_info.before_set:
                    by_alias[alias] = argument.name

        def call(*arguments, **keywords):
            self.begin()
            given = dict(zip(names, arguments))
            given.update(keywords)
            device = None
            moved = []  # tensors of the device, with those of the host and their names

            def move(value, name):
                nonlocal device
                if isinstance(value, torch.Tensor) and value.is_cuda:
                    device = value.device
                    host = self.to_host(value)
                    moved.append((name, value, host))
                    return host
                if isinstance(value, (list, tuple)):
                    return type(value)(move(each, name) for each in value)
                if isinstance(value, torch.Generator):
                    return None
                if isinstance(value, torch.device) and value.type == "cuda":
                    device = value
                    return torch.device("cpu")
                return value

            result = self.run(operator, {name: move(value, name) for name, value in given.items()}, tensors)
            for name, tensor, host in moved:
                if name not in written:
                    continue
                if host.size() != tensor.size():
                    tensor.resize_(host.size())
                if host.stride() != tensor.stride() or self.has_gaps(tensor):
                    self.write(tensor, host)
                else:
                    self.write_bytes(tensor, host)

            def back(value, returned):
                if returned is not None and returned.alias_info is not None:
                    for alias in returned.alias_info.before_set:
                        if alias in by_alias:
                            return given[by_alias[alias]]
                if isinstance(value, torch.Tensor) and not value.is_cuda and device is not None:
                    return self.to_device(value.resolve_conj().resolve_neg(), device)
                if isinstance(value, (list, tuple)):
                    return type(value)(back(each, None) for each in value)
                return value

            returns = schema.returns
            if len(returns) == 1:
                return back(result, returns[0])
            if isinstance(result, tuple):
                return tuple(back(each, returned) for each, returned in zip(result, returns))
            return result

        return call

    def is_replaced(self, operator, name):
        torch = self.torch
        if name.split("::", 1)[1].startswith(OWN):
            return False
        # Views, which share memory and move nothing.
        if any(each.alias_info is not None and not each.alias_info.is_write
               for each in operator._schema.returns):
            return False
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        return has(name, "CPU") or has(name, "CompositeExplicitAutograd")

    def operator_of(self, name):
        packet, _, overload = name.split("::", 1)[1].partition(".")
        found = getattr(self.torch.ops.aten, packet, None)
        return getattr(found, overload or "default", None) if found is not None else None

    def implement(self, library, name, kernel):
        try:
            library.impl(name, kernel, allow_override=True)
        except TypeError:  # torch before 2.4 allows it always
            library.impl(name, kernel)

    def register(self):
        torch = self.torch
        library = torch.library.Library("aten", "IMPL", "CUDA")
        for name in torch._C._dispatch_get_registrations_for_dispatch_key("CUDA"):
            if not name.startswith("aten::"):
                continue
            operator = self.operator_of(name)
            if operator is None or not self.is_replaced(operator, name):
                continue
            self.implement(library, name[len("aten::"):], self.kernel_of(operator))
        library.impl("copy_", self.copy)
        return library


def take_over(torch, notices):
    """Does nothing for a torch without CUDA, without the driver, and for other modules of that name."""
    version = getattr(torch, "version", None)
    if getattr(version, "cuda", None) is None or not hasattr(torch, "_C"):
        return
    try:
        operators = Operators(torch, notices)
    except OSError:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The library is unloaded when no reference is left.
        torch._baton_operators = operators.register()
        # Faster variants have no counterpart on the CPU.
        torch.backends.cudnn.enabled = False
        for choose in ("enable_flash_sdp", "enable_mem_efficient_sdp", "enable_cudnn_sdp"):
            if hasattr(torch.backends.cuda, choose):
                getattr(torch.backends.cuda, choose)(False)
