#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many sets of inputs of one solution: recorded together, each with its values, and compiled once."""

import base64
import struct
import unittest

import support
from support import scalar, tensor

SOURCE = """
import torch, triton
import triton.language as tl

@triton.jit
def scaled(x, y, n, scale, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n, other=0.0) * scale, mask=at < n)

def run(x, indptr, scale, y):
    n = indptr[-1].item()
    scaled[(triton.cdiv(n, 128),)](x, y, n, scale, BLOCK=128)
"""


def slot(number, n, scale=0.5):
    offsets = base64.b64encode(struct.pack("<3i", 0, 1, n)).decode()
    return {"name": f"s{number}", "inputs": [tensor("x", 4096), tensor("indptr", 3, dtype="int32", visible=offsets), scalar("scale", scale)],
            "outputs": [tensor("y", 4096)]}


class Slots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = support.Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def captured(self, source, slots, **options):
        answer = self.server.ask(**{**support.request(source, **options), "workloads": slots})
        self.assertIn("ok", answer, answer.get("error"))
        return answer["ok"]

    def launches(self, ok):
        return [[op for op in plan["ops"] if op["op"] == "launch"][-1] for plan in ok["plans"]]

    def test_each_has_a_plan_with_its_values(self):
        ok = self.captured(SOURCE, [slot(1, 3001, 0.5), slot(2, 1003, 0.25)])
        self.assertEqual([launch["grid"][0] for launch in self.launches(ok)], [24, 8])
        scales = [[a["bits"] for a in launch["arguments"] if a.get("constant") == "float32"] for launch in self.launches(ok)]
        self.assertEqual(scales, [[struct.unpack("<I", struct.pack("<f", scale))[0]] for scale in (0.5, 0.25)])
        self.assertEqual([plan["reads"] for plan in ok["plans"]], [{"indptr": 1}] * 2)

    def test_machine_code_is_compiled_once(self):
        source = SOURCE + "# another solution\n"
        first = self.captured(source, [slot(1, 3001)])
        again = self.captured(source, [slot(number, 1001 + 2 * number) for number in range(40)])
        self.assertEqual((first["compiled"], again["compiled"]), (1, 0))
        self.assertTrue(first["cubins"] == again["cubins"])
        other = self.captured(source, [slot(1, 3200)])
        self.assertEqual(other["compiled"], 1, "a multiple of sixteen is another specialization")
        self.assertEqual(self.captured(source + "#\n", [slot(1, 3001)])["compiled"], 1, "another solution has its own")

    def test_what_does_not_compile_is_not_tried_again(self):
        source = SOURCE.replace("* scale", "* undefined")
        errors = [self.server.ask(**{**support.request(source), "workloads": [slot(number, 3001)]})["error"] for number in (1, 2)]
        self.assertEqual(errors[0], errors[1])
        self.assertEqual(errors[0]["kind"], "refused")

    def test_what_an_earlier_call_made_is_no_part_of_a_plan(self):
        source = SOURCE.replace("    n = indptr", "    if not kept:\n        kept.append(torch.zeros(4096, device='cuda'))\n"
                                "    scaled[(1,)](kept[0], y, 64, 1.0, BLOCK=128)\n    n = indptr").replace("def run", "kept = []\n\ndef run")
        ok = self.captured(source, [slot(number, 3001) for number in range(3)])
        for plan in ok["plans"]:
            self.assertEqual([op["op"] for op in plan["ops"]], ["fill", "launch", "launch"], "each is made as if it were the first")

    def test_one_that_fails_says_so(self):
        source = SOURCE.replace("    n = indptr", "    assert scale < 2, 'too large'\n    n = indptr")
        self.captured(source, [slot(1, 3001), slot(2, 3003)])
        answer = self.server.ask(**{**support.request(source), "workloads": [slot(1, 3001), slot(2, 3003, 3.0), slot(3, 3005)]})
        self.assertEqual(answer["error"]["kind"], "python", answer)
        self.assertIn("too large", answer["error"]["message"])

    def test_a_refusal_of_one_leaves_the_others(self):
        source = SOURCE.replace("    n = indptr", "    try:\n        x[0].item() if scale > 2 else None\n    except BaseException:\n        pass\n    n = indptr")
        self.captured(source, [slot(1, 3001), slot(2, 3003)])
        answer = self.server.ask(**{**support.request(source), "workloads": [slot(1, 3001, 3.0), slot(2, 3003)]})
        self.assertEqual(answer["error"]["kind"], "refused", answer)


if __name__ == "__main__":
    support.main(__name__)
