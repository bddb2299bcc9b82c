#!/bin/sh
# Makes the virtual environment for `make setup`: setup.sh PYTHON VENV
set -eu

python=$1
venv=$2

if ! command -v "$python" >/dev/null 2>&1; then
    echo "setup: no '$python' here; firebrick needs Python 3.11 or newer (make PYTHON=python3.12)." >&2
    exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    found=$("$python" --version 2>&1)
    echo "setup: '$python' is $found; firebrick needs 3.11 or newer (make PYTHON=python3.12)." >&2
    exit 1
fi

# Debian and Ubuntu ship Python without `ensurepip`; the package python3-venv brings it.
if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "setup: installing python3-venv, which this Python needs to make environments"
        apt-get update -q && apt-get install -q -y python3-venv
    fi
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        echo "setup: '$python' cannot make virtual environments." >&2
        echo "setup: on Debian and Ubuntu, install the package python3-venv and run make again." >&2
        exit 1
    fi
fi

if ! "$venv/bin/python" -m pip --version >/dev/null 2>&1; then
    "$python" -m venv --clear "$venv"
fi

# PyTorch first and alone: it is the large one, and its version is the one the tests are run with.
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'torch==2.13.0'
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check -e '.[test,lint]'
