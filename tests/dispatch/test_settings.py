"""Default dtypes change once, before the first operation on their hardware."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from firebrick.backends.ndarray import NdArray
from firebrick.core import (
    Device,
    DType,
    bfloat16,
    bool_,
    float16,
    float32,
    float64,
    int16,
    int32,
    int64,
)
from firebrick.dispatch.registry import Registry
from firebrick.dispatch.settings import Settings
from firebrick.errors import SettingsError


class Two(NdArray):
    """A backend with two devices."""

    name = "two"

    @classmethod
    def devices(cls) -> list[Device]:
        return [Device.of("two", None, 0), Device.of("two", None, 1)]


@pytest.fixture
def registry() -> Registry:
    registry = Registry()
    registry.register(Two)
    return registry


@pytest.fixture
def settings(registry: Registry) -> Settings:
    return Settings(registry)


@pytest.mark.parametrize(("name", "wide"), [("flex", int32), ("ndarray", int64)])
def test_defaults_are_those_of_the_backend(settings: Settings, name: str, wide: DType) -> None:
    device = Device(name)
    assert settings.default_dtype(device, "float") is float32
    assert settings.default_dtype(device, "int") is wide
    assert settings.default_dtype(device, "bool") is bool_


def test_what_was_configured_is_the_default(settings: Settings) -> None:
    settings.configure(Device.ndarray(), {"float": float64, "int": int16})
    assert settings.default_dtype(Device.ndarray(), "float") is float64
    assert settings.default_dtype(Device.ndarray(), "int") is int16
    assert settings.default_dtype(Device.ndarray(), "bool") is bool_


def test_an_autodiff_device_shares_the_settings_of_its_hardware(settings: Settings) -> None:
    settings.configure(Device.ndarray().autodiff(), {"float": float64})
    assert settings.default_dtype(Device.ndarray(), "float") is float64


def test_each_hardware_has_its_own_settings(settings: Settings) -> None:
    first, second = Device.of("two", None, 0), Device.of("two", None, 1)
    settings.configure(second, {"float": float16})
    assert settings.default_dtype(first, "float") is float32
    assert settings.default_dtype(second, "float") is float16
    settings.configure(first, {"float": float64})


def test_a_second_configure_is_refused(settings: Settings) -> None:
    settings.configure(Device.ndarray(), {"float": float64})
    with pytest.raises(
        SettingsError, match=r"default dtypes of `ndarray`: they were configured before.*float64"
    ):
        settings.configure(Device.ndarray(), {"float": float64})


def test_configure_after_the_first_operation_is_refused(
    registry: Registry, settings: Settings
) -> None:
    registry.backend_for(Device.of("two", None, 1).autodiff())
    with pytest.raises(SettingsError, match=r"tensors were made there already.*`dtype=`"):
        settings.configure(Device.of("two", None, 1), {"float": float64})
    settings.configure(Device.of("two", None, 0), {"float": float64})


def test_looking_at_a_device_does_not_fix_its_defaults(
    registry: Registry, settings: Settings
) -> None:
    assert settings.default_dtype(Device.ndarray(), "float") is float32
    assert registry.decorated(Device.ndarray()).supports_dtype(Device.ndarray(), float64)
    settings.configure(Device.ndarray(), {"float": float64})
    assert settings.default_dtype(Device.ndarray(), "float") is float64


def test_configuring_nothing_is_allowed_at_any_time(settings: Settings) -> None:
    settings.configure(Device.ndarray(), {})
    settings.configure(Device.ndarray(), {"float": float64})
    settings.configure(Device.ndarray(), {})


@pytest.mark.parametrize(
    ("kind", "wanted", "message"),
    [
        ("float", int32, r"cannot make int32 the default float dtype of `ndarray`; supported are"),
        ("float", bfloat16, r"cannot make bfloat16 the default float .* are float64, float32, flo"),
        ("int", float32, r"cannot make float32 the default int dtype .* are int64, int32, int16"),
        ("bool", int32, r"cannot make int32 the default bool dtype of `ndarray`; .* are bool\."),
    ],
)
def test_a_dtype_that_the_device_cannot_use_is_refused(
    settings: Settings, kind: str, wanted: DType, message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        settings.configure(Device.ndarray(), {kind: wanted})


def test_a_refused_dtype_leaves_all_settings_as_they_were(settings: Settings) -> None:
    with pytest.raises(SettingsError, match="int64 the default bool"):
        settings.configure(Device.ndarray(), {"float": float64, "bool": int64})
    assert settings.default_dtype(Device.ndarray(), "float") is float32
    settings.configure(Device.ndarray(), {"float": float64})


def test_of_many_threads_one_configures(settings: Settings) -> None:
    barrier = Barrier(8)

    def configure(index: int) -> DType | None:
        wanted = float64 if index % 2 else float16
        barrier.wait()
        try:
            settings.configure(Device.ndarray(), {"float": wanted})
        except SettingsError:
            return None
        return wanted

    with ThreadPoolExecutor(8) as pool:
        won = [dtype for dtype in pool.map(configure, range(8)) if dtype is not None]
    assert won == [settings.default_dtype(Device.ndarray(), "float")]
