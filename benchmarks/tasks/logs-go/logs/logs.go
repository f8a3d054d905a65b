// SPDX-License-Identifier: Apache-2.0

// Package logs reads logs of a server.
package logs

import "regexp"

// Failures gives the paths of the lines that report a status of 500 to 599, in order.
func Failures(lines []string) []string {
	var paths []string
	for _, line := range lines {
		pattern := regexp.MustCompile(`^(GET|POST) (\S+) 5\d\d$`)
		if found := pattern.FindStringSubmatch(line); found != nil {
			paths = append(paths, found[2])
		}
	}
	return paths
}
