"""Which texts name a device, and what the others are told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebrick.dispatch.parse import parse_device, parse_environment
from firebrick.errors import DispatchError


class Known:
    """The built-in backends and one of a third party."""

    def spelling(self, name: str) -> str | None:
        return {known.casefold(): known for known in self.names()}.get(name.casefold())

    def names(self) -> list[str]:
        return ["flex", "ndarray", "libtorch", "capture", "cube", "remote", "Mirror"]


KNOWN = Known()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("flex", ("flex", None, 0)),
        ("flex:0", ("flex", None, 0)),
        ("ndarray", ("ndarray", None, 0)),
        ("capture", ("capture", None, 0)),
        ("libtorch", ("libtorch", "cpu", 0)),
        ("libtorch:cpu", ("libtorch", "cpu", 0)),
        ("libtorch:cuda", ("libtorch", "cuda", 0)),
        ("libtorch:cuda:3", ("libtorch", "cuda", 3)),
        ("libtorch:mps", ("libtorch", "mps", 0)),
        ("cpu", ("cube", "cpu", 0)),
        ("cuda", ("cube", "cuda", 0)),
        ("cuda:1", ("cube", "cuda", 1)),
        ("rocm:1", ("cube", "rocm", 1)),
        ("wgpu", ("cube", "wgpu", 0)),
        ("wgpu:2", ("cube", "wgpu", 2)),
        ("wgpu-discrete:1", ("cube", "wgpu-discrete", 1)),
        ("Mirror", ("Mirror", None, 0)),
        ("Mirror:4", ("Mirror", None, 4)),
    ],
)
def test_a_text_names_backend_place_and_index(
    text: str, parts: tuple[str, str | None, int]
) -> None:
    assert parse_device(text, KNOWN) == parts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("flexx", r"there is no device 'flexx'; did you mean `flex`\? known are flex, ndarray"),
        ("Flex", r"no device 'Flex'; did you mean `flex`\?"),
        ("mirror", r"no device 'mirror'; did you mean `Mirror`\?"),
        ("cdua:0", r"no device 'cdua:0'; did you mean `cuda`\?"),
        ("libtorch:cdua:0", r"no device 'libtorch:cdua:0'; did you mean `libtorch:cuda`\?"),
        ("libtorch:", r"no device 'libtorch:'; did you mean"),
        ("zzz", r"no device 'zzz'; known are flex, ndarray, libtorch, capture, Mirror, cpu, wgpu"),
        ("", r"no device ''; known are"),
        ("cuda:-1", r"'cuda:-1' needs a number from 0 after `cuda:`; got '-1'"),
        ("cuda:one", r"needs a number from 0 after `cuda:`; got 'one'"),
        ("cuda:", r"needs a number from 0 after `cuda:`; got ''"),
        ("cuda:1:2", r"needs a number from 0 after `cuda:`; got '1:2'"),
        ("cuda:\u0663", r"needs a number from 0 after `cuda:`"),
        ("cuda: 1", r"needs a number from 0 after `cuda:`; got ' 1'"),
        ("libtorch:cuda:-1", r"needs a number from 0 after `libtorch:cuda:`; got '-1'"),
        ("Mirror:first", r"needs a number from 0 after `Mirror:`; got 'first'"),
        ("cuda:" + "9" * 5000, r"needs a number from 0 after `cuda:`"),
        ("flex:1", r"`flex` has one device, of index 0; got 'flex:1'"),
        ("libtorch:cpu:1", r"`libtorch:cpu` has one device, of index 0"),
        ("cube", r"several runtimes and names no device; write one of cpu, wgpu, cuda, rocm"),
        ("remote:0", r"made by `Device\.remote\(url\)`"),
        ("flex+autodiff", r"autodiff is not part of the text; write `Device\('flex'\)\.autodiff"),
    ],
)
def test_any_other_text_is_refused_with_the_way_out(text: str, message: str) -> None:
    with pytest.raises(DispatchError, match=message):
        parse_device(text, KNOWN)


@pytest.mark.parametrize("value", [0, None, b"flex"])
def test_what_is_no_text_is_refused(value: object) -> None:
    with pytest.raises(DispatchError, match="made from a text such as 'cuda:0'; got"):
        parse_device(value, KNOWN)


@given(text=st.text(alphabet="flexcudaw:0123456789+-", max_size=12))
def test_no_text_fails_with_another_error(text: str) -> None:
    try:
        _, _, index = parse_device(text, KNOWN)
    except DispatchError:
        return
    assert index >= 0


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("NdArray", ("ndarray", None, 0)),
        (" FLEX ", ("flex", None, 0)),
        ("CUDA:1", ("cube", "cuda", 1)),
        ("LibTorch:CUDA:2", ("libtorch", "cuda", 2)),
        ("mirror:1", ("Mirror", None, 1)),
    ],
)
def test_letter_case_does_not_matter_in_the_environment(
    text: str, parts: tuple[str, str | None, int]
) -> None:
    assert parse_environment(text, KNOWN) == parts


def test_a_wrong_environment_is_named_with_its_value() -> None:
    with pytest.raises(DispatchError, match=r"FIREBRICK_DEVICE is 'Warp', but there is no device"):
        parse_environment("Warp", KNOWN)
