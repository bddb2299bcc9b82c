"""Which class a backend's name stands for, and that there is one instance of it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep
from typing import TYPE_CHECKING, Any

import pytest

from firebrick.backends.flex import Flex
from firebrick.backends.ndarray import NdArray
from firebrick.core import BalancedCheckpointing, Device, NoCheckpointing
from firebrick.decorators.autodiff import Autodiff
from firebrick.dispatch import backend_for, instance_of, register_backend
from firebrick.dispatch.registry import Registry
from firebrick.errors import BackendUnavailableError, DispatchError, SelectorError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def registry() -> Registry:
    """A registry that nothing was asked of."""
    return Registry()


class Mirror(NdArray):
    name = "mirror"


def test_a_backend_has_one_instance(registry: Registry) -> None:
    assert registry.instance_of("flex") is registry.instance_of("flex")
    assert type(registry.instance_of("flex")) is Flex


def test_threads_that_ask_first_at_once_get_one_instance(registry: Registry) -> None:
    made: list[object] = []

    class Slow(NdArray):
        name = "slow"

        def __init__(self) -> None:
            super().__init__()
            sleep(0.05)
            made.append(self)

    registry.register(Slow)
    barrier = Barrier(8)

    def ask(_: int) -> object:
        barrier.wait()
        return registry.backend_for(Device.of("slow").autodiff())

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))
    assert len(made) == 1
    assert len({id(answer) for answer in answers}) == 1


def test_a_backend_that_failed_to_start_is_tried_again(registry: Registry) -> None:
    attempts: list[int] = []

    class Late(NdArray):
        name = "late"

        def __init__(self) -> None:
            attempts.append(len(attempts))
            if len(attempts) == 1:
                raise BackendUnavailableError("the driver is still loading.")
            super().__init__()

    registry.register(Late)
    with pytest.raises(BackendUnavailableError, match="still loading"):
        registry.backend_for(Device.of("late"))
    assert type(registry.backend_for(Device.of("late"))) is Late


def test_an_unknown_backend_gets_a_suggestion(registry: Registry) -> None:
    with pytest.raises(DispatchError, match=r"no device 'flexx'; did you mean `flex`\?"):
        registry.instance_of("flexx")


@pytest.mark.parametrize("name", ["cube", "remote"])
def test_a_backend_that_this_version_lacks_is_unavailable(registry: Registry, name: str) -> None:
    with pytest.raises(BackendUnavailableError, match=r"firebrick\[.*no .* yet; use `flex`"):
        registry.instance_of(name)


def test_the_device_of_an_absent_card_is_unavailable(registry: Registry) -> None:
    pytest.importorskip("torch")
    with pytest.raises(
        BackendUnavailableError, match=r"`libtorch:cuda:97` is not here; usable .* `libtorch:cpu`"
    ):
        registry.backend_for(Device("libtorch:cuda:97"))


# ---- autodiff --------------------------------------------------------------------------------


def test_an_autodiff_device_has_one_decorator_for_each_strategy(registry: Registry) -> None:
    device = Device.ndarray().autodiff()
    plain = registry.backend_for(device)
    balanced = registry.backend_for(device.gradient_checkpointing())
    assert isinstance(plain, Autodiff)
    assert plain.inner is registry.backend_for(device.inner())
    assert registry.backend_for(device) is plain
    assert balanced is not plain
    assert (plain.checkpointing, balanced.checkpointing) == (NoCheckpointing, BalancedCheckpointing)


# ---- registration ----------------------------------------------------------------------------


def test_registering_gives_the_class_back_and_makes_it_a_device() -> None:
    assert register_backend(Mirror) is Mirror
    assert type(instance_of("mirror")) is Mirror
    assert backend_for(Device("mirror:0")) is instance_of("mirror")


def test_a_name_in_use_by_another_class_is_refused(registry: Registry) -> None:
    registry.register(Mirror)

    class Other(NdArray):
        name = "mirror"

    with pytest.raises(SelectorError, match=r"`.*Other` cannot be named 'mirror': `.*Mirror` has"):
        registry.register(Other)
    assert registry.class_of("mirror") is Mirror


@pytest.mark.parametrize("taken", ["flex", "Flex", "libtorch", "cube", "remote", "capture"])
def test_the_name_of_a_built_in_backend_is_refused(registry: Registry, taken: str) -> None:
    class Other(NdArray):
        name = taken

    with pytest.raises(SelectorError, match=rf"'{taken}': firebrick's own `{taken.lower()}` has"):
        registry.register(Other)


def test_a_subclass_without_a_name_of_its_own_is_refused(registry: Registry) -> None:
    class Nameless(NdArray):
        pass

    with pytest.raises(SelectorError, match=r"'ndarray': firebrick's own `ndarray` has that name"):
        registry.register(Nameless)


def test_a_built_in_class_may_be_registered_again(registry: Registry) -> None:
    before = registry.instance_of("flex")
    registry.register(Flex)
    assert registry.instance_of("flex") is before


@pytest.mark.parametrize("wrong", ["", "a b", "cuda:0", "1st", None, 7])
def test_a_name_that_is_no_identifier_is_refused(registry: Registry, wrong: Any) -> None:
    class Odd(NdArray):
        name = wrong

    with pytest.raises(SelectorError, match=r"`Odd` needs a class attribute `name` .* got"):
        registry.register(Odd)


@pytest.mark.parametrize("runtime", ["cpu", "wgpu", "cuda", "rocm", "CUDA", "autodiff", "fusion"])
def test_the_name_of_a_runtime_or_decorator_is_refused(registry: Registry, runtime: str) -> None:
    class Odd(NdArray):
        name = runtime

    with pytest.raises(SelectorError, match=rf"cannot be named '{runtime}': that is a kernel run"):
        registry.register(Odd)


def test_a_decorator_cannot_be_registered(registry: Registry) -> None:
    class Recorder(NdArray):
        name = "recorder"
        role = "autodiff"

    with pytest.raises(SelectorError, match=r"`Recorder` decorates a backend \(role 'autodiff'\)"):
        registry.register(Recorder)


@pytest.mark.parametrize("value", ["mirror", Device, 3])
def test_what_is_no_backend_class_is_refused(registry: Registry, value: Any) -> None:
    with pytest.raises(SelectorError, match="a backend is a subclass of `Backend`; got"):
        registry.register(value)


def test_the_same_definition_run_again_replaces_the_first(registry: Registry) -> None:
    def cell() -> type[NdArray]:
        class Notebook(NdArray):
            name = "notebook"

        registry.register(Notebook)
        return Notebook

    first, device = cell(), Device.of("notebook").autodiff()
    before = registry.backend_for(device)
    second = cell()
    after = registry.backend_for(device)
    assert type(before.inner) is first
    assert type(after.inner) is second
    assert registry.backend_for(device) is after


# ---- entry points ----------------------------------------------------------------------------


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Puts a distribution `shiny` on the path that offers `name` as `module:Shiny`."""

    def install(name: str, source: str) -> None:
        folder = tmp_path / "shiny-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: shiny\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(
            f"[firebrick.backends]\n{name} = shiny_backend:Shiny\n"
        )
        (tmp_path / "shiny_backend.py").write_text(source)
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
        monkeypatch.delitem(sys.modules, "shiny_backend", raising=False)

    return install


