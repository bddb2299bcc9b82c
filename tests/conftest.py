"""Devices that tests run on, as fixtures."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
from hypothesis import settings

from firebrick import Device, Tensor
from firebrick.errors import BackendUnavailableError

# The package that each execution backend needs besides NumPy.
DEVICES = {"flex": "numpy", "ndarray": "numpy", "libtorch": "torch"}

# A slow machine is no failure. Properties of one operation show in a few dozen examples.
settings.register_profile("firebrick", deadline=None, max_examples=40)
settings.load_profile("firebrick")


def open_device(name: str) -> Device:
    """The device of that name; a skip if its package is missing, a failure if it is not."""
    device = Device(name)
    try:
        Tensor.zeros((), device)
    except BackendUnavailableError as reason:
        if find_spec(DEVICES[name]) is None:
            pytest.skip(f"{name}: {reason}")
        raise
    return device


# Session-scoped, since hypothesis refuses fixtures of one test.
@pytest.fixture(scope="session", params=DEVICES)
def device(request: pytest.FixtureRequest) -> Device:
    """Every execution backend of this machine, without autodiff."""
    return open_device(request.param)


@pytest.fixture(scope="session")
def flex() -> Device:
    """The default backend."""
    return Device.flex()


@pytest.fixture(scope="session")
def tracked() -> Device:
    """The default backend under autodiff."""
    return Device.flex().autodiff()
