# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random instants. Every killed run is resumed, and has to decide as the run that nobody killed did, ask nothing
again that was on record, and repeat at most what was in flight.

ACCELOPT_KILLS says how many instants there are (20, which take some 15 seconds), ACCELOPT_KILL_SEED which (printed)."""

import collections
import os
import random
import shutil
import subprocess
import sys
import time

import steady
import support


class Kill(steady.SteadyTestCase):
    def test_killed_at_random_instants(self):
        kills = int(os.environ.get("ACCELOPT_KILLS", "20"))
        seed = int(os.environ.get("ACCELOPT_KILL_SEED", random.SystemRandom().randrange(1 << 32)))
        print(f"ACCELOPT_KILL_SEED={seed} ACCELOPT_KILLS={kills}", file=sys.stderr)
        instants = random.Random(seed)
        whole, questions = self.uninterrupted()
        seconds = self.measured_seconds(whole, questions)
        killed, repeated, too_late = 0, 0, 0
        while killed < kills:
            workspace = self.folder / "workspace"
            shutil.rmtree(workspace, ignore_errors=True)
            instant = instants.uniform(0, seconds)
            if not self.kill_after(instant, self.run_arguments(workspace)):
                # It ended before: nothing was killed, and the next instant counts.
                self.assertLess(too_late := too_late + 1, 10 * kills, "runs take less and less time")
                self.model.take()
                continue
            killed += 1
            with self.subTest(instant=f"{instant:.4f} s"):
                repeated += self.check_resumption(workspace, whole, questions)
        print(f"{killed} killed, {repeated} answers in flight asked again", file=sys.stderr)

    def test_killed_again_and_again(self):
        """One run that is killed eight times, each time after a quarter of the time that it takes, and finished then."""
        whole, questions = self.uninterrupted()
        seconds = self.measured_seconds(whole, questions)
        workspace = self.folder / "workspace"
        for _ in range(8):
            if not self.kill_after(seconds / 4, self.continue_arguments(workspace)):
                break
        self.model.take()
        self.check_resumption(workspace, whole, questions, asked_before_is_known=False)

    def measured_seconds(self, whole, questions):
        """What the run takes now, by the clock of this test."""
        workspace = self.folder / "timed"
        began = time.monotonic()
        result = self.succeed(*self.run_arguments(workspace)).last
        seconds = time.monotonic() - began
        self.assertEqual(result["decision_hash"], whole["decision_hash"], "the run is the same every time")
        self.assertEqual(self.model.take()[0], questions)
        return seconds

    def kill_after(self, instant, arguments):
        """False: it ended before."""
        running = self.start(*arguments)
        try:
            running.process.wait(instant)
            return False
        except subprocess.TimeoutExpired:
            running.kill()
        return running.process.returncode == -9

    def check_resumption(self, workspace, whole, questions, asked_before_is_known=True):
        """How many answers were asked for twice."""
        asked_before, _ = self.model.take()
        before = self.committed(workspace)
        finished = self.accelopt(*self.continue_arguments(workspace))
        self.assertEqual(finished.code, 0, finished)
        self.assertEqual(finished.last["decision_hash"], whole["decision_hash"], finished)
        asked, _ = self.model.take()
        after = self.committed(workspace)
        self.assertEqual(before - after, collections.Counter(), "nothing that was on record is lost")
        self.assertEqual(after, questions, "each question has one answer on record")
        self.assertEqual(asked, questions - before, "what was on record is not asked again, what was not is asked once")
        if not asked_before_is_known:
            return 0
        self.assertEqual(before - asked_before, collections.Counter(), "what is on record was asked")
        in_flight = asked_before - before
        self.assertEqual(asked_before + asked, questions + in_flight, "at most one repeat a call in flight")
        return sum(in_flight.values())


if __name__ == "__main__":
    support.main()
