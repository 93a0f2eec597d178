"""In every Python process of `baton exec`: what packages need on the simulated GPU.

Python imports the first module of this name on its path at its start. The next one, which this one
hides, is imported behind it.
"""

import importlib.machinery
import importlib.util
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


class AfterImport:
    """Finds the module like everybody else, and calls `after` with it when it was executed."""

    def __init__(self, name, after):
        self.name = name
        self.after = after

    def find_spec(self, name, path=None, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = None
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                break
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            self.after(module)

        spec.loader.exec_module = exec_module
        return spec


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


BINDINGS = "cuda.bindings._bindings.cyruntime"
sys.meta_path[:0] = [
    AfterImport("torch", lambda torch: own("torch_operators").take_over(torch)),
    AfterImport(BINDINGS, lambda module: own("runtime_bindings").take_over(module, False)),
    AfterImport(BINDINGS + "_ptds", lambda module: own("runtime_bindings").take_over(module, True)),
]
import_next()
