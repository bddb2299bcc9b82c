#!/bin/sh
# Everything that needs an NVIDIA GPU: cuda_check.sh [FOLDER]
#
# Tests of the cuda runtime, the kernel tests in FOLDER as well, the same under compute-sanitizer's
# four tools where it is installed, and the benchmarks of kernels. Runs what PYTHON (default:
# python3) has; firebrick itself need not be installed. Goes on after a failure and exits with 1.
set -u

cd "$(dirname "$0")/.." || exit 1
python="${PYTHON:-python3}"
folder="${1:-}"
export PYTHONPATH="$PWD/src:$PWD${PYTHONPATH:+:$PYTHONPATH}" PYTHONUNBUFFERED=1
export FIREBRICK_CACHE_DIR="${FIREBRICK_CACHE_DIR:-$(mktemp -d)}"
failed=""

# run NAME SECONDS COMMAND...
run() {
    name=$1
    seconds=$2
    shift 2
    echo "== $name"
    start=$(date +%s)
    if timeout "$seconds" "$@"; then verdict=passed; else verdict="FAILED ($?)"; fi
    case $verdict in FAILED*) failed="$failed $name" ;; esac
    echo "== $name: $verdict, $(($(date +%s) - start)) s"
}

"$python" - <<'END' || exit 1
from firebrick.cube.runtime.cuda import open_driver
driver = open_driver(0)
print(driver.title, "|", driver.identity, "|", driver.compiler, "|", driver.properties)
END

tests="tests/cube/test_cuda_runtime.py"
run runtime 300 "$python" -m pytest -q "$tests" tests/cube/test_cuda_compile.py
if [ -n "$folder" ]; then
    run kernels 300 "$python" -m pytest -q -p no:cacheprovider \
        "$folder/test_kernels.py" "$folder/test_kernel_errors.py" -k "cuda" \
        --rootdir "$folder" -c "$folder/pytest.ini"
fi

# Tests that break a context, fork, or provoke refusals are no findings. Reading memory that was
# never written is one only for the tools below, so that whole tensors are uploaded in these tests.
if command -v compute-sanitizer >/dev/null 2>&1; then
    left_out="broken or forked or refuse or more_memory or threads or page_holds"
    for tool in memcheck racecheck initcheck synccheck; do
        run "$tool" 300 compute-sanitizer --tool "$tool" --error-exitcode 9 \
            --target-processes application-only --report-api-errors no \
            "$python" -m pytest -q -x "$tests" -k "not ($left_out)"
        if [ -n "$folder" ]; then
            run "$tool-kernels" 300 compute-sanitizer --tool "$tool" --error-exitcode 9 \
                --target-processes application-only --report-api-errors no \
                "$python" -m pytest -q -x -p no:cacheprovider "$folder/test_kernels.py" \
                -k "cuda" --rootdir "$folder" -c "$folder/pytest.ini"
        fi
    done
else
    echo "== compute-sanitizer: not installed, not run"
fi

if [ -e benchmarks/kernels.py ]; then
    run benchmarks 300 "$python" -m benchmarks.kernels --quick
else
    echo "== benchmarks: there are none of kernels, not run"
fi

if [ -n "$failed" ]; then
    echo "== failed:$failed"
    exit 1
fi
echo "== all passed"
