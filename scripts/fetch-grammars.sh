#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fetch-grammars.sh [TO]: fetches the grammars of tree-sitter that are pinned in tests/fakes/grammars, and builds them as shared
# libraries into TO, by default build/grammars, for the goal readability of `accelopt refactor`. Does nothing when they are there.
# Never fails: without them everything else works, and the tests that need them are skipped by name.
set -uo pipefail
to=$(realpath -m "${1:-$(dirname "$0")/../build/grammars}")
cd "$(dirname "$0")/.."

from=tests/fakes/grammars
sources=build/grammar-sources
wanted=$from/package-lock.json
cmp -s "$wanted" "$to/built.json" && exit 0
scripts/fetch-npm.sh "$from" "$sources" tree-sitter-python "measuring readability"
[ -d "$sources/node_modules/tree-sitter-python" ] || exit 0
compiler=$(command -v cc || command -v gcc || command -v clang)
if [ -z "$compiler" ]; then
  echo "fetch-grammars: there is no C compiler; measuring readability will be skipped" >&2
  exit 0
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
    exit 0
  fi
  mv "$to/$language.so.new" "$to/$language.so"
done
cp "$wanted" "$to/built.json"
