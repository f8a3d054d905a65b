// SPDX-License-Identifier: Apache-2.0
#include "refactor/driver_forms.hpp"

namespace accelopt::refactor {
namespace {

constexpr std::string_view kPythonCases =
    R"(# Writes the inputs: {count} cases of this size, drawn from the seed. It runs on the old code alone.
import json
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
random.seed(int(seed))
cases = []
for _ in range(int(count)):
    # TODO: one input of this size as JSON, such as a list of arguments
    cases.append([{arguments}])
with open(out, "w") as file:
    json.dump(cases, file)
)";
constexpr std::string_view kPythonDriver =
    R"(# Calls the function on every case and writes what it gave, or its error, and its arguments after the call.
import collections
import decimal
import enum
import fractions
import gc
import importlib
import json
import os
import sys
import time
import types

PLAIN = {bool, float, int, str, type(None)}
MUTABLE = (list, collections.deque, dict, set, bytearray)
WRITTEN_BY_REPR = (bytes, bytearray, complex, decimal.Decimal, float, fractions.Fraction, int, range, str)
BARE = {*MUTABLE, *WRITTEN_BY_REPR, frozenset, tuple}  # what holds nothing besides its items


class iterator(list):
    """What an iterator gave, as far as it came."""


class generator(iterator):
    """The same of a generator."""


met = {}  # numbers of what can be changed, by identity, over all cases


def told(value):
    """The value as JSON that loses nothing: a tuple is no list, and a dictionary has an order and any keys.
    A list that is met again, in an argument or another result, is written by its number: a copy is not the same."""
    kind = type(value)
    if kind in PLAIN:
        return value
    if isinstance(value, MUTABLE):
        if id(value) in met:
            return {"met": met[id(value)]}
        met[id(value)] = len(met)
    if isinstance(value, (list, tuple, collections.deque)):
        parts = [*value] if PLAIN.issuperset(map(type, value)) else [told(one) for one in value]
        if kind is list:
            return parts
    elif isinstance(value, dict):
        plain = PLAIN.issuperset(map(type, value)) and PLAIN.issuperset(map(type, value.values()))
        parts = [*value.items()] if plain else [[told(key), told(one)] for key, one in value.items()]
    elif isinstance(value, (set, frozenset)):
        parts = sorted(dumps(told(one)) for one in value)
    elif isinstance(value, WRITTEN_BY_REPR):
        parts = repr(value)
    elif isinstance(value, Exception):
        parts = str(value)
    else:
        sys.exit(f"the function gives a {kind.__name__}; write in the driver's told() what is to be compared of it")
    return {kind.__name__: parts, **besides(value)}


def besides(value):
    """What a value holds besides its items: a deque's bound, what a dictionary makes for a missing key, attributes."""
    more = {}
    if isinstance(value, collections.deque) and value.maxlen is not None:
        more["maxlen"] = value.maxlen
    if isinstance(value, collections.defaultdict) and value.default_factory is not None:
        try:
            made = value.default_factory()  # which may be the same of another function
            more["default"] = made if type(made) in PLAIN else {"kind": type(made).__name__}
        except Exception as problem:
            more["default"] = {"error": type(problem).__name__}
    if type(value) not in BARE and value is not receiving and not isinstance(value, enum.Enum):
        if attributes := written(held_by(value, [one for one in type(value).__mro__ if one not in BARE and "__slots__" in vars(one)])):
            more["attributes"] = attributes
    return more


def held_by(value, kinds):
    """Its attributes, with what stands in slots of these classes."""
    slots = [name for kind in kinds for name, one in vars(kind).items() if type(one) is types.MemberDescriptorType]
    return {name: getattr(value, name) for name in slots if hasattr(value, name)} | getattr(value, "__dict__", {})


def written(held):
    return {name: told(held[name]) for name in sorted(held)}


receiving = None  # a method's object whose attributes are written already


def attributes(receiver):
    """What a method's object holds, with what stands in slots, and its items where it is a list or the like."""
    global receiving
    held = written(held_by(receiver, type(receiver).__mro__))
    receiving = receiver
    return {**held, "self": told(receiver)} if isinstance(receiver, (tuple, frozenset, *MUTABLE)) else held


def all_of(generator, given):
    """What it yields; what it returns is left in the list."""
    result = yield from generator
    if result is not None:
        given.result = result


def process():
    """What code could change to make this program faster rather than its own work."""
    return {"json.dump": json.dump, "json.dumps": json.dumps, "json.load": json.load, "gc.isenabled": gc.isenabled(),
            "gc.get_threshold": gc.get_threshold(), "gc.get_freeze_count": gc.get_freeze_count(),
            "sys.getrecursionlimit": sys.getrecursionlimit()}


before = process()
dumps = json.dumps
timed = "ACCELOPT_TIME_CALLS" in os.environ  # set in a run of the old code alone, which tells the calls' share of the time
with open(sys.argv[1]) as file:
    cases = json.load(file)

sys.path.insert(0, os.getcwd())
subject = importlib.import_module("{module}")  # TODO: check

calls = []
began = time.process_time()
for arguments in cases:
    receiver = value = error = given = None
    try:
        # TODO: call it as its users do
        receiver = {receiver}  # the object of a method; None: there is none
        value = {call}(*arguments)
        if hasattr(value, "__next__"):
            generated = isinstance(value, types.GeneratorType)
            given = generator() if generated else iterator()
            given.extend(all_of(value, given) if generated else value)
            value = given
    except Exception as problem:
        error = {"error": type(problem).__name__, "text": str(problem)}
        own = [kind for kind in type(problem).__mro__ if "__slots__" in vars(kind)]
        if held := held_by(problem, own):
            error["attributes"] = {**held}
        if given is not None:  # the call itself gave an iterator, and these items before the error
            error["gave"] = given
    calls.append((receiver, value, error, arguments))
seconds = time.process_time() - began

getattr(sys, "set_int_max_str_digits", int)(0)  # Python 3.11 writes no integer of over 4300 digits otherwise
results = []
for receiver, value, error, arguments in calls:
    if error and "gave" in error:
        error["gave"] = told(error["gave"])
    if error and "attributes" in error:
        error["attributes"] = written(error["attributes"])
    results.append({**(error or {"value": told(value)}), "arguments": told(arguments)})
    if receiver is not None:
        results[-1]["receiver"] = attributes(receiver)

changed = [name for name, value in process().items() if value != before[name]]
if changed:
    sys.exit(f"{', '.join(changed)}: differs from before the calls; where that is meant, leave it out of the driver")
with open(sys.argv[2], "w") as file:
    file.write(dumps(results))
if timed:
    print(f"seconds of calls: {seconds:.6f}", file=sys.stderr)
)";
constexpr std::string_view kScriptCases =
    R"(// Writes the inputs: count cases of this size, drawn from the seed. It runs on the old code alone.
