# SPDX-License-Identifier: Apache-2.0
set -eu
c++ -I. -o "$TMPDIR/test" tests/tags_test.cpp tags.cpp
"$TMPDIR/test"
