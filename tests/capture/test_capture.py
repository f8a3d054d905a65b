#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Solutions become cubins and plans: what is launched, with which arguments, and what built-in kernels do."""

import base64
import pathlib
import struct
import unittest

import support
from kernels import ADD, ADD_INTO, ADD_VALUE, COPY, HEAD
from support import scalar, tensor, visible

X, Y, Z = tensor("x", 1000), tensor("y", 1000), tensor("z", 1000)


def constants(launch):
    return [argument["bits"] for argument in launch["arguments"] if "constant" in argument]


class Capture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = support.Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def captured(self, *arguments, **options):
        answer = self.server.capture(*arguments, **options)
        self.assertIn("ok", answer, answer.get("error"))
        return answer["ok"]

    def ops(self, *arguments, **options):
        return self.captured(*arguments, **options)["plans"][0]["ops"]

    def test_a_start_does_not_read_all_of_triton(self):
        """Triton's key of its cache is a hash of its library, of 400 MB."""
        library = support.site_packages() / "triton" / "_C" / "libtriton.so"
        with support.Server() as server:
            fields = dict(line.split(": ") for line in pathlib.Path(f"/proc/{server.process.pid}/io").read_text().splitlines())
        self.assertLess(int(fields["rchar"]), library.stat().st_size / 4)

    def test_destination_passing(self):
        ok = self.captured(ADD_INTO, [X, Y], [Z])
        cubin, plan = ok["cubins"][0], ok["plans"][0]
        self.assertTrue(base64.b64decode(cubin["data"]).startswith(b"\x7fELF"))
        self.assertEqual((cubin["kernel"], cubin["num_warps"], cubin["num_ctas"], cubin["shared_bytes"]), ("add", 4, 1, 0))
        self.assertIn("registers", cubin["ptxas"])
        self.assertEqual([(b["name"], b["kind"], b["bytes"]) for b in plan["buffers"]],
                         [("x", "input", 4000), ("y", "input", 4000), ("z", "output", 4000)])
        self.assertEqual(plan["ops"], [{
            "op": "launch", "cubin": 0, "grid": [4, 1, 1], "block": [128, 1, 1], "cluster": [0, 0, 0], "shared_bytes": 0,
            "cooperative": False, "pdl": False, "line": 13, "arguments": [
                {"tensor": "x", "offset": 0}, {"tensor": "y", "offset": 0}, {"tensor": "z", "offset": 0},
                {"constant": "int32", "bits": 1000}, {"constant": "uint64", "bits": 0}, {"constant": "uint64", "bits": 0}]}])

    def test_value_returning_makes_a_fresh_buffer_the_output(self):
        plan = self.captured(ADD_VALUE, [X, Y], [Z], convention="value")["plans"][0]
        self.assertEqual([(b["name"], b["kind"]) for b in plan["buffers"]], [("x", "input"), ("y", "input"), ("z", "output")])
        self.assertEqual([op["op"] for op in plan["ops"]], ["launch"])
        self.assertEqual(plan["ops"][0]["arguments"][2], {"tensor": "z", "offset": 0})

    def test_the_convention_is_read_off_the_function(self):
        either = ADD_VALUE.replace("def run(x, y):", "def run(*tensors):\n    x, y = tensors[:2]")
        written = ADD_INTO.replace("def run(x, y, z):", "def run(*tensors):\n    x, y, z = tensors")
        plans = [self.captured(source, [X, Y], [Z], convention="auto")["plans"][0] for source in (ADD_INTO, ADD_VALUE, either, written)]
        for plan in plans:
            self.assertEqual(constants(plan["ops"][0]), constants(plans[0]["ops"][0]))
            self.assertEqual([argument["tensor"] for argument in plan["ops"][0]["arguments"][:3]], ["x", "y", "z"])

    def test_returned_views_are_copied(self):
        source = ADD_VALUE.replace("return z", "return {'a': z.view(10, 100).t(), 'b': x}")
        outputs = [tensor("a", 100, 10), tensor("b", 1000)]
        ops = self.ops(source, [X, Y], outputs, convention="value")
        self.assertEqual([op["op"] for op in ops], ["launch", "copy", "copy"])
        self.assertEqual((ops[1]["from"]["shape"], ops[1]["from"]["strides"], ops[1]["to"]["buffer"]), ([100, 10], [1, 100], "a"))
        self.assertEqual((ops[2]["from"]["buffer"], ops[2]["to"]["buffer"]), ("x", "b"))

    def test_same_request_same_answer(self):
        first, second = self.captured(ADD_INTO, [X, Y], [Z]), self.captured(ADD_INTO, [X, Y], [Z])
        first.pop("seconds"), second.pop("seconds")
        self.assertEqual(first, second)

    def test_arguments_specialized_away(self):
        """1 is a constant, multiples of 16 are another kernel than other numbers, and scalars keep their types."""
        source = HEAD + """
@triton.jit
def k(y, a, b, c, d, e):
    i = tl.arange(0, 1024)
    tl.store(y + i, tl.load(y + b + i) + a + c + d + e)
def run(y):
    k[(1,)](y, 1, 32, 2.5, True, 1 << 40)
    k[(1,)](y, 1, 33, 2.5, True, 1 << 40)
    k[(1,)](y, 1, 65, 2.5, True, 1 << 40)
"""
        ok = self.captured(source, [], [tensor("y", 2048)])
        launches = ok["plans"][0]["ops"]
        self.assertEqual([launch["cubin"] for launch in launches], [0, 1, 1])
        dtypes = [argument.get("constant") for argument in launches[0]["arguments"]]
        self.assertEqual(dtypes, [None, "int32", "float32", "uint8", "int64", "uint64", "uint64"])
        self.assertEqual(constants(launches[1])[:2], [33, struct.unpack("<I", struct.pack("<f", 2.5))[0]])

    def test_types_of_other_modules_in_annotations(self):
        """Triton looks annotations up as it does code; torch is not there where it compiles."""
        plain = self.captured(ADD_INTO, [X, Y], [Z])["cubins"]
        for annotation in ("torch.Tensor", "torch.Tensor | None", "list[torch.Tensor]", "'torch.Tensor'"):
            with self.subTest(annotation):
                source = ADD_INTO.replace("def add(x, y,", f"def add(x: {annotation}, y: {annotation},")
                self.assertEqual(self.captured(source, [X, Y], [Z])["cubins"], plain)
        source = ADD_INTO.replace("BLOCK: tl.constexpr):", "BLOCK: tl.constexpr, b: torch.Tensor = None) -> torch.Tensor:") \
            .replace("    m = i", "    m: torch.Tensor = i")
        self.assertEqual(self.captured(source, [X, Y], [Z])["cubins"][0]["kernel"], "add")
        helper = HEAD + """@triton.constexpr_function
def half(n: int, why: str = "", t: torch.Tensor = None) -> torch.dtype:
    name: str = why
    return n // 2
""" + ADD_INTO.removeprefix(HEAD).replace("tl.arange(0, BLOCK)", "tl.arange(0, 2 * half(BLOCK))")
        self.assertEqual(self.captured(helper, [X, Y], [Z])["cubins"][0]["kernel"], "add")

    def test_alignment_is_compiled_in(self):
        source = COPY + """
def run(x, y):
    for start in (0, 1, 4, 8):
        move[(1,)](x[start:], y, 1024, BLOCK=1024)
"""
        launches = self.ops(source, [tensor("x", 2048)], [tensor("y", 1024)])
        self.assertEqual([launch["arguments"][0]["offset"] for launch in launches], [0, 4, 16, 32])
        self.assertEqual([launch["cubin"] for launch in launches], [0, 1, 0, 0])

    def test_views(self):
        source = COPY + """
def run(x, y):
    a = x.view(4, 8, 16).permute(2, 0, 1)
    assert a.shape == (16, 4, 8) and a.stride() == (1, 128, 16) and not a.is_contiguous()
    assert x.view(4, -1)[1:3, ::2].stride() == (128, 2)
    assert a[3, 1:].storage_offset() == 3 + 128
    b = x.unsqueeze(0).expand(3, 512)
    assert b.stride() == (0, 1) and b.reshape(-1).shape == (1536,)
    assert [t.shape[0] for t in x.split(200)] == [200, 200, 112] and len(x.chunk(4)) == 4
    move[(1,)](a.contiguous(), y, 512, BLOCK=512)
"""
        ops = self.ops(source, [tensor("x", 512)], [tensor("y", 512)])
        copy = next(op for op in ops if op["op"] == "copy" and op["from"]["shape"] == [16, 4, 8])
        self.assertEqual((copy["from"]["strides"], copy["to"]["strides"]), ([1, 128, 16], [32, 8, 1]))

    def test_conversion_fill_and_zeros(self):
        source = COPY + """
def run(x, y):
    h = x.to(torch.float16)
    z = torch.full((64,), 1.5, dtype=torch.bfloat16, device="cuda")
    y.zero_()
    move[(1,)](h, y, 64, BLOCK=64)
    move[(1,)](z, y, 64, BLOCK=64)
    unused = torch.zeros(1 << 20, device="cuda")
"""
        ops = self.ops(source, [tensor("x", 64)], [tensor("y", 64)])
        self.assertEqual([op["op"] for op in ops], ["fill", "copy", "launch", "fill", "launch"])
        self.assertEqual((ops[0]["to"]["buffer"], ops[0]["bits"]), ("y", 0))
        self.assertEqual((ops[1]["from"]["dtype"], ops[1]["to"]["dtype"]), ("float32", "float16"))
        self.assertEqual((ops[3]["to"]["dtype"], ops[3]["bits"]), ("bfloat16", 0x3FC0))

    def test_gather_sum_and_abs_amax(self):
        source = COPY + """
def run(x, i, y):
    rows = x[i.to(torch.int64)]
    s = rows.sum(dim=-1)
    a = x.abs().amax(dim=1, keepdim=True)
    assert rows.shape == (8, 64) and s.shape == (8,) and a.shape == (16, 1)
    move[(1,)](s, y, 8, BLOCK=8)
    move[(1,)](a, y, 8, BLOCK=8)
"""
        ops = self.ops(source, [tensor("x", 16, 64), tensor("i", 8, dtype="int32")], [tensor("y", 8)])
        self.assertEqual([op["op"] for op in ops], ["copy", "gather", "sum", "abs_amax", "launch", "launch"])
        self.assertEqual((ops[1]["index"]["dtype"], ops[1]["to"]["shape"]), ("int64", [8, 64]))
        self.assertEqual((ops[2]["dims"], ops[2]["to"]["shape"]), ([1], [8, 1]))

    def test_visible_inputs_are_read_counted_and_uploaded(self):
        source = COPY + """
def run(indptr, y):
    lengths = indptr[1:] - indptr[:-1]
    assert lengths.max().item() == 5 and int(indptr[-1]) == 10
    starts = torch.cat([torch.zeros(1, dtype=torch.int32, device="cuda"), lengths.cumsum(0, dtype=torch.int32)])
    move[(lengths.numel(),)](starts, y, 4, BLOCK=4)
    move[(1,)](indptr, y, 4, BLOCK=4)
"""
        plan = self.captured(source, [visible("indptr", [0, 3, 5, 10])], [tensor("y", 4, dtype="int32")])["plans"][0]
        upload = plan["ops"][0]
        self.assertEqual((upload["op"], upload["to"]["dtype"]), ("upload", "int32"))
        self.assertEqual(struct.unpack("<4i", base64.b64decode(upload["data"])), (0, 3, 5, 10))
        self.assertEqual(plan["uploaded_bytes"], 16)
        self.assertEqual(plan["reads"], {"indptr": 7})
        self.assertEqual(plan["ops"][2]["arguments"][0], {"tensor": "indptr", "offset": 0})

    def test_changed_copies_of_inputs(self):
        """A copy that waits until somebody needs it is no copy any more once it is changed."""
        source = COPY + """
def run(p, x, y):
    q = p.to(torch.int64)
    q[0] = 7
    q[1:3] = torch.tensor([8, 9], device="cuda")
    move[(1,)](q, y, 4, BLOCK=4)
    z = p.to(torch.int64)
    z.zero_()
    move[(1,)](z, y, 4, BLOCK=4)
    h = x.to(torch.float16)
    h[0] = 1.0
    h[1:2].copy_(torch.ones(1, device="cuda"))
    move[(1,)](h, y, 4, BLOCK=4)
"""
        ops = self.ops(source, [visible("p", [1, 2, 3, 4]), tensor("x", 4)], [tensor("y", 4)])
        self.assertEqual([op["op"] for op in ops], ["upload", "launch", "fill", "launch", "copy", "fill", "fill", "copy", "launch"])
        self.assertEqual(struct.unpack("<4q", base64.b64decode(ops[0]["data"])), (7, 8, 9, 4))

    def test_relative_imports(self):
        main = "from .add import add\ndef run(x, y, z):\n    add[(1,)](x, y, z, 64, BLOCK=64)\n"
        files = [{"name": "ops/main.py", "content": main}, {"name": "ops/add.py", "content": ADD}]
        workload = {"name": "w", "inputs": [tensor("x", 64), tensor("y", 64)], "outputs": [tensor("z", 64)]}
        answer = self.server.ask(op="capture", files=files, entry="ops/main.py::run", workloads=[workload])
        self.assertIn("ok", answer, answer)

    def test_two_workloads_share_a_cubin(self):
        ask = support.request(ADD_INTO)
        ask["workloads"] = [{"name": f"n{n}", "inputs": [tensor("x", n), tensor("y", n)], "outputs": [tensor("z", n)]}
                            for n in (160, 320, 161)]
        ok = self.server.ask(**ask)["ok"]
        self.assertEqual([plan["workload"] for plan in ok["plans"]], ["n160", "n320", "n161"])
        self.assertEqual([plan["ops"][0]["cubin"] for plan in ok["plans"]], [0, 0, 1])

    def test_scalars_names_and_none(self):
        source = COPY + """
def run(*, x, scale, mode, y):
    assert scale == 0.5 and mode is None
    move[(1,)](x, y, 64, BLOCK=64)
"""
        ask = [tensor("x", 64), scalar("scale", 0.5), scalar("mode", None, "int32")]
        self.captured(source, ask, [tensor("y", 64)], arguments="auto")
        self.assertEqual(self.server.capture(source, ask, [tensor("y", 64)])["error"]["kind"], "contract")

    def test_several_files_and_a_class(self):
        main = "from ops.add import add, triton\nclass Model:\n    @staticmethod\n    def forward(x, y, z):\n" \
               "        add[(1,)](x, y, z, 64, BLOCK=64)\n"
        answer = self.server.ask(
            op="capture", files=[{"name": "main.py", "content": main}, {"name": "ops/add.py", "content": ADD}],
            entry="main.py::Model.forward", workloads=[{"name": "w", "inputs": [tensor("x", 64), tensor("y", 64)],
                                                        "outputs": [tensor("z", 64)]}])
        self.assertEqual(answer["ok"]["cubins"][0]["kernel"], "add")

    def test_autograd_modules_and_settings(self):
        source = ADD + """
class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        z = torch.empty_like(x)
        add[(4,)](x, y, z, 1000, BLOCK=256)
        ctx.save_for_backward(x, y)
        return z

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("ones", torch.ones(1000, device="cuda"))
    def forward(self, x, y):
        return Add.apply(x, self.ones)

torch.backends.cuda.matmul.allow_tf32 = True

@torch.no_grad()
def run(x, y):
    assert torch.cuda.is_available() and x.is_cuda and str(x.dtype) == "torch.float32"
    with torch.cuda.device(x.device):
        assert torch.cuda.get_device_properties(0).multi_processor_count == 114
        return Model()(x, y)
"""
        ok = self.captured(source, [X, Y], [Z], convention="value", device={"multi_processor_count": 114})
        self.assertEqual([op["op"] for op in ok["plans"][0]["ops"]], ["fill", "launch"])

    def test_global_scratch_and_device_descriptors(self):
        source = HEAD + """
@triton.jit
def k(x, y, n, B: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [n, 64], [64, 1], [B, 64])
    b = tl.make_tensor_descriptor(y, [n, 64], [64, 1], [B, 64])
    b.store([tl.program_id(0) * B, 0], a.load([tl.program_id(0) * B, 0]))
def run(x, y):
    k[(4,)](x, y, 64, B=16)
"""
        ok = self.captured(source, [tensor("x", 64, 64)], [tensor("y", 64, 64)])
        plan, cubin = ok["plans"][0], ok["cubins"][0]
        scratch = plan["buffers"][2]
        self.assertEqual((scratch["kind"], scratch["bytes"]), ("scratch", 4 * cubin["global_scratch_bytes"]))
        self.assertEqual(plan["ops"][0]["arguments"][-2:], [{"tensor": scratch["name"], "offset": 0}, {"constant": "uint64", "bits": 0}])

    def test_host_descriptors_clusters_and_attributes(self):
        source = HEAD + """
from triton.tools.tensor_descriptor import TensorDescriptor
@triton.jit
def k(x, y, M: tl.constexpr, N: tl.constexpr):
    tile = x.load([tl.program_id(0) * M, 0])
    i = (tl.program_id(0) * M + tl.arange(0, M))[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + i, tile)
def run(x, y):
    k[(2,)](TensorDescriptor.from_tensor(x, [64, 64]), y, M=64, N=64, num_ctas=2, launch_pdl=True)
"""
        ok = self.captured(source, [tensor("x", 128, 64, dtype="float16")], [tensor("y", 128, 64, dtype="float16")])
        launch = ok["plans"][0]["ops"][0]
        self.assertEqual((launch["grid"], launch["cluster"], launch["pdl"]), ([4, 1, 1], [2, 1, 1], True))
        described = launch["arguments"][0]["tensor_map"]
        self.assertEqual((described["buffer"], described["dims"], described["strides"], described["element_type"]),
                         ("x", [64, 128], [128], 6))
        self.assertEqual([argument.get("constant") for argument in launch["arguments"][1:5]], ["int32", "int32", "int64", "int64"])

    def test_empty_tensors_and_grids_launch_nothing(self):
        source = COPY + "\ndef run(x, y):\n    move[(x.numel(),)](x, y, 0, BLOCK=64)\n    move[(1,)](x, y, 0, BLOCK=64)\n"
        ops = self.ops(source, [tensor("x", 0)], [tensor("y", 64)])
        self.assertEqual([op["arguments"][0] for op in ops], [{"constant": "uint64", "bits": 0}])

    def test_other_architectures(self):
        for arch in (80, 89):
            self.captured(ADD_INTO, [X, Y], [Z], arch=arch)


if __name__ == "__main__":
    support.main(__name__)
