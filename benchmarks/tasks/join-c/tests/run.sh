# SPDX-License-Identifier: Apache-2.0
set -eu
cc -I. -o "$TMPDIR/test" tests/join_test.c join.c
"$TMPDIR/test"
