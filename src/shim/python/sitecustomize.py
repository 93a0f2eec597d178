"""In every Python process of `baton exec`: what packages need on the simulated GPU.

Python imports the first module of this name on its path at its start. The next one, which this one
hides, is imported behind it.
"""

import importlib.machinery
import importlib.util
import os
import sys
import threading

FOLDER = os.path.dirname(os.path.abspath(__file__))


class AfterImport:
    """Finds the module like everybody else, and calls `after` with it when it was executed."""

    def __init__(self, name, after):
        self.name = name
        self.after = after
        self.here = threading.local()  # is_asking: the other finders are being asked

    def find_spec(self, name, path=None, target=None):
        # A spec may be asked for without an import behind it, so this stays.
        if name != self.name or getattr(self.here, "is_asking", False):
            return None
        self.here.is_asking = True
        try:
            spec = self.ask_others(path, target)
        finally:
            self.here.is_asking = False
        if spec is not None and spec.loader is not None:
            self.follow(spec.loader)
        return spec

    def ask_others(self, path, target):
        for finder in list(sys.meta_path):
            spec = finder.find_spec(self.name, path, target)
            if spec is not None:
                return spec
        return None

    def follow(self, loader):
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            # A loader may have other modules too, and may have been found before.
            if module.__name__ != self.name or self not in sys.meta_path:
                return
            sys.meta_path.remove(self)
            try:
                self.after(module)
            except Exception as error:  # the import itself succeeded
                own("notices").tell(f"{self.name} is not prepared for the simulated GPU, and its calls may "
                                    f"fail: {type(error).__name__}: {error}")

        loader.exec_module = exec_module


def own(name):
    """A module of this folder."""
    spec = importlib.util.spec_from_file_location(f"baton_{name}", os.path.join(FOLDER, f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def import_next():
    others = [each for each in sys.path if os.path.abspath(each) != FOLDER]
    spec = importlib.machinery.PathFinder.find_spec(__name__, others)
    if spec is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules[__name__] = module
    spec.loader.exec_module(module)


def bindings(own_default_stream):
    return lambda module: own("runtime_bindings").take_over(module, own_default_stream, own("notices"))


# The modules of the runtime in cuda.bindings. The first is that of versions before 13.5.
RUNTIMES = ("cuda.bindings._bindings.cyruntime", "cuda.bindings._internal.runtime")
sys.meta_path[:0] = [
    AfterImport("torch", lambda torch: own("torch_operators").take_over(torch, own("notices"))),
    AfterImport("cutlass.base_dsl.compiler", lambda compiler: own("cute_compiler").take_over(compiler, own("notices"))),
    *(AfterImport(name, bindings(False)) for name in RUNTIMES),
    *(AfterImport(name + "_ptds", bindings(True)) for name in RUNTIMES),
]
import_next()
