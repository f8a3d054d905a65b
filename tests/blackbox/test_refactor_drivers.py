# SPDX-License-Identifier: Apache-2.0
"""The drivers that `accelopt refactor init` writes, run by hand on small modules: what they tell apart, and what they refuse."""

import json
import os
import shutil
import subprocess
import sys
import unittest

import support


class DriverCase(support.TestCase):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repository"
        self.repository.mkdir()
        subprocess.run(["git", "init", "--quiet", self.repository], check=True)

    def made(self, name, text, function):
        """The folder of a new task for the function of this source."""
        source = self.repository / name
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(text)
        task = self.folder / "task"
        shutil.rmtree(task, ignore_errors=True)
        self.succeed("refactor", "init", source, "--function", function, "--output", task)
        return task

    def run_driver(self, task, cases, **environment):
        """How the driver ends on the cases, with its results."""
        driver = next(task.glob("driver.*"))
        interpreter = sys.executable if driver.suffix == ".py" else "node"
        given, out = self.file("cases", json.dumps(cases)), self.folder / "results"
        out.unlink(missing_ok=True)
        ran = subprocess.run([interpreter, driver, given, out], cwd=self.repository, capture_output=True, text=True,
                             env={**os.environ, **environment})
        return ran, out.read_text() if out.exists() else ""

    def results(self, name, text, cases, function="f"):
        ran, out = self.run_driver(self.made(name, text, function), cases)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        return out


class OtherDriverTest(DriverCase):
    def test_a_function_that_cannot_be_found_is_refused(self):
        source = self.repository / "m.pl"
        source.write_text("sub f { 1 }\n")
        self.assert_says(self.accelopt("refactor", "init", source, "--function", "f"), 1, "functions are not found in m.pl; leave out --function")


class TimedDriverTest(DriverCase):
    def test_the_time_of_the_calls_is_told_where_it_is_asked_for(self):
        for name, text in (("m.py", "def f(a): return [a]\n"), ("m.mjs", "export function f(a) { return [a]; }\n")):
            task = self.made(name, text, "f")
            ran, out = self.run_driver(task, [[1], [2]], ACCELOPT_TIME_CALLS="1")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertRegex(ran.stderr, r"\Aseconds of calls: \d\.\d{6}\n\Z")
            self.assertEqual(self.run_driver(task, [[1], [2]])[0].stderr, "")
            self.assertEqual(self.run_driver(task, [[1], [2]])[1], out)


