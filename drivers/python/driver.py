# Calls the function on every case and writes what it gave, or its error, and its arguments after the call.
import collections
import decimal
import enum
import fractions
import gc
import importlib
import json
import operator
import os
import sys
import time
import types
import warnings

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
    if isinstance(value, (*MUTABLE, Exception)):
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
    elif of_error:
        return {kind.__name__: None}
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


def caught(problem, above=()):
    """An error as it is now: its kind and text, and where there is more, its arguments, its attributes, and what it was raised from."""
    text, args = str(problem), problem.args
    error = {"error": type(problem).__name__, "text": text}
    if not (len(args) == 1 and type(args[0]) is str and args[0] == text):
        error["args"] = [*args]
    if held := held_by(problem, [kind for kind in type(problem).__mro__ if "__slots__" in vars(kind)]):
        error["attributes"] = {**held}
    if problem.__suppress_context__:  # raise ... from ...; from None hides the error in whose handling it was raised
        cause, above = problem.__cause__, (*above, problem)
        error["cause"] = None if cause is None or any(cause is one for one in above) else caught(cause, above)
    return error


of_error = False  # while what an error holds is written: of a kind that told() does not know its name is enough


def written_error(error):
    """The same as JSON, once the calls are done."""
    global of_error
    for name, write in (("gave", told), ("args", lambda args: [told(one) for one in args]), ("attributes", written), ("cause", written_error)):
        if error.get(name) is not None:
            of_error = name != "gave"
            error[name] = write(error[name])
    of_error = False
    return error


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


class watched(list):
    """A list that knows which of its items were read, and whether that was in their order, as of an iterator."""

    def __init__(self, items):
        super().__init__(items)
        self.given, self.read, self.last, self.in_order = items, set(), 0, True

    def note(self, place):
        self.in_order = self.in_order and place >= self.last
        self.last = place
        self.read.add(place)

    def __iter__(self):
        self.in_order = self.in_order and not self.read  # an iterator is gone through once
        place = 0
        while place < list.__len__(self):
            self.note(place)
            yield list.__getitem__(self, place)
            place += 1

    def __getitem__(self, key):
        found = list.__getitem__(self, key)
        places = range(list.__len__(self))
        for place in places[key] if isinstance(key, slice) else [places[key]]:
            self.note(place)
        return found

    def __len__(self):
        self.in_order = False  # an iterator has no length
        return list.__len__(self)

    def __bool__(self):
        return list.__len__(self) > 0

    def state(self):
        """Whether it stayed as it was, and was read in order."""
        kept = list.__len__(self) == len(self.given) and all(map(operator.is_, list.__iter__(self), self.given))
        return kept and self.in_order and len(self.read) > 0


def whole(name):
    def method(self, *arguments, **named):
        self.read.update(range(list.__len__(self)))
        self.in_order = False
        return getattr(list, name)(self, *arguments, **named)
    return method


for name in ("__add__", "__contains__", "__delitem__", "__eq__", "__ge__", "__gt__", "__iadd__", "__imul__", "__le__", "__lt__", "__mul__", "__ne__", "__reversed__",
             "__rmul__", "__setitem__", "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"):
    setattr(watched, name, whole(name))


def watching(value, lists):
    """The same argument with lists that are watched."""
    if type(value) is list:
        value = watched([watching(one, lists) for one in value])
        lists.append(value)
    elif type(value) is dict:
        value = {key: watching(one, lists) for key, one in value.items()}
    return value


def reads(arguments, items):
    """Of each list in the arguments: its length, how much of it was read before the first result and before the second, and
    whether it was read in order. None: it is not known, or there are too few items to tell."""
    if len(dumps(arguments)) > 10_000 or any(type(one) is list and len(one) < 4 for one in arguments):
        return None
    lists, counts, given = [], [], 0
    watched_arguments = [watching(one, lists) for one in arguments]
    if not lists:
        return None
    try:
        for _ in called(made(), watched_arguments):
            given += 1
            if given <= 2:
                counts.append([len(one.read) for one in lists])
    except Exception:
        return None
    if given != items or given == 0:
        return None
    return [[len(one.given), first, second, one.state()] for one, first, second in zip(lists, counts[0], counts[-1])]


before = process()
dumps = json.dumps
timed = "ACCELOPT_TIME_CALLS" in os.environ  # set in a run of the old code alone, which tells the calls' share of the time
watches = os.environ.pop("ACCELOPT_WATCH_READS", None)  # set in runs that nobody times: tell when iterators read their input
with open(sys.argv[1]) as file:
    cases = json.load(file)

warned = warnings.catch_warnings(record=True).__enter__()  # what is warned of from here on, and how often
warnings.simplefilter("always")
warnings.simplefilter("ignore", ResourceWarning)  # these come whenever the collector runs
sys.path.insert(0, os.getcwd())
subject = importlib.import_module("{module}")  # TODO: check


def made():
    return {receiver}  # the object of a method; None: there is none


def called(receiver, arguments):
    return {call}(*arguments)  # TODO: call it as its users do


calls = []
began = time.process_time()
for arguments in cases:
    receiver = value = error = given = None
    earlier = len(warned)
    try:
        receiver = made()
        value = called(receiver, arguments)
        if hasattr(value, "__next__"):
            generated = isinstance(value, types.GeneratorType)
            given = generator() if generated else iterator()
            given.extend(all_of(value, given) if generated else value)
            value = given
    except Exception as problem:
        error = caught(problem)
        if given is not None:  # the call itself gave an iterator, and these items before the error
            error["gave"] = given
    calls.append((receiver, value, error, arguments, warned[earlier:]))
seconds = time.process_time() - began

getattr(sys, "set_int_max_str_digits", int)(0)  # Python 3.11 writes no integer of over 4300 digits otherwise
results = []
for receiver, value, error, arguments, warnings_of_call in calls:
    results.append({**(written_error(error) if error else {"value": told(value)}), "arguments": told(arguments)})
    if warnings_of_call:
        results[-1]["warnings"] = [[one.category.__name__, str(one.message)] for one in warnings_of_call]
    if receiver is not None:
        results[-1]["receiver"] = attributes(receiver)

changed = [name for name, value in process().items() if value != before[name]]
if changed:
    sys.exit(f"{', '.join(changed)}: differs from before the calls; where that is meant, leave it out of the driver")
with open(sys.argv[2], "w") as file:
    file.write(dumps(results))
if watches:  # in calls of their own, whose results nobody compares
    with open(sys.argv[1]) as file:
        again = zip(json.load(file), calls)
    told_of = [reads(arguments, len(call[1])) for arguments, call in again if isinstance(call[1], iterator)]
    print(f"reads before results: {dumps(told_of)}", file=sys.stderr)
if timed:
    print(f"seconds of calls: {seconds:.6f}", file=sys.stderr)
