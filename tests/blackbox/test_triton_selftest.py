# SPDX-License-Identifier: Apache-2.0
"""`accelopt selftest --device triton`: every attack on the capture and its interpreter is caught, honest solutions pass.

Takes --long: the attacks that last until a limit of ten seconds, and every honest solution; otherwise one of each kind.
"""

import support

EXPLOITS = support.ROOT / "exploits" / "triton"
LASTING = {"endless_import", "compiles_for_minutes"}
# Heuristics and a class, a loop over programs, fills by the host, outputs that are returned, several kernels with memory between
# them. An honest one is interpreted for every workload and family, which is what takes long.
HONEST = {"heuristics_and_a_class", "persistent_programs", "split_k_into_zeros", "returned_outputs", "three_kernels_and_scratch"}


def names(part):
    return {path.stem for path in (EXPLOITS / part).glob("*.py")}


class TritonSelftest(support.TestCase):
    long = support.takes_long()

    def setUp(self):
        super().setUp()
        self.need_tools("triton")

    def test_attacks_are_caught_and_honest_solutions_pass(self):
        attacks, honest = (names("attacks"), names("honest")) if self.long else (names("attacks") - LASTING, HONEST)
        finished = self.accelopt("selftest", "--device", "triton", "--json", "--only", *sorted(attacks | honest))
        *kernels, summary = finished.lines
        self.assertEqual({kernel["name"] for kernel in kernels}, attacks | honest)
        for kernel in kernels:
            self.assertTrue(kernel["ok"], kernel)
            self.assertEqual(kernel["verdict"], "NONE", kernel)  # nothing is timed, so nothing is credited
            self.assertEqual(kernel["status"] == "PASSED", kernel["type"] == "honest", kernel)
        self.assertEqual((summary["caught"], summary["passed"], finished.code), (len(attacks), len(honest), 0), summary)


if __name__ == "__main__":
    support.main()
