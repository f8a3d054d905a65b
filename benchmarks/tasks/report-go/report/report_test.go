// SPDX-License-Identifier: Apache-2.0

package report

import "testing"

func TestEachNameHasALine(t *testing.T) {
	if Table([]string{"a", "", "b"}) != "| a |\n| b |\n" {
		t.Fail()
	}
}

func TestNoNames(t *testing.T) {
	if Table(nil) != "" {
		t.Fail()
	}
}
