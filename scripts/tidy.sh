#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the layout of every source (clang-format) and runs clang-tidy over src/. Anything found fails.
#
#   scripts/tidy.sh BUILD_FOLDER     a folder that cmake configured (compile_commands.json)
set -euo pipefail
build=$1

git ls-files 'src/*.cpp' 'src/*.hpp' 'tests/*.cpp' 'tests/*.hpp' 'bench/*.cpp' ':!tests/exploits' ':!bench/kernels' | xargs clang-format --dry-run --Werror

findings=$(mktemp)
trap 'rm -f "$findings"' EXIT
git ls-files 'src/*.cpp' |
  xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option 2>/dev/null >"$findings" ||
  echo "error: clang-tidy itself failed" >>"$findings"
grep -E '(warning|error): ' "$findings" | sort -u || true
count=$(grep -cE '(warning|error): ' "$findings" || true)
echo "clang-tidy: $count findings"
[ "$count" -eq 0 ]
