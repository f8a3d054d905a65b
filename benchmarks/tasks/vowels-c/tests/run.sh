# SPDX-License-Identifier: Apache-2.0
set -eu
cc -I. -o "$TMPDIR/test" tests/vowels_test.c vowels.c
"$TMPDIR/test"
