// Calls the function on every case, a line each, and writes what it gave, or that it panicked, and its arguments after it.
package main

import (
	"bufio"
	"encoding"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
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
			fmt.Fprintln(out, "panic", told(problem), line)
		}
	}()
	began := processorTime()
	// TODO: call it as its users do; of several results: told(value, err)
	value := {call}(line)
	seconds += processorTime() - began
	fmt.Fprintln(out, told(value), line)
}

// told writes values so that no others are written likewise: with types, a nil slice unlike an empty one, texts in quotes.
func told(values ...interface{}) string {
	var out strings.Builder
	met := map[place]int{}
	for at, value := range values {
		if at > 0 {
			out.WriteByte(' ')
		}
		tellAny(&out, reflect.ValueOf(value), met)
	}
	return out.String()
}

// place is where something lies that can be changed. What is met again is written by its number: a copy is not the same.
type place struct {
	kind   reflect.Type
	at     uintptr
	length int
}

var knownErrors = map[interface{}]int{} // numbers of errors behind pointers, by identity, over all cases

func tellAny(out *strings.Builder, value reflect.Value, met map[place]int) {
	if !value.IsValid() {
		out.WriteString("nil")
		return
	}
	out.WriteString(value.Type().String())
	tell(out, value, met)
}

// tell writes what follows the type: {...}, or (...) where there are no elements.
func tell(out *strings.Builder, value reflect.Value, met map[place]int) {
	kind := value.Type()
	switch value.Kind() {
	case reflect.Slice, reflect.Map, reflect.Ptr, reflect.Interface, reflect.Func, reflect.Chan:
		if value.IsNil() {
			out.WriteString("(nil)")
			return
		}
	}
	if value.Kind() == reflect.Interface {
		out.WriteByte('(')
		tellAny(out, value.Elem(), met)
		out.WriteByte(')')
		return
	}
	if value.CanInterface() {
		if problem, ok := value.Interface().(error); ok {
			tellError(out, problem, value, met)
			return
		}
		// What hides its fields and writes itself as text, such as a time or a big.Int, is that text.
		hiding := kind
		if kind.Kind() == reflect.Ptr {
			hiding = kind.Elem()
		}
		if text, ok := value.Interface().(encoding.TextMarshaler); ok && hiding.Kind() == reflect.Struct && !hasPublicFields(hiding) {
			written, err := text.MarshalText()
			fmt.Fprintf(out, "(%q %v)", written, err)
			return
		}
	}
	var here place
	switch value.Kind() {
	case reflect.Ptr:
		if kind.Elem().Size() > 0 { // those to nothing may be equal
			here = place{kind, value.Pointer(), 1}
		}
	case reflect.Map:
		here = place{kind, value.Pointer(), 1}
	case reflect.Slice:
		if value.Len() > 0 && kind.Elem().Size() > 0 {
			here = place{kind, value.Pointer(), value.Len()}
		}
	}
	if here.kind != nil {
		if number, known := met[here]; known {
			fmt.Fprintf(out, "(met %d)", number)
			return
		}
		met[here] = len(met)
	}
	switch value.Kind() {
	case reflect.Bool:
		fmt.Fprintf(out, "(%t)", value.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		out.WriteString("(" + strconv.FormatInt(value.Int(), 10) + ")")
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		out.WriteString("(" + strconv.FormatUint(value.Uint(), 10) + ")")
	case reflect.Float32, reflect.Float64:
		out.WriteString("(" + strconv.FormatFloat(value.Float(), 'g', -1, kind.Bits()) + ")")
	case reflect.Complex64, reflect.Complex128:
		out.WriteString(strconv.FormatComplex(value.Complex(), 'g', -1, kind.Bits()))
	case reflect.String:
		out.WriteString("(" + strconv.Quote(value.String()) + ")")
	case reflect.Ptr:
		out.WriteString("(&")
		tell(out, value.Elem(), met)
		out.WriteByte(')')
	case reflect.Slice, reflect.Array:
		if value.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Uint8 {
			out.WriteString("{" + strconv.Quote(string(value.Bytes())) + "}")
			return
		}
		out.WriteByte('{')
		for at := 0; at < value.Len(); at++ {
			tell(out, value.Index(at), met)
		}
		out.WriteByte('}')
	case reflect.Map:
		tellMap(out, value, met)
	case reflect.Struct:
		out.WriteByte('{')
		for at := 0; at < value.NumField(); at++ {
			out.WriteString(kind.Field(at).Name)
			tell(out, value.Field(at), met)
		}
		out.WriteByte('}')
	default:
		fmt.Fprintf(os.Stderr, "the function gives a %s; write in the driver's tell() what is to be compared of it\n", kind)
		os.Exit(1)
	}
}

// tellMap writes keys in order, and none by a number, which would depend on the order in which they come.
func tellMap(out *strings.Builder, value reflect.Value, met map[place]int) {
	type entry struct {
		key   string
		value reflect.Value
	}
	text := func(value reflect.Value) string {
		var alone strings.Builder
		tell(&alone, value, map[place]int{})
		return alone.String()
	}
	var entries []entry
	for each := value.MapRange(); each.Next(); {
		entries = append(entries, entry{text(each.Key()), each.Value()})
	}
	sort.Slice(entries, func(i, j int) bool {
		if entries[i].key == entries[j].key { // as those of NaN
			return text(entries[i].value) < text(entries[j].value)
		}
		return entries[i].key < entries[j].key
	})
	out.WriteByte('{')
	for _, one := range entries {
		out.WriteString(one.key + ":")
		tell(out, one.value, met)
	}
	out.WriteByte('}')
}

func hasPublicFields(kind reflect.Type) bool {
	for at := 0; at < kind.NumField(); at++ {
		if kind.Field(at).IsExported() {
			return true
		}
	}
	return false
}

// tellError writes an error as callers see it: its text, its public fields, and what it wraps.
func tellError(out *strings.Builder, problem error, value reflect.Value, met map[place]int) {
	if value.Kind() == reflect.Ptr && value.Type().Elem().Size() > 0 {
		if number, known := knownErrors[problem]; known {
			fmt.Fprintf(out, "(error %d)", number)
			return
		}
		knownErrors[problem] = len(knownErrors)
		value = value.Elem()
	}
	fmt.Fprintf(out, "(%q", problem.Error())
	for at := 0; value.Kind() == reflect.Struct && at < value.NumField(); at++ {
		if field := value.Type().Field(at); field.IsExported() {
			out.WriteString(" " + field.Name)
			tell(out, value.Field(at), met)
		}
	}
	if wrapped := errors.Unwrap(problem); wrapped != nil {
		out.WriteString(" wraps ")
		tellAny(out, reflect.ValueOf(wrapped), met)
	}
	if several, ok := problem.(interface{ Unwrap() []error }); ok {
		for _, wrapped := range several.Unwrap() {
			out.WriteString(" wraps ")
			tellAny(out, reflect.ValueOf(wrapped), met)
		}
	}
	out.WriteByte(')')
}
