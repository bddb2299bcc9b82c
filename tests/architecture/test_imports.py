"""What an import loads: none of the optional packages, and no work that shows."""

from __future__ import annotations

import subprocess
import sys

import pytest

OPTIONAL = ("torch", "wgpu", "cupy", "llvmlite", "triton", "asyncio")


def printed_by(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    "module", ["firebrick", "firebrick.extension", "firebrick.testing", "firebrick.cli"]
)
def test_importing_loads_no_optional_package(module: str) -> None:
    loaded = f"[name for name in {OPTIONAL} if name in sys.modules]"
    assert printed_by(f"import sys, {module}; print({loaded})") == "[]\n"


def test_importing_prints_nothing_even_with_warnings_on() -> None:
    code = "import warnings; warnings.simplefilter('error'); import firebrick.extension"
    assert printed_by(code) == ""


def test_computing_on_the_cpu_backends_loads_no_optional_package() -> None:
    code = (
        "import sys\n"
        "from firebrick import Device, Tensor\n"
        "for device in (Device.flex(), Device.ndarray()):\n"
        "    x = Tensor([1.0, 2.0], device.autodiff()).require_grad()\n"
        "    x.grad((x * x).sum().backward()).tolist()\n"
        f"print([name for name in {OPTIONAL} if name in sys.modules])"
    )
    assert printed_by(code) == "[]\n"


def test_naming_the_pytorch_backend_does_not_load_pytorch() -> None:
    code = (
        "import sys\n"
        "from firebrick import Device\n"
        "from firebrick.extension import LibTorch\n"
        "Device.libtorch()\n"
        "print(LibTorch.name, 'torch' in sys.modules)"
    )
    assert printed_by(code) == "libtorch False\n"