class ReadsOfDriversTest(DriverCase):
    """When iterators read their input: told only where it is asked for."""

    def reads(self, name, text, cases):
        ran, out = self.run_driver(self.made(name, text, "f"), cases, ACCELOPT_WATCH_READS="1")
        self.assertEqual((ran.returncode, ran.stderr[:22], len(json.loads(out))), (0, "reads before results: ", len(cases)), ran.stderr)
        return json.loads(ran.stderr[22:])

    def test_python(self):
        long, short = [[3, 1, 2, 5, 4, 6]], [[1, 2]]
        self.assertEqual(self.reads("m.py", "def f(a):\n    for one in a: yield one\n", [long, short]), [[[6, 1, 2, True]], None])
        self.assertEqual(self.reads("m.py", "def f(a):\n    for at in range(len(a)): yield a[at]\n", [long]), [[[6, 1, 2, False]]], "an iterator has no length")
        self.assertEqual(self.reads("m.py", "def f(a, n): return iter(range(n))\n", [[[1], 5], [5, 9]]), [None, None], "nothing to read")
        self.assertEqual(self.reads("m.py", "def f(a): return map(abs, a)\n", [long]), [[[6, 1, 2, True]]])
        for body in ("yield from sorted(a)", "yield from a[:]", "yield from dict.fromkeys(a)"):
            self.assertEqual(self.reads("m.py", f"def f(a):\n    {body}\n", [long])[0][0][:3], [6, 6, 6], body)
        for body in ("for one in a:\n        for other in a: yield one, other", "if 3 in a: yield from a", "while a: yield a.pop(0)",
                     "import heapq; heapq.heapify(a); yield a[0]; yield a[0]"):
            self.assertFalse(self.reads("m.py", f"def f(a):\n    {body}\n", [long])[0][0][3], body)
        self.assertEqual(self.reads("m.py", "def f(a):\n    yield from a\n    raise KeyError\n", [long]), [])
        self.assertEqual(self.reads("m.py", "def f(a):\n    if type(a) is list: yield from a\n", [long]), [None])
        self.assertEqual(self.reads("m.py", "def f(a): return a\n", [long]), [])

    @unittest.skipIf(shutil.which("node") is None, "node is not installed")
    def test_script(self):
        long, short = [[3, 1, 2, 5, 4, 6]], [[1, 2]]
        self.assertEqual(self.reads("m.mjs", "export function* f(a) { for (const one of a) yield one; }\n", [long, short]), [[[6, 1, 2, True]], None])
        self.assertEqual(self.reads("m.mjs", "export function* f(a) { for (let at = 0; at < a.length; ++at) yield a[at]; }\n", [long]), [[[6, 1, 2, True]]])
        self.assertEqual(self.reads("m.mjs", "export function f(a) { return a.values(); }\n", [long]), [[[6, 1, 2, True]]])
        for body in ("yield* [...a].sort();", "yield* a.slice();", "yield* new Set(a);"):
            self.assertEqual(self.reads("m.mjs", f"export function* f(a) {{ {body} }}\n", [long]), [[[6, 6, 6, True]]], body)
        for body in ("for (const one of a) for (const other of a) yield other;", "if (a.includes(3)) yield* a;", "while (a.length) yield a.shift();"):
            self.assertFalse(self.reads("m.mjs", f"export function* f(a) {{ {body} }}\n", [long])[0][0][3], body)


