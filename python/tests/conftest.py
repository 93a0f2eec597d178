"""What the tests of the package share."""

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

pytest_plugins = ["baton.pytest_plugin", "pytester"]


@pytest.fixture
def examples() -> pathlib.Path:
    return ROOT / "examples"
