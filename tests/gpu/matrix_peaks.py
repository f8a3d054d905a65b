# SPDX-License-Identifier: Apache-2.0
"""The measured peaks of a real device, and that those of its matrix units are what only wgmma reaches.

python3 tests/gpu/matrix_peaks.py FOLDER-OF-ACCELOPT [unittest options]
"""

import json

import device
import support


class MatrixPeaks(support.TestCase):
    def test_they_are_those_of_wgmma_and_kept(self):
        self.environment.update(device.environment())
        capability = device.capability(self)
        cache = self.folder / "cache"
        self.environment["XDG_CACHE_HOME"] = str(cache)
        self.succeed("eval", device.TASK, "--device", "cuda:0", "--json")
        files = list(cache.rglob("peaks-cuda-*.json"))
        self.assertEqual(len(files), 1, files)
        peaks = json.loads(files[0].read_text(encoding="utf-8"))
        print(json.dumps(peaks, indent=2))
        vectors, narrow = peaks["flops_per_second"], peaks["tensor_flops_per_second"]
        tf32 = peaks["tensor_tf32_flops_per_second"]
        self.assertGreater(tf32, vectors)
        self.assertGreater(narrow, 1.5 * tf32)
        self.assertLess(narrow, 2.5 * tf32)
        if capability != (9, 0):
            self.skipTest("no wgmma: " + ".".join(map(str, capability)))
        # A multiprocessor has 4096 operations a cycle in its matrix units and 256 in its vector units; mma.sync reaches
        # under 11 times the latter. No device does more than its clock allows.
        self.assertGreater(narrow, 12 * vectors)
        self.assertLess(narrow, 18 * vectors)


if __name__ == "__main__":
    support.main()