SHINY = """
from firebrick.backends.ndarray import NdArray
from firebrick.dispatch import register_backend

class Shiny(NdArray):
    name = "shiny"
"""


def test_an_installed_package_brings_a_backend(registry: Registry, install: Any) -> None:
    install("shiny", SHINY)
    assert registry.spelling("SHINY") == "shiny"
    assert "shiny" in registry.names()
    assert "shiny_backend" not in sys.modules
    assert type(registry.instance_of("shiny")).__name__ == "Shiny"
    assert registry.instance_of("shiny") is registry.instance_of("shiny")


def test_a_package_whose_import_fails_is_unavailable(registry: Registry, install: Any) -> None:
    install("shiny", "import a_package_that_is_not_here")
    with pytest.raises(
        BackendUnavailableError,
        match=r"`shiny` is offered by the entry point `shiny_backend:Shiny` of shiny, .* "
        "No module named 'a_package_that_is_not_here'",
    ):
        registry.instance_of("shiny")


def test_an_entry_without_its_class_is_unavailable(registry: Registry, install: Any) -> None:
    install("shiny", "")
    with pytest.raises(BackendUnavailableError, match="has no attribute 'Shiny'"):
        registry.instance_of("shiny")


def test_an_entry_under_another_name_than_its_class_is_refused(
    registry: Registry, install: Any
) -> None:
    install("glossy", SHINY)
    with pytest.raises(SelectorError, match=r"'glossy', but the name of its class `Shiny` is 'sh"):
        registry.instance_of("glossy")


def test_an_entry_that_is_no_backend_is_refused(registry: Registry, install: Any) -> None:
    install("shiny", "Shiny = 3")
    with pytest.raises(SelectorError, match="a backend is a subclass of `Backend`; got 3"):
        registry.instance_of("shiny")


# ---- laziness --------------------------------------------------------------------------------


def test_naming_devices_imports_no_backend() -> None:
    code = (
        "import sys\n"
        "from firebrick.dispatch import Device\n"
        "Device('libtorch:cuda:0'), Device.libtorch(), Device('ndarray'), Device.flex(), "
        "Device('cuda'), Device.default()\n"
        "print([m for m in sys.modules if m == 'torch' or m.startswith('firebrick.backends.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