class PythonDriverTest(DriverCase):
    def test_code_that_changes_the_process_is_refused(self):
        for line, name in (("import json; json.dumps = json.dump", "json.dumps"), ("import gc; gc.disable()", "gc.isenabled"),
                           ("import sys; sys.setrecursionlimit(5000)", "sys.getrecursionlimit")):
            ran, out = self.run_driver(self.made("m.py", f"def f(a):\n    {line}\n", "f"), [[1]])
            self.assertEqual((ran.returncode, out), (1, ""), name)
            self.assertIn(f"{name}: differs from before the calls", ran.stderr)

    def test_a_module_named_like_one_of_the_library_stays_out_of_the_driver(self):
        (self.repository / "json.py").write_text("def load(file): return []\n")
        self.assertIn('"value": 2', self.results("m.py", "def f(a): return a + 1\n", [[1]]))

    def test_what_differs_for_a_caller_is_written_otherwise(self):
        texts = ["(1, 2)", "[1, 2]", "{1: 2}", "{'1': 2}", "{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", "{1, 2}", "frozenset([1, 2])", "1", "1.0",
                 "True", "-0.0", "0.0", "float('nan')", "None", "2**64", "2**64 + 1", "b'1'", "'1'", "[(1,)]", "[[1]]", "[{}]", "[[]]",
                 "a", "[*a]", "{'dict': []}", "__import__('collections').deque([1, 2])", "(one for one in (1, 2))"]
        program = "def f(place, a):\n    return [" + ", ".join(f"lambda: {text}" for text in texts) + "][place]()\n"
        records = self.results("m.py", program, [[place, [7]] for place in range(len(texts))])[2:-2].split('}, {"value"')
        self.assertEqual(len(set((record.split(', "arguments"')[0].removeprefix('"value"'), "met" in record) for record in records)), len(texts), records)

    def test_what_a_value_holds_besides_its_items_is_written(self):
        program = """import collections, enum
class Rows(list):
    pass
class Color(str, enum.Enum):
    RED = 'r'
class Bad(Exception):
    def __str__(self):
        return 'm'
def held(value, **attributes):
    vars(value).update(attributes)
    return value
def gen(last):
    yield 1
    return last
def f(place, a):
    if place == 0 or place == 1:
        raise held(Bad(), code=place)
    return [lambda: held(Rows(), total=1), lambda: held(Rows(), total=2), Rows, lambda: collections.deque([], 3), lambda: collections.deque([], 4), collections.deque,
            lambda: collections.defaultdict(int), lambda: collections.defaultdict(list), collections.defaultdict, lambda: gen(5), lambda: gen(6), lambda: gen(None),
            lambda: 10**5000, lambda: Color.RED, lambda: collections.Counter('a'), lambda: collections.defaultdict(lambda: 0)][place - 2]()
"""
        out = json.loads(self.results("m.py", program.replace("10**5000", "1"), [[place, 7] for place in range(18)]))
        self.assertEqual([one.get("attributes") for one in out[:2]], [{"code": 0}, {"code": 1}])
        values = [one["value"] for one in out[2:]]
        self.assertEqual(len(set(json.dumps(value) for value in values[:12])), 12, values)
        self.assertEqual([values[at] for at in (2, 5, 8, 11, 12, 13, 14)],
                         [{"Rows": []}, {"deque": []}, {"defaultdict": []}, {"generator": [1]}, 1, {"Color": "<Color.RED: 'r'>"}, {"Counter": [["a", 1]]}])
        self.assertEqual(values[6], values[15])
        self.assertIn('"value": 1' + 5000 * "0", self.results("m.py", program, [[14, 7]]))

    def test_methods_are_called_on_an_object_and_any_path_is_imported(self):
        program = ("class A:\n    def m(self, a):\n        return ['m', a]\n\n    @staticmethod\n    def s(a):\n        return ['s', a]\n\n"
                   "    @classmethod\n    def c(cls, a):\n        return ['c', a]\n")
        for function in "msc":
            out = self.results("with space/my-mod.py", program, [[1]], f"A.{function}")
            self.assertEqual([one["value"] for one in json.loads(out)], [[function, 1]])

    def test_an_iterator_has_its_kind_and_what_it_gave_before_an_error(self):
        early = "    if a[0] == 0: raise KeyError(a[0])\n"
        lazy = "def f(a):\n    for one in a:\n        if one == 2: raise ValueError(one)\n        yield one\n"
        eager = "def f(a):\n    return iter([one for one in a if one != 2 or 1 / 0])\n"
        cases = [[[1, 3]], [[1, 2, 3]]]
        error = {"error": "ValueError", "text": "2", "args": [2], "gave": {"generator": [1]}, "arguments": [[1, 2, 3]]}
        self.assertEqual(json.loads(self.results("m.py", lazy, cases)), [{"value": {"generator": [1, 3]}, "arguments": [[1, 3]]}, error])
        self.assertEqual([one.get("value", one.get("gave")) for one in json.loads(self.results("m.py", eager, cases))], [{"iterator": [1, 3]}, None])
        late = json.loads(self.results("m.py", "def f(a):\n" + early + "    yield 1\n", [[[0]]]))
        at_once = json.loads(self.results("m.py", "def f(a):\n" + early + "    return iter([1])\n", [[[0]]]))
        self.assertEqual((late[0].pop("gave"), late), ({"generator": []}, at_once))

    def test_what_a_method_left_in_its_object_is_written(self):
        keeps = ("class A:\n    __slots__ = ('__b', 'c', '__dict__')\n    def __init__(self):\n        self.z = []\n        self.__b = 1\n"
                 "    def m(self, a):\n        self.z.append(a)\n        self.y = a\n        return self.z\n")
        self.assertEqual(json.loads(self.results("m.py", keeps, [[3], [4]], "A.m")),
                         [{"value": [a], "arguments": [a], "receiver": {"_A__b": 1, "y": a, "z": {"met": met}}} for a, met in ((3, 0), (4, 2))])
        of_list = "class A(list):\n    def m(self, a):\n        self.append(a)\n        raise KeyError(a)\n"
        self.assertEqual(json.loads(self.results("m.py", of_list, [[3]], "A.m"))[0]["receiver"], {"self": {"A": [3]}})
        self.assertNotIn("receiver", self.results("m.py", "def f(a): return a\n", [[1]]))

    def test_what_is_shared_is_written_once(self):
        """A copy that became the thing itself: within a result, with an argument, with an earlier result."""
        cases = [[[[1], [2]]], [[[1], [2]]]]
        copies = json.loads(self.results("m.py", "import copy\ndef f(a): return {'x': [copy.deepcopy(a), ([3], [3])]}\n", cases))
        self.assertEqual(copies[1], {"value": {"dict": [["x", [[[1], [2]], {"tuple": [[3], [3]]}]]]}, "arguments": [[[1], [2]]]})
        for body in ("{'x': [a, ([3], [3])]}", "{'x': [[*a], ([3], [3])]}", "{'x': [copy.deepcopy(a), ([3],) * 2]}",
                     "{'x': [copy.deepcopy(a), (K, [3])]}"):
            shared = json.loads(self.results("m.py", f"import copy\nK = [3]\ndef f(a): return {body}\n", cases))
            self.assertNotEqual(shared, copies, body)
        same = "def f(a):\n    a.append(a)\n    return a, (1, 2), (1, 2)\n"
        self.assertEqual(json.loads(self.results("m.py", same, [[[]]])),
                         [{"value": {"tuple": [[{"met": 0}], {"tuple": [1, 2]}, {"tuple": [1, 2]}]}, "arguments": [{"met": 0}]}])

    def test_errors_have_their_text_and_changed_arguments_show(self):
        program = "def f(a):\n    a.append((1,))\n    raise KeyError(a[0])\n"
        self.assertEqual(json.loads(self.results("m.py", program, [[["x"]], [["y"]]])),
                         [{"error": "KeyError", "text": f"'{name}'", "args": [name], "arguments": [[name, {"tuple": [1]}]]} for name in "xy"])

    def test_an_error_may_hold_what_is_not_written(self):
        program = ("import datetime\ndef f(a):\n    if a == 0: raise ValueError(datetime.date(2026, 1, 2))\n    if a == 1: raise TypeError(int)\n"
                   "    error = KeyError(1, 2)\n    error.me = error\n    raise error\n")
        results = json.loads(self.results("m.py", program, [[0], [1], [2]]))
        self.assertEqual(results[0]["args"], [{"date": None}])
        self.assertEqual(results[1]["args"], [{"type": None}])
        self.assertEqual(results[2]["args"], [1, 2])

    def test_what_an_error_holds_and_was_raised_from_is_written(self):
        raised = ["ValueError('a')", "ValueError('a', 1)", "ValueError('a') from None", "ValueError('a') from KeyError('k')", "ValueError('a') from KeyError('l')"]
        program = "def f(place):\n" + "".join(f"    if place == {at}: raise {text}\n" for at, text in enumerate(raised))
        out = json.loads(self.results("m.py", program, [[at] for at in range(len(raised))]))
        key_error = {"error": "KeyError", "text": "'k'", "args": ["k"]}
        self.assertEqual([(one.get("args"), one.get("cause", "none")) for one in out],
                         [(None, "none"), (["a", 1], "none"), (None, None), (None, key_error), (None, {**key_error, "text": "'l'", "args": ["l"]})])

    def test_each_warning_is_written(self):
        program = "import warnings\ndef f(count):\n    for _ in range(count): warnings.warn('old', DeprecationWarning)\n    open('/dev/null')\n"
        self.assertEqual([one.get("warnings") for one in json.loads(self.results("m.py", program, [[2], [0], [1]]))],
                         [[["DeprecationWarning", "old"]] * 2, None, [["DeprecationWarning", "old"]]])

    def test_a_value_that_cannot_be_written_is_refused(self):
        for value, kind in (("object()", "object"), ("open", "builtin_function_or_method")):
            ran, out = self.run_driver(self.made("m.py", f"def f(a): return [{value}]\n", "f"), [[1]])
            self.assertEqual((ran.returncode, out), (1, ""))
            self.assertIn(f"the function gives a {kind}; write in the driver's told()", ran.stderr)


