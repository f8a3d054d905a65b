// SPDX-License-Identifier: Apache-2.0

package logs

import "testing"

func TestFailuresAreFound(t *testing.T) {
	found := Failures([]string{"GET /a 500", "POST /b 200", "PUT /c 500", "POST /d 599", "GET /e 5000"})
	if len(found) != 2 || found[0] != "/a" || found[1] != "/d" {
		t.Fail()
	}
}

func TestNoLines(t *testing.T) {
	if Failures(nil) != nil {
		t.Fail()
	}
}
