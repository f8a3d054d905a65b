#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every reader of outside text over changed inputs, several at once, each in a process and a folder of its own:
#   fuzz.sh SECONDS JOBS OUT [PROGRAM FIXTURES [READER...]]
# OUT/READER/ gets its log, the input of a finding (finding-READER), and in new/ the inputs that reached something new. Without PROGRAM and FIXTURES
# those beside the script are taken (make fuzz-kit). Exits with 1 if a reader ended with a finding, and names it.
set -euo pipefail
if (($# < 3)) || ! [[ $1 =~ ^[0-9.]+$ && $2 =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: $0 SECONDS JOBS OUT [PROGRAM FIXTURES [READER...]]" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
seconds=$1 jobs=$2
mkdir -p "$3"
out=$(cd "$3" && pwd)
program=$(realpath "${4:-$here/fuzz}") fixtures=$(realpath "${5:-$here/fixtures}")
shift $(($# < 5 ? $# : 5))
readers=("$@")
((${#readers[@]})) || mapfile -t readers < <("$program" "$fixtures" --list)
((${#readers[@]})) || { echo "$program lists no readers" >&2; exit 2; }

# A sanitizer's report is a finding like a crash, and so is memory without bound.
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=1:detect_leaks=0:hard_rss_limit_mb=3072}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:abort_on_error=1:print_stacktrace=1}
export program fixtures seconds out
one() {
  local reader=$1 status=0
  mkdir -p "$out/$reader"
  cd "$out/$reader"
  TMPDIR=$out/$reader "$program" "$fixtures" --seconds "$seconds" --seed "${SEED:-$RANDOM}" --keep new "$reader" >log 2>&1 || status=$?
  echo "$status" >status
  tail -n 1 log | sed "s/^\($reader: \)\{0,1\}/$reader: /"
}
export -f one
printf '%s\n' "${readers[@]}" | xargs -P "$jobs" -I{} bash -c 'one {}'
failed=0
for reader in "${readers[@]}"; do
  if [[ $(cat "$out/$reader/status") != 0 ]]; then
    echo "$reader: a finding; see $out/$reader/log" >&2
    failed=1
  fi
done
exit "$failed"