import { writeFileSync } from "node:fs";

const [workload, seed, size, count, out] = process.argv.slice(2);
let state = BigInt(seed);
function random() {
  // SplitMix64
  state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
  let z = state;
  z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
  z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
  return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
}
const cases = [];
for (let i = 0; i < Number(count); ++i) {
  // TODO: one input of this size as JSON, such as a list of arguments
  cases.push([{arguments}]);
}
writeFileSync(out, JSON.stringify(cases));
)";
constexpr std::string_view kScriptDriver =
    R"(// Calls the function on every case and writes what it gave, or its error, and its arguments after the call.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";

const { parse, stringify } = JSON; // as they are before the code is loaded
const timed = "ACCELOPT_TIME_CALLS" in process.env; // set in a run of the old code alone, which tells the calls' share of the time
const cases = parse(readFileSync(process.argv[2], "utf8"));
const loaded = await import(pathToFileURL(resolve("{built}")));
const subject = loaded.{outer} ? loaded : loaded.default; // TODO: check

class Iterated extends Array {} // what an iterator gave, as far as it came
class Generated extends Iterated {} // the same of a generator

function fail(message) {
  console.error(message);
  process.exit(1);
}

function entries(list) {
  const parts = [];
  for (let place = 0; place < list.length; ++place) parts.push(place in list ? told(list[place]) : { hole: 0 });
  return parts;
}

const met = new Map(); // numbers of objects, by identity, over all cases
const viewed = new Map(); // the first typed array of each buffer
let receiving = null; // a method's object whose properties are written already

