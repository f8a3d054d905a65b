// SPDX-License-Identifier: Apache-2.0

package repeat

import "testing"

func TestTheFirstRepetitionCounts(t *testing.T) {
	if First([]string{"a", "b", "c", "b", "a"}) != 3 {
		t.Fail()
	}
}

func TestNothingRepeats(t *testing.T) {
	if First([]string{"a", "b"}) != -1 || First(nil) != -1 {
		t.Fail()
	}
}
