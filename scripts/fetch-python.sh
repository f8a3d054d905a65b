#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the Python packages that tests use (python/requirements-test.txt, pinned) into a virtual environment of the
# project's own, build/python. Does nothing when they are there. Never fails: tests that need them are skipped, and say so.
set -uo pipefail
cd "$(dirname "$0")/.."

wanted=python/requirements-test.txt
to=build/python
cmp -s "$wanted" "$to/fetched.txt" && exit 0
skip() {
  echo "fetch-python: $1; the tests that need NVRTC or Triton will be skipped" >&2
  exit 0
}
[ -x "$to/bin/python" ] || python3 -m venv --clear "$to" || skip "python3 cannot make a virtual environment (python3-venv)"
timeout 600 "$to/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary=:all: --no-deps -r "$wanted" ||
  skip "pip cannot fetch the packages"
cp "$wanted" "$to/fetched.txt"
