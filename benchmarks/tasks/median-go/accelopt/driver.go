// SPDX-License-Identifier: Apache-2.0

// Calls the function on every case, a line each, and writes what it gave.
package main

import (
	"fmt"
	"os"
	"strings"

	"example.com/median/median"
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
		var readings []int
		for _, word := range strings.Fields(line) {
			reading := 0
			fmt.Sscan(word, &reading)
			readings = append(readings, reading)
		}
		fmt.Fprintln(out, median.Running(readings), readings)
	}
	if out.Close() != nil {
		os.Exit(1)
	}
}
