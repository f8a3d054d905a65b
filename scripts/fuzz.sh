#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every reader of outside text over changed inputs, several at once, each in processes of its own:
#   fuzz.sh SECONDS JOBS OUT [PROGRAM FIXTURES [READER...]]                             SECONDS for each reader
#   FUZZ_SECONDS=280 JOBS=14 fuzz.sh OUT [PROGRAM FIXTURES [READER...]]                 so many seconds in all, shared equally
# OUT/summary.txt says what came of it, OUT/READER/ has logs, OUT/findings/ the inputs of findings with their logs, and OUT/kept/READER/ the inputs
# that reached something new, with which the next call begins. Without PROGRAM and FIXTURES those beside the script are taken (make fuzz-kit).
# SEED=1 makes a call repeatable. Exits with 1 if a reader ended with a finding, and names it.
set -euo pipefail
usage() {
  echo "usage: $0 SECONDS JOBS OUT [PROGRAM FIXTURES [READER...]], or FUZZ_SECONDS=N JOBS=N $0 OUT [PROGRAM FIXTURES [READER...]]" >&2
  exit 2
}
here=$(cd "$(dirname "$0")" && pwd)
in_all=${FUZZ_SECONDS:-}
if [[ -n $in_all && ! ${1:-} =~ ^[0-9.]+$ ]]; then
  (($# >= 1)) || usage
  each='' jobs=${JOBS:-$(nproc)}
else
  (($# >= 3)) || usage
  each=$1 jobs=$2
  shift 2
fi
[[ ${each:-$in_all} =~ ^[0-9]+([.][0-9]+)?$ && $jobs =~ ^[1-9][0-9]*$ ]] || usage
mkdir -p "$1/findings"
out=$(cd "$1" && pwd)
program=$(realpath "${2:-$here/fuzz}") fixtures=$(realpath "${3:-$here/fixtures}")
shift $(($# < 3 ? $# : 3))
mapfile -t all < <("$program" "$fixtures" --list)
((${#all[@]})) || { echo "$program lists no readers" >&2; exit 2; }
readers=("$@")
((${#readers[@]})) || readers=("${all[@]}")
for reader in "${readers[@]}"; do
  printf '%s\n' "${all[@]}" | grep -qxF -- "$reader" || { echo "$reader is no reader of $program; those are: ${all[*]}" >&2; exit 2; }
done
for reader in "${readers[@]}"; do
  mkdir -p "$out/$reader"
  rm -f "$out/$reader"/log* "$out/$reader"/status*
done

# What each job does one after the other: "READER SECONDS" pieces. Of a time in all each reader has the same share, cut where a job is full.
schedule=$(printf '%s\n' "${readers[@]}" | awk -v jobs="$jobs" -v each="$each" -v in_all="$in_all" '
  { name[NR] = $1 }
  END {
    if (each != "") { for (i = 1; i <= NR; ++i) print name[i], each; exit }
    length_of_job = in_all * 0.95; share = length_of_job * jobs / NR; job = 1; used = 0
    for (i = 1; i <= NR; ++i)
      for (left = share; left > 0.01 && job <= jobs;) {
        piece = left < length_of_job - used ? left : length_of_job - used
        line[job] = line[job] " " name[i] " " sprintf("%.2f", piece)
        left -= piece; used += piece
        if (used >= length_of_job - 0.01) { ++job; used = 0 }
      }
    for (i = 1; i <= jobs; ++i) if (line[i] != "") print line[i]
  }')

# A sanitizer's report is a finding like a crash, and so is memory without bound.
export ASAN_OPTIONS=${ASAN_OPTIONS:-abort_on_error=1:detect_leaks=0:hard_rss_limit_mb=3072}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:abort_on_error=1:print_stacktrace=1}
export program fixtures out
one() {
  local reader=$1 seconds=$2 folder=$out/$1 place status=0
  place=$(mktemp -d "$folder/at-XXXXXX")
  cd "$place"
  TMPDIR=$place "$program" "$fixtures" --seconds "$seconds" --seed "${SEED:-$RANDOM$RANDOM}" --keep "$out/kept" "$reader" >log 2>&1 || status=$?
  echo "$status" >"$folder/status-${place##*-}"
  cp log "$folder/log-${place##*-}"
  if [[ -e finding-$reader ]]; then
    local name
    name=$reader-$(sha256sum "finding-$reader" | cut -c1-16)
    mv "finding-$reader" "$out/findings/$name"
    cp log "$out/findings/$name.log"
  fi
  cd "$folder"
  rm -rf "$place"
  tail -n 1 "$folder/log-${place##*-}" | sed "s/^\($reader: \)\{0,1\}/$reader: /"
}
in_turn() {
  while (($#)); do
    one "$1" "$2"
    shift 2
  done
}
export -f one in_turn
began=$(date +%s)
xargs -P "$jobs" -I{} bash -c 'in_turn {}' <<<"$schedule"
took=$(($(date +%s) - began))

# Sums over a reader's processes; branches are the most that one of them met.
figure() { cat "$out/$1"/log-* | sed -n "s/.* \([0-9]*\) $2.*/\1/p" | awk -v what="$3" '{ sum += $1; if ($1 > most) most = $1 } END { print what == "sum" ? sum + 0 : most + 0 }'; }
failed=0 executions_in_all=0
{
  printf '%-22s %12s %14s %9s %9s %7s %8s\n' reader executions 'so far' branches outcomes inputs findings
  for reader in "${readers[@]}"; do
    executions=$(figure "$reader" inputs sum)
    so_far=$(($(cat "$out/$reader/executions" 2>/dev/null || echo 0) + executions))
    echo "$so_far" >"$out/$reader/executions"
    findings=$(cat "$out/$reader"/status-* | grep -cvx 0 || true)
    printf '%-22s %12d %14d %9d %9d %7d %8d\n' "$reader" "$executions" "$so_far" "$(figure "$reader" branches most)" "$(figure "$reader" outcomes most)" \
      "$(find "$out/kept/$reader" -type f 2>/dev/null | wc -l)" "$findings"
    executions_in_all=$((executions_in_all + executions)) failed=$((failed + findings))
  done
  printf '%d readers, %d jobs, %d s: %d executions, %d findings; a process that ended with a finding is not counted in executions\n' "${#readers[@]}" "$jobs" "$took" \
    "$executions_in_all" "$failed"
} >"$out/summary.txt"
for reader in "${readers[@]}"; do
  if cat "$out/$reader"/status-* | grep -qvx 0; then echo "$reader: a finding; see $out/findings and $out/$reader" >&2; fi
done
tail -n 1 "$out/summary.txt"
exit $((failed > 0))
