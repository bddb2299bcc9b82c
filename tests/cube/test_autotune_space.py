"""What autotuning tries on which device, and which calls it takes for alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from firebrick.cube.autotune import Key, Needs, Space, anchor, default_key
from firebrick.cube.autotune.keys import encode
from firebrick.cube.runtime.base import Properties
from firebrick.errors import DefinitionError, KernelError

SMALL_DEVICE = Properties(
    types=frozenset({"f32"}),
    max_units=256,
    max_cube_dim=(256, 64, 16),
    max_shared_bytes=1024,
    has_planes=False,
)


def test_a_space_is_the_product_of_its_axes_less_what_a_condition_excludes() -> None:
    space = Space(block=(4, 6), tile=(2, 3), way=("a", "b")).where(
        lambda c: c["block"] % c["tile"] == 0
    )
    space = space.where(lambda c: c.choice("way") == "b" or c["tile"] == 2)
    assert [c.name for c in space.configurations()] == [
        "block=4, tile=2, way=a",
        "block=4, tile=2, way=b",
        "block=6, tile=2, way=a",
        "block=6, tile=2, way=b",
        "block=6, tile=3, way=b",
    ]


def test_a_condition_makes_a_new_space() -> None:
    space = Space(n=(1, 2))
    assert len(space.where(lambda c: c["n"] == 1).configurations()) == 1
    assert len(space.configurations()) == 2


@pytest.mark.parametrize(
    ("needs", "reason"),
    [
        (Needs(cube_dim=512), "512 units in a cube, the device has 256"),
        (Needs(cube_dim=(1, 128, 2)), "128 units along y, the device has 64"),
        (Needs(shared_bytes=1028), "1028 bytes of shared memory, the device has 1024"),
        (Needs(types=("f32", "f16")), "f16, which the device does not have"),
        (Needs(planes=True), "plane operations, which the device does not have"),
        (Needs(cube_dim=(256, 1, 1), shared_bytes=1024, types=("f32",)), None),
    ],
)
def test_a_device_s_limits_say_what_it_lacks(needs: Needs, reason: str | None) -> None:
    space = Space(n=(1,)).needs(lambda c: needs)
    configuration = space.configurations()[0]
    assert space.lacking(configuration, SMALL_DEVICE) == reason
    assert space.lacking(configuration, None) is None
    assert space.lacking(configuration, Properties(types=frozenset({"f32", "f16"}))) is None


@pytest.mark.parametrize(
    ("axes", "said"),
    [
        ({}, "at least one axis"),
        ({"n": ()}, "axis `n` has no values"),
        ({"n": (1, 2, 1)}, "axis `n` has a value twice"),
        ({"n": (1, "two")}, "axis `n` has ints or strings"),
        ({"n": (1.5,)}, "axis `n` has ints or strings"),
    ],
)
def test_a_space_that_makes_no_sense_is_refused(axes: dict[str, Any], said: str) -> None:
    with pytest.raises(DefinitionError, match=said):
        Space(**axes)


def test_axes_are_asked_for_by_kind_and_name() -> None:
    configuration = Space(n=(1,), way=("a",)).configurations()[0]
    assert (configuration["n"], configuration.choice("way")) == (1, "a")
    with pytest.raises(DefinitionError, match=r"axis `way` has strings; write `choice\('way'\)`"):
        configuration["way"]
    with pytest.raises(DefinitionError, match=r"axis `n` has numbers; write `\['n'\]`"):
        configuration.choice("n")
    with pytest.raises(DefinitionError, match="the space has no axis `m`; it has n, way"):
        configuration["m"]


# ---- keys -------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def default_level(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the developer has set."""
    monkeypatch.delenv("FIREBRICK_AUTOTUNE_LEVEL", raising=False)


def test_steps_of_sizes_are_powers_at_every_level() -> None:
    sizes = [0, 1, 2, 3, 5, 64, 65, 1000, 1024, 1025]
    assert [anchor(n, at="balanced") for n in sizes] == [
        0, 1, 2, 4, 8, 64, 128, 1024, 1024, 2048,
    ]  # fmt: skip
    assert [anchor(n, at="minimal") for n in sizes] == [
        0, 1, 3, 3, 6, 77, 77, 1024, 1024, 2436,
    ]  # fmt: skip
    assert [anchor(n, at="extensive") for n in sizes] == [
        0, 1, 2, 3, 5, 64, 108, 1449, 1449, 1449,
    ]  # fmt: skip
    assert [anchor(n, at="full") for n in sizes] == sizes


@pytest.mark.parametrize("level", ["minimal", "balanced", "extensive"])
def test_an_anchor_is_its_own_anchor_and_never_smaller(level: Any) -> None:
    for size in range(5000):
        reached = anchor(size, at=level)
        assert reached >= size
        assert anchor(reached, at=level) == reached


def test_anchors_have_bounds_and_other_bases() -> None:
    assert anchor(3, minimum=16, at="balanced") == 16
    assert anchor(5000, maximum=1000, at="balanced") == 1000
    assert anchor(3, minimum=16, at="full") == 16
    assert anchor(11, base=10.0, at="balanced") == 100


def test_the_environment_sets_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIREBRICK_AUTOTUNE_LEVEL", "Full")
    assert anchor(1000) == 1000
    monkeypatch.setenv("FIREBRICK_AUTOTUNE_LEVEL", "most")
    with pytest.raises(KernelError, match="FIREBRICK_AUTOTUNE_LEVEL is 'most'; accepted are off,"):
        anchor(1000)


def test_the_default_key_tells_apart_dtypes_sizes_and_choices_but_not_values() -> None:
    def key(size: int = 100, dtype: str = "f4", flag: bool = True, by: float = 1.0) -> Key:
        return default_key(np.ones((size, 3), dtype), flag, by, 7, None, "way", [1])

    assert key() == key(size=128) == key(by=2.0)
    assert len({encode(k) for k in (key(), key(129), key(dtype="f8"), key(flag=False))}) == 4
    assert default_key(-3) == (-3,)
