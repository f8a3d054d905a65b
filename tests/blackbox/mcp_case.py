# SPDX-License-Identifier: Apache-2.0
"""What the tests of `accelopt mcp` share: a workspace whose worker's measurements are a function of the source alone."""

import chat_script
import support
from mcp_client import Client

SETTINGS = {"iterations": 1, "plans": 2, "attempts": 1, "patience": 0}


class McpCase(support.TestCase):
    def setUp(self):
        super().setUp()
        self.workspace.mkdir()
        self.configure(f"[[workers]]\ncommand = \"{support.program_folder() / 'steady_worker'}\"\n")

    def configure(self, text):
        (self.workspace / "accelopt.toml").write_text(text, encoding="utf-8")

    def client(self, *arguments, **options):
        return Client(self, "--folder", self.folder, "--workspace", self.workspace, *arguments, **options)

    def scripted(self, **script):
        """A scripted model and the steady worker, by configuration."""
        server = self.server(chat_script.steady_script(**script))
        self.configure(f"[[workers]]\ncommand = \"{support.program_folder() / 'steady_worker'}\"\n"
                       f"[models.default]\nbase_url = \"{server.url}\"\nmodel = \"{chat_script.MODEL}\"\n")
        return server
