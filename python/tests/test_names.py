"""What objects say of themselves, docstrings, and names of types."""

import dataclasses
import inspect
import re

import numpy as np
import pytest

import baton as baton_package

SOURCE = 'extern "C" __global__ void add(int* p, int n) { atomicAdd(p, n); }'


def test_objects_say_what_they_are(baton):
    add = baton.compile(text=SOURCE)["add"]
    assert repr(add[2, 32]) == "<baton.Kernel add[(2, 1, 1), (32, 1, 1)]>"
    plan = add.plan(np.zeros(1, np.int32), 1, grid=2, block=32)
    assert repr(plan) == f"<baton.Plan of add, grid (2, 1, 1), block (32, 1, 1), on {baton.target.spec}>"
    event = baton.Stream(baton.target).record()
    event.synchronize()
    assert repr(event) == f"<baton.Event on {baton.target.spec}, reached>"


def is_public_member(value):
    return (callable(value) or isinstance(value, (property, classmethod, staticmethod))
            or inspect.isdatadescriptor(value))


def test_public_names_have_docstrings():
    """Functions, classes, and their public members."""
    missing = []
    for name in baton_package.__all__:
        value = getattr(baton_package, name)
        if name.startswith("_") or not callable(value):
            continue
        own = vars(value).get("__doc__") if isinstance(value, type) else value.__doc__
        if not own:
            missing.append(name)
        for member, described in vars(value).items() if isinstance(value, type) else ():
            if not member.startswith("_") and is_public_member(described):
                if not (getattr(value, member).__doc__ or described.__doc__):
                    missing.append(f"{name}.{member}")
    assert not missing


def test_classes_of_values_describe_their_fields():
    """`help` shows the docstring alone: a comment beside a field is not seen."""
    values = [value for value in (getattr(baton_package, name) for name in baton_package.__all__)
              if isinstance(value, type) and dataclasses.is_dataclass(value)]
    assert len(values) > 15
    missing = [f"{value.__name__}.{field.name}" for value in values for field in dataclasses.fields(value)
               if not field.name.startswith("_")
               and not re.search(rf"(?m)^ *{field.name}: \S", value.__doc__)]
    assert not missing


@pytest.mark.parametrize("given, meant", [("f4", "f32"), ("<i4", "i32"), ("u2", "u16"), ("f2", "f16")])
def test_codes_of_numpy_are_no_dtypes(baton, given, meant):
    with pytest.raises(baton_package.ArgumentError, match=f'did you mean "{meant}"'):
        baton.zeros(1, given)
