"""The default device, the list of devices, and what remote devices say for now."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest

from firebrick.backends.ndarray import NdArray
from firebrick.core import Device, float64, int8
from firebrick.dispatch.registry import Registry
from firebrick.dispatch.resolver import Resolver
from firebrick.dispatch.settings import Settings
from firebrick.errors import BackendUnavailableError, DispatchError


@pytest.fixture
def registry() -> Registry:
    return Registry()


@pytest.fixture
def resolver(registry: Registry) -> Resolver:
    return Resolver(registry, Settings(registry))


# ---- the default device ----------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, ""])
def test_the_default_device_is_flex(
    resolver: Resolver, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.delenv("FIREBRICK_DEVICE", raising=False)
    if value is not None:
        monkeypatch.setenv("FIREBRICK_DEVICE", value)
    assert resolver.default() == ("flex", None, 0)


def test_the_environment_names_the_default_device(
    resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIREBRICK_DEVICE", "NdArray")
    assert resolver.default() == ("ndarray", None, 0)
    monkeypatch.setenv("FIREBRICK_DEVICE", "CUDA:1")
    assert resolver.default() == ("cube", "cuda", 1)


def test_an_unknown_default_device_is_an_error_each_time(
    resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIREBRICK_DEVICE", "warp")
    for _ in range(2):
        with pytest.raises(DispatchError, match=r"FIREBRICK_DEVICE is 'warp', but there is no"):
            resolver.default()


def test_a_registered_backend_can_be_the_default(
    registry: Registry, resolver: Resolver, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Own(NdArray):
        name = "Own"

    registry.register(Own)
    monkeypatch.setenv("FIREBRICK_DEVICE", "OWN:0")
    assert resolver.default() == ("Own", None, 0)


@pytest.mark.parametrize(
    ("value", "printed"),
    [("", "flex"), ("LibTorch", "libtorch:cpu"), ("flexx", "FIREBRICK_DEVICE is 'flexx'")],
)
def test_a_fresh_process_obeys_the_environment(value: str, printed: str) -> None:
    code = (
        "from firebrick.dispatch import Device\n"
        "from firebrick.errors import DispatchError\n"
        "try: print(Device.default())\n"
        "except DispatchError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={**os.environ, "FIREBRICK_DEVICE": value},
    )
    assert printed in done.stdout


# ---- listing ---------------------------------------------------------------------------------


def test_usable_devices_of_all_backends_are_listed(resolver: Resolver) -> None:
    listed = resolver.enumerate(None, None)
    assert [str(device) for device in listed[:2]] == ["flex", "ndarray"]
    assert (Device.libtorch() in listed) == (find_spec("torch") is not None)
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("name", ["flex", "ndarray", "capture"])
def test_the_devices_of_one_backend_are_listed(resolver: Resolver, name: str) -> None:
    assert resolver.enumerate(name, None) == [Device(name)]


def test_the_capture_device_is_listed_only_where_it_is_named(resolver: Resolver) -> None:
    assert Device.capture() not in resolver.enumerate(None, None)


@pytest.mark.parametrize("name", ["cpu", "cuda", "rocm", "wgpu", "cube"])
def test_what_is_unavailable_has_no_devices(resolver: Resolver, name: str) -> None:
    assert resolver.enumerate(name, None) == []


def test_a_registered_backend_is_listed(registry: Registry, resolver: Resolver) -> None:
    class Pair(NdArray):
        name = "pair"

        @classmethod
        def devices(cls) -> list[Device]:
            return [Device.of("pair", None, 0), Device.of("pair", None, 1)]

    registry.register(Pair)
    assert resolver.enumerate("pair", None) == Pair.devices()
    assert set(Pair.devices()) <= set(resolver.enumerate(None, None))


def test_a_backend_whose_hardware_is_missing_is_left_out(
    registry: Registry, resolver: Resolver
) -> None:
    class Gone(NdArray):
        name = "gone"

        @classmethod
        def devices(cls) -> list[Device]:
            raise BackendUnavailableError("there is no such card.")

    registry.register(Gone)
    assert resolver.enumerate("gone", None) == []
    assert all(device.backend != "gone" for device in resolver.enumerate(None, None))


def test_an_error_in_a_backend_is_not_taken_for_missing_hardware(
    registry: Registry, resolver: Resolver
) -> None:
    class Broken(NdArray):
        name = "broken"

        @classmethod
        def devices(cls) -> list[Device]:
            raise ZeroDivisionError

    registry.register(Broken)
    with pytest.raises(ZeroDivisionError):
        resolver.enumerate("broken", None)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("flexx", r"there is no device 'flexx'; did you mean `flex`\?"),
        ("remote", r"the devices of a server are listed by its URL; got 'remote'"),
    ],
)
def test_an_unknown_kind_is_refused(resolver: Resolver, kind: str, message: str) -> None:
    with pytest.raises(DispatchError, match=message):
        resolver.enumerate(kind, None)


# ---- remote ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ask",
    [
        lambda: Device.remote("ws://example.org:1", token="secret"),
        lambda: Device.enumerate("ws://example.org:1"),
    ],
)
def test_remote_devices_are_unavailable_in_this_version(ask: Any) -> None:
    with pytest.raises(
        BackendUnavailableError,
        match=r"'ws://example\.org:1': .*`firebrick\[remote\]`.*no remote runtime yet",
    ) as caught:
        ask()
    assert "secret" not in str(caught.value)


# ---- behaviour of devices --------------------------------------------------------------------


def test_a_device_is_asked_without_being_used(registry: Registry, resolver: Resolver) -> None:
    device = Device.ndarray().autodiff()
    assert resolver.open(device) is registry.backend_for(device)
    assert resolver.open(Device.flex()).supports_dtype(Device.flex(), int8)
    assert not registry.is_used(Device.flex())


def test_settings_reach_the_device(registry: Registry, resolver: Resolver) -> None:
    resolver.configure(Device.ndarray(), {"float": float64})
    assert resolver.default_dtype(Device.ndarray(), "float") is float64