// Names and symbols of a list's properties. Those of its places take memory, so that a long list is shown without them first.
function keysOf(list) {
  if (list.length > 1000 && /^[^[]*\[ \.\.\. \d+ more items \]$/.test(inspect(list, { maxArrayLength: 0 }))) return [];
  const keys = Reflect.ownKeys(list); // places come first
  return keys.slice(list instanceof Array ? keys.lastIndexOf("length") + 1 : list.length);
}

// What an object holds besides its items, in properties of these names or symbols (a match has its groups there).
function besides(value, keys) {
  if (keys.length === 0 && Object.isExtensible(value) && !ArrayBuffer.isView(value)) return {};
  const more = {};
  const isShown = (key) => key === "cause" || key === "errors" || Object.prototype.propertyIsEnumerable.call(value, key);
  const shown = value === receiving ? [] : keys.filter(isShown);
  if (shown.length > 0) more.properties = shown.map((key) => [String(key), told(value[key])]);
  if (value instanceof RegExp && value.lastIndex !== 0) more.lastIndex = told(value.lastIndex);
  if (Object.isFrozen(value)) more.frozen = true;
  // Views of one buffer change together. Small ones of Buffer share one by chance.
  if (ArrayBuffer.isView(value) && !(value instanceof Buffer)) {
    const first = viewed.get(value.buffer);
    if (first) more.shares = [met.get(first), value.byteOffset - first.byteOffset];
    else viewed.set(value.buffer, value);
  }
  return more;
}

// The words of a TypeError or ReferenceError name the variables of the code.
function words(error) {
  return error instanceof TypeError || error instanceof ReferenceError ? "" : String(error?.message);
}

// What was thrown, besides its kind and words.
function thrown(error) {
  if (error === null || error === undefined) return {};
  if (typeof error !== "object") return { thrown: told(error) };
  return besides(error, Reflect.ownKeys(error).filter((key) => key !== "message"));
}

// The value as JSON that loses nothing: JSON.stringify alone writes a Map as {} and NaN as null. An object that is met
// again, in an argument or another result, is written by its number: a copy is not the same.
function told(value) {
  if (typeof value === "number") {
    if (Object.is(value, -0)) return { number: "-0" };
    return Number.isFinite(value) ? value : { number: String(value) };
  }
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (value === undefined || typeof value === "bigint") return { [typeof value]: String(value) };
  if (typeof value === "object") {
    if (met.has(value)) return { met: met.get(value) };
    met.set(value, met.size);
  }
  const prototype = Object.getPrototypeOf(value);
  const kind = prototype === null ? "null" : prototype.constructor?.name;
  if (kind === "Array" || value instanceof Iterated) {
    const parts = entries(value);
    const more = besides(value, keysOf(value));
    if (kind === "Array") return Object.keys(more).length > 0 ? { Array: parts, ...more } : parts;
    return { [kind === "Generated" ? "generator" : "iterator"]: parts, ...more };
  }
  if (kind === "Object" || kind === "null") {
    const parts = Object.entries(value).map(([key, one]) => [key, told(one)]);
    return { [kind]: parts, ...besides(value, Object.getOwnPropertySymbols(value)) };
  }
  const whole = (parts) => ({ [kind]: parts, ...besides(value, Reflect.ownKeys(value)) });
  if (value instanceof Map) return whole(Array.from(value, ([key, one]) => [told(key), told(one)]));
  if (value instanceof Set) return whole(Array.from(value, told));
  if (value instanceof Date) return whole(told(value.getTime()));
  if (value instanceof RegExp) return whole(String(value));
  if (value instanceof Error) return { [kind]: words(value), ...thrown(value) };
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return { [kind]: Array.from(value, told), ...besides(value, keysOf(value)) };
  }
  return fail(`the function gives a ${kind ?? typeof value}; write in the driver's told() what is to be compared of it`);
}

// What a method's object holds, and its items where it is a Map or Set. Private fields (#x) cannot be seen.
function attributes(receiver) {
  const names = Object.keys(receiver).filter((name) => typeof receiver[name] !== "function");
  const written = names.sort().map((name) => [name, told(receiver[name])]);
  receiving = receiver;
  return receiver instanceof Map || receiver instanceof Set ? [...written, ["this", told(receiver)]] : written;
}

