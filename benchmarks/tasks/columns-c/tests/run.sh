# SPDX-License-Identifier: Apache-2.0
set -eu
cc -I. -o "$TMPDIR/test" tests/columns_test.c columns.c
"$TMPDIR/test"
