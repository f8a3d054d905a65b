# SPDX-License-Identifier: Apache-2.0
"""Another process on the device while a kernel is measured: it is named, and its samples do not count.

python3 tests/gpu/second_process.py FOLDER-OF-ACCELOPT [unittest options]

The other process is this file with --neighbour: CUDA's driver by ctypes, so that nothing needs to be built. Where there
is no device the tests are skipped. Where the management library does not list processes, as in some containers, the
evaluation must say so, and that is all that is checked.
"""

import ctypes
import pathlib
import select
import subprocess
import sys

import device
import support

SAID = "was on the device at the same time"
ROUNDS_A_LINE = 4000  # of the neighbour: some tenths of a second
UNSEEN = "other processes on the device are not seen"


def neighbour():
    """Writes the device's memory until standard input is closed."""
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        code = getattr(cuda, name)(*arguments)
        if code != 0:
            raise SystemExit(f"{name}: CUDA error {code}")

    device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    words = 64 << 20
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(4 * words))
    rounds = 0
    while not select.select([sys.stdin], [], [], 0)[0]:
        call("cuMemsetD32_v2", memory, ctypes.c_uint(1), ctypes.c_size_t(words))
        call("cuCtxSynchronize")
        if rounds % ROUNDS_A_LINE == 0:
            print("busy", flush=True)
        rounds += 1


def a_device_server_runs():
    for name in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            if name.read_text(encoding="utf-8", errors="replace").strip() == "accelopt-device":
                return True
        except OSError:
            pass  # ended meanwhile
    return False


class SecondProcess(support.TestCase):
    def setUp(self):
        super().setUp()
        self.environment.update(device.environment())
        device.capability(self)

    def start_neighbour(self):
        process = subprocess.Popen([sys.executable, __file__, "--neighbour"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end_neighbour, process)
        self.assertEqual(process.stdout.readline(), "busy\n")
        return process

    @staticmethod
    def end_neighbour(process):
        if not process.stdin.closed:
            process.stdin.close()
            process.wait(30)
            process.stdout.close()

    def start_evaluation(self):
        return self.start("eval", device.TASK, "--device", "cuda:0", "--json")

    def evaluation(self, running, statuses=("PASSED",)):
        finished = running.finish()
        evaluation = finished.last
        self.assertIn(evaluation["status"], statuses, finished)
        self.assertEqual(finished.code, 0 if evaluation["status"] == "PASSED" else 5, finished)
        return evaluation

    def assert_not_measured(self, evaluation, process):
        """Who stays on the device leaves nothing that counts, and is named."""
        isolation = evaluation["environment"]["isolation"]
        if UNSEEN in isolation:
            self.assertNotIn(SAID, evaluation["reason"])
            self.assertEqual(evaluation["status"], "PASSED", evaluation)
            self.skipTest("this machine's management library tells nothing of processes: " + isolation)
        self.assertEqual(evaluation["status"], "NOT_MEASURED", evaluation)
        self.assertEqual(evaluation["verdict"], "NONE", evaluation)
        self.assertIn(SAID, evaluation["reason"], evaluation)
        self.assertIn("times taken then do not count", evaluation["reason"])
        if "(" in evaluation["reason"].split(SAID)[0]:  # numbers of this namespace, so names too
            self.assertIn(f"{process.pid} (python", evaluation["reason"])

    def test_alone(self):
        evaluation = self.evaluation(self.start_evaluation())
        self.assertNotIn(SAID, evaluation["reason"], evaluation)

    def test_one_that_was_there_before(self):
        process = self.start_neighbour()
        self.assert_not_measured(self.evaluation(self.start_evaluation(), ("PASSED", "NOT_MEASURED")), process)

    def test_one_that_comes_later_and_is_gone_for_the_next_evaluation(self):
        running = self.start_evaluation()
        support.until(a_device_server_runs, "the device's process runs", running)
        process = self.start_neighbour()
        evaluation = self.evaluation(running, ("PASSED", "NOT_MEASURED"))
        self.end_neighbour(process)
        self.assertNotIn(SAID, self.evaluation(self.start_evaluation())["reason"])
        self.assert_not_measured(evaluation, process)

    def test_one_that_leaves_in_time_costs_time_alone(self):
        running = self.start_evaluation()
        support.until(a_device_server_runs, "the device's process runs", running)
        process = self.start_neighbour()
        for _ in range(3):
            self.assertEqual(process.stdout.readline(), "busy\n")
        self.end_neighbour(process)
        self.assertEqual(self.evaluation(running)["status"], "PASSED")


if __name__ == "__main__":
    if sys.argv[1:] == ["--neighbour"]:
        neighbour()
    else:
        support.main()
