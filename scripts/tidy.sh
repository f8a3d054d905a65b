#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the layout of every source (clang-format) and runs clang-tidy over src/. Anything found fails.
#
#   scripts/tidy.sh BUILD_FOLDER     a folder that cmake configured (compile_commands.json), as the preset `tidy` does
set -euo pipefail
build=$1

git ls-files 'src/*.cpp' 'src/*.hpp' 'tests/*.cpp' 'tests/*.hpp' 'bench/*.cpp' ':!tests/blackbox/programs' ':!bench/kernels' | xargs clang-format --dry-run --Werror
scripts/tidy-units.py "$build"