@unittest.skipIf(shutil.which("node") is None, "node is not installed")
class ScriptDriverTest(DriverCase):
    def test_what_differs_for_a_caller_is_written_otherwise(self):
        texts = ["new Map()", "new Map([[1, 2]])", "new Map([['1', 2]])", "new Set()", "new Set([1])", "{}", "[]", "[1]", "{a: 1, b: 2}", "{b: 2, a: 1}",
                 "Object.create(null)", "{Map: []}", "NaN", "Infinity", "-Infinity", "0", "-0", "null", "undefined", "10n", "10", "'10'", "true",
                 "new Float64Array([NaN])", "new Float64Array([0])", "new Uint8Array([0])", "[undefined]", "[null]", "[,]", "new Date(0)", "new Date(NaN)",
                 "/a/g", "a", "[...a]", "[1].values()", "{constructor: 1}"]
        program = "export function f(place, a) {\n  return [" + ", ".join(f"() => ({text})" for text in texts) + "][place]();\n}\n"
        records = self.results("m.mjs", program, [[place, [7]] for place in range(len(texts))])[2:-2].split('},{"value"')
        self.assertEqual(len(set((record.split(',"arguments"')[0].removeprefix('"value"'), "met" in record) for record in records)), len(texts), records)

    def test_what_a_value_holds_besides_its_items_is_written(self):
        program = """function held(value, properties) { return Object.assign(value, properties); }
const buffer = new Uint8Array(4);
export function f(place) {
  if (place < 6) throw ["text", "other", held(new RangeError("m"), { code: 1 }), new RangeError("m", { cause: 2 }),
    new RangeError("m"), new RangeError("m", { cause: new Error("c") })][place];
  return [() => /b(?<n>.)/.exec("abc"), () => ["bc", "c"], () => held([], { links: {} }), () => held(new Map(), { extra: 1 }), () => new Map(), () => ({}), () => ({ [Symbol("s")]: 1 }),
    () => Object.freeze({}), () => /b/g, () => held(/b/g, { lastIndex: 2 }), () => [buffer, buffer.subarray(1, 2)], () => [new Uint8Array(4), new Uint8Array(1)], () => held(Array(2000).fill(0), { x: 1 }), () => Array(2000).fill(0),
    function* () { yield 1; }, function* () { yield 1; return 2; }, () => new RangeError("m")][place - 6]();
}
"""
        out = [json.loads(self.results("m.mjs", program, [[place]]))[0] for place in range(23)]
        self.assertEqual(len(set(json.dumps({**one, "arguments": []}) for one in out)), 23, out)
        self.assertEqual(out[4], {"error": "RangeError", "text": "m", "arguments": [4]})
        self.assertEqual([out[at]["value"] for at in (7, 10, 11, 14, 17, 20)],
                         [["bc", "c"], {"Map": []}, {"Object": []}, {"RegExp": "/b/g"}, [{"Uint8Array": [0] * 4}, {"Uint8Array": [0]}], {"generator": [1]}])
        self.assertEqual((out[18]["value"]["properties"], out[19]["value"]), ([["x", 1]], [0] * 2000))

    def test_what_is_shared_is_written_once(self):
        program = "const k = [3];\nexport function f(a, how) {\n  return [() => [[...a], [3], [3]], () => [a, [3], [3]], () => [[...a], k, k], () => [[...a], [3], k]][how]();\n}\n"
        copies, *others = (json.loads(self.results("m.mjs", program, [[[1], how], [[1], how]])) for how in range(4))
        self.assertEqual(copies, [{"value": [[1], [3], [3]], "arguments": [[1], 0]}] * 2)
        self.assertEqual([[one["value"] for one in other] for other in others],
                         [[[[1], [3], [3]]] * 2, [[[1], [3], {"met": 2}], [[1], {"met": 2}, {"met": 2}]], [[[1], [3], [3]], [[1], [3], {"met": 3}]]])
        self.assertEqual([one["arguments"] for one in others[0]], [[{"met": 1}, 1], [{"met": 6}, 1]])

    def test_errors_have_their_text_and_changed_arguments_show(self):
        program = "function f(a) {\n  a.push(NaN);\n  if (a[0] > 1) a.no();\n  throw new RangeError('at ' + a[0]);\n}\nmodule.exports = { f };\n"
        self.assertEqual(json.loads(self.results("m.js", program, [[[1]], [[2]]])),
                         [{"error": kind, "text": text, "arguments": [[place, {"number": "NaN"}]]}
                          for kind, text, place in (("RangeError", "at 1", 1), ("TypeError", "", 2))])

    def test_words_of_an_error_that_the_code_throws_are_written(self):
        """V8's own name the variables of the code."""
        bodies = ["throw new TypeError('at most two items');", "throw new ReferenceError('a is not defined here');", "a.x.y;", "a.b();", "for (const one of a) one;",
                  "const { c: { d } } = a;", "late; let late = 1;", "gone;", "new a();", "const e = 1; e = 2;"]
        program = "export function f(at, a) {\n" + "".join(f"  if (at === {at}) {{ {body} }}\n" for at, body in enumerate(bodies)) + "}\n"
        self.assertEqual([one["text"] for one in json.loads(self.results("m.mjs", program, [[at, {}] for at in range(len(bodies))]))],
                         ["at most two items", "a is not defined here"] + [""] * 8)

    def test_methods_are_called_on_an_object(self):
        program = "class A {\n  m(a) {\n    return ['m', a];\n  }\n  static s(a) {\n    return ['s', a];\n  }\n}\nmodule.exports = { ['A']: A };\n"
        for function in "ms":
            self.assertEqual([one["value"] for one in json.loads(self.results("m.js", program, [[1]], f"A.{function}"))], [[function, 1]])

    def test_an_iterator_has_its_kind_and_what_it_gave_before_an_error(self):
        lazy = "export function* f(a) {\n  for (const one of a) {\n    if (one === 2) throw new RangeError('2');\n    yield one;\n  }\n}\n"
        self.assertEqual(json.loads(self.results("m.mjs", lazy, [[[1, 3]], [[1, 2, 3]]])),
                         [{"value": {"generator": [1, 3]}, "arguments": [[1, 3]]},
                          {"error": "RangeError", "text": "2", "gave": {"generator": [1]}, "arguments": [[1, 2, 3]]}])
        self.assertEqual(json.loads(self.results("m.mjs", "export function f(a) {\n  return a.values();\n}\n", [[[1]]]))[0]["value"], {"iterator": [1]})

    def test_what_a_method_left_in_its_object_is_written(self):
        keeps = "export class A {\n  z = [];\n  g = () => 1;\n  m(a) {\n    this.z.push(a);\n    this.y = a;\n    return this.z;\n  }\n}\n"
        self.assertEqual(json.loads(self.results("m.mjs", keeps, [[3]], "A.m")),
                         [{"value": [3], "arguments": [3], "receiver": [["y", 3], ["z", {"met": 0}]]}])
        of_map = "export class A extends Map {\n  m(a) {\n    this.set(a, 1);\n    throw new RangeError(a);\n  }\n}\n"
        self.assertEqual(json.loads(self.results("m.mjs", of_map, [[3]], "A.m"))[0]["receiver"], [["this", {"A": [[3, 1]]}]])

    def test_a_value_that_cannot_be_written_and_another_json_are_refused(self):
        for body, message in (("return new (class Point { #x = 1; })();", "the function gives a Point; write in the driver's told()"),
                              ("return (async () => 1)();", "the function gives a Promise"), ("return f;", "the function gives a Function"),
                              ("JSON.stringify = () => '[]';", "JSON: differs from before the calls")):
            ran, out = self.run_driver(self.made("m.mjs", f"export function f(a) {{\n  {body}\n}}\n", "f"), [[1]])
            self.assertEqual((ran.returncode, out), (1, ""), body)
            self.assertTrue(ran.stderr.startswith(message), ran.stderr)


