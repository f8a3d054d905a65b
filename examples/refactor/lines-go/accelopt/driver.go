// SPDX-License-Identifier: Apache-2.0

// Calls the function on every case, a line each, and writes what it gave.
package main

import (
	"os"
	"strings"

	"example.com/lines/lines"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	out, err := os.OpenFile(os.Args[2], os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		panic(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		out.WriteString(lines.Joined(strings.Split(line, " ")) + "--\n")
	}
	if out.Close() != nil {
		os.Exit(1)
	}
}