const calls = [];
const began = process.cpuUsage();
for (const args of cases) {
  const call = { args };
  try {
    // TODO: call it as its users do
    const receiver = {receiver}; // the object of a method; null: there is none
    call.receiver = receiver;
    const value = {call}(...args);
    call.value = value;
    if (typeof value?.next === "function" && typeof value[Symbol.iterator] === "function") {
      call.gave = Object.prototype.toString.call(value) === "[object Generator]" ? new Generated() : new Iterated();
      const given = value[Symbol.iterator]();
      let step = given.next();
      for (; !step.done; step = given.next()) call.gave.push(step.value);
      if (step.value !== undefined) call.gave.result = step.value; // what a generator returned
      call.value = call.gave;
    }
  } catch (error) {
    call.error = { error: error?.constructor?.name ?? String(error), text: words(error) };
    call.thrown = error;
  }
  calls.push(call);
}
const { user, system } = process.cpuUsage(began);

const results = calls.map(({ receiver, value, gave, error, args, thrown: what }) => {
  // An error with what it gave before came from the iteration, and one without from the call.
  if (error && gave) error.gave = told(gave);
  if (error) Object.assign(error, thrown(what));
  const result = { ...(error ?? { value: told(value) }), arguments: told(args) };
  return receiver ? { ...result, receiver: attributes(receiver) } : result;
});
if (JSON.stringify !== stringify || JSON.parse !== parse) fail("JSON: differs from before the calls");
writeFileSync(process.argv[3], stringify(results));
if (timed) console.error(`seconds of calls: ${((user + system) / 1e6).toFixed(6)}`);
)";
constexpr std::string_view kLineCases =
    R"(# Writes the inputs: count cases of this size, a line each, drawn from the seed. It runs on the old code alone.
import random
import sys

workload, seed, size, count, out = sys.argv[1:]
random.seed(int(seed))
with open(out, "w") as file:
    for _ in range(int(count)):
        # TODO: one input of this size on a line; an empty line for size 0
        print(" ".join(str(random.randrange(int(size) + 1)) for _ in range(int(size))), file=file)
)";
constexpr std::string_view kCDriver =
    R"(/* Calls the function on every case, a line each, and writes what it gave, and its arguments after the call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "{stem}.h" /* TODO: check, or declare it here */

int main(int argc, char **argv) {
  FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
  FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
  char *line = NULL;
  size_t room = 0;
  int timed = getenv("ACCELOPT_TIME_CALLS") != NULL; /* in a run of the old code alone: the calls' share of the time */
  clock_t calls = 0;
  if (in == NULL || out == NULL) return 2;
  while (getline(&line, &room, in) >= 0) {
    line[strcspn(line, "\n")] = '\0';
    clock_t began = timed ? clock() : 0;
    /* TODO: call it as its users do */
    long value = {function}(line);
    if (timed) calls += clock() - began;
    fprintf(out, "%ld %s\n", value, line);
  }
  free(line);
  if (timed) fprintf(stderr, "seconds of calls: %.6f\n", (double)calls / CLOCKS_PER_SEC);
  return fclose(out) == 0 ? 0 : 1;
}
)";
constexpr std::string_view kCxxDriver =
    R"(// Calls the function on every case, a line each, and writes what it gave, or the kind of error, and its arguments after it.
#include <cstdlib>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <typeinfo>

#include "{stem}.hpp"  // TODO: check, or declare it here

int main(int, char** argv) {
  std::ifstream in(argv[1]);
  std::ofstream out(argv[2]);
  const bool timed = std::getenv("ACCELOPT_TIME_CALLS") != nullptr;  // in a run of the old code alone: the calls' share of the time
  std::clock_t calls = 0;
  for (std::string line; std::getline(in, line);) {
    try {
      const std::clock_t began = timed ? std::clock() : 0;
      // TODO: call it as its users do
      const auto& value = {function}(line);
      if (timed) calls += std::clock() - began;
      out << value << ' ' << line << '\n';
    } catch (const std::exception& error) {
      out << "error " << typeid(error).name() << ' ' << line << '\n';
    }
  }
  if (timed) std::cerr << "seconds of calls: " << std::fixed << static_cast<double>(calls) / CLOCKS_PER_SEC << '\n';
}
)";
constexpr std::string_view kGoDriver =
    R"(// Calls the function on every case, a line each, and writes what it gave, or that it panicked, and its arguments after it.
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
)";
constexpr std::string_view kRustDriver =
    R"(// Calls the function on every case, a line each, and writes what it gave, and its arguments after the call.
