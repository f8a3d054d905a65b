# SPDX-License-Identifier: Apache-2.0
"""A model's server that does not listen. The program is patient first, so this takes a minute or two of waiting."""

import socket

import chat_script
import support

KEY = "sk-blackbox-77a0c1"


class NoNetwork(support.TestCase):
    def model_config(self, url):
        self.workspace.mkdir(exist_ok=True)
        (self.workspace / "accelopt.toml").write_text(
            f'[models.default]\nbase_url = "{url}"\nmodel = "{chat_script.MODEL}"\nkey_env = "BLACKBOX_KEY"\n', encoding="utf-8")

    def test_no_server_and_then_one(self):
        """Nothing listens: after some patience, an error that says so; once something does, the same run goes on."""
        self.task()
        self.environment["BLACKBOX_KEY"] = KEY
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
            port = taken.getsockname()[1]
            self.model_config(f"http://127.0.0.1:{port}/v1")
            finished = self.accelopt("run", "task", "--workspace", self.workspace, "--iterations", 1, "--plans", 1, "--attempts", 1,
                                     "--json", seconds=180)
        self.assert_says(finished, 1, f"127.0.0.1:{port}", "connect", "check that the server runs", "accelopt resume")
        self.assertNotIn(KEY, finished.said)
        server = self.server({"model": chat_script.MODEL, "key": KEY, "roles": {
            "planner": [{"text": chat_script.plan("Exchange loops")}],
            "executor": [{"text": chat_script.fenced(support.FASTER)}],
            "summarizer": [{"text": "no optimization"}]}})
        self.model_config(server.url)
        resumed = self.succeed("resume", "--workspace", self.workspace, "--json")
        self.assertEqual(resumed.last["outcome"], "improved", resumed)
        self.assertEqual(resumed.last["usage"]["calls"], {"planner": 1, "executor": 1, "fixer": 0, "summarizer": 0}, "nothing can use a lesson of the only round")


if __name__ == "__main__":
    support.main()
