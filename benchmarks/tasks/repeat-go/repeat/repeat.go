// SPDX-License-Identifier: Apache-2.0

// Package repeat finds what comes twice.
package repeat

// First gives the index of the first word that came before, or -1.
func First(words []string) int {
	first := -1
	for i := range words {
		for j := 0; j < i; j++ {
			if words[i] == words[j] && (first < 0 || i < first) {
				first = i
			}
		}
	}
	return first
}
