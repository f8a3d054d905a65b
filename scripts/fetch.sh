#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches all that tests run against, side by side: each script waits for another server. None of them fails: what is not there
# is skipped by name in the tests.
set -uo pipefail
cd "$(dirname "$0")" || exit 0

# Another fetch may be running, of an interrupted `make` too, and would work in the same folders.
mkdir -p ../build
exec 9> ../build/fetch.lock
flock 9
for what in surreal mcp-clients page-checks agno python grammars; do
  "./fetch-$what.sh" &
done
wait
exit 0
