#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the layout of every source (clang-format) and runs clang-tidy over src/. A wrong layout fails, and so does a source that
# does not compile without the precompiled header. Findings of clang-tidy are listed and counted; with STRICT=1 they fail too.
#
#   scripts/tidy.sh BUILD_FOLDER     a folder that cmake configured (compile_commands.json)
set -euo pipefail
build=$1

git ls-files 'src/*.cpp' 'src/*.hpp' 'tests/*.cpp' 'tests/*.hpp' 'bench/*.cpp' | xargs clang-format --dry-run --Werror

findings=$(mktemp)
trap 'rm -f "$findings"' EXIT
git ls-files 'src/*.cpp' | xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" 2>/dev/null >"$findings" || true
grep -E '(warning|error): ' "$findings" | sort -u || true
count=$(grep -cE 'warning: ' "$findings" || true)
errors=$(grep -cE 'error: ' "$findings" || true)
echo "clang-tidy: $count findings, $errors errors"
[ "$errors" -eq 0 ] || exit 1
[ "${STRICT:-0}" = 0 ] || [ "$count" -eq 0 ] || exit 1
