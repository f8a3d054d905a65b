# SPDX-License-Identifier: Apache-2.0
set -eu
c++ -std=c++17 -I. -o "$TMPDIR/test" tests/loads_test.cpp loads.cpp
"$TMPDIR/test"
