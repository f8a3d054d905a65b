#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Puts the fuzz driver, its inputs and bench/scale into a folder that can be copied to another machine: make-fuzz-kit.sh FUZZ SCALE FOLDER
set -euo pipefail
(($# == 3)) || { echo "usage: $0 FUZZ SCALE FOLDER" >&2; exit 2; }
root=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$3"
mkdir -p "$3/fixtures/versions"
strip -g "$1" -o "$3/fuzz"
strip -g "$2" -o "$3/scale"
cp -r "$root/tests/fixtures/fuzz" "$3/fixtures/"
cp -r "$root/tests/fixtures/versions/bundle-1" "$3/fixtures/versions/"
cp "$root/scripts/fuzz.sh" "$3/run.sh"
cat >"$3/README" <<'TEXT'
./run.sh SECONDS JOBS OUT    every reader of outside text over changed inputs, JOBS at once, SECONDS each. Exits with 1 if there is a finding:
                             OUT/READER/log has the report, OUT/READER/finding-READER the input, OUT/READER/new what reached something new.
                             SEED=1 makes it repeatable.
./fuzz fixtures --seconds 60 cubin           one reader
./scale --candidates 100000 --workers 256    what a coordinator costs: minutes, a GiB of memory, a GB in $TMPDIR
TEXT
echo "$3"
