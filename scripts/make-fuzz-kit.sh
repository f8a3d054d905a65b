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
FUZZ_SECONDS=280 JOBS=14 ./run.sh OUT    every reader of outside text over changed inputs, all within 280 s on 14 cores. Exits with 1 if there is a
                             finding: OUT/summary.txt says what came of it, OUT/findings has inputs and reports, OUT/kept what reached something
                             new, with which the next call begins. SEED=1 makes it repeatable.
./run.sh SECONDS JOBS OUT    the same with SECONDS for each reader, JOBS at once
./fuzz fixtures --seconds 60 cubin           one reader
./scale --candidates 100000 --workers 256    what a coordinator costs: minutes, a GiB of memory, a GB in $TMPDIR
TEXT
echo "$3"
