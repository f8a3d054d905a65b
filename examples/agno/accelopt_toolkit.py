# SPDX-License-Identifier: Apache-2.0
"""accelopt as a Toolkit over its command line (`--json`), for those without MCP. A run blocks the agent until it ends.

    python accelopt_toolkit.py suites/nkibench-cpu/matmul
"""

import json
import os
import subprocess
import sys

from agno.agent import Agent
from agno.tools import Toolkit


class AcceloptTools(Toolkit):
    def __init__(self, workspace=".accelopt", **options):
        self.workspace = str(workspace)
        super().__init__(name="accelopt", tools=[self.lint, self.run, self.diff], **options)

    def _accelopt(self, *words):
        done = subprocess.run(["accelopt", *words], capture_output=True, text=True, check=False)
        return done.stdout or done.stderr

    def lint(self, task: str) -> str:
        """Checks a task folder; no output means that nothing is wrong.

        Args:
            task: folder of the task
        """
        return self._accelopt("lint", "--json", "--", task)

    def run(self, task: str, max_evaluations: int = 20) -> str:
        """Searches for a faster kernel until the budget is used, and returns the confirmed result as JSON.

        Args:
            task: folder of the task
            max_evaluations: most candidates to build and measure
        """
        out = self._accelopt("run", "--json", f"--max-evaluations={max_evaluations}", f"--workspace={self.workspace}", "--", task)
        lines = out.strip().splitlines()
        try:
            result = json.loads(lines[-1])
        except (IndexError, ValueError):
            return out
        return json.dumps({key: result.get(key) for key in ("run", "outcome", "reason", "speedup", "workloads", "evaluations")})

    def diff(self, run: str = "last") -> str:
        """What a run's winner changed, as a unified diff.

        Args:
            run: the run's id, or last
        """
        return self._accelopt("diff", f"--workspace={self.workspace}", "--", run)


def make_agent(model, workspace=".accelopt"):
    return Agent(model=model, tools=[AcceloptTools(workspace)], markdown=True,
                 instructions=["Make kernels faster with accelopt: lint, run, diff. Report the confirmed interval alone."])


if __name__ == "__main__":
    from agno.models.openai import OpenAIResponses

    make_agent(OpenAIResponses(id=os.environ.get("MODEL", "gpt-5-mini"))).print_response(f"Make {sys.argv[1]} faster.")
