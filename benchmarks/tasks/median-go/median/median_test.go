// SPDX-License-Identifier: Apache-2.0

package median

import "testing"

func TestMedianFollowsTheReadings(t *testing.T) {
	readings := []int{5, 1, 9, 2}
	found := Running(readings)
	for i, expected := range []int{5, 1, 5, 2} {
		if found[i] != expected {
			t.Fail()
		}
	}
	if readings[0] != 5 || readings[3] != 2 {
		t.Fail()
	}
}

func TestNoReadings(t *testing.T) {
	if len(Running(nil)) != 0 {
		t.Fail()
	}
}
