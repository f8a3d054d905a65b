# SPDX-License-Identifier: Apache-2.0
set -eu
c++ -std=c++17 -I. -o "$TMPDIR/test" tests/search_test.cpp search.cpp
"$TMPDIR/test"
