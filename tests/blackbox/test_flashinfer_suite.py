# SPDX-License-Identifier: Apache-2.0
"""The suite flashinfer-bench without a device: baselines are captured for every workload, and refused once they are wrong.

Takes --long: every baseline is verified by the interpreter and broken in one place. Otherwise the quick ones alone are.
"""

import json

import support

SUITE = support.ROOT / "suites" / "flashinfer-bench"
LONG = support.takes_long()

# What stands in a baseline, and what makes it wrong.
MISTAKES = {
    "gemm": ("the last part of the sum is missed", "range(0, K, BLOCK_K)", "range(0, K - BLOCK_K + 1, BLOCK_K)"),
    "rmsnorm_h128": ("the statistics lack an element", "tl.sum(x * x,", "tl.sum(tl.where(column > 0, x * x, 0.0),"),
    "fused_add_rmsnorm_h7168": ("the last element is masked", "column < HIDDEN", "column < HIDDEN - 1"),
    "gqa_paged_decode_h32_kv4": ("the page table is not read", "page = tl.load(kv_indices + place, mask=inside, other=0)", "page = place"),
    "gqa_paged_prefill_causal_h32_kv8": ("the mask is off by one", "visible = query + 1 + keys", "visible = query + keys"),
    "gqa_ragged_prefill_causal_h32_kv4": ("the mask leaves out what was cached", "visible = query + 1 + keys - queries", "visible = query + 1"),
    "mla_paged_decode_h16": ("the scale is of the compressed part alone", "tl.dot(x_pe, tl.trans(rotary), scores) * scale", "tl.dot(x_pe, tl.trans(rotary), scores * scale)"),
    "mla_paged_prefill_causal_h16": ("the first query of a sequence sees the one before", "+ 1) <= query", "+ 1) < query"),
    "moe_fp8_block_scale_topk8": ("both halves have the scales of the first", "tl.load(ups_scale + step)", "tl.load(gates_scale + step)"),
}
QUICK = ("rmsnorm_h128", "gqa_paged_decode_h32_kv4", "mla_paged_decode_h16")


class FlashInferSuite(support.TestCase):
    def setUp(self):
        super().setUp()
        self.need_tools("triton")

    def evaluation(self, *arguments, code):
        finished = self.accelopt("eval", *arguments, "--json")
        self.assertEqual(finished.code, code, finished)
        return json.loads(finished.out.strip().splitlines()[-1])

    def test_every_task_has_its_mistake(self):
        self.assertEqual({path.parent.name for path in SUITE.glob("*/task.toml")}, set(MISTAKES))

    def test_every_baseline_is_compiled_for_every_workload(self):
        self.need_tools("nvrtc", no_device=True)  # NVRTC: for the references
        for name in MISTAKES:
            with self.subTest(name):
                evaluation = self.evaluation(SUITE / name, "--device", "cuda:0", code=5)
                self.assertIn("it builds; nothing was run", evaluation["reason"], evaluation)

    def test_mistakes_are_found(self):
        for name in MISTAKES if LONG else QUICK:
            what, right, wrong = MISTAKES[name]
            with self.subTest(name, mistake=what):
                text = (SUITE / name / "baseline.py").read_text(encoding="utf-8")
                self.assertEqual(text.count(right), 1, "the baseline has changed: find another mistake")
                kernel = self.folder / "kernel.py"
                kernel.write_text(text.replace(right, wrong), encoding="utf-8")
                evaluation = self.evaluation(SUITE / name, kernel, "--interpret", code=5)
                self.assertEqual(evaluation["status"], "INCORRECT_NUMERICAL", evaluation)

    def test_baselines_are_verified(self):
        for name in MISTAKES if LONG else QUICK[:1]:
            with self.subTest(name):
                evaluation = self.evaluation(SUITE / name, "--interpret", code=0)
                self.assertIn("verified by the interpreter", evaluation["reason"], evaluation)


if __name__ == "__main__":
    support.main()
