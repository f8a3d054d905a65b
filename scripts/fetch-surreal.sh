#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches the SurrealDB engine that the tests of the knowledge store run against (npm packages, pinned by
# tests/fakes/surreal/package-lock.json) into build/surreal. Does nothing when it is there. Never fails: without it these
# tests are skipped, and say so.
set -uo pipefail
cd "$(dirname "$0")/.."

from=tests/fakes/surreal
to=build/surreal
cmp -s "$from/package-lock.json" "$to/fetched.json" && [ -d "$to/node_modules/@surrealdb/node" ] && exit 0
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
  echo "fetch-surreal: node or npm is not installed; the tests against SurrealDB will be skipped" >&2
  exit 0
fi
mkdir -p "$to"
cp "$from/package.json" "$from/package-lock.json" "$to/"
if timeout 300 npm ci --prefix "$to" --ignore-scripts --no-audit --no-fund --loglevel=error; then
  cp "$from/package-lock.json" "$to/fetched.json"
else
  echo "fetch-surreal: npm cannot fetch the packages; the tests against SurrealDB will be skipped" >&2
fi
exit 0
