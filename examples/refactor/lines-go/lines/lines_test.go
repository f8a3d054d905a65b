// SPDX-License-Identifier: Apache-2.0

package lines

import "testing"

func TestEachWordHasALine(t *testing.T) {
	if Joined([]string{"a", "", "b"}) != "a\nb\n" {
		t.Fail()
	}
}

func TestNothingIsNothing(t *testing.T) {
	if Joined(nil) != "" {
		t.Fail()
	}
}
