// SPDX-License-Identifier: Apache-2.0

// Calls the function on every case, a line each, and writes what it gave.
package main

import (
	"fmt"
	"os"
	"strings"

	"example.com/report/report"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	out, err := os.Create(os.Args[2])
	if err != nil {
		panic(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, line := range lines[:len(lines)-1] {
		fmt.Fprint(out, report.Table(strings.Split(line, " ")), "--\n")
	}
	if out.Close() != nil {
		os.Exit(1)
	}
}
