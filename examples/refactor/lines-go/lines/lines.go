// SPDX-License-Identifier: Apache-2.0

// Package lines writes words as lines.
package lines

// Joined gives a line for each word that is not empty.
func Joined(words []string) string {
	out := ""
	for _, word := range words {
		if word != "" {
			out += word + "\n"
		}
	}
	return out
}
