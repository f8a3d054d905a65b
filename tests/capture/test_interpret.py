#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Solutions by Triton's interpreter: numbers, above all those that it has wrong as it is shipped."""

import array
import os
import random
import struct
import tempfile
import unittest

import support
from kernels import ADD_INTO, ADD_VALUE, COPY, HEAD, TUNED
from support import scalar, tensor

DOT = HEAD + """
@triton.jit
def k(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y))
def run(a, b, c):
    k[(1,)](a, b, c, M=16, N=16, K=32)
"""


OPERATORS = HEAD + """
@triton.jit
def k(x, n, z, FLAG: tl.constexpr):
    i = tl.arange(0, 4)
    v = tl.load(x + i)
    LINE
    tl.store(z + i, v)
def run(x, n, z):
    k[(1,)](x, n, z, FLAG=0)
"""


def bf16(values):
    """Bytes of bfloat16, for numbers that it has exactly."""
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def from_bf16(data):
    return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]


def floats(values):
    return array.array("f", values).tobytes()


class Interpret(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = support.Server()
        if not cls.server.ready["numpy"]:
            raise unittest.SkipTest("no numpy beside Triton")

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def run_(self, source, inputs, outputs, data, **options):
        """The answer, and the bytes of the outputs."""
        with tempfile.TemporaryDirectory() as folder:
            for name, content in data.items():
                with open(os.path.join(folder, f"w.{name}.bin"), "wb") as file:
                    file.write(content)
            answer = self.server.capture(source, inputs, outputs, op="interpret", folder=folder, **options)
            found = {}
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), "rb") as file:
                    found[name] = file.read()
        return answer, found

    def output(self, *arguments, name="w.z.bin", **options):
        answer, found = self.run_(*arguments, **options)
        self.assertIn("ok", answer, answer.get("error"))
        return found[name]

    def test_addition_both_conventions(self):
        values = [float(i) for i in range(100)]
        for source, convention in ((ADD_INTO, "destination"), (ADD_VALUE, "value")):
            data = self.output(source, [tensor("x", 100), tensor("y", 100)], [tensor("z", 100)],
                               {"x": floats(values), "y": floats(values)}, convention=convention)
            self.assertEqual(list(struct.unpack("<100f", data)), [2 * value for value in values])

    def test_bfloat16_elementwise(self):
        kernel = ADD_INTO.replace("tl.load(x + i, mask=m) + tl.load(y + i, mask=m)",
                                  "tl.where(tl.load(x + i, mask=m) < tl.load(y + i, mask=m), tl.load(x + i, mask=m) * tl.load(y + i, mask=m), "
                                  "tl.load(x + i, mask=m) - tl.load(y + i, mask=m))")
        x, y = [1.5, -2.0, 3.0, 0.25], [2.0, -4.0, 0.5, 8.0]
        data = self.output(kernel, [tensor(n, 4, dtype="bfloat16") for n in "xy"], [tensor("z", 4, dtype="bfloat16")],
                           {"x": bf16(x), "y": bf16(y)})
        self.assertEqual(from_bf16(data), [3.0, 2.0, 2.5, 2.0])

    def test_conversion_to_bfloat16_rounds_to_even(self):
        values = [1.0 + 2.0**-8, 1.0 + 3 * 2.0**-8, 1.0 + 2.0**-7, -1.0 - 2.0**-9]
        data = self.output(COPY + "\ndef run(x, z):\n    move[(1,)](x, z, 4, BLOCK=4)\n", [tensor("x", 4)],
                           [tensor("z", 4, dtype="bfloat16")], {"x": floats(values)})
        self.assertEqual(from_bf16(data), [1.0, 1.0 + 2.0**-6, 1.0 + 2.0**-7, -1.0])

    def test_dot(self):
        draw = random.Random(7)
        a = [draw.randrange(-8, 8) for _ in range(16 * 32)]
        b = [draw.randrange(-8, 8) for _ in range(32 * 16)]
        wanted = [float(sum(a[m * 32 + k] * b[k * 16 + n] for k in range(32))) for m in range(16) for n in range(16)]
        for dtype, encode in (("bfloat16", bf16), ("float16", lambda v: struct.pack(f"<{len(v)}e", *v)), ("float32", floats)):
            with self.subTest(dtype):
                data = self.output(DOT.replace("(a, b, c)", "(x, y, z)").replace("k[(1,)](a, b, c", "k[(1,)](x, y, z"),
                                   [tensor("x", 16, 32, dtype=dtype), tensor("y", 32, 16, dtype=dtype)], [tensor("z", 16, 16)],
                                   {"x": encode(a), "y": encode(b)})
                self.assertEqual(list(struct.unpack("<256f", data)), wanted)

    def test_a_dot_of_float32_is_one_of_tf32(self):
        """What a tensor core reads of an operand: 10 bits of the mantissa; the rest is cut off, not rounded."""
        values = [1 + 2**-10, 1 + 2**-11 + 2**-12, -1 - 2**-10 - 2**-11]
        for precision, wanted in (("", [1 + 2**-10, 1.0, -1 - 2**-10]), (", input_precision='tf32'", [1 + 2**-10, 1.0, -1 - 2**-10]),
                                  (", input_precision='ieee'", values), (", input_precision='tf32x3'", values), (", input_precision='bf16x6'", values),
                                  (", allow_tf32=False", values)):
            with self.subTest(precision):
                source = DOT.replace("dot(x, y)", f"dot(x, y{precision})").replace("(a, b, c)", "(x, y, z)").replace("](a, b, c", "](x, y, z")
                data = self.output(source, [tensor("x", 16, 32), tensor("y", 32, 16)], [tensor("z", 16, 16)],
                                   {"x": floats([*values, *[0] * 509]), "y": floats(float(k == n) for k in range(32) for n in range(16))})
                self.assertEqual(list(struct.unpack("<3f", data[:12])), wanted)

    def test_operators_of_python(self):
        """They have the compiler's meaning, element by element; Python's would yield one of the operands."""
        nan = float("nan")
        values = [1.0, -2.0, nan, 4.0]
        for line, wanted in (("v = tl.where((i < 0) and (i < 4), v, 0.)", [0, 0, 0, 0]), ("v = tl.where((i < 1) or i > 2, v, 0.)", [1, 0, 0, 4]),
                             ("v = tl.where(not (i >= 2), v, 9.)", [1, -2, 9, 9]), ("v = max(3., v)", [3, 3, 3, 4]),
                             ("v = min(v, 3., -i)", [0, -2, -2, -3]), ("v = tl.where(FLAG and i < 2 and True, v, 7.)", [7, 7, 7, 7]),
                             ("v = tl.where(not FLAG or tl.load(x + (1 << 60)) > 0, i, v)", [0, 1, 2, 3]),
                             ("v = tl.where(1 and (i < n) and not (n < 2), 1., 2.)", [1, 1, 1, 2]), ("v = i + max(FLAG, 2) + min(n, 9)", [5, 6, 7, 8]),
                             ("v = 1. * i if n > 2 and not n == 9 else v", [0, 1, 2, 3]), ("three = 3\n    v = tl.where(three and i < 2, 1., 2.)", [1, 1, 2, 2]),
                             ("assert i < 4\n    v = 1. * i", [0, 1, 2, 3]), ("v = tl.load(x + i, mask=i < 2, other=5. + i)", [1, -2, 7, 8])):
            with self.subTest(line):
                data = self.output(OPERATORS.replace("LINE", line), [tensor("x", 4), scalar("n", 3, "int32")], [tensor("z", 4)], {"x": floats(values)})
                self.assertEqual(list(struct.unpack("<4f", data)), wanted)
        for line, kind, word in (("v = v if i < 2 else -v", "python", "ambiguous"), ("if i < 2:\n        v = -v", "python", "ambiguous"),
                                 ("while i < 2:\n        i += 1", "python", "ambiguous"), ("v = tl.where(0 < i < 2, v, 0.)", "refused", "(a < b) & (b < c)"),
                                 ("v = tl.where(n in (1, 2), v, 0.)", "refused", "`in`")):
            with self.subTest(line):
                answer, _ = self.run_(OPERATORS.replace("LINE", line), [tensor("x", 4), scalar("n", 3, "int32")], [tensor("z", 4)], {"x": floats(values)})
                self.assertEqual(answer["error"]["kind"], kind, answer)
                self.assertIn(word, answer["error"]["message"])

    def test_exchanged_floats(self):
        source = OPERATORS.replace("LINE", "v = tl.atomic_xchg(z + i, v, mask=i < n) + 10 * tl.load(z + i)").replace("    k[", "    z.fill_(0.5)\n    k[")
        data = self.output(source, [tensor("x", 4), scalar("n", 3, "int32")], [tensor("z", 4)], {"x": floats([1, 2, 3, 4])})
        self.assertEqual(list(struct.unpack("<3f", data[:12])), [10.5, 20.5, 30.5])

    def test_sums_of_masks(self):
        """Of one bit, as a device has them."""
        for line, wanted in (("m = (i < 2) + (i < n)", [0, 0, 1, 0]), ("m = (i < 2) - (i < n)", [0, 0, 1, 0]), ("m = (i < 2) * (i > 0)", [0, 1, 0, 0]),
                             ("m = -(i < 2)", [1, 1, 0, 0])):
            with self.subTest(line):
                data = self.output(OPERATORS.replace("LINE", line + "; v = tl.where(m, 1., 0.)"), [tensor("x", 4), scalar("n", 3, "int32")],
                                   [tensor("z", 4)], {"x": floats([0] * 4)})
                self.assertEqual(list(struct.unpack("<4f", data)), wanted)

    def test_smallest_floats_by_atomics(self):
        for dtype, code in (("float32", "f"), ("float64", "d")):
            source = OPERATORS.replace("LINE", "v = tl.atomic_min(z + i, v, mask=i < n)\n    return").replace("    k[", "    z.fill_(2)\n    k[")
            data = self.output(source, [tensor("x", 4, dtype=dtype), scalar("n", 3, "int32")], [tensor("z", 4, dtype=dtype)],
                               {"x": struct.pack(f"<4{code}", 1, -2, 3, -4)})
            self.assertEqual(list(struct.unpack(f"<4{code}", data)), [1, -2, 2, 2])
        source = HEAD + "@triton.jit\ndef k(x, z):\n    tl.store(z + 1, tl.atomic_min(z, tl.load(x)))\ndef run(x, z):\n    z.fill_(-1)\n    k[(1,)](x, z)\n"
        self.assertEqual(self.output(source, [tensor("x", 1)], [tensor("z", 2)], {"x": floats([-3])}), floats([-3, -1]))

    def test_high_halves_of_products(self):
        source = HEAD + "@triton.jit\ndef k(x, z):\n    i = tl.arange(0, 4)\n    v = tl.load(x + i)\n    tl.store(z + i, tl.umulhi(v, v))\ndef run(x, z):\n    k[(1,)](x, z)\n"
        for dtype, code, bits in (("int32", "i", 32), ("int64", "q", 64)):
            values = [-1, -2, 1 << (bits - 2), 5]
            data = self.output(source, [tensor("x", 4, dtype=dtype)], [tensor("z", 4, dtype=dtype)], {"x": struct.pack(f"<4{code}", *values)})
            self.assertEqual(list(struct.unpack(f"<4{code}", data)), [-2, -4, 1 << (bits - 4), 0])

    def test_what_is_beyond_a_tensor_is_nan(self):
        source = HEAD + """
@triton.jit
def k(x, z):
    p = tl.make_block_ptr(x, (2,), (1,), (0,), (4,), (0,))
    tl.store(z + tl.arange(0, 4), tl.load(p, boundary_check=(0,), padding_option="nan").to(tl.float32))
def run(x, z):
    k[(1,)](x, z)
"""
        for dtype, data in (("bfloat16", bf16([1, 2])), ("float16", struct.pack("<2e", 1, 2)), ("float8_e5m2", b"\x3c\x40")):
            found = struct.unpack("<4f", self.output(source, [tensor("x", 2, dtype=dtype)], [tensor("z", 4)], {"x": data}))
            self.assertEqual([value if value == value else "nan" for value in found], [1, 2, "nan", "nan"], dtype)

    def test_bfloat16_reductions(self):
        source = HEAD + """
@triton.jit
def larger(a, b):
    return tl.where(a > b, a, b)
@triton.jit
def k(x, z):
    t = tl.load(x + tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :])
    row = tl.arange(0, 2)
    tl.store(z + row, tl.sum(t, axis=1))
    tl.store(z + 2 + row, tl.max(t, axis=1))
    tl.store(z + 4 + row, tl.reduce(t, 1, larger))
    tl.store(z + 6, tl.sum(tl.sum(t, axis=1), axis=0))
def run(x, z):
    k[(1,)](x, z)
"""
        data = self.output(source, [tensor("x", 2, 4, dtype="bfloat16")], [tensor("z", 7)],
                           {"x": bf16([1.5, -2.0, 3.0, 0.5, 1.0, 1.0, -8.0, 2.0])})
        self.assertEqual(list(struct.unpack("<7f", data)), [3.0, -4.0, 3.0, 2.0, 3.0, 2.0, -1.0])

    def test_reductions_and_scans_are_trees(self):
        """As on a device: what is not associative differs from the fold that its author means (6.125)."""
        source = HEAD + """
@triton.jit
def decay(a, b):
    return a * 0.5 + b
@triton.jit
def largest(a, b):
    if a > b:
        return a
    return b
@triton.jit
def both(a, i, b, j):
    return a + b, tl.maximum(i, j)
@triton.jit
def k(x, z):
    i = tl.arange(0, 4)
    t = tl.load(x + tl.arange(0, 2)[:, None] * 4 + i[None, :])
    v = tl.load(x + i)
    tl.store(z, tl.reduce(v, 0, decay))
    tl.store(z + 1 + i, tl.associative_scan(v, 0, decay))
    tl.store(z + 5, tl.reduce(t, None, largest))
    tl.store(z + 6 + tl.arange(0, 2), tl.reduce(t, -1, largest))
    tl.store(z + 8 + tl.arange(0, 8), tl.associative_scan(t, -1, largest, reverse=True).reshape([8]))
    total, last = tl.reduce((v, i), -1, both)
    tl.store(z + 16, total * last)
    tl.store(z + 17 + tl.arange(0, 2), tl.max(t, axis=-1, return_indices=True, return_indices_tie_break_left=False)[1])
    tl.store(z + 19 + tl.arange(0, 2), tl.xor_sum(t.to(tl.int32), axis=-1))
    tl.store(z + 21 + tl.arange(0, 8), tl.sort(t, descending=True).reshape([8]))
def run(x, z):
    k[(1,)](x, z)
"""
        data = self.output(source, [tensor("x", 2, 4)], [tensor("z", 29)],
                           {"x": floats([1, 2, 3, 4, 8, 6, 7, 5])})
        self.assertEqual(list(struct.unpack("<29f", data)), [6.75, 1, 2.5, 4.5, 6.75, 8, 4, 8, 4, 4, 4, 4, 8, 7, 7, 5, 30, 3, 0, 4, 12, 4, 3, 2, 1, 8, 7, 6, 5])

    def test_an_extremum_with_its_index_is_what_comparisons_say_of_nan(self):
        """And not NaN, which no comparison finds; of equal ones the first."""
        source = OPERATORS.replace("LINE", "m, j = tl.max(v, axis=0, return_indices=True)\n    v = tl.where(i == 0, m, tl.argmin(i // 2, 0) + j)")
        for values, largest, at in (([float("nan"), 2, 1, 0], 2, 1), ([3, 5, 5, 5], 5, 1)):
            data = self.output(source, [tensor("x", 4), scalar("n", 3, "int32")], [tensor("z", 4)], {"x": floats(values)})
            self.assertEqual(list(struct.unpack("<4f", data)), [largest, at, at, at])

    def test_what_may_be_reordered_is(self):
        """And tensors of one shape in one way, so that what belongs together stays so."""
        for call in ("tl.cat(i, i + 8, can_reorder=True)", "tl.view(j, [4, 4])", "tl.reshape(j, [16], can_reorder=True)"):
            source = HEAD + f"""
@triton.jit
def k(z):
    i, j = tl.arange(0, 8), tl.arange(0, 16)
    v = {call}
    twice = {call.replace("i,", "i * 2,").replace("i + 8", "i * 2 + 16").replace("j,", "j * 2,")}
    tl.store(z + j, v.reshape([16]))
    tl.store(z + 16 + j, (twice - v).reshape([16]))
def run(z):
    k[(1,)](z)
"""
            with self.subTest(call):
                found = struct.unpack("<32i", self.output(source, [], [tensor("z", 32, dtype="int32")], {}))
                self.assertEqual(sorted(found[:16]), list(range(16)))
                self.assertNotEqual(found[:16], tuple(range(16)))
                self.assertEqual(found[:16], found[16:])

    def test_hints_make_vectors(self):
        """Of two elements here, for 128 threads: a false hint that no vector contradicts changes nothing, as on a device."""
        source = HEAD + """
@triton.jit
def k(x, z, n):
    i = tl.arange(0, 256)
    at = tl.max_contiguous(tl.multiple_of(INDEX, 256), 256)
    tl.store(z + i, tl.load(x + at), mask=i < n)
def run(x, n, z):
    k[(1,)](x, z, n, num_warps=WARPS)
"""
        values = list(range(256))
        for index, n, warps, wanted in (("i % n", 254, 4, values[:254]), ("i % n", 255, 4, values[:255]), ("i // 2 * 2", 256, 4, values),
                                        ("(i + 1) % 256", 256, 8, values[1:] + [0]), ("(i + 1) % 256", 256, 4, None)):
            with self.subTest(index, n=n, warps=warps):
                answer, found = self.run_(source.replace("INDEX", index).replace("WARPS", str(warps)), [tensor("x", 256), scalar("n", n, "int32")],
                                          [tensor("z", 256)], {"x": floats(values)})
                if wanted is not None:
                    self.assertEqual(list(struct.unpack("<256f", found["w.z.bin"]))[:n], wanted)
                else:
                    self.assertEqual((answer["error"]["kind"], answer["error"]["line"]), ("crashed", 9), answer)
                    self.assertIn("tl.multiple_of", answer["error"]["message"])

    def test_float8(self):
        source = COPY + "\ndef run(x, z):\n    move[(1,)](x, z, 4, BLOCK=4)\n"
        for dtype, bits in (("float8_e4m3fn", b"\x38\x3c\x7e\x01"), ("float8_e5m2", b"\x3c\x3e\x7b\x01")):
            data = self.output(source, [tensor("x", 4, dtype=dtype)], [tensor("z", 4)], {"x": bits})
            wanted = [1.0, 1.5, 448.0, 2.0**-9] if dtype == "float8_e4m3fn" else [1.0, 1.5, 57344.0, 2.0**-16]
            self.assertEqual(list(struct.unpack("<4f", data)), wanted)
            back = self.output(source, [tensor("x", 4)], [tensor("z", 4, dtype=dtype)], {"x": floats(wanted)})
            self.assertEqual(back, bits)

    def test_launches_that_overlap(self):
        source = HEAD + """
from triton.language.extra.cuda import gdc_wait
@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    tl.extra.cuda.gdc_launch_dependents()
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gdc_wait()
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
def run(x, y):
    between = torch.empty_like(x)
    k[(2,)](x, between, 100, BLOCK=64, launch_pdl=True)
    k[(2,)](between, y, 100, BLOCK=64, launch_pdl=True)
"""
        answer, found = self.run_(source, [tensor("x", 100)], [tensor("y", 100)], {"x": floats(range(100))})
        self.assertIn("ok", answer, answer)
        self.assertEqual(found["w.y.bin"], floats(range(2, 102)))
        captured = self.server.capture(source, [tensor("x", 100)], [tensor("y", 100)])
        self.assertEqual([op["pdl"] for op in captured["ok"]["plans"][0]["ops"]], [True, True])

    def test_scalars_as_indices_and_loops(self):
        source = HEAD + """
@triton.jit
def k(x, z, n):
    total = 0.0
    for i in range(tl.load(n)):
        if tl.load(x + i) > 1:
            total += tl.load(x + i)
    tl.store(z, total)
def run(x, n, z):
    k[(1,)](x, z, n)
"""
        data = self.output(source, [tensor("x", 4), tensor("n", 1, dtype="int32")], [tensor("z", 1)],
                           {"x": floats([1, 2, 3, 4]), "n": struct.pack("<i", 3)})
        self.assertEqual(struct.unpack("<f", data)[0], 5.0)

    def test_variables_of_loops_are_integers_of_triton(self):
        """Like a device's: they divide toward zero, wrap around, and have methods and a type."""
        source = HEAD + """
@triton.jit
def half(n):
    if n > 0:
        return 0.5
    return 0.25
@triton.jit
def k(x, z, n, DOWN: tl.constexpr):
    for i in range(-4, 4):
        tl.store(z + (i + 4).to(tl.int64), i // 3 + 10 * (i % 3))
    for i in tl.range(3, -1, DOWN, num_stages=2):
        tl.store(z + 8 + i, (i * 1664525 * 1013904223) >> 16)
    for i in range(n):
        tl.store(z + 12 + i, tl.load(x) * i)
    for i in tl.static_range(-3, 1):
        tl.store(z + 19 + i, i // 2)
    two, large = 2, 65504.0
    tl.store(z + 20, tl.load(x) * two)
    tl.store(z + 21, tl.load(x).to(tl.float16) * half(n) * large * 2)
    m = n.to(tl.int64) << 31
    for i in range(m, m + 1):
        tl.store(z + 22, i >> 31)
def run(x, n, z):
    k[(1,)](x, z, n, DOWN=-1)
"""
        data = self.output(source, [tensor("x", 1, dtype="int8"), scalar("n", 4, "int32")], [tensor("z", 23, dtype="int32")], {"x": bytes([100])})
        self.assertEqual(list(struct.unpack("<23i", data)), [-11, -1, -20, -10, 0, 10, 20, 1, 0, 2785, 5570, 8355, 0, 100, 200, 300, -2, -1, -1, 0,
                                                             200, 6550400, 4])

    def test_functions_under_other_names(self):
        source = HEAD + """from triton.language import load as read
exp, total, least = tl.exp, tl.reduce, tl.minimum
@triton.jit
def add(a, b):
    return a + b
@triton.jit
def k(x, z):
    v = read(x + tl.arange(0, 4))
    tl.store(z, total(exp(least(v, 0.0)), 0, add))
def run(x, z):
    k[(1,)](x, z)
"""
        self.assertEqual(self.output(source, [tensor("x", 4)], [tensor("z", 1)], {"x": floats([1, 2, 0, 4])}), floats([4]))

    def test_a_second_kernel_finds_the_language_as_it_was(self):
        source = HEAD + """
@triton.jit
def first(z):
    tl.store(z + tl.arange(0, 4), tl.zeros((4,), tl.float32))
@triton.jit
def second(z):
    for i in tl.range(4):
        tl.store(z + i, tl.cdiv(i, 2) + tl.sum(tl.zeros((2,), tl.float32), axis=0))
def run(z):
    first[(1,)](z)
    second[(2,)](z)
"""
        self.assertEqual(self.output(source, [], [tensor("z", 4)], {}), floats([0, 1, 1, 2]))

    def test_machine_code_is_refused_by_name(self):
        for imported, call, name in (("from triton.language.extra import libdevice", "libdevice.tanh(v)", "tanh"),
                                     ("from triton.language.extra.cuda import libdevice as fast", "fast.tanh(v)", "tanh"),
                                     ("from triton.language.extra.libdevice import tanh", "tanh(v)", "tanh"),
                                     ("", "tl.extra.cuda.libdevice.fma_rn(v, v, v)", "fma_rn"),
                                     ("", "tl.inline_asm_elementwise('', '=r,r', [v], tl.float32, True, 1)", "tl.inline_asm_elementwise"),
                                     ("", "tl.dot_scaled(v, v, 'e2m1', v, v, 'e2m1')", "tl.dot_scaled"),
                                     ("", "tl.extra.cuda.globaltimer()", "tl.extra.cuda.globaltimer")):
            source = HEAD + imported + f"""
@triton.jit
def k(x, z):
    v = tl.load(x)
    tl.store(z, {call})
def run(x, z):
    k[(1,)](x, z)
"""
            with self.subTest(call, imported=imported):
                answer, _ = self.run_(source, [tensor("x", 4)], [tensor("z", 4)], {"x": floats([1] * 4)})
                error = answer["error"]
                self.assertEqual((error["kind"], error["call"]), ("refused", "triton.jit"), error)
                self.assertIn(f"{name}, which is not interpreted; verify it on a device", error["message"])

    def test_what_the_interpreter_lacks_is_not_the_kernels_fault(self):
        source = HEAD + """
@triton.jit
def k(x, z):
    d = tl.make_tensor_descriptor(z, shape=[4, 8], strides=[8, 1], block_shape=[4, 8])
    v = tl.load(x + tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :])
    d.atomic_add([0, 0], v)
def run(x, z):
    z.zero_()
    k[(1,)](x, z)
"""
        data = ([tensor("x", 4, 8)], [tensor("z", 4, 8)], {"x": floats(range(32))})
        error = self.run_(source, *data)[0]["error"]
        self.assertEqual((error["kind"], error["call"], error["line"]), ("refused", "tensor_descriptor.atomic_add", 9), error)
        self.assertIn("is not interpreted; verify it on a device", error["message"])
        error = self.run_(source.replace("d.atomic_add([0, 0], v)", "v = v.to(tl.float8e4b15)"), *data)[0]["error"]
        self.assertEqual((error["kind"], error["message"]), ("refused", "tl.cast: from fp32 to fp8e4b15 is not interpreted; verify it on a device"))

    def test_a_store_to_an_input_is_told_as_the_likely_cause(self):
        source = HEAD + """
@triton.jit
def k(x, z):
    tl.store(z, tl.load(x))
    tl.store(x, 0.0)
def run(x, z):
    k[(1,)](x, z)
"""
        answer, _ = self.run_(source, [tensor("x", 4)], [tensor("z", 4)], {"x": floats([1] * 4)})
        self.assertEqual(answer["error"]["kind"], "crashed", answer)
        self.assertIn("SIGSEGV; likely a kernel stores to an input, which is read-only", answer["error"]["message"])

    def test_built_in_kernels(self):
        source = COPY + """
def run(x, i, z):
    rows = x.view(4, 4).t()[i.to(torch.int64)]
    s = rows.sum(dim=1)
    a = x.abs().amax()
    z.fill_(a.new_zeros(()).item())
    out = torch.stack([s[0].to(torch.float16).float(), s[1], a])
    move[(1,)](out, z, 3, BLOCK=4)
"""
        data = self.output(source, [tensor("x", 16), tensor("i", 2, dtype="int32")], [tensor("z", 4)],
                           {"x": floats(range(-15, 1)), "i": struct.pack("<2i", 3, 0)})
        self.assertEqual(list(struct.unpack("<4f", data)), [-12 - 8 - 4 - 0, -15 - 11 - 7 - 3, 15.0, 0.0])

    def test_outputs_begin_poisoned_and_inputs_are_read_only(self):
        source = COPY + "\ndef run(x, z):\n    move[(1,)](x, z, 2, BLOCK=4)\n"
        data = self.output(source, [tensor("x", 4)], [tensor("z", 4)], {"x": floats([1, 2, 3, 4])})
        self.assertEqual(data[:8], floats([1, 2]))
        self.assertNotIn(data[8:], (floats([3, 4]), bytes(8)))
        answer, _ = self.run_(source.replace("(x, z, 2", "(z, x, 2"), [tensor("x", 4)], [tensor("z", 4)], {"x": floats([1, 2, 3, 4])})
        self.assertEqual(answer["error"]["kind"], "crashed")

    def test_inout(self):
        source = COPY + "\ndef run(x, z):\n    move[(1,)](x, z, 2, BLOCK=4)\n"
        inputs = [tensor("x", 4), tensor("z", 4, inout=True)]
        data = self.output(source, inputs, [], {"x": floats([1, 2, 3, 4]), "z": floats([9, 9, 9, 9])}, name="w.z.out.bin")
        self.assertEqual(data, floats([1, 2, 9, 9]))

    def test_one_configuration(self):
        source = TUNED.replace("(x, y)", "(x, z)").replace("(x, y, n)\n", "(x, z, n)\n")
        source = source.replace("tl.store(y + i, tl.load(x + i, mask=i < n)", "tl.store(y + i, tl.load(x + i, mask=i < n) + BLOCK")
        for wanted, block in (("all", 128), ({"move": 2}, 512)):
            data = self.output(source, [tensor("x", 4)], [tensor("z", 4)], {"x": floats([0] * 4)}, configurations=wanted)
            self.assertEqual(struct.unpack("<4f", data), (block,) * 4)

    def test_annotations(self):
        source = ADD_INTO.replace("def add(x, y,", "def add(x: torch.Tensor, y: torch.Tensor | None,").replace("    m = i", "    m: torch.Tensor = i")
        data = self.output(source, [tensor("x", 4), tensor("y", 4)], [tensor("z", 4)], {"x": floats([1] * 4), "y": floats([2] * 4)})
        self.assertEqual(data, floats([3] * 4))

    def test_errors(self):
        inputs, outputs, data = [tensor("x", 4), tensor("y", 4)], [tensor("z", 4)], {"x": floats([1] * 4), "y": floats([1] * 4)}
        for source, kind, line in ((ADD_INTO.replace("tl.load(x", "tl.lod(x"), "python", 9), (ADD_INTO.replace("n = x", "x.exp(); n = x"), "refused", 12),
                                   ("import numpy\n" + ADD_INTO, "refused", 1)):
            with self.subTest(kind):
                answer, _ = self.run_(source, inputs, outputs, data)
                self.assertEqual((answer["error"]["kind"], answer["error"]["line"]), (kind, line), answer)
        answer, _ = self.run_(ADD_INTO, inputs, outputs, {"x": floats([1] * 4)})
        self.assertEqual(answer["error"]["kind"], "request")
        answer, _ = self.run_(HEAD + "import os\ndef run(x, y, z):\n    os._exit(0)\n", inputs, outputs, data)
        self.assertEqual(answer["error"]["kind"], "crashed")
        loop = HEAD + "def run(x, y, z):\n    while True: pass\n"
        answer, _ = self.run_(loop, inputs, outputs, data, limits={"host_s": 0.5})
        self.assertEqual((answer["error"]["kind"], answer["error"]["call"]), ("limit", "host_s"))

    def test_the_host_function_has_neither_data_nor_files(self):
        """What is interpreted is what was captured: the host function runs where no data is, and its memory ends with it."""
        source = COPY + "\nimport os\ndef run(x, z):\n    {}\n    move[(1,)](x, z, 4, BLOCK=4)\n"
        inputs = ([tensor("x", 4)], [tensor("z", 4)], {"x": floats([1, 2, 3, 4])})
        for attempt in ("open('w.z.bin', 'wb')", "os.symlink('/etc/passwd', 'w.z.bin')", "os.mkdir('d')", "open('w.x.bin')"):
            answer, found = self.run_(source.format(attempt), *inputs)
            self.assertEqual((answer["error"]["kind"], answer["error"]["line"]), ("python", 12), answer)
            self.assertEqual(set(found), {"w.x.bin"})
        answer, _ = self.run_(source.format("raise ValueError(bool(x.storage_.keep))"), *inputs)
        self.assertIn("ValueError: False", answer["error"]["message"])

    def test_a_captured_workload_is_interpreted_by_its_record(self):
        """A solution that acts at random, or by the clock, cannot do one thing where it is compiled and another where it is judged."""
        source = COPY + "\nimport os\ndef run(x, z):\n    add = os.urandom(4)\n    " \
            "z.fill_(int.from_bytes(add, 'little') / 2**32 + 1)\n    move[(1,)](x, z, 2, BLOCK=2)\n"
        inputs, outputs = [tensor("x", 4)], [tensor("z", 4)]
        captured = self.server.capture(source, inputs, outputs, configurations="first")["ok"]
        bits = next(op["bits"] for op in captured["plans"][0]["ops"] if op["op"] == "fill")
        data = self.output(source, inputs, outputs, {"x": floats([1, 2, 3, 4])})
        self.assertEqual(data, floats([1, 2]) + struct.pack("<I", bits) * 2)

    def test_kernels_that_tell_where_they_run(self):
        """A kernel is Triton's language and nothing else, or its interpreter would run what its compiler has never seen."""
        kernel = HEAD + """{}
@triton.jit
def k(x, z):
    i = tl.arange(0, 4)
    v = tl.load(x + i)
    {}
    tl.store(z + i, v)
def run(x, z):
    k[(1,)](x, z)
"""
        for before, line, word in (("", "v = v * hasattr(v, 'handle')", "hasattr"), ("", "v = v * isinstance(i, tl.constexpr)", "isinstance"),
                                   ("", "v = v.handle.data", "handle"), ("", "v = tl.core.warnings.catch_warnings", "warnings"),
                                   ("import os", "v = v + len(os.environ)", "os"), ("", "v = v.__class__", "__class__"),
                                   ("", "v = np.ones(4)", "np"), ("", "v = open('w.x.bin')", "open"), ("", "v = (lambda: v)()", "Lambda"),
                                   ("", "interpreter_builder.grid_dim", "interpreter_builder")):
            with self.subTest(line):
                answer, _ = self.run_(kernel.format(before, line), [tensor("x", 4)], [tensor("z", 4)], {"x": floats([1] * 4)})
                self.assertEqual((answer["error"]["kind"], answer["error"].get("file")), ("refused", "main.py"), answer)
                self.assertIn(word, answer["error"]["message"])

    def test_scalars(self):
        source = HEAD + "@triton.jit\ndef k(z, a, b):\n    tl.store(z, a * b)\ndef run(a, b, z):\n    k[(1,)](z, a, b)\n"
        data = self.output(source, [scalar("a", 3, "int32"), scalar("b", 0.5)], [tensor("z", 1)], {})
        self.assertEqual(struct.unpack("<f", data)[0], 1.5)

    def test_scalars_have_the_types_of_a_launch(self):
        """A float is one of 32 bits that widens what it meets; an integer beyond 32 bits, or annotated so, has 64."""
        source = HEAD + """
@triton.jit
def k(x, h, w, z, s, pair, n, m: tl.int64, flag):
    tl.store(z, tl.load(x) * s)
    tl.store(z + 1, tl.load(h) * pair[0].to(tl.float32))
    tl.store(w, n * n)
    tl.store(w + 1, m * m)
    if flag:
        tl.store(w + 2, 1)
    else:
        tl.store(w + 2, 0)
def run(x, h, s, n, m, flag, z, w):
    k[(1,)](x, h, w, z, s, (s * 10000, n), n, m, flag)
"""
        inputs = [tensor("x", 1, dtype="float64"), tensor("h", 1, dtype="float16"), scalar("s", 0.1), scalar("n", 3000000000, "int64"),
                  scalar("m", 100000, "int64"), scalar("flag", True, "bool")]
        answer, found = self.run_(source, inputs, [tensor("z", 2, dtype="float64"), tensor("w", 3, dtype="int64")],
                                  {"x": struct.pack("<d", 1), "h": struct.pack("<e", 1000)})
        self.assertIn("ok", answer, answer.get("error"))
        tenth = struct.unpack("<f", struct.pack("<f", 0.1))[0]
        self.assertEqual(struct.unpack("<2d", found["w.z.bin"]), (tenth, 1e6))
        self.assertEqual(struct.unpack("<3q", found["w.w.bin"]), (9 * 10**18, 10**10, 1))


if __name__ == "__main__":
    support.main(__name__)
