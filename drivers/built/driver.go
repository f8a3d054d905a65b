// Calls the function on every case, a line each, and writes what it gave, or that it panicked, and its arguments after it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"syscall"

	subject "example.com/module/{folder}" // TODO: the import path of its package
)

var timed = os.Getenv("ACCELOPT_TIME_CALLS") != "" // in a run of the old code alone: the calls' share of the time
var seconds float64

func main() {
	in, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	// Where memory counts, the results can be written and not read: os.Create would fail.
	file, err := os.OpenFile(os.Args[2], os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		panic(err)
	}
	out := bufio.NewWriter(file)
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<30)
	for lines.Scan() {
		call(out, lines.Text())
	}
	if err := out.Flush(); err != nil {
		panic(err)
	}
	if timed {
		fmt.Fprintf(os.Stderr, "seconds of calls: %.6f\n", seconds)
	}
}

func processorTime() float64 {
	var used syscall.Rusage
	if !timed || syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

func call(out *bufio.Writer, line string) {
	defer func() {
		if problem := recover(); problem != nil {
			fmt.Fprintf(out, "panic %v %s\n", problem, line)
		}
	}()
	began := processorTime()
	// TODO: call it as its users do
	value := {call}(line)
	seconds += processorTime() - began
	fmt.Fprintln(out, value, line)
}
