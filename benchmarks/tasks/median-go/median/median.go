// SPDX-License-Identifier: Apache-2.0

// Package median gives medians of readings.
package median

import "sort"

// Running gives the median of all readings until each one: of an even number, the lower one of the middle two.
func Running(readings []int) []int {
	var medians []int
	for i := range readings {
		sorted := append([]int(nil), readings[:i+1]...)
		sort.Ints(sorted)
		medians = append(medians, sorted[i/2])
	}
	return medians
}
