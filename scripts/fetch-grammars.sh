#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch-grammars.sh [TO]: fetches the grammars of tree-sitter that are pinned in tests/fakes/grammars, and builds them as shared
# libraries into TO, by default build/grammars, for the goal readability of `accelopt refactor`. Does nothing when they are there.
# It needs npm, node and a C compiler. Without TO it never fails: without grammars everything else works, and the tests that need
# them are skipped by name. With TO, somebody wants them: exit 1 where they are not there afterwards.
set -uo pipefail
failed=$(($# > 0))
to=$(realpath -m "${1:-$(dirname "$0")/../build/grammars}")
cd "$(dirname "$0")/.."

from=tests/fakes/grammars
sources=build/grammar-sources
wanted=$from/package-lock.json
cmp -s "$wanted" "$to/built.json" && exit 0
scripts/fetch-npm.sh "$from" "$sources" tree-sitter-python "measuring readability"
# After a change of the lock, what is there may be of the one before.
if ! cmp -s "$wanted" "$sources/fetched.json" || [ ! -d "$sources/node_modules/tree-sitter-python" ]; then
  echo "fetch-grammars: the grammars' sources that are pinned are not there; npm has to fetch them" >&2
  exit "$failed"
fi
compiler=$(command -v cc || command -v gcc || command -v clang)
if [ -z "$compiler" ]; then
  echo "fetch-grammars: there is no C compiler; measuring readability will be skipped" >&2
  exit "$failed"
fi
mkdir -p "$to"
for language in c cpp go javascript python rust typescript; do
  folder=$sources/node_modules/tree-sitter-$language
  [ "$language" = typescript ] && folder=$folder/typescript
  parts=("$folder/src/parser.c")
  [ -f "$folder/src/scanner.c" ] && parts+=("$folder/src/scanner.c")
  # Tables for the most part: optimizing them takes minutes and gains little.
  if ! "$compiler" -shared -fPIC -O0 -w -I "$folder/src" -o "$to/$language.so.new" "${parts[@]}"; then
    echo "fetch-grammars: the grammar of $language does not build; measuring readability will be skipped" >&2
    exit "$failed"
  fi
  mv "$to/$language.so.new" "$to/$language.so"
done
cp "$wanted" "$to/built.json"
