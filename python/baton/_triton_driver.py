"""The driver of Triton that launches by Baton: what `baton.triton.on` makes active."""

from __future__ import annotations

from typing import Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime.cache import get_cache_manager

from ._core import Device
from ._errors import UnsupportedError
from .triton import TritonKernel, _arguments, _multiples, _passed, load

# CUdevice_attribute numbers.
_REGISTERS_PER_BLOCK = 12
_CLOCK_RATE = 13
_MEMORY_CLOCK_RATE = 36
_MEMORY_BUS_WIDTH = 37


class BatonUtils:
    """The facts about the device that Triton asks its driver for."""

    def __init__(self, device: Device):
        self._device = device

    def get_device_properties(self, device: int) -> dict[str, int]:
        return {
            "max_shared_mem": self._device.max_shared,
            "max_num_regs": self._device.attribute(_REGISTERS_PER_BLOCK),
            "multiprocessor_count": self._device.multiprocessors,
            "warpSize": 32,
            "sm_clock_rate": self._device.attribute(_CLOCK_RATE),
            "mem_clock_rate": self._device.attribute(_MEMORY_CLOCK_RATE),
            "mem_bus_width": self._device.attribute(_MEMORY_BUS_WIDTH),
        }

    def load_binary(self, name: str, kernel: bytes, shared: int,
                    device: int) -> tuple[Any, Any, int, int, int]:
        """Nothing is loaded here: the launcher loads the image that fits the device."""
        return name, name, 0, 0, self._device.max_threads

    def unload_module(self, module: Any) -> None:
        pass


class BatonLauncher:
    """Launches one compiled kernel."""

    def __init__(self, device: Device, source: Any, metadata: Any):
        if not hasattr(source, "signature"):
            raise UnsupportedError("a Triton kernel from a text of its IR has no signature",
                                   code="unsupported")
        types = tuple(source.signature.values())
        files = get_cache_manager(metadata.hash)
        path = files.get_file(f"{metadata.name}.json")
        kernel = load(path, device)
        self._kernel = TritonKernel(kernel.kernel, kernel.metadata, _passed(types),
                                    _multiples(types, source))
        self._types = types

    def __call__(self, grid_x: int, grid_y: int, grid_z: int, stream: int, function: Any,
                 kernel_metadata: Any, launch_metadata: Any, enter_hook: Any, exit_hook: Any,
                 *arguments: Any) -> None:
        if enter_hook is not None:
            enter_hook(launch_metadata)
        self._kernel.launch(*_arguments(self._types, arguments), grid=(grid_x, grid_y, grid_z))
        if exit_hook is not None:
            exit_hook(launch_metadata)


class BatonDriver(DriverBase):
    """A driver of Triton over one device of Baton. Launches go to the stream that Baton chooses."""

    def __init__(self, device: Device):
        super().__init__()
        self.device = device
        self.utils = BatonUtils(device)

    def launcher_cls(self, source: Any, metadata: Any) -> BatonLauncher:
        return BatonLauncher(self.device, source, metadata)

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        raise UnsupportedError("Baton compiles no launcher in C", code="unsupported")

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.device.architecture, 32)

    def get_current_device(self) -> Any:
        """Returns the key under which Triton keeps the kernels that it loaded. No device number:
        under that one Triton keeps what its own driver loaded."""
        return f"baton {self.device.spec}"

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_device_capability(self, device: int) -> tuple[int, int]:
        return divmod(self.device.architecture, 10)

    def get_active_torch_device(self) -> Any:
        import torch
        if self.device.is_simulated:
            return torch.device("cpu")
        return torch.device("cuda", self.device.ordinal)

    def get_benchmarker(self) -> Any:
        from triton.testing import do_bench
        return do_bench
