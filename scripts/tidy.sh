#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the layout of every source (clang-format) and runs clang-tidy over src/. Anything found fails.
#
#   scripts/tidy.sh BUILD_FOLDER     a folder that cmake configured (compile_commands.json), as the preset `tidy` does:
#                                    there a folder's sources are few units, and their headers are read once a unit
set -euo pipefail
build=$1

git ls-files 'src/*.cpp' 'src/*.hpp' 'tests/*.cpp' 'tests/*.hpp' 'bench/*.cpp' ':!tests/blackbox/programs' ':!bench/kernels' | xargs clang-format --dry-run --Werror

findings=$(mktemp)
trap 'rm -f "$findings"' EXIT
# A unit includes its sources, which is all that bugprone-suspicious-include would say. What the build generates is not
# there, and is data.
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" | sort -u |
  while read -r unit; do if [ -e "$unit" ]; then echo "$unit"; fi; done |
  xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$build" --config-file=.clang-tidy \
    --checks=-bugprone-suspicious-include --extra-arg=-Wno-unknown-warning-option 2>/dev/null >"$findings" ||
  echo "error: clang-tidy itself failed" >>"$findings"
grep -E '(warning|error): ' "$findings" | sort -u || true
count=$(grep -cE '(warning|error): ' "$findings" || true)
echo "clang-tidy: $count findings"
[ "$count" -eq 0 ]
