# SPDX-License-Identifier: Apache-2.0
"""A search through a worker behind a real ssh, whose connection is cut in every stage: nothing is lost, nothing is measured twice."""

import shlex

import local_ssh
import lost_worker
import support


# Asked here: the option is gone when tests run.
MOMENTS = ("asked", "answered") if support.takes_long() else ("asked",)


class Ssh(lost_worker.LostWorkerTestCase):
    def setUp(self):
        super().setUp()
        self.ssh = local_ssh.LocalSsh(self.folder / "ssh")
        self.addCleanup(self.ssh.close)

    def command(self, name):
        return [*self.ssh.command, self.worker]

    def lose(self):
        self.ssh.cut()

    def test_cut_in_every_stage(self):
        self.check_lost_in(lost_worker.STAGES, MOMENTS)

    def test_a_server_that_is_gone_for_good(self):
        """The run ends with an error that says what ssh said, and goes on elsewhere with what it has."""
        whole, questions = self.uninterrupted()
        self.model.hold_from(sum(questions.values()) // 2)
        running = self.start(*self.arguments_with("workspace", shlex.join(map(str, self.command("workspace")))))
        support.until(self.model.holds, "half of its questions are asked", running)
        self.ssh.refuse()
        self.ssh.cut()
        self.model.let_go()
        finished = running.finish()
        self.assert_says(finished, 1, "connection", "accelopt resume")
        resumed = self.succeed("resume", "--workspace", self.workspace, "--json", "--worker", self.worker)
        self.assertEqual(resumed.last["decision_hash"], whole["decision_hash"])
        self.assertEqual(self.model.take()[1], questions, "no question is answered twice")


if __name__ == "__main__":
    support.main()