class BuiltDriverTest(DriverCase):
    def written(self, files, function, *build):
        """What the driver of the first file writes for a case of one line, `x`; build: its compiler, with what follows the driver."""
        if shutil.which(build[0]) is None:
            self.skipTest(f"{build[0]} is not installed")
        (source, text), *others = files.items()
        for name, other in others:
            (self.repository / name).write_text(other)
        driver = next(self.made(source, text, function).glob("driver.*"))
        built = subprocess.run([*build[:-1], "-o", "built", driver, *build[-1]], cwd=self.repository, capture_output=True, text=True)
        if built.returncode != 0:
            return built.stderr
        self.file("cases", "x\n")
        subprocess.run(["./built", self.folder / "cases", self.folder / "results"], cwd=self.repository, check=True)
        return (self.folder / "results").read_text()

    def test_c_results_are_written_by_their_type(self):
        for kind, value, written in (("double", "8.0 / 3", "2.6666666666666665"), ("float", "0.1f", "0.100000001"), ("unsigned long", "-1", "18446744073709551615"),
                                     ("const char *", '*s ? "a\\"b" : s', '"a\\x22b"'), ("struct s", "(struct s){1}", None)):
            header = f"struct s {{ int a; }};\n{kind} f(const char *s);\n"
            out = self.written({"m.c": f'#include "m.h"\n{kind} f(const char *s) {{\n  return {value};\n}}\n', "m.h": header}, "f", "cc", "-I.", ["m.c"])
            self.assertIn("_Generic" if written is None else f"{written} x\n", out.replace("generic", "_Generic"), kind)

    def test_cxx_results_have_all_digits_and_borders(self):
        header = """#pragma once
#include <map>
#include <string>
#include <tuple>
#include <vector>
inline auto f(const std::string&) {
  return std::make_tuple(0.1 + 0.2, 0.1f, std::vector<std::string>{"my file"}, std::vector<std::string>{"my", "file"}, std::map<int, bool>{{1, true}});
}
"""
        self.assertEqual(self.written({"m.hpp": header}, "f", "c++", "-std=c++17", "-I.", []),
                         '(0.30000000000000004,0.100000001,["my file",],["my","file",],[(1,1,),],) x\n')

    @unittest.skipUnless(support.takes_long(), "Go's own packages are compiled first: make check-long")
    def test_go_results_have_types_and_borders(self):
        source = """package m

import ("fmt"; "io"; "math")

type node struct { next *node; name string }

func F(line string) []interface{} {
	loop := &node{name: "a b"}
	loop.next = loop
	return []interface{}{[]string{"my file"}, []string{"my", "file"}, []string(nil), []string{}, loop, fmt.Errorf("w %w", io.EOF), map[float64]int{math.NaN(): 2, math.NaN(): 1, 1: 3}, uint8(1)}
}
"""
        out = self.written({"m/m.go": source, "go.mod": "module example.com/module\n"}, "F", "go", "build", [])
        self.assertEqual(out, '[]interface {}{([]string{("my file")})([]string{("my")("file")})([]string(nil))([]string{})(*m.node(&{next(met 3)name("a b")}))'
                              '(*fmt.wrapError("w EOF" wraps *errors.errorString("EOF")))(map[float64]int{(1):(3)(NaN):(1)(NaN):(2)})(uint8(1))} x\n')


if __name__ == "__main__":
    support.main()
