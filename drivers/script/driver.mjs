// Calls the function on every case and writes what it gave, or its error, and its arguments after the call.
import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";

const { parse, stringify } = JSON; // as they are before the code is loaded
const timed = "ACCELOPT_TIME_CALLS" in process.env; // set in a run of the old code alone, which tells the calls' share of the time
const watches = "ACCELOPT_WATCH_READS" in process.env; // set in runs that nobody times: tell when iterators read their input
delete process.env.ACCELOPT_WATCH_READS;
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

// Sentences in which V8 itself names the variables and the expressions of the code.
const V8_SENTENCES = [
  /^.+ is not (defined|a constructor|a function|(async )?iterable( \(cannot read property .+\))?|a function or its return value is not (async )?iterable)$/s,
  /^Cannot (read|set) properties of (undefined|null)( \((reading|setting) '.*'\))?$/s,
  /^Cannot (read|write) private member .+ (from|to) an object whose class did not declare it$/,
  /^Cannot destructure (property )?'.*' (of '.*' )?as it is (undefined|null)\.$/s,
  /^Cannot access '.*' before initialization$/,
  /^Assignment to constant variable\.$/,
  /^Spread syntax requires \.\.\.iterable\[Symbol\.iterator\] to be a function$/,
];

// The words of an error, but for V8's of a TypeError or ReferenceError.
function words(error) {
  const text = String(error?.message);
  const isNamed = error instanceof TypeError || error instanceof ReferenceError;
  return isNamed && V8_SENTENCES.some((sentence) => sentence.test(text)) ? "" : text;
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

// The same argument with arrays that note which of their items are read, and whether in their order, as of an iterator.
const SEARCHES = ["every", "find", "findIndex", "findLast", "findLastIndex", "includes", "indexOf", "lastIndexOf", "some"];
function watched(value, lists) {
  if (value === null || typeof value !== "object") return value;
  if (!Array.isArray(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, watched(one, lists)]));
  const items = value.map((one) => watched(one, lists));
  const list = { length: items.length, read: new Set(), last: 0, inOrder: true };
  lists.push(list);
  const note = (place) => {
    list.inOrder &&= place >= list.last;
    list.last = place;
    list.read.add(place);
  };
  function* iterate() {
    list.inOrder &&= list.read.size === 0; // an iterator is gone through once
    for (let place = 0; place < items.length; ++place) {
      note(place);
      yield items[place];
    }
  }
  const changes = (name) => (...given) => {
    list.inOrder = false;
    return Reflect[name](...given);
  };
  return new Proxy(items, {
    get(target, key, proxy) {
      if (key === Symbol.iterator) return iterate;
      if (SEARCHES.includes(key)) for (let place = items.length; place-- > 0; ) note(place);
      else if (typeof key === "string" && /^\d+$/.test(key) && key < items.length) note(Number(key));
      return Reflect.get(target, key, proxy);
    },
    set: changes("set"),
    defineProperty: changes("defineProperty"),
    deleteProperty: changes("deleteProperty"),
  });
}

// Of each list in the arguments: its length, how much of it was read before the first result and before the second, and
// whether it was read in order. null: it is not known, or there are too few items to tell.
function reads(args, items) {
  if (stringify(args).length > 10000 || args.some((one) => Array.isArray(one) && one.length < 4)) return null;
  const lists = [];
  const counts = [];
  let given = 0;
  try {
    const arguments_ = args.map((one) => watched(one, lists));
    if (lists.length === 0) return null;
    for (const _ of called(made(), arguments_)) if (++given <= 2) counts.push(lists.map((list) => list.read.size));
  } catch {
    return null;
  }
  if (given !== items || given === 0) return null;
  return lists.map((list, at) => [list.length, counts[0][at], counts.at(-1)[at], list.inOrder && list.read.size > 0]);
}

function made() {
  return {receiver}; // the object of a method; null: there is none
}

function called(receiver, args) {
  return {call}(...args); // TODO: call it as its users do
}

const calls = [];
const began = process.cpuUsage();
for (const args of cases) {
  const call = { args };
  try {
    call.receiver = made();
    const value = called(call.receiver, args);
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
if (watches) { // in calls of their own, whose results nobody compares
  const again = parse(readFileSync(process.argv[2], "utf8"));
  const of = calls.flatMap(({ gave, error }, at) => (gave && !error ? [reads(again[at], gave.length)] : []));
  console.error(`reads before results: ${stringify(of)}`);
}
if (timed) console.error(`seconds of calls: ${((user + system) / 1e6).toFixed(6)}`);
