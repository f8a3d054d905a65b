#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make-wheel.sh OUT: builds accelopt, and a Python wheel of the program and its module, as OUT/accelopt-VERSION-py3-none-PLATFORM.whl.
# The package that builds it is fetched from the Python package index into an environment of its own.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 OUT" >&2; exit 2; }
out=$(realpath -m "$1")
cd "$(dirname "$0")/.."
python=build/python/bin/python
[ -x "$python" ] || python3 -m venv build/python || { echo "make-wheel: python3-venv is needed" >&2; exit 1; }
launcher=$(command -v ccache || true)
"$python" -m pip wheel --disable-pip-version-check --no-deps --wheel-dir "$out" \
  ${launcher:+--config-settings=cmake.define.CMAKE_CXX_COMPILER_LAUNCHER="$launcher"} .
