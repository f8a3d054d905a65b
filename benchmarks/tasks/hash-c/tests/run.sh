# SPDX-License-Identifier: Apache-2.0
set -eu
cc -I. -o "$TMPDIR/test" tests/hash_test.c hash.c
"$TMPDIR/test"
