# SPDX-License-Identifier: Apache-2.0
set -eu
cc -I. -o "$TMPDIR/test" tests/shout_test.c shout.c
"$TMPDIR/test"
