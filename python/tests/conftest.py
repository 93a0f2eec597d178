"""What the tests of the package share."""

import pathlib

import pytest

import baton as baton_package
from chain_program import CHAIN

ROOT = pathlib.Path(__file__).resolve().parents[2]

pytest_plugins = ["baton.pytest_plugin", "pytester"]


@pytest.fixture
def examples() -> pathlib.Path:
    return ROOT / "examples"


@pytest.fixture
def program():
    return baton_package.Program.from_text(CHAIN, name="chain.toml")


@pytest.fixture(params=["stream", "graph"])
def bound(request, baton, program):
    return program.bind(N=64, device=baton.target, executor=request.param)
