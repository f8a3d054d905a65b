#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch-npm.sh FROM TO PACKAGE WHAT: fetches the npm packages that FROM/package-lock.json pins into TO, for tests alone. Does
# nothing when PACKAGE is there already. Never fails: without them WHAT is skipped, and says so.
set -uo pipefail
cd "$(dirname "$0")/.."

from=$1 to=$2 package=$3 what=$4
cmp -s "$from/package-lock.json" "$to/fetched.json" && [ -d "$to/node_modules/$package" ] && exit 0
if ! command -v npm >/dev/null || ! command -v node >/dev/null; then
  echo "fetch-npm: node or npm is not installed; $what will be skipped" >&2
  exit 0
fi
mkdir -p "$to"
cp "$from/package.json" "$from/package-lock.json" "$to/"
if timeout 300 npm ci --prefix "$to" --ignore-scripts --no-audit --no-fund --loglevel=error; then
  cp "$from/package-lock.json" "$to/fetched.json"
else
  echo "fetch-npm: npm cannot fetch the packages; $what will be skipped" >&2
fi
exit 0
