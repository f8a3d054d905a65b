#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches Agno, for the tests of examples/agno, into a virtual environment of its own: build/agno. Does nothing when it is
# there. Never fails: without it these tests are skipped, and say so.
set -uo pipefail
cd "$(dirname "$0")/.."

wanted=examples/agno/requirements.txt
to=build/agno
cmp -s "$wanted" "$to/fetched.txt" && exit 0
skip() {
  echo "fetch-agno: $1; the tests with Agno will be skipped" >&2
  rm -rf "$to"
  exit 0
}
mkdir -p build
python3 -m venv "$to" || skip "there is no python3-venv"
timeout 300 "$to/bin/pip" install --quiet --disable-pip-version-check --no-compile -r "$wanted" || skip "pip cannot fetch the packages"
cp "$wanted" "$to/fetched.txt"
