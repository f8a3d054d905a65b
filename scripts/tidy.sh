#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the layout of every source (clang-format) and runs clang-tidy over src/. Findings fail.
#
#   scripts/tidy.sh BUILD_FOLDER     a folder that cmake configured (compile_commands.json)
set -euo pipefail
build=$1

git ls-files 'src/*.cpp' 'src/*.hpp' 'tests/*.cpp' 'tests/*.hpp' 'bench/*.cpp' ':!tests/exploits/*' ':!tests/**/data/*' |
  xargs clang-format --dry-run --Werror

git ls-files 'src/*.cpp' |
  xargs -P "$(nproc)" -n 4 clang-tidy --quiet -p "$build" --warnings-as-errors='*' 2> >(grep -v 'warnings generated' >&2 || true)
echo "clang-tidy: no findings"
