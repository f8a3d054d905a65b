# SPDX-License-Identifier: Apache-2.0
"""The attacks and the honest kernels of `accelopt selftest` on a real device.

python3 tests/gpu/selftest.py FOLDER-OF-ACCELOPT [unittest options]
"""

import device
import support


class Selftest(support.TestCase):
    def test_every_attack_is_caught_and_every_honest_kernel_passes(self):
        self.environment.update(device.environment())
        device.capability(self)
        self.succeed("selftest", "--device", "cuda:0")


if __name__ == "__main__":
    support.main()
