# SPDX-License-Identifier: Apache-2.0
"""The classic wrong kernels on the bundled operators, with fewer rows: each looks right on easy inputs, and none may pass."""

import shutil

import support
from support import SUITE

SOFTMAX = """\
#include <math.h>
#include "task.h"

extern "C" void kernel(const float* lhs, const float* rhs, float* y, int64_t M) {{
  for (int64_t row = 0; row < B * M; ++row) {{
    const float* a = lhs + row * K;
    const float* b = rhs + row / M * K * N;
    float* out = y + row * N;
    float sums[N] = {{}};
    for (int64_t k = 0; k < K; ++k) {{
      for (int64_t j = 0; j < N; ++j) sums[j] += a[k] * b[k * N + j];
    }}
    float largest = {largest};
    for (int64_t j = 0; j < {seen}; ++j) largest = fmaxf(largest, sums[j]);
    float total = 0;
    for (int64_t j = 0; j < N; ++j) total += out[j] = expf(sums[j] - largest);
    for (int64_t j = 0; j < N; ++j) out[j] /= total;
  }}
}}
"""

MATMUL = """\
#include <string.h>
#include "task.h"

static inline float operand(float value) {{
  {operand}
  return value;
}}

extern "C" void kernel(const float* lhs, const float* rhs, float* y, int64_t M) {{
  for (int64_t i = 0; i < {rows}; ++i) {{
    float row[N] = {{}};
    for (int64_t k = 0; k < K; ++k) {{
      const float left = operand(lhs[i * K + k]);
      for (int64_t j = 0; j < N; ++j) row[j] += left * operand(rhs[k * N + j]);
    }}
    memcpy(y + i * N, row, sizeof row);
  }}
  {after}
}}
"""

TO_BFLOAT = """\
uint32_t bits;
  memcpy(&bits, &value, 4);
  bits = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  memcpy(&value, &bits, 4);"""

# Whole tiles of eight rows; what is left over gets the last row that was computed.
STALE_TAIL = "for (int64_t i = M / 8 * 8; i < M; ++i) memcpy(y + i * N, y + (M / 8 * 8 - 1) * N, sizeof(float) * N);"


def softmax(seen, largest):
    return SOFTMAX.format(seen=seen, largest=largest)


def matmul(operand="", rows="M", after=""):
    return MATMUL.format(operand=operand, rows=rows, after=after)


# The rows that are raced, in the suite and here.
ROWS = {"bmm_softmax": ("M = 160", "M = 32"), "matmul": ("M = 200", "M = 40")}


class WrongKernels(support.TestCase):
    def evaluate(self, operator, text):
        task = self.folder / operator
        if not task.exists():
            shutil.copytree(SUITE / operator, task)
            definition = (task / "task.toml").read_text(encoding="utf-8")
            self.assertEqual(definition.count(ROWS[operator][0]), 1)
            (task / "task.toml").write_text(definition.replace(*ROWS[operator]), encoding="utf-8")
        finished = self.accelopt("eval", task, self.file("candidate.cpp", text), "--json")
        return finished, finished.last

    def assert_refused(self, operator, text, *families):
        finished, evaluation = self.evaluate(operator, text)
        self.assertEqual(finished.code, 5, finished)
        self.assertEqual(evaluation["status"], "INCORRECT_NUMERICAL", finished)
        self.assertEqual(evaluation["verdict"], "NONE", finished)
        if families:
            self.assertIn(evaluation["mismatch"]["family"], families, finished)

    def test_the_frames_themselves_are_right(self):
        for operator, text in (("bmm_softmax", softmax("N", "sums[0]")), ("matmul", matmul())):
            finished, evaluation = self.evaluate(operator, text)
            self.assertEqual(evaluation["status"], "PASSED", finished)
            self.assertEqual(evaluation["verdict"], "FASTER", finished)

    def test_a_softmax_that_subtracts_the_maximum_of_a_part(self):
        self.assert_refused("bmm_softmax", softmax("N / 2", "sums[0]"), "scaled_up", "outliers")

    def test_a_softmax_without_a_maximum(self):
        self.assert_refused("bmm_softmax", softmax("0", "0.0f"), "scaled_up", "outliers")

    def test_a_matmul_in_bfloat16(self):
        self.assert_refused("matmul", matmul(operand=TO_BFLOAT))

    def test_a_matmul_that_skips_the_last_tile(self):
        self.assert_refused("matmul", matmul(rows="M / 8 * 8"))
        self.assert_refused("matmul", matmul(rows="M / 8 * 8", after=STALE_TAIL))


if __name__ == "__main__":
    support.main()
