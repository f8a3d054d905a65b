#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parts of python/accelopt_capture that need neither Triton nor numpy: elements, shapes, frames, filters, answers."""

import importlib
import json
import math
import pathlib
import random
import struct
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
answer, compiling, dtypes, errors, frames, machine_code, seccomp, shapes = (
    importlib.import_module(f"accelopt_capture.{name}")
    for name in ("answer", "compiling", "dtypes", "errors", "frames", "machine_code", "seccomp", "shapes"))


class Package(unittest.TestCase):
    def test_every_file_is_built_into_the_program(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        named = (root / "src" / "capture" / "CMakeLists.txt").read_text().split("set(package_files", 1)[1].split(")", 1)[0].split()
        folder = root / "python" / "accelopt_capture"
        self.assertEqual(sorted(named), sorted(str(file.relative_to(folder)) for file in folder.rglob("*.py")))

    def test_every_file_of_nki_is_built_into_the_program(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        named = (root / "src" / "capture" / "CMakeLists.txt").read_text().split("set(nki_files", 1)[1].split(")", 1)[0].split()
        files = [file for folder in ("accelopt_nki", "neuronxcc") for file in (root / "python" / folder).rglob("*.py")]
        self.assertEqual(sorted(named), sorted(str(file.relative_to(root / "python")) for file in files))


class Errors(unittest.TestCase):
    def test_a_failure_of_tritons_interpreter_is_not_the_kernels(self):
        class InterpreterError(Exception):
            pass

        for module, wrapped, raised, kind in (("triton.runtime.interpreter", True, "KeyError(1)", "refused"), ("triton.language", True, "AssertionError", "python"),
                                              ("main", True, "KeyError(1)", "python"), ("triton.runtime.jit", False, "KeyError(1)", "python")):
            with self.subTest(module, raised=raised):
                error = None
                try:
                    exec(f"raise {raised}", {"__name__": module})
                except Exception as inner:
                    error = inner
                if wrapped:
                    outer = InterpreterError("around")
                    outer.__cause__ = error
                    error = outer
                failure = errors.from_exception(error)
                self.assertEqual((failure.kind, "verify the kernel on a device" in failure.message), (kind, kind == "refused"))


class MachineCode(unittest.TestCase):
    @staticmethod
    def request(text):
        return {"files": [{"name": "k.py", "content": text}], "arch": 90, "device": {}, "limits": {"kernels": 4}}

    @staticmethod
    def described(letter, blob):
        return machine_code.described({letter * 64: compiling.Compiled({"name": "k"}, "log", blob)}, [blob])

    def test_is_kept_by_solution(self):
        kept = machine_code.Kept()
        kept.keep(self.request("a"), self.described("1", b"code"), [b"code"])
        self.assertEqual(kept.of(self.request("a")), {"1" * 64: compiling.Compiled({"name": "k"}, "log", b"code")})
        self.assertEqual(kept.of(self.request("b")), {})

    def test_of_the_solution_that_was_not_asked_for_goes_first(self):
        kept = machine_code.Kept(most_bytes=5000)
        for text in ("a", "b"):
            kept.keep(self.request(text), self.described("1", b"x" * 1000), [b"x" * 1000])
        kept.of(self.request("a"))
        kept.keep(self.request("c"), self.described("1", b"x" * 1000), [b"x" * 1000])
        self.assertEqual([bool(kept.of(self.request(text))) for text in "abc"], [True, False, True])

    def test_failures_that_last_are_kept(self):
        new = {"1" * 64: errors.Failure("compile", "no"), "2" * 64: errors.Failure("limit", "no", call="wall_s"),
               "3" * 64: errors.Failure("limit", "no", call="compile_s")}
        self.assertEqual([one["key"][0] for one in machine_code.described(new, [])], ["1", "3"])

    def test_what_is_not_of_the_form_is_refused(self):
        for forged in (None, {}, [1], [{"key": "k"}], [{"key": "1" * 64, "cubin": 1, "metadata": {}, "ptxas": ""}],
                       [{"key": "1" * 64, "cubin": True, "metadata": {}, "ptxas": ""}], [{"key": "1" * 64, "error": {}}]):
            with self.subTest(forged=forged), self.assertRaises(errors.Failure):
                machine_code.Kept().keep(self.request("a"), forged, [b"code"])


class Elements(unittest.TestCase):
    def test_every_small_value_survives(self):
        for name in dtypes.SMALL:
            dtype = dtypes.BY_NAME[name]
            for bits in range(1 << 8 * dtype.itemsize):
                value = dtypes.small_value(bits, name)
                if not math.isnan(value):
                    self.assertEqual(dtypes.small_bits(value, name), bits, (name, bits))

    def test_rounding_is_to_nearest_and_even(self):
        self.assertEqual(dtypes.rounded(1 + 2.0**-8, dtypes.BY_NAME["bfloat16"]), 1.0)
        self.assertEqual(dtypes.rounded(1 + 3 * 2.0**-8, dtypes.BY_NAME["bfloat16"]), 1 + 2.0**-6)
        self.assertTrue(math.isnan(dtypes.rounded(1000.0, dtypes.BY_NAME["float8_e4m3fn"])))
        self.assertEqual(dtypes.rounded(1e9, dtypes.BY_NAME["float16"]), math.inf)
        self.assertEqual(dtypes.rounded(-1e40, dtypes.BY_NAME["float32"]), -math.inf)

    def test_whole_numbers_wrap(self):
        self.assertEqual(dtypes.rounded(300, dtypes.BY_NAME["uint8"]), 44)
        self.assertEqual(dtypes.to_bits(-1, dtypes.BY_NAME["int32"]), 0xFFFFFFFF)
        self.assertEqual(dtypes.rounded(2.9, dtypes.BY_NAME["int64"]), 2)


class Shapes(unittest.TestCase):
    def test_views_address_the_same_elements(self):
        """Against plain enumeration, on random shapes."""
        draw = random.Random(20)
        for _ in range(300):
            shape = [draw.choice((1, 2, 3, 4)) for _ in range(draw.randrange(1, 4))]
            order = list(range(len(shape)))
            draw.shuffle(order)
            strides = [shapes.contiguous_strides(shape)[axis] for axis in order]
            moved = [shape[axis] for axis in order]
            count = shapes.numel(moved)
            first = draw.choice([n for n in range(1, count + 1) if count % n == 0])
            wanted = (first, count // first)
            found = shapes.viewed_strides(moved, strides, wanted)
            if found is not None:
                self.assertEqual(list(shapes.places(wanted, found, 0)), list(shapes.places(moved, strides, 0)))
            elif shapes.is_contiguous(moved, strides):
                self.fail(f"{moved} {strides} has a view as {wanted}")

    def test_broadcast(self):
        self.assertEqual(shapes.broadcast((3, 1), (4,)), (3, 4))
        self.assertRaises(RuntimeError, shapes.broadcast, (3,), (4,))
        self.assertEqual(shapes.expanded_strides((3, 1), (1, 1), (2, 3, 5)), (0, 1, 0))

    def test_resolved(self):
        self.assertEqual(shapes.resolved([-1, 4], 12), (3, 4))
        for wanted, count in (([-1, -1], 4), ([5], 4), ([-1, 0], 4), ([-2, -2], 4)):
            self.assertRaises(RuntimeError, shapes.resolved, wanted, count)


class Frames(unittest.TestCase):
    def test_round_trip(self):
        self.assertEqual(frames.unpacked(frames.packed({"a": [1]}, [b"xy", b""]), 100), ({"a": [1]}, [b"xy", b""]))

    def test_every_truncation_and_flip_is_an_error_or_a_result(self):
        whole = frames.packed({"ok": {"plans": [1, 2, 3]}}, [b"blob"])
        for cut in range(len(whole)):
            self.assertRaises(ValueError, frames.unpacked, whole[:cut], 100)
        for place in range(len(whole)):
            changed = bytearray(whole)
            changed[place] ^= 0xFF
            try:
                frames.unpacked(bytes(changed), 100)
            except ValueError:
                pass

    def test_limits(self):
        self.assertRaises(ValueError, frames.unpacked, frames.packed({}, [b"12345"]), 4)
        self.assertRaises(ValueError, frames.strict_json, b"[1, NaN]")
        self.assertRaises(ValueError, frames.strict_json, b"[" * 100000)


class Filters(unittest.TestCase):
    """The filter's program, run by a small interpreter of its own."""

    def verdict(self, machine, number, *arguments, architecture=None, signals=True):
        data = struct.pack("<iIQ6Q", number, architecture or seccomp.AUDIT_ARCH[machine], 0, *arguments, *[0] * (6 - len(arguments)))
        code = [struct.unpack_from("<HBBI", seccomp.program(machine, signals), at) for at in range(0, len(seccomp.program(machine, signals)), 8)]
        place, value = 0, 0
        while True:
            kind, true, false, constant = code[place]
            place += 1
            if kind == seccomp.LOAD:
                value = struct.unpack_from("<I", data, constant)[0]
            elif kind == seccomp.RETURN:
                return constant
            else:
                holds = {seccomp.EQUAL: value == constant, seccomp.AT_LEAST: value >= constant, seccomp.ANY_BIT: bool(value & constant)}[kind]
                place += true if holds else false

    def test_both_machines(self):
        for column, machine in enumerate(("x86_64", "aarch64")):
            for name, numbers in seccomp.REFUSED.items():
                self.assertEqual(self.verdict(machine, numbers[column]), seccomp.EPERM, name)
            read, kill, clone, limit = (0, 63)[column], (62, 129)[column], seccomp.CLONE[column], seccomp.PRLIMIT[column]
            self.assertEqual(self.verdict(machine, read), seccomp.ALLOW)
            self.assertEqual(self.verdict(machine, kill), seccomp.EPERM)
            self.assertEqual(self.verdict(machine, kill, signals=False), seccomp.ALLOW)
            self.assertEqual(self.verdict(machine, clone, 17), seccomp.ALLOW)
            self.assertEqual(self.verdict(machine, clone, 0x10000000 | 17), seccomp.EPERM)
            self.assertEqual(self.verdict(machine, 435), seccomp.ENOSYS)
            self.assertEqual(self.verdict(machine, limit, 0), seccomp.ALLOW)
            self.assertEqual(self.verdict(machine, limit, 77), seccomp.EPERM)
            self.assertEqual(self.verdict(machine, seccomp.IOCTL[column], 0, seccomp.TIOCSTI), seccomp.EPERM)
            self.assertEqual(self.verdict(machine, seccomp.IOCTL[column], 0, 0x5401), seccomp.ALLOW)
            self.assertEqual(self.verdict(machine, read, architecture=0x40000003), seccomp.KILL)
        self.assertEqual(self.verdict("x86_64", 0x40000000 | 59), seccomp.EPERM)


class Answers(unittest.TestCase):
    def good(self):
        view = {"buffer": "x", "offset": 0, "dtype": "float32", "shape": [4], "strides": [1]}
        launch = {"op": "launch", "cubin": 0, "grid": [1, 1, 1], "block": [1, 1, 1], "cluster": [0, 0, 0], "shared_bytes": 0,
                  "cooperative": False, "pdl": False, "arguments": [{"tensor": "x", "offset": 0}, {"constant": "int32", "bits": 1}]}
        alternatives = [{"configuration": 0, "ops": [launch]}, {"configuration": 1, "error": {"kind": "limit", "message": "m"}}]
        return {"cubins": [], "choices": [], "findings": [], "seconds": {}, "plans": [
            {"workload": "w", "buffers": [{"name": "x", "kind": "input", "dtype": "float32", "bytes": 16}], "reads": {}, "uploaded_bytes": 0,
             "ops": [{"op": "fill", "to": view, "bits": 0}, {"op": "choose", "choice": 0, "alternatives": alternatives}]}]}

    request = {"limits": {"kernels": 4, "ops": 10, "configurations": 4}, "workloads": [{"name": "w"}]}

    def test_good_one_passes(self):
        answer.check_capture(self.good(), [], self.request)

    def test_any_value_of_another_type_is_found(self):
        """Every value in turn becomes an object that no field may hold."""
        from accelopt_capture.errors import Failure
        count = len(self.spots(self.good()))
        self.assertGreater(count, 40)
        for place in range(count):
            changed = json.loads(json.dumps(self.good()))
            holder, key = self.spots(changed)[place]
            holder[key] = {"odd": [None]}
            with self.subTest(f"{place} {key}"), self.assertRaises(Failure):
                answer.check_capture(changed, [], self.request)

    def spots(self, value):
        found = []
        for key, item in (value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()):
            if value is not self and key not in ("reads", "seconds"):
                found.append((value, key))
            found += self.spots(item)
        return found


if __name__ == "__main__":
    unittest.main()
