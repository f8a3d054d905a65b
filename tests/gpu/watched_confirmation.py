# SPDX-License-Identifier: Apache-2.0
"""A confirmation on a real device, watched by compute-sanitizer: kernels that give right answers in every call, and must not.

python3 tests/gpu/watched_confirmation.py FOLDER-OF-ACCELOPT [unittest options]
"""

import device
import support

KERNEL = """\
//@ launch silu grid=(cdiv(M*N, 256)) block=(256) args=({arguments})
{directive}extern "C" __global__ void silu({parameters}) {{
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  const float v = x[i];
  {mistake}
  y[i] = v / (1.0f + expf(-v));
}}
"""


def kernel(mistake="", scratch=""):
    """The suite's silu with something planted in it."""
    return KERNEL.format(mistake=mistake, directive=f"//@ scratch {scratch}\n" if scratch else "",
                         arguments="x, y, left, M, N" if scratch else "x, y, M, N",
                         parameters="const float* x, float* y, " + ("float* left, " if scratch else "") + "int64_t M, int64_t N")


class WatchedConfirmation(support.TestCase):
    def setUp(self):
        super().setUp()
        self.environment.update(device.environment())
        device.capability(self)

    def confirmed(self, text):
        finished = self.accelopt("eval", device.TASK, self.file("kernel.cu", text), "--device", "cuda:0", "--confirm", "--json")
        evaluation = finished.last
        if "compute-sanitizer is not there" in str(evaluation.get("notes")):
            self.skipTest("no compute-sanitizer")
        return evaluation

    def test_an_honest_kernel_is_confirmed(self):
        evaluation = self.confirmed(kernel())
        self.assertEqual(evaluation["status"], "PASSED", evaluation)
        self.assertIn("memcheck, initcheck, racecheck", str(evaluation["notes"]))

    def refused(self, text, *said):
        evaluation = self.confirmed(text)
        self.assertEqual(evaluation["status"], "RUNTIME_ERROR", evaluation)
        for words in said:
            self.assertIn(words, evaluation["reason"])

    def test_a_read_behind_a_tensor_that_fills_its_memory(self):
        self.refused(kernel("if (i == 0) (void)*(volatile const float*)(x + M * N);"), "CUDA_ERROR_ILLEGAL_ADDRESS")

    def test_a_read_behind_a_tensor(self):
        # 132 bytes: behind them there is always some room up to a multiple of 256.
        self.refused(kernel("(void)*(volatile const float*)(left + 33);", "left float32 [33]"), "memcheck found", "Invalid __global__ read")

    def test_scratch_that_nobody_wrote(self):
        self.refused(kernel("(void)*(volatile const float*)(left + i % 64);", "left float32 [64]"), "initcheck found", "Uninitialized")

    def test_a_race_in_shared_memory(self):
        self.refused(kernel("__shared__ volatile float near[256]; near[threadIdx.x] = v; (void)near[threadIdx.x ^ 128];"),
                     "racecheck found", "Race")


if __name__ == "__main__":
    support.main()