use std::io::Write;
use std::time::Instant;

fn main() {
    let names: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&names[1]).unwrap();
    let mut out = std::io::BufWriter::new(std::fs::File::create(&names[2]).unwrap());
    let timed = std::env::var_os("ACCELOPT_TIME_CALLS").is_some(); // in a run of the old code alone: the calls' share of the time
    let mut seconds = 0.0;
    for line in text.lines() {
        let began = timed.then(Instant::now);
        // TODO: call it as its users do
        let value = {call}(line);
        seconds += began.map_or(0.0, |it| it.elapsed().as_secs_f64());
        writeln!(out, "{:?} {}", value, line).unwrap();
    }
    if timed {
        eprintln!("seconds of calls: {:.6}", seconds);
    }
}
)";

constexpr std::string_view kPythonGenerator =
    R"(cases = ["python3", "{task}/cases.py", "{workload}", "{seed}", "{size}", "{count}", "{out}"])";
constexpr std::string_view kBuiltDriver = R"(run = ["./accelopt-driver", "{cases}", "{results}"])";

DriverForm script_form(std::string_view build, std::string_view built) {
  std::string driver(kScriptDriver);
  driver = with_words(std::move(driver), {{"{built}", std::string(built)}});
  return {build,
          R"(cases = ["node", "{task}/cases.mjs", "{workload}", "{seed}", "{size}", "{count}", "{out}"])",
          R"(run = ["node", "{task}/driver.mjs", "{cases}", "{results}"])",
          {{"cases.mjs", std::string(kScriptCases)}, {"driver.mjs", driver}}};
}

DriverForm built_form(std::string_view build, std::string_view name, std::string_view driver) {
  return {build,
          kPythonGenerator,
          kBuiltDriver,
          {{"cases.py", std::string(kLineCases)}, {std::string(name), std::string(driver)}}};
}

}  // namespace

std::string with_words(std::string text, const Words& words) {
  for (const auto& [word, value] : words) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + value.size()))
      text.replace(at, word.size(), value);
  }
  return text;
}

DriverForm form_of(const CodeLanguage& language) {
  if (language.form == FunctionForm::indentation) {
    return {"# build = [\"make\"]",
            kPythonGenerator,
            R"(run = ["python3", "{task}/driver.py", "{cases}", "{results}"])",
            {{"cases.py", std::string(kPythonCases)}, {"driver.py", std::string(kPythonDriver)}}};
  }
  if (language.name == "javascript") return script_form("# build = [\"npm\", \"run\", \"build\"]", "{path}");
  if (language.name == "typescript") {
    return script_form(R"(build = ["tsc", "--outDir", "accelopt-built", "{path}"]   # TODO: check)",
                       "accelopt-built/{file}.js");
  }
  if (language.name == "c") {
    return built_form(
        R"(build = ["cc", "-O2", "-I.", "-o", "accelopt-driver", "{task}/driver.c", "{path}"]   # TODO: check)",
        "driver.c", kCDriver);
  }
  if (language.name == "c++") {
    return built_form(
        R"(build = ["c++", "-O2", "-I.", "-o", "accelopt-driver", "{task}/driver.cpp", "{path}"]   # TODO: check)",
        "driver.cpp", kCxxDriver);
  }
  if (language.name == "go") {
    return built_form(R"(build = ["go", "build", "-o", "accelopt-driver", "{task}/driver.go"])", "driver.go",
                      kGoDriver);
  }
  if (language.name == "rust") {
    return built_form(
        R"(build = ["sh", "-c", "rustc -O --crate-type rlib --crate-name subject -o libsubject.rlib src/lib.rs && )"
        R"(rustc -O --extern subject=libsubject.rlib -o accelopt-driver {task}/driver.rs"]   # TODO: check)",
        "driver.rs", kRustDriver);
  }
  return {"# build = [\"make\"]",
          "cases = [\"?\"]   # with {workload} {seed} {size} {count} {out}",
          "run = [\"?\"]     # with {cases} {results}",
          {}};
}

}  // namespace accelopt::refactor
