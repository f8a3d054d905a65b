#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cannot be captured is refused by kind, with file, line and call, and a solution cannot hide it."""

import base64
import json
import unittest

import support
from kernels import ADD, ADD_INTO, ADD_VALUE, COPY, HEAD
from support import tensor, visible

X, Y, Z = tensor("x", 1000), tensor("y", 1000), tensor("z", 1000)


class Refusals(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = support.Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def error(self, source, inputs=(X, Y), outputs=(Z,), **options):
        answer = self.server.capture(source, inputs, outputs, **options)
        self.assertIn("error", answer)
        return answer["error"]

    def refused(self, body, call, head=HEAD, reason="", inputs=(X, Y), **options):
        error = self.error(head + "def run(x, y, z):\n    " + body, inputs, **options)
        self.assertEqual((error["kind"], error.get("call")), ("refused", call), error)
        self.assertIn(reason, error["message"])
        self.assertEqual((error["file"], error["line"]), ("main.py", head.count("\n") + 2), error)

    def test_arithmetic_on_device_data(self):
        for body, call in (("x + y", "Tensor.add"), ("torch.softmax(x, 0)", "torch.softmax"), ("x @ y", "Tensor.__matmul__"),
                           ("x.exp()", "Tensor.exp"), ("torch.nn.functional.relu(x)", "torch.nn.functional.relu"),
                           ("x.max()", "Tensor.max"), ("x[x > 0]", "Tensor.gt"), ("x.abs().sum()", "Tensor.abs"),
                           ("torch.where(x, x, y)", "torch.where"), ("x.cumsum(0)", "Tensor.cumsum"), ("x.nonzero()", "Tensor.nonzero")):
            with self.subTest(call):
                self.refused(body, call, reason="@triton.jit kernel")

    def test_reads_of_device_data(self):
        for body, call in (("x[0].item()", "Tensor.item"), ("z.tolist()", "Tensor.tolist"), ("x.cpu()", "Tensor.to"),
                           ("float(x[0])", "Tensor.item"), ("range(x[0])", "Tensor.item"), ("if x[0]: pass", "Tensor.item")):
            with self.subTest(body):
                self.refused(body, call, reason="reads device data")

    def test_what_a_kernel_may_have_written_is_not_known(self):
        source = COPY + """
def run(x, z):
    t = torch.zeros(64, device="cuda")
    assert t[0].item() == 0
    move[(1,)](x, t, 64, BLOCK=64)
    t[0].item()
"""
        error = self.error(source, [X])
        self.assertEqual((error["kind"], error["line"]), ("refused", 14))
        self.assertIn("a kernel may have written it", error["message"])

    def test_randomness_streams_and_measuring(self):
        for body, call in (("torch.randn(3)", "torch.randn"), ("torch.cuda.Stream()", "torch.cuda.Stream"),
                           ("torch.cuda.current_stream()", "torch.cuda.current_stream"), ("torch.compile(run)", "torch.compile"),
                           ("import triton.testing; triton.testing.do_bench(run)", "triton.testing.do_bench"),
                           ("triton.runtime.driver.active.get_benchmarker()", "do_bench"), ("torch.cuda.Event()", "torch.cuda.Event")):
            with self.subTest(call):
                self.refused(body, call)

    def test_addresses_as_numbers(self):
        self.refused("x.data_ptr() + 4", "Tensor.data_ptr")
        self.refused("int(x.data_ptr())", "Tensor.data_ptr")
        self.assertIn("ok", self.server.capture(ADD_INTO.replace("n = x", "assert x.data_ptr() % 16 == 0; n = x"), [X, Y], [Z]))
        error = self.error(HEAD + "@triton.jit\ndef k(p, z):\n    tl.store(z, p)\ndef run(x, y, z):\n    k[(1,)](x.data_ptr(), z)\n")
        self.assertEqual((error["kind"], error["call"], error["line"]), ("refused", "kernel launch", 8))

    def test_writes_to_inputs(self):
        self.refused("x.zero_()", "Tensor.fill_", reason="read-only")
        self.refused("x[3] = 1.0", "Tensor.fill_", reason="read-only")

    def test_warmup_names_the_way_out(self):
        error = self.error(ADD + "def run(x, y, z):\n    add.warmup(x, y, z, 1000, BLOCK=256, grid=(4,))\n")
        self.assertEqual((error["kind"], error["call"]), ("refused", "JITFunction.warmup"), error)
        self.assertIn("launch with kernel[grid](...)", error["message"])
        self.assertIn("multi_processor_count", error["message"])

    def test_compilers_input_and_flags(self):
        for option in ('ptx_options="-O0"', 'extern_libs={"a": "/b"}', 'ir_override="a.ptx"'):
            with self.subTest(option):
                error = self.error(ADD_INTO.replace("BLOCK=256)", f"BLOCK=256, {option})"))
                self.assertEqual(error["kind"], "refused")

    def test_imports(self):
        for line, call in (("import numpy", "import numpy"), ("import torch._C", "import torch._C"), ("from triton.ops import matmul", "import triton.ops"),
                           ("import accelopt_capture", "import accelopt_capture")):
            with self.subTest(line):
                error = self.error(line + "\n" + ADD_INTO)
                self.assertEqual((error["kind"], error["call"], error["line"]), ("refused", call, 1))

    def test_refusals_cannot_be_hidden(self):
        hidden = {
            "except Exception": "try:\n        x.softmax(0)\n    except Exception:\n        pass",
            "except BaseException": "try:\n        x.softmax(0)\n    except BaseException:\n        pass",
            "finally": "try:\n        x.softmax(0)\n    finally:\n        return",
            "another error": "try:\n        x.softmax(0)\n    except BaseException:\n        raise ValueError('no')",
        }
        for name, body in hidden.items():
            with self.subTest(name):
                error = self.error(ADD + f"def run(x, y, z):\n    {body}\n    add[(4,)](x, y, z, 1000, BLOCK=256)\n")
                self.assertEqual((error["kind"], error["call"], error["line"]), ("refused", "Tensor.softmax", 12), error)

    def test_compile_errors_name_the_line(self):
        error = self.error(ADD_INTO.replace("tl.load(x", "tl.lod(x"))
        self.assertEqual((error["kind"], error["file"], error["line"], error["call"]), ("compile", "main.py", 9, "add"))
        self.assertIn("has no attribute 'lod'", error["message"])
        self.assertNotIn("/triton/", json.dumps(error))
        called = HEAD + "@triton.jit\ndef inner(a):\n    return a.no_such()\n" + ADD_INTO.removeprefix(HEAD).replace(
            "tl.load(y + i, mask=m)", "inner(tl.load(y + i, mask=m))")
        self.assertEqual(self.error(called)["line"], 6)
        large = HEAD + """@triton.jit
def k(x, z, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i[:, None] * N + i[None, :])
    tl.store(z + i[:, None] * N + i[None, :], tl.dot(a, a))
def run(x, z):
    k[(1,)](x, z, N=32)
"""
        error = self.error(large, [tensor("x", 32, 32)], [tensor("z", 32, 32)], device={"shared_memory_per_block_optin": 1024})
        self.assertEqual((error["kind"], error["line"]), ("compile", 5), error)
        self.assertIn("bytes of shared memory", error["message"])

    def test_annotations_are_no_way_around_the_language(self):
        """Triton's compiler would run what they call."""
        for annotated, line, word in ((ADD_INTO.replace("def add(x,", "def add(x: tl.core.inspect.os.getpid(),"), 6, "inspect"),
                                      (ADD_INTO.replace("    m = i", "    m: tl.core.inspect.os.getpid() = i"), 8, "inspect"),
                                      (ADD_INTO.replace("    m = i", "    m: torch.Tensor = torch.float32\n    m = i"), 8, "torch"),
                                      (ADD_INTO.replace("import torch\n", "import torch; from torch import Tensor\n").replace(
                                          "def add(x,", "def add(x: Tensor,"), 6, "Tensor")):
            with self.subTest(word):
                error = self.error("from __future__ import annotations\n" + annotated)
                self.assertEqual((error["kind"], error["file"], error["line"]), ("refused", "main.py", line + 1), error)
                self.assertIn(word, error["message"])

    def test_what_triton_cannot_look_up_names_the_line(self):
        """A name that the kernel makes its own later is the file's until then."""
        source = ADD_INTO.replace("\n@triton.jit", "import types\nc = types.SimpleNamespace(T=1)\n@triton.jit").replace(
            "    m = i < n\n", "    m = i < c.T\n    c = n\n")
        error = self.error(source)
        self.assertEqual((error["kind"], error["file"], error["line"], error["call"]), ("compile", "main.py", 9, "add"), error)

    def test_python_errors(self):
        error = self.error(ADD_INTO.replace("n = x.numel()", "n = x.numel() // 0"))
        self.assertEqual((error["kind"], error["line"], error["message"]), ("python", 12, "ZeroDivisionError: integer division or modulo by zero"))
        self.assertEqual(self.error("def run(:")["kind"], "python")
        self.assertEqual(self.error("import sys\ndef run(x, y, z):\n    sys.exit(0)\n")["kind"], "python")
        error = self.error(ADD_INTO.replace("BLOCK=256", "BLOCKS=256"))
        self.assertEqual((error["kind"], error["line"]), ("python", 13))

    def test_tensors_on_the_cpu_do_not_go_to_kernels(self):
        error = self.error(COPY + "def run(x, y, z):\n    move[(1,)](torch.zeros(64), z, 64, BLOCK=64)\n")
        self.assertEqual(error["kind"], "python")
        self.assertIn("cpu tensor", error["message"])

    def test_contract(self):
        value = dict(convention="value")
        for source, options, text in (
                (ADD_INTO, {"entry": "walk"}, "has no walk"), (ADD_INTO.replace("(x, y, z):\n    n", "(x, y):\n    n"), {}, "does not take"),
                (ADD_VALUE.replace("return z", "return 3"), value, "returns a int"), (ADD_VALUE.replace("return z", "return z, z"), value, "2 values"),
                (ADD_VALUE.replace("return z", "return z[1:]"), value, "[999]"), (ADD_VALUE.replace("return z", "return {'q': z}"), value, "returns ['q']"),
                (ADD_VALUE.replace("return z", "return z.to(torch.float16)"), value, "float16")):
            with self.subTest(text):
                error = self.error(source, **options)
                self.assertEqual(error["kind"], "contract", error)
                self.assertIn(text, error["message"])

    def test_limits_of_plans(self):
        looped = COPY + "\ndef run(x, z):\n    for i in range(100):\n        move[(1,)](x, z, i + 2, BLOCK=64)\n"
        self.assertEqual(self.error(looped, [X], limits={"ops": 20})["call"], "launch")
        error = self.error(COPY + "\ndef run(x, z):\n    for i in range(3):\n        move[(1,)](x, z, i, BLOCK=64 << i)\n", [X], limits={"kernels": 2})
        self.assertEqual((error["kind"], error["line"]), ("limit", 12))
        uploads = COPY + "\ndef run(p, z):\n    move[(1,)](p + 1, z, 64, BLOCK=64)\n"
        error = self.error(uploads, [visible("p", range(64))], limits={"upload_bytes": 255})
        self.assertEqual(error["kind"], "limit")


class Requests(unittest.TestCase):
    """What is no request, or a malformed one, is answered and changes nothing."""

    @classmethod
    def setUpClass(cls):
        cls.server = support.Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def test_ready_line(self):
        self.assertEqual((self.server.ready["protocol"], self.server.ready["triton"]), (1, "3.6.0"))

    def test_lines_that_are_no_requests(self):
        for text in ("", "{", "[]", "3", "NaN", "[" * 100000, '{"id": 1, "op": "ping", "x": NaN}'):
            with self.subTest(text[:20]):
                self.assertEqual(self.server.line(text)["error"]["kind"], "protocol")
        self.assertEqual(self.server.line('{"id": 7, "op": "ping"}'), {"id": 7, "ok": {}})

    def test_malformed_requests(self):
        good = support.request(ADD_INTO, [X, Y], [Z])
        wrong = [("op", "eat"), ("op", None), ("files", []), ("files", [{"name": "../a.py", "content": ""}]), ("files", "x"),
                 ("files", [{"name": "a.py", "content": "\ud800"}]), ("entry", "main.py"), ("entry", "main.py::a b"), ("entry", 3),
                 ("arch", 90.5), ("arch", 120), ("convention", "both"), ("configurations", "none"), ("configurations", {"a": -1}),
                 ("workloads", []), ("workloads", [{"name": "../w"}]), ("workloads", [{"name": "w"}, {"name": "w"}]), ("limits", {"wall_s": -1}),
                 ("limits", {"wall_s": 1e9}), ("limits", {"what": 1}), ("device", {"a b": 1}), ("folder", "/tmp"), ("what", 1),
                 ("workloads", [{"name": "w", "inputs": [tensor("x", -1)]}]), ("workloads", [{"name": "w", "inputs": [tensor("x", 4, dtype="int4")]}]),
                 ("workloads", [{"name": "w", "inputs": [X, X]}]), ("workloads", [{"name": "w", "inputs": [tensor("x", 1 << 40)]}]),
                 ("workloads", [{"name": "w", "inputs": [tensor("x", 4, visible=base64.b64encode(b"12").decode())]}]),
                 ("workloads", [{"name": "w", "inputs": [tensor("x", 4, visible="?")]}])]
        for field, value in wrong:
            with self.subTest(f"{field}: {value!r}"[:60]):
                answer = self.server.ask(**{**good, field: value})
                self.assertEqual(answer["error"]["kind"], "request", answer)
        self.assertEqual(self.server.line(json.dumps({**good, "id": [1]}))["error"]["kind"], "request")

    def test_without_triton_the_server_says_so(self):
        with support.Server(triton="/usr") as server:
            self.assertEqual(server.first["error"]["kind"], "setup")
            self.assertIn("pip install triton==3.6.0", server.first["error"]["message"])


if __name__ == "__main__":
    support.main(__name__)
