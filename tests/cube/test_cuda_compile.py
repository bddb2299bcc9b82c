"""NVRTC as the cuda runtime uses it; needs no GPU."""

from __future__ import annotations

import pytest

from firebrick.errors import BackendUnavailableError, KernelCompileError

pytest.importorskip("cuda.bindings.nvrtc", reason="needs the package cuda-bindings")

TEXT = 'extern "C" __global__ void f(float* x) { x[0] = 2 * x[0] + 1; }'
HALVES = 'extern "C" __global__ void f(__half* x) { x[0] = __hadd(x[1], x[2]); }'


@pytest.mark.parametrize("architecture", ["sm_80", "sm_90", "sm_100"])
def test_text_becomes_machine_code(architecture: str) -> None:
    from firebrick.cube.runtime.cuda import nvrtc

    assert nvrtc.compile_text("f", TEXT, architecture).startswith(b"\x7fELF")


def test_a_broken_text_is_refused_in_the_words_of_the_compiler() -> None:
    from firebrick.cube.runtime.cuda import nvrtc

    with pytest.raises(KernelCompileError, match=r'(?s)`f` does not.*sm_90.*"y" is undefined.*\^'):
        nvrtc.compile_text("f", TEXT.replace("+ 1", "+ y"), "sm_90")


def test_an_unknown_architecture_is_refused() -> None:
    from firebrick.cube.runtime.cuda import nvrtc

    with pytest.raises(KernelCompileError, match="gpu-architecture"):
        nvrtc.compile_text("f", TEXT, "sm_1")


def test_texts_of_users_may_include_headers() -> None:
    from firebrick.cube.runtime.cuda import nvrtc

    if not nvrtc.include_folders():
        pytest.skip("there are no CUDA headers on this machine")
    text = "#include <cuda_fp16.h>\n" + TEXT.replace("float*", "__half*").replace(
        "2 * x[0] + 1", "x[1]"
    )
    assert nvrtc.compile_text("f", text, "sm_90", with_headers=True).startswith(b"\x7fELF")


def test_what_is_missing_for_the_runtime_is_named() -> None:
    import firebrick.cube as cube

    for name, hardware in (("cuda", "NVIDIA"), ("rocm", "AMD")):
        try:
            cube.runtime(name)
        except BackendUnavailableError as reason:
            words = str(reason)
            assert hardware in words or f"firebrick[{name}]" in words
