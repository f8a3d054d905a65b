# SPDX-License-Identifier: Apache-2.0
"""`accelopt selftest --device triton`: every attack on the capture and its interpreter is caught, honest solutions pass."""

import os

import support

EXPLOITS = support.ROOT / "exploits" / "triton"
# Their limits are ten seconds of a processor each: `accelopt selftest --device triton` tries them too.
SLOW = {"endless_import", "compiles_for_minutes"}


def names(part):
    return {path.stem for path in (EXPLOITS / part).glob("*.py")}


class TritonSelftest(support.TestCase):
    def setUp(self):
        super().setUp()
        if "VIRTUAL_ENV" in os.environ:  # where the project's own Triton is
            self.environment["VIRTUAL_ENV"] = os.environ["VIRTUAL_ENV"]
        checks = {line["name"]: line for line in self.accelopt("doctor", "--json").lines if line["type"] == "check"}
        if checks["triton"]["state"] != "ok":
            self.skipTest("no Triton: " + checks["triton"]["advice"])

    def test_attacks_are_caught_and_honest_solutions_pass(self):
        attacks, honest = names("attacks") - SLOW, names("honest")
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
